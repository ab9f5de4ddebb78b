"""Look through compiled code and its source for what deserves a closer look.

Pure. What is found is reported, and narrow arithmetic has its rounding looked at; a kernel with nothing but
tripwires is right.
Code is read as PTX, where comments, strings, macros and names change nothing.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping

from pytest_cudaopt import includes, narrowing
from pytest_cudaopt.candidate import Candidate
from pytest_cudaopt.declared import Kernel
from pytest_cudaopt.finding import SourcePoint
from pytest_cudaopt.instances import Instance
from pytest_cudaopt.module_state import written_variables
from pytest_cudaopt.ptx import Function, Instruction, PtxModule, all_of, read_ptx
from pytest_cudaopt.tripwire import Scanned, Tripwire, TripwireKind, ordered

_SINGLE_BITS = narrowing.MANTISSA_BITS["f32"]
# Not the L1, which no launch hands to the next.
_CACHE = re.compile(r"createpolicy|applypriority|discard\b|.*\bL2::(?:evict_(?:last|unchanged)|cache_hint)")
_PRIORITY = re.compile(r"evict_\w+")
_CLOCKS = re.compile(r"%(?:clock(?:64|_hi)?|globaltimer(?:_lo|_hi)?|pm[0-7](?:_64)?)$")
_IDENTITIES = {
    "%smid": "which multiprocessor it runs on",
    "%nsmid": "how many multiprocessors there are",
    "%warpid": "which hardware warp it runs in",
    "%nwarpid": "how many hardware warps there are",
    "%gridid": "which launch it belongs to",
    "%current_graph_exec": "whether a CUDA graph launched it",
}
_HEAP = frozenset({"malloc", "free", "__nv_aligned_device_malloc"})
# What the library's exact functions hold (`expf`, `sinhf`, `log`), unless the whole module flushes to zero.
_OF_LIBRARY = frozenset(
    {
        "ex2.approx.ftz.f32",
        "lg2.approx.ftz.f32",
        "rcp.approx.ftz.f32",
        "div.approx.ftz.f32",
        "rsqrt.approx.ftz.f32",
        "sqrt.approx.ftz.f32",
        "rcp.approx.ftz.f64",
        "rsqrt.approx.ftz.f64",
    }
)


def scan(ptx: str, candidate: Candidate, kernel: Kernel, lowered: Mapping[str, str] | None = None) -> Scanned:
    """Scan what `kernel` reaches in `ptx`, and the text of the `candidate` that was compiled to it.

    `lowered` maps its entries to their names in PTX (`Compiled.module.lowered`); an entry that is not found
    stands for all of the module. Without line tables, nothing has a place.
    """
    module = read_ptx(ptx, candidate.file)
    found: list[Tripwire] = []
    for instance in kernel.instances:
        reached = module.reached((lowered or {}).get(instance.entry, instance.entry))
        found += _scan_instance(module, reached, instance)
    found += _included(candidate)
    return Scanned(ordered(_merged(found)))


def _scan_instance(
    module: PtxModule, reached: tuple[Function, ...], instance: Instance
) -> Iterator[Tripwire]:
    for name, writes in written_variables(module, reached).items():
        size = module.variables[name].bytes
        message = f"'{name}' keeps {size} bytes from one launch to the next"
        yield Tripwire(TripwireKind.MODULE_STATE, name, message, _place(writes), len(writes), size)
    grouped: dict[tuple[TripwireKind, str], list[Instruction]] = defaultdict(list)
    for kind, detail, one in (*_noticed(module, reached), *_in_few_bits(reached, instance)):
        grouped[kind, detail].append(one)
    for (kind, detail), instructions in grouped.items():
        message = _message(kind, detail, instructions[0])
        yield Tripwire(kind, detail, message, _place(instructions), len(instructions))


def _place(instructions: Iterable[Instruction]) -> SourcePoint | None:
    places = [one.place for one in instructions if one.place is not None]
    return min(places, key=lambda place: (place.file, place.line), default=None)


_Noticed = tuple[TripwireKind, str, Instruction]


def _noticed(module: PtxModule, reached: tuple[Function, ...]) -> Iterator[_Noticed]:
    flushes = any(_flushes_all(one) for one in all_of(reached))
    for one in all_of(reached):
        operation = one.parts[0]
        if _CACHE.match(one.opcode):
            yield TripwireKind.CACHE_POLICY, _policy(one), one
        if operation in ("trap", "brkpt") and not one.from_toolchain:
            yield TripwireKind.TRAP, operation, one
        elif operation == "nanosleep" and not one.from_toolchain:
            yield TripwireKind.SLEEP, operation, one
        elif operation == "call" and (called := _called(module, one)) is not None:
            yield called[0], called[1], one
        for name in one.names:
            if _CLOCKS.match(name):
                yield TripwireKind.CLOCK, "clock", one
            elif name in _IDENTITIES:
                yield TripwireKind.PLACE_OR_LAUNCH, name, one
        if one.opcode in _OF_LIBRARY and not flushes:
            continue
        if "approx" in one.parts or "full" in one.parts:
            yield TripwireKind.APPROXIMATE, ".".join(part for part in one.parts if part != "ftz"), one
        if "ftz" in one.parts:
            yield TripwireKind.FLUSH_TO_ZERO, one.parts[-1], one


def _flushes_all(one: Instruction) -> bool:
    """Whether this is what a module holds only if it was told to flush."""
    return "ftz" in one.parts and "approx" not in one.parts


def _policy(one: Instruction) -> str:
    found = _PRIORITY.findall(one.opcode)
    return found[0] if found else "computed" if one.parts[0] == "createpolicy" else one.parts[0]


def _called(module: PtxModule, one: Instruction) -> tuple[TripwireKind, str] | None:
    """Return what a call leaves the module for."""
    # Parameters, in brackets, have names of their own.
    names = re.findall(r"[%$\w]+", re.sub(r"\([^)]*\)", "", one.operands))
    if not names or names[0][0] == "%" or names[0] in module.functions:
        return None
    match names[0]:
        case "vprintf":
            return TripwireKind.PRINTF, "printf"
        case "__assertfail":
            return TripwireKind.TRAP, "assert"
        case name if name in _HEAP:
            return TripwireKind.HEAP, "heap"
        case name:
            return TripwireKind.EXTERNAL_CALL, name


def _in_few_bits(reached: tuple[Function, ...], instance: Instance) -> Iterator[_Noticed]:
    bits = narrowing.declared_bits(instance.parameters)
    if bits is None:
        return
    has_integers = narrowing.takes_integers(instance.parameters)
    for function in reached:
        narrow = list(narrowing.narrower(function, bits, has_integers))
        for name, one in narrow:
            yield TripwireKind.NARROWER, name, one
        seen = {id(one) for _, one in narrow}
        for one in function.body:
            kept_in = narrowing.accumulates_in(one)
            if kept_in is None or id(one) in seen or narrowing.MANTISSA_BITS[kept_in] >= _SINGLE_BITS:
                continue
            yield TripwireKind.LOW_PRECISION, kept_in, one


def _message(kind: TripwireKind, detail: str, one: Instruction) -> str:
    match kind:
        case TripwireKind.CACHE_POLICY:
            return f"tells the cache what to keep ({one.opcode})"
        case TripwireKind.CLOCK:
            read = next(name for name in one.names if _CLOCKS.match(name))
            return f"reads a clock ({read})"
        case TripwireKind.PLACE_OR_LAUNCH:
            return f"reads {_IDENTITIES[detail]} ({detail})"
        case TripwireKind.TRAP:
            return (
                "may end the launch (an assert)" if detail == "assert" else f"may end the launch ({detail})"
            )
        case TripwireKind.PRINTF:
            return "prints"
        case TripwireKind.HEAP:
            return "takes or gives back memory of the device's heap"
        case TripwireKind.EXTERNAL_CALL:
            return f"calls '{detail}', which is not in the module"
        case TripwireKind.SLEEP:
            return "waits for some time (nanosleep)"
        case TripwireKind.NARROWER:
            return f"computes in {detail}, narrower than any float declared ({one.opcode})"
        case TripwireKind.LOW_PRECISION:
            return f"adds or multiplies in {detail} instead of f32 ({one.opcode})"
        case TripwireKind.APPROXIMATE:
            return f"approximates ({one.opcode})"
        case TripwireKind.FLUSH_TO_ZERO:
            return f"takes subnormal numbers for zero ({one.opcode})"
    raise ValueError(f"no message for {kind}")


def _included(candidate: Candidate) -> Iterator[Tripwire]:
    """Yield what the text itself includes or asks for, taken or not."""
    found = includes.scan(candidate.source)
    asked = [(one.start, one.spelled, f"includes {one.spelled}") for one in found.includes]
    for probe in found.probes:
        text = f"asks whether there is a header {probe.name}"
        asked.append((probe.start, f"__has_include {probe.name}", text))
    for start, detail, message in asked:
        line = candidate.source.count("\n", 0, start) + 1
        yield Tripwire(TripwireKind.INCLUDE, detail, message, SourcePoint(candidate.file, line))


def _merged(found: Iterable[Tripwire]) -> list[Tripwire]:
    """Keep what several instances share once, with the most that one of them has."""
    kept: dict[tuple[TripwireKind, str], Tripwire] = {}
    for one in found:
        known = kept.get((one.kind, one.detail))
        if known is None or known.count < one.count:
            kept[one.kind, one.detail] = one
    return list(kept.values())
