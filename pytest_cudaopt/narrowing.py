"""Tell in how few bits PTX instructions compute, and whether those are fewer than a declaration has."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from pytest_cudaopt.parameters import Parameter
from pytest_cudaopt.ptx import Function, Instruction

# Explicit mantissa bits of the element types of PTX.
MANTISSA_BITS = {
    "f64": 52,
    "f32": 23,
    "tf32": 10,
    "f16": 10,
    "bf16": 7,
    "e4m3": 3,
    "e2m3": 3,
    "e5m2": 2,
    "e3m2": 2,
    "e2m1": 1,
}
_SINGLE = MANTISSA_BITS["f32"]
_FLOAT = re.compile(r"(?:kind::)?(f64|f32|tf32|b?f16|e[2345]m[123])(?:x\d)?$")
# Operands of 4 to 8 bits, each a type of its own that the opcode need not name.
_MIXED = re.compile(r"kind::(?:f8|mx)")
_NARROW_INTEGER = re.compile(r"(?:kind::i8|[su][48]|b1)$")
_ROUNDING = frozenset(
    {
        *("add", "sub", "mul", "fma", "mad", "div", "sqrt", "rsqrt", "rcp"),
        *("ex2", "lg2", "sin", "cos", "tanh", "atom", "red", "multimem"),
    }
)
_MATRIX = frozenset({"mma", "wgmma", "wmma", "tcgen05"})
# `erf`, `tanh` and `cbrt` of doubles look a first guess up in floats, and only they hold these.
_FIRST_GUESS = frozenset({"ex2.approx.ftz.f32", "lg2.approx.ftz.f32"})
_GUESSED = frozenset({"cvt.rn.f32.f64", "mul.f32"})
# Of a float. Library functions clear 23 and more, and so look at the exponent alone.
_CUT_BITS = range(8, _SINGLE)
_LITERAL = re.compile(r",\s*(-?\d+)$")


def declared_bits(parameters: Iterable[Parameter]) -> int | None:
    """Return the fewest mantissa bits any float that is declared has; None where none is.

    Scalars count only where no array holds floats: a factor says nothing of the precision of arrays.
    """
    floats = [one for one in parameters if one.dtype.is_float]
    arrays = [one.dtype for one in floats if one.is_array]
    return min((dtype.mantissa_bits for dtype in arrays or [one.dtype for one in floats]), default=None)


def takes_integers(parameters: Iterable[Parameter]) -> bool:
    """Return whether an array of integers is declared, which may hold packed bytes."""
    return any(one.is_array and one.dtype.kind in ("int", "uint") for one in parameters)


def rounded_to(one: Instruction) -> tuple[str, ...]:
    """Return the float types in which `one` loses bits: those it computes in, or converts down to.

    Types of 8 bits that hold integers are named where it multiplies matrices of them.
    """
    operation, floats = one.parts[0], [found[1] for part in one.parts if (found := _FLOAT.match(part))]
    if operation == "cvt":
        return _converted(one, floats)
    if operation in _MATRIX:
        return _multiplied(one, floats)
    if operation in ("dp4a", "dp2a"):
        return ("integers of 8 bits",)
    return tuple(floats[:1]) if operation in _ROUNDING else ()


def accumulates_in(one: Instruction) -> str | None:
    """Return the float type in which `one` keeps what it computes; None where it computes nothing."""
    operation, floats = one.parts[0], [found[1] for part in one.parts if (found := _FLOAT.match(part))]
    if operation in _MATRIX and any(part.startswith("mma") for part in one.parts):
        return floats[0] if floats and not one.opcode.startswith("tcgen05") else None
    return floats[0] if operation in _ROUNDING and floats else None


def _converted(one: Instruction, floats: Sequence[str]) -> tuple[str, ...]:
    target = next((part for part in one.parts[1:] if _is_type(part)), "")
    if not floats or (found := _FLOAT.match(target)) is None:
        return ()
    sources = floats[1:]
    if not sources:
        # From an integer, which a float may hold exactly.
        return (found[1],) if MANTISSA_BITS[found[1]] < _SINGLE else ()
    lost = any(MANTISSA_BITS[found[1]] < MANTISSA_BITS[source] for source in sources)
    return (found[1],) if lost else ()


def _is_type(part: str) -> bool:
    return _FLOAT.match(part) is not None or re.fullmatch(r"[busf]\d+", part) is not None


def _multiplied(one: Instruction, floats: Sequence[str]) -> tuple[str, ...]:
    if not any(part.startswith("mma") for part in one.parts):
        return ()
    if any(_NARROW_INTEGER.match(part) for part in one.parts):
        return ("integers of 8 bits",)
    if any(_MIXED.match(part) for part in one.parts):
        return ("e4m3",)
    narrow = tuple(dict.fromkeys(kind for kind in floats if MANTISSA_BITS[kind] < _SINGLE))
    if not narrow and one.parts[0] == "wmma" and "f64" not in floats:
        # Named after its results alone, `wmma.mma` multiplies halves.
        return ("f16",)
    return narrow or tuple(floats[:1])


def narrower(function: Function, bits: int, has_integers: bool) -> Iterator[tuple[str, Instruction]]:
    """Yield what computes in, or rounds to, a type of fewer mantissa `bits`, by the type's name.

    Products of small integers count unless the kernel has integers to multiply.
    """
    guesses = any(one.opcode in _FIRST_GUESS for one in function.body)
    for one in function.body:
        if guesses and bits > _SINGLE and (one.opcode in _GUESSED or "approx" in one.parts):
            continue
        for name in rounded_to(one):
            if MANTISSA_BITS.get(name, bits if has_integers else 0) < bits:
                yield name, one
    if bits == _SINGLE:
        yield from masked(function)


def masked(function: Function) -> Iterator[tuple[str, Instruction]]:
    """Yield what leaves only the first bits of a float: bf16 and tf32 by other means."""
    cut = [(bits, names, one) for one in function.body for bits, names in _cut_off(one)]
    floats = _held_as_floats(function) if cut else frozenset()
    for bits, names, one in cut:
        if not floats.isdisjoint(names):
            yield f"floats cut to {_SINGLE - bits} bits", one


def _cut_off(one: Instruction) -> Iterator[tuple[int, list[str]]]:
    """Yield how many of a word's last bits are cleared, and the registers that tell whether it is a float."""
    found = _LITERAL.search(one.operands) if one.opcode in ("and.b32", "shl.b32") else None
    if found is None:
        return
    number = int(found[1])
    if one.opcode == "shl.b32":
        # The upper half of a float, loaded alone.
        bits, names = number, one.names[:1]
    else:
        bits, names = (-number).bit_length() - 1, one.names
        if number >= 0 or -number != 1 << bits:
            return
    if bits in _CUT_BITS:
        yield bits, names


def _held_as_floats(function: Function) -> frozenset[str]:
    """Return the registers that instructions on floats use, and what is moved into or out of those."""
    used = {name for one in function.body if _computes_in_floats(one) for name in one.names}
    moves = [one.names for one in function.body if one.opcode in ("mov.b32", "mov.f32", "mov.u32")]
    moved = {name for names in moves if len(names) == 2 and used & {*names} for name in names}
    return frozenset(used | moved)


def _computes_in_floats(one: Instruction) -> bool:
    return one.parts[-1] == "f32" and one.parts[0] not in ("cvt", "mov")
