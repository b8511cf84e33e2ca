"""The folder that is shipped: weights, vocabulary and a description, checked byte by byte when read."""
