"""Which items a declared kernel becomes, and that pytest treats them as any others."""

import pytest

COLLECTS_JSON = """\
import pytest

class Item(pytest.Item):
    def runtest(self): pass

class File(pytest.File):
    def collect(self):
        yield Item.from_parent(self, name="json")

def pytest_collect_file(file_path, parent):
    return File.from_parent(parent, path=file_path) if file_path.suffix == ".json" else None
"""


def ids_of(result: pytest.RunResult) -> list[str]:
    return [line for line in result.outlines if "::" in line]


def test_one_check_per_case_and_one_latency_per_measured_case(project):
    assert ids_of(project.run("--collect-only", "-q")) == [
        "test_scale.py::scale[check-n51]",
        "test_scale.py::scale[check-n4096]",
        "test_scale.py::scale[fuzz]",
        "test_scale.py::scale[contract]",
        "test_scale.py::scale[sanitize]",
        "test_scale.py::scale[latency-n4096]",
    ]


def test_no_drawn_cases_no_item(project):
    assert (
        ids_of(project.run("--collect-only", "-q", "--cudaopt-fuzz-examples=0", "-k", "fuzz or contract"))
        == []
    )


def test_no_elements_to_sanitize_no_item(project):
    assert (
        ids_of(project.run("--collect-only", "-q", "--cudaopt-sanitize-elements=0", "-k", "sanitize")) == []
    )


def test_optimize_adds_one_item(project):
    assert ids_of(project.run("--collect-only", "-q", "--optimize"))[6:] == ["test_scale.py::scale[optimize]"]


def test_an_alias_is_not_collected_twice(project):
    project.write("test_scale.py", (project.path / "test_scale.py").read_text() + "\nagain = scale\n")

    assert len(ids_of(project.run("--collect-only", "-q"))) == 6


def test_an_imported_kernel_belongs_to_the_module_that_declares_it(project):
    project.write("test_other.py", "from test_scale import scale\n\ndef test_it(): assert callable(scale)\n")

    assert ids_of(project.run("--collect-only", "-q", "test_other.py")) == ["test_other.py::test_it"]


def test_a_kernel_made_by_a_function_elsewhere_belongs_to_the_module_that_holds_it(project):
    declaration = (project.path / "test_scale.py").read_text().split("\n\n")
    body = declaration[1].replace("\n", "\n    ")
    project.write("makers.py", f"{declaration[0]}\n\ndef make():\n    {body}\n    return scale\n")
    project.write("test_scale.py", "from makers import make\n\nfirst, second = make(), make()\n")

    assert ids_of(project.run("--collect-only", "-q", "-k", "n51")) == [
        "test_scale.py::first[check-n51]",
        "test_scale.py::second[check-n51]",
    ]


def test_a_kernel_named_like_a_test_is_a_kernel(project):
    project.edit("test_scale.py", "def scale(", "def test_scale(")
    project.edit("scale.cu", "void scale(", "void test_scale(")

    assert "test_scale.py::test_scale[check-n51]" in ids_of(project.run("--collect-only", "-q"))


@pytest.mark.parametrize(
    ("selection", "left"),
    [
        (["-k", "latency"], ["test_scale.py::scale[latency-n4096]"]),
        (["-k", "n51"], ["test_scale.py::scale[check-n51]"]),
        (["-m", "cudaopt_latency"], ["test_scale.py::scale[latency-n4096]"]),
        (["-m", "cudaopt_fuzz"], ["test_scale.py::scale[fuzz]"]),
        (["-m", "cudaopt_contract"], ["test_scale.py::scale[contract]"]),
        (["-m", "cudaopt_sanitize"], ["test_scale.py::scale[sanitize]"]),
        (["-k", "sanitize"], ["test_scale.py::scale[sanitize]"]),
        (["-m", "cudaopt_optimize", "--optimize"], ["test_scale.py::scale[optimize]"]),
        (["test_scale.py::scale[check-n51]"], ["test_scale.py::scale[check-n51]"]),
        (
            ["--deselect", "test_scale.py::scale[check-n51]", "-m", "cudaopt_check"],
            ["test_scale.py::scale[check-n4096]"],
        ),
    ],
)
def test_items_are_selected_like_any_others(project, selection, left):
    assert ids_of(project.run("--collect-only", "-q", "--strict-markers", *selection)) == left


def test_a_whole_kernel_is_selected_by_its_name(project):
    assert len(ids_of(project.run("--collect-only", "-q", "test_scale.py::scale"))) == 6


def test_marks_on_a_kernel_apply_to_its_items(project):
    project.edit("test_scale.py", "from pytest_cudaopt", "import pytest\nfrom pytest_cudaopt")
    project.edit("test_scale.py", "@kernel", "@pytest.mark.skip(reason='not today')\n@kernel")
    result = project.run("-rs")

    result.assert_outcomes(skipped=6)
    result.stdout.fnmatch_lines(["*not today*"])


def test_marks_below_the_declaration_apply_too(project):
    project.edit("test_scale.py", "from pytest_cudaopt", "import pytest\nfrom pytest_cudaopt")
    project.edit("test_scale.py", "def scale(", "@pytest.mark.skip\ndef scale(")

    project.run().assert_outcomes(skipped=6)


def test_without_the_plugin_a_module_with_kernels_still_imports(project):
    project.write("test_scale.py", (project.path / "test_scale.py").read_text() + "\ndef test_it(): pass\n")
    result = project.run("-p", "no:cudaopt")

    result.assert_outcomes(passed=1)


def test_runs_are_never_collected_but_a_users_own_results_are(project):
    project.write("results/run-001/test_made.py", "def test_made(): assert False\n")
    project.write("results/test_mine.py", "def test_mine(): pass\n")
    project.write("other/run-001/test_mine_too.py", "def test_mine_too(): pass\n")

    assert ids_of(project.run("--collect-only", "-q", "results", "other")) == [
        "results/test_mine.py::test_mine",
        "other/run-001/test_mine_too.py::test_mine_too",
    ]


def test_baselines_are_never_collected_whatever_else_collects_such_files(project):
    project.write("conftest.py", COLLECTS_JSON)
    project.write("__baselines__/test_made.json", "{}")
    project.write("__baselines__/test_made.py", "def test_made(): assert False\n")
    project.write("other/test_mine.json", "{}")
    found = project.run("--collect-only", "-q", "__baselines__", "other", ".")
    assert [id for id in ids_of(found) if "scale" not in id] == ["other/test_mine.json::json"]


def test_the_configured_results_folder_is_the_one_not_collected(project):
    project.write("out/run-001/test_made.py", "def test_made(): pass\n")

    assert ids_of(project.run("--collect-only", "-q", "out", "--optimize-results=out")) == []
    assert ids_of(project.run("--collect-only", "-q", "out", "--optimize-results=other/../out")) == []
    assert ids_of(project.run("--collect-only", "-q", "out")) == ["out/run-001/test_made.py::test_made"]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('In(f32, "n")', 'In(f32, "m")', ["expected  sizes among n", "got       'm'"]),
        (
            "cases=[case(n=51), case(n=4096, measure=True)]",
            "cases=[]",
            ["DECLARATION: kernel 'scale': cases", "next      Write cases=[[]case(n=...)]"],
        ),
        ("case(n=51)", "case(rows=51)", ["expected  the sizes n", "got       rows"]),
        ("y=Out(f32", "y=In(f32", ["expected  at least one Out or InOut"]),
        ("n=i32):", "n=4):", ["expected  a marker as default*", "got       4"]),
    ],
)
def test_a_wrong_declaration_is_an_error_of_its_module_alone(project, old, new, message):
    project.edit("test_scale.py", old, new)
    project.write("test_other.py", "def test_other(): pass\n")
    result = project.run("--continue-on-collection-errors")

    result.assert_outcomes(errors=1, passed=1)
    result.stdout.fnmatch_lines([f"*{line}" for line in message])
    result.stdout.fnmatch_lines(["*at        test_scale.py:3", "ERROR test_scale.py - DECLARATION*"])
    result.stdout.no_fnmatch_line("*Traceback*")
    result.stdout.no_fnmatch_line("*declare.py*")
    assert result.ret == pytest.ExitCode.TESTS_FAILED


def test_an_error_that_knows_no_place_is_shown_at_the_line_that_made_it(project):
    project.edit(
        "test_scale.py",
        '\n@kernel("scale.cu", cases=[case(n=51)',
        '\nbad = case(n=-1)\n@kernel("scale.cu", cases=[case(n=51)',
    )
    result = project.run()

    result.stdout.fnmatch_lines(["DECLARATION: case(n=)", "*got       -1", "*at        test_scale.py:3"])
    assert result.ret == pytest.ExitCode.INTERRUPTED


def test_other_import_errors_are_left_to_pytest(project):
    project.write("test_scale.py", "import nothing_of_that_name\n")

    project.run().stdout.fnmatch_lines(["*No module named 'nothing_of_that_name'"])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["--cudaopt-device=gpu0"],
            "*--cudaopt-device on the command line: expected auto, sim or cuda:N, got 'gpu0'",
        ),
        (
            ["--optimize-model=replay:"],
            "*--optimize-model on the command line: expected auto, offline*got 'replay:'",
        ),
        (
            ["--cudaopt-fuzz-seed=some"],
            "*--cudaopt-fuzz-seed on the command line: expected a whole number, or random, got 'some'",
        ),
        (["--cudaopt-require=tpu"], "*--cudaopt-require on the command line: expected*gpu*got 'tpu'"),
        (
            ["-o", "cudaopt_threads=many"],
            "*cudaopt_threads in the ini file: expected a whole number*got 'many'",
        ),
    ],
)
def test_a_wrong_option_value_is_a_usage_error(project, arguments, message):
    result = project.run(*arguments)

    result.stderr.fnmatch_lines([message])
    assert result.ret == pytest.ExitCode.USAGE_ERROR


def test_a_wrong_environment_variable_is_a_usage_error(project, monkeypatch):
    monkeypatch.setenv("CUDAOPT_DEVICE", "tpu")
    result = project.run()

    result.stderr.fnmatch_lines(
        ["*CUDAOPT_DEVICE in the environment: expected auto, sim or cuda:N, got 'tpu'"]
    )
    assert result.ret == pytest.ExitCode.USAGE_ERROR


def test_help_lists_the_options_with_their_other_spellings(project):
    result = project.run("--help")

    result.stdout.fnmatch_lines(["CUDA kernels:", "*--optimize-max-iterations=N*"])
    assert "CUDAOPT_OPTIMIZE_MAX_ITERATIONS" in result.stdout.str()
