"""What is wrong with directives that can be read: unknown names, unused tunables."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

from pytest_cudaopt.errors import SourceError, SourceLocation

if TYPE_CHECKING:
    from pytest_cudaopt.directives import Directives
    from pytest_cudaopt.launch import LaunchRule

_TUNE_LINE = re.compile(r"^\s*//\s*@tune\b.*$", re.MULTILINE)
_INCLUDE = re.compile(r"^\s*#\s*include\b", re.MULTILINE)


def require_known_names(
    rule: LaunchRule, known: Iterable[str], found: Directives, otherwise: SourceLocation, kernel: str
) -> None:
    """Raise SourceError if `rule` uses a name that is none of `known`, at the `@launch` line that does.

    `otherwise` is where to look if the rule is not one of `found`.
    """
    allowed = sorted(known)
    unknown = sorted(rule.names - set(allowed))
    if not unknown:
        return
    lines = [at for at, names in found.launch_lines if unknown[0] in names]
    near = difflib.get_close_matches(unknown[0], allowed, n=1)
    raise SourceError(
        f"launch rule of kernel '{kernel}'",
        expected=f"names among {', '.join(allowed)}",
        got=", ".join(unknown),
        next_step=f"Did you mean '{near[0]}'?"
        if near
        else f"Declare a size of that name or add '// @tune {unknown[0]} = ...'",
        at=lines[0] if lines and found.rule is rule else otherwise,
    )


def require_used_tunables(
    source: str, file: str, found: Directives, rule: LaunchRule, texts: Iterable[str]
) -> None:
    """Raise SourceError at a `@tune` whose name neither the source, nor the rule, nor one of `texts` uses.

    Every value would then be the same kernel, which matters to who tries them in turn. A source that includes
    anything is believed: a header may use it.
    """
    if _INCLUDE.search(source):
        return
    conditions = frozenset().union(*(constraint.names for constraint in found.constraints))
    words = set(re.findall(r"\w+", "\n".join([_TUNE_LINE.sub("", source), *texts])))
    for tunable in found.tunables:
        if tunable.name in words | rule.names | conditions:
            continue
        raise SourceError(
            f"@tune {tunable.name}",
            expected="a name that the source, @launch or @tune where uses",
            got="one that nothing uses",
            next_step="Use it or remove the line: all its values are the same kernel",
            at=SourceLocation(file, _line_of(tunable.name, source)),
        )


def _line_of(tunable: str, source: str) -> int:
    lines = source.splitlines()
    declares = re.compile(rf"^\s*//\s*@tune\s+{tunable}\b")
    return next(number for number, line in enumerate(lines, start=1) if declares.match(line))
