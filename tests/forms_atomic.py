"""atom and red, each thread on an address of its own: what is returned and what is left in memory."""

from __future__ import annotations

from collections.abc import Callable

import exact_floats as exact
import numpy as np
from forms_float import FORMATS, flushed, inputs_for
from forms_half import in_pairs
from forms_integer import wrapped
from operand_values import mixtures
from ptx_runner import BLOCK, KINDS, Array, Form

# One slot of 8 bytes per thread; every kernel has at most this many.
THREADS = 4096
VARIABLES = f".global .align 8 .b8 slots[{8 * THREADS}];\n.shared .align 8 .b8 shared_slots[{8 * BLOCK}];\n"

Update = Callable[..., int]
INTEGER_UPDATES: dict[str, tuple[tuple[str, ...], Update]] = {
    "add": (("u32", "s32", "u64"), lambda old, b: old + b),
    "min": (("u32", "s32", "u64", "s64"), min),
    "max": (("u32", "s32", "u64", "s64"), max),
    "inc": (("u32",), lambda old, b: 0 if old >= b else old + 1),
    "dec": (("u32",), lambda old, b: b if old == 0 or old > b else old - 1),
}
BIT_UPDATES: dict[str, Update] = {
    "and": lambda old, b: old & b,
    "or": lambda old, b: old | b,
    "xor": lambda old, b: old ^ b,
    "exch": lambda old, b: b,
}


def address(space: str) -> str:
    """Return instructions that leave the address of the thread's slot in %y0."""
    if space == "shared":
        return "mov.u64 %y1, shared_slots;\n mov.u32 %x0, %tid.x;\n mad.wide.u32 %y0, %x0, 8, %y1;\n"
    generic = " cvta.global.u64 %y0, %y0;\n" if space == "" else ""
    return f"mov.u64 %y1, slots;\n mad.wide.u32 %y0, %r4, 8, %y1;\n{generic}"


def atomic_form(
    name: str, kind: str, space: str, update: Callable[..., Array], inputs: tuple[Array, ...]
) -> Form:
    """Return the form of an `atom` (old value and memory) or a `red` (memory alone)."""
    bits = KINDS[kind].bits
    suffix = f".{space}" if space else ""
    reads = name.startswith("atom")
    left = "{e}" if reads else "{d}"
    more = ", {c}" if len(inputs) == 3 else ""
    return Form(
        name,
        (kind, kind) if reads else (kind,),
        (kind,) * len(inputs),
        (lambda *x: (x[0], update(*x))) if reads else update,
        inputs,
        operands=f"{'{d}, ' if reads else ''}[%y0], {{b}}{more}",
        before=address(space) + f" st{suffix}.b{bits} [%y0], {{a}};",
        after=f"ld{suffix}.b{bits} {left}, [%y0];",
        variables=VARIABLES,
        guarded=False,
    )


def _both(
    space: str, operation: str, kind: str, update: Callable[..., Array], inputs: tuple[Array, ...]
) -> list[Form]:
    spelled = f".{space}" if space else ""
    verbs = ("atom", "red") if operation.split(".")[-1] not in ("exch", "cas") else ("atom",)
    named = f"b{KINDS[kind].bits}" if operation in (*BIT_UPDATES, "cas") else kind
    return [
        atomic_form(f"{verb}{spelled}.{operation}.{named}", kind, space, update, inputs) for verb in verbs
    ]


def _integers(space: str) -> list[Form]:
    forms = []
    for name, (kinds, update) in INTEGER_UPDATES.items():
        for kind in kinds:
            forms += _both(space, name, kind, wrapped(kind, update), mixtures(kind, kind))
    for kind in ("u32", "u64"):
        for name, update in BIT_UPDATES.items():
            forms += _both(space, name, kind, wrapped(kind, update), mixtures(kind, kind))
    for kind in ("u16", "u32", "u64"):
        old, compared, fresh = mixtures(kind, kind, kind)
        compared[::2] = old[::2]
        update = wrapped(kind, lambda old, b, c: c if old == b else old)
        forms += _both(space, "cas", kind, update, (old, compared, fresh))
    return forms


def sum_of(kind: str, flushes: bool) -> Callable[..., Array]:
    float_format = FORMATS[kind]

    def one(*bits: int) -> int:
        read = (float_format.decode(flushed(b, float_format) if flushes else b) for b in bits)
        old, b = read
        # Of two NaNs memory keeps its own.
        total = float_format.encode(exact.first_nan(old, b) or exact.add(old, b), keep_nan=kind == "f64")
        return flushed(total, float_format) if flushes else total

    def apply(a: Array, b: Array) -> Array:
        unsigned = KINDS[kind].unsigned
        rows = zip(a.view(unsigned).tolist(), b.view(unsigned).tolist(), strict=True)
        return np.array([one(*row) for row in rows], dtype=unsigned)

    return apply


def _floats(space: str) -> list[Form]:
    forms = []
    for kind, operation in (("f32", "add"), ("f64", "add"), ("f16", "add.noftz"), ("bf16", "add.noftz")):
        flushes = kind == "f32" and space != "shared"  # the f32 adders of global memory know no subnormals
        forms += _both(space, operation, kind, sum_of(kind, flushes), inputs_for(kind, 2))
    for kind in ("f16", "bf16"):
        both = f"{kind}x2"
        forms += _both(space, "add.noftz", both, in_pairs(sum_of(kind, False)), inputs_for(both, 2))
    return forms


def _qualified() -> list[Form]:
    """Scopes and orders change nothing here."""
    update = wrapped("u32", lambda old, b: old + b)
    names = ("atom.relaxed.gpu.global.add.u32", "atom.acq_rel.sys.global.add.u32", "atom.global.cta.add.u32")
    names += ("atom.global.sys.add.u32", "atom.global.gpu.add.u32", "red.relaxed.gpu.global.add.u32")
    return [atomic_form(name, "u32", "global", update, mixtures("u32", "u32")) for name in names]


FORMS = [
    *(each for space in ("global", "shared", "") for each in _integers(space)),
    *(each for space in ("global", "shared", "") for each in _floats(space)),
    *_qualified(),
]
