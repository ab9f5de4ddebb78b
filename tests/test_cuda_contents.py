"""What timed launches work on: contents in turn, shifted addresses, one launch with contents held out."""

from __future__ import annotations

import hashlib
import math
import os
from collections import Counter

import pytest
from harness_client import Json
from made_up_gpu import MEASURED_N as N
from made_up_gpu import MadeUpGpu, buffer, f32, floats, latency, launch, measure, request, timed

pytest_plugins = ["made_up_gpu_fixtures"]

SHORT, LONG = "copies_takes_960_ns", "copies_takes_64000_ns"


def timed_inputs(gpu: MadeUpGpu) -> list[str]:
    return [span[0].rpartition("x[0]=")[2] for span in timed(gpu)]


def contents(gpu: MadeUpGpu, *firsts: float) -> list[Json]:
    """Return contents of x that begin with these values."""
    named = []
    for first in firsts:
        (gpu.folder / f"x{first:g}.bin").write_bytes(f32(first, *range(N - 1)))
        named.append({"x": f"x{first:g}.bin"})
    return named


def test_two_launches_of_three_have_the_first_contents_and_the_third_one_of_the_others(
    gpu: MadeUpGpu,
) -> None:
    found = latency(gpu, LONG, contents=contents(gpu, 100, 200))
    assert found["contents"] == 3
    assert timed_inputs(gpu).count("1") == 8
    assert Counter(timed_inputs(gpu)) == {"1": 8, "100": 2, "200": 2}


def test_every_second_launch_has_its_buffers_shifted_by_256_bytes(gpu: MadeUpGpu) -> None:
    latency(gpu, LONG)
    pointers = [int(span[0].split()[5]) for span in timed(gpu)]
    plain, shifted = pointers[::2], pointers[1::2]
    assert [b - a for a, b in zip(plain, shifted, strict=True)] == [256] * len(plain)
    assert len(set(plain)) > 1  # each pair in another place


CAPTURE = [{"buffer": "y", "file": "held.n0.bin"}]


@pytest.mark.parametrize(("entry", "mode"), [(LONG, "cold"), (SHORT, "auto"), (SHORT, "batch")])
def test_exactly_one_timed_launch_has_the_held_out_contents_and_its_output_is_kept(
    gpu: MadeUpGpu, entry: str, mode: str
) -> None:
    held = contents(gpu, 999)[0]
    found = latency(gpu, entry, mode=mode, held_out=held, capture=CAPTURE, contents=contents(gpu, 100))
    assert floats((gpu.folder / "held.n0.bin").read_bytes()) == (999, *range(N - 1))
    captured = found["captured"]
    if captured["mode"] == "cold":
        assert timed_inputs(gpu)[:12].count("999") == 1
        assert timed_inputs(gpu)[captured["sample"]] == "999"


def test_a_kernel_that_remembers_its_first_answer_is_found_out(gpu: MadeUpGpu) -> None:
    held = contents(gpu, 999)[0]
    latency(gpu, "remembers_takes_64000_ns", held_out=held, capture=CAPTURE)
    assert floats((gpu.folder / "held.n0.bin").read_bytes())[0] == 1


def test_which_launch_is_held_out_changes_from_one_measurement_to_the_next(gpu: MadeUpGpu) -> None:
    held = contents(gpu, 999)[0]
    asked = request(gpu, LONG, measure(LONG, samples=50, held_out=held, capture=CAPTURE), n=N)
    with gpu.serve() as served:
        places = {served.ask(asked)["steps"][1]["latency"]["captured"]["sample"] for _ in range(8)}
    assert len(places) > 1


@pytest.mark.parametrize("entry", [SHORT, LONG])
def test_measuring_leaves_every_buffer_as_it_found_it(gpu: MadeUpGpu, entry: str) -> None:
    fill = {"do": "fill", "buffer": "y", "pattern": f32(5).hex()}
    digests = [{"do": "digest", "buffer": name} for name in "xy"]
    measured = measure(entry, contents=contents(gpu, 100), held_out=contents(gpu, 999)[0])
    steps = gpu.ask(request(gpu, entry, fill, measured, *digests, n=N))["steps"]
    assert steps[3]["sha256"] == hashlib.sha256((gpu.folder / "x.bin").read_bytes()).hexdigest()
    assert steps[4]["sha256"] == hashlib.sha256(f32(*[5] * N)).hexdigest()


def in_out(n: int = N) -> list[Json]:
    return [
        buffer("x", n, access="read", initial_file="x.bin"),
        buffer("y", n, access="read_write", initial_file="x.bin"),
    ]


def test_an_accumulating_kernel_is_refused_batches_and_restored_before_every_launch(gpu: MadeUpGpu) -> None:
    entry = "accumulates_takes_960_ns"
    found = latency(gpu, entry, buffers=in_out(), held_out=contents(gpu, 999)[0], capture=CAPTURE)
    assert (found["mode"], "batch" in found) == ("cold", False)
    assert "y" in found["batch_refused"]
    assert found["median_ns"] == pytest.approx(960, rel=1e-5)
    expected = tuple(a + b for a, b in zip((999, *range(N - 1)), range(1, N + 1), strict=True))
    assert floats((gpu.folder / "held.n0.bin").read_bytes()) == expected


def test_outputs_are_poisoned_before_every_timed_launch(gpu: MadeUpGpu) -> None:
    latency(gpu, "leaves_unwritten_takes_64000_ns", held_out=contents(gpu, 999)[0], capture=CAPTURE)
    output = floats((gpu.folder / "held.n0.bin").read_bytes())
    assert (output[0], math.isnan(output[-1])) == (999, True)


def test_a_second_request_gets_its_large_input_by_a_copy_on_the_gpu_unless_the_file_changed(
    gpu: MadeUpGpu,
) -> None:
    n = 100_000
    read = {"do": "read", "buffer": "y", "file": "y.n0.bin"}
    asked = request(gpu, "copies", launch("copies", n), read, n=n)
    input_file, output = gpu.folder / "x.bin", gpu.folder / "y.n0.bin"
    copies, first = [], []
    with gpu.serve() as served:
        for change in (False, False, True):
            if change:
                input_file.write_bytes(f32(-1, *range(2, n + 1)))
                os.utime(input_file, ns=(0, 0))
            before = len(gpu.log())
            assert served.ask(asked)["status"] == "ok"
            copied = [line for line in gpu.log()[before:] if line.startswith(f"copy of {4 * n} bytes")]
            copies.append([int(line.rpartition(" ")[2]) for line in copied])
            first.append(floats(output.read_bytes())[0])
    assert [len(places) for places in copies] == [1, 1, 1]
    assert first == [1, 1, -1]
    # The first one is kept; the second comes from there.
    assert copies[0] != copies[1]
