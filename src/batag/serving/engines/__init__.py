"""Engine processes: the queue before them, the link to them, and what they do."""
