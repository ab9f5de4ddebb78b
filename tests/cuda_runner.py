"""Runs one CUDA kernel on `sim` with arrays, from the PTX of an older or a newer front end."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from harness_client import LOAD, Json, Served, launch, nvrtc, request

from pytest_cudaopt.toolchain import find_toolchain

Array = np.ndarray[Any, np.dtype[Any]]

# compute_90 comes from an old code generator with typed registers, compute_100 from a new one.
FRONT_ENDS = ("compute_90", "compute_100")


@dataclass(frozen=True)
class Launched:
    """What a launch left behind: the arrays, what it printed, and the fault that ended it, if one did."""

    arrays: Mapping[str, Array]
    printed: str
    counters: Json
    fault: Json | None = None


@cache
def ptx_of(source: str, architecture: str, *options: str) -> str:
    """Compile CUDA C++ with NVRTC; raise AssertionError with its log."""
    library = ctypes.CDLL(nvrtc())
    program, size = ctypes.c_void_p(), ctypes.c_size_t()
    assert not library.nvrtcCreateProgram(ctypes.byref(program), source.encode(), b"k.cu", 0, None, None)
    folders = [f"-I{folder}" for folder in find_toolchain().include]
    texts = [f"-arch={architecture}", "-lineinfo", "-std=c++17", *folders, *options]
    arguments = (ctypes.c_char_p * len(texts))(*(text.encode() for text in texts))
    failed = library.nvrtcCompileProgram(program, len(texts), arguments)
    get = "ProgramLog" if failed else "PTX"
    getattr(library, f"nvrtcGet{get}Size")(program, ctypes.byref(size))
    text = ctypes.create_string_buffer(size.value)
    getattr(library, f"nvrtcGet{get}")(program, text)
    library.nvrtcDestroyProgram(ctypes.byref(program))
    assert not failed, text.value.decode()
    return text.value.decode()


def _argument(name: str, value: Array | np.generic | Json) -> Json:
    if isinstance(value, np.ndarray):
        return {"buffer": name}
    if isinstance(value, dict):
        return value
    kind = {"f": "f", "i": "i", "u": "u", "b": "bool"}[value.dtype.kind]
    dtype = kind if kind == "bool" else f"{kind}{value.dtype.itemsize * 8}"
    return {"scalar": dtype, "value": value.tobytes().hex()}


def run(
    harness: Served,
    folder: Path,
    ptx: str,
    entry: str,
    arguments: Mapping[str, Array | np.generic | Json],
    *,
    block: int,
    grid: int = 1,
    threads: int = 1,
    isa: str = "auto",
    steps: tuple[Json, ...] = (),
) -> Launched:
    """Launch `entry` with the arguments in order and read every array back; `steps` follow the launch."""
    (folder / "k.ptx").write_text(ptx)
    arrays = {name: value for name, value in arguments.items() if isinstance(value, np.ndarray)}
    buffers: list[Json] = []
    for name, array in arrays.items():
        (folder / f"{name}.bin").write_bytes(array.tobytes())
        size = array.dtype.itemsize
        buffers.append(
            {"name": name, "bytes": array.nbytes, "element_bytes": size, "initial_file": f"{name}.bin"}
        )
    started = launch(entry, *(_argument(n, v) for n, v in arguments.items()), grid=grid, block=block)
    reads = [{"do": "read", "buffer": name, "file": f"n0-{name}.bin"} for name in arrays]
    answer = harness.ask(
        request(
            LOAD,
            started,
            *reads,
            *steps,
            directory=str(folder),
            sim={"threads": threads, "isa": isa},
            modules=[{"name": "m", "file": "k.cu", "ptx_file": "k.ptx", "entries": [{"name": entry}]}],
            buffers=buffers,
        )
    )
    if answer["status"] != "ok":
        return Launched({}, "", {}, answer["fault"])
    left = {n: np.fromfile(folder / f"n0-{n}.bin", dtype=a.dtype) for n, a in arrays.items()}
    launched = next(step for step in answer["steps"] if step["do"] == "launch")
    return Launched(left, launched.get("printed", ""), launched["counters"])
