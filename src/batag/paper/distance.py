"""The contrastive losses on embeddings in the paper's section 2.1, with squared L2 distance.

Shapes: N samples, D width, K negatives.
"""

import torch
from torch import Tensor
from torch.nn import functional as F

from batag.labels.scheme import IGNORED


def triplet_loss(anchor_ND: Tensor, positive_ND: Tensor, negative_ND: Tensor, *, margin: float = 1.0) -> Tensor:
    """The mean of max(0, |x - x+|^2 - |x - x-|^2 + margin) (equation 1)."""
    return F.triplet_margin_with_distance_loss(
        anchor_ND, positive_ND, negative_ND, distance_function=squared_distance, margin=margin
    )


def tuplet_loss(anchor_ND: Tensor, positive_ND: Tensor, negatives_NKD: Tensor, *, margin: float = 1.0) -> Tensor:
    """One positive against K negatives, averaged over all samples and negatives; with K = 1 it is the triplet loss."""
    near_N1 = squared_distance(anchor_ND, positive_ND).unsqueeze(1)
    far_NK = squared_distance(anchor_ND.unsqueeze(1), negatives_NKD)
    return F.relu(near_N1 - far_NK + margin).mean()


def pairwise_loss(embeddings_ND: Tensor, labels_N: Tensor, *, margin: float = 1.0) -> Tensor:
    """Over all pairs: |xi - xj|^2 of equal labels, max(0, margin - |xi - xj|^2) of others (equation 2); -1 is ignored.

    The paper calls this the (N+1)-tuplet loss. Fewer than two labelled samples give 0.
    """
    kept_N = labels_N != IGNORED
    x_ND, labels_N = embeddings_ND[kept_N], labels_N[kept_N]
    first, second = torch.triu_indices(len(x_ND), len(x_ND), offset=1, device=x_ND.device)
    squared = squared_distance(x_ND[first], x_ND[second])
    losses = squared.where(labels_N[first] == labels_N[second], F.relu(margin - squared))
    return losses.mean() if len(losses) else embeddings_ND.sum() * 0.0


def squared_distance(one: Tensor, other: Tensor) -> Tensor:
    """|one - other|^2 over the last dimension."""
    return (one - other).square().sum(-1)
