"""The types that dispatch macros of PyTorch and its users put in for `scalar_t`."""

from __future__ import annotations

from collections.abc import Iterator

from pytest_cudaopt.adopt.tokens import Scanned

_DISPATCHED = "scalar_t"
_HALF = frozenset({"kHalf", "Half"})
_BFLOAT16 = frozenset({"kBFloat16", "BFloat16"})


def dispatched(scanned: Scanned, at: int, arguments: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """Yield template arguments written at a token, once for each type that a macro around it dispatches."""
    types = _types_around(scanned, at) if _DISPATCHED in arguments else ()
    if not types:
        yield arguments
    for type_ in types:
        yield tuple(type_ if argument == _DISPATCHED else argument for argument in arguments)


def _types_around(scanned: Scanned, at: int) -> tuple[str, ...]:
    for macro in range(at - 1, -1, -1):
        name = scanned.tokens[macro].text
        closing = scanned.partner.get(macro + 1, -1)
        if "DISPATCH" in name and scanned.tokens[macro + 1].text == "(" and closing > at:
            return _types_of(name, frozenset(scanned.texts(macro + 1, at)))
    return ()


def _types_of(macro: str, words: frozenset[str]) -> tuple[str, ...]:
    """Return the types by what the macro is called and told; float64 is seldom meant, and left out."""
    if "INTEGRAL" in macro:
        return ("int", "int64_t")
    floating = "FLOAT" in macro or "ALL" in macro
    # Those that projects make for themselves are of the types that models use.
    own = floating and not macro.startswith("AT_")
    half = own or "HALF" in macro or bool(words & _HALF)
    bfloat16 = own or "BF16" in macro or "BFLOAT16" in macro or bool(words & _BFLOAT16)
    chosen = (("__half", half), ("__nv_bfloat16", bfloat16), ("float", floating))
    return tuple(name for name, is_meant in chosen if is_meant)
