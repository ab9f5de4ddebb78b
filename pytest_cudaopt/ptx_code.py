"""What PTX is without what its source looks like: line tables, comments, names and how they were chosen."""

from __future__ import annotations

import hashlib
import re

_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_LINE_TABLE = re.compile(r"(?<!\w)\.(?:loc|file)\b[^\n]*")
_DEBUG_SECTION = re.compile(r"\.section\s+\.debug\w*\s*\{.*?\}", re.DOTALL)
_STRING = re.compile(r'"[^"\n]*"')
_DECLARED = re.compile(
    # Kernels and functions, with what they return in between; then variables, parameters among them.
    r"\.(?:entry|func)\s*(?:\([^)]*\)\s*)?([A-Za-z_$][\w$]*)"
    r"|\.(?:param|global|shared|const|local)\s(?:\s*\.[\w.]+(?:\s+\d+)?)*\s+([A-Za-z_$][\w$]*)"
)
_NAME = re.compile(r"(?<![\w.$%])[A-Za-z_$][\w$]*")


def ptx_code(ptx: str) -> str:
    """Return a digest of the code of a module: the same where only names, lines or comments differ.

    A string keeps its text: it is what a kernel prints.
    """
    text = _STRING.sub(_kept_string, _LINE_TABLE.sub("", _COMMENT.sub("", _DEBUG_SECTION.sub("", ptx))))
    declared = [name for pair in _DECLARED.findall(text) for name in pair if name]
    numbers = {name: f"name{at}" for at, name in enumerate(dict.fromkeys(declared))}
    text = _NAME.sub(lambda found: numbers.get(found[0], found[0]), text)
    return hashlib.sha256(" ".join(text.split()).encode()).hexdigest()


def _kept_string(found: re.Match[str]) -> str:
    return '"' + found[0][1:-1].encode().hex() + '"'
