"""How many more attempts a minute a beam makes than greedy, where a model takes its time.

`python tests/bench/beam_rate.py [SECONDS]` has a server on the loopback answer every request after so many
seconds (2 by default), and optimises a kernel on sim, greedily and with beams. Exits with 1 if a beam makes
less than 1.6 times the attempts a minute.
"""

from __future__ import annotations

import itertools
import json
import sys
import tempfile
import threading
import time
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE.parent), str(HERE.parents[1])]

from made_up_runs import SOURCE, declare_twice  # noqa: E402
from scripted_server import Answer, Json, message, proposal, response, serving  # noqa: E402

from pytest_cudaopt.device import Device, open_device  # noqa: E402
from pytest_cudaopt.optimize.graph import OptimizeOptions, optimize  # noqa: E402
from pytest_cudaopt.optimize.model_server import Access  # noqa: E402
from pytest_cudaopt.optimize.responses_model import ResponsesModel  # noqa: E402
from pytest_cudaopt.optimize.search import Search  # noqa: E402

LEAST_RATIO = 1.6
ATTEMPTS = 8
BODY = "".join(SOURCE.splitlines(keepends=True)[2:])


class SlowModel:
    """Answers after `takes_s` with another source each time, and counts how many wait at once."""

    def __init__(self, takes_s: float) -> None:
        self.takes_s = takes_s
        self.most_at_once = 0
        self._at_once = 0
        self._lock = threading.Lock()
        # Never the same source twice, in no run of this process: a compiled one would come from the cache.
        self._number = itertools.count()

    def __call__(self, request: Json) -> Answer:
        with self._lock:
            number = next(self._number)
            self._at_once += 1
            self.most_at_once = max(self.most_at_once, self._at_once)
        time.sleep(self.takes_s)
        with self._lock:
            self._at_once -= 1
        block = 32 * (1 + number % 16)
        body = f"// {time.time_ns()} {number}\n{BODY.replace('BLOCK', str(block))}"
        form = proposal(body, f"grid=(cdiv(n, {block})) block=({block})")
        return response(message(json.dumps(form)))


def attempts_a_minute(search: Search, model: SlowModel, device: Device) -> float:
    """Return the rate of one run, of what comes after its start."""
    at_s: list[float] = []
    with tempfile.TemporaryDirectory() as name, serving(*[model] * ATTEMPTS) as server:
        here = Path(name)
        optimize(
            declare_twice(here),
            device,
            OptimizeOptions(max_iterations=ATTEMPTS, search=search),
            here / "results",
            lambda attempt: at_s.append(time.perf_counter()),
            model=ResponsesModel(Access("any-name", "no-key", server.url)),
        )
    return 60 * ATTEMPTS / (at_s[-1] - at_s[0])


def main() -> int:
    takes_s = float(sys.argv[1]) if len(sys.argv) > 1 else 2.0
    missed = 0
    with open_device("sim") as device:
        greedy = attempts_a_minute(Search(), SlowModel(takes_s), device)
        print(f"greedy    {greedy:6.1f} attempts a minute")  # noqa: T201
        for search in (Search(2, 2), Search(1, 4)):
            model = SlowModel(takes_s)
            rate = attempts_a_minute(search, model, device)
            ratio = rate / greedy
            missed += ratio < LEAST_RATIO
            name = f"beam:{search.width}x{search.proposals}"
            said = f"{rate:6.1f} attempts a minute, {ratio:.2f}x, {model.most_at_once} requests at once"
            print(f"{name}  {said}")  # noqa: T201
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
