"""Guesses of arrays' extents and cases' sizes, from names and from what the body indexes with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pytest_cudaopt import expressions
from pytest_cudaopt.adopt.bodies import Accesses
from pytest_cudaopt.errors import CudaoptError

_ROW_WORDS = frozenset({"row", "r", "b", "batch", "token", "blockIdx", "bid"})
_SINGLE = frozenset({"sum", "total", "count", "loss", "result", "norm", "found"})
_VECTORS = frozenset({"weight", "weights", "bias", "gamma", "beta", "scale", "w"})
_PRODUCT = {"a": ("m", "k"), "b": ("k", "n"), "c": ("m", "n"), "d": ("m", "n")}
_SMALL = (5, 17, 9, 3, 7)
_LARGE = {0: 1, 1: 65536, 2: 512, 3: 128}


def guess_shape(name: str, uses: Accesses, sizes: Sequence[str], is_output: bool) -> tuple[str, ...]:
    """Return the extents of an array, outermost first."""
    if not sizes or (uses.only_first and is_output):
        return ("1",)
    if len(sizes) == 1:
        return ("1",) if is_output and name.lower() in _SINGLE and not uses.words - {name} else (sizes[0],)
    by_letter = {size.lower(): size for size in sizes}
    if {"m", "n", "k"} <= by_letter.keys() and name[:1].lower() in _PRODUCT:
        rows, columns = _PRODUCT[name[:1].lower()]
        return by_letter[rows], by_letter[columns]
    if len(sizes) == 2 and not uses.words & set(sizes):
        if name.lower() in _VECTORS:
            return (sizes[1],)
        if uses.words and uses.words <= _ROW_WORDS | {"x", "y"} and uses.words & _ROW_WORDS:
            return (sizes[0],)
        if not uses.words & {"idx", "index", "i", "offset", "base", "tid", "gid"} and uses.words:
            return (sizes[1],)
    return tuple(sizes)


def constant_shape(extents: Sequence[str], constants: Mapping[str, int]) -> tuple[list[str], tuple[str, ...]]:
    """Return a `__constant__` array's extents as numbers, 1 for one that is none, and the TODOs then."""
    numbers = [_number(extent, constants) for extent in extents]
    todo = (f"shape, in the file it is {' x '.join(extents)}",) if None in numbers else ()
    return ["1" if number is None else str(number) for number in numbers] or ["1"], todo


def _number(extent: str, constants: Mapping[str, int]) -> int | None:
    try:
        return expressions.parse(extent).evaluate(constants)
    except CudaoptError:
        return None


def small_case(sizes: Sequence[str], fixed: dict[str, int]) -> dict[str, int]:
    """Return sizes that are small, differ, and are no powers of two; one alone is larger than a block."""
    if len(sizes) == 1:
        return {sizes[0]: 1000, **fixed}
    return {**{size: _SMALL[at % len(_SMALL)] for at, size in enumerate(sizes)}, **fixed}


def large_case(sizes: Sequence[str], fixed: dict[str, int]) -> dict[str, int]:
    """Return sizes worth timing that `sim` still executes in seconds."""
    return {**dict.fromkeys(sizes, _LARGE.get(len(sizes), 16)), **fixed}
