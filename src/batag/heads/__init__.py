"""Vectors to label probabilities: a linear layer, a chain over it, and a window CRF that is mixed in.

The contract of every head: for each token the probabilities of its labels given the whole page (token marginals), [L, C] per
page. Each head has two forms that give the same: a torch module that learns (`torch_heads`, in logs, batches of pages) and a
NumPy form that tags without torch (`numpy_heads`).
"""
