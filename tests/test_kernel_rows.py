"""`cudaopt doctor --kernels`: what each declared kernel needs, without running any."""

import json

import pytest

YES, NO, NOT_JUDGED = 0, 1, 2


def test_kernels_the_simulator_executes_are_fine(project):
    result = project.cudaopt("doctor", "--kernels")

    assert result.ret == YES
    result.stdout.fnmatch_lines(["found *test_scale.py::scale *sim ok"])


def test_a_kernel_that_needs_a_gpu_says_for_which_instruction(project):
    project.edit("scale.cu", "int i =", 'asm volatile("barrier.cluster.wait;"); int i =')
    result = project.cudaopt("doctor", "--kernels", "test_scale.py")

    assert result.ret == YES
    result.stdout.fnmatch_lines(
        ["absent *needs a GPU: sim cannot execute 'barrier.cluster.wait' (kernel scale, *scale.cu:4)*"]
    )


def test_another_kernel_of_the_file_needing_a_gpu_does_not_count(project):
    other = 'extern "C" __global__ void other() { asm volatile("barrier.cluster.wait;"); }\n'
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


WAIT = 'asm volatile("barrier.cluster.wait;");'
INCLUDING = [("scale.cu", "// @launch", '#include "factor.h"\n// @launch'), ("scale.cu", "2.0f", "FACTOR")]


@pytest.fixture
def including(project):
    """The kernel with a header that only the project's settings lead to."""
    for edit in INCLUDING:
        project.edit(*edit)
    project.write("lib/factor.h", "#include <torch/extension.h>\n#define FACTOR 2.0f\n")
    assert project.cudaopt("doctor", "--kernels").ret == NO
    return project


def test_folders_and_stubs_of_the_command_line_apply(including):
    result = including.cudaopt("doctor", "--kernels", "--include=lib", "--stub=torch/*")

    assert result.ret == YES
    result.stdout.fnmatch_lines(["found *sim ok"])


def test_folders_and_stubs_of_the_environment_apply(including, monkeypatch):
    monkeypatch.setenv("CUDAOPT_INCLUDE", "lib")
    monkeypatch.setenv("CUDAOPT_STUB", "torch/*")

    assert including.cudaopt("doctor", "--kernels").ret == YES


def test_each_module_has_the_settings_of_its_own_ini_file(including):
    for name in ("scale.cu", "test_scale.py", "lib/factor.h"):
        including.write(f"sub/{name}", (including.path / name).read_text())
    including.write("sub/pytest.ini", "[pytest]\ncudaopt_include = lib\ncudaopt_stub = torch/*\n")
    result = including.cudaopt("doctor", "--kernels")

    assert result.ret == NO
    result.stdout.fnmatch_lines_random(
        ["found *sub/test_scale.py::scale*", "missing *test_scale.py::scale *"]
    )


def test_macros_of_a_compilation_database_apply(project):
    project.edit("scale.cu", "2.0f", "FACTOR")
    entry = {"directory": str(project.path), "file": "scale.cu", "command": "nvcc -DFACTOR=2.0f -c scale.cu"}
    project.write("compile_commands.json", json.dumps([entry]))

    assert project.cudaopt("doctor", "--kernels").ret == NO
    assert project.cudaopt("doctor", "--kernels", "--compdb=compile_commands.json").ret == YES


def test_a_folder_of_the_settings_that_is_not_there_is_the_kernels_row(project):
    result = project.cudaopt("doctor", "--kernels", "--include=nowhere")

    assert result.ret == NO
    result.stdout.fnmatch_lines(["missing *::scale *cudaopt_include: expected folders, got 'nowhere'*"])


@pytest.mark.parametrize(
    ("old", "new", "code", "line"),
    [
        ("2.0f", "2.0f", YES, "found *::scale *sim ok"),
        ("int i =", f"{WAIT} int i =", YES, "absent *::scale *reference naive.cu::scale: needs a GPU*"),
        ("2.0f", "nonsense", NO, "missing *reference naive.cu::scale: does not compile*nonsense*"),
        ("// @launch", "// launch", NO, "missing *reference naive.cu::scale: *expected a launch rule*"),
    ],
)
def test_a_kernel_whose_reference_is_one_needs_what_that_needs(project, old, new, code, line):
    text = (project.path / "scale.cu").read_text()
    project.write("naive.cu", text.replace(old, new))
    project.edit("test_scale.py", '"scale.cu", ', '"scale.cu", reference="naive.cu", ')
    result = project.cudaopt("doctor", "--kernels")

    assert result.ret == code
    result.stdout.fnmatch_lines([line])


def test_a_kernel_worse_than_its_reference_has_its_own_row(project):
    text = (project.path / "scale.cu").read_text()
    project.write("naive.cu", text.replace("int i =", f"{WAIT} int i ="))
    project.edit("scale.cu", "2.0f", "nonsense")
    project.edit("test_scale.py", '"scale.cu", ', '"scale.cu", reference="naive.cu", ')

    result = project.cudaopt("doctor", "--kernels")

    assert result.ret == NO
    result.stdout.fnmatch_lines(["missing *::scale *does not compile: *scale.cu:5*"])
    result.stdout.no_fnmatch_line("*reference*")
