"""Vectors to the probabilities of labels."""
