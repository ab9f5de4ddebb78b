"""What in a kernel's text speaks for which technique: phrases that pages have among their names."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from pytest_cudaopt.optimize.code_reading import KernelText, Loop

_FEW_BLOCKS = 64
_MUCH_SHARED_BYTES = 24 * 1024
_MANY_VALUES = 32
_REGISTERS = 255
_MANY_BARRIERS = 4
_SEVERAL_PASSES = 3


@dataclass(frozen=True)
class Clue:
    """A phrase to search for; `strength` is 3 for a likely fault, 1 for a mere use."""

    phrase: str
    strength: int


def clues(source: str) -> tuple[Clue, ...]:
    """Return what the text of a kernel hints at, the strongest first."""
    text = KernelText(source)
    found: dict[str, int] = {}
    for look in _LOOKS:
        for clue in look(text):
            found[clue.phrase] = max(clue.strength, found.get(clue.phrase, 0))
    return tuple(sorted((Clue(*one) for one in found.items()), key=lambda one: -one.strength))


def _global_access(text: KernelText) -> Iterator[Clue]:
    strided = [
        name
        for name, index in text.accesses
        if text.is_strided(index) or text.mentions(index, text.strided) or name in text.strided
    ]
    if strided:
        yield Clue("strided access", 3)
    elif text.accesses and not text.loops:
        yield Clue("wide loads", 1)
        yield Clue("elements per thread", 1)


def _repeated_reads(text: KernelText) -> Iterator[Clue]:
    for loop in text.loops:
        if text.shared or not _is_long(text, loop) or re.search(r"\bfor\b", loop.body):
            continue
        reads = [
            index for name, index in _accesses(text, loop) if text.mentions(index, frozenset({loop.name}))
        ]
        if any(not text.is_strided(index) and not text.mentions(index, text.strided) for index in reads):
            yield Clue("repeated reads", 3)
            yield Clue("data reuse within a block", 2)
    names = [name for name, index in text.accesses if re.search(r"[+-]\s*\w+", index)]
    if not text.shared and any(names.count(name) >= 5 for name in names):
        yield Clue("repeated reads", 2)
        yield Clue("stencil halo", 2)


def _shared_memory(text: KernelText) -> Iterator[Clue]:
    for name, first, second in text.own_accesses:
        if name not in text.shared:
            continue
        extents = text.shared[name][1]
        inner = text.extent(extents[-1:])
        lane = frozenset({"threadIdx.x", *text.lanes})
        column = len(extents) == 2 and second and text.mentions(first, lane) and "^" not in second
        if (column and inner % 16 == 0 and "+" not in extents[-1]) or (not second and text.is_strided(first)):
            yield Clue("column of a shared tile", 3)
    if text.shared_bytes >= _MUCH_SHARED_BYTES:
        yield Clue("shared memory per block too large", 3)


def _registers(text: KernelText) -> Iterator[Clue]:
    constant = frozenset(loop.name for loop in text.loops if _has_constant_length(text, loop))
    for name, *indices in text.own_accesses:
        if name in text.local_arrays and any(_is_unknown(text, index, constant) for index in indices):
            yield Clue("dynamically indexed array", 3)
    values = sum(text.local_arrays.values()) + len(_DECLARED.findall(text.code))
    if values > _REGISTERS:
        yield Clue("spill loads", 3)
    if values >= _MANY_VALUES:
        yield Clue("register pressure", 3)
    capped = re.search(r"__launch_bounds__\s*\(\s*\w+\s*,", text.code) or "maxrregcount" in text.source
    if capped:
        yield Clue("register cap", 2)
        yield Clue("spill loads", 2)


_DECLARED = re.compile(r"(?:\bfloat\s+|,\s*)\w+\s*=\s*[^=;,{]+(?=[,;])")


def _is_unknown(text: KernelText, index: str, constant: frozenset[str]) -> bool:
    names = re.findall(r"[A-Za-z_]\w*", index)
    return any(name not in constant and name not in text.numbers and not name.isupper() for name in names)


def _has_constant_length(text: KernelText, loop: Loop) -> bool:
    bound = re.split(r"[<>]=?|!=", loop.condition)[-1]
    return not _is_unknown(text, bound, frozenset()) and not _is_unknown(
        text, loop.start.partition("=")[2], frozenset()
    )


def _branches(text: KernelText) -> Iterator[Clue]:
    for keyword, condition in re.findall(r"\b(if|while|switch)\s*\(((?:[^()]|\([^()]*\))*)\)", text.code):
        by_lane = text.mentions(condition, frozenset({"threadIdx.x", *text.lanes}))
        by_data = text.mentions(condition, text.loaded) or "[" in condition
        leader = re.search(r"(%\s*(32|warpSize)|&\s*31)", condition)
        if by_lane and re.search(r"[%&^](?!&)", condition.replace("&&", "")) and not leader:
            yield Clue("warp divergence", 3)
        if by_data and (keyword != "if" or re.search(r"[%&]", condition.replace("&&", ""))):
            yield Clue("warp divergence", 3)
        elif by_data and not by_lane:
            yield Clue("warp divergence", 1)


def _unequal_loops(text: KernelText) -> Iterator[Clue]:
    for loop in text.loops:
        if re.search(r"gridDim|blockDim|\+=", loop.step) and not text.mentions(loop.condition, text.blocks):
            continue
        bounds = f"{loop.start.partition('=')[2]} {re.split(r'[<>]=?', loop.condition)[-1]}"
        if "blockIdx" in bounds or text.mentions(bounds, text.blocks) or "[" in bounds:
            yield Clue("load imbalance", 3)
        if text.mentions(re.split(r"[<>]=?", loop.condition)[-1], text.lanes | text.loaded):
            yield Clue("unequal trip counts", 3)


def _grid(text: KernelText) -> Iterator[Clue]:
    grid = re.search(r"\bgrid=\(([\d, ]+)\)", text.rule)
    blocks = text.product(grid[1].split(",")) if grid else None
    if "__global__" in text.code and "blockIdx" not in text.code:
        yield Clue("single block", 3)
    elif blocks is not None and blocks < _FEW_BLOCKS:
        yield Clue("too few blocks", 3)
    elif blocks is not None and blocks % 132 in range(1, 40):
        yield Clue("partial wave", 3)


def _arithmetic(text: KernelText) -> Iterator[Clue]:
    for loop in text.loops:
        outside = re.sub(r"\[[^\]]*\]", "", loop.body)
        fused = len(re.findall(r"\bf?maf?\(|[^*/]\*[^*/]", outside))
        if fused and "for" not in loop.body and not _accesses(text, loop):
            yield Clue("FMA pipe", 3 if not text.shared else 2)
    if re.search(r"\bdouble\b|\d\.\d*(?:e-?\d+)?(?![\df.e])", text.code):
        yield Clue("double literals", 3 if "float" in text.code else 1)
    if re.search(r"\b(?:__)?(?:exp2?|log2?|sin|cos|tanh|pow|rsqrt|erf)f?\s*\(", text.code):
        yield Clue("transcendental", 1)
    if re.search(r"\w\s*[%/]\s*[a-z_]\w*", re.sub(r"threadIdx\.x\s*[%/]", "", text.code)):
        yield Clue("modulo", 1)


def _is_long(text: KernelText, loop: Loop) -> bool:
    """Whether every thread walks all of something, one by one."""
    by_one = "++" in loop.step or re.search(r"\+=\s*1\b", loop.step) is not None
    return by_one and not _has_constant_length(text, loop)


def _accesses(text: KernelText, loop: Loop) -> list[tuple[str, str]]:
    return [(name, index) for name, index in text.accesses if re.search(rf"\b{name}\s*\[", loop.body)]


USES: tuple[tuple[str, str, int], ...] = (
    (r"\batomic[A-Z]\w*\s*\(|\b(?:atom|red)\.global", "atomic contention", 2),
    (r"__shfl_|__reduce_\w+_sync", "warp reduction", 1),
    (r"(?:>>=\s*1|/=\s*2)[^;]*\)[^}]*__syncthreads", "block reduction", 2),
    (r"grid_group|this_grid|cooperative_groups", "cooperative launch", 1),
    (r"\bwmma::|\bmma\.sync|wgmma", "tensor core", 2),
    (r"\bcp\.async(?!\.bulk)|__pipeline_|memcpy_async", "double buffering", 2),
    (r"cp\.async\.bulk|cp_async_bulk|mbarrier", "bulk tensor copy", 2),
    (r"__ldg|__ld[cn]\w|__st[cw]\w|createpolicy|\bld\.global\.nc", "streaming store", 1),
    (r"setmaxnreg", "producer warp", 2),
)


def _uses(text: KernelText) -> Iterator[Clue]:
    # Assembly is in strings, which the code lacks.
    for pattern, phrase, strength in USES:
        if re.search(pattern, text.source):
            yield Clue(phrase, strength)
    if text.code.count("__syncthreads") >= _MANY_BARRIERS:
        yield Clue("synchronisation overhead", 1)
    if len(text.loops) >= _SEVERAL_PASSES and re.search(r"\bexpf?\b", text.code):
        yield Clue("running maximum", 1)


_LOOKS: tuple[Callable[[KernelText], Iterator[Clue]], ...] = (
    _global_access,
    _repeated_reads,
    _shared_memory,
    _registers,
    _branches,
    _unequal_loops,
    _grid,
    _arithmetic,
    _uses,
)
