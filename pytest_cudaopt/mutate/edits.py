"""What one mutation changes: a kind, and a place of the source with its new text."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from pytest_cudaopt.mutate.tokens import Code


class MutantKind(StrEnum):
    """The mistakes that are made on purpose."""

    DROPPED_GUARD = "dropped guard"
    OFF_BY_ONE = "off by one"
    MISSING_BARRIER = "missing barrier"
    NARROWER_TYPE = "narrower type"
    SKIPPED_TAIL = "skipped tail"
    SWAPPED_INDEX = "swapped index"
    CHANGED_LAUNCH = "changed launch"
    WRONG_INITIAL_VALUE = "wrong initial value"
    WRONG_OPERATOR = "wrong operator"
    DROPPED_FACTOR = "dropped factor"


@dataclass(frozen=True)
class Edit:
    """`source[start:end]` becomes `new`."""

    kind: MutantKind
    start: int
    end: int
    new: str

    def apply(self, source: str) -> str:
        return source[: self.start] + self.new + source[self.end :]


def replacing(code: Code, kind: MutantKind, start: int, end: int, new: str) -> Edit:
    """Return the edit that gives the tokens from `start` up to `end` a new text."""
    return Edit(kind, code.tokens[start].start, code.tokens[end - 1].end, new)


def removing(code: Code, kind: MutantKind, start: int, end: int) -> Edit:
    """Return the edit that removes the tokens from `start` up to `end`, and a blank beside them."""
    first, last = code.tokens[start].start, code.tokens[end - 1].end
    before, after = code.source[first - 1 : first], code.source[last : last + 1]
    if after == " " and before in "( ":
        return Edit(kind, first, last + 1, "")
    # Not where it keeps two words apart.
    has_blank = before == " " and after in ";),]"
    return Edit(kind, first - has_blank, last, "")
