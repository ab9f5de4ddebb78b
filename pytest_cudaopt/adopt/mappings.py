"""The launch rule that a kernel's own use of `blockIdx` suggests, where no launch of it can be read."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from pytest_cudaopt.adopt.declarations import KernelDeclaration
from pytest_cudaopt.adopt.tokens import Scanned

_AXES = ("x", "y", "z")
# Threads per block along each axis, for kernels of one, two and three dimensions.
_BLOCKS = {1: ("256",), 2: ("16", "16"), 3: ("8", "8", "4")}


def default_launch(
    scanned: Scanned, kernel: KernelDeclaration, sizes: Sequence[str], known: Collection[str]
) -> str:
    """Return a rule for `sizes`, outermost first: a block per row, or a thread per element.

    A block per row is what `blockIdx` without a multiplication by the block's size means. `known` are the
    names a rule may use beside the sizes.
    """
    texts = scanned.texts(*kernel.body) if kernel.body is not None else []
    used = [axis for axis in _AXES if _mentions(texts, axis)]
    extents = {axis: _block_extent(texts, axis, scanned.constants, known) for axis in used}
    if not used:
        return "grid=(1) block=(256)"
    if not any(extents.values()):
        return f"grid=({', '.join(reversed(list(sizes[: len(used)])))}) block=(256)"
    dimensions = len(used) if len(used) <= len(sizes) else 1
    blocks = [extents[axis] or "1" for axis in used[:dimensions]]
    chosen = [_BLOCKS[dimensions][at] if text == "blockDim" else text for at, text in enumerate(blocks)]
    counts = [" * ".join(sizes)] if dimensions == 1 else list(reversed(sizes[-dimensions:]))
    grid = [
        count if block == "1" else f"cdiv({count}, {block})"
        for count, block in zip(counts, chosen, strict=True)
    ]
    return f"grid=({', '.join(grid)}) block=({', '.join(chosen)})"


def _mentions(texts: Sequence[str], axis: str) -> bool:
    return any(list(texts[at : at + 3]) == ["blockIdx", ".", axis] for at in range(len(texts)))


def _block_extent(
    texts: Sequence[str], axis: str, constants: Mapping[str, int], known: Collection[str]
) -> str:
    """Return what `blockIdx.AXIS` is multiplied by: `blockDim`, a number, a known name; or nothing."""
    for at in range(len(texts) - 2):
        if list(texts[at : at + 3]) != ["blockIdx", ".", axis]:
            continue
        before = texts[at - 2] if at > 1 and texts[at - 1] == "*" else ""
        if at > 3 and texts[at - 1] == "*" and texts[at - 3] == ".":
            before = texts[at - 4]
        after = texts[at + 4] if at + 4 < len(texts) and texts[at + 3] == "*" else ""
        for factor in (before, after):
            if factor == "blockDim" or factor.isdigit() or factor in known:
                return factor
            if factor in constants:
                return str(constants[factor])
    return ""
