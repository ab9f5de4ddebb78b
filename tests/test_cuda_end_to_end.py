"""The whole plugin on a GPU, on a driver made up for tests."""

from __future__ import annotations

import json

import pytest

pytest_plugins = ["made_up_gpu_fixtures"]

ON_GPU = ("--cudaopt-device", "cuda:0")


def rename(project, kernel):
    """Give the kernel of the project a name, which says what the made-up GPU does for it."""
    project.edit("scale.cu", "void scale(", f"void {kernel}(")
    project.edit("test_scale.py", "def scale(", f"def {kernel}(")


def test_a_right_kernel_passes_its_checks_and_is_measured(project, gpu):
    result = project.run(*ON_GPU)
    result.assert_outcomes(passed=6)
    result.stdout.fnmatch_lines(["*CUDA kernels on cuda:0 (Made-Up GPU)*", "*n4096*passed*5.00 us batch*"])
    assert gpu.launches("scale")


def test_a_wrong_kernel_fails_its_checks(project, gpu):
    rename(project, "adds_one")
    project.run(*ON_GPU).assert_outcomes(failed=3, skipped=2, passed=1)


def test_a_kernel_that_remembers_its_answer_is_caught_by_its_own_measurement(project, gpu):
    rename(project, "scale_remembers")
    result = project.run(*ON_GPU, "-k", "latency")
    result.assert_outcomes(failed=1, deselected=5)
    result.stdout.fnmatch_lines(["*a timed launch, on inputs it had not seen, is wrong*"])


def test_a_fault_is_blamed_on_its_kernel_and_the_others_are_judged(project, gpu):
    for name in ("scale.cu", "test_scale.py"):
        text = (project.path / name).read_text()
        project.write(name.replace("scale", "faults"), text.replace("scale", "faults_716"))
    project.edit("test_faults.py", "faults_716.cu", "faults.cu")
    result = project.run(*ON_GPU, "test_faults.py", "test_scale.py")
    result.assert_outcomes(passed=7, failed=3, skipped=2)
    result.stdout.fnmatch_lines(["*misaligned*"])


@pytest.mark.parametrize("workers", [(), ("-n", "1")], ids=["alone", "xdist"])
def test_a_gpu_that_cannot_be_opened_is_shouted_about(project, gpu, workers):
    gpu.change(init=999)
    result = project.run_alone("-k", "n51", *workers)
    result.assert_outcomes(passed=1, **({} if workers else {"deselected": 5}))
    result.stdout.fnmatch_lines(
        ["*CUDA kernels on sim*", "WARNING: auto: sim, cuda:0 cannot be opened: *", "test_scale.py::scale"]
    )
    checked = project.cudaopt("check", "test_scale.py::scale", "--json")
    assert checked.ret == 0
    checked.stderr.fnmatch_lines(["WARNING: auto: sim, cuda:0 cannot be opened: *"])


def test_a_gpu_that_is_hidden_is_left_alone_quietly(project, gpu, monkeypatch):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    gpu.change(gpus=0)
    result = project.run_alone("-k", "n51")
    result.stdout.fnmatch_lines(["*CUDA kernels on sim*", "auto: sim, cuda:0 cannot be opened: *"])


def test_a_gpu_that_auto_chose_is_named_by_the_title(project, gpu):
    result = project.run_alone("-k", "n51")
    result.stdout.fnmatch_lines(
        ["*CUDA kernels on cuda:0 (Made-Up GPU)*", "test_scale.py::scale"], consecutive=True
    )


def test_json_names_what_was_measured_and_how(project, gpu):
    result = project.cudaopt("check", "test_scale.py::scale", "--json", "--device=cuda:0")
    assert result.ret == 0
    judged = json.loads(result.stdout.str())
    latency = judged["cases"][1]["latency"]
    assert (judged["latency"]["kind"], latency["kind"], latency["mode"]) == ("measured", "measured", "batch")
    assert judged["device"].startswith("cuda:0")
