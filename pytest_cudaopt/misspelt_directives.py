"""Lines that were meant as directives: a misspelt one would be taken for a comment."""

from __future__ import annotations

import difflib
import re

from pytest_cudaopt.errors import SourceError, SourceLocation

_KEYWORDS = ("launch", "tune", "options")
# What looks like a directive: other `// @word` lines are comments of some other tool.
_LIKE_DIRECTIVE = re.compile(r"^\s*//\s*@([A-Za-z]+)(?:\[.*\])?\s+(?:.*=|where\s|-)")


def require_no_misspelt(source: str, file: str) -> None:
    """Raise SourceError at a line such as `// @lauch grid=(1)`, which would be taken for a comment."""
    for number, line in enumerate(source.splitlines(), start=1):
        match = _LIKE_DIRECTIVE.match(line)
        if match is None or match.group(1) in _KEYWORDS:
            continue
        if near := difflib.get_close_matches(match.group(1), _KEYWORDS, n=1, cutoff=0.7):
            raise SourceError(
                f"@{match.group(1)}",
                expected=", ".join(f"@{keyword}" for keyword in _KEYWORDS),
                got=f"'{line.strip()}'",
                next_step=f"Did you mean '@{near[0]}'?",
                at=SourceLocation(file, number),
            )
