"""Switch Transformer (Fedus et al.): the Transformer layer with one of many feed-forward experts per token.

Shapes: B pages, L tokens, D width, F inner width, E experts, T real tokens of the batch, S those that no expert drops.
"""

import math
from typing import Any, Unpack

import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable

from batag.encoders.blocks import attend, glorot_, several_linears
from batag.encoders.encoder import Encoder, Sizes, one_of
from batag.errors import UsageError

GROUPINGS = ("batch", "page")


class Switch(Encoder):
    """`depth` layers. In training an expert takes at most `capacity` times its even share of the tokens of the batch (or page,
    by `grouping`), earlier tokens first; `balance` is the weight of the load-balancing loss. Evaluation drops no token unless
    `drop_in_evaluation`."""

    def __init__(
        self,
        *,
        experts: int = 50,
        capacity: float = 1.0,
        balance: float = 0.01,
        grouping: str = "batch",
        noise: float = 0.0,
        drop_in_evaluation: bool = False,
        **sizes: Unpack[Sizes],
    ) -> None:
        super().__init__(**sizes)
        if experts < 1:
            raise UsageError(f"experts {experts} is not a whole number from 1", todo="The paper uses 50")
        if not 0 < capacity < math.inf:
            raise UsageError(
                f"capacity {capacity} is not above 0", todo="The paper uses 1: an expert's even share of the tokens"
            )
        if not 0 <= balance < math.inf:
            raise UsageError(f"balance {balance} is not from 0 up", todo="Switch's authors use 0.01")
        one_of("a grouping", grouping, GROUPINGS)
        if not 0 <= noise < 1:
            raise UsageError(f"noise {noise} is not in [0, 1)", todo="Switch's authors use 0.01, the default is 0")
        if drop_in_evaluation and grouping != "page":
            raise UsageError(
                f"drop_in_evaluation {drop_in_evaluation} with grouping {grouping!r} lets pages displace each other's tokens",
                todo='Use grouping "page" with it',
            )
        self.balance = balance
        self.layers = self.stacked(
            SwitchLayer,
            experts=experts,
            capacity=capacity,
            by_page=grouping == "page",
            noise=noise,
            drop_in_evaluation=drop_in_evaluation,
        )
        self._loss: Tensor | float = 0.0

    def encode(self, x_BLD: Tensor, mask_BL: Tensor) -> Tensor:
        loss: Tensor | float = 0.0
        for layer in self.layers:
            x_BLD, imbalance = layer(x_BLD, mask_BL)
            loss = loss + self.balance * imbalance
        self._loss = loss
        return x_BLD

    @property
    def auxiliary_loss(self) -> Tensor | float:
        return self._loss if self.training else 0.0

    def __getstate__(self) -> dict[str, Any]:
        """Leave out the auxiliary loss of the last batch, whose tensor has a history and cannot be copied."""
        return self.__dict__ | {"_loss": 0.0}


class SwitchLayer(nn.Module):
    """y = LN(x + MHA(x)); out = LN(y + Switch(y)), and the load-balancing loss."""

    def __init__(self, width: int, heads: int, inner: int, *, dropout: float, **routing: Any) -> None:
        super().__init__()
        self.heads, self.scale = heads, 1 / math.sqrt(width // heads)
        self.query_key_value = several_linears(width, [width] * 3)
        self.out = several_linears(width, [width])
        self.switch = SwitchFeedForward(width, inner, **routing)
        self.attention_norm = nn.LayerNorm(width, eps=1e-6)
        self.feed_forward_norm = nn.LayerNorm(width, eps=1e-6)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x_BLD: Tensor, mask_BL: Tensor) -> tuple[Tensor, Tensor | float]:
        q_BLD, k_BLD, v_BLD = self.query_key_value(x_BLD).chunk(3, dim=-1)
        a_BLD = self.out(attend(q_BLD, k_BLD, v_BLD, mask_BL, heads=self.heads, scale=self.scale))
        y_BLD = self.attention_norm(x_BLD + self.dropout(a_BLD))
        s_BLD, imbalance = self.switch(y_BLD, mask_BL)
        return self.feed_forward_norm(y_BLD + self.dropout(s_BLD)), imbalance


class SwitchFeedForward(nn.Module):
    """p * FFN_e(y) with the router's first choice e and its probability p; 0 for padding and dropped tokens. In training also
    the load-balancing loss E * sum_e f_e P_e (fraction of tokens with choice e, times its mean probability), which is 1 if all
    experts are chosen equally."""

    def __init__(
        self,
        width: int,
        inner: int,
        *,
        experts: int,
        capacity: float = 1.0,
        by_page: bool = False,
        noise: float = 0.0,
        drop_in_evaluation: bool = False,
    ) -> None:
        super().__init__()
        self.experts, self.capacity, self.by_page = experts, capacity, by_page
        self.noise, self.drop_in_evaluation = noise, drop_in_evaluation
        self.router = several_linears(width, [experts])
        self.widen = nn.Parameter(torch.empty(experts, width, inner))
        self.widen_bias = nn.Parameter(torch.zeros(experts, inner))
        self.narrow = nn.Parameter(torch.empty(experts, inner, width))
        self.narrow_bias = nn.Parameter(torch.zeros(experts, width))
        if not self.widen.is_meta:  # else there is nothing to fill, however many experts are claimed
            glorot_(*self.widen, *self.narrow)

    def forward(self, y_BLD: Tensor, mask_BL: Tensor) -> tuple[Tensor, Tensor | float]:
        places_T = mask_BL.flatten().nonzero().squeeze(1)
        y_TD = y_BLD.flatten(0, 1).index_select(0, places_T)
        given_TD = y_TD
        if self.training and self.noise:
            given_TD = y_TD * torch.empty_like(y_TD).uniform_(1 - self.noise, 1 + self.noise)
        chances_TE = self.router(given_TD).softmax(-1)
        gate_T, expert_T = chances_TE.max(-1)
        kept_S = expert_T.argsort(stable=True)
        if self.training or self.drop_in_evaluation:
            page_T = places_T // mask_BL.shape[1] if self.by_page else torch.zeros_like(places_T)
            kept_S = kept_S[self._within_capacity(expert_T, page_T)[kept_S]]
        expert_S = expert_T[kept_S]
        out_SD = self._expert_outputs(y_TD.index_select(0, kept_S), expert_S) * gate_T.index_select(0, kept_S).unsqueeze(1)
        out_BLD = torch.zeros_like(y_BLD).flatten(0, 1).index_copy(0, places_T[kept_S], out_SD).view_as(y_BLD)
        if not self.training or not len(places_T):
            return out_BLD, 0.0
        share_E = expert_T.bincount(minlength=self.experts).to(chances_TE.dtype) / len(expert_T)
        return out_BLD, self.experts * (share_E @ chances_TE.mean(0))

    def _within_capacity(self, expert_T: Tensor, page_T: Tensor) -> Tensor:
        """Whether a token is within the capacity of its expert, counting the tokens before it."""
        group_T = page_T * self.experts + expert_T
        sorted_T, order_T = group_T.sort(stable=True)
        before_T = torch.arange(len(group_T), device=group_T.device) - torch.searchsorted(sorted_T, sorted_T)
        tokens_B = page_T.bincount(minlength=1)
        # At least 1 wherever there is a token.
        most_B = (self.capacity * tokens_B.double() / self.experts).ceil()
        return torch.empty_like(group_T, dtype=torch.bool).index_copy(0, order_T, before_T < most_B[page_T[order_T]])

    def _expert_outputs(self, y_SD: Tensor, expert_S: Tensor) -> Tensor:
        """The output of each token's expert; tokens are sorted by expert."""
        given = y_SD, expert_S, self.widen, self.widen_bias, self.narrow, self.narrow_bias
        if torch.is_grad_enabled():
            return _Experts.apply(*given)  # type: ignore[no-untyped-call]
        return _expert_outputs(*given)[0]


def _expert_outputs(
    y_SD: Tensor, expert_S: Tensor, widen_EDF: Tensor, widen_bias_EF: Tensor, narrow_EFD: Tensor, narrow_bias_ED: Tensor
) -> tuple[Tensor, Tensor, list[int]]:
    """The outputs and, for the gradient, the activations of the experts' inner layers and the number of tokens of each."""
    counts = expert_S.bincount(minlength=len(widen_EDF)).tolist()
    h_SF, out_SD = y_SD.new_empty(len(y_SD), widen_EDF.shape[2]), torch.empty_like(y_SD)
    of_tokens = (x.split(counts) for x in (y_SD, h_SF, out_SD))
    for y, h, out, widen, widen_bias, narrow, narrow_bias in zip(
        *of_tokens, widen_EDF, widen_bias_EF, narrow_EFD, narrow_bias_ED, strict=True
    ):
        if len(y):
            torch.addmm(widen_bias, y, widen, out=h).relu_()
            torch.addmm(narrow_bias, h, narrow, out=out)
    return out_SD, h_SF, counts


class _Experts(torch.autograd.Function):
    """The same with an explicit gradient, which is written directly into the gradients of all experts."""

    @staticmethod
    def forward(ctx: Any, y_SD: Tensor, expert_S: Tensor, *parameters: Tensor) -> Tensor:
        out_SD, h_SF, ctx.counts = _expert_outputs(y_SD, expert_S, *parameters)
        ctx.save_for_backward(y_SD, expert_S, h_SF, *parameters)
        return out_SD

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        y_SD, expert_S, h_SF, widen_EDF, widen_bias_EF, narrow_EFD, narrow_bias_ED = ctx.saved_tensors
        to_y_SD, to_h_SF, to_widen_EDF, to_narrow_EFD = (torch.empty_like(x) for x in (y_SD, h_SF, widen_EDF, narrow_EFD))
        of_tokens = (x.split(ctx.counts) for x in (y_SD, h_SF, grads[0], to_y_SD, to_h_SF))
        for y, h, grad, to_y, to_h, widen, narrow, to_widen, to_narrow in zip(
            *of_tokens, widen_EDF, narrow_EFD, to_widen_EDF, to_narrow_EFD, strict=True
        ):
            if len(y):
                torch.mm(h.T, grad, out=to_narrow)
                torch.mm(grad, narrow.T, out=to_h).mul_(h > 0)
                torch.mm(y.T, to_h, out=to_widen)
                torch.mm(to_h, widen.T, out=to_y)
            else:
                to_widen.zero_()
                to_narrow.zero_()
        to_widen_bias = torch.zeros_like(widen_bias_EF).index_add_(0, expert_S, to_h_SF)
        to_narrow_bias = torch.zeros_like(narrow_bias_ED).index_add_(0, expert_S, grads[0])
        return to_y_SD, None, to_widen_EDF, to_widen_bias, to_narrow_EFD, to_narrow_bias
