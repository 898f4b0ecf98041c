"""A user's own PyG module as the backbone: the slower path, the same interface.

The module is built by a function `make(in_width, out_width)` and called as `module(x, edge_index)`. It sees the
node's features, its noisy label and the encoded time side by side (the vanilla form); many label states become one
graph of disjoint copies.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import torch
from torch import Tensor, nn

from redisc.kernels.dropout import Dropout
from redisc.kernels.sparse import SparseMatrix
from redisc.nn.affine import Features
from redisc.nn.block import Block
from redisc.nn.stack import Projected
from redisc.nn.time_gate import TIME_WIDTH, sinusoidal_encoding

ModuleMaker = Callable[[int, int], nn.Module]


class _ModuleBackbone(nn.Module):
    """Builds and calls the user's module without touching the caller's random state."""

    depth = 1

    def __init__(self, make: ModuleMaker, in_width: int, num_classes: int) -> None:
        super().__init__()
        self._make, self._widths = make, (in_width, num_classes)
        with _seeded(0):
            self.module = make(in_width, num_classes)

    def reset_parameters(self, generator: torch.Generator) -> None:
        """Build the module anew: it may have no way to reset itself."""
        with _seeded(_draw_seed(generator)):
            self.module.load_state_dict(self._make(*self._widths).state_dict())

    def _call(self, x: Tensor, block: Block, dropout: Dropout | None) -> Tensor:
        """Call the module on rows `x (N, copies, d)`; training mode where there is dropout."""
        copies = x.shape[1]
        edges = _disjoint_copies(block.edge_index(), len(x), copies)
        self.module.train(dropout is not None)
        with _seeded(0 if dropout is None else dropout.draw_seed()):
            out = self.module(x.transpose(0, 1).flatten(0, 1), edges)
        return out.unflatten(0, (copies, len(x))).transpose(0, 1)


class ModuleDenoiser(_ModuleBackbone):
    """A denoiser around a user's module, with the interface of `Denoiser`."""

    def __init__(self, make: ModuleMaker, num_features: int, num_classes: int, steps: int) -> None:
        super().__init__(make, num_features + num_classes + TIME_WIDTH, num_classes)
        self.steps, self.num_classes = steps, num_classes

    def project(self, x: Features, dropout: Dropout | None = None) -> Projected:
        """Pass features on as they are, dense."""
        return Projected(_dense(x), None, None)

    def condition(self, t: Tensor) -> Tensor:
        """Encode steps `t (copies,)`."""
        return sinusoidal_encoding(t, self.steps)

    def forward(
        self, blocks: Sequence[Block], projected: Projected, time: Tensor, dropout: Dropout | None = None
    ) -> Tensor:
        """Return logits `(N, copies, C)`."""
        x = projected.z
        one_hot = torch.eye(self.num_classes + 1, self.num_classes, dtype=x.dtype, device=x.device)
        labels = blocks[0].lookup(one_hot[None])
        parts = [part.expand(len(x), labels.shape[1], -1) for part in (x, labels, time.to(x.dtype))]
        return self._call(torch.cat(parts, dim=-1), blocks[0], dropout)


class ModuleMeanField(_ModuleBackbone):
    """A mean-field GNN around a user's module, with the interface of `MeanField`."""

    def forward(self, blocks: Sequence[Block], x: Features, dropout: Dropout | None = None) -> Tensor:
        """Return logits `(N, C)`."""
        return self._call(_dense(x), blocks[0], dropout).squeeze(1)


def _dense(x: Features) -> Tensor:
    return x.to_dense().unsqueeze(1) if isinstance(x, SparseMatrix) else x


def _disjoint_copies(edge_index: Tensor, num_nodes: int, copies: int) -> Tensor:
    shift = torch.arange(copies, device=edge_index.device) * num_nodes
    return (edge_index[:, None] + shift[None, :, None]).flatten(1)


def _draw_seed(generator: torch.Generator) -> int:
    return int(torch.randint(2**31, (1,), generator=generator))


@contextmanager
def _seeded(seed: int) -> Iterator[None]:
    """Run foreign code, which draws from global random state, under a seed of ours; then restore that state."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        yield
