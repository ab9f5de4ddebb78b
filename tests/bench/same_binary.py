"""The binary the harness timed, launched from this process: the two usual ways to time a kernel."""

from __future__ import annotations

import ctypes
from pathlib import Path
from types import TracebackType
from typing import Any

from pytest_cudaopt.compile import Compiled
from pytest_cudaopt.launch import LaunchConfiguration

_ARGUMENT_TYPES = (ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int)
_DEFAULT_STREAM = 0


class SameBinary:
    """A compiled `(const float*, const float*, float*, int)` kernel, loaded into torch's context."""

    def __init__(self, compiled: Compiled, launch: LaunchConfiguration, n: int) -> None:
        # Heavy, and only needed on a GPU.
        import torch
        from cuda.bindings import driver

        self._driver = driver
        self._launch = launch
        torch.cuda.init()
        self._arrays = [torch.rand(n, device="cuda") for _ in range(3)]
        cubin = Path(compiled.module.cubin_file or "").read_bytes()
        self._module = self._call("cuModuleLoadData", cubin)
        (lowered,) = (compiled.module.lowered or {}).values()
        self._function = self._call("cuModuleGetFunction", self._module, lowered.encode())
        self._arguments = (*(array.data_ptr() for array in self._arrays), n)

    def __enter__(self) -> SameBinary:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._call("cuCtxSynchronize")
        self._call("cuModuleUnload", self._module)

    def launch(self) -> None:
        """Queue one launch."""
        self._call(
            "cuLaunchKernel",
            self._function,
            *self._launch.grid,
            *self._launch.block,
            self._launch.shared_bytes,
            _DEFAULT_STREAM,
            (self._arguments, _ARGUMENT_TYPES),
            0,
        )

    def plain_us(self, warmup: int, samples: int) -> list[float]:
        """Time launches the plain way: event, launch, event, synchronise."""
        for _ in range(warmup):
            self.launch()
        self._call("cuCtxSynchronize")
        start, stop = (self._call("cuEventCreate", 0) for _ in range(2))
        times = []
        for _ in range(samples):
            self._call("cuEventRecord", start, _DEFAULT_STREAM)
            self.launch()
            self._call("cuEventRecord", stop, _DEFAULT_STREAM)
            self._call("cuEventSynchronize", stop)
            times.append(float(self._call("cuEventElapsedTime", start, stop)) * 1000)
        for event in (start, stop):
            self._call("cuEventDestroy", event)
        return times

    def do_bench_us(self) -> float:
        """Return the median of `triton.testing.do_bench`, with its own warm-up and samples."""
        from triton.testing import do_bench

        return float(do_bench(self.launch, return_mode="median")) * 1000

    def _call(self, name: str, *arguments: Any) -> Any:
        code, *results = getattr(self._driver, name)(*arguments)
        if int(code) != 0:
            raise SystemExit(f"{name}: {code.name}")
        return results[0] if results else None
