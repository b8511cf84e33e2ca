"""Token labels: label schemes, alignment of tags and tokens, counts, weak labels, and inspection of labelled pages."""
