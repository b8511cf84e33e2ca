"""Heads turn vectors into label probabilities: a linear layer, a chain over it, and a window CRF that is mixed in.

The interface of every head: for each token the probabilities of its labels given the whole page (token marginals), [L, C] per
page. Each head has two implementations with the same result: a torch module that is trained (`torch_heads`, logarithms, batches
of pages) and a NumPy one for tagging without torch (`numpy_heads`).
"""
