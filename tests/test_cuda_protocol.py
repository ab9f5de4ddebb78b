"""Requests for a GPU through the border, on a driver made up for tests."""

from __future__ import annotations

import json
import struct
from pathlib import Path

import pytest
from harness_client import COMPILE, LOAD, NO_END_S, Json, run
from harness_client import module as compiled_module
from made_up_gpu import MadeUpGpu, floats, launch, module, request

pytest_plugins = ["made_up_gpu_fixtures"]

READ = {"do": "read", "buffer": "y", "file": "y.n0.bin"}


def output(gpu: MadeUpGpu) -> tuple[float, ...]:
    return tuple(floats((gpu.folder / "y.n0.bin").read_bytes()))


def test_a_kernel_runs_on_the_gpu_and_its_output_is_read(gpu: MadeUpGpu) -> None:
    answer = gpu.ask(request(gpu, "adds_one", launch("adds_one", 8), READ))
    assert answer["status"] == "ok", answer
    assert answer["device"] == "cuda:0 (Made-Up GPU)"
    assert [step["do"] for step in answer["steps"]] == ["load", "launch", "read"]
    assert output(gpu) == tuple(range(2, 10))


def test_a_kernel_compiled_in_the_request_is_loaded_as_a_cubin(gpu: MadeUpGpu) -> None:
    source = """extern "C" __global__ void adds_one(const float* x, float* y, int n) {
      int i = threadIdx.x; if (i < n) y[i] = x[i] + 1; }"""
    asked = request(gpu, "adds_one") | {
        "modules": [compiled_module(source, "adds_one")],
        "steps": [COMPILE, LOAD, launch("adds_one", 8), READ],
    }
    assert gpu.ask(asked)["status"] == "ok"
    assert output(gpu) == tuple(range(2, 10))


def test_a_name_the_cubin_does_not_hold_is_an_unknown_entry(gpu: MadeUpGpu) -> None:
    asked = request(gpu, "copies", launch("copies", 8))
    (gpu.folder / "m.cubin").write_text("another kernel\0")
    fault = gpu.ask(asked)["fault"]
    assert (fault["kind"], fault["step"]) == ("unknown_entry", 1)
    assert "copies" in fault["message"]


def test_every_launch_is_preceded_by_one_that_dirties_shared_memory(gpu: MadeUpGpu) -> None:
    gpu.ask(request(gpu, "copies", launch("copies", 8), launch("copies", 8)))
    names = [line.split()[1] for line in gpu.launches()]
    assert names == ["cudaopt_dirty_shared", "copies"] * 2
    assert " shared=232448 " in gpu.launches("dirty_shared")[0] + " "


@pytest.mark.parametrize(
    ("entry", "kind"),
    [
        ("faults_700", "illegal_address"),
        ("faults_716", "misaligned"),
        ("faults_719", "trap"),
        ("faults_710", "trap"),
        ("faults_715", "trap"),
        ("faults_714", "launch_error"),
        ("faults_718", "launch_error"),
    ],
)
def test_a_fault_is_named_and_the_next_process_answers(gpu: MadeUpGpu, entry: str, kind: str) -> None:
    with gpu.serve() as served:
        answer = served.ask(request(gpu, entry, launch(entry, 8)))
        code = served.end()
    assert (answer["status"], answer["ending"], code) == ("fault", True, 4)
    assert (answer["fault"]["kind"], answer["fault"]["step"]) == (kind, 1)
    assert entry in answer["fault"]["message"]
    assert gpu.ask(request(gpu, "adds_one", launch("adds_one", 8), READ))["status"] == "ok"


def test_a_fault_ends_run_with_1(gpu: MadeUpGpu) -> None:
    done = run(gpu.folder, request(gpu, "faults_700", launch("faults_700", 8)), "--driver", str(gpu.driver))
    assert (done.returncode, json.loads(done.stdout)["ending"]) == (1, True)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"grid": [0, 1, 1]}, "grid"),
        ({"grid": [1, 65536, 1]}, "65535"),
        ({"block": [1025, 1, 1]}, "1024"),
        ({"block": [1, 1, 65]}, "64"),
        ({"shared_bytes": 232449}, "232448"),
        ({"arguments": [{"buffer": "x"}]}, "3 parameters, got 1 argument"),
        ({"arguments": [{"buffer": "x"}, {"buffer": "y"}, {"null": True}]}, "parameter 2 has 4 bytes, got 8"),
    ],
)
def test_a_launch_over_the_limits_is_refused_and_the_process_goes_on(
    gpu: MadeUpGpu, changes: Json, words: str
) -> None:
    with gpu.serve() as served:
        answer = served.ask(request(gpu, "copies", launch("copies", 8, **changes)))
        assert (answer["fault"]["kind"], "ending" in answer) == ("invalid_launch", False)
        assert words in answer["fault"]["message"]
        assert served.ask(request(gpu, "adds_one", launch("adds_one", 8), READ))["status"] == "ok"
    assert gpu.launches("copies") == []


def test_shared_memory_beyond_48_kib_is_asked_for(gpu: MadeUpGpu) -> None:
    asked = request(gpu, "copies", launch("copies", 8, shared_bytes=200_000))
    assert gpu.ask(asked)["status"] == "ok"
    assert " shared=200000 " in gpu.launches("copies")[0]


def test_what_the_driver_refuses_at_the_launch_is_named(gpu: MadeUpGpu) -> None:
    with gpu.serve() as served:
        answer = served.ask(request(gpu, "refuses_701", launch("refuses_701", 8)))
        assert (answer["fault"]["kind"], "ending" in answer) == ("invalid_launch", False)
        assert served.ask(request(gpu, "copies", launch("copies", 8)))["status"] == "ok"


def test_a_kernel_without_end_is_a_timeout_that_ends_the_process(gpu: MadeUpGpu) -> None:
    with gpu.serve() as served:
        answer = served.ask(request(gpu, "never_ends", launch("never_ends", 8), timeout_s=0.2))
        code = served.process.wait(NO_END_S)
    assert (answer["fault"]["kind"], answer["ending"], code) == ("timeout", True, 3)
    assert gpu.ask(request(gpu, "copies", launch("copies", 8)))["status"] == "ok"


def test_a_harness_that_dies_answers_nothing(gpu: MadeUpGpu) -> None:
    with gpu.serve() as served:
        assert served.ask_line(json.dumps(request(gpu, "crashes", launch("crashes", 8)))) == ""


def test_loading_again_gives_module_globals_their_initial_values(gpu: MadeUpGpu) -> None:
    (gpu.folder / "other.bin").write_bytes(struct.pack("<8f", *[9.0] * 8))
    write = {"do": "write", "buffer": "x", "file": "other.bin"}
    once = [launch("remembers", 8), write]
    gpu.ask(request(gpu, "remembers", *once, launch("remembers", 8), READ))
    assert output(gpu) == tuple(range(1, 9))
    gpu.ask(request(gpu, "remembers", *once, {"do": "reload", "module": "m"}, launch("remembers", 8), READ))
    assert output(gpu) == (9.0,) * 8


def test_reset_gives_every_buffer_its_initial_contents_again(gpu: MadeUpGpu) -> None:
    (gpu.folder / "other.bin").write_bytes(struct.pack("<8f", *[9.0] * 8))
    steps = [
        {"do": "write", "buffer": "x", "file": "other.bin"},
        launch("copies", 8),
        {"do": "reset", "poison": "0000803f"},
        READ,
        launch("copies", 8),
        {"do": "read", "buffer": "y", "file": "again.n0.bin"},
    ]
    assert gpu.ask(request(gpu, "copies", *steps))["status"] == "ok"
    assert output(gpu) == (1.0,) * 8
    assert floats((gpu.folder / "again.n0.bin").read_bytes()) == tuple(range(1, 9))


def test_limits_are_those_of_the_gpu(gpu: MadeUpGpu) -> None:
    gpu.change(gpus=2, driver=12040, memory_bytes=1 << 30, capability=90)
    limits = gpu.ask(request(gpu, "copies", {"do": "limits"}, device="cuda:1", buffers=[]))["steps"][1][
        "limits"
    ]
    assert (limits["name"], limits["architecture"]) == ("Made-Up GPU", "sm_90")
    assert (limits["max_block"], limits["max_shared_bytes"]) == ([1024, 1024, 64], 232448)
    assert limits["gpu"] == {
        "uuid": "GPU-00010203-0405-0607-0809-0a0b0c0d0e01",
        "driver": [12, 4],
        "memory_bytes": 1 << 30,
        "free_bytes": 1 << 30,
        "l2_bytes": 8 << 20,
        "sm_clock_mhz": 1980.0,
        "memory_clock_mhz": 3201.0,
        "memory_bus_bits": 6016,
        "guard_pages": True,
    }


def test_each_gpu_has_its_own_context_in_one_process(gpu: MadeUpGpu) -> None:
    gpu.change(gpus=2)
    with gpu.serve() as served:
        for device in ("cuda:0", "cuda:1", "cuda:0"):
            asked = request(gpu, "adds_one", launch("adds_one", 8), READ, device=device)
            assert served.ask(asked)["device"] == f"{device} (Made-Up GPU)"
            assert output(gpu) == tuple(range(2, 10))
        answer = served.ask(request(gpu, "copies", device="cuda:2"))
    assert answer["fault"]["kind"] == "no_device"
    assert "2 GPUs are visible" in answer["fault"]["message"]


@pytest.mark.parametrize(
    ("settings", "words"),
    [({"gpus": 0}, "finds no GPU"), ({"init": 803}, "different releases"), ({"init": 999}, "999")],
)
def test_a_driver_that_does_not_start_is_no_device(gpu: MadeUpGpu, settings: Json, words: str) -> None:
    gpu.change(**settings)
    answer = gpu.ask(request(gpu, "copies"))
    assert answer["fault"]["kind"] == "no_device"
    assert words in answer["fault"]["message"]
    assert '"sim"' in answer["fault"]["message"]


def test_a_driver_that_is_not_there_is_no_device(gpu: MadeUpGpu) -> None:
    gpu.driver = gpu.folder / "nosuch.so"
    fault = gpu.ask(request(gpu, "copies"))["fault"]
    assert fault["kind"] == "no_device"
    assert "nosuch.so" in fault["message"]


def test_a_buffer_that_does_not_fit_says_how_much_is_needed_and_the_process_goes_on(gpu: MadeUpGpu) -> None:
    gpu.change(memory_bytes=64 << 20)
    large = [{"name": "x", "bytes": 80 << 20, "access": "read"}, {"name": "y", "bytes": 32}]
    with gpu.serve() as served:
        fault = served.ask(request(gpu, "copies", launch("copies", 8), buffers=large))["fault"]
        assert fault["kind"] == "out_of_memory"
        assert f"{80 << 20} bytes" in fault["message"]
        assert served.ask(request(gpu, "copies", launch("copies", 8)))["status"] == "ok"


def test_requests_leave_nothing_in_the_gpus_memory(gpu: MadeUpGpu) -> None:
    guarded = [{"name": name, "bytes": 32, "guard_bytes": 256} for name in "xy"]
    with gpu.serve() as served:
        limits = request(gpu, "copies", {"do": "limits"}, buffers=[])
        before = served.ask(limits)["steps"][1]["limits"]["gpu"]["free_bytes"]
        held = served.ask(request(gpu, "copies", launch("copies", 8), {"do": "limits"}, buffers=guarded))
        assert held["steps"][2]["limits"]["gpu"]["free_bytes"] < before
        assert served.ask(limits)["steps"][1]["limits"]["gpu"]["free_bytes"] == before


def test_a_module_for_another_architecture_says_so(gpu: MadeUpGpu, tmp_path: Path) -> None:
    asked = request(gpu, "copies")
    (tmp_path / "m.cubin").write_text("for another architecture\0")
    fault = gpu.ask(asked)["fault"]
    assert "architecture" in fault["message"]
    assert "sm_90" in fault["message"]


def test_two_modules_with_the_same_entry_stay_apart(gpu: MadeUpGpu) -> None:
    asked = request(
        gpu, "copies", {"do": "load", "module": "other"}, launch("copies", 8, module="other"), READ
    )
    asked["modules"].append(module(gpu.folder, "copies", name="other"))
    assert gpu.ask(asked)["status"] == "ok"
    assert output(gpu) == tuple(range(1, 9))
