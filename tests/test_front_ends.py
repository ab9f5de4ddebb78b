"""Both front ends of NVRTC: the old one (compute_90) and the new one, which types no register.

Whatever they make of an intrinsic can be executed, and gives the same bits.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from harness_client import LOAD, Json, Served, launch, nvrtc, request
from intrinsic_kernels import WORDS, Kernel, kernels
from nvrtc_ptx import ptx_for
from ptx_runner import Array

from pytest_cudaopt.toolchain import find_toolchain

ARCHITECTURES = ("compute_90", "compute_100")
SOURCE, KERNELS = kernels()
THREADS = 64


@pytest.fixture(scope="module")
def harness() -> Iterator[Served]:
    with Served("--nvrtc", "none") as served:
        yield served


@functools.cache
def compiled(architecture: str) -> str:
    includes = [f"-I{folder}" for folder in find_toolchain().include]
    return ptx_for(nvrtc(), SOURCE, [f"-arch={architecture}", "-std=c++17", *includes])


@pytest.fixture(scope="module")
def by_the_old(harness: Served, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Array]:
    """What the kernels give as the old front end translates them."""
    return results(harness, tmp_path_factory.mktemp("old"), compiled(ARCHITECTURES[0]))


def module(folder: Path, text: str) -> Json:
    (folder / "k.ptx").write_text(text)
    entries = [{"name": name} for name in re.findall(r"\.entry\s+(\w+)", text)]
    return {"name": "m", "file": "k.cu", "ptx_file": "k.ptx", "entries": entries}


def operands(kernel: Kernel) -> list[Array]:
    """Return random words, half of them floats of moderate size."""
    rng = np.random.default_rng(len(kernel.name))
    arrays = []
    for _ in range(1, kernel.arrays):
        words = rng.integers(0, 1 << 32, WORDS, dtype=np.uint32)
        words[: WORDS // 2] = rng.normal(scale=3.0, size=WORDS // 2).astype(np.float32).view(np.uint32)
        arrays.append(rng.permutation(words))
    return arrays


def results(harness: Served, folder: Path, text: str) -> dict[str, Array]:
    """Run every kernel once, in one request."""
    steps: list[Json] = [LOAD]
    buffers: list[Json] = []
    for kernel in KERNELS:
        names = [f"{kernel.name}_{i}" for i in range(kernel.arrays)]
        for name, array in zip(names[1:], operands(kernel), strict=True):
            (folder / f"{name}.bin").write_bytes(array.tobytes())
            buffers.append(
                {"name": name, "bytes": 4 * WORDS, "access": "read", "initial_file": f"{name}.bin"}
            )
        buffers.append({"name": names[0], "bytes": 4 * WORDS, "access": "read_write"})
        steps.append(launch(kernel.name, *({"buffer": name} for name in names), block=THREADS))
        steps.append({"do": "read", "buffer": names[0], "file": f"n0-{names[0]}.bin"})
    answer = harness.ask(
        request(
            *steps, directory=str(folder), sim={"threads": 1}, modules=[module(folder, text)], buffers=buffers
        )
    )
    assert answer["status"] == "ok", answer["fault"]["message"]
    read = {kernel.name: folder / f"n0-{kernel.name}_0.bin" for kernel in KERNELS}
    return {name: np.fromfile(path, dtype=np.uint32) for name, path in read.items()}


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_every_instruction_of_the_intrinsics_can_be_executed(
    architecture: str, harness: Served, tmp_path: Path
) -> None:
    modules = [module(tmp_path, compiled(architecture))]
    answer = harness.ask(request(LOAD, directory=str(tmp_path), modules=modules))
    assert answer["status"] == "ok", answer["fault"]["message"]
    assert answer["steps"][0]["notes"] == []


def differing(a: dict[str, Array], b: dict[str, Array]) -> list[str]:
    return [name for name in a if not np.array_equal(a[name], b[name])]


def test_the_front_ends_agree_on_every_intrinsic(
    by_the_old: dict[str, Array], harness: Served, tmp_path: Path
) -> None:
    by_the_new = results(harness, tmp_path, compiled(ARCHITECTURES[1]))
    assert differing(by_the_old, by_the_new) == []


def test_a_kernel_that_computes_something_else_is_noticed(
    by_the_old: dict[str, Array], harness: Served, tmp_path: Path
) -> None:
    wrong = re.sub(r"\bsub\.f32\b", "add.f32", compiled(ARCHITECTURES[0]))
    assert differing(by_the_old, results(harness, tmp_path, wrong)) != []
