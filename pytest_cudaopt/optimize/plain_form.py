"""A form in words, and a filled-in one in a text: for servers that hold no answer to a JSON schema.

Weak models escape a kernel in JSON badly: the source may stand in a block of its own. Pure.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from pytest_cudaopt.optimize.conversation import Form, Json

# The field that holds code, and the blocks it may stand in.
_CODE = "source"
_LANGUAGES = frozenset(("cuda", "cu", "cpp", "c++", "c", "python", "py", ""))
_FENCE = re.compile(
    r"^[ ]{0,3}```[ ]*([\w+.-]*)[^\n]*\n(.*?)(?:^[ ]{0,3}```[ ]*$|\Z)", re.MULTILINE | re.DOTALL
)
# What models write in JSON in place of a source that stands in its block.
_SHORTEST_SOURCE = 40


def in_words(form: Form) -> str:
    """Describe the form and how to fill it in."""
    definitions: Json = form.schema.get("$defs", {})
    fields: Json = form.schema.get("properties", {})
    lines = [f"- `{name}`: {_described(one, definitions)}" for name, one in fields.items()]
    parts = [
        "## Your answer",
        "When you answer, and do not call a tool, write one JSON object in a ```json block, with:",
        "\n".join(lines),
    ]
    if _CODE in fields:
        language = "python" if "Python" in fields[_CODE].get("description", "") else "cuda"
        parts.append(
            f"`{_CODE}` may be left out of the JSON and follow in a ```{language} block of its own instead, "
            "as it is, without escapes."
        )
    return "\n\n".join(parts)


def found_in(text: str) -> str:
    """Return the filled-in form of an answer as JSON text; the answer as it is if it holds none."""
    if (whole := _object(text)) is not None:
        return json.dumps(whole)
    blocks = [(match[1].lower(), match[2]) for match in _FENCE.finditer(text)]
    filled = _last(_object(body) for _, body in blocks)
    if filled is None:
        filled = _last(_objects(_FENCE.sub("", text)))
    if filled is None:
        return text
    for language, body in blocks:
        is_code = language in _LANGUAGES and _object(body) is None
        if is_code and len(str(filled.get(_CODE) or "")) < _SHORTEST_SOURCE:
            filled[_CODE] = body
    return json.dumps(filled)


def _described(field: Json, definitions: Json) -> str:
    said = field.get("description")
    return f"{_type(field, definitions)}; {said}" if said else _type(field, definitions)


def _type(field: Json, definitions: Json) -> str:
    if "$ref" in field:
        field = definitions.get(str(field["$ref"]).rpartition("/")[2], {})
    if "anyOf" in field:
        return " or ".join(_type(one, definitions) for one in field["anyOf"])
    if "items" in field:
        return f"list of {_type(field['items'], definitions)}"
    if "properties" in field:
        members = (f"`{name}` ({_described(one, definitions)})" for name, one in field["properties"].items())
        return f"objects with {', '.join(members)}"
    return str(field.get("type", "object"))


def _object(text: str) -> dict[str, Any] | None:
    try:
        # Models write line ends into strings.
        value = json.loads(text, strict=False)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


def _objects(text: str) -> Iterator[dict[str, Any]]:
    """Yield the JSON objects that stand in a text, outermost ones only."""
    decoder, at = json.JSONDecoder(strict=False), text.find("{")
    while at >= 0:
        try:
            value, end = decoder.raw_decode(text, at)
        except ValueError:
            end = at + 1
        else:
            if value:
                yield value
        at = text.find("{", end)


def _last(found: Iterator[dict[str, Any] | None]) -> dict[str, Any] | None:
    last = None
    for one in found:
        last = one or last
    return last
