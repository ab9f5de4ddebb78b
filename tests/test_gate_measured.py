"""What the gate asks of a GPU, and what it says: made-up times, and kernels on a driver made up for tests."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from judged_kernels import axpy
from made_up_gpu import MadeUpGpu
from noisy_gpu import USUAL, Noise, NoisyGpu, ask_gate, gate

from pytest_cudaopt import In, Out, case, f32, gate_measured, i32, kernel
from pytest_cudaopt.compile import Compiled, compile_candidate
from pytest_cudaopt.declared import Kernel
from pytest_cudaopt.device import Device, open_device
from pytest_cudaopt.errors import EnvironmentFault
from pytest_cudaopt.evaluation import Budget, SamplingMode
from pytest_cudaopt.finding import Finding, FindingKind
from pytest_cudaopt.gate_measured import Arm, is_identical
from pytest_cudaopt.gated import Gated, GateVerdict
from pytest_cudaopt.gpu_state import ClockReason, GpuState
from pytest_cudaopt.launch import LaunchConfiguration
from pytest_cudaopt.machine_code import machine_code
from pytest_cudaopt.prepare import prepare
from pytest_cudaopt.prepared_case import PreparedCase

pytest_plugins = ["made_up_gpu_fixtures"]

SAME, FASTER, SLOWER, UNSURE = (
    GateVerdict.SAME,
    GateVerdict.FASTER,
    GateVerdict.SLOWER,
    GateVerdict.UNSURE,
)
STILL = Noise(sample=0.0, block=0.0, drift=0.0, outliers=0.0)
LAUNCH = LaunchConfiguration((2, 1, 1), (64, 1, 1))
EMPTY = LaunchConfiguration((0, 1, 1), (64, 1, 1))


def still(ratio: float, **noise: float) -> NoisyGpu:
    return NoisyGpu(replace(STILL, **noise), ratio, np.random.default_rng(5))


def test_what_is_the_same_is_measured_once() -> None:
    gpu = still(1.0)
    found = gate(gpu)
    assert (found.verdict, found.blocks, found.epochs, found.fails) == (SAME, 10, 1, False)
    assert gpu.blocks == [10]
    assert found.reason == "as fast as the baseline within 0.00 %, 60.0 us -> 60.0 us, 10 blocks in 1 epoch"


def test_what_is_slower_is_measured_again_with_the_versions_loaded_in_the_other_order() -> None:
    gpu = still(1.05)
    found = gate(gpu)
    assert (found.verdict, found.blocks, found.epochs, found.fails) == (SLOWER, 20, 2, True)
    assert (gpu.blocks, gpu.first_arms) == ([10, 10], ["earlier", "current"])
    assert found.ratio == pytest.approx(1.05)
    assert (found.before_ns, found.after_ns) == (60_000.0, pytest.approx(63_000.0))
    assert found.reason == (
        "5.0 % slower than the baseline (at least 5.0 %), 60.0 us -> 63.0 us, 20 blocks in 2 epochs"
    )


def test_what_is_faster_is_confirmed_too() -> None:
    gpu = still(0.9)
    found = gate(gpu)
    assert (found.verdict, found.fails, gpu.first_arms) == (FASTER, False, ["earlier", "current"])
    assert found.reason.startswith("10.0 % faster than the baseline (at least 10.0 %), 60.0 us -> 54.0 us, ")


def test_a_loud_pair_gets_more_blocks_in_an_epoch_of_the_other_order() -> None:
    gpu = still(1.0, block=0.012)
    found = gate(gpu)
    assert len(gpu.blocks) == 2
    assert 10 < sum(gpu.blocks) <= 60
    assert gpu.first_arms == ["earlier", "current"]
    assert (found.blocks, found.epochs) == (sum(gpu.blocks), 2)


def test_how_many_blocks_are_taken_does_not_depend_on_which_version_is_faster() -> None:
    first = [still(ratio, block=0.012) for ratio in (0.5, 1.0, 1.03)]
    asked = []
    for gpu in first:
        gate(gpu)
        asked.append(gpu.blocks[:2])
    assert asked[0] == asked[1] == asked[2]


class Changing(NoisyGpu):
    """A GPU on which the versions compare otherwise from the second epoch on."""

    then: float = 1.0

    def interleave(self, *arguments: Any, **keywords: Any) -> Any:
        found = super().interleave(*arguments, **keywords)
        self.ratio = self.then
        return found


def test_what_the_second_measurement_does_not_see_fails_nothing() -> None:
    gpu = Changing(STILL, 1.05, np.random.default_rng(5))
    found = gate(gpu)
    assert (found.verdict, found.fails) == (UNSURE, False)
    assert found.reason == (
        "5.0 % slower than the baseline at first, then 0.00 % slower: not confirmed, "
        "60.0 us -> 60.0 us, 20 blocks in 2 epochs"
    )
    assert (found.lower, found.upper) == (1.0, pytest.approx(1.05))


def test_what_the_samples_cannot_tell_is_unsure_and_says_what_would_fit() -> None:
    found = gate(still(1.0, block=0.2))
    assert (found.verdict, found.blocks) == (UNSURE, 60)
    assert " than the baseline, but anything from " in found.reason
    assert " fits, " in found.reason
    assert found.reason.endswith(" us, 60 blocks in 2 epochs")


def test_a_gpu_that_is_too_hot_decides_nothing() -> None:
    gpu = still(1.05)
    gpu.state = GpuState(reasons=ClockReason.HARDWARE_THERMAL | ClockReason.POWER_CAP)
    found = gate(gpu)
    assert (found.verdict, found.ratio, gpu.blocks) == (UNSURE, None, [10, 10])
    assert found.reason == (
        "10 of 10 blocks do not count, since the GPU's clocks were held down by its temperature (hardware), "
        "0 blocks in 1 epoch"
    )


def test_an_epoch_that_was_held_down_does_not_speak_against_a_quiet_one() -> None:
    gpu = still(1.05)
    gpu.states = [GpuState(reasons=ClockReason.HARDWARE_THERMAL)]
    assert gate(gpu).verdict is SLOWER


def test_whoever_else_is_on_the_gpu_is_named_where_it_may_matter() -> None:
    gpu, quiet = still(1.05), still(1.0)
    gpu.state = quiet.state = GpuState(other_processes=(7,))
    assert gate(gpu).reason.endswith(" in 2 epochs (another process uses the GPU (pid 7))")
    assert gate(quiet).reason.endswith(" in 1 epoch")


@pytest.mark.parametrize("at", [1, 2, 3])
def test_a_fault_in_any_epoch_is_handed_on(at: int) -> None:
    fault = Finding(FindingKind.TRAP, "a trap")

    class Faulting(NoisyGpu):
        def interleave(self, *arguments: Any, **keywords: Any) -> Any:
            found = super().interleave(*arguments, **keywords)
            return fault if len(self.blocks) == at else found

    gpu = Faulting(replace(STILL, block=0.012), 1.5, np.random.default_rng(5))
    assert ask_gate(gpu) is fault
    assert len(gpu.blocks) == at


def test_later_epochs_are_sampled_as_the_first_one_was() -> None:
    modes = []

    class Choosing(NoisyGpu):
        def interleave(self, *arguments: Any, mode: Any = None, **keywords: Any) -> Any:
            modes.append(mode)
            return super().interleave(*arguments, mode=mode or SamplingMode.BATCH, **keywords)

    gate(Choosing(replace(STILL, block=0.012), 1.5, np.random.default_rng(5)))
    assert len(modes) > 2
    assert modes == [None, *[SamplingMode.BATCH] * (len(modes) - 1)]


def test_against_a_revision_the_sentence_has_its_name() -> None:
    found = ask_gate(still(1.0), against="origin/main")
    assert isinstance(found, Gated)
    assert found.reason.startswith("as fast as origin/main within")


def build(kernel: Kernel, source: str, device: Device, launch: LaunchConfiguration = LAUNCH) -> Arm:
    compiled = compile_candidate(kernel, replace(kernel.start(), source=source), device, Budget())
    assert isinstance(compiled, Compiled), compiled
    return compiled, launch


def gated_on(device: Device, prepared: PreparedCase, earlier: Arm, current: Arm) -> Gated | Finding:
    return gate_measured.gate_measured(prepared, earlier, current, device, Budget(), USUAL, "baseline")


EDITS = {
    "reformatted": ("int i = ", "\n\n   int   i\n  = "),
    "commented": ("if (i < n)", "// only those\n    if (i < n)"),
    "variables renamed": ("int i = blockIdx", "int n2 = 0; (void)n2; int i = blockIdx"),
    "said otherwise": ("i < n", "n > i"),
}


@pytest.mark.parametrize("edit", EDITS.values(), ids=EDITS.keys())
def test_a_kernel_that_is_only_written_otherwise_is_the_same_without_measuring(
    edit: tuple[str, str], tmp_path: Path, sim: Device
) -> None:
    kernel = axpy(tmp_path)
    source = kernel.start().source
    assert edit[0] in source
    arms = [build(kernel, text, sim) for text in (source, source.replace(*edit))]
    assert arms[0][0].module.cubin_file != arms[1][0].module.cubin_file
    # `sim` would refuse to measure.
    found = gated_on(sim, prepare(kernel, kernel.cases[0], sim), arms[0], arms[1])
    assert isinstance(found, Gated)
    assert (found.verdict, found.blocks, found.ratio) == (SAME, 0, None)
    assert found.reason == "identical code and launch as the baseline"


def test_a_kernel_in_another_file_is_the_same(tmp_path: Path, sim: Device) -> None:
    kernel = axpy(tmp_path)
    moved = replace(kernel.start(), file="elsewhere/moved.cu")
    compiled = compile_candidate(kernel, moved, sim, Budget())
    assert isinstance(compiled, Compiled)
    prepared = prepare(kernel, kernel.cases[0], sim)
    assert is_identical(prepared, build(kernel, moved.source, sim), (compiled, LAUNCH))


def test_a_renamed_kernel_has_the_same_code(tmp_path: Path, sim: Device) -> None:
    codes = set()
    for name in ("axpy", "scales_and_shifts"):
        kernel = axpy(tmp_path, ("void axpy(", f"void {name}("), entry=name)
        compiled, _ = build(kernel, kernel.start().source, sim)
        cubin, lowered = compiled.module.cubin_file, compiled.module.lowered
        assert cubin is not None
        assert lowered is not None
        codes.add(machine_code(Path(cubin).read_bytes(), lowered[name]))
    assert len(codes) == 1


CHANGES = {
    "computes otherwise": ("+ 1.0f", "+ 2.0f"),
    "launch bounds": ("void axpy", "void __launch_bounds__(64, 8) axpy"),
    "another kernel beside it": ('extern "C"', 'extern "C" __global__ void other() {}\nextern "C"'),
    "more shared memory": ("int i = ", "__shared__ volatile int s[9]; s[0] = n; int i = "),
}


@pytest.mark.parametrize("edit", CHANGES.values(), ids=CHANGES.keys())
def test_other_code_or_resources_are_measured(edit: tuple[str, str], tmp_path: Path, sim: Device) -> None:
    kernel = axpy(tmp_path)
    source = kernel.start().source
    assert edit[0] in source
    arms = [build(kernel, text, sim) for text in (source, source.replace(*edit))]
    assert not is_identical(prepare(kernel, kernel.cases[0], sim), *arms)


def test_the_same_code_launched_otherwise_is_measured(tmp_path: Path, sim: Device) -> None:
    kernel = axpy(tmp_path)
    prepared = prepare(kernel, kernel.cases[0], sim)
    arm = build(kernel, kernel.start().source, sim)
    other = (arm[0], LaunchConfiguration((1, 1, 1), (128, 1, 1)))
    assert is_identical(prepared, arm, arm)
    with pytest.raises(EnvironmentFault, match="expected a GPU"):
        gated_on(sim, prepared, arm, other)


def test_versions_that_launch_nothing_are_the_same_and_one_that_does_not_is_looked_at(
    tmp_path: Path, sim: Device
) -> None:
    kernel = axpy(tmp_path)
    prepared = prepare(kernel, kernel.cases[0], sim)
    full = build(kernel, kernel.start().source, sim)
    empty = (full[0], EMPTY)
    both, first, second = (
        gated_on(sim, prepared, *arms) for arms in ((empty, empty), (empty, full), (full, empty))
    )
    assert isinstance(both, Gated)
    assert (both.verdict, both.warns) == (SAME, False)
    for found, reason in (
        (first, "no times to compare: the baseline launches nothing at this case, this version does"),
        (second, "no times to compare: this version launches nothing at this case, the baseline does"),
    ):
        assert isinstance(found, Gated)
        assert (found.verdict, found.warns, found.fails, found.reason) == (UNSURE, True, False, reason)


# A name's digits are the nanoseconds that the made-up GPU takes for it.
TIMED = """\
// @launch grid=(1) block=(32)
// @tune NS = 64000
#define NAMED(ns) NAMED_(ns)
#define NAMED_(ns) takes_##ns##_ns
namespace NAMED(NS) {
__global__ void copies(const float* x, float* y, int n) {
    if (threadIdx.x < n) y[threadIdx.x] = x[threadIdx.x];
    if (n == -NS) y[0] = NS;
}
}  // namespace NAMED(NS)
using NAMED(NS)::copies;
"""


@pytest.fixture
def cuda(gpu: MadeUpGpu, shared_cache: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Device]:
    monkeypatch.setenv("XDG_CACHE_HOME", str(shared_cache))
    gpu.change(noise_ticks=20)
    with open_device("cuda:0", environ=os.environ) as device:
        yield device


@pytest.mark.parametrize(
    ("earlier_ns", "current_ns", "verdict"),
    [
        (64_000, 64_100, SAME),
        (64_000, 66_500, SLOWER),
        (64_000, 61_000, FASTER),
        (3_000, 3_010, SAME),
        (3_000, 3_100, SLOWER),
    ],
)
def test_kernels_of_a_known_time_are_told_apart_through_the_harness(
    earlier_ns: int, current_ns: int, verdict: GateVerdict, cuda: Device, gpu: MadeUpGpu, tmp_path: Path
) -> None:
    (tmp_path / "copies.cu").write_text(TIMED)

    @kernel(str(tmp_path / "copies.cu"), cases=[case(n=32, measure=True)])
    def copies(x=In(f32, "n"), y=Out(f32, "n"), n=i32):
        y[...] = x

    arms = [_timed_arm(copies, ns, cuda) for ns in (earlier_ns, current_ns)]
    found = gated_on(cuda, prepare(copies, copies.cases[0], cuda), *arms)
    assert isinstance(found, Gated)
    assert found.verdict is verdict, found.reason
    assert found.epochs == (1 if verdict is SAME else 2)
    assert found.before_ns == pytest.approx(earlier_ns, rel=0.15)
    assert first_of_epochs(gpu) == ([earlier_ns] if verdict is SAME else [earlier_ns, current_ns])


def first_of_epochs(gpu: MadeUpGpu) -> list[int]:
    """Return the time of the kernel that was launched first after modules were loaded, for each epoch."""
    epochs = "\n".join(gpu.log()).split("unload of a module")
    launched = [re.findall(r"^launch \w*takes_(\d+)_ns", epoch, re.MULTILINE) for epoch in epochs]
    return [int(times[0]) for times in launched if times]


def _timed_arm(kernel: Kernel, ns: int, device: Device) -> Arm:
    compiled = compile_candidate(kernel, kernel.start().with_tunables({"NS": ns}), device, Budget())
    assert isinstance(compiled, Compiled), compiled
    return compiled, LaunchConfiguration((1, 1, 1), (32, 1, 1))
