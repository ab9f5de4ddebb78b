"""Which instance of a template to declare: an entry pattern, and values for what stands in its braces."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from pytest_cudaopt.adopt.declarations import KernelDeclaration, TemplateParameter
from pytest_cudaopt.adopt.names import python_name
from pytest_cudaopt.adopt.types import CudaType
from pytest_cudaopt.dtypes import BY_NAME

_INTEGERS = frozenset(
    {"int", "unsigned int", "unsigned", "long", "size_t", "short", "int32_t", "uint32_t", "int64_t"}
)
_FLOAT8 = {"f8e4m3": "__nv_fp8_e4m3", "f8e5m2": "__nv_fp8_e5m2"}
_INDEX_TYPE = re.compile(r"idx|index|offset_t")
NO_ENUMS: Mapping[str, str] = MappingProxyType({})
_VALUE_BY_WORD = (("block", 256), ("thread", 256), ("dim", 64), ("tile", 16), ("vec", 4), ("warp", 4))


@dataclass(frozen=True)
class Pattern:
    """An entry and what its braces stand for: `types` by name, and `sizes` with the values the file uses.

    `concrete` is the first instance, as the compiler is asked for it. `guessed` names what the file does not
    tell. `arguments` maps template parameters to what the entry has for them.
    """

    entry: str
    concrete: str
    types: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    sizes: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    guessed: tuple[str, ...] = ()
    arguments: Mapping[str, str] = field(default_factory=dict)


def entry_pattern(
    kernel: KernelDeclaration,
    constants: Mapping[str, int],
    enums: Mapping[str, str] = NO_ENUMS,
    cast: str = "",
) -> Pattern:
    """Return the pattern for `kernel`; of no template, `cast` or else its qualified name.

    `enums` maps enums to their first value.
    """
    if not kernel.template:
        name = cast or kernel.qualified
        return Pattern(name, name)
    written: list[str] = []
    concrete: list[str] = []
    types: dict[str, tuple[str, ...]] = {}
    sizes: dict[str, tuple[int, ...]] = {}
    guessed: list[str] = []
    for at, parameter in enumerate(kernel.template):
        if parameter.type == "pack":
            break
        used = tuple(dict.fromkeys(instance[at] for instance in kernel.instances))
        if not used and not parameter.default:
            guessed.append(parameter.name)
        values = used or ((parameter.default,) if parameter.default else (_guess(parameter, enums),))
        dtypes = tuple(CudaType(value).dtype({}) for value in values)
        numbers = tuple(_number(value, constants) for value in values)
        name = python_name(parameter.name, is_size=True)
        if parameter.is_type and None not in dtypes and parameter.name:
            types[name] = tuple(dtype for dtype in dtypes if dtype is not None)
            written.append(f"{{{name}}}")
            concrete.append(spelling_of(types[name][0]))
        elif parameter.type in _INTEGERS and None not in numbers and parameter.name:
            sizes[name] = tuple(number for number in numbers if number is not None)
            written.append(f"{{{name}}}")
            concrete.append(str(sizes[name][0]))
        else:
            written.append(values[0])
            concrete.append(values[0])
    return Pattern(
        f"{kernel.qualified}<{', '.join(written)}>",
        f"{kernel.qualified}<{', '.join(concrete)}>",
        types,
        sizes,
        tuple(guessed),
        dict(zip((parameter.name for parameter in kernel.template), written, strict=False)),
    )


def spelling_of(dtype: str) -> str:
    """Return the CUDA type of a dtype's name."""
    return BY_NAME[dtype].cuda[0] if dtype in BY_NAME else _FLOAT8[dtype]


def _guess(parameter: TemplateParameter, enums: Mapping[str, str]) -> str:
    if parameter.is_type:
        return "int" if _INDEX_TYPE.search(parameter.name.lower()) else "float"
    if parameter.type == "function pointer":
        # Compiles, and so tells the signature; which function it is only a person knows.
        return "nullptr"
    if (first := enums.get(parameter.type.rpartition("::")[2])) is not None:
        return first
    if parameter.type == "bool":
        return "false"
    name = parameter.name.lower()
    return str(next((value for word, value in _VALUE_BY_WORD if word in name), 4))


def _number(text: str, constants: Mapping[str, int]) -> int | None:
    digits = text.rstrip("uUlL")
    return int(digits) if digits.isdigit() else constants.get(text)
