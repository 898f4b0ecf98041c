"""Attention of noisy latents over the conditions of their neighbourhoods."""

from __future__ import annotations

from torch import Tensor, nn

from redisc.errors import ConfigError
from redisc.nn import Affine, Block


class CrossAttention(nn.Module):
    """`Σ_j softmax_j(q_i · k_j / sqrt(d)) v_j + c_i W` per head; q of noisy latents, k and v of conditions c.

    The sum is over neighbours and the node itself; the weight of a weighted edge multiplies its exponential. The last
    term hands a node its own condition, as LGD's attention does for conditions that are graphs.
    """

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        if width % heads:
            raise ConfigError(f"{heads} heads do not divide a width of {width}")
        self.heads = heads
        self.query, self.key, self.value = (Affine(width, width, bias=False) for _ in range(3))
        self.own = Affine(width, width)

    def forward(self, block: Block, h: Tensor, condition: Tensor) -> Tensor:
        """Map `h (N, copies, width)`, given `condition (N, 1, width)`, to `(N, copies, width)`."""
        query, key, value = (self._split(part) for part in (self.query(h), self.key(condition), self.value(condition)))
        key, value = key.expand_as(query), value.expand_as(query)
        weights = block.dot_attention(query * query.shape[-1] ** -0.5, key, True)
        return block.aggregate(weights, value, True).flatten(-2) + self.own(condition)

    def _split(self, h: Tensor) -> Tensor:
        return h.unflatten(-1, (self.heads, -1))
