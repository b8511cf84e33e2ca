"""Performer (Choromanski et al.): the Transformer's layer with attention by positive orthogonal random features (FAVOR+).

Shapes: B pages, L tokens, D width, H heads, K width of a head, M random features, N layers.
"""

import math
from typing import Unpack

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from batag.encoders.blocks import several_linears
from batag.encoders.encoder import Encoder, Sizes, one_of
from batag.errors import UsageError

KERNELS = ("softmax", "relu")


class Performer(Encoder):
    """`depth` layers with `features` random features of the `kernel`. One draw per layer is saved with the weights for
    evaluation; training draws new features in every forward pass. The relu kernel with 0 features has no projection."""

    projections: Tensor | None

    def __init__(self, *, kernel: str = "softmax", features: int = 128, **sizes: Unpack[Sizes]) -> None:
        super().__init__(**sizes)
        one_of("a kernel", kernel, KERNELS)
        if features < (kernel == "softmax"):
            raise UsageError(
                f"{features} random features do not make a {kernel} kernel",
                todo="A whole number from 1; 0 is for the relu kernel without projection",
            )
        self.features = features
        self.layers = self.stacked(PerformerLayer, kernel=kernel)
        self.register_buffer("projections", self._draw() if features else None)

    def encode(self, x_BLD: Tensor, mask_BL: Tensor) -> Tensor:
        # A page without tokens takes its padding for tokens: nobody reads what comes of it, but it stays finite.
        mask_BL = mask_BL | ~mask_BL.any(1, keepdim=True)
        projections = self.projections
        if projections is not None and self.training:
            projections = self._draw(projections.device).to(projections.dtype)
        for place, layer in enumerate(self.layers):
            x_BLD = layer(x_BLD, mask_BL, None if projections is None else projections[place])
        return x_BLD

    def _draw(self, device: torch.device | None = None) -> Tensor:
        return orthogonal_features(self.depth, self.features, self.width // self.heads, device=device)


class PerformerLayer(nn.Module):
    """y = LN(x + FAVOR(x)); out = LN(y + FFN(y)); the projections of the attention have no bias."""

    def __init__(self, width: int, heads: int, inner: int, *, kernel: str, dropout: float) -> None:
        super().__init__()
        self.heads, self.kernel = heads, kernel
        self.query_key_value = several_linears(width, [width] * 3, bias=False)
        self.out = several_linears(width, [width], bias=False)
        self.widen = several_linears(width, [inner])
        self.narrow = several_linears(inner, [width])
        self.attention_norm = nn.LayerNorm(width, eps=1e-6)
        self.feed_forward_norm = nn.LayerNorm(width, eps=1e-6)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x_BLD: Tensor, mask_BL: Tensor, projection_MK: Tensor | None) -> Tensor:
        q_k_v_3BHLK = self.query_key_value(x_BLD).unflatten(-1, (3, self.heads, -1)).permute(2, 0, 3, 1, 4)
        q_k_2BHLK, v_1BHLK = q_k_v_3BHLK.split((2, 1))
        a_BLD = self.out(favor(q_k_2BHLK, v_1BHLK.squeeze(0), mask_BL, projection_MK, kernel=self.kernel))
        y_BLD = self.attention_norm(x_BLD + self.dropout(a_BLD))
        return self.feed_forward_norm(y_BLD + self.dropout(self.narrow(F.relu(self.widen(y_BLD)))))


def favor(q_k_2BHLK: Tensor, v_BHLK: Tensor, mask_BL: Tensor, projection_MK: Tensor | None, *, kernel: str) -> Tensor:
    """phi(q) (phi(K)^T V) / (phi(q) sum phi(k)) over the real keys, in time and memory linear in L, with concatenated heads."""
    if kernel == "relu":
        q_BHLM, k_BHLM = relu_features(q_k_2BHLK, projection_MK).unbind()
    else:
        assert projection_MK is not None, "the softmax kernel has random features"
        q_BHLM, k_BHLM = softmax_features(q_k_2BHLK, mask_BL, projection_MK).unbind()
    # The denominator is one more column of the values; a row of zeros there takes padding out of both.
    real_BHL1 = mask_BL[:, None, :, None].to(v_BHLK.dtype).expand(*v_BHLK.shape[:-1], 1)
    values = torch.cat((v_BHLK * real_BHL1, real_BHL1), dim=-1)
    out_BHLK, weight_BHL1 = (q_BHLM @ (k_BHLM.transpose(-2, -1) @ values)).split((v_BHLK.shape[-1], 1), dim=-1)
    return (out_BHLK / weight_BHL1).transpose(1, 2).flatten(2)


def softmax_features(q_k_2BHLK: Tensor, mask_BL: Tensor, projection_MK: Tensor) -> Tensor:
    """exp(w u' - |u'|^2 / 2 - c) + 1e-6 with u' = u / K^(1/4); without the factor M^(-1/2), which cancels."""
    head_width = q_k_2BHLK.shape[-1]
    r_2BHLM = F.linear(q_k_2BHLK, projection_MK * head_width**-0.25)
    # c only keeps exp in range: a query's own largest value, and the largest of all real keys.
    top_2BHL1 = r_2BHLM.detach().amax(-1, keepdim=True)
    padded_BHL1 = ~mask_BL[:, None, :, None]
    c_BH11 = top_2BHL1[1].masked_fill(padded_BHL1, -math.inf).amax(2, keepdim=True)
    c_2BHL1 = torch.stack((top_2BHL1[0], c_BH11.masked_fill(padded_BHL1, math.inf)))
    half_square_2BHL1 = q_k_2BHLK.square().sum(-1, keepdim=True) * (0.5 * head_width**-0.5)
    return (r_2BHLM - (half_square_2BHL1 + c_2BHL1)).exp() + 1e-6


def relu_features(q_k_2BHLK: Tensor, projection_MK: Tensor | None) -> Tensor:
    """ReLU(M^(-1/2) W u) + 1e-3; without a projection W, of u itself."""
    if projection_MK is not None:
        q_k_2BHLK = F.linear(q_k_2BHLK, projection_MK * len(projection_MK) ** -0.5)
    return F.relu(q_k_2BHLK) + 1e-3


def orthogonal_features(layers: int, features: int, width: int, *, device: torch.device | None = None) -> Tensor:
    """Random features [N, M, K] from torch's generator: blocks of orthogonal rows with the norms of Gaussian rows."""
    blocks = -(-features // width)
    q, r = torch.linalg.qr(torch.randn(layers, blocks, width, width, device=device))
    # LAPACK chooses the signs by the matrix; with those of R's diagonal every direction is equally likely.
    rows = (q * r.diagonal(dim1=-2, dim2=-1).sign().unsqueeze(-2)).transpose(-2, -1).flatten(1, 2)[:, :features]
    lengths = torch.randn(layers, features, width, device=device).norm(dim=-1, keepdim=True)
    return rows * lengths
