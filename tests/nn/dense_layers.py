"""Networks in dense NumPy, one label state at a time, written from the papers' equations.

Modules are asked for their weights alone. Nothing here is fast: attention is a loop over nodes and heads, and the gate
is computed from N x (128 + C) inputs.
"""

import numpy as np

MASKED = -1


def numbers(parameter) -> np.ndarray:
    return parameter.detach().numpy()


def relu(x):
    return np.maximum(x, 0)


def elu(x):
    return np.where(x > 0, x, np.expm1(np.minimum(x, 0)))


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def one_hot(labels, classes):
    """`(N, C)`; a masked label is a zero vector."""
    rows = np.zeros((len(labels), classes))
    for i, label in enumerate(labels):
        if label != MASKED:
            rows[i, label] = 1
    return rows


def encode_time(t, steps, width=128):
    """Sines, then cosines, of 320 t / T at rates 10000^(-k / (half - 1))."""
    half = width // 2
    angles = 320 * t / steps * 10_000.0 ** (-np.arange(half) / (half - 1))
    return np.concatenate([np.sin(angles), np.cos(angles)])


def symmetric(a, loop):
    """D^-1/2 (A + sI) D^-1/2; rows of degree 0 are zero."""
    a = a + loop * np.eye(len(a))
    degree = a.sum(1)
    out = np.zeros_like(a)
    for i, j in zip(*np.nonzero(a), strict=True):
        out[i, j] = a[i, j] / np.sqrt(degree[i] * degree[j])
    return out


def row_mean(a, loop=0.0):
    """D^-1 (A + sI); rows of degree 0 are zero."""
    a = a + loop * np.eye(len(a))
    return np.stack([row / row.sum() if row.any() else row for row in a])


def attend(a, fused, source, target):
    """Attention over the entries of A: `(N, heads, d)`, target_i + source_j in the score, weights times exp."""
    heads, width = source.shape
    rows = fused.reshape(len(a), heads, width)
    out = np.zeros_like(rows)
    for i in range(len(a)):
        neighbours = np.flatnonzero(a[i])
        for k in range(heads if len(neighbours) else 0):
            score = rows[i, k] @ target[k] + rows[neighbours, k] @ source[k]
            heat = a[i, neighbours] * np.exp(np.where(score > 0, score, 0.2 * score))
            out[i, k] = heat / heat.sum() @ rows[neighbours, k]
    return out


def mix(conv, a, fused, self_loop=1.0):
    """The layer's output `(N, out)` for fused rows H~ `(N, width)`."""
    return _MIXES[type(conv).__name__](conv, a, fused, self_loop)


def _gcn(conv, a, fused, self_loop):
    return symmetric(a, self_loop) @ fused + numbers(conv.bias)


def _sage(conv, a, fused, self_loop):
    root, neighbour = np.split(fused, 2, axis=1)
    return root + row_mean(a) @ neighbour + numbers(conv.bias)


def _gat(conv, a, fused, self_loop):
    vectors = numbers(conv.attention.source), numbers(conv.attention.target)
    heads = attend(a + np.eye(len(a)), fused, *vectors)
    joined = heads.reshape(len(a), -1) if conv.concatenate else heads.mean(1)
    return joined + numbers(conv.bias)


def _gat_sep(conv, a, fused, self_loop):
    vectors = numbers(conv.attention.source), numbers(conv.attention.target)
    message = attend(a, fused, *vectors).reshape(len(a), -1)
    return np.hstack([fused, message]) @ numbers(conv.update.weight) + numbers(conv.update.bias)


_MIXES = {"GCNConv": _gcn, "PropagationConv": _gcn, "SAGEConv": _sage, "GATConv": _gat, "GATSepConv": _gat_sep}


def affine(part, h):
    return h @ numbers(part.weight) + (0 if part.bias is None else numbers(part.bias))


def normalise(kind, part, h):
    if kind == "none":
        return h
    if kind == "l2":
        return h / np.maximum(np.sqrt((h**2).sum(1, keepdims=True)), 1e-12)
    if kind == "rms":
        return h / np.sqrt((h**2).mean(1, keepdims=True) + np.finfo(h.dtype).eps) * numbers(part.scale)
    centred = h - h.mean(1, keepdims=True)
    return centred / np.sqrt((centred**2).mean(1, keepdims=True) + 1e-5) * numbers(part.scale) + numbers(part.shift)


def stack_logits(stack, a, x, fuse, shift):
    """Logits of a stack; `fuse(k, h)` gives H~ of layer k and `shift(k)` what is added to its output."""
    plan = stack.architecture
    activate = elu if plan.backbone == "gat" else relu
    if plan.backbone == "appnp":
        return spread_logits(stack, a, x, fuse, shift)
    initial = h = activate(affine(stack.embedding, x)) if plan.initial_residual else x
    for k, layer in enumerate(stack.layers):
        m = mix(layer.conv, a, fuse(k, h), plan.self_loop) + shift(k)
        m = m + h @ numbers(layer.skip.weight) if plan.residual else m
        if plan.head_layers == 0 and k == plan.layers - 1:
            return m
        if plan.initial_residual:
            m = (1 - plan.initial_residual) * m + plan.initial_residual * initial
        h = activate(normalise(plan.normalisation, layer.norm, m))
    return rows_to_logits(stack.head, h, activate)


def rows_to_logits(head, h, activate):
    for part in head[:-1]:
        h = activate(affine(part, h))
    return affine(head[-1], h)


def spread_logits(stack, a, x, fuse, shift):
    """Row-wise predictions first, then steps of personalised PageRank."""
    plan = stack.architecture
    first = h = rows_to_logits(stack.head, relu(affine(stack.embedding, x)), relu)
    for k, layer in enumerate(stack.layers):
        m = mix(layer.conv, a, fuse(k, h), plan.self_loop) + shift(k)
        h = (1 - plan.initial_residual) * m + plan.initial_residual * first
    return h


def projection(conv):
    """The matrix that a layer multiplies its input with; propagation has none."""
    return numbers(conv.projection.weight) if hasattr(conv, "projection") else np.eye(conv.width)


def mean_field_logits(model, a, x):
    return stack_logits(model.stack, a, x, lambda k, h: h @ projection(model.stack.layers[k].conv), lambda k: 0.0)


def denoiser_logits(model, gate, a, x, labels, time):
    """Logits `(N, C)` of one label state; `time (128,)` is the sinusoidal encoding of its step."""
    y = one_hot(labels, model.gates[0].embedding.weight.shape[0])
    time = affine(model.time.outer, elu(affine(model.time.inner, time)))

    def fuse(k, h):
        return fused(model.gates[k], gate, h, projection(model.stack.layers[k].conv), y, time)

    def shift(k):
        return affine(model.shifts[k], elu(time)) if gate == "none" else 0.0

    return stack_logits(model.stack, a, x, fuse, shift)


def fused(part, gate, h, weight, y, time):
    """H~ of one layer: the vanilla layer concatenates labels, the others gate their embedding."""
    embedding = numbers(part.embedding.weight)
    if gate == "none":
        return np.hstack([h, y]) @ np.vstack([weight, embedding])
    gamma = direct_gamma(part, y, time)
    return h @ weight + (y @ embedding + gamma if gate == "added" else gamma * (y @ embedding))


def direct_gamma(part, y, time):
    """sigmoid([time || one-hot] U + b), from one input row a node."""
    u = np.vstack([numbers(part.time.weight), numbers(part.label.weight)])
    return sigmoid(np.hstack([np.tile(time, (len(y), 1)), y]) @ u + numbers(part.time.bias))
