"""From a shop's export to tags: columns, labels without people, training, and the files that people open."""
