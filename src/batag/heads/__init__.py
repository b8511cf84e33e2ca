"""Heads turn vectors into label probabilities: a linear layer, a chain over it, and a window CRF that is mixed in.

The interface of every head: for each token of a page a row of probabilities given the whole page. The first C are those of its
labels (token marginals). With a chain, C - 1 more follow, one for each label but none: the probability that the token continues
the tag of the token before it, if that has this label. They make the probability of a whole span exact; without a chain tokens
are independent, and the row has no more than C. Each head has two implementations with the same result: a torch module that is
trained (`torch_heads`, logarithms, batches of pages) and a NumPy one for tagging without torch (`numpy_heads`).
"""
