"""Runs one PTX or CUDA kernel on NumPy arrays, with nothing between the test and the harness."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from harness_client import COMPILE, LOAD, Json, Served, launch, request

from pytest_cudaopt.toolchain import find_toolchain

Array = np.ndarray[Any, np.dtype[Any]]


def _module(text: str, entry: str) -> Json:
    named: Json = {"name": "m", "entries": [{"name": entry}]}
    if text.lstrip().startswith(".version"):
        return named | {"file": "k.ptx", "ptx_file": "k.ptx"}
    return named | {"file": "k.cu", "source": text}


def answer_of(
    harness: Served,
    folder: Path,
    text: str,
    entry: str,
    arrays: Mapping[str, Array],
    scalars: Sequence[int] = (),
    outputs: Sequence[str] = (),
    grid: int = 1,
    block: int = 32,
    shared_bytes: int = 0,
    isa: str = "x86-64-v3",
    checks: Json | None = None,
    measured: bool = False,
) -> Json:
    """Launch `entry` of PTX or CUDA `text` on `arrays`, then `scalars` (i32); return the harness's answer."""
    (folder / "k.ptx").write_text(text)
    buffers: list[Json] = []
    for name, array in arrays.items():
        (folder / f"{name}.bin").write_bytes(array.tobytes())
        access = "read_write" if name in outputs else "read"
        buffers.append(
            {
                "name": name,
                "bytes": array.nbytes,
                "access": access,
                "element_bytes": array.itemsize,
                "initial_file": f"{name}.bin",
            }
        )
    arguments: list[Json] = [{"buffer": name} for name in arrays]
    arguments += [{"scalar": "i32", "value": np.int32(value).tobytes().hex()} for value in scalars]
    step = launch(entry, *arguments, grid=grid, block=block) | {"shared_bytes": shared_bytes}
    if checks is not None:
        step["checks"] = checks
    if measured:
        step["do"] = "measure"
    module = _module(text, entry)
    compiled = [COMPILE] if "source" in module else []
    if compiled:
        module |= {"options": ["-std=c++17"], "include": list(find_toolchain().include)}
    return harness.ask(
        request(
            *compiled,
            LOAD,
            step,
            *({"do": "read", "buffer": name, "file": f"n0-{name}.bin"} for name in outputs),
            directory=str(folder),
            sim={"threads": 1, "isa": isa},
            modules=[module],
            buffers=buffers,
        )
    )


def run_kernel(
    harness: Served, folder: Path, text: str, entry: str, arrays: Mapping[str, Array], **launched: Any
) -> dict[str, Array]:
    """Return what the launch left in its `outputs`; raise AssertionError with the fault's text."""
    answer = answer_of(harness, folder, text, entry, arrays, **launched)
    assert answer["status"] == "ok", answer.get("fault", answer)
    return {
        name: np.fromfile(folder / f"n0-{name}.bin", dtype=arrays[name].dtype).reshape(arrays[name].shape)
        for name in launched.get("outputs", ())
    }
