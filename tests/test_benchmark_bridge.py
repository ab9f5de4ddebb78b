"""Latencies in pytest-benchmark: every sample, no run of its own, no comparison across devices."""

from __future__ import annotations

import json
import random
import re
from itertools import pairwise

import pytest
from measured_latencies import batch_latency

import pytest_cudaopt.items
import pytest_cudaopt.session
from pytest_cudaopt import benchmark_bridge
from pytest_cudaopt.evaluation import Sampling
from pytest_cudaopt.item_work import Finished
from pytest_cudaopt.table import RowStage

pytest_plugins = ["made_up_gpu_fixtures"]

ON_GPU = ("--cudaopt-device=cuda:0", "-k", "latency")
ON_SIM = ("--cudaopt-device=sim", "-k", "latency")
UNUSED = "-Werror:Benchmark fixture was not used"
PLAIN = "def test_plain(benchmark):\n    benchmark.pedantic(int, rounds=2)\n"


@pytest.fixture(autouse=True)
def alone(monkeypatch):
    """No worker of pytest-xdist, in which pytest-benchmark keeps no times; and no look at the processor.

    That takes a second for each file it saves.
    """
    monkeypatch.delenv("PYTEST_XDIST_WORKER", raising=False)
    monkeypatch.setattr("pytest_benchmark.plugin.get_cpu_info", dict)


def saved(project, *arguments):
    """Run with `--benchmark-json` and return what was written."""
    project.run("--benchmark-json=out.json", *arguments).assert_outcomes(passed=1, deselected=5)
    return json.loads((project.path / "out.json").read_text())


def test_every_sample_arrives_in_order_to_the_last_bit(project, monkeypatch):
    numbers = random.Random(1)  # noqa: S311 - any numbers will do
    samples_ns = tuple(numbers.uniform(900, 1100) for _ in range(1000))
    latency = batch_latency(1000.0, 2000.0)
    object.__setattr__(latency, "batch", Sampling(1000.0, samples_ns, launches=7))
    ran = []

    def run(work, session, announce):
        ran.append(work.stage)
        row = work.row.on(session.device()).with_latency(latency)
        return Finished(row, latency=latency)

    monkeypatch.setattr(pytest_cudaopt.items, "run", run)
    (told,) = saved(project, *ON_SIM)["benchmarks"]

    assert told["stats"]["data"] == [ns * 1e-9 for ns in samples_ns]
    assert told["stats"]["iterations"] == 1
    assert told["extra_info"]["launches"] == 7
    assert ran == [RowStage.LATENCY]


def test_a_clock_that_goes_on_would_lose_bits():
    samples_s = [ns * 1e-9 for ns in (1031.7, 977.3, 1000.1, 1013.9)]
    clock = [sum(samples_s[:count]) for count in range(5)]
    assert [after - before for before, after in pairwise(clock)] != samples_s
    timer = benchmark_bridge.RecordedTimes()
    timer.tell(samples_s)
    assert [-timer() + timer() for _ in samples_s] == samples_s


def test_a_measured_case_has_its_samples_and_what_they_are_of(project, gpu):
    gpu.change(noise_ticks=3)
    whole = saved(project, *ON_GPU, "--cudaopt-samples=12")
    (told,) = whole["benchmarks"]

    assert told["fullname"] == "test_scale.py::scale[latency-n4096]"
    assert told["group"] == "scale, measured on cuda:0 (Made-Up GPU)"
    assert (told["param"], told["params"]) == ("n4096", {"n": 4096})
    assert told["stats"]["rounds"] == 12
    assert len(set(told["stats"]["data"])) > 1
    info = told["extra_info"]
    assert (info["kind"], info["mode"], info["case"]) == ("measured", "batch", {"n": 4096})
    assert info["launches"] > 1


def test_the_gpu_is_identified_without_telling_whose_it_is(project, gpu):
    machine = saved(project, *ON_GPU)["machine_info"]["cudaopt"]

    assert machine["device"] == "Made-Up GPU"
    assert machine["cuda"] == "13.0"
    assert re.fullmatch(r"[0-9a-f]{12}", machine["gpu"])
    assert "GPU-0" not in (project.path / "out.json").read_text()
    assert saved(project, *ON_GPU)["machine_info"]["cudaopt"] == machine


def test_a_modelled_case_is_one_round_that_says_so(project):
    whole = saved(project, *ON_SIM)
    (told,) = whole["benchmarks"]

    assert told["stats"]["rounds"] == 1
    assert told["extra_info"]["kind"] == "modelled"
    assert told["group"] == "scale, modelled on sim (modelled h200)"
    assert whole["machine_info"]["cudaopt"]["kind"] == "modelled"


def test_a_kernel_that_was_not_timed_leaves_the_machine_as_it_was(project):
    project.write("test_plain.py", PLAIN)
    project.run("--benchmark-json=out.json", "-k", "n51 or plain").assert_outcomes(passed=2, deselected=5)

    assert "cudaopt" not in json.loads((project.path / "out.json").read_text())["machine_info"]


def test_the_table_shows_them_before_ours(project):
    lines = project.run(*ON_SIM, "--benchmark-enable").outlines
    (theirs,) = [n for n, line in enumerate(lines) if "benchmark 'scale, modelled on sim" in line]
    (ours,) = [n for n, line in enumerate(lines) if "= CUDA kernels on sim" in line]

    assert theirs < ours


def test_modelled_numbers_are_no_table_of_samples_unless_asked_for(project):
    assert "benchmark 'scale" not in project.run(*ON_SIM).stdout.str()


def test_a_mark_of_the_users_is_kept(project):
    project.edit("test_scale.py", "from pytest_cudaopt", "import pytest\nfrom pytest_cudaopt")
    project.edit("test_scale.py", "@kernel", "@pytest.mark.benchmark(group='mine', min_rounds=3)\n@kernel")
    (told,) = saved(project, *ON_SIM)["benchmarks"]

    assert told["group"] == "mine"
    assert told["options"]["min_rounds"] == 3
    assert told["stats"]["rounds"] == 1


def test_sizes_are_parameters_to_group_by(project):
    result = project.run(*ON_SIM, "--benchmark-group-by=param:n")

    result.stdout.fnmatch_lines(["*benchmark 'n=4096': 1 tests*"])


def test_a_saved_run_is_compared_without_a_warning(project):
    project.run(*ON_SIM, "--benchmark-save=before").assert_outcomes(passed=1, deselected=5)
    result = project.run(*ON_SIM, "--benchmark-compare")

    result.assert_outcomes(passed=1, deselected=5)
    result.stdout.fnmatch_lines(["scale?latency-n4096? (0001_before)*", "scale?latency-n4096? (NOW)*"])
    assert "machine_info is different" not in result.stdout.str() + result.stderr.str()


def test_our_table_is_shown_though_a_comparison_fails(project):
    project.run(*ON_SIM, "--benchmark-save=before")
    project.edit("scale.cu", "if (i < n)", "for (int again = 0; again < 50; ++again) if (i < n)")
    project.edit("scale.cu", "2.0f * x[i]", "2.0f * ((volatile const float*)x)[i]")
    result = project.run(*ON_SIM, "--benchmark-compare", "--benchmark-compare-fail=median:5%")

    result.stdout.fnmatch_lines(["*CUDA kernels on sim*", "*n4096*passed*modelled*"])
    assert "Performance has regressed" in result.stdout.str() + result.stderr.str()
    assert result.ret != 0


@pytest.mark.parametrize(
    ("first", "second", "got"),
    [
        (ON_GPU, ON_SIM, "measured on Made-Up GPU (GPU "),
        (ON_SIM, ON_GPU, "modelled on sim (modelled h200)"),
        (ON_GPU, ("--cudaopt-device=cuda:1", "-k", "latency"), "measured on Made-Up GPU (GPU "),
    ],
    ids=["model with silicon", "silicon with model", "two of one kind"],
)
def test_times_of_two_devices_are_not_compared(project, gpu, first, second, got):
    gpu.change(gpus=2)
    project.run(*first, "--benchmark-save=other").assert_outcomes(passed=1, deselected=5)
    result = project.run(*second, "--benchmark-compare")

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    (line,) = [
        line for line in result.errlines if line.startswith("ERROR: --benchmark-compare: expected times ")
    ]
    assert f"got times {got}" in line
    assert "--cudaopt-device" in line


@pytest.mark.parametrize("with_kernels", [False, True])
def test_only_a_comparison_with_kernels_asks_for_the_device(project, monkeypatch, with_kernels):
    project.write("test_plain.py", PLAIN)
    timed = "latency or plain" if with_kernels else "plain"
    project.run("-k", timed, "--benchmark-save=before")
    asked = []
    device = pytest_cudaopt.session.KernelSession.device
    monkeypatch.setattr(
        "pytest_cudaopt.session.KernelSession.device", lambda self: asked.append(1) or device(self)
    )
    project.run("-k", "plain", "--benchmark-compare").assert_outcomes(passed=1, deselected=6)

    assert bool(asked) == with_kernels


@pytest.mark.parametrize(
    ("options", "outcomes", "is_told"),
    [
        ((), {"passed": 2}, False),
        (("-p", "no:benchmark"), {"passed": 2}, False),
        (("--benchmark-disable",), {"passed": 2}, False),
        (("--benchmark-disable", "--benchmark-enable"), {"passed": 2}, True),
        (("--benchmark-skip",), {"passed": 1, "skipped": 1}, False),
        (("--benchmark-only",), {"passed": 1, "skipped": 1}, True),
    ],
)
def test_the_switches_of_pytest_benchmark_do_what_they_do_to_any_benchmark(
    project, options, outcomes, is_told
):
    result = project.run(*options, UNUSED, "--cudaopt-device=sim", "-k", "n51 or latency")

    result.assert_outcomes(**outcomes, deselected=4)
    assert ("benchmark 'scale, modelled" in result.stdout.str()) == is_told


@pytest.mark.parametrize(
    ("options", "outcomes"),
    [((), {"passed": 1}), (("--benchmark-compare",), {"passed": 1}), (("--benchmark-skip",), {"skipped": 1})],
)
def test_workers_say_nothing_of_benchmarks(project, options, outcomes):
    if "--benchmark-compare" in options:
        # In a process that looks at the processor, as workers do.
        project.run_alone(*ON_SIM, "--benchmark-save=before").assert_outcomes(passed=1, deselected=5)
    result = project.run_alone(*ON_SIM, *options, "-n", "1")

    result.assert_outcomes(**outcomes)
    told = result.stdout.str() + result.stderr.str()
    assert "disabled" not in told
    assert "machine_info is different" not in told
    assert "benchmark 'scale" not in told


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("x[i]", "x[i + n]"),
        ("float* y", "float* y, int more"),
        ("// @launch grid=(cdiv(n, BLOCK))", "// @launch grid=(0)"),
    ],
    ids=["fault", "not compiled", "not launched"],
)
def test_a_kernel_that_fails_has_no_times_and_no_warning(project, old, new):
    project.edit("scale.cu", old, new)
    result = project.run(*ON_SIM, UNUSED)

    result.assert_outcomes(failed=1, deselected=5)
    assert "not used" not in result.stdout.str()
    assert "benchmark 'scale" not in result.stdout.str()


def test_what_could_not_be_timed_has_no_times_and_no_warning(project):
    project.edit("scale.cu", "2.0f", "3.0f")
    result = project.run("--cudaopt-device=sim", "-k", "n4096", UNUSED)

    result.assert_outcomes(failed=1, skipped=1, deselected=4)
    assert "not used" not in result.stdout.str()


def test_histograms_are_drawn(project):
    pytest.importorskip("pygal")
    project.run(*ON_SIM, "--benchmark-histogram=drawn").assert_outcomes(passed=1, deselected=5)

    assert list(project.path.glob("drawn*.svg"))
