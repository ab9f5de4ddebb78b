"""How an array with strides lies in memory: which elements of its buffer are the array's, which gaps."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pytest_cudaopt.errors import DeclarationError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from pytest_cudaopt.parameters import Parameter

Shape = tuple[int, ...]


@dataclass(frozen=True)
class Strided:
    """An array of `shape` whose neighbours lie `strides` elements apart."""

    shape: Shape
    strides: Shape

    @property
    def elements(self) -> int:
        """Elements of the buffer, gaps included."""
        if 0 in self.shape:
            return 0
        return 1 + sum((extent - 1) * stride for extent, stride in zip(self.shape, self.strides, strict=True))

    def scatter(self, array: NDArray[Any], pattern: bytes) -> NDArray[Any]:
        """Return the buffer that holds `array`, with `pattern` repeated in its gaps."""
        import numpy as np

        raw = np.resize(np.frombuffer(pattern, np.uint8), self.elements * array.dtype.itemsize)
        buffer = raw.view(array.dtype)
        self._view(buffer)[...] = array
        return buffer

    def gather(self, buffer: NDArray[Any]) -> NDArray[Any]:
        """Return a copy of the array that `buffer` holds; raise ValueError if it is of another size."""
        import numpy as np

        if buffer.size != self.elements:
            raise ValueError(f"expected {self.elements} elements, got {buffer.size}")
        return np.array(self._view(buffer), order="C")

    def gaps(self) -> NDArray[np.bool_]:
        """Return which elements of the buffer are none of the array's."""
        import numpy as np

        gaps = np.ones(self.elements, dtype=np.bool_)
        self._view(gaps)[...] = False
        return gaps

    @property
    def overlaps(self) -> bool:
        """Whether two indices mean the same element."""
        import numpy as np

        if self._is_nested():
            return False
        return self.elements - int(np.count_nonzero(self.gaps())) < math.prod(self.shape)

    def _is_nested(self) -> bool:
        """Whether each stride goes beyond what the smaller ones span: the usual case, and quick to tell."""
        span = 0
        for stride, extent in sorted(zip(self.strides, self.shape, strict=True)):
            if extent > 1 and stride <= span:
                return False
            span += (extent - 1) * stride
        return True

    def _view(self, buffer: NDArray[Any]) -> NDArray[Any]:
        import numpy as np

        steps = tuple(stride * buffer.dtype.itemsize for stride in self.strides)
        # Not as_strided, which does not know all dtypes of ml_dtypes.
        return np.ndarray(self.shape, buffer.dtype, buffer, strides=steps)


def strided(parameter: Parameter, shape: Shape, sizes: Mapping[str, int]) -> Strided | None:
    """Return how `parameter` lies in memory; None in C order, which has no gaps.

    Raises DeclarationError for a negative stride, and for an output whose elements overlap.
    """
    if parameter.strides is None:
        return None
    strides = tuple(stride.evaluate(sizes) for stride in parameter.strides)
    if any(stride < 0 for stride in strides):
        raise DeclarationError("strides", expected="strides >= 0", got=str(strides))
    layout = Strided(shape, strides)
    if parameter.is_output and layout.overlaps:
        raise DeclarationError(
            "strides",
            expected="an element of its own for each index of an output",
            got=f"strides {strides} of shape {shape}, where some share one",
            next_step="Make each stride at least the elements that the faster dimensions span",
        )
    return layout
