"""How long `cudaopt adopt --list` takes for a file as large as production ones are.

Run `python tests/bench/adopt_time.py [--lines 2000] [--entries 12]` with the package installed. The file is
made up: templates, namespaces, device functions, host code with launches. It prints seconds, and exits with 1
if they are more than 5.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

MOST_S = 5.0
CUDAOPT = (sys.executable, "-c", "from pytest_cudaopt.cli import main; raise SystemExit(main())")
HEAD = """\
#include <cuda_fp16.h>
#include <vector>
#define BLOCK 256
namespace library {
"""
DEVICE_FUNCTION = """\
__device__ __forceinline__ float step_{number}(float x, int i) {{
    // One of many, as in generated code.
    float y = x * {number}.5f + static_cast<float>(i);
    y = fmaf(y, 0.25f, sqrtf(fabsf(y)));
    return y > 1.0f ? y - 1.0f : y;
}}

"""
KERNEL = """\
template <typename T, int UNROLL>
__global__ void __launch_bounds__(BLOCK) kernel_{number}(
    const T* __restrict__ x, T* __restrict__ y, int rows, int cols) {{
    const int row = blockIdx.x;
    for (int col = threadIdx.x; col < cols; col += BLOCK) {{
        float value = static_cast<float>(x[row * cols + col]);
        #pragma unroll
        for (int i = 0; i < UNROLL; ++i) value = step_{first}(step_{second}(value, i), i);
        y[row * cols + col] = static_cast<T>(value);
    }}
}}

"""
HOST = """\
void launch_{number}(const __half* x, __half* y, int rows, int cols) {{
    std::vector<int> unused;
    kernel_{number}<__half, 4><<<rows, BLOCK>>>(x, y, rows, cols);
}}

"""


def library(lines: int, entries: int) -> str:
    """Return a CUDA source of about so many lines with so many kernels."""
    kernels = "".join(
        KERNEL.format(number=number, first=number, second=number + 1) + HOST.format(number=number)
        for number in range(entries)
    )
    each = DEVICE_FUNCTION.count("\n")
    count = max(entries + 1, (lines - kernels.count("\n")) // each)
    functions = "".join(DEVICE_FUNCTION.format(number=number) for number in range(count))
    return f"{HEAD}{functions}{kernels}}}  // namespace library\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lines", type=int, default=2000)
    parser.add_argument("--entries", type=int, default=12)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "library.cu"
        file.write_text(library(given.lines, given.entries))
        start = time.perf_counter()
        done = subprocess.run(
            [*CUDAOPT, "adopt", str(file), "--json"], capture_output=True, text=True, check=True
        )
        seconds = time.perf_counter() - start
    kernels = json.loads(done.stdout)["kernels"]
    states = sorted({kernel["status"] for kernel in kernels})
    states_text = ", ".join(states)
    sys.stdout.write(f"{given.lines} lines, {len(kernels)} kernels ({states_text}): {seconds:.2f} s\n")
    return int(seconds > MOST_S)


if __name__ == "__main__":
    raise SystemExit(main())
