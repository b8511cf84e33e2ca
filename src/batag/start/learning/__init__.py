"""What a shop is taught without labels of people: the base bundle with its lists, labels of rows and lists, the training."""
