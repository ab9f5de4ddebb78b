"""The harness through its border: requests and answers as `harness_cpp/PROTOCOL.md` describes them."""

from __future__ import annotations

import hashlib
import json
import re
import struct
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from harness_client import COMPILE, LOAD, Json, Served, launch, module, request, run

from pytest_cudaopt.harness import locate

SAXPY = """
extern "C" __global__ void saxpy(float a, const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i] + y[i];
}
"""


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    with Served(folder=tmp_path) as serving:
        yield serving


def scalar_f32(value: float) -> Json:
    return {"scalar": "f32", "value": struct.pack("<f", value).hex()}


def scalar_i32(value: int) -> Json:
    return {"scalar": "i32", "value": struct.pack("<i", value).hex()}


def saxpy_request(folder: Path, n: int = 100, **members: object) -> Json:
    """Return a request that computes 2 * x + y with x = 0, 1, 2, ... and y = 1."""
    (folder / "x.bin").write_bytes(struct.pack(f"<{n}f", *range(n)))
    arguments = [scalar_f32(2), {"buffer": "x"}, {"buffer": "y"}, scalar_i32(n)]
    return request(
        COMPILE,
        LOAD,
        {"do": "fill", "buffer": "y", "pattern": struct.pack("<f", 1).hex()},
        launch("saxpy", *arguments, grid=(n + 31) // 32),
        {"do": "read", "buffer": "y", "file": "y.n0.bin"},
        directory=str(folder),
        modules=[module(SAXPY, "saxpy")],
        buffers=[
            {"name": "x", "bytes": 4 * n, "access": "read", "element_bytes": 4, "initial_file": "x.bin"},
            {"name": "y", "bytes": 4 * n, "element_bytes": 4, "guard_bytes": 256},
        ],
        **members,
    )


def test_run_executes_the_steps_in_order_and_answers_each(tmp_path: Path) -> None:
    done = run(tmp_path, saxpy_request(tmp_path))
    answer = json.loads(done.stdout)
    assert (done.returncode, done.stderr) == (0, "")
    assert answer["status"] == "ok"
    assert (answer["protocol"], answer["id"], answer["nonce"]) == (1, "test", "n0")
    assert [step["do"] for step in answer["steps"]] == ["compile", "load", "fill", "launch", "read"]
    assert answer["steps"][4]["bytes"] == 400
    output = struct.unpack("<100f", (tmp_path / "y.n0.bin").read_bytes())
    assert output == tuple(2.0 * i + 1 for i in range(100))


def test_run_writes_the_answer_to_a_file_and_nothing_to_standard_output(tmp_path: Path) -> None:
    done = run(tmp_path, saxpy_request(tmp_path), "--answer", str(tmp_path / "answer.json"))
    assert (done.returncode, done.stdout) == (0, "")
    assert json.loads((tmp_path / "answer.json").read_text())["status"] == "ok"


def test_file_names_resolve_in_the_folder_of_the_request(tmp_path: Path) -> None:
    asked = saxpy_request(tmp_path)
    del asked["directory"]
    assert run(tmp_path, asked).returncode == 0
    assert (tmp_path / "y.n0.bin").exists()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "expected a command"),
        (["walk"], 'got "walk"'),
        (["run"], "expected a request file"),
        (["run", "nosuch.json"], "nosuch.json"),
        (["serve", "--result-fd", "x"], "--result-fd: expected a number"),
        (["serve", "--driver"], "--driver: expected a value"),
        (["serve", "--result-fd", "77"], "the result descriptor 77 cannot be used"),
    ],
)
def test_a_command_line_that_cannot_be_followed_exits_with_2(
    tmp_path: Path, arguments: list[str], words: str
) -> None:
    done = subprocess.run([locate(), *arguments], capture_output=True, text=True, cwd=tmp_path, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert words in done.stderr


def test_version_names_protocol_harness_and_instruction_set() -> None:
    done = subprocess.run([locate(), "version"], capture_output=True, text=True, check=True)
    version = json.loads(done.stdout)
    assert version["protocol"] == 1
    assert version["isa"] in ("x86-64", "x86-64-v3")
    assert re.fullmatch(r"[0-9a-f]{12}", version["model"])


def test_serve_greets_with_its_version_and_ends_with_its_input() -> None:
    with Served() as serving:
        assert set(serving.version) == {"protocol", "harness", "isa", "model"}
        assert serving.end() == 0


def test_requests_of_one_process_know_nothing_of_each_other(served: Served, tmp_path: Path) -> None:
    assert served.ask(saxpy_request(tmp_path))["status"] == "ok"
    answer = served.ask(request(LOAD, modules=[module(SAXPY, "saxpy")]))
    assert answer["status"] == "invalid"
    assert 'expected a step "compile"' in answer["fault"]["message"]
    assert served.ask(saxpy_request(tmp_path))["status"] == "ok"


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("{", "expected JSON"),
        ("[]", "request: expected an object"),
        ("{}", 'the key "protocol" is missing'),
        ('{"protocol": 2, "device": "sim", "steps": []}', "expected protocol version 1, got 2"),
        ('{"protocol": 1, "device": "sim", "steps": [], "timeout_s": NaN}', "expected JSON"),
        ('{"protocol": 1, "device": "sim", "device": "sim", "steps": []}', '"device" occurs twice'),
        ('{"protocol": 1, "device": "sim", "steps": [], "bufers": []}', 'Did you mean "buffers"?'),
        ('{"protocol": 1, "device": "sim", "steps": [{"do": "lanch"}]}', 'Did you mean "launch"?'),
        ('{"protocol": 1, "device": "tpu", "steps": []}', 'expected "sim" or "cuda:N", got "tpu"'),
        ('{"protocol": 1, "device": "cuda:x", "steps": []}', 'expected "sim" or "cuda:N", got "cuda:x"'),
        ('{"protocol": 1, "device": "sim", "steps": [], "sim": {"model": "h2000"}}', "h2000"),
        (
            '{"protocol": 1, "device": "sim", "steps": [{"do": "digest", "buffer": "x"}]}',
            "request.steps[0].buffer",
        ),
    ],
)
def test_a_request_that_is_not_one_is_invalid_and_the_next_is_answered(
    served: Served, line: str, words: str
) -> None:
    answer = json.loads(served.ask_line(line))
    assert (answer["status"], answer["fault"]["kind"]) == ("invalid", "invalid_request")
    assert words in answer["fault"]["message"]
    assert served.ask(request({"do": "limits"}))["status"] == "ok"


def test_run_exits_with_2_on_a_misspelt_key_and_still_echoes_id_and_nonce(tmp_path: Path) -> None:
    done = run(tmp_path, request(bufers=[]))
    answer = json.loads(done.stdout)
    assert done.returncode == 2
    assert (answer["status"], answer["id"], answer["nonce"]) == ("invalid", "test", "n0")


@pytest.mark.parametrize(("content", "got"), [(None, "No such file"), (b"123", "expected 400 bytes, got 3")])
def test_an_input_file_that_is_missing_or_short_is_named(
    served: Served, tmp_path: Path, content: bytes | None, got: str
) -> None:
    asked = saxpy_request(tmp_path)
    (tmp_path / "x.bin").unlink()
    if content is not None:
        (tmp_path / "x.bin").write_bytes(content)
    fault = served.ask(asked)["fault"]
    assert (fault["kind"], "step" in fault) == ("invalid_request", False)
    assert str(tmp_path / "x.bin") in fault["message"]
    assert got in fault["message"]


def test_an_output_that_cannot_be_written_is_named(served: Served, tmp_path: Path) -> None:
    asked = saxpy_request(tmp_path)
    asked["steps"][-1]["file"] = "no/y.n0.bin"
    fault = served.ask(asked)["fault"]
    assert (fault["kind"], fault["step"]) == ("invalid_request", 4)
    assert "no/y.n0.bin" in fault["message"]


def test_an_output_file_without_the_nonce_is_refused(served: Served, tmp_path: Path) -> None:
    asked = saxpy_request(tmp_path)
    asked["steps"][-1]["file"] = "y.bin"
    assert 'contains the nonce "n0"' in served.ask(asked)["fault"]["message"]


def test_a_driver_that_is_not_there_is_named_and_the_next_request_is_answered(tmp_path: Path) -> None:
    missing = str(tmp_path / "libcuda.so")
    with Served("--driver", missing) as serving:
        answer = serving.ask(request(device="cuda:0"))
        assert (answer["status"], answer["fault"]["kind"]) == ("fault", "no_device")
        assert missing in answer["fault"]["message"]
        assert "ending" not in answer
        assert serving.ask(request({"do": "limits"}))["status"] == "ok"


def test_limits_are_those_of_the_modelled_device(served: Served) -> None:
    limits = served.ask(request({"do": "limits"}))["steps"][0]["limits"]
    assert (limits["architecture"], limits["warp_size"]) == ("sm_90", 32)
    assert (limits["multiprocessors"], limits["max_threads_per_block"]) == (132, 1024)


def test_a_full_disk_is_not_an_invalid_request(served: Served, tmp_path: Path) -> None:
    asked = saxpy_request(tmp_path)
    (tmp_path / asked["steps"][-1]["file"]).symlink_to("/dev/full")
    answer = served.ask(asked)
    assert answer["status"] == "fault"
    assert answer["fault"]["kind"] == "io_error"
    assert "No space left on device" in answer["fault"]["message"]


def test_a_fault_ends_the_request_and_names_line_array_and_thread(served: Served, tmp_path: Path) -> None:
    asked = saxpy_request(tmp_path)
    asked["steps"][3]["arguments"][3] = scalar_i32(101)
    answer = served.ask(asked)
    fault = answer["fault"]
    assert answer["status"] == "fault"
    assert [step["do"] for step in answer["steps"]] == ["compile", "load", "fill"]
    assert (fault["kind"], fault["step"]) == ("illegal_address", 3)
    assert (fault["file"], fault["line"]) == ("k.cu", 4)
    assert (fault["element"], fault["elements"], fault["access"]) == (100, 100, "read")
    assert (fault["block"], fault["thread"]) == ([3, 0, 0], [4, 0, 0])


def test_run_exits_with_1_on_a_fault(tmp_path: Path) -> None:
    asked = saxpy_request(tmp_path)
    asked["steps"][3]["arguments"][3] = scalar_i32(101)
    assert run(tmp_path, asked).returncode == 1


def test_a_write_to_an_input_is_a_fault(served: Served, tmp_path: Path) -> None:
    asked = saxpy_request(tmp_path)
    asked["buffers"][1]["access"] = "read"
    assert served.ask(asked)["fault"]["kind"] == "write_to_input"


def test_digests_guards_and_copies_agree_with_the_bytes(served: Served, tmp_path: Path) -> None:
    asked = saxpy_request(tmp_path)
    expected = hashlib.sha256(struct.pack("<100f", *(2.0 * i + 1 for i in range(100)))).hexdigest()
    asked["steps"] += [
        {"do": "digest", "buffer": "y"},
        {"do": "compare_digest", "buffer": "y", "sha256": expected},
        {"do": "read_guards", "buffer": "y"},
        {"do": "copy", "from": "x", "to": "y"},
        {"do": "compare_digest", "buffer": "y", "sha256": expected},
        {"do": "write", "buffer": "y", "file": "y.n0.bin"},
        {"do": "compare_digest", "buffer": "y", "sha256": expected},
    ]
    digest, equal, guards, _, unequal, _, again = served.ask(asked)["steps"][5:]
    assert digest["sha256"] == expected
    assert (equal["equal"], unequal["equal"], again["equal"]) == (True, False, True)
    assert guards["intact"] is True


def test_a_reset_gives_every_buffer_its_first_bytes_again(served: Served, tmp_path: Path) -> None:
    asked = saxpy_request(tmp_path)
    asked["buffers"][1]["poison"] = "f97ff97f"
    digests = [{"do": "digest", "buffer": "x"}, {"do": "digest", "buffer": "y"}]
    change = [{"do": "fill", "buffer": name, "pattern": "01"} for name in ("x", "y")]
    asked["steps"] = [*digests, *change, *digests, {"do": "reset"}, *digests]
    asked["steps"] += [{"do": "reset", "poison": "02"}, *digests, {"do": "read_guards", "buffer": "y"}]
    steps = served.ask(asked)["steps"]
    x, y, *_, changed_x, changed_y, _, again_x, again_y, reset, other_x, other_y, guards = steps
    assert reset == {"do": "reset"}
    assert (changed_x, changed_y) != (x, y)
    assert (again_x, again_y) == (x, y)
    assert (other_x, other_y["sha256"]) == (x, hashlib.sha256(b"\2" * 400).hexdigest())
    assert guards["intact"] is True


MEASURED_LIKE_A_GPU: Json = {
    "warmup_ms": 1.5,
    "relative_error": 0.01,
    "max_samples": 200,
    "mode": "batch",
    "contents": [{"x": "x.bin"}],
    "held_out": {"x": "x.bin"},
    "capture": [{"buffer": "y", "file": "y.n0.captured.bin"}],
}


def test_sim_models_the_same_time_whatever_a_gpu_would_be_asked_to_do(served: Served, tmp_path: Path) -> None:
    asked = saxpy_request(tmp_path)
    asked["steps"][3]["do"] = "measure"
    asked["steps"].insert(4, asked["steps"][3] | MEASURED_LIKE_A_GPU)
    plain, elaborate = served.ask(asked)["steps"][3:5]
    assert plain["kind"] == "modelled"
    assert elaborate == plain
    assert not (tmp_path / "y.n0.captured.bin").exists()


def test_sim_refuses_to_interleave(served: Served, tmp_path: Path) -> None:
    asked = saxpy_request(tmp_path)
    arm = {key: value for key, value in asked["steps"][3].items() if key != "do"}
    asked["steps"][3] = {"do": "interleave", "arms": [arm, arm]}
    answer = served.ask(asked)
    assert (answer["status"], answer["fault"]["step"]) == ("invalid", 3)
    assert "modelled times have no noise" in answer["fault"]["message"]


def test_a_module_loads_from_the_files_of_an_earlier_request(served: Served, tmp_path: Path) -> None:
    first = saxpy_request(tmp_path)
    first["modules"] = [module(SAXPY.replace('extern "C" ', ""), "saxpy", ptx_file="m.ptx")]
    compiled = served.ask(first)["steps"][0]
    second = saxpy_request(tmp_path)
    second["steps"] = second["steps"][1:]
    del second["modules"][0]["source"]
    second["modules"][0] |= {
        "ptx_file": "m.ptx",
        "lowered": compiled["lowered"],
        "resources": compiled["resources"],
    }
    assert served.ask(second)["status"] == "ok"


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"entry": "daxpy"}, "has no kernel"),
        ({"block": [2048, 1, 1]}, "1024"),
        ({"arguments": []}, "argument"),
    ],
)
def test_a_launch_that_cannot_be_made_says_why(
    served: Served, tmp_path: Path, change: Json, words: str
) -> None:
    asked = saxpy_request(tmp_path)
    asked["steps"][3] |= change
    fault = served.ask(asked)["fault"]
    assert fault["kind"] in ("unknown_entry", "invalid_launch")
    assert words in fault["message"]


@pytest.mark.parametrize("left_out", [slice(1, 2), slice(0, 2)], ids=["load", "compile and load"])
def test_a_launch_before_its_module_is_loaded_is_invalid(
    served: Served, tmp_path: Path, left_out: slice
) -> None:
    asked = saxpy_request(tmp_path)
    del asked["steps"][left_out]
    answer = served.ask(asked)
    assert answer["status"] == "invalid"
    assert 'module "m" is not loaded' in answer["fault"]["message"]


# It changes its memory, so that nothing proves it endless: an odd number is never reached in steps of two.
ENDLESS = 'extern "C" __global__ void spin(volatile unsigned* x) { while (*x != 1) *x += 2; }'


def endless_request(**members: object) -> Json:
    return request(
        COMPILE,
        LOAD,
        launch("spin", {"buffer": "x"}),
        modules=[module(ENDLESS, "spin")],
        buffers=[{"name": "x", "bytes": 4}],
        **members,
    )


def test_the_watchdog_answers_for_a_kernel_without_end_and_ends_the_process() -> None:
    with Served() as serving:
        asked = endless_request(timeout_s=0.5, sim={"block_instructions": 2**62})
        answer = serving.ask(asked)
        assert (answer["id"], answer["status"]) == ("test", "fault")
        assert [step["do"] for step in answer["steps"]] == ["compile", "load"]
        assert (answer["fault"]["kind"], answer["fault"]["step"]) == ("timeout", 2)
        assert answer["ending"] is True
        assert serving.process.wait(timeout=60) == 3


def test_the_instruction_budget_ends_a_kernel_without_end_at_its_line(served: Served) -> None:
    answer = served.ask(endless_request(sim={"block_instructions": 10_000}))
    assert (answer["fault"]["kind"], answer["fault"]["line"]) == ("timeout", 1)
    assert "ending" not in answer
    assert served.ask(request({"do": "limits"}))["status"] == "ok"


def test_what_a_kernel_prints_never_reaches_the_answers(served: Served) -> None:
    source = """extern "C" __global__ void talk() { printf("{\\"status\\": \\"ok\\"}\\n"); }"""
    answer = served.ask(request(COMPILE, LOAD, launch("talk"), modules=[module(source, "talk")]))
    assert answer["id"] == "test"


ATOMICS = """
extern "C" __global__ void sum(const float* x, float* total, int* order, int n) {
  __shared__ float part;
  if (threadIdx.x == 0) part = 0;
  __syncthreads();
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(&part, x[i]);
  __syncthreads();
  if (threadIdx.x == 0) {
    atomicAdd(total, part);
    order[blockIdx.x] = atomicAdd(order + gridDim.x, 1);
  }
}
"""


def atomics_request(folder: Path, threads: int) -> Json:
    n, blocks = 10_000, 79
    (folder / "x.bin").write_bytes(struct.pack(f"<{n}f", *(1.0 / (i + 1) for i in range(n))))
    arguments = [{"buffer": "x"}, {"buffer": "total"}, {"buffer": "order"}, scalar_i32(n)]
    return request(
        COMPILE,
        LOAD,
        launch("sum", *arguments, grid=blocks, block=128),
        {"do": "digest", "buffer": "total"},
        {"do": "digest", "buffer": "order"},
        {**launch("sum", *arguments, grid=blocks, block=128), "do": "measure"},
        directory=str(folder),
        sim={"threads": threads},
        modules=[module(ATOMICS, "sum")],
        buffers=[
            {"name": "x", "bytes": 4 * n, "access": "read", "element_bytes": 4, "initial_file": "x.bin"},
            {"name": "total", "bytes": 4, "element_bytes": 4},
            {"name": "order", "bytes": 4 * (blocks + 1), "element_bytes": 4},
        ],
    )


def test_answers_are_the_same_bytes_on_any_number_of_threads(served: Served, tmp_path: Path) -> None:
    lines = {served.ask_line(json.dumps(atomics_request(tmp_path, threads))) for threads in (1, 2, 7)}
    assert len(lines) == 1
    assert json.loads(lines.pop())["status"] == "ok"


def test_a_fault_is_the_same_bytes_on_any_number_of_threads(served: Served, tmp_path: Path) -> None:
    asked = saxpy_request(tmp_path, n=4096)
    asked["steps"][3]["grid"] = [256, 1, 1]
    asked["steps"][3]["arguments"][3] = scalar_i32(8192)
    lines = {served.ask_line(json.dumps(asked | {"sim": {"threads": threads}})) for threads in (1, 2, 7)}
    assert len(lines) == 1
    assert json.loads(lines.pop())["fault"]["block"] == [128, 0, 0]
