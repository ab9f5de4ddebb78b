"""`cudaopt doctor --kernels`: what each declared kernel needs, without running any."""

import pytest

YES, NO, NOT_JUDGED = 0, 1, 2


def test_kernels_the_simulator_executes_are_fine(project):
    result = project.cudaopt("doctor", "--kernels")

    assert result.ret == YES
    result.stdout.fnmatch_lines(["found *test_scale.py::scale *sim ok"])


def test_a_kernel_that_needs_a_gpu_says_for_which_instruction(project):
    project.edit("scale.cu", "int i =", 'asm volatile("griddepcontrol.wait;"); int i =')
    result = project.cudaopt("doctor", "--kernels", "test_scale.py")

    assert result.ret == YES
    result.stdout.fnmatch_lines(
        ["absent *needs a GPU: sim cannot execute 'griddepcontrol.wait' (kernel scale, *scale.cu:4)*"]
    )


def test_another_kernel_of_the_file_needing_a_gpu_does_not_count(project):
    other = 'extern "C" __global__ void other() { asm volatile("griddepcontrol.wait;"); }\n'
    project.write("scale.cu", (project.path / "scale.cu").read_text() + other)

    project.cudaopt("doctor", "--kernels").stdout.fnmatch_lines(["found *sim ok"])


@pytest.mark.parametrize(
    ("name", "old", "new", "line"),
    [
        ("scale.cu", "2.0f", "nonsense", "*::scale *does not compile: *scale.cu:5:*nonsense*"),
        ("scale.cu", "@launch grid", "@launch gird", "*::scale *launch rule 'gird=*"),
        ("test_scale.py", '"scale.cu"', '"other.cu"', "*::scale *expected a readable file*other.cu*"),
        ("test_scale.py", "@kernel", "1 / 0\n@kernel", "*test_scale.py *ZeroDivisionError*"),
    ],
)
def test_a_kernel_that_cannot_be_compiled_is_a_no(project, name, old, new, line):
    project.edit(name, old, new)
    result = project.cudaopt("doctor", "--kernels")

    assert result.ret == NO
    result.stdout.fnmatch_lines([f"missing {line}"])


def test_folders_pytest_does_not_collect_from_are_left_alone(project):
    for folder in (".hidden", "build", "results/run-001"):
        project.write(f"{folder}/test_broken.py", "1 / 0\n")

    assert project.cudaopt("doctor", "--kernels").ret == YES


@pytest.mark.parametrize(
    ("path", "got"),
    [("nowhere.py", "*expected  a test module or a folder"), ("empty", "*got *none in 0 test modules")],
)
def test_paths_without_kernels_say_so(project, path, got):
    (project.path / "empty").mkdir()
    result = project.cudaopt("doctor", "--kernels", path)

    assert result.ret == NOT_JUDGED
    result.stderr.fnmatch_lines(["DECLARATION: *", got])
