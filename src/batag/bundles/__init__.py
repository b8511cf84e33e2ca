"""The folder that is shipped: weights, vocabulary and a description, verified by checksums when it is read."""
