"""Inference on a graph cut into parts: every rank computes its rows; boundary rows travel. No gradients."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor

from redisc.diffusion.sampler import Denoise
from redisc.engine import Anchor
from redisc.kernels.attention import Pattern, attention_sum, attention_weights
from redisc.kernels.compiled import view
from redisc.kernels.hops import append_loops
from redisc.kernels.labels import count_labels_at, mix_shares, read_table
from redisc.kernels.spread import spread_rows
from redisc.nn import Committee, Denoiser, Features, MeanField, crowding_of, mean_probabilities, with_reader
from redisc.nn.block import Block, Weighting
from redisc.nn.convs import HopConv
from redisc.scale.part import Part


class PartBlock(Block):
    """One hop whose targets are this rank's nodes; sources are they and the halo, whose rows arrive when asked for.

    `labels (copies, N)` are all nodes' labels, which every rank holds: a number a node is little beside its row.
    """

    def __init__(self, part: Part, labels: Tensor | None = None) -> None:
        self.part, self._labels = part, None
        if labels is not None:
            own = labels[:, part.start : part.stop]
            self._labels = torch.cat([own, labels[:, torch.from_numpy(part.halo)]], dim=1)

    def own(self, h: Tensor) -> Tensor:
        """Return the own rows; they come first."""
        return h[: self.part.size]

    def lookup(self, table: Tensor) -> Tensor:
        """Read the table at the label of every own and halo node."""
        assert self._labels is not None
        return read_table(table, self._labels)

    def lookup_own(self, table: Tensor) -> Tensor:
        """Read the table at the label of every own node."""
        return self.lookup(table)[: self.part.size]

    def fuse(self, z: Tensor, table: Tensor | None) -> Tensor:
        """Fetch the halo's rows, then add the table's."""
        return super().fuse(self.part.exchange(z), table)

    def propagate(
        self, z: Tensor, weighting: Weighting, table: Tensor | None = None, bias: Tensor | None = None
    ) -> Tensor:
        """Fetch the halo's rows and sum over edges; labels are counted from what every rank knows."""
        rows = self.part.exchange(z)
        flat, scales = view(rows).reshape(len(rows), -1), self.part.scales(weighting)
        out = np.empty((self.part.size, flat.shape[1]), flat.dtype)
        spread_rows(0, *self._edges, scales.left, scales.right, scales.loop, flat, out)
        mixed = torch.from_numpy(out).unflatten(1, z.shape[1:])
        mixed = mixed if bias is None else mixed + bias
        return mixed if table is None else mixed + mix_shares(self._counts(weighting, table.shape[1]), table)

    def label_hop(self, table: Tensor, weighting: Weighting, hop: int) -> Tensor:
        """Count labels, and propagate the counts for every further hop."""
        counts = self._counts(weighting, table.shape[1])
        for _ in range(hop - 1):
            counts = self.propagate(counts, weighting)
        return mix_shares(counts, table)

    def attention(self, source_scores: Tensor, target_scores: Tensor, self_loops: bool) -> Tensor:
        """Return attention weights `(edges, copies, heads)`."""
        return attention_weights(source_scores, target_scores, self._pattern(self_loops))

    def aggregate(self, weights: Tensor, values: Tensor, self_loops: bool) -> Tensor:
        """Sum values over edges, `(own, copies, heads, d)`."""
        return attention_sum(weights, values, self._pattern(self_loops))

    @property
    def _edges(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        return self.part.indptr, self.part.indices, self.part.edge_weight

    def _counts(self, weighting: Weighting, num_states: int) -> Tensor:
        assert self._labels is not None
        scales, rows = self.part.scales(weighting), np.arange(self.part.size)
        factors, labels = (scales.left, scales.right, scales.loop), self._labels.contiguous().numpy()
        return torch.from_numpy(count_labels_at(rows, *self._edges, *factors, labels, num_states))

    def _pattern(self, self_loops: bool) -> Pattern:
        indptr, indices, weight = self._edges
        log_weight = np.log(weight.astype(np.float64)) if len(weight) else None
        if not self_loops:
            return Pattern(indptr, indices, None, log_weight)
        if log_weight is not None:
            log_weight = np.insert(log_weight, indptr[1:], 0.0)
        looped_indptr, looped = append_loops(indptr, indices)
        return Pattern(looped_indptr, looped, None, log_weight)


class PartEngine:
    """Answers for this rank's nodes; all ranks must ask the same questions in the same order.

    `features` are the own nodes' alone. A pass sends, for every layer, the rows that others' edges reach.
    """

    def __init__(self, part: Part, features: Features, hops: int = 0) -> None:
        self.part, self.own_features = part, features
        self.features = self._with_hops(features, hops) if hops else features

    @torch.no_grad()
    def mean_field(self, model: MeanField) -> Tensor:
        """Return logits of the own nodes `(n, C)`."""
        return model([PartBlock(self.part)] * model.depth, self.features)

    @torch.no_grad()
    def noisy_logits(self, denoiser: Denoiser, labels: Tensor, t: Tensor) -> Tensor:
        """Return logits of the own nodes `(n, B, C)` for label states `(B, N)` at steps `t (B,)`."""
        blocks = [PartBlock(self.part, labels)] * denoiser.depth
        return denoiser(blocks, denoiser.project(self.features), denoiser.condition(t))

    def opinion(self, model: MeanField | Committee) -> Tensor:
        """Return probabilities of the own nodes `(n, C)`; see `redisc.engine.Engine.opinion`."""
        with torch.no_grad():
            answers = mean_probabilities(model, self.mean_field)
            return with_reader(model, answers, self)

    @property
    def crowding(self) -> Tensor:
        """How crowded the own nodes' neighbourhoods are, 1 + d / d̄ `(n, 1)`; see `redisc.nn.Pooling`."""
        return crowding_of(torch.from_numpy(np.diff(self.part.indptr)), self.part.mean_degree)

    def denoise(self, denoiser: Denoiser, anchor: Anchor | None = None) -> Denoise:
        """Return the denoiser as the sampler asks: every rank answers for its own rows and learns the others'.

        `anchor` is the own nodes'; see `redisc.engine.AnchoredEngine`.
        """
        with torch.no_grad():
            projected = denoiser.project(self.features)

        @torch.no_grad()
        def denoise(labels: Tensor, t: int, chain: Tensor, node: Tensor) -> Tensor:
            blocks = [PartBlock(self.part, labels)] * denoiser.depth
            logits = denoiser(blocks, projected, denoiser.condition(torch.tensor([t])))
            mine = self.part.owned(node)
            answer = logits.new_zeros(len(node), denoiser.num_classes)
            own = node[mine] - self.part.start
            asked = logits[own, chain[mine]]
            answer[mine] = asked if anchor is None else anchor.applied(asked, own)
            return self.part.world.sum(answer)

        return denoise

    def _with_hops(self, features: Features, hops: int) -> Tensor:
        x: Any = features if isinstance(features, Tensor) else features.to_dense().unsqueeze(1)
        block, rows = PartBlock(self.part), [x]
        for _ in range(hops):
            rows.append(block.propagate(rows[-1], HopConv.weighting))
        return torch.cat(rows, dim=2)
