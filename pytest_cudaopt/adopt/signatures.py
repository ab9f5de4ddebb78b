"""Parameter types as the compiler spells them where a kernel is not as declared."""

from __future__ import annotations

import re
from collections.abc import Iterable

_SIGNATURE = re.compile(
    r"cudaopt signature: kernel '(.*)' is not as declared: it is void \(\*\)\((.*)\), expected"
)


def signatures_in(messages: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """Return the parameter types of each entry that a message is about."""
    matches = (match for message in messages if (match := _SIGNATURE.search(message)))
    return {match[1]: _split_types(match[2].replace("__nv_bool", "bool")) for match in matches}


def _split_types(text: str) -> tuple[str, ...]:
    """Split at the commas outside template arguments and function pointers."""
    parts, depth = [""], 0
    for character in text:
        depth += (character in "<(") - (character in ">)")
        if character == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += character
    return tuple(part.strip() for part in parts if part.strip())
