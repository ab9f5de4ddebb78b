"""`cudaopt optimize`: on a declared kernel or on files, whoever proposes, and what the shell gets."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from made_up_files import CASES, FASTER, HEAD, REFERENCE, SIGNATURE, SLOW, WRONG
from scripted_server import Answer, Json, message, proposal, reasoning, response, serving

import pytest_cudaopt

# Made-up projects forget what they import, and half of this cannot be imported anew.
import pytest_cudaopt.optimize.graph
from conftest import Answered, Project

FINISHED, START_REJECTED, NOT_JUDGED = 0, 1, 2
# Shared memory of other blocks, which `sim` does not have.
CLUSTER = 'unsigned a; asm volatile("mapa.shared::cluster.u32 %0, %1, 0;" : "=r"(a) : "r"(n));'
FILES = ("--signature=sig.json", "--reference=ref.py", "--initial-kernel=k.cu", "--input-cases=cases.json")
ON_SIM = (*FILES, "--device=sim")


@pytest.fixture
def files(project: Project) -> Project:
    project.write("sig.json", json.dumps(SIGNATURE))
    project.write("cases.json", json.dumps(CASES))
    project.write("ref.py", REFERENCE)
    project.write("k.cu", SLOW)
    return project


def run_folder(project: Project) -> Path:
    (folder,) = (project.path / "results").glob("run-*")
    return folder


def decisions(project: Project) -> list[str]:
    lines = (run_folder(project) / "history.jsonl").read_text().splitlines()
    return [json.loads(line)["decision"] for line in lines]


def shown(result: Answered, *lines: str) -> None:
    result.stdout.fnmatch_lines(list(lines))
    assert "Traceback" not in result.stdout.str() + result.stderr.str()


def test_tunables_of_files_are_tried_and_shown_as_pytest_shows_them(files: Project) -> None:
    text = SLOW.replace("grid=(1)", "grid=(BLOCKS)").replace("i += 64", "i += BLOCKS * 64")
    text = text.replace("threadIdx.x;", "blockIdx.x * 64 + threadIdx.x;")
    files.write("k.cu", f"// @tune BLOCKS = 1, 64\n{text}")
    result = files.cudaopt("optimize", *ON_SIM, "--max-iterations=1")
    assert result.ret == FINISHED
    shown(
        result,
        "  k.cu::scale[[]optimize] attempt 0/1 BLOCKS=1: 1.00x start",
        "  k.cu::scale[[]optimize] attempt 1/1 BLOCKS=64: * new best",
        "CUDA kernels on sim *",
        "k.cu::scale",
        "  optimize  passed  * us modelled, *x with BLOCKS=64 in 1 attempts",
        " *results/run-001",
        " *k.cu stays as it is; *",
        "best kernel: results/run-001/best.cu",
    )
    assert "may print" not in result.stdout.str()
    assert (run_folder(files) / "best.cu").is_file()


def test_a_declared_kernel_is_optimised_as_by_pytest(files: Project) -> None:
    result = files.cudaopt("optimize", "test_scale.py::scale", "--device=sim", "--max-iterations=1")
    assert result.ret == FINISHED
    shown(
        result, "  test_scale.py::scale[[]optimize] attempt 1/1 *", "test_scale.py::scale", "best kernel: *"
    )
    assert decisions(files)[0] == "start"


def test_the_winner_is_written_back_if_asked_by_either_spelling(files: Project) -> None:
    files.write("proposals.jsonl", json.dumps(proposal(FASTER)) + "\n")
    flags = ("--model=replay:proposals.jsonl", "--accept", "--optimize-accept-modelled")
    result = files.cudaopt("optimize", *ON_SIM, *flags)
    assert result.ret == FINISHED
    shown(result, " *k.cu now holds the winner")
    assert "x[i] + x[i]" in (files.path / "k.cu").read_text()


def test_recorded_proposals_are_judged_live(files: Project) -> None:
    lines = [json.dumps(proposal(source)) for source in (WRONG, FASTER)]
    files.write("proposals.jsonl", "\n".join(lines))
    result = files.cudaopt("optimize", *ON_SIM, "--model", "replay:proposals.jsonl")
    assert result.ret == FINISHED
    shown(result, "  optimize  passed  *x with * in 2 attempts, of which 1 not accepted")
    assert decisions(files) == ["start", "not_accepted", "new_best"]


def test_answers_in_a_folder_are_judged(files: Project) -> None:
    files.write("desk/001-answer.json", json.dumps(proposal(FASTER)))
    result = files.cudaopt("optimize", *ON_SIM, "--model=files:desk", "--max-iterations=1")
    assert result.ret == FINISHED
    assert decisions(files) == ["start", "new_best"]
    request = (files.path / "desk" / "001-request.md").read_text()
    assert "return 2 * x" in request


def test_the_summary_is_all_that_json_prints(files: Project) -> None:
    result = files.cudaopt("optimize", *ON_SIM, "--model=offline", "--json")
    assert result.ret == FINISHED
    summary = json.loads(result.stdout.str())
    assert summary == json.loads((run_folder(files) / "summary.json").read_text())
    assert (summary["kernel"], summary["attempts"], summary["best_attempt"]) == ("scale", 1, 0)
    result.stderr.fnmatch_lines(["a reference may print", "  k.cu::scale[[]optimize] attempt 0/*"])


@pytest.mark.parametrize(
    ("file", "old", "new", "headline"),
    [
        ("ref.py", "2 * x", "3 * x", "WRONG: y: 51 of 51 elements *"),
        ("k.cu", "2.0f", "2.0f * z", 'COMPILE: k.cu: *"z" is undefined*'),
        ("k.cu", "i < n", "i <= n", "FAULT: illegal_address: *x[[]51]*"),
    ],
    ids=["wrong", "compile", "fault"],
)
def test_a_start_that_is_not_accepted_is_a_no_with_its_reason(
    files: Project, file: str, old: str, new: str, headline: str
) -> None:
    files.edit(file, old, new)
    result = files.cudaopt("optimize", *ON_SIM)
    assert result.ret == START_REJECTED
    shown(result, headline, "  not optimised: *", "k.cu::scale", " *results/run-001")
    result.stdout.no_fnmatch_line("best kernel*")
    assert decisions(files) == ["not_accepted"]


@pytest.mark.parametrize(
    ("file", "old", "new", "flags", "headline"),
    [
        ("ref.py", "2 * x", "x.nothing", (), "REFERENCE: reference of kernel 'scale'"),
        ("ref.py", "2 * x", "x[1:]", (), "REFERENCE: reference of kernel 'scale', output 'y'"),
        ("ref.py", "2 * x", "exit()", (), "REFERENCE: reference of kernel 'scale'"),
        ("k.cu", "// @launch grid=(1) block=(64)", "", (), "SOURCE: kernel 'scale'"),
        ("k.cu", "block=(64)", "block=(m)", (), "SOURCE: *"),
        ("k.cu", "64", "64", ("--require=gpu",), "ENVIRONMENT: *"),
        ("k.cu", "64", "64", ("--model=gpt-x",), "ENVIRONMENT: model 'gpt-x'"),
        ("k.cu", HEAD, f"{HEAD}    {CLUSTER}\n", (), "not judged: *mapa*"),
    ],
)
def test_what_cannot_be_judged_is_neither_yes_nor_no(
    files: Project, file: str, old: str, new: str, flags: tuple[str, ...], headline: str
) -> None:
    files.edit(file, old, new)
    result = files.cudaopt("optimize", *ON_SIM, *flags)
    assert result.ret == NOT_JUDGED
    shown(result, headline)
    result.stdout.no_fnmatch_line("best kernel*")


def test_options_come_from_command_line_over_environment_over_config(
    files: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = {"signature": "sig.json", "reference": "none.py", "initial_kernel": "../k.cu"}
    values = {"device": "sim", "max_iterations": 9, "seed": 9, "samples": 9, "allow_slower": 9}
    config = {**names, **values, "input_cases": "cases.json", "results": "here", "model": "files:desk"}
    files.write("run/example.json", json.dumps(config))
    files.write("run/sig.json", json.dumps(SIGNATURE))
    files.write("run/cases.json", json.dumps(CASES))
    files.write("run/desk/001-answer.json", json.dumps(proposal(FASTER)))
    files.write("pytest.ini", "[pytest]\ncudaopt_warmup = 4\ncudaopt_samples = 4\n")
    monkeypatch.setenv("CUDAOPT_OPTIMIZE_SEED", "5")
    monkeypatch.setenv("CUDAOPT_OPTIMIZE_MAX_ITERATIONS", "5")
    flags = ("--config=run/example.json", "--reference=ref.py", "--max-iterations=1")
    result = files.cudaopt("optimize", *flags)
    assert result.ret == FINISHED
    shown(result, "best kernel: run/here/run-001/best.cu")
    options = json.loads((files.path / "run/here/run-001/config.json").read_text())["options"]
    found = {key: options[key] for key in ("max_iterations", "seed", "samples", "allow_slower", "warmup")}
    assert found == {"max_iterations": 1, "seed": 5, "samples": 9, "allow_slower": 0.09, "warmup": 4}


def test_another_kernel_may_be_the_reference(files: Project) -> None:
    naive = SLOW.replace("scale(", "naive(").replace("2.0f * x[i]", "x[i] + x[i]")
    files.write("naive.cu", naive)
    flags = (*ON_SIM, "--model=offline", "--reference=naive.cu::naive")
    assert files.cudaopt("optimize", *flags).ret == FINISHED
    folder = run_folder(files)
    assert json.loads((folder / "signature.json").read_text())["reference_entry"] == "naive"
    again = {
        "signature": str(folder / "signature.json"),
        "reference": str(folder / "reference.cu"),
        "initial_kernel": str(folder / "initial.cu"),
        "input_cases": str(folder / "input_cases.json"),
    }
    files.write("again.json", json.dumps(again))
    files.edit("naive.cu", "x[i] + x[i]", "0")
    result = files.cudaopt("optimize", "--config=again.json", "--device=sim", "--model=offline")
    assert result.ret == FINISHED
    shown(result, "results/run-001/initial.cu::scale", "best kernel: results/run-002/best.cu")


def test_what_a_run_was_given_can_be_given_to_another(files: Project) -> None:
    files.write("inc/twice.cuh", "__device__ float twice(float v) { return FACTOR * v; }\n")
    files.write("beside.cuh", "#define FACTOR 2.0f\n")
    files.edit("k.cu", "2.0f * x[i]", "twice(x[i])")
    text = (files.path / "k.cu").read_text()
    files.write("k.cu", f'#include "beside.cuh"\n#include <twice.cuh>\n{text}')
    first = files.cudaopt("optimize", *ON_SIM, "--model=offline", "--include=inc", "--json")
    assert first.ret == FINISHED
    folder = run_folder(files)
    names = ("signature.json", "reference.py", "initial.cu", "input_cases.json")
    keys = ("signature", "reference", "initial-kernel", "input-cases")
    flags = [f"--{key}={folder / name}" for key, name in zip(keys, names, strict=True)]
    second = files.cudaopt("optimize", *flags, "--device=sim", "--model=offline", "--json")
    assert second.ret == FINISHED
    summaries = [json.loads(result.stdout.str()) for result in (first, second)]
    assert summaries[0]["start_ns"] == summaries[1]["start_ns"]


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-c", "import sys, pytest_cudaopt.cli as c; sys.exit(c.main())", *arguments]


def environ_of_this_tree(url: str) -> dict[str, str]:
    tree = str(Path(pytest_cudaopt.__file__).parents[1])
    return {**os.environ, "PYTHONPATH": tree, "OPENAI_API_KEY": "sk-made-up", "OPENAI_BASE_URL": url}


def answer(source: str) -> Answer:
    return response(reasoning(), message(json.dumps(proposal(source))))


def test_a_model_behind_a_server_is_told_of_its_mistake(files: Project) -> None:
    with serving(answer(WRONG), answer(FASTER)) as server:
        flags = (*ON_SIM, "--model=any-name", "--max-iterations=2")
        done = subprocess.run(
            command("optimize", *flags),
            cwd=files.path,
            env=environ_of_this_tree(server.url),
            capture_output=True,
            text=True,
            check=False,
        )
    assert done.returncode == FINISHED, done.stderr
    assert "best kernel: results/run-001/best.cu" in done.stdout
    assert decisions(files) == ["start", "not_accepted", "new_best"]
    assert "WRONG: y: 51 of 51 elements" in json.dumps(server.requests[1])


def test_ctrl_c_ends_the_run_and_says_where_it_is(files: Project) -> None:
    started: list[subprocess.Popen[str]] = []

    def interrupt(request: Json) -> Answer:
        started[0].send_signal(signal.SIGINT)
        return Answer(" ", dribble=True)

    with serving(answer(FASTER), interrupt) as server:
        # A program that a shell starts in the background ignores SIGINT, and so would what it starts.
        options: dict[str, Any] = {
            "preexec_fn": lambda: signal.signal(signal.SIGINT, signal.default_int_handler)
        }
        started.append(
            subprocess.Popen(
                command("optimize", *ON_SIM, "--model=any-name"),
                cwd=files.path,
                env=environ_of_this_tree(server.url),
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                **options,
            )
        )
        try:
            output, _ = started[0].communicate(timeout=60)
        finally:
            started[0].kill()
    assert started[0].returncode == NOT_JUDGED, output
    assert "interrupted; what was tried is in results/run-001" in output
    assert "Traceback" not in output
    assert decisions(files) == ["start", "new_best"]
    assert "x[i] + x[i]" in (run_folder(files) / "best.cu").read_text()
