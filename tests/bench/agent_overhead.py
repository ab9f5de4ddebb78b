"""What a run of the agent takes beside model, compiler and kernel: seconds, memory, disk, length of prompts.

`python tests/bench/agent_overhead.py [ATTEMPTS]` replays made-up proposals (1000 by default) with a judge
that answers at once, then optimises the softmax of the examples on sim. Exits with 1 if a bound is missed.
"""

from __future__ import annotations

import json
import os
import resource
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE.parent), str(HERE.parents[1])]

from made_up_runs import SOURCE, MadeUpDevice, declare_twice  # noqa: E402
from scripted_server import proposal  # noqa: E402

from pytest_cudaopt import pipeline  # noqa: E402
from pytest_cudaopt.cases import Case  # noqa: E402
from pytest_cudaopt.device import open_device  # noqa: E402
from pytest_cudaopt.evaluation import (  # noqa: E402
    CaseOutcome,
    CaseStatus,
    Comparison,
    Evaluation,
    Latency,
    LatencyKind,
    Resources,
    Sampling,
    SamplingMode,
    Status,
)
from pytest_cudaopt.launch import LaunchConfiguration  # noqa: E402
from pytest_cudaopt.load import load_kernel  # noqa: E402
from pytest_cudaopt.optimize import closing, going_on  # noqa: E402
from pytest_cudaopt.optimize.graph import OptimizeOptions, optimize  # noqa: E402
from pytest_cudaopt.optimize.record import RunFolder  # noqa: E402
from pytest_cudaopt.optimize.replay_model import ReplayModel  # noqa: E402

MOST_MS, MOST_OPEN_S, MOST_KB, MOST_GROWTH_MB, MOST_PROMPT_GROWTH = 30.0, 1.0, 100.0, 8.0, 1.1
BODY = "".join(SOURCE.splitlines(keepends=True)[2:]).replace("BLOCK", "256")
# As long as a kernel that somebody has worked on.
PADDING = "".join(f"// {'what this line is for ' * 3}{line}\n" for line in range(60))


def form(number: int) -> dict[str, Any]:
    filled = proposal(f"{PADDING}// version {number}\n{BODY}")
    return {**filled, "hypothesis": f"Version {number} waits less for memory than the one before it."}


class InstantJudge:
    """Says at once what a judge on a GPU says: six cases, two measured, in both modes."""

    def __init__(self) -> None:
        self.attempts = 0

    def __call__(self, kernel: Any, candidate: Any, plan: Any, device: Any) -> Evaluation:
        number, self.attempts = self.attempts, self.attempts + 1
        # Something better now and then, and something wrong.
        ns = 5000.0 * (1 - 1e-4 * number) if number % 9 == 0 else 6000.0 + number % 7
        outcomes = tuple(
            _outcome(case, name, ns) for name, case in zip(kernel.case_ids, kernel.cases, strict=True)
        )
        resources = {"twice": Resources(32, 0, 0, 1024, 0, 400)}
        status = Status.WRONG_RESULT if number % 5 == 4 else Status.ACCEPTED
        return Evaluation(
            kernel.name,
            candidate.digest,
            device.description,
            status,
            reason="" if status is Status.ACCEPTED else "y[3] is wrong",
            resources=resources,
            outcomes=outcomes,
            seconds=(("compile", 0.1), ("check", 0.2), ("measure", 0.3)),
        )


def _outcome(case: Case, name: str, ns: float) -> CaseOutcome:
    comparison = Comparison("y", 1000, 0, 1e-5, 1e-7)
    samples = tuple(ns + 0.25 * number for number in range(100))
    latency = Latency(
        LatencyKind.MODELLED,
        ns,
        SamplingMode.BATCH,
        cold=Sampling(2 * ns, samples),
        batch=Sampling(ns, samples, launches=20, copies=4),
        bound="latency",
        terms_ns=tuple((f"term{number}", ns / 8) for number in range(8)),
        counters={"max_block_instructions": 1000, **{f"counter_{number}": number for number in range(40)}},
    )
    launch = LaunchConfiguration((40, 1, 1), (256, 1, 1))
    timed = latency if case.measure else None
    return CaseOutcome(case, name, CaseStatus.PASSED, launch, (comparison,), latency=timed)


@dataclass
class Watched:
    """What was seen of a run while it went on: memory and clock after every attempt."""

    rss_mb: dict[int, float]
    at_s: dict[int, float]
    busy_s: dict[int, float]

    def __call__(self, attempt: Any) -> None:
        self.rss_mb[attempt.number] = resident_mb()
        self.at_s[attempt.number] = time.perf_counter()
        self.busy_s[attempt.number] = time.process_time()


def resident_mb() -> float:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() / 1e6


def kilobytes(folder: Path, *, but: Callable[[Path], bool] = lambda path: False) -> float:
    return sum(p.stat().st_size for p in folder.rglob("*") if p.is_file() and not but(p)) / 1e3


def prompt_characters(folder: Path, attempt: int) -> int:
    request = json.loads((folder / f"model/attempt-{attempt:02d}/01-request.json").read_text())
    return sum(len(item.get("text", "")) for item in request["items"])


def many_attempts(attempts: int, here: Path) -> Iterator[tuple[str, float, str, bool]]:
    """Yield a line for each bound: what, how much, of what, whether it is kept."""
    recording = here / "kept.jsonl"
    recording.write_text("".join(f"{json.dumps(form(number))}\n" for number in range(attempts)))
    kernel, device, watched = declare_twice(here), MadeUpDevice(), Watched({}, {}, {})
    options = OptimizeOptions(max_iterations=attempts)
    with without_closing() as closed:
        summary = optimize(
            kernel,
            device,
            options,
            here / "results",
            watched,
            model=ReplayModel.open(recording),
            judge=InstantJudge(),
            write_replay=lambda *launch: None,
        )
    early = min(100, attempts // 2)
    for first, last in ((1, early), (early, attempts)):
        ms = 1e3 * (watched.at_s[last] - watched.at_s[first]) / (last - first)
        busy_ms = 1e3 * (watched.busy_s[last] - watched.busy_s[first]) / (last - first)
        yield f"overhead of attempts {first} to {last}", ms, "ms each", ms <= MOST_MS
        yield "  of which this process was busy", busy_ms, "ms each", busy_ms <= MOST_MS
    growth_mb = watched.rss_mb[attempts] - watched.rss_mb[early]
    yield f"memory from attempt {early} to {attempts}", growth_mb, "MB more", growth_mb <= MOST_GROWTH_MB
    prompt = [prompt_characters(summary.folder, number) for number in (early, attempts)]
    longer = prompt[1] / prompt[0]
    yield (
        f"prompt of attempt {attempts}",
        prompt[1] / 1e3,
        "thousand characters",
        longer <= MOST_PROMPT_GROWTH,
    )
    own = [kilobytes(summary.folder / name) for name in (f"attempt-{attempts}", f"model/attempt-{attempts}")]
    yield "disk per attempt", sum(own), "kB", sum(own) <= MOST_KB
    start_s = time.perf_counter()
    earlier = going_on.read(RunFolder(summary.folder), kernel, kernel.start(), device, options)
    took_s = time.perf_counter() - start_s
    assert len(earlier.attempts) == attempts + 1
    yield "history opened", took_s, "s", took_s <= MOST_OPEN_S
    yield "written at the end", closed[0], "s", True


@contextmanager
def without_closing() -> Iterator[list[float]]:
    """Time what is written once, at the end of a run."""
    took_s: list[float] = []
    write = closing.write

    def timed(*given: Any) -> None:
        start_s = time.perf_counter()
        write(*given)
        took_s.append(time.perf_counter() - start_s)

    closing.write = timed
    try:
        yield took_s
    finally:
        closing.write = write


def real_attempts(here: Path) -> Iterator[tuple[str, float, str, bool]]:
    """Optimise softmax, and yield what was not the judge's."""
    kernel = load_kernel(f"{HERE.parents[1] / 'example_kernels' / 'test_softmax.py'}::softmax")
    judged_s: list[float] = []

    def judge(*given: Any) -> Evaluation:
        start_s = time.perf_counter()
        evaluation = pipeline.evaluate(*given)
        judged_s.append(time.perf_counter() - start_s)
        return evaluation

    watched = Watched({}, {}, {})
    with open_device("sim") as device:
        summary = optimize(kernel, device, OptimizeOptions(), here / "results", watched, judge=judge)
    last = len(summary.attempts) - 1
    outside_s = watched.at_s[last] - watched.at_s[0] - sum(judged_s[1:])
    # What is more here writes the requests to replay, with their inputs.
    yield "softmax on sim: beside the judge", 1e3 * outside_s / last, "ms each", True
    own = kilobytes(summary.folder / f"attempt-{last:02d}", but=lambda path: path.suffix == ".bin")
    yield "softmax on sim: disk per attempt", own, "kB", own <= MOST_KB


def main() -> int:
    attempts = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    # Others on this machine take their share of every wall-clock figure.
    print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")  # noqa: T201
    missed = 0
    with tempfile.TemporaryDirectory() as here:
        for lines in (many_attempts(attempts, Path(here)), real_attempts(Path(here) / "real")):
            for what, amount, unit, is_kept in lines:
                print(f"{'ok  ' if is_kept else 'MISS'} {what:<40} {amount:10.2f} {unit}")  # noqa: T201
                missed += not is_kept
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
