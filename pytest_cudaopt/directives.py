"""The `// @...` lines of a kernel source: read them, and write them for another starting point."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from pytest_cudaopt import expressions
from pytest_cudaopt.errors import CudaoptError, SourceError, SourceLocation
from pytest_cudaopt.expressions import Expression
from pytest_cudaopt.launch import LaunchRule, Override, parse_override
from pytest_cudaopt.misspelt_directives import require_no_misspelt

_LINE = re.compile(r"^\s*//\s*@(launch|tune|options)\b(.*)$")
_OVERRIDE = re.compile(r"^\s*\[(.*?)\]\s*(.*)$")
_TUNABLE = re.compile(r"^\s*([A-Za-z_]\w*)\s*=\s*(.+)$")
_OPTION = re.compile(r"^(-std=c\+\+\d\d|--?use_fast_math|--fmad=(true|false)|--maxrregcount=\d+)$")


@dataclass(frozen=True)
class Tunable:
    """A compile-time integer the tuner may choose; the first value is the starting one."""

    name: str
    values: tuple[int, ...]


@dataclass(frozen=True)
class Directives:
    """Everything a kernel source says about its own launch."""

    rule: LaunchRule | None = None
    tunables: tuple[Tunable, ...] = ()
    constraints: tuple[Expression, ...] = ()
    options: tuple[str, ...] = ()
    # Where each @launch line stands, and the names it uses.
    launch_lines: tuple[tuple[SourceLocation, frozenset[str]], ...] = ()

    @property
    def starting_values(self) -> dict[str, int]:
        return {tunable.name: tunable.values[0] for tunable in self.tunables}

    def allows(self, values: Mapping[str, int]) -> bool:
        """True if `values` satisfies every `@tune where`."""
        return all(constraint.evaluate(values) for constraint in self.constraints)


def read(source: str, file: str) -> Directives:
    """Collect the directives of `source`; raise SourceError at the line that cannot be read."""
    rule: LaunchRule | None = None
    overrides: list[Override] = []
    tunables: dict[str, Tunable] = {}
    constraints: list[Expression] = []
    options: list[str] = []
    launch_lines: list[tuple[SourceLocation, frozenset[str]]] = []
    require_no_misspelt(source, file)
    for number, keyword, text in _lines(source):
        at = SourceLocation(file, number)
        try:
            if keyword == "options":
                options += [allowed_option(option) for option in text.split()]
            elif keyword == "tune":
                _read_tune(text, tunables, constraints)
            elif match := _OVERRIDE.match(text):
                overrides.append(parse_override(match.group(1), match.group(2)))
                launch_lines.append((at, overrides[-1].names))
            elif rule is not None:
                raise SourceError("@launch", expected="one rule", got="a second one")
            else:
                rule = LaunchRule.parse(text)
                launch_lines.append((at, rule.names))
        except CudaoptError as error:
            raise SourceError(
                error.what,
                expected=error.expected,
                got=error.got,
                next_step=error.next_step,
                at=error.at or at,
            ) from error
    if rule is not None and overrides:
        rule = replace(rule, overrides=tuple(overrides))
    elif overrides:
        raise SourceError(f"{file}: @launch[...]", expected="a plain @launch rule too", got="only overrides")
    found = Directives(
        rule, tuple(tunables.values()), tuple(constraints), tuple(options), tuple(launch_lines)
    )
    _require_start_allowed(found, file)
    return found


def rewrite(source: str, rule: LaunchRule, chosen: Mapping[str, int]) -> str:
    """Return `source` with `rule` as its launch and `chosen` as the first value of each tunable."""
    lines = source.splitlines()
    written: list[str] = []
    rule_written = False
    for line in lines:
        match = _LINE.match(line)
        keyword = match.group(1) if match else None
        text = match.group(2) if match else ""
        if keyword == "launch":
            if not rule_written:
                written += [f"// {directive}" for directive in rule.directives()]
            rule_written = True
        elif keyword == "tune" and (tune := _TUNABLE.match(text)) and tune.group(1) in chosen:
            written.append(_tune_line(tune.group(1), tune.group(2), chosen[tune.group(1)]))
        else:
            written.append(line)
    if not rule_written:
        written = [f"// {directive}" for directive in rule.directives()] + written
    return "\n".join(written) + "\n"


def _lines(source: str) -> Iterator[tuple[int, str, str]]:
    for number, line in enumerate(source.splitlines(), start=1):
        if match := _LINE.match(line):
            yield number, match.group(1), match.group(2)


def _read_tune(text: str, tunables: dict[str, Tunable], constraints: list[Expression]) -> None:
    if text.strip().startswith("where "):
        constraints.append(expressions.parse(text.strip()[len("where ") :]))
        return
    match = _TUNABLE.match(text)
    if match is None:
        raise SourceError(f"@tune{text}", expected="@tune NAME = 256, 128 or @tune where CONDITION", got=text)
    name = match.group(1)
    if name in tunables:
        raise SourceError(f"@tune {name}", expected="one list of values", got="a second one")
    tunables[name] = Tunable(name, _values(name, match.group(2)))


def _values(name: str, text: str) -> tuple[int, ...]:
    values: list[int] = []
    for part in text.split(","):
        constant = expressions.parse(part).constant
        if constant is None:
            raise SourceError(f"@tune {name}", expected="integers", got=f"'{part.strip()}'")
        values.append(constant)
    if len(set(values)) != len(values):
        raise SourceError(f"@tune {name}", expected="each value once", got=text.strip())
    return tuple(values)


def _tune_line(name: str, text: str, first: int) -> str:
    others = [value for value in _values(name, text) if value != first]
    return f"// @tune {name} = {', '.join(str(value) for value in [first, *others])}"


def allowed_option(option: str) -> str:
    """Return `option` if a kernel may ask the compiler for it; raise SourceError otherwise."""
    if not _OPTION.match(option):
        raise SourceError(
            f"@options {option}",
            expected="-std=c++NN, --use_fast_math, --fmad=true|false or --maxrregcount=N",
            got=f"'{option}'",
        )
    return option


def with_own(inherited: Sequence[str], own: Sequence[str]) -> tuple[str, ...]:
    """Return both; an inherited option gives way to an own one that says the same thing otherwise."""
    said = {_subject(option) for option in own}
    return (*(option for option in inherited if _subject(option) not in said), *own)


def _subject(option: str) -> str:
    return option.partition("=")[0].lstrip("-")


def _require_start_allowed(found: Directives, file: str) -> None:
    unknown = frozenset().union(*(c.names for c in found.constraints)) - set(found.starting_values)
    if unknown:
        raise SourceError(
            f"{file}: @tune where",
            expected=f"tunables among {', '.join(found.starting_values) or 'none'}",
            got=", ".join(sorted(unknown)),
        )
    if not found.allows(found.starting_values):
        raise SourceError(
            f"{file}: @tune where",
            expected="the first values of all tunables to satisfy it",
            got=str(found.starting_values),
        )
