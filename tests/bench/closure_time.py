"""What closing a source over its headers costs per candidate once nothing has changed.

Prints milliseconds for made-up trees of headers; exits with 1 above 20 ms for the largest.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from pathlib import Path

from pytest_cudaopt.closure import Place, close
from pytest_cudaopt.rewritten import rewrite

LIMIT_MS = 20.0
HEADERS = (1, 20, 200)
REPEATS = 20
# As long as a header usually is.
BODY = "__device__ inline float f{number}_{line}(float x) {{ return x * {line}.0f; }} // a line of code\n"


def write_tree(folder: Path, headers: int) -> str:
    """Write headers that each include the next five; return a source that includes all."""
    for number in range(headers):
        nexts = range(number + 1, min(number + 6, headers))
        includes = "".join(f'#include "h{one}.cuh"\n' for one in nexts)
        body = "".join(BODY.format(number=number, line=line) for line in range(100))
        (folder / f"h{number}.cuh").write_text(f"#pragma once\n#include <cstdint>\n{includes}{body}")
    return "".join(f'#include "h{number}.cuh"\n' for number in range(headers))


def median_ms(source: str, folder: Path) -> float:
    """Return the median over sources that differ, as candidates do."""
    samples = []
    for repeat in range(REPEATS):
        candidate = f"{source}// {repeat}\n" + "int code;\n" * 300
        start = time.perf_counter()
        rewrite(close(candidate, Place(folder)), lambda name: False)
        samples.append(1e3 * (time.perf_counter() - start))
    return statistics.median(samples)


def main() -> int:
    largest = 0.0
    for headers in HEADERS:
        with tempfile.TemporaryDirectory() as name:
            source = write_tree(Path(name), headers)
            first = time.perf_counter()
            close(source, Place(Path(name)))
            first_ms = 1e3 * (time.perf_counter() - first)
            largest = median_ms(source, Path(name))
        sys.stdout.write(f"{headers:>4} headers: first {first_ms:7.1f} ms, then {largest:5.2f} ms\n")
    return int(largest > LIMIT_MS)


if __name__ == "__main__":
    sys.exit(main())
