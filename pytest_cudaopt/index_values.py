"""Values that are places or amounts: indices, offsets of segments, lengths, orders.

They stay inside what they index whatever the sizes, so that draws of other sizes need no new declaration.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pytest_cudaopt import expressions
from pytest_cudaopt.errors import DeclarationError
from pytest_cudaopt.expressions import Expression
from pytest_cudaopt.values import Drawing, ValueCallable, ValueSource, as_source

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True)
class Indices:
    """Integers from 0 to below `high`; `skip` stands at `share` of the places, unless it is None."""

    high: Expression
    unique: bool
    skip: int | None
    share: float

    @property
    def expressions(self) -> tuple[Expression, ...]:
        """What depends on sizes."""
        return (self.high,)

    def __str__(self) -> str:
        unique = ", unique=True" if self.unique else ""
        skip = "" if self.skip is None else f", skip={self.skip}"
        return f"indices({self.high}{unique}{skip})"

    def draw(self, drawing: Drawing) -> NDArray[Any]:
        import numpy as np

        high, count = self.high.evaluate(drawing.sizes), int(np.prod(drawing.shape))
        skipped = 0 if self.skip is None else round(self.share * count)
        needed = count - skipped
        if needed and high < 1:
            raise _refused(self, "at least one place to point at", f"high {high}", drawing)
        if self.unique and needed > high:
            raise _refused(self, f"at least {needed} different values", f"high {high}", drawing)
        if self.unique:
            drawn = drawing.rng.choice(high, needed, replace=False)
        else:
            drawn = drawing.rng.integers(0, max(1, high), needed)
        values = np.concatenate([drawn, np.full(skipped, self.skip or 0)])
        return _stored(self, drawing.rng.permutation(values).reshape(drawing.shape), drawing)


@dataclass(frozen=True)
class Offsets:
    """Where segments begin, and at last where the last one ends: from 0 to `total`, never falling."""

    total: Expression
    empty: bool

    @property
    def expressions(self) -> tuple[Expression, ...]:
        """What depends on sizes."""
        return (self.total,)

    def __str__(self) -> str:
        return f"offsets({self.total}{'' if self.empty else ', empty=False'})"

    def draw(self, drawing: Drawing) -> NDArray[Any]:
        import numpy as np

        total, segments = self.total.evaluate(drawing.sizes), _extent(self, drawing) - 1
        if segments < 0:
            raise _refused(self, "shape (segments + 1,)", "shape (0,)", drawing)
        if total < 0 or (segments == 0 and total > 0):
            raise _refused(
                self, "a total that the segments hold", f"total {total}, {segments} segments", drawing
            )
        if not self.empty and total < segments:
            expected = f"a total of at least {segments}, since no segment is empty"
            raise _refused(self, expected, f"total {total}", drawing)
        cuts = max(0, segments - 1)
        if self.empty:
            inner = np.sort(drawing.rng.integers(0, total, cuts, endpoint=True))
        else:
            inner = np.sort(drawing.rng.choice(max(1, total - 1), cuts, replace=False)) + 1
        ends = [0, total] if segments else [0]
        return _stored(self, np.concatenate([[0], inner, ends[1:]]).astype(np.int64), drawing)


@dataclass(frozen=True)
class Lengths:
    """Integers from 1, or 0 if `zero`, to `most`, both included."""

    most: Expression
    zero: bool

    @property
    def expressions(self) -> tuple[Expression, ...]:
        """What depends on sizes."""
        return (self.most,)

    def __str__(self) -> str:
        return f"lengths({self.most}{', zero=True' if self.zero else ''})"

    def draw(self, drawing: Drawing) -> NDArray[Any]:
        import numpy as np

        least, most = int(not self.zero), self.most.evaluate(drawing.sizes)
        if most < least:
            if 0 not in drawing.shape:
                raise _refused(self, f"most >= {least}", f"most {most}", drawing)
            most = least
        return _stored(
            self, np.asarray(drawing.rng.integers(least, most, drawing.shape, endpoint=True)), drawing
        )


@dataclass(frozen=True)
class Sorted:
    """What another source draws, ascending along the last dimension."""

    source: ValueSource

    @property
    def expressions(self) -> tuple[Expression, ...]:
        """What depends on sizes."""
        return tuple(getattr(self.source, "expressions", ()))

    def draw(self, drawing: Drawing) -> NDArray[Any]:
        import numpy as np

        return np.sort(self.source.draw(drawing), axis=-1)


@dataclass(frozen=True)
class Permutation:
    """Each of 0 to n - 1 once."""

    def __str__(self) -> str:
        return "permutation()"

    def draw(self, drawing: Drawing) -> NDArray[Any]:
        return _stored(self, drawing.rng.permutation(_extent(self, drawing)), drawing)


def indices(high: int | str, unique: bool = False, skip: int | None = None, share: float = 0.1) -> Indices:
    """Draw integers from 0 to high - 1, each at most once if `unique`.

    `skip` (-1, say) stands at about `share` of the places instead, and may repeat.
    """
    if isinstance(share, bool) or not isinstance(share, int | float) or not 0 <= share <= 1:
        raise DeclarationError("indices(share=)", expected="a number from 0 to 1", got=repr(share))
    if skip is not None and (isinstance(skip, bool) or not isinstance(skip, int)):
        raise DeclarationError("indices(skip=)", expected="an integer such as -1", got=repr(skip))
    return Indices(expressions.parse(high), unique, skip, share)


def offsets(total: int | str, empty: bool = True) -> Offsets:
    """Draw the n + 1 ends of n segments: the first 0, the last `total`; without `empty` ones all differ."""
    return Offsets(expressions.parse(total), empty)


def lengths(most: int | str, zero: bool = False) -> Lengths:
    """Draw integers from 1, or 0 if `zero`, to `most`."""
    return Lengths(expressions.parse(most), zero)


def sorted_(source: ValueSource | ValueCallable) -> Sorted:
    """Sort what `source` draws along the last dimension."""
    return Sorted(as_source(source))


def permutation() -> Permutation:
    """Draw each of 0 to n - 1 once, for an array of shape (n,)."""
    return Permutation()


def _extent(source: object, drawing: Drawing) -> int:
    if len(drawing.shape) != 1:
        raise _refused(source, "an array of one dimension", f"shape {drawing.shape}", drawing)
    return drawing.shape[0]


def _stored(source: object, values: NDArray[Any], drawing: Drawing) -> NDArray[Any]:
    """Return integer values in the dtype asked for, which must hold them."""
    import numpy as np

    stored = drawing.dtype.numpy
    if drawing.dtype.kind not in ("int", "uint"):
        raise _refused(source, "an integer dtype", str(drawing.dtype), drawing)
    limits = np.iinfo(stored)
    if values.size and (values.min() < limits.min or values.max() > limits.max):
        expected = f"values a {drawing.dtype} can hold, {limits.min}..{limits.max}"
        raise _refused(source, expected, f"{values.min()}..{values.max()}", drawing)
    return values.astype(stored)


def _refused(source: object, expected: str, got: str, drawing: Drawing) -> DeclarationError:
    sizes = ", ".join(f"{name}={value}" for name, value in drawing.sizes.items())
    return DeclarationError(str(source), expected=expected, got=f"{got} for {sizes or 'no sizes'}")
