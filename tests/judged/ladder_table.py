"""The judge judged: every faulty kernel and every right twin through the whole ladder, as a table.

`python tests/judged/ladder_table.py [--seed N] [--device D] [PART ...]` prints which stage catches what.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections import Counter
from dataclasses import dataclass

from corpus import FAULTY, FILES, RIGHT, STARTS, candidate_of

from pytest_cudaopt.declared import Kernel
from pytest_cudaopt.device import Device, open_device
from pytest_cudaopt.evaluation import Budget, Evaluation, Plan, Stage, Status
from pytest_cudaopt.pipeline import evaluate

EXAMPLES = 100
# All but the times: what is modelled says nothing of right or wrong.
STAGES = tuple(stage for stage in Stage if stage is not Stage.MEASURE)


@dataclass(frozen=True)
class Climbed:
    """What the ladder said of a kernel, and which rung refused it; None if it was accepted."""

    name: str
    evaluation: Evaluation
    rung: Stage | None
    seconds: float


def climb(name: str, device: Device, seed: int, examples: int = EXAMPLES) -> Climbed:
    """Judge a kernel of the corpus against its operation's start."""
    kernel, candidate = candidate_of(name)
    started = time.perf_counter()
    evaluation = evaluate(kernel, candidate, plan_of(kernel, seed, examples), device)
    return Climbed(name, evaluation, rung_of(evaluation), time.perf_counter() - started)


def plan_of(kernel: Kernel, seed: int, examples: int = EXAMPLES) -> Plan:
    """Return the plan that candidates of a kernel are judged by."""
    return Plan(
        STAGES,
        kernel.cases,
        budget=Budget(block_instructions=5_000_000, launch_timeout_s=20),
        stop_at_first=True,
        fuzz_examples=examples,
        fuzz_seed=seed,
        witness=kernel.start(),
    )


def rung_of(evaluation: Evaluation) -> Stage | None:
    """Return the stage that refused a kernel."""
    if evaluation.accepted:
        return None
    if evaluation.status is Status.COMPILE_ERROR:
        return Stage.COMPILE
    lost = any(outcome.lost is not None for outcome in evaluation.outcomes)
    if lost:
        return evaluation.tried[-1].stage
    found = evaluation.status is Status.FINDING or Stage.PROBE in dict(evaluation.seconds)
    return Stage.SANITIZE if found else Stage.CHECK


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("parts", nargs="*", metavar="PART", help="of names of kernels; all without one")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--device", default="sim")
    given = parser.parse_args()
    names = [one for one in FILES if not given.parts or any(part in one for part in given.parts)]
    caught: Counter[tuple[str, str]] = Counter()
    wrong: list[str] = []
    seconds: list[float] = []
    spent: Counter[str] = Counter()
    with open_device(given.device) as device:
        for name in names:
            climbed = climb(name, device, given.seed)
            rung = "-" if climbed.rung is None else str(climbed.rung)
            caught["right" if name not in FAULTY else str(FAULTY[name].kind), rung] += 1
            if name not in FAULTY:
                seconds.append(climbed.seconds)
                spent.update(dict(climbed.evaluation.seconds))
            as_it_should = (climbed.rung is None) == (name not in FAULTY)
            wrong += [] if as_it_should else [name]
            mark, reason = " " if as_it_should else "!", climbed.evaluation.reason[:100]
            say(f"{mark} {name:45} {rung:9} {climbed.seconds:5.1f} s  {reason}")
    rungs = [*map(str, STAGES), "-"]
    say(f"\n{'kind':38}" + "".join(f"{rung:>10}" for rung in rungs))
    for kind in sorted({kind for kind, _ in caught}):
        say(f"{kind:38}" + "".join(f"{caught[kind, rung] or '':>10}" for rung in rungs))
    faulty, right = sum(n in FAULTY for n in names), sum(n in {*RIGHT, *STARTS} for n in names)
    missed = sum(one in FAULTY for one in wrong)
    say(f"\n{faulty - missed} of {faulty} faulty kernels caught")
    say(f"{len(wrong) - missed} of {right} right ones refused")
    if seconds:
        by_stage = ", ".join(f"{stage} {100 * of / sum(seconds):.0f} %" for stage, of in spent.most_common())
        say(f"a right one takes {statistics.median(seconds):.1f} s, {max(seconds):.1f} s at most: {by_stage}")


def say(line: str) -> None:
    print(line, flush=True)  # noqa: T201 - a script


if __name__ == "__main__":
    main()
