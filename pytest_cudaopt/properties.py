"""Properties: what a kernel can do beyond its declared cases, and which of that candidates must keep."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from pytest_cudaopt.errors import DeclarationError, did_you_mean


class Property(StrEnum):
    """What a kernel can do beyond its declared cases, which every candidate must then do too."""

    FUZZED_SIZES = "fuzzed_sizes"
    STRUCTURED_VALUES = "structured_values"
    MAGNITUDES = "magnitudes"
    EXACT_INTEGERS = "exact_integers"
    OTHER_VALUES = "other_values"
    NON_FINITE = "non_finite"
    SIGNED_ZEROS = "signed_zeros"
    SUBNORMALS = "subnormals"
    INTEGER_RANGE = "integer_range"
    EMPTY_SIZES = "empty_sizes"
    LARGER_SIZES = "larger_sizes"
    LARGE_OFFSETS = "large_offsets"
    RELAUNCH = "relaunch"
    DECOYS = "decoys"
    REPEATABLE = "repeatable"
    PRECISION = "precision"
    BATCH_INVARIANT = "batch_invariant"
    UNALIGNED = "unaligned"
    ALIASING = "aliasing"

    @property
    def is_inherited(self) -> bool:
        """Whether it binds candidates because the starting kernel has it; others bind if required."""
        return self not in (Property.BATCH_INVARIANT, Property.UNALIGNED, Property.ALIASING)

    @property
    def is_beyond_contract(self) -> bool:
        """Whether it is about more than the contract says: what is wrong within is plainly wrong."""
        return self is not Property.FUZZED_SIZES

    @property
    def is_risky(self) -> bool:
        """Whether a kernel that lacks it may end its process, and a reference ask for all memory."""
        return self is Property.INTEGER_RANGE

    @property
    def meaning(self) -> str:
        """What a kernel that has it can do, to follow "is right"."""
        return _MEANING[self]


_MEANING = {
    Property.FUZZED_SIZES: "at sizes nobody listed",
    Property.STRUCTURED_VALUES: "on constants, ties, sorted and clustered values",
    Property.MAGNITUDES: "on tiny, huge and mixed magnitudes",
    Property.EXACT_INTEGERS: "to the last bits on small integers",
    Property.OTHER_VALUES: "on numbers that its generators do not give",
    Property.NON_FINITE: "with NaN and infinities among its inputs",
    Property.SIGNED_ZEROS: "about the sign of zeros",
    Property.SUBNORMALS: "on subnormal numbers",
    Property.INTEGER_RANGE: "on integers outside their declared range",
    Property.EMPTY_SIZES: "on empty arrays",
    Property.LARGER_SIZES: "far beyond the declared sizes",
    Property.LARGE_OFFSETS: "at offsets beyond 2^31 elements",
    Property.RELAUNCH: "whenever it is launched again, on other contents or addresses",
    Property.DECOYS: "where answers to other inputs lie around its outputs",
    Property.REPEATABLE: "to the bit in every launch and every order of its blocks",
    Property.PRECISION: "with the precision of its types",
    Property.BATCH_INVARIANT: "to the same bits whatever else is in a batch",
    Property.UNALIGNED: "on pointers aligned to their element only",
    Property.ALIASING: "in place, an output lying over an input",
}


@dataclass(frozen=True)
class Obligations:
    """Which properties a declaration requires or ignores; all others are inherited from the start."""

    required: frozenset[Property] = frozenset()
    ignored: frozenset[Property] = frozenset()

    @classmethod
    def declared(cls, required: Iterable[str], ignored: Iterable[str]) -> Obligations:
        """Read what `kernel(...)` was given; raise DeclarationError for no property, or one in both."""
        both = _named("required=", required) & _named("ignored=", ignored)
        if both:
            raise DeclarationError(
                "required= and ignored=", expected="different properties", got=f"'{min(both)}' in both"
            )
        return cls(_named("required=", required), _named("ignored=", ignored))

    def binds(self, one: Property) -> bool:
        """Whether candidates must keep it: without more ado if required, else if the start has it."""
        return one in self.required or (one.is_inherited and one not in self.ignored)


def _named(what: str, names: Iterable[str]) -> frozenset[Property]:
    known = [str(one) for one in Property]
    if isinstance(names, str) or not isinstance(names, Iterable):
        raise DeclarationError(
            what, expected="a list of properties", got=repr(names), next_step=f"Write {what}[{names!r}]"
        )
    listed = list(names)
    for name in listed:
        if name not in known:
            raise DeclarationError(
                what,
                expected=f"properties among {', '.join(known)}",
                got=repr(name),
                next_step=did_you_mean(str(name), known),
            )
    return frozenset(Property(name) for name in listed)
