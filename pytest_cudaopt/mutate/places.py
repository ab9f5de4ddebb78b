"""Mutations of who works where, and when: indices, and what makes threads wait for each other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pytest_cudaopt.mutate.edits import Edit, MutantKind, removing, replacing
from pytest_cudaopt.mutate.functions import Function
from pytest_cudaopt.mutate.tokens import Code

_OWN = frozenset({"threadIdx", "blockIdx", "blockDim", "gridDim"})
_OTHER = {"x": "y", "y": "x"}
_BARRIERS = frozenset(
    {"__syncthreads", "__syncwarp", "__threadfence", "__threadfence_block", "__pipeline_wait_prior"}
)
_STARTS = frozenset({";", "{", "}", ")", "else"})


def mutations(code: Code, function: Function, sizes: Sequence[str]) -> Iterator[Edit]:
    """Yield the mutations of one function's indices and barriers; `sizes` are the kernel's parameters."""
    used = {(code.at(at), code.at(at + 2)) for at in function.inside if code.at(at + 1) == "."}
    for at in function.inside:
        yield from _swapped_axis(code, at, used)
        yield from _missing(code, at)
        if code.at(at) == "*":
            yield from _swapped_product(code, at, sizes)


def _swapped_axis(code: Code, at: int, used: set[tuple[str, str]]) -> Iterator[Edit]:
    name, axis = code.at(at), code.at(at + 2)
    if name in _OWN and code.at(at + 1) == "." and axis in _OTHER and {(name, "x"), (name, "y")} <= used:
        yield replacing(code, MutantKind.SWAPPED_INDEX, at + 2, at + 3, _OTHER[axis])


def _swapped_product(code: Code, at: int, sizes: Sequence[str]) -> Iterator[Edit]:
    """Swap `row * cols + col` to `col * cols + row`, and use the next size for `cols`."""
    kind, stride = MutantKind.SWAPPED_INDEX, code.at(at + 1)
    if stride not in sizes or code.at(at + 2) in (".", "->", "(", "["):
        return
    if len(sizes) > 1:
        other = sizes[(sizes.index(stride) + 1) % len(sizes)]
        yield replacing(code, kind, at + 1, at + 2, other)
    row, column = code.tokens[at - 1], code.tokens[min(at + 3, len(code.tokens) - 1)]
    is_sum = code.at(at + 2) == "+" and row.is_word and column.is_word
    if is_sum and code.at(at + 4) in ("]", ")", ";", ",") and code.at(at - 2) not in (".", "*", "/"):
        yield replacing(code, kind, at - 1, at + 4, f"{column.text} * {stride} + {row.text}")


def _missing(code: Code, at: int) -> Iterator[Edit]:
    text, kind = code.at(at), MutantKind.MISSING_BARRIER
    if text in _BARRIERS and code.at(at + 1) == "(":
        yield removing(code, kind, at, code.close(at + 1) + 1)
    elif (
        text == "sync"
        and code.at(at - 1) in (".", "::")
        and [code.at(at + 1), code.at(at + 3)]
        == [
            "(",
            ";",
        ]
    ):
        start = next((i + 1 for i in range(at, 0, -1) if code.at(i) in _STARTS), at)
        yield removing(code, kind, start, at + 3)
    elif text == "atomicAdd" and code.at(at - 1) in _STARTS and code.at(at + 1) == "(":
        end = code.close(at + 1)
        arguments = [code.text(*part) for part in code.split(",", at + 2, end)]
        if len(arguments) == 2:
            new = f"*({arguments[0]}) += ({arguments[1]})"
            yield replacing(code, kind, at, end + 1, new)
