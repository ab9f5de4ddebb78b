"""Warp-wide instructions with every lane there, against the manual's pseudocode per warp."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from operand_values import mixtures, random_values
from ptx_runner import KINDS, Array, Form

LANES = 32
EVERYONE = 0xFFFFFFFF


def per_warp(function: Callable[..., Array]) -> Callable[..., Array]:
    """Apply a function of 32 lanes to each warp."""

    def apply(*arrays: Array) -> Array:
        warps = zip(*(array.reshape(-1, LANES) for array in arrays), strict=True)
        return np.concatenate([function(*warp) for warp in warps])

    return apply


def source_lane(mode: str, lane: int, b: int, c: int) -> tuple[int, bool]:
    """Return where a lane reads, and whether that is in range."""
    b, bound, segment = b & 31, c & 31, c >> 8 & 31
    first = lane & segment
    last = first | bound & ~segment
    index = {"up": lane - b, "down": lane + b, "bfly": lane ^ b, "idx": first | b & ~segment}[mode]
    in_range = index >= last if mode == "up" else index <= last
    return (index if in_range else lane), in_range


def _shuffles() -> list[Form]:
    forms = []
    values, distances = mixtures("u32", "u32")
    for mode in ("up", "down", "bfly", "idx"):
        bounds = (0, 0x1800, 0x1E00) if mode == "up" else (0x1F, 0x181F, 0x1C1F, 0x0F)
        for c in bounds:

            def shuffled(a: Array, b: Array, m: str = mode, c: int = c) -> tuple[Array, Array]:
                found = [source_lane(m, i, int(b[i]), c) for i in range(LANES)]
                return a[[lane for lane, _ in found]], np.array([ok for _, ok in found], dtype=np.uint32)

            def both(
                a: Array, b: Array, f: Callable[..., tuple[Array, Array]] = shuffled
            ) -> tuple[Array, Array]:
                return per_warp(lambda x, y: f(x, y)[0])(a, b), per_warp(lambda x, y: f(x, y)[1])(a, b)

            forms.append(
                Form(
                    f"shfl.sync.{mode}.b32",
                    ("u32", "pred"),
                    ("u32", "u32"),
                    both,
                    (values, distances),
                    operands=f"{{d}}|{{e}}, {{a}}, {{b}}, {c}, {EVERYONE}",
                    label=f"0x{c:x}",
                    guarded=False,
                )
            )
    return forms


def _bits(flags: Array) -> int:
    return sum(1 << i for i, flag in enumerate(flags) if flag)


def everywhere(value: int) -> Array:
    return np.full(LANES, value, dtype=np.uint32)


def _votes() -> list[Form]:
    mixed = np.random.default_rng(4).integers(0, 2, 4 * LANES, dtype=np.uint32)
    none, some, all_ = np.zeros(2 * LANES, dtype=np.uint32), mixed, np.ones(2 * LANES, dtype=np.uint32)
    inputs = (np.concatenate([none, some, all_]),)
    answers: dict[str, tuple[str, Callable[[Array], int]]] = {
        "all.pred": ("pred", lambda a: int(a.all())),
        "any.pred": ("pred", lambda a: int(a.any())),
        "uni.pred": ("pred", lambda a: int(a.all() or not a.any())),
        "ballot.b32": ("u32", _bits),
    }
    return [
        Form(
            f"vote.sync.{name}",
            (kind,),
            ("pred",),
            per_warp(lambda a, f=answer: everywhere(f(a))),
            inputs,
            operands="{d}, {a}, 0xffffffff",
            guarded=False,
        )
        for name, (kind, answer) in answers.items()
    ]


def _matches() -> list[Form]:
    forms = []
    for kind in ("u32", "u64"):
        few = np.random.default_rng(6).integers(0, 5, 7 * LANES).astype(KINDS[kind].dtype) << 27
        same = np.full(LANES, 9, dtype=KINDS[kind].dtype)
        inputs = (np.concatenate([few, same]),)

        def peers(a: Array) -> Array:
            return np.array([_bits(a == value) for value in a], dtype=np.uint32)

        def agreed(a: Array) -> Array:
            return everywhere(EVERYONE if (a == a[0]).all() else 0)

        bits = KINDS[kind].bits
        named = "{a}, 0xffffffff"
        forms += [
            Form(
                f"match.any.sync.b{bits}",
                ("u32",),
                (kind,),
                per_warp(peers),
                inputs,
                f"{{d}}, {named}",
                guarded=False,
            ),
            Form(
                f"match.all.sync.b{bits}",
                ("u32", "pred"),
                (kind,),
                lambda a, f=agreed: (per_warp(f)(a), np.minimum(per_warp(f)(a), 1)),
                inputs,
                f"{{d}}|{{e}}, {named}",
                guarded=False,
            ),
        ]
    return forms


def _reductions() -> list[Form]:
    functions: dict[str, Callable[[Array], int]] = {
        "add.u32": lambda a: int(a.sum(dtype=np.uint64)) & EVERYONE,
        "add.s32": lambda a: int(a.sum(dtype=np.int64)) & EVERYONE,
        "min.u32": lambda a: int(a.min()),
        "max.u32": lambda a: int(a.max()),
        "min.s32": lambda a: int(a.min()) & EVERYONE,
        "max.s32": lambda a: int(a.max()) & EVERYONE,
        "and.b32": lambda a: int(np.bitwise_and.reduce(a)),
        "or.b32": lambda a: int(np.bitwise_or.reduce(a)),
        "xor.b32": lambda a: int(np.bitwise_xor.reduce(a)),
    }
    forms = []
    for name, function in functions.items():
        kind = "s32" if name.endswith("s32") else "u32"
        inputs = (random_values(kind, 8 * LANES, np.random.default_rng(7)),)
        expected = per_warp(lambda a, f=function: everywhere(f(a)))
        forms.append(
            Form(
                f"redux.sync.{name}",
                (kind,),
                (kind,),
                expected,
                inputs,
                "{d}, {a}, 0xffffffff",
                guarded=False,
            )
        )
    return forms


def _presence() -> list[Form]:
    inputs = (np.zeros(4 * LANES, dtype=np.uint32),)
    first = np.arange(LANES, dtype=np.uint32) == 0
    return [
        Form(
            "activemask.b32",
            ("u32",),
            ("u32",),
            per_warp(lambda a: everywhere(EVERYONE)),
            inputs,
            "{d}",
            guarded=False,
        ),
        Form(
            "elect.sync",
            ("u32", "pred"),
            ("u32",),
            lambda a: (np.zeros_like(a), per_warp(lambda a: first.astype(np.uint32))(a)),
            inputs,
            "{d}|{e}, 0xffffffff",
            guarded=False,
        ),
    ]


FORMS = [*_shuffles(), *_votes(), *_matches(), *_reductions(), *_presence()]
