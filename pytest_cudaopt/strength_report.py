"""How strong a suite is, as lines for a terminal and as JSON; schema 1."""

from __future__ import annotations

from typing import Any

from pytest_cudaopt.mutate.edits import MutantKind
from pytest_cudaopt.reasons import count
from pytest_cudaopt.strength import Answer, Fate, Judged, Strength
from pytest_cudaopt.table import Line, Mood

SCHEMA = 1
Json = dict[str, Any]
_SECTIONS = {
    Fate.LADDER: "The declared cases miss, a later stage kills:",
    Fate.SURVIVED: "Nothing kills (right in another way, or no case is large, odd or hostile enough):",
    Fate.NOT_JUDGED: "Could not be judged:",
}


def strength_lines(found: Strength, file: str, device: str) -> list[Line]:
    """Lay out the counts by kind, then what the declared cases miss, then what nothing notices."""
    lines: list[Line] = [
        ((found.kernel, Mood.TITLE), (f" on {device}: {_summary(found)}", Mood.PLAIN)),
        *_table(found),
    ]
    for fate, title in _SECTIONS.items():
        shown = [line for one in found.judged if one.fate is fate for line in _judged_lines(found, one, file)]
        lines += [(("", Mood.PLAIN),), ((title, Mood.PLAIN),), *shown] if shown else []
    return lines


def strength_json(found: Strength, device: str) -> Json:
    """Return every mutant with what killed it, and how many the declared cases and the ladder kill."""
    return {
        "schema": SCHEMA,
        "kernel": found.kernel,
        "device": device,
        "mutants": [_mutant(found, one) for one in found.judged],
        "declared": {"killed": found.killed_by_declared(), "of": found.of()},
        "ladder": {"killed": found.killed_by_ladder(), "of": found.of()},
        "dropped": {"same_code": found.same, "not_compiled": found.broken, "no_time": found.left},
        "seconds": round(found.seconds, 1),
    }


def _summary(found: Strength) -> str:
    dropped = [
        f"{number} {what}"
        for number, what in (
            (found.same, "with the same code as another"),
            (found.broken, "that the compiler refuses"),
            (found.left, "left for lack of time"),
        )
        if number
    ]
    judged = f"{count(len(found.judged), 'mutant')} judged in {found.seconds:.0f} s"
    return "; ".join([judged, *dropped])


def _table(found: Strength) -> list[Line]:
    kinds = [kind for kind in MutantKind if found.of(kind)]
    width = max((len(kind) for kind in kinds), default=5)
    head = " ".join(f"{name:>9}" for name in ("mutants", "declared", "ladder"))
    rows = [_row(kind, width, found, kind) for kind in kinds]
    return [((f"  {'killed by':<{width}} {head}", Mood.PLAIN),), *rows, _row("all", width, found, None)]


def _row(name: str, width: int, found: Strength, kind: MutantKind | None) -> Line:
    of, declared, ladder = found.of(kind), found.killed_by_declared(kind), found.killed_by_ladder(kind)
    return (
        (f"  {name:<{width}} {of:>9} ", Mood.PLAIN),
        (f"{declared:>9}", Mood.GOOD if declared == of else Mood.WARNING),
        (" ", Mood.PLAIN),
        (f"{ladder:>9}", Mood.GOOD if ladder == of else Mood.WARNING),
    )


def _judged_lines(found: Strength, one: Judged, file: str) -> list[Line]:
    mutant = one.mutant
    place = f"{file}:{mutant.line}" if mutant.line else "launch="
    lines: list[Line] = [
        ((f"  {place}  {mutant.kind}", Mood.PLAIN),),
        ((f"    - {mutant.before}", Mood.BAD),),
        ((f"    + {mutant.after}", Mood.GOOD),),
    ]
    if one.answer is not None:
        lines.append(((f"    {_said(one.answer, one.fate)}", Mood.PLAIN),))
    if (case := found.missing_case(one)) is not None:
        lines.append(((f"    a case that kills it: {case}", Mood.PLAIN),))
    return lines


def _said(answer: Answer, fate: Fate) -> str:
    verb = "not judged" if fate is Fate.NOT_JUDGED else "killed"
    status = "" if fate is Fate.NOT_JUDGED else f" ({answer.status.replace('_', ' ')})"
    return f"{verb} by {answer.stage}{status}: {answer.reason}"


def _mutant(found: Strength, one: Judged) -> Json:
    mutant, answer = one.mutant, one.answer
    at = None if answer is None else answer.case
    missing = found.missing_case(one)
    return {
        "kind": str(mutant.kind),
        "line": mutant.line or None,
        "before": mutant.before,
        "after": mutant.after,
        "fate": str(one.fate),
        "stage": None if answer is None else str(answer.stage),
        "status": None if answer is None else str(answer.status),
        "reason": None if answer is None else answer.reason,
        "case": None if at is None else str(at),
        "case_to_add": None if missing is None else str(missing),
    }
