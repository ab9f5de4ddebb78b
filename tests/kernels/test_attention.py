"""Attention over pages and over plain arrays, and the rotation of queries and keys before it."""

import numpy as np

from pytest_cudaopt import (
    In,
    InOut,
    Out,
    Scalar,
    bf16,
    case,
    f16,
    f32,
    i32,
    i64,
    integers,
    kernel,
    lengths,
    product,
    work,
)


def softmax(scores):
    """Return the softmax along the last axis."""
    shifted = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return shifted / shifted.sum(axis=-1, keepdims=True)


def scattered_pages(rng, sizes, drawn):
    """Give every sequence pages of its own in no order, and -1 beyond its last token."""
    needed = -(-drawn["lengths"] // sizes["page"])
    pages = rng.permutation(sizes["pages"])[: sizes["sequences"] * sizes["max_pages"]]
    tables = pages.reshape(sizes["sequences"], sizes["max_pages"])
    return np.where(np.arange(sizes["max_pages"]) < needed[:, None], tables, -1).astype(np.int32)


@kernel(
    "csrc/paged_decode.cu",
    entry="paged_decode<{head_dim}, {page}>",
    include=["csrc/include"],
    sizes=["sequences", "head_dim", "page"],
    derive={"pages": "sequences * max_pages + 3"},
    choices={"head_dim": (64, 128), "page": (8, 16)},
    where=["heads % kv_heads == 0"],
    # The scores of a sequence, 4 bytes each, stay inside 48 KB.
    domain={"sequences": (1, 64), "heads": (1, 64), "max_pages": (1, 512)},
    cases=[
        case(sequences=1, heads=1, kv_heads=1, max_pages=1, head_dim=64, page=8),
        case(sequences=5, heads=6, kv_heads=2, max_pages=4, head_dim=64, page=8),
        case(sequences=2, heads=4, kv_heads=4, max_pages=3, head_dim=128, page=16),
        case(sequences=8, heads=8, kv_heads=2, max_pages=8, head_dim=64, page=16, measure=True),
    ],
)
def paged_decode(
    query=In(f16, "sequences", "heads", "head_dim"),
    keys=In(f16, "pages", "kv_heads", "page", "head_dim"),
    values=In(f16, "pages", "kv_heads", "page", "head_dim"),
    lengths=In(i32, "sequences", values=lengths("max_pages * page", zero=True)),
    block_tables=In(i32, "sequences", "max_pages", values=scattered_pages),
    out=Out(f16, "sequences", "heads", "head_dim"),
    scale=Scalar(f32, 0.125),
    heads=i32,
    kv_heads=i32,
    max_pages=i32,
):
    """Attend with one query per sequence and head to the sequence's tokens; heads share keys in groups."""
    head_dim, page = query.shape[2], keys.shape[2]
    out[...] = 0
    for sequence, length in enumerate(lengths):
        if length == 0:
            continue
        own = block_tables[sequence, : -(-length // page)]
        k = keys[own].swapaxes(0, 1).reshape(kv_heads, -1, head_dim)[:, :length]
        v = values[own].swapaxes(0, 1).reshape(kv_heads, -1, head_dim)[:, :length]
        grouped = query[sequence].reshape(kv_heads, heads // kv_heads, head_dim)
        weights = softmax(scale * grouped @ k.swapaxes(1, 2))
        out[sequence] = (weights @ v).reshape(heads, head_dim)


@kernel(
    "csrc/prefill.cu",
    entry="attention::prefill<{T}, {head_dim}>",
    types={"T": (f16, bf16)},
    include=["csrc/include"],
    sizes=["batch", "head_dim"],
    choices={"head_dim": (32, 64, 128)},
    where=["tokens <= keys"],
    domain={"batch": (1, 16), "heads": (1, 32), "tokens": (1, 512), "keys": (1, 1024)},
    cases=[
        case(batch=1, heads=1, tokens=1, keys=1, head_dim=32),
        case(batch=2, heads=3, tokens=5, keys=37, head_dim=64),
        case(batch=1, heads=2, tokens=33, keys=33, head_dim=32),
        case(batch=1, heads=4, tokens=64, keys=96, head_dim=64, T=f16, measure=True),
    ],
    work=work(flops="2 * batch * heads * tokens * (2 * keys - tokens + 1) * head_dim"),
)
def prefill(
    q=In("T", "batch", "heads", "tokens", "head_dim"),
    k=In("T", "batch", "heads", "keys", "head_dim"),
    v=In("T", "batch", "heads", "keys", "head_dim"),
    out=Out("T", "batch", "heads", "tokens", "head_dim"),
    scale=Scalar(f32, 0.17),
    heads=i32,
    tokens=i32,
    keys=i32,
):
    """Causal attention; the last token is that of the last key."""
    scores = scale * q @ k.swapaxes(2, 3)
    is_seen = np.tri(tokens, keys, k=keys - tokens, dtype=bool)
    out[...] = softmax(np.where(is_seen, scores, -np.inf)) @ v


def cosines_and_sines(rng, sizes, drawn):
    """Return the cosines, then the sines, of the angles each position has in each pair of dimensions."""
    half = sizes["head_dim"] // 2
    frequencies = 10_000.0 ** (-np.arange(half) / half)
    angles = np.arange(sizes["positions_known"])[:, None] * frequencies
    return np.concatenate([np.cos(angles), np.sin(angles)], axis=1).astype(np.float32)


def rotated(heads, own):
    """Return `heads` with each pair of dimensions (i, i + half) rotated by its angle."""
    half = heads.shape[2] // 2
    a, b = heads[:, :, :half], heads[:, :, half:]
    cosines, sines = own[:, None, :half], own[:, None, half:]
    return np.concatenate([a * cosines - b * sines, b * cosines + a * sines], axis=2)


@kernel(
    "csrc/rotary.cu",
    sizes=["tokens", "positions_known"],
    derive={"stride": "(heads + 2 * kv_heads) * head_dim"},
    where=["head_dim % 2 == 0", "heads % kv_heads == 0"],
    domain={"positions_known": (1, 4096), "head_dim": (2, 256)},
    cases=[
        case(tokens=1, heads=1, kv_heads=1, head_dim=2, positions_known=1),
        case(tokens=3, heads=6, kv_heads=2, head_dim=20, positions_known=50),
        *product(tokens=[1, 7], heads=4, kv_heads=[1, 4], head_dim=64, positions_known=100),
        case(tokens=128, heads=8, kv_heads=2, head_dim=64, positions_known=512, measure=True),
    ],
)
def rotary(
    query=InOut(f16, "tokens", "heads", "head_dim", strides=("stride", "head_dim", 1)),
    key=InOut(f16, "tokens", "kv_heads", "head_dim", strides=("stride", "head_dim", 1)),
    positions=In(i64, "tokens", values=integers(0, "positions_known - 1")),
    cosines_sines=In(f32, "positions_known", "head_dim", values=cosines_and_sines),
    query_stride=Scalar(i64, derive="stride"),
    key_stride=Scalar(i64, derive="stride"),
    heads=i32,
    kv_heads=i32,
    head_dim=i32,
):
    """Rotate queries and keys by their positions; both are views of one projection's rows."""
    query[...] = rotated(query, cosines_sines[positions])
    key[...] = rotated(key, cosines_sines[positions])
