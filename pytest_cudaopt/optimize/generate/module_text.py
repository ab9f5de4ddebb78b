"""The test module of a described kernel: data that was checked, as a person would declare it. Pure.

Nothing of it was written by a model as code: names are identifiers, everything else is a literal.
"""

from __future__ import annotations

import json
from typing import Any

Json = dict[str, Any]
_INDENT = "    "
_MARKERS = {"in": "In", "out": "Out", "inout": "InOut", "scratch": "Scratch"}


def module_text(signature: Json, cases: list[Json], source: str, reference: str, origin: str) -> str:
    """Return the module that declares the kernel in `source`; its reference runs in the sandbox."""
    name = signature["kernel"]
    parameters = [_parameter(one) for one in signature["parameters"]]
    names = {"case", "kernel", "sandboxed", *(name for _, used in parameters for name in used)}
    names |= {"work"} if "work" in signature else set()
    imported = [*sorted(n for n in names if n[0].isupper()), *sorted(n for n in names if n[0].islower())]
    doc = " ".join(signature["description"].split()) or f"What {name} computes."
    return "\n".join(
        [
            f'"""The kernel {name}, declared from a description: read {reference} before you believe it."""',
            "",
            "from pytest_cudaopt import (",
            *(f"{_INDENT}{one}," for one in imported),
            ")",
            "",
            "",
            "@kernel(",
            f"{_INDENT}{_text(source)},",
            f"{_INDENT}cases=[",
            *(f"{2 * _INDENT}{_case(one)}," for one in cases),
            f"{_INDENT}],",
            *(f"{_INDENT}{line}," for line in _keywords(signature)),
            f"{_INDENT}# In the sandbox, as long as nobody has read it; certificates say where it is from.",
            f"{_INDENT}reference=sandboxed(",
            *(f"{2 * _INDENT}{part}," for part in (_text(reference), _text(name), f"origin={_text(origin)}")),
            f"{_INDENT}),",
            ")",
            f"def {name}(",
            *(f"{_INDENT}{text}," for text, _ in parameters),
            "):",
            f"{_INDENT}{_doc(doc)}",
            "",
        ]
    )


def _case(one: Json) -> str:
    sizes = [f"{name}={value}" for name, value in one["sizes"].items()]
    return f"case({', '.join([*sizes, *(['measure=True'] if one.get('measure') else [])])})"


def _keywords(signature: Json) -> list[str]:
    tolerance = signature["tolerance"]
    lines = [f"rtol={tolerance['rtol']!r}", f"atol={tolerance['atol']!r}"]
    if signature.get("domain"):
        ends = {name: tuple(pair) for name, pair in signature["domain"].items()}
        lines.append(f"domain={{{', '.join(f'{_text(name)}: {pair}' for name, pair in ends.items())}}}")
    if signature.get("where"):
        lines.append(f"where=[{', '.join(map(_text, signature['where']))}]")
    if "work" in signature:
        given = ", ".join(f"{name}={_text(value)}" for name, value in signature["work"].items())
        lines.append(f"work=work({given})")
    return lines


def _doc(text: str) -> str:
    is_plain = not {'"', "\\"} & set(text) and text.isprintable()
    return f'"""{text}"""' if is_plain else _text(text)


def _text(text: str) -> str:
    """Return a literal of the text, in double quotes."""
    return json.dumps(text, ensure_ascii=False)


def _literal(value: object) -> str:
    return _text(value) if isinstance(value, str) else repr(value)


def _parameter(one: Json) -> tuple[str, set[str]]:
    """Return the parameter, and the names of the package it takes."""
    name, dtype = one["name"], one["dtype"]
    if one["role"] == "scalar":
        if "value" not in one:
            return f"{name}={dtype}", {dtype}
        return f"{name}=Scalar({dtype}, {one['value']!r})", {"Scalar", dtype}
    marker = _MARKERS[one["role"]]
    parts, used = [dtype, *(_text(extent) for extent in one["shape"])], {marker, dtype}
    if "values" in one:
        given = dict(one["values"])
        generator = given.pop("generator")
        arguments = ", ".join(f"{key}={_literal(value)}" for key, value in given.items())
        parts.append(f"values={generator}({arguments})")
        used.add(generator)
    return f"{name}={marker}({', '.join(parts)})", used
