"""What to add to a compiler's errors: where nvcc knew a name that NVRTC does not, and what was left out."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

from pytest_cudaopt.evaluation import Diagnostic

_UNDEFINED = re.compile(r'^identifier "(\w+)" is undefined')
_MATHS = re.compile(r"^(INFINITY|NAN|HUGE_VALF?|M_\w+)$")
_WIDTHS = re.compile(r"^u?int(_fast|_least)?(8|16|32|64)_t$")
_LIMITS = re.compile(r"^(FLT|DBL)_\w+$")
_SHORT_NAMES = {"uint": "unsigned int", "ushort": "unsigned short", "ulong": "unsigned long"}
_HOST_FUNCTION = "without execution space annotations"
_SIGNATURE_DIFFERS, _STRUCT_DIFFERS = "cudaopt signature:", "cudaopt layout: struct"
_PARAMETER = re.compile(r"\bparameter (\d+) is ")
_HOST_CODE = (
    "this is host code: put it between '#ifndef __CUDACC_RTC__' and '#endif', or compile only what stands "
    "between '// @cudaopt begin NAME' and '// @cudaopt end'"
)


def with_notes(
    diagnostics: Sequence[Diagnostic], stubbed: Iterable[str], declared: Sequence[str]
) -> tuple[tuple[Diagnostic, ...], str]:
    """Return the messages with a note at the first error one is known for, and that note; empty if none is.

    `stubbed` are the headers that were empty, `declared` the kernel's parameters as the module has them.
    """
    errors = [at for at, one in enumerate(diagnostics) if one.severity == "error"]
    notes = ((at, _note_of(diagnostics[at].text, declared)) for at in errors)
    noted = next(((at, note) for at, note in notes if note), None)
    empty = ", ".join(stubbed)
    if noted is None and empty:
        note = f"{empty}: empty because of stub=; what is not defined may be from there"
        noted = (errors[0] if errors else -1, note)
    if noted is None:
        return tuple(diagnostics), ""
    position, note = noted
    return (
        tuple(
            replace(one, text=f"{one.text}\n{note}") if at == position else one
            for at, one in enumerate(diagnostics)
        ),
        note,
    )


def _note_of(text: str, declared: Sequence[str]) -> str:
    if text.startswith(_STRUCT_DIFFERS):
        return "members that are arrays, or structs themselves, cannot be declared"
    if text.startswith(_SIGNATURE_DIFFERS):
        numbers = [int(number) for number in _PARAMETER.findall(text)]
        named = [declared[n - 1] for n in numbers if 0 < n <= len(declared)]
        return f"declared: {', '.join(named)}" if named else ""
    if _HOST_FUNCTION in text:
        return _HOST_CODE
    match = _UNDEFINED.match(text)
    name = match.group(1) if match else ""
    if name in _SHORT_NAMES:
        return f"a name of the host's C library: write {_SHORT_NAMES[name]}"
    headers = {"<cmath>": _MATHS, "<cstdint>": _WIDTHS, "<cfloat>": _LIMITS}
    header = next((header for header, pattern in headers.items() if pattern.match(name)), None)
    return "" if header is None else f"nvcc includes {header} by itself: write #include {header}"
