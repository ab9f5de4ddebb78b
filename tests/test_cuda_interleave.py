"""Several kernels timed side by side on a GPU whose clock is virtual."""

from __future__ import annotations

from itertools import groupby

import pytest
from harness_client import Json
from made_up_gpu import MEASURED_N as N
from made_up_gpu import MadeUpGpu, buffer, floats, launch, module, request

pytest_plugins = ["made_up_gpu_fixtures"]

PLAIN, SLOWER = "copies_takes_64000_ns", "copies_slower_takes_65920_ns"
BATCHED = ("copies_takes_960_ns", "copies_slower_takes_1920_ns", "copies_slowest_takes_2880_ns")


def interleaving(gpu: MadeUpGpu, *entries: str, **how: object) -> Json:
    """Return a request that times these kernels, each of its own module, on the same x."""
    names = [f"m{i}" for i in range(len(entries))]
    outputs = [buffer(f"y{i}", N, access="write") for i in range(len(entries))]
    arms = []
    for i, entry in enumerate(entries):
        arm = launch(entry, N, module=names[i])
        del arm["do"]
        arm["arguments"][1] = {"buffer": f"y{i}"}
        arms.append(arm)
    step = {"do": "interleave", "arms": arms, "blocks": 4, "launches": 3, "warmup": 2, "warmup_ms": 0.0}
    asked = request(gpu, entries[0], n=N)
    return asked | {
        "modules": [module(gpu.folder, entry, name=name) for entry, name in zip(entries, names, strict=True)],
        "buffers": [asked["buffers"][0], *outputs],
        "steps": [*({"do": "load", "module": name} for name in names), step | how],
    }


def timing(gpu: MadeUpGpu, *entries: str, **how: object) -> Json:
    """Return the answer of the step."""
    answer = gpu.ask(interleaving(gpu, *entries, **how))
    assert answer["status"] == "ok", answer
    found: Json = answer["steps"][-1]
    assert found["kind"] == "measured"
    return found


def launches_in_a_row(gpu: MadeUpGpu) -> list[tuple[str, int]]:
    """Return the kernels that were launched, each with how often before another one was."""
    names = [line.split()[1] for line in gpu.log() if line.startswith("launch ")]
    return [(name, len(list(group))) for name, group in groupby(n for n in names if n.startswith("copies"))]


def timed_alone(gpu: MadeUpGpu) -> list[list[str]]:
    """Return the kernels of each sample, which is held back on its own; one name for launches in a row."""
    samples: list[list[str]] = []
    for line in gpu.log():
        name = line.split()[1] if line.startswith("launch ") else ""
        if name == "cudaopt_wait":
            samples.append([])
        elif name.startswith("copies") and samples:
            samples[-1].append(name)
    return [[name for name, _ in groupby(sample)] for sample in samples if sample]


def test_blocks_time_the_arms_in_order_and_reversed_in_turn(gpu: MadeUpGpu) -> None:
    timing(gpu, PLAIN, SLOWER, mode="cold")
    # Four blocks of three launches per arm: two arms end one block and begin the next.
    expected = [(PLAIN, 3), (SLOWER, 6), (PLAIN, 6), (SLOWER, 6), (PLAIN, 3)]
    assert launches_in_a_row(gpu)[-5:] == expected


def test_the_times_of_each_arm_are_its_own(gpu: MadeUpGpu) -> None:
    found = timing(gpu, PLAIN, SLOWER)
    assert found["mode"] == "cold"
    assert [arm["median_ns"] for arm in found["arms"]] == [64000.0, 65920.0]
    assert [set(arm["samples_ns"]) for arm in found["arms"]] == [{64000.0}, {65920.0}]
    assert [len(arm["samples_ns"]) for arm in found["arms"]] == [12, 12]
    assert found["sm_clock_mhz"] == pytest.approx([1980.0] * 4, rel=0.01)


def test_short_arms_are_timed_in_batches_of_one_size(gpu: MadeUpGpu) -> None:
    found = timing(gpu, *BATCHED)
    assert found["mode"] == "batch"
    assert [arm["median_ns"] for arm in found["arms"]] == [960.0, 1920.0, 2880.0]
    assert found["launches"] * 2880 >= 200_000
    replays = timed_alone(gpu)[-4 * 3 * len(BATCHED) :]
    assert replays == [[name] for name in [*BATCHED, *reversed(BATCHED)] * 2 for _ in range(3)]


def test_one_long_arm_has_all_timed_cold(gpu: MadeUpGpu) -> None:
    found = timing(gpu, BATCHED[0], PLAIN)
    assert found["mode"] == "cold"
    assert [arm["median_ns"] for arm in found["arms"]] == [960.0, 64000.0]


def test_arms_that_differ_in_their_outputs_names_alone_take_turns_on_the_same_memory(gpu: MadeUpGpu) -> None:
    timing(gpu, PLAIN, SLOWER)
    inputs = [{line.split()[5] for line in gpu.launches(name)} for name in (PLAIN, SLOWER)]
    outputs = [{line.split()[6] for line in gpu.launches(name)} for name in (PLAIN, SLOWER)]
    assert inputs[0] == inputs[1]
    assert outputs[0] == outputs[1]


def test_interleaving_leaves_the_buffers_as_it_found_them(gpu: MadeUpGpu) -> None:
    asked = interleaving(gpu, *BATCHED)
    reads = [{"do": "read", "buffer": name, "file": f"{name}.n0.bin"} for name in ("x", "y0")]
    asked["steps"].extend(reads)
    assert gpu.ask(asked)["status"] == "ok"
    assert floats((gpu.folder / "x.n0.bin").read_bytes()) == tuple(range(1, N + 1))
    assert set((gpu.folder / "y0.n0.bin").read_bytes()) == {0x00, 0xC0, 0x7F}


def test_a_drift_of_the_clock_shows_in_its_block(gpu: MadeUpGpu) -> None:
    gpu.change(throttle_after=80)
    clocks = timing(gpu, PLAIN, SLOWER, blocks=20)["sm_clock_mhz"]
    assert len(clocks) == 20
    assert clocks[-1] == pytest.approx(1200, rel=0.01)


def test_a_fault_of_one_arm_is_answered_with_the_arms_in_its_message(gpu: MadeUpGpu) -> None:
    answer = gpu.ask(interleaving(gpu, PLAIN, "faults_700"))
    assert (answer["fault"]["kind"], answer["ending"]) == ("illegal_address", True)
    assert "faults_700" in answer["fault"]["message"]


def test_each_arm_has_its_own_attributes(gpu: MadeUpGpu) -> None:
    asked = interleaving(gpu, PLAIN, SLOWER)
    asked["steps"][-1]["arms"][1] |= {"grid": [2, 1, 1], "cluster": [2, 1, 1]}
    assert gpu.ask(asked)["status"] == "ok"
    assert all("cluster" not in line for line in gpu.launches(PLAIN))
    assert all(" cluster=2x1x1 " in line for line in gpu.launches(SLOWER))
