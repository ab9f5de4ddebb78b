"""How long a call in the sandbox takes beside the function: opening, and every call after that.

`python tests/bench/sandbox_start.py [CALLS]` makes 200 calls by default at every level of this machine, and
beside them starts an interpreter that imports NumPy: what a new process for every call would cost.
Exits with 1 if the median call of a level takes more than 30 ms.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from collections.abc import Callable

import numpy as np

from pytest_cudaopt.errors import EnvironmentFault
from pytest_cudaopt.sandbox.call import Call, Seed, Wanted
from pytest_cudaopt.sandbox.levels import open_sandbox
from pytest_cudaopt.sandbox.outcome import Level, Ok

MOST_MS = 30.0
SOURCE = """
import numpy as np

def values(x, rng):
    return x + rng.normal(size=x.shape)
"""
CALL = Call(
    SOURCE, "values", {"x": np.zeros((64, 64)), "rng": Seed(1)}, {"y": Wanted("f64", (64, 64), finite=True)}
)


def milliseconds(what: Callable[[], object]) -> float:
    start = time.perf_counter()
    what()
    return 1e3 * (time.perf_counter() - start)


def main(calls: int) -> int:
    plain = statistics.median(milliseconds(start_python) for _ in range(5))
    print(f"{'a process with NumPy':22s} {plain:8.1f} ms")  # noqa: T201 - a script
    missed = [level for level in Level if not is_fast(level, calls)]
    return 1 if missed else 0


def start_python() -> None:
    subprocess.run([sys.executable, "-c", "import numpy.random"], check=True)


def is_fast(level: Level, calls: int) -> bool:
    """Print what calls at the level take; a level that this machine lacks has nothing to be slow at."""
    start = time.perf_counter()
    try:
        sandbox = open_sandbox(level)
    except EnvironmentFault as fault:
        print(f"{level:22s} not here: {fault.got}")  # noqa: T201 - a script
        return True
    with sandbox:
        opened_ms = 1e3 * (time.perf_counter() - start)
        times = []
        for _ in range(calls):
            start = time.perf_counter()
            outcome = sandbox.run(CALL).outcome
            times.append(1e3 * (time.perf_counter() - start))
            if not isinstance(outcome, Ok):
                sys.exit(f"bench: the function {outcome}")
    median, late = statistics.median(times), statistics.quantiles(times, n=20)[-1]
    is_within = median <= MOST_MS
    verdict = "" if is_within else f"  BROKEN: at most {MOST_MS:g} ms"
    line = f"{level:22s} {opened_ms:8.1f} ms to open; a call {median:.1f} ms, 95 % within {late:.1f} ms"
    print(f"{line}, least {min(times):.1f} ms{verdict}")  # noqa: T201 - a script
    return is_within


if __name__ == "__main__":
    raise SystemExit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 200))
