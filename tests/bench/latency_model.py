"""Modelled against measured latency: variants of a kernel, one H200, Spearman's rank correlation.

Run `python tests/bench/latency_model.py [FAMILY ...] [--terms]` with the package installed. The silicon
column was measured once, with events around each launch and the L2 flushed before it (cold).
"""

from __future__ import annotations

import argparse
import secrets
import struct
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from pytest_cudaopt.answers import AnswerStatus
from pytest_cudaopt.device import Device, open_device
from pytest_cudaopt.evaluation import Latency
from pytest_cudaopt.protocol import (
    Argument,
    Buffer,
    BufferArgument,
    Compile,
    Entry,
    Extent3,
    Load,
    Measure,
    Module,
    Request,
    ScalarArgument,
    SimOptions,
)

KERNELS = Path(__file__).parent / "kernels"
N = 1 << 26


@dataclass(frozen=True)
class Variant:
    """One launch; `sizes` are the kernel's trailing int parameters, `arrays` its leading pointers, in bytes.

    `scale` multiplies the modelled time where the measured launch is too large to hold here.
    """

    family: str
    name: str
    source: str
    entry: str
    grid: Extent3
    block: Extent3
    arrays: tuple[int, ...]
    sizes: tuple[int, ...]
    silicon_us: float
    options: tuple[str, ...] = ()
    scale: int = 1
    random_bytes: bool = False


def sgemm(name: str, entry: str, block: Extent3, tile: tuple[int, int], us: float, *options: str) -> Variant:
    """A 2048^3 product; `tile` is what one block computes, width first."""
    n = 2048
    grid = (n // tile[0], n // tile[1], 1)
    return Variant("sgemm", name, "sgemm.cu", entry, grid, block, (n * n * 4,) * 3, (n, n, n), us, options)


def vadd(family: str, name: str, n: int, threads: int, us: float) -> Variant:
    grid = (n // threads, 1, 1)
    return Variant(family, name, "vadd.cu", "vadd", grid, (threads, 1, 1), (n * 4,) * 3, (n,), us)


def vadd4(threads: int, us: float) -> Variant:
    grid = (N // 4 // threads, 1, 1)
    name = f"float4, block {threads}"
    return Variant("vadd", name, "vadd.cu", "vadd4", grid, (threads, 1, 1), (N * 4,) * 3, (N // 4,), us)


def strided(stride: int, us: float) -> Variant:
    """Fewer elements for wider strides: far beyond L2 time is proportional to their number."""
    scale = max(1, stride)
    n = N // scale
    arrays = (n * stride * 4,) * 3
    return Variant(
        "stride", f"stride {stride}", "vadd.cu", "vadd_strided", (n // 256, 1, 1), (256, 1, 1), arrays,
        (n, stride), us, scale=scale,
    )  # fmt: skip


def softmax(threads: int, us: float) -> Variant:
    arrays = (4096 * 4096 * 4,) * 2
    return Variant(
        "softmax", f"block {threads}", "softmax.cu", "softmax", (4096, 1, 1), (threads, 1, 1), arrays,
        (4096,), us,
    )  # fmt: skip


def transpose(name: str, entry: str, block: Extent3, tile: int, us: float, *options: str) -> Variant:
    n = 4096
    grid = (n // tile, n // (tile if entry == "transpose_tiled" else block[1]), 1)
    return Variant(
        "transpose", name, "transpose.cu", entry, grid, block, (n * n * 4,) * 2, (n, n), us, options
    )


def histogram(name: str, entry: str, us: float) -> Variant:
    """The grid of the measured launch is not on record: eight blocks for each SM are assumed."""
    return Variant(
        "histogram", name, "histogram.cu", entry, (132 * 8, 1, 1), (256, 1, 1), (N, 1024), (N,), us,
        random_bytes=True,
    )  # fmt: skip


VARIANTS = (
    sgemm("naive 32x8", "sgemm_naive", (32, 8, 1), (32, 8), 2538),
    sgemm("naive 16x16", "sgemm_naive", (16, 16, 1), (16, 16), 3185),
    sgemm("naive 32x32", "sgemm_naive", (32, 32, 1), (32, 32), 2792),
    sgemm("naive 8x32", "sgemm_naive", (8, 32, 1), (8, 32), 5236),
    sgemm("naive 64x4", "sgemm_naive", (64, 4, 1), (64, 4), 2530),
    sgemm("naive 128x2", "sgemm_naive", (128, 2, 1), (128, 2), 2578),
    sgemm("tiled 32", "sgemm_tiled", (32, 32, 1), (32, 32), 1871),
    sgemm("tiled 16", "sgemm_tiled", (16, 16, 1), (16, 16), 2126, "-DTILE=16"),
    sgemm("register tile", "sgemm_reg", (256, 1, 1), (64, 64), 594),
    softmax(32, 179),
    softmax(64, 106),
    softmax(128, 86),
    softmax(256, 65),
    softmax(512, 64.5),
    softmax(1024, 74),
    transpose("padded tile", "transpose_tiled", (32, 8, 1), 32, 40),
    transpose("tile", "transpose_tiled", (32, 8, 1), 32, 88, "-DPAD=0"),
    transpose("naive 16x16", "transpose_naive", (16, 16, 1), 16, 126),
    transpose("naive 32x8", "transpose_naive", (32, 8, 1), 32, 249),
    vadd("vadd", "block 64", N, 64, 635),
    vadd("vadd", "block 128", N, 128, 321),
    vadd("vadd", "block 256", N, 256, 238),
    vadd("vadd", "block 512", N, 512, 253),
    vadd("vadd", "block 1024", N, 1024, 281),
    vadd4(128, 189),
    vadd4(256, 189),
    vadd4(512, 190),
    vadd("sizes", "2^16", 1 << 16, 256, 4.0),
    vadd("sizes", "2^20", 1 << 20, 256, 8.2),
    vadd("sizes", "2^24", 1 << 24, 256, 65.5),
    vadd("sizes", "2^26", N, 256, 238),
    strided(1, 238),
    strided(2, 488),
    strided(4, 967),
    strided(8, 1929),
    strided(32, 4123),
    histogram("global atomics", "histogram_global", 17287),
    histogram("shared atomics", "histogram_shared", 110),
)


def model(device: Device, variant: Variant, sim: SimOptions | None = None) -> Latency:
    """Return what the harness models for `variant`."""
    names = tuple(f"array{i}" for i in range(len(variant.arrays)))
    arguments: list[Argument] = [BufferArgument(name) for name in names]
    arguments += [ScalarArgument("i32", struct.pack("<i", size).hex()) for size in variant.sizes]
    module = Module(
        "bench", variant.source, (KERNELS / variant.source).read_text(), options=variant.options,
        entries=(Entry(variant.entry),),
    )  # fmt: skip
    first = write_random(device.scratch, variant.arrays[0]) if variant.random_bytes else None
    buffers = tuple(
        Buffer(name, size, initial_file=first if name == names[0] else None)
        for name, size in zip(names, variant.arrays, strict=True)
    )
    steps = (
        Compile("bench"),
        Load("bench"),
        Measure("bench", variant.entry, variant.grid, variant.block, tuple(arguments)),
    )
    request = Request(
        f"{variant.family}/{variant.name}", secrets.token_hex(8), "sim", steps,
        directory=str(device.scratch), sim=sim or SimOptions(), modules=(module,), buffers=buffers,
    )  # fmt: skip
    answer = device.harness.ask(request)
    latency = answer.step("measure").latency if answer.status is AnswerStatus.OK else None
    if latency is None:
        raise SystemExit(f"{request.id}: {answer.fault}")
    return latency


def write_random(folder: Path, size: int) -> str:
    """Write `size` reproducible bytes and return the file's name."""
    path = folder / "random.bin"
    np.random.default_rng(0).integers(0, 256, size, np.uint8).tofile(path)
    return path.name


def ranks(values: Sequence[float]) -> list[float]:
    """Return ranks from 0; equal values share their mean rank."""
    return [(sum(v < x for v in values) + sum(v <= x for v in values) - 1) / 2 for x in values]


def spearman(first: Sequence[float], second: Sequence[float]) -> float:
    """Return the rank correlation of two sequences of two or more distinct values."""
    a, b = ranks(first), ranks(second)
    mean = (len(a) - 1) / 2
    covariance = sum((x - mean) * (y - mean) for x, y in zip(a, b, strict=True))
    variance = sum((x - mean) ** 2 for x in a) * sum((y - mean) ** 2 for y in b)
    return covariance / variance**0.5 if variance else 0.0


def ordered_pairs(times: Sequence[tuple[float, float]]) -> tuple[int, int]:
    """Return how many pairs a factor of 1.5 or more apart on silicon are in order, and of how many."""
    right = total = 0
    for i, (modelled, silicon) in enumerate(times):
        for other_modelled, other_silicon in times[i + 1 :]:
            low, high = sorted((silicon, other_silicon))
            if high >= 1.5 * low:
                total += 1
                right += (modelled < other_modelled) == (silicon < other_silicon)
    return right, total


def table(device: Device, families: Sequence[str], with_terms: bool) -> Iterator[str]:
    """Yield the table line by line, as its rows are modelled."""
    for family in families:
        times: list[tuple[float, float]] = []
        yield f"{family:<20}{'modelled us':>12}{'silicon us':>12}{'ratio':>7}  bound"
        for variant in (v for v in VARIANTS if v.family == family):
            began_s = time.monotonic()
            latency = model(device, variant)
            took_s = time.monotonic() - began_s
            modelled_us = latency.median_ns / 1000 * variant.scale
            times.append((modelled_us, variant.silicon_us))
            ratio = modelled_us / variant.silicon_us
            yield (
                f"  {variant.name:<18}{modelled_us:>12.1f}{variant.silicon_us:>12.1f}{ratio:>7.2f}"
                f"  {latency.bound} ({took_s:.1f} s)"
            )
            if with_terms:
                terms = ", ".join(f"{name} {ns / 1000:.1f}" for name, ns in latency.terms_ns if ns)
                yield f"      {terms}; {latency.occupancy}"
        right, total = ordered_pairs(times)
        correlation = spearman(*zip(*times, strict=True))
        yield f"  Spearman {correlation:.2f}; pairs 1.5x apart in order: {right} of {total}\n"


def main() -> None:
    """Print the table of the families named on the command line, or of all."""
    known = list(dict.fromkeys(variant.family for variant in VARIANTS))
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("family", nargs="*", help=f"of {', '.join(known)} (default: all)")
    parser.add_argument("--terms", action="store_true", help="show every term of the model")
    options = parser.parse_args()
    if unknown := [name for name in options.family if name not in known]:
        parser.error(f"family: expected one of {', '.join(known)}, got {', '.join(unknown)}")
    with open_device("sim") as device:
        for line in table(device, options.family or known, options.terms):
            sys.stdout.write(line + "\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main()
