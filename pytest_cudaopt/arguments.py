"""Bound arguments: the concrete arrays and scalars of one kernel at one case."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, cast

from pytest_cudaopt.cases import Case, derived_seed
from pytest_cudaopt.errors import CudaoptError, DeclarationError
from pytest_cudaopt.expressions import Expression
from pytest_cudaopt.families import BESIDE
from pytest_cudaopt.parameters import Role
from pytest_cudaopt.strided import Strided, strided
from pytest_cudaopt.tiled import LARGE, TILE_ELEMENTS, can_tile, tiled
from pytest_cudaopt.value_families import arrays_in, in_family
from pytest_cudaopt.values import Drawing, Integers, Normal, Uniform

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from pytest_cudaopt.declared import Kernel
    from pytest_cudaopt.parameters import Parameter

Shape = tuple[int, ...]


@dataclass(frozen=True)
class Arguments:
    """What a kernel is called with.

    `parameters` are the kernel's, with the dtypes they have at the case.
    `shapes` holds every array parameter; `arrays` the initial contents, in the stored dtype and
    read-only, of those that have any (In, InOut); `scalars` every scalar parameter. An absent array, for
    which the kernel gets a null pointer, is in neither. `layouts` says how arrays with strides lie in memory;
    `tiles` holds what very large inputs repeat over and over (see `is_tiled`).
    """

    sizes: Mapping[str, int]
    shapes: Mapping[str, Shape]
    arrays: Mapping[str, NDArray[Any]]
    scalars: Mapping[str, np.generic]
    parameters: tuple[Parameter, ...]
    layouts: Mapping[str, Strided] = field(default_factory=dict)
    tiles: Mapping[str, NDArray[Any]] = field(default_factory=dict)

    @property
    def input_bytes(self) -> int:
        """Memory of the arrays with contents, each as it is or as its buffer, whichever takes more."""
        buffers = {
            name: layout.elements * self.arrays[name].itemsize
            for name, layout in self.layouts.items()
            if name in self.arrays
        }
        held = {**self.arrays, **self.tiles}
        return sum(max(array.nbytes, buffers.get(name, 0)) for name, array in held.items())

    @property
    def outputs(self) -> tuple[Parameter, ...]:
        """The arrays a launch writes, which are those that are compared."""
        return tuple(p for p in self.parameters if p.is_output and p.name in self.shapes)


def bind(kernel: Kernel, one: Case, kept: Mapping[str, NDArray[Any]] | None = None) -> Arguments:
    """Draw the arguments of `kernel` at `one`; the same case gives the same bytes on any machine.

    Arrays in `kept` are those; later ones see them as drawn.
    Raises DeclarationError, at the declaration, for negative extents, values of the wrong shape or dtype,
    and scalars that do not fit their dtype.
    """
    import numpy as np

    sizes = kernel.all_sizes(one)
    rng = np.random.Generator(np.random.PCG64(derived_seed(kernel.name, one)))
    shapes: dict[str, Shape] = {}
    arrays: dict[str, NDArray[Any]] = {}
    scalars: dict[str, np.generic] = {}
    parameters = kernel.at(one).parameters
    layouts: dict[str, Strided] = {}
    tiles: dict[str, NDArray[Any]] = {}
    for parameter in parameters:
        try:
            if not parameter.is_array:
                scalars[parameter.name] = _scalar(parameter, sizes, rng, arrays)
                continue
            if parameter.name in one.absent:
                continue
            shape = shapes[parameter.name] = _shape(parameter, sizes)
            layout = strided(parameter, shape, sizes)
            if layout is not None:
                layouts[parameter.name] = layout
            if is_tiled(parameter, sizes, one):
                tiles[parameter.name] = _tile(parameter, sizes, arrays, derived_seed(kernel.name, one))
                arrays[parameter.name] = tiled(tiles[parameter.name], shape)
            elif parameter.has_contents:
                drawing = Drawing(rng, sizes, arrays, shape, parameter.dtype)
                ordinary = _draw(parameter, drawing)
                drawn = _as_stored(_of_family(one, parameter, parameters, drawing, ordinary), layout)
                arrays[parameter.name] = (kept or {}).get(parameter.name, drawn)
        except CudaoptError as error:
            raise DeclarationError(
                f"{kernel.name}.{parameter.name} at {one}: {error.what}",
                expected=error.expected,
                got=error.got,
                next_step=error.next_step,
                at=error.at or kernel.location,
            ) from error
    return Arguments(sizes, shapes, arrays, scalars, parameters, layouts, tiles)


def bind_again(kernel: Kernel, one: Case, bound: Arguments, draw: int) -> Arguments:
    """Draw other array contents for the same launch: shapes, scalars and constants are those of `bound`.

    They are those of `case_of_draw`. Arrays whose source ignores its generator, and very large ones, stay as
    they are. Raises
    DeclarationError as `bind` does.
    """
    constants = {p.name: bound.arrays[p.name] for p in kernel.parameters if p.symbol is not None}
    drawn = bind(kernel, case_of_draw(kernel, one, draw), constants)
    large = {name: bound.arrays[name] for name in bound.tiles}
    return replace(drawn, scalars=bound.scalars, arrays={**drawn.arrays, **large}, tiles=bound.tiles)


def case_of_draw(kernel: Kernel, one: Case, draw: int) -> Case:
    """Return the case with a seed of its own for each `draw`, derived from its present one."""
    text = f"{derived_seed(kernel.name, one)}/draw {draw}"
    return replace(one, seed=int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "little"))


def needed_bytes(kernel: Kernel, one: Case) -> int:
    """Return the host memory judging `one` takes at least: every array as stored, as file, and as float64."""
    sizes = kernel.all_sizes(one)
    return sum(
        (TILE_ELEMENTS if is_tiled(parameter, sizes, one) else most_elements(parameter, sizes))
        * (2 * parameter.dtype.itemsize + 8)
        for parameter in kernel.at(one).parameters
        if parameter.is_array and parameter.name not in one.absent
    )


def is_tiled(parameter: Parameter, sizes: Mapping[str, int], one: Case) -> bool:
    """Whether the array repeats one tile: plain numbers, only read, and more than 2^31 of them."""
    return (
        parameter.role is Role.IN
        and isinstance(parameter.values, Normal | Uniform | Integers)
        and parameter.strides is None
        and parameter.symbol is None
        and parameter.name not in one.absent
        # Memory that an output shares is written.
        and parameter.name not in dict(one.alias).values()
        and can_tile()
        and most_elements(parameter, sizes) > LARGE
    )


def _tile(
    parameter: Parameter, sizes: Mapping[str, int], drawn: Mapping[str, NDArray[Any]], seed: int
) -> NDArray[Any]:
    """Draw a tile, of no family: values that repeat would hide a wrong offset."""
    import numpy as np

    # Numbers of its own: the arrays after this one do not depend on how large a tile is.
    rng = np.random.Generator(np.random.PCG64([seed, len(drawn)]))
    return _draw(parameter, Drawing(rng, sizes, drawn, (TILE_ELEMENTS,), parameter.dtype))


def all_elements(kernel: Kernel, sizes: Mapping[str, int]) -> int:
    """Return the elements of all arrays together."""
    return sum(max(0, most_elements(one, sizes)) for one in kernel.parameters if one.is_array)


def most_elements(parameter: Parameter, sizes: Mapping[str, int]) -> int:
    """Return the elements of the array, or of its buffer if that has more."""
    shape = tuple(extent.evaluate(sizes) for extent in parameter.shape)
    strides = tuple(stride.evaluate(sizes) for stride in parameter.strides or ())
    return max(math.prod(shape), Strided(shape, strides).elements if strides else 0)


def _as_stored(array: NDArray[Any], layout: Strided | None) -> NDArray[Any]:
    """Return what an array of that layout holds: an element that several indices share has one value."""
    if layout is None:
        return array
    stored = layout.gather(layout.scatter(array, b"\0"))
    stored.setflags(write=False)
    return stored


def _shape(parameter: Parameter, sizes: Mapping[str, int]) -> Shape:
    shape = tuple(extent.evaluate(sizes) for extent in parameter.shape)
    if any(extent < 0 for extent in shape):
        raise DeclarationError("shape", expected="extents >= 0", got=str(shape))
    return shape


def _of_family(
    one: Case,
    parameter: Parameter,
    parameters: tuple[Parameter, ...],
    drawing: Drawing,
    ordinary: NDArray[Any],
) -> NDArray[Any]:
    """Return `ordinary` in the case's family: every array that has it, or only one of them."""
    if one.values is None:
        return ordinary
    import numpy as np

    able = arrays_in(one.values, parameters)
    seed = derived_seed("", one)
    # The seed says which array it is, so that each can be asked for; the last choice is all of them.
    chosen = seed % (len(able) + 1)
    if parameter.name not in able:
        return ordinary
    family = one.values
    if chosen < len(able) and able[chosen] != parameter.name:
        if family not in BESIDE:
            return ordinary
        family = BESIDE[family]
    # Numbers of its own: the arrays after this one stay as they were.
    rng = np.random.Generator(np.random.PCG64([seed, able.index(parameter.name)]))
    made = np.asarray(in_family(family, parameter, replace(drawing, rng=rng), ordinary), order="C")
    made.setflags(write=False)
    return made


def _draw(parameter: Parameter, drawing: Drawing) -> NDArray[Any]:
    import numpy as np

    assert parameter.values is not None  # noqa: S101 - every array with contents has a source
    # Not `ascontiguousarray`, which would turn a scalar into an array of one element.
    array = np.asarray(parameter.values.draw(drawing), order="C")
    array.setflags(write=False)
    return array


def _scalar(
    parameter: Parameter,
    sizes: Mapping[str, int],
    rng: np.random.Generator,
    drawn: Mapping[str, NDArray[Any]],
) -> np.generic:
    import numpy as np

    from pytest_cudaopt.rounding import stored

    if parameter.is_size:
        value: Any = sizes[parameter.name]
    elif isinstance(parameter.value, Expression):
        value = parameter.value.evaluate(sizes)
    elif parameter.values is not None:
        value = _draw(parameter, Drawing(rng, sizes, drawn, (), parameter.dtype))[()]
    else:
        value = parameter.value
    dtype = parameter.dtype.numpy
    if parameter.dtype.kind in ("int", "uint"):
        limits = np.iinfo(dtype)
        # `value % 1` is NaN for NaN and infinity, and so not 0.
        if value % 1 != 0 or not limits.min <= int(value) <= limits.max:
            raise DeclarationError(
                "value",
                expected=f"a {parameter.dtype}, {limits.min}..{limits.max}",
                got=str(value),
            )
    return cast("np.generic", stored(parameter.dtype, np.asarray(value))[()])
