"""Launching again and again: kernels that are right once, and lean on what a launch before them left."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pytest_cudaopt import Constant, In, InOut, Out, Struct, case, f32, i32, kernel, normal
from pytest_cudaopt.checked import Checked, check_case
from pytest_cudaopt.compile import Compiled, compile_candidate
from pytest_cudaopt.declared import Kernel
from pytest_cudaopt.device import Device
from pytest_cudaopt.evaluation import Budget
from pytest_cudaopt.finding import FindingKind
from pytest_cudaopt.launch import LaunchConfiguration
from pytest_cudaopt.probe import relaunch, repeat, times_on
from pytest_cudaopt.probed import Probed

SCALE = """// @launch grid=(1) block=(64)
__device__ int launches;
__device__ float kept[64];
__device__ const void* place;
extern "C" __global__ void scale(const float* x, float* y, int n) {
    int i = threadIdx.x;
    if (i < n) {
        y[i] = 2.0f * x[i];
    }
}
"""
STORE = "y[i] = 2.0f * x[i];"
COUNTED = "        __syncthreads();\n        if (i == 0) launches++;\n"
TIMES = 12
Probe = Callable[..., Probed]


def scaling(folder: Path, store: str) -> Kernel:
    assert STORE in SCALE
    (folder / "scale.cu").write_text(SCALE.replace(STORE, store))

    @kernel(str(folder / "scale.cu"), cases=[case(n=50)])
    def scale(x=In(f32, "n"), y=Out(f32, "n"), n=i32):
        y[...] = 2 * x

    return scale


def right_once(made: Kernel, device: Device) -> Checked:
    """Check the kernel's case, at which it is right: probes ask for no more than that."""
    compiled = compile_candidate(made, made.start(), device, Budget())
    assert isinstance(compiled, Compiled), compiled
    checked = check_case(made, made.start(), compiled, made.cases[0], device, Budget())
    assert checked.passed, checked.outcome
    return checked


def probed(made: Kernel, device: Device, times: int = TIMES) -> Probed:
    checked = right_once(made, device)
    assert checked.launch is not None
    return relaunch(checked.prepared, checked.compiled, checked.launch, device, Budget(), times)


@pytest.fixture
def probe(tmp_path: Path, sim: Device) -> Probe:
    def run(store: str = STORE, times: int = TIMES) -> Probed:
        return probed(scaling(tmp_path, store), sim, times)

    return run


def test_a_kernel_that_keeps_nothing_is_right_in_every_launch(probe: Probe) -> None:
    found = probe()

    # Then one each on other contents, on partly other ones, at other addresses, and as at first.
    assert (found.holds, found.launches) == (True, TIMES + 4)


@pytest.mark.parametrize("right", [1, 5, TIMES - 1])
def test_a_kernel_that_is_right_a_number_of_times_is_caught(probe: Probe, right: int) -> None:
    found = probe(f"y[i] = launches < {right} ? 2.0f * x[i] : 0.0f;\n{COUNTED}")

    assert found.note == f"right when launched once, wrong at launch {TIMES} of one module"
    assert [(one.output, one.mismatched) for one in found.comparisons] == [("y", 50)]


def test_a_kernel_that_is_right_more_often_than_it_is_launched_is_not(probe: Probe) -> None:
    counter = f"y[i] = launches < {TIMES + 4} ? 2.0f * x[i] : 0.0f;\n{COUNTED}"

    assert probe(counter).holds
    assert not probe(counter, times=TIMES + 1).holds


def test_answers_kept_from_the_first_contents_are_wrong_on_others(probe: Probe) -> None:
    found = probe(f"if (launches == 0) kept[i] = 2.0f * x[i];\n        y[i] = kept[i];\n{COUNTED}")

    assert found.note == "right when launched once, wrong at a launch on other contents at the same addresses"


def test_answers_kept_for_an_address_are_wrong_for_another_or_for_other_contents(probe: Probe) -> None:
    # It looks at the first element, and so sees other contents where they are at the same address.
    found = probe(
        "if (launches == 0) { kept[i] = x[i]; if (i == 0) place = x; }\n"
        "        y[i] = launches == 0 || x == place ? 2.0f * x[i] : 0.0f;\n" + COUNTED
    )

    assert found.note == "right when launched once, wrong at a launch on the same contents at other addresses"


def test_what_went_through_other_launches_is_right_as_at_first(probe: Probe) -> None:
    # Right for one address at a time; after another it takes the first one for a stranger.
    found = probe(
        "bool moved = launches > 0 && place != x;\n"
        "        y[i] = launches < 1000 ? 2.0f * x[i] : 0.0f;\n        __syncthreads();\n"
        "        if (i == 0) { launches = moved ? 1000 : launches + 1; place = x; }"
    )

    assert found.note == "right when launched once, wrong at a launch after all others"


def test_a_fault_of_a_later_launch_is_found(probe: Probe) -> None:
    found = probe(f"y[launches < 5 ? i : i + 64] = 2.0f * x[i];\n{COUNTED}")

    assert found.fault is not None
    assert found.fault.kind is FindingKind.ILLEGAL_ADDRESS
    assert not found.holds
    assert found.note == "a later launch of the same module ended"


def test_a_launch_of_nothing_is_not_repeated(tmp_path: Path, sim: Device) -> None:
    checked = right_once(scaling(tmp_path, STORE), sim)
    nothing = LaunchConfiguration((0, 1, 1), (64, 1, 1))

    assert relaunch(checked.prepared, checked.compiled, nothing, sim, Budget(), 3) == Probed()
    assert repeat(checked.prepared, checked.compiled, nothing, sim, Budget()) == Probed()


IN_PLACE = """// @launch grid=(1) block=(64)
__device__ int launches;
extern "C" __global__ void twice(float* y, int n) {
    int i = threadIdx.x;
    if (i < n) y[i] = LAUNCHED 2.0f * y[i];
    __syncthreads();
    if (i == 0) launches++;
}
"""


@pytest.mark.parametrize(("launched", "holds"), [("", True), ("launches > 6 ? 0.0f :", False)])
def test_what_is_updated_in_place_is_restored_before_each_launch(
    tmp_path: Path, sim: Device, launched: str, holds: bool
) -> None:
    (tmp_path / "twice.cu").write_text(IN_PLACE.replace("LAUNCHED", launched))

    @kernel(str(tmp_path / "twice.cu"), cases=[case(n=50)])
    def twice(y=InOut(f32, "n"), n=i32):
        y *= 2

    assert probed(twice, sim).holds is holds


# What depends on where arrays lie shows that those of structs and variables are others too.
IN_STRUCT = """// @launch grid=(1) block=(64)
struct Params { const float* x; float* y; int n; };
__device__ const void* place;
extern "C" __global__ void scale(Params p) {
    int i = threadIdx.x;
    bool moved = place != nullptr && place != ASKED;
    if (i < p.n) p.y[i] = moved ? 0.0f : 2.0f * p.x[i];
    __syncthreads();
    if (i == 0 && place == nullptr) place = ASKED;
}
"""


@pytest.mark.parametrize("asked", ["p.x", "p.y"])
def test_the_arrays_of_a_struct_lie_elsewhere_too(tmp_path: Path, sim: Device, asked: str) -> None:
    def declare(source: str) -> Kernel:
        (tmp_path / "scale.cu").write_text(source)

        @kernel(str(tmp_path / "scale.cu"), cases=[case(n=50)])
        def scale(p=Struct("Params", x=In(f32, "n"), y=Out(f32, "n"), n=i32), *, x, y, n):
            y[...] = 2 * x

        return scale

    found = probed(declare(IN_STRUCT.replace("ASKED", asked)), sim)

    assert found.note == "right when launched once, wrong at a launch on the same contents at other addresses"
    assert probed(declare(IN_STRUCT.replace("ASKED", "nullptr")), sim).holds


CONSTANT = """// @launch grid=(1) block=(64)
__constant__ float taps[2];
__device__ int launches;
extern "C" __global__ void weigh(const float* x, float* y, int n) {
    int i = threadIdx.x;
    if (i < n) y[i] = taps[0] * x[i] + taps[1];
    __syncthreads();
    if (i == 0) SPOIL;
}
"""


def weighing(folder: Path, spoil: str) -> Kernel:
    (folder / "weigh.cu").write_text(CONSTANT.replace("SPOIL", spoil))

    @kernel(str(folder / "weigh.cu"), cases=[case(n=50)])
    def weigh(
        taps=Constant(f32, 2, symbol="taps", values=normal(1.0, 0.5)),
        x=In(f32, "n"),
        y=Out(f32, "n"),
        n=i32,
    ):
        y[...] = taps[0] * x + taps[1]

    return weigh


def test_a_variable_is_written_before_every_launch(tmp_path: Path, sim: Device) -> None:
    assert probed(weighing(tmp_path, "launches++"), sim).holds


def test_a_request_names_the_variables_contents_at_both_places(
    tmp_path: Path, sim: Device, monkeypatch: pytest.MonkeyPatch
) -> None:
    launches: list[Any] = []
    ask = type(sim).ask

    def watched(self: Device, request: Any) -> Any:
        launches.extend(step for step in request.steps if type(step).__name__ == "Launch")
        return ask(self, request)

    checked = right_once(weighing(tmp_path, "launches++"), sim)
    assert checked.launch is not None
    monkeypatch.setattr(type(sim), "ask", watched)
    relaunch(checked.prepared, checked.compiled, checked.launch, sim, Budget(), 3)

    written = {(one.symbol, one.buffer) for step in launches for one in step.symbols}
    assert written == {("taps", "taps"), ("taps", "taps-elsewhere")}


SUM = """// @launch grid=(2) block=(64)
extern "C" __global__ void sum(const float* x, float* total, int n) {
    float mine = 0.0f;
    for (int i = blockIdx.x * 64 + threadIdx.x; i < n; i += 128) mine += x[i];
    ADD
}
"""
BY_TURNS = SUM.replace("ADD", "atomicAdd(total, mine);")
BY_ONE = (
    SUM.replace("float mine", "if (blockIdx.x || threadIdx.x) return;\n    float mine")
    .replace("i += 128", "i++")
    .replace("ADD", "total[0] += mine;")
)


@pytest.mark.parametrize(
    ("source", "note"),
    [(BY_ONE, ""), (BY_TURNS, "bits of 'total' change with the order of blocks and warps")],
    ids=["by one thread", "by turns"],
)
def test_bits_that_depend_on_the_order_are_told(tmp_path: Path, sim: Device, source: str, note: str) -> None:
    (tmp_path / "sum.cu").write_text(source)

    @kernel(str(tmp_path / "sum.cu"), cases=[case(n=900)], rtol=1e-3, atol=1e-3)
    def sum(x=In(f32, "n"), total=InOut(f32, 1), n=i32):
        total[0] += x.sum()

    checked = right_once(sum, sim)
    assert checked.launch is not None
    found = repeat(checked.prepared, checked.compiled, checked.launch, sim, Budget())

    assert (found.note, found.launches) == (note, 5)


def test_a_fault_of_a_repeated_launch_is_found(tmp_path: Path, sim: Device) -> None:
    checked = right_once(scaling(tmp_path, f"y[launches ? i + 64 : i] = 2.0f * x[i];\n{COUNTED}"), sim)
    assert checked.launch is not None

    found = repeat(checked.prepared, checked.compiled, checked.launch, sim, Budget())

    assert found.fault is not None
    assert not found.holds


@pytest.mark.parametrize(
    ("instructions", "times"),
    [(None, 111), (0, 111), (1000, 111), (1_000_000, 20), (50_000_000, 3)],
)
def test_expensive_launches_are_repeated_less_often_on_sim(
    sim: Device, instructions: int | None, times: int
) -> None:
    assert times_on(sim, instructions) == times


def test_what_is_kept_for_contents_that_look_alike_is_caught(probe: Probe) -> None:
    kept = (
        "if (launches == 0) { kept[i] = 2.0f * x[i]; if (i == 0) place = x; }\n"
        "        bool alike = kept[1] == 2.0f * x[1] && kept[n - 1] == 2.0f * x[n - 1];\n"
        "        y[i] = launches > 0 && alike ? kept[i] : 2.0f * x[i];\n" + COUNTED
    )

    assert probe(kept).note.endswith("wrong at a launch on contents of which a tenth is other")
