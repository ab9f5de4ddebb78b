"""C++ parameter types as far as a declaration needs them: base, pointers, and the base's dtype."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pytest_cudaopt.adopt.tokens import Token, spelled
from pytest_cudaopt.dtypes import ALL

_QUALIFIERS = frozenset({"const", "volatile", "__restrict__", "__restrict", "restrict", "__grid_constant__"})
_ELABORATED = frozenset({"struct", "class", "enum", "union", "typename"})
_BUILTIN_WORDS = frozenset(
    {"void", "bool", "char", "short", "int", "long", "signed", "unsigned", "float", "double", "auto"}
)
# Vectors whose elements are a dtype's; there is no vector of three in memory that packs them.
_OF_VECTORS = {
    **{"float": "f32", "double": "f64", "__half": "f16", "__nv_bfloat16": "bf16"},
    **{"char": "i8", "short": "i16", "int": "i32", "long": "i64", "longlong": "i64"},
    **{"uchar": "u8", "ushort": "u16", "uint": "u32", "ulong": "u64", "ulonglong": "u64"},
}
_SPELLINGS = {
    **{spelling: dtype.name for dtype in ALL for spelling in dtype.cuda},
    **{f"{element}{lanes}": dtype for element, dtype in _OF_VECTORS.items() for lanes in (2, 4)},
    **{
        "half": "f16",
        "c10::Half": "f16",
        "at::Half": "f16",
        "c10::BFloat16": "bf16",
        "at::BFloat16": "bf16",
        "half2": "f16",
        "nv_half": "f16",
        "nv_bfloat16": "bf16",
        "__nv_fp8_e4m3": "f8e4m3",
        "__nv_fp8_e5m2": "f8e5m2",
        "unsigned": "u32",
        "size_t": "u64",
        "ptrdiff_t": "i64",
        "uint": "u32",
        "uchar": "u8",
        "ushort": "u16",
        "ulong": "u64",
    },
    **{f"{sign}int{bits}_t": f"{sign[:1] or 'i'}{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)},
}


@dataclass(frozen=True)
class CudaType:
    """A parameter's type. `is_const` is of what it points to; `odd` names what no marker stands for."""

    base: str
    pointers: int = 0
    is_const: bool = False
    odd: str = ""

    def dtype(self, aliases: Mapping[str, str]) -> str | None:
        """Return the dtype's name for the base; None for structs, template parameters and the unknown."""
        return _SPELLINGS.get(self._plain_base(aliases))

    def lanes(self, aliases: Mapping[str, str]) -> int:
        """Return how many elements of the dtype the base packs, 4 for `float4`."""
        name = self._plain_base(aliases)
        return int(name[-1]) if name in _SPELLINGS and (name[:-1] in _OF_VECTORS or name == "half2") else 1

    def _plain_base(self, aliases: Mapping[str, str]) -> str:
        name = self.base
        for _ in range(len(aliases)):
            name = aliases.get(name, name)
        return name.removeprefix("std::").removeprefix("::")


def split_name(tokens: Sequence[Token]) -> tuple[list[Token], str]:
    """Split a parameter's tokens into its type and its name; the name is empty if it has none."""
    texts = [token.text for token in tokens]
    if "[" in texts:
        start = texts.index("[")
        type_, name = split_name(tokens[:start])
        return [*type_, Token("*", "sign", tokens[start].line)], name
    words = [token for token in tokens if token.is_word and token.text not in _QUALIFIERS]
    last = tokens[-1] if tokens else None
    is_type = last is None or not last.is_word or last.text in _BUILTIN_WORDS | _QUALIFIERS
    if last is None or is_type or len(words) < 2 or _is_qualified(tokens):
        return list(tokens), ""
    return list(tokens[:-1]), last.text


def read_type(tokens: Sequence[Token]) -> CudaType:
    """Read a type; what stands behind the last `*` (such as a RESTRICT macro) is left out."""
    texts = [token.text for token in tokens]
    if "(" in texts:
        return CudaType(spelled(tokens), odd="function pointer")
    if "&" in texts or "&&" in texts:
        return CudaType(spelled([t for t in tokens if t.text not in ("&", "&&")]), odd="reference")
    outer = _outside_angles(texts)
    stars = sum(texts[index] == "*" for index in outer)
    first_star = next((index for index in outer if texts[index] == "*"), len(texts))
    base = [t for t in tokens[:first_star] if t.text not in _QUALIFIERS | _ELABORATED]
    base = _without_macros(base)
    return CudaType(
        _plain(spelled(base)),
        stars,
        "const" in texts[:first_star],
        "pointer to pointers" if stars > 1 else "",
    )


def read_type_text(text: str) -> CudaType:
    """Read a type as the compiler spells it, such as `const float *`."""
    return CudaType(
        _plain(text.replace("const ", "").replace("volatile ", "").rstrip("* ").strip()),
        text.count("*"),
        "const " in text,
        "pointer to pointers" if text.count("*") > 1 else "",
    )


def _plain(base: str) -> str:
    """Return one spelling of `long int`, `int unsigned long long` and their like."""
    words = base.split()
    if len(words) < 2 or not set(words) <= _BUILTIN_WORDS:
        return base
    if "double" in words:
        return base
    sign = "unsigned " if "unsigned" in words else ""
    if "char" in words:
        return f"{sign or 'signed '}char"
    size = next((word for word in ("short", "long") if word in words), "int")
    return f"{sign}{size}"


def _without_macros(base: Sequence[Token]) -> list[Token]:
    """Drop words such as GRID_CONSTANT before a type."""
    kept = list(base)
    while len(kept) > 1 and kept[0].text.isupper() and len(kept[0].text) > 1 and kept[1].is_word:
        kept = kept[1:]
    return kept


def _outside_angles(texts: Sequence[str]) -> list[int]:
    depth, found = 0, []
    for index, text in enumerate(texts):
        depth += (text == "<") - (text == ">")
        if depth == 0:
            found.append(index)
    return found


def _is_qualified(tokens: Sequence[Token]) -> bool:
    """True if the last word belongs to a qualified type, as in `at::Half`."""
    return len(tokens) > 1 and tokens[-2].text == "::"
