"""Measure a GPU's peaks: three small kernels, each compiled and timed by an ordinary request."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_cudaopt.errors import EnvironmentFault, HarnessError
from pytest_cudaopt.peaks import Peaks
from pytest_cudaopt.protocol import (
    Access,
    Buffer,
    BufferArgument,
    Compile,
    Entry,
    Load,
    Measure,
    Module,
    ScalarArgument,
)

if TYPE_CHECKING:
    from pytest_cudaopt.answers import GpuFacts
    from pytest_cudaopt.device import Device
    from pytest_cudaopt.evaluation import Latency

_SOURCES = Path(__file__).parent / "peak_kernels"
_TIMEOUT_S = 120.0
_SAMPLES = 50

_FLOAT4_BYTES = 16
_MOST_COPIED_BYTES = 1 << 30  # of each of the two arrays
# Below this the L2 would serve part of the copy.
_LEAST_COPIED_L2S = 4
# Two arrays, what they are restored from, what is timed, and room to flush the L2 with.
_ARRAYS_THAT_FIT = 8
_COPY_ITEMS = (1, 2, 4)
_COPY_BLOCKS = (256, 512)

_FMA_CHAINS = 8
_FMA_STEPS = 16
_FMA_ROUNDS = 512
_FMA_BLOCK = 256
# Many short waves: how many blocks a multiprocessor holds differs, and a last, part-filled wave is little.
_FMA_BLOCKS_PER_MULTIPROCESSOR = 64

# As large as launches rotate over comfortably; the kernel does not touch it.
_UNUSED_BYTES = 1 << 20


@dataclass(frozen=True)
class PeakProgram:
    """One source, its buffers, and the launches of it to time."""

    name: str
    entries: tuple[str, ...]
    options: tuple[str, ...]
    buffers: tuple[Buffer, ...]
    launches: tuple[Measure, ...]


def measure_peaks(device: Device) -> Peaks:
    """Measure the GPU `device` is; takes a few seconds.

    Raises EnvironmentFault for a modelled device, too little free memory, or a launch that fails.
    """
    gpu = device.limits.gpu
    if gpu is None:
        raise EnvironmentFault("peaks", expected="a GPU", got=f"{device.description}, which is modelled")
    copied_bytes = _copied_bytes(gpu)
    copied = _measure(copy_program(copied_bytes), device)
    added = _measure(fma_program(device.limits.multiprocessors), device)
    (empty,) = _measure(empty_program(), device)
    return Peaks(
        copy_bytes_per_s=2 * copied_bytes / _least_ns(copied) * 1e9,
        fp32_flops_per_s=fma_flops(device.limits.multiprocessors) / _least_ns(added) * 1e9,
        launch_cold_ns=_cold_ns(empty),
        launch_batch_ns=None if empty.batch is None else empty.batch.median_ns,
        tick_ns=empty.tick_ns,
    )


def copy_program(copied_bytes: int) -> PeakProgram:
    """Copy `copied_bytes`, a multiple of 16, in every number of items per thread and block size."""
    elements = copied_bytes // _FLOAT4_BYTES
    return PeakProgram(
        "copy",
        entries=tuple(f"copy<{items}>" for items in _COPY_ITEMS),
        options=(),
        buffers=(
            Buffer("x", copied_bytes, Access.READ, element_bytes=_FLOAT4_BYTES),
            Buffer("y", copied_bytes, Access.WRITE, element_bytes=_FLOAT4_BYTES),
        ),
        launches=tuple(
            _launch(
                "copy",
                f"copy<{items}>",
                grid=-(-elements // (block * items)),
                block=block,
                arguments=(BufferArgument("x"), BufferArgument("y"), _i32(elements)),
            )
            for items in _COPY_ITEMS
            for block in _COPY_BLOCKS
        ),
    )


def fma_program(multiprocessors: int) -> PeakProgram:
    """Fill every multiprocessor with multiply-adds."""
    blocks = multiprocessors * _FMA_BLOCKS_PER_MULTIPROCESSOR
    return PeakProgram(
        "fma",
        entries=("fma_rate",),
        options=(f"-DCHAINS={_FMA_CHAINS}", f"-DSTEPS={_FMA_STEPS}"),
        buffers=(Buffer("out", 4 * blocks * _FMA_BLOCK, Access.WRITE, element_bytes=4),),
        launches=(
            _launch(
                "fma",
                "fma_rate",
                grid=blocks,
                block=_FMA_BLOCK,
                # The sums go towards 2: no infinities, no subnormals.
                arguments=(BufferArgument("out"), _f32(0.5), _f32(1.0), _i32(_FMA_ROUNDS)),
            ),
        ),
    )


def fma_flops(multiprocessors: int) -> int:
    """Return the operations of one launch, two per multiply-add."""
    threads = multiprocessors * _FMA_BLOCKS_PER_MULTIPROCESSOR * _FMA_BLOCK
    return 2 * threads * _FMA_ROUNDS * _FMA_STEPS * _FMA_CHAINS


def empty_program() -> PeakProgram:
    """Launch nothing, for what a launch takes."""
    return PeakProgram(
        "empty",
        entries=("empty",),
        options=(),
        buffers=(Buffer("unused", _UNUSED_BYTES, Access.READ),),
        launches=(_launch("empty", "empty", grid=1, block=32, arguments=(BufferArgument("unused"),)),),
    )


def _launch(
    module: str, entry: str, *, grid: int, block: int, arguments: tuple[BufferArgument | ScalarArgument, ...]
) -> Measure:
    return Measure(
        module=module,
        entry=entry,
        grid=(grid, 1, 1),
        block=(block, 1, 1),
        arguments=arguments,
        samples=_SAMPLES,
    )


def _measure(program: PeakProgram, device: Device) -> list[Latency]:
    file = f"{program.name}.cu"
    module = Module(
        name=program.name,
        file=file,
        source=(_SOURCES / file).read_text(encoding="utf-8"),
        options=("-std=c++17", *program.options),
        entries=tuple(Entry(entry) for entry in program.entries),
        architecture=device.limits.architecture,
    )
    request = replace(
        device.new_request(f"peaks/{program.name}"),
        timeout_s=_TIMEOUT_S,
        modules=(module,),
        buffers=program.buffers,
        steps=(Compile(program.name), Load(program.name), *program.launches),
    )
    answer = device.ask(request)
    if answer.fault is not None:
        raise EnvironmentFault(
            f"measuring peaks ({program.name})",
            expected="a GPU that runs a small kernel",
            got=f"{answer.fault.kind}: {answer.fault.message}",
            next_step="See whether another process uses the GPU, then try again",
        )
    latencies = [step.latency for step in answer.steps if step.latency is not None]
    if len(latencies) != len(program.launches):
        raise HarnessError(
            f"answer '{request.id}'", expected=f"{len(program.launches)} latencies", got=str(len(latencies))
        )
    return latencies


def _copied_bytes(gpu: GpuFacts) -> int:
    copied = min(_MOST_COPIED_BYTES, gpu.free_bytes // _ARRAYS_THAT_FIT) // _FLOAT4_BYTES * _FLOAT4_BYTES
    least = _LEAST_COPIED_L2S * gpu.l2_bytes
    if copied < least:
        raise EnvironmentFault(
            "measuring peaks",
            expected=f"{_ARRAYS_THAT_FIT * least / 1e6:.0f} MB of free GPU memory",
            got=f"{gpu.free_bytes / 1e6:.0f} MB",
            next_step="End what else uses the GPU",
        )
    return copied


def _least_ns(latencies: Sequence[Latency]) -> float:
    return min(latency.median_ns for latency in latencies)


def _cold_ns(latency: Latency) -> float:
    return latency.median_ns if latency.cold is None else latency.cold.median_ns


def _i32(value: int) -> ScalarArgument:
    return ScalarArgument("i32", value.to_bytes(4, "little", signed=True).hex())


def _f32(value: float) -> ScalarArgument:
    return ScalarArgument("f32", struct.pack("<f", value).hex())
