"""The encoder of Informer (Zhou et al.): ProbSparse attention, post-norm, without its distilling layers, since every token
needs a label.

Shapes: B pages, L tokens, D width, H heads, K width of a head, U sampled keys and as many active queries, N layers.
"""

import math
from collections.abc import Callable
from typing import Unpack

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from batag.encoders.blocks import attend
from batag.encoders.encoder import Encoder, Sizes, one_of
from batag.errors import UsageError

ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {"gelu": F.gelu, "relu": F.relu}
_ROWS = 256
_LARGEST = 2**31


class Informer(Encoder):
    """`depth` layers and a final norm. A page of n tokens has `factor` * ceil(ln n) active queries, which are found with as
    many sampled keys per query. Training samples from torch's generator; in evaluation samples depend only on the page's
    length."""

    def __init__(self, *, factor: int = 5, activation: str = "gelu", **sizes: Unpack[Sizes]) -> None:
        super().__init__(**sizes)
        if factor < 1:
            raise UsageError(f"factor {factor} is not a whole number from 1", todo="Informer's authors use 5")
        one_of("an activation", activation, list(ACTIVATIONS))
        self.factor = factor
        self.exact = exact_length(factor)
        self.layers = self.stacked(InformerLayer, activation=activation)
        self.norm = nn.LayerNorm(self.width)
        # Not a buffer: it is no part of the weights, and grows with the longest page.
        self._fixed = torch.zeros(self.depth, 0, 0, dtype=torch.int64, device="cpu")

    def encode(self, x_BLD: Tensor, mask_BL: Tensor) -> Tensor:
        # A page without tokens takes its padding for tokens: nobody reads what comes of it, but it stays finite.
        mask_BL = mask_BL | ~mask_BL.any(1, keepdim=True)
        if x_BLD.shape[1] <= self.exact:
            for layer in self.layers:
                x_BLD = layer(x_BLD, mask_BL)
        else:
            active_BU = self._active(mask_BL)
            for layer, keys_BLU in zip(self.layers, self._sampled_keys(mask_BL, samples=active_BU.shape[1]), strict=True):
                x_BLD = layer(x_BLD, mask_BL, keys_BLU, active_BU)
        return self.norm(x_BLD)

    def _active(self, mask_BL: Tensor) -> Tensor:
        """A mask of how many samples (and active queries) each page has, out of those of the longest page."""
        n_B1 = mask_BL.sum(1, keepdim=True)
        # In float64, where no logarithm comes near a whole number.
        u_B1 = (self.factor * n_B1.double().log().ceil()).clamp(min=1).minimum(n_B1)
        most = active_queries(mask_BL.shape[1], factor=self.factor)
        return torch.arange(most, device=mask_BL.device) < u_B1

    def _sampled_keys(self, mask_BL: Tensor, *, samples: int) -> Tensor:
        """For every query, keys of its page drawn uniformly with replacement, the same for all heads: [N, B, L, U]."""
        length = mask_BL.shape[1]
        if self.training:
            draws_NLU = torch.randint(_LARGEST, (self.depth, length, samples), device=mask_BL.device)
        else:
            draws_NLU = self._fixed_draws(length, samples).to(mask_BL.device)
        ranks_BNLU = draws_NLU % mask_BL.sum(1)[:, None, None, None]
        places_BL = (~mask_BL).to(torch.uint8).argsort(dim=1, stable=True)
        keys_BNLU = places_BL.gather(1, ranks_BNLU.flatten(1)).view_as(ranks_BNLU)
        return keys_BNLU.transpose(0, 1)

    def _fixed_draws(self, length: int, samples: int) -> Tensor:
        """A cached table of fixed draws; its content does not depend on the pages seen before."""
        _, rows, columns = self._fixed.shape
        if length > rows or samples > columns:
            rows = max(rows, -(-length // _ROWS) * _ROWS)
            columns = max(columns, samples, active_queries(rows, factor=self.factor))
            # It outlives this call, which may be one of inference.
            with torch.inference_mode(False):
                self._fixed = torch.stack([fixed_column(self.depth, rows, seed) for seed in range(columns)], dim=-1)
        return self._fixed[:, :length, :samples]


class InformerLayer(nn.Module):
    """y = LN(x + ProbSparse(x)); out = LN(y + FFN(y)); with PyTorch's default initialisation."""

    def __init__(self, width: int, heads: int, inner: int, *, activation: str, dropout: float) -> None:
        super().__init__()
        self.heads, self.activation = heads, ACTIVATIONS[activation]
        self.query_key_value = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)
        self.widen = nn.Linear(width, inner)
        self.narrow = nn.Linear(inner, width)
        self.attention_norm = nn.LayerNorm(width)
        self.feed_forward_norm = nn.LayerNorm(width)
        self.dropout = nn.Dropout(dropout)

    def forward(
        self, x_BLD: Tensor, mask_BL: Tensor, keys_BLU: Tensor | None = None, active_BU: Tensor | None = None
    ) -> Tensor:
        q_BLD, k_BLD, v_BLD = self.query_key_value(x_BLD).chunk(3, dim=-1)
        if keys_BLU is None or active_BU is None:
            a_BLD = attend(q_BLD, k_BLD, v_BLD, mask_BL, heads=self.heads, scale=scale(q_BLD, self.heads))
        else:
            a_BLD = prob_sparse(q_BLD, k_BLD, v_BLD, mask_BL, keys_BLU, active_BU, heads=self.heads)
        y_BLD = self.attention_norm(x_BLD + self.dropout(self.out(a_BLD)))
        h_BLF = self.dropout(self.activation(self.widen(y_BLD)))
        return self.feed_forward_norm(y_BLD + self.dropout(self.narrow(h_BLF)))


def active_queries(length: int, *, factor: int) -> int:
    """The number of active queries (and of sampled keys) of a page of that length."""
    return min(length, max(1, factor * math.ceil(math.log(length))))


def exact_length(factor: int) -> int:
    """The length up to which all queries of a page are active, so that attention is exact."""
    # ceil(ln n) is the same up to the power of e, so that only there all queries may cease to be active.
    logarithm = 1
    while math.floor(math.exp(logarithm)) <= factor * logarithm:
        logarithm += 1
    return max(math.floor(math.exp(logarithm - 1)), factor * logarithm)


def scale(q_BLD: Tensor, heads: int) -> float:
    return 1 / math.sqrt(q_BLD.shape[-1] // heads)


def prob_sparse(
    q_BLD: Tensor, k_BLD: Tensor, v_BLD: Tensor, mask_BL: Tensor, keys_BLU: Tensor, active_BU: Tensor, *, heads: int
) -> Tensor:
    """Softmax attention for the queries with the largest sparsity measure; the mean of the page's values for all others."""
    pages, length, width = q_BLD.shape
    measure_BLH = sparsity(q_BLD.detach(), k_BLD.detach(), mask_BL, keys_BLU, active_BU, heads=heads)
    # Stable, so that of equal ones the earlier counts, whatever the length of the batch.
    top_BUH = measure_BLH.sort(dim=1, descending=True, stable=True).indices[:, : active_BU.shape[1]]
    # Rows of one token and head in [B * L * H, K].
    starts = torch.arange(pages, device=top_BUH.device)[:, None, None] * length
    rows = ((starts + top_BUH) * heads + torch.arange(heads, device=top_BUH.device)).flatten()
    q_BUD = q_BLD.reshape(-1, width // heads).index_select(0, rows).view(pages, -1, width)
    a_BUD = attend(q_BUD, k_BLD, v_BLD, mask_BL, heads=heads, scale=scale(q_BLD, heads))
    real_B1L = mask_BL.unsqueeze(1).to(v_BLD.dtype)
    mean_B1D = real_B1L @ v_BLD / real_B1L.sum(-1, keepdim=True)
    a_BUD = a_BUD.where(active_BU.unsqueeze(-1), mean_B1D)
    lazy = mean_B1D.expand_as(q_BLD).reshape(-1, width // heads)
    return lazy.index_copy(0, rows, a_BUD.view(-1, width // heads)).view_as(q_BLD)


@torch.no_grad()
def sparsity(q_BLD: Tensor, k_BLD: Tensor, mask_BL: Tensor, keys_BLU: Tensor, active_BU: Tensor, *, heads: int) -> Tensor:
    """The sparsity measure max - sum / n of each query's products with its sampled keys: [B, L, H]; lowest at padding."""
    pages, length, width = q_BLD.shape
    rows_BLU = keys_BLU + torch.arange(pages, device=keys_BLU.device)[:, None, None] * length
    q_BL1HK = q_BLD.reshape(pages, length, 1, heads, -1)
    k_rows = k_BLD.reshape(-1, width)
    # A few samples at a time: the gathered keys are what takes memory.
    products = [
        (k_rows.index_select(0, part.flatten()).view(pages, length, -1, heads, width // heads) * q_BL1HK).sum(-1)
        for part in rows_BLU.split(4, dim=-1)
    ]
    score_BLUH = torch.cat(products, dim=2)
    unused_B1U1 = ~active_BU[:, None, :, None]
    most_BLH = score_BLUH.masked_fill(unused_B1U1, -math.inf).amax(2)
    sum_BLH = score_BLUH.masked_fill(unused_B1U1, 0.0).sum(2)
    measure_BLH = most_BLH - sum_BLH / mask_BL.sum(1)[:, None, None]
    return measure_BLH.masked_fill(~mask_BL.unsqueeze(-1), -math.inf)


def fixed_column(layers: int, rows: int, seed: int) -> Tensor:
    """One sample per query [N, rows], drawn in blocks with their own seeds, so that more rows do not change the first ones."""
    generator = torch.Generator(device="cpu")
    blocks = [
        torch.randint(
            _LARGEST, (layers, _ROWS), generator=generator.manual_seed(seed * 2**20 + block), dtype=torch.int64, device="cpu"
        )
        for block in range(rows // _ROWS)
    ]
    return torch.cat(blocks, dim=1)
