"""The examples: right at every setting of their tunables, not only at the one they start with."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path

import pytest

from pytest_cudaopt.candidate import Candidate
from pytest_cudaopt.declared import Kernel
from pytest_cudaopt.device import Device, open_device
from pytest_cudaopt.evaluation import Plan, Stage
from pytest_cudaopt.load import load_kernel
from pytest_cudaopt.pipeline import evaluate

EXAMPLES = Path(__file__).parent.parent / "example_kernels"
NAMES = ("saxpy", "sgemm", "softmax", "sum")


@pytest.fixture(scope="module")
def device() -> Iterator[Device]:
    with open_device("sim") as opened:
        yield opened


def example(name: str) -> Kernel:
    return load_kernel(f"{EXAMPLES / f'test_{name}.py'}::{name}")


def settings(kernel: Kernel) -> list[Candidate]:
    """Return the kernel at every allowed combination of its tunables."""
    found = kernel.read_directives()
    names = [tunable.name for tunable in found.tunables]
    combinations = itertools.product(*(tunable.values for tunable in found.tunables))
    chosen = [dict(zip(names, values, strict=True)) for values in combinations]
    return [kernel.start().with_tunables(one) for one in chosen if found.allows(one)]


ALL_SETTINGS = [
    pytest.param(name, candidate, id=f"{name}-{'-'.join(f'{k}{v}' for k, v in candidate.tunables)}")
    for name in NAMES
    for candidate in settings(example(name))
]


def test_there_is_a_test_for_every_example_source() -> None:
    assert sorted(path.stem for path in EXAMPLES.glob("*.cu")) == sorted(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_an_example_has_friendly_awkward_and_measured_cases(name: str) -> None:
    kernel = example(name)
    sizes = [case.by_name.values() for case in kernel.cases]
    assert any(all(size % 32 == 0 for size in case) for case in sizes)
    assert any(set(case) == {1} for case in sizes)
    assert any(any(size % 2 for size in case) and max(case) > 1 for case in sizes)
    assert kernel.measured_cases
    assert kernel.doc


@pytest.mark.parametrize("name", NAMES)
def test_an_example_begins_with_what_it_tries(name: str) -> None:
    first = example(name).read_source().splitlines()[0]
    assert first.startswith("// ")
    assert "@" not in first


@pytest.mark.parametrize(("name", "candidate"), ALL_SETTINGS)
def test_an_example_is_right_at_every_setting(name: str, candidate: Candidate, device: Device) -> None:
    kernel = example(name)
    unmeasured = tuple(case for case in kernel.cases if not case.measure)
    judged = evaluate(kernel, candidate, Plan((Stage.COMPILE, Stage.CHECK), unmeasured), device)
    assert judged.accepted, judged.reason


def test_an_example_with_a_bug_is_found_out(device: Device) -> None:
    kernel = example("softmax")
    start = kernel.start()
    broken = Candidate(
        start.file, start.source.replace("col < cols", "col <= cols"), start.launch, start.tunables
    )
    judged = evaluate(kernel, broken, Plan((Stage.COMPILE, Stage.CHECK), kernel.cases[:1]), device)
    assert not judged.accepted
