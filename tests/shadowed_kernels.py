"""Runs CUDA kernels on `sim` with the float64 shadow: outputs, shadows and their states as arrays."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
from harness_client import COMPILE, LOAD, Json, Served, module, request

Array = np.ndarray[Any, np.dtype[Any]]

NAMES = {
    "float16": "f16",
    "bfloat16": "bf16",
    "float32": "f32",
    "float64": "f64",
    "int8": "i8",
    "int32": "i32",
    "uint32": "u32",
}
NONE, EXACT, RESEEDED, UNDECIDED = range(4)
bfloat16 = ml_dtypes.bfloat16


@dataclass(frozen=True)
class Shadowed:
    """What a launch left in each float array it could write."""

    arrays: dict[str, Array]
    shadows: dict[str, Array]
    states: dict[str, Array]
    launch: Json

    def gap(self, name: str, expected: Array) -> float:
        """Return the largest distance between shadow and reference, relative to the reference's largest."""
        scale = np.abs(expected).max()
        return float(np.abs(self.shadows[name] - expected).max() / scale)

    def rounding(self, name: str) -> float:
        """Return the largest distance between output and shadow, in units of the shadow's largest value."""
        shadow = self.shadows[name]
        return float(np.abs(self.arrays[name].astype(np.float64) - shadow).max() / np.abs(shadow).max())


def run_shadowed(
    served: Served,
    source: str,
    arguments: dict[str, Any],
    grid: tuple[int, ...] = (1,),
    block: tuple[int, ...] = (32,),
    *,
    entry: str = "k",
    shared_bytes: int = 0,
    options: tuple[str, ...] = (),
    architecture: str = "sm_90",
    include: tuple[str, ...] = (),
    checks: Json | None = None,
    **members: Any,
) -> Shadowed:
    """Launch `entry` on arrays, written if their name starts with `y`, and scalars."""
    with tempfile.TemporaryDirectory() as folder:
        return _run(
            served,
            Path(folder),
            module(source, entry, options=list(options), architecture=architecture, include=list(include)),
            arguments,
            {
                "do": "launch",
                "module": "m",
                "entry": entry,
                "grid": [*grid, 1, 1][:3],
                "block": [*block, 1, 1][:3],
                "shared_bytes": shared_bytes,
                "checks": {"rounding": True} if checks is None else checks,
            },
            members,
        )


def _run(
    served: Served, folder: Path, compiled: Json, arguments: dict[str, Any], launched: Json, members: Json
) -> Shadowed:
    arrays = {name: value for name, value in arguments.items() if isinstance(value, np.ndarray)}
    written = [name for name in arrays if name.startswith("y")]
    buffers = []
    for name, array in arrays.items():
        (folder / f"{name}.in").write_bytes(array.tobytes())
        buffers.append(
            {
                "name": name,
                "bytes": array.nbytes,
                "access": "read_write" if name in written else "read",
                "element_bytes": array.itemsize,
                "initial_file": f"{name}.in",
            }
        )
    launched["arguments"] = [
        {"buffer": name} if name in arrays else _scalar(value) for name, value in arguments.items()
    ]
    steps = [COMPILE, LOAD, launched]
    floats = [name for name in written if NAMES[arrays[name].dtype.name].strip("b").startswith("f")]
    steps += [{"do": "read", "buffer": name, "file": f"{name}-n0.out"} for name in written]
    for name in floats:
        files = {"values_file": f"{name}-n0.f64", "states_file": f"{name}-n0.states"}
        steps.append({"do": "read_shadow", "buffer": name, "dtype": NAMES[arrays[name].dtype.name]} | files)
    asked = request(*steps, modules=[compiled], buffers=buffers, directory=str(folder), **members)
    answer = served.ask(asked)
    assert answer["status"] == "ok", answer
    shapes = {name: arrays[name].shape for name in written}
    return Shadowed(
        {n: np.fromfile(folder / f"{n}-n0.out", arrays[n].dtype).reshape(shapes[n]) for n in written},
        {n: np.fromfile(folder / f"{n}-n0.f64", np.float64).reshape(shapes[n]) for n in floats},
        {n: np.fromfile(folder / f"{n}-n0.states", np.uint8).reshape(shapes[n]) for n in floats},
        next(step for step in answer["steps"] if step["do"] == "launch"),
    )


def _scalar(value: Any) -> Json:
    scalar = np.asarray(value)
    if scalar.dtype == np.int64:
        scalar = scalar.astype(np.int32)
    if scalar.dtype == np.float64:
        scalar = scalar.astype(np.float32)
    return {"scalar": NAMES[scalar.dtype.name], "value": scalar.tobytes().hex()}
