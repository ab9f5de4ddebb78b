"""What a user can get wrong: a message at the right line, the usual exit code, other kernels still run."""

import os

import pytest

# Beside every broken kernel stands one that must still pass.
GOOD = """\
from pytest_cudaopt import In, Out, case, f32, i32, kernel

@kernel("good.cu", cases=[case(n=7)])
def good(x=In(f32, "n"), y=Out(f32, "n"), n=i32):
    y[...] = 2 * x
"""
# Shared memory of other blocks, which `sim` does not have.
_CLUSTER = "mapa.shared::cluster.u32 %0, %1, 0;"


@pytest.fixture
def broken(project):
    project.write("good.cu", (project.path / "scale.cu").read_text().replace("scale(", "good("))
    project.write("test_good.py", GOOD)
    return project


def run_beside_a_good_kernel(project, *arguments):
    result = project.run("-m", "cudaopt_check", *arguments)
    result.assert_outcomes(passed=1, failed=2, deselected=7)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.no_fnmatch_line("*Traceback*")
    return result


def test_a_missing_source_fails_its_items_not_the_modules_import(broken):
    (broken.path / "scale.cu").unlink()
    result = run_beside_a_good_kernel(broken)

    result.stdout.fnmatch_lines(
        [
            "SOURCE: kernel 'scale'",
            "  expected  a readable file *scale.cu",
            "  got       No such file or directory",
            "  next      Sources beside it: good.cu",
            "  at        test_scale.py:3",
            "reproduce: pytest 'test_scale.py::scale[[]check-n51[]]'",
            "           case(n=51)",
        ]
    )


def test_an_entry_that_is_not_there_is_named_with_those_that_are(broken):
    broken.edit("test_scale.py", '"scale.cu",', '"scale.cu", entry="skale",')

    run_beside_a_good_kernel(broken).stdout.fnmatch_lines(["COMPILE: *skale*scale*"])


def test_a_compile_error_shows_the_line(broken):
    broken.edit("scale.cu", "2.0f * x[i]", "2.0f * z[i]")

    run_beside_a_good_kernel(broken).stdout.fnmatch_lines(
        [
            'COMPILE: scale.cu: identifier "z" is undefined',
            '  scale.cu:5:30: error: identifier "z" is undefined',
            "  >    5 |     if (i < n) y[[]i[]] = 2.0f * z[[]i[]];",
            "         |                              ^",
        ]
    )


def test_a_parameter_of_another_type_is_a_compile_error_naming_both(broken):
    broken.edit("scale.cu", "float* y", "double* y")

    run_beside_a_good_kernel(broken).stdout.fnmatch_lines(
        ["COMPILE: *parameter 2 is 'double [*]', expected 'float[*]'"]
    )


def test_a_missing_parameter_is_a_compile_error(broken):
    broken.edit("scale.cu", ", int n)", ")")
    broken.edit("scale.cu", "i < n", "i < 1")

    run_beside_a_good_kernel(broken).stdout.fnmatch_lines(["COMPILE: *parameters*"])


def test_a_launch_rule_with_an_unknown_size_lists_the_known_ones(broken):
    broken.edit("scale.cu", "cdiv(n, BLOCK)", "cdiv(m, BLOCK)")

    run_beside_a_good_kernel(broken).stdout.fnmatch_lines(
        ["SOURCE: launch rule of kernel 'scale'", "  expected  names among BLOCK, n", "  got       m"]
    )


def test_a_directive_that_cannot_be_read_is_shown_at_its_line(broken):
    broken.edit("scale.cu", "BLOCK = 64,", "BLOCK = fast,")

    run_beside_a_good_kernel(broken).stdout.fnmatch_lines(["SOURCE: @tune BLOCK", "  at        scale.cu:2"])


def test_a_launch_over_the_devices_limits_names_rule_and_limit(broken):
    broken.edit("scale.cu", "BLOCK = 64,", "BLOCK = 2048,")

    run_beside_a_good_kernel(broken).stdout.fnmatch_lines(["FAULT: invalid_launch: *2048*1024*"])


def test_a_wrong_result_shows_the_worst_element_and_a_case_to_paste(broken):
    broken.edit("scale.cu", "2.0f * x[i]", "3.0f * x[i]")

    run_beside_a_good_kernel(broken).stdout.fnmatch_lines(
        [
            "WRONG: y: 51 of 51 elements (100 %) differ from the reference",
            "  case      n=51, launched with grid=1 block=64, on sim*",
            "  worst     y[[]*[]]: expected *, got *, abs *, rel 0.5, * ulp",
            "reproduce: pytest 'test_scale.py::scale[[]check-n51[]]'",
            "           case(n=51)",
        ]
    )


def test_an_access_out_of_bounds_shows_the_element_and_the_line(broken):
    broken.edit("scale.cu", "if (i < n) ", "")
    # 4096 is a multiple of the block, so only the first case goes over.
    result = broken.run("-m", "cudaopt_check")

    result.assert_outcomes(passed=2, failed=1, deselected=7)
    result.stdout.fnmatch_lines(
        [
            "FAULT: illegal_address: *x[[]51[]]*51 elements*thread (51,0,0)",
            "  at        scale.cu:5",
            "  >    5 | *2.0f*",
        ]
    )


def test_a_reference_that_raises_shows_the_users_frames(broken):
    broken.edit("test_scale.py", "y[...] = 2 * x", "y[...] = x / broken")

    run_beside_a_good_kernel(broken).stdout.fnmatch_lines(
        [
            "REFERENCE: reference of kernel 'scale'",
            "  expected  no exception",
            "  got       NameError: name 'broken' is not defined",
            "*test_scale.py*line 6*",
        ]
    )


def test_a_reference_that_leaves_an_output_unwritten_says_how_much(broken):
    broken.edit("test_scale.py", "y[...] = 2 * x", "y[1:] = 2 * x[1:]")

    run_beside_a_good_kernel(broken).stdout.fnmatch_lines(
        [
            "REFERENCE: reference of kernel 'scale', output 'y'",
            "  got       1 of 51 left unwritten, the first at [[]0[]]",
        ]
    )


def test_an_instruction_sim_cannot_execute_skips_with_the_reason(broken):
    broken.edit("scale.cu", "if (i < n)", f'int r; asm volatile("{_CLUSTER}" : "=r"(r) : "r"(i)); if (i < n)')
    result = broken.run("-m", "cudaopt_check", "-rs")

    result.assert_outcomes(passed=1, skipped=2, deselected=7)
    result.stdout.fnmatch_lines(["  n51    unsupported", "SKIPPED*test_scale.py:3: *mapa*"])


def test_an_absent_gpu_is_an_environment_failure(broken):
    result = broken.run("-m", "cudaopt_check", "--cudaopt-device=cuda:63")

    result.assert_outcomes(failed=3, deselected=7)
    result.stdout.fnmatch_lines(["ENVIRONMENT: device 'cuda:63'", "*--cudaopt-device*sim*"])
    assert result.ret == pytest.ExitCode.TESTS_FAILED


def test_a_required_gpu_is_not_replaced_by_sim(broken):
    result = broken.run("-m", "cudaopt_check", "--cudaopt-device=sim", "--cudaopt-require=gpu")

    result.assert_outcomes(failed=3, deselected=7)
    result.stdout.fnmatch_lines(["ENVIRONMENT: --cudaopt-require=gpu", "  got       sim*"])


def test_a_missing_nvrtc_is_explained_once(broken, monkeypatch):
    monkeypatch.setenv("CUDAOPT_NVRTC", "/nowhere/libnvrtc.so.13")
    result = broken.run("-m", "cudaopt_check")

    result.assert_outcomes(failed=3, deselected=7)
    text = result.stdout.str()
    assert text.count("Correct CUDAOPT_NVRTC or unset it") == 1
    assert text.count("ENVIRONMENT: CUDAOPT_NVRTC (as explained at the first failure)") == 2
    assert result.ret == pytest.ExitCode.TESTS_FAILED


def test_a_missing_harness_is_an_environment_failure(broken, monkeypatch):
    monkeypatch.setenv("CUDAOPT_HARNESS", "/nowhere/cudaopt-harness")
    result = broken.run("-m", "cudaopt_check")

    result.assert_outcomes(failed=3, deselected=7)
    result.stdout.fnmatch_lines(["ENVIRONMENT: CUDAOPT_HARNESS", "  got       /nowhere/cudaopt-harness"])


def test_a_results_folder_that_cannot_be_made_fails_only_the_optimisation(broken):
    broken.write("results", "a file in the way")
    result = broken.run_alone("--optimize", "-k", "scale")

    result.assert_outcomes(passed=6, failed=1, deselected=5)
    result.stdout.fnmatch_lines(
        ["ENVIRONMENT: results folder *", "  next      Choose another one with --optimize-results"]
    )


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_read_only_results_folder_is_an_environment_failure(broken):
    (broken.path / "results").mkdir(mode=0o500)

    broken.run_alone("--optimize", "-k", "optimize and scale").stdout.fnmatch_lines(
        ["ENVIRONMENT: results folder *", "  got       Permission denied"]
    )


def test_a_kernel_in_a_class_is_an_error_and_not_silence(project):
    project.write(
        "test_inner.py",
        "from pytest_cudaopt import Out, case, f32, i32, kernel\n"
        "class TestInner:\n"
        "    @kernel('scale.cu', cases=[case(n=3)])\n"
        "    def inner(y=Out(f32, 'n'), n=i32):\n"
        "        y[...] = 1\n",
    )
    result = project.run("test_inner.py")
    assert result.ret == pytest.ExitCode.INTERRUPTED
    result.stdout.fnmatch_lines(["*kernel 'inner'*", "*one in class TestInner*"])


@pytest.mark.parametrize("name", ["T", "A", "B", "P0", "size", "same"])
def test_a_tunable_may_have_any_common_name(project, name):
    project.write("scale.cu", (project.path / "scale.cu").read_text().replace("BLOCK", name))
    project.run("-k", "check").assert_outcomes(passed=2)
