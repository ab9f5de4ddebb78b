"""Regions: only a kernel's own lines are compiled, read for directives, and written back."""

from __future__ import annotations

from pathlib import Path

import pytest
from made_up_runs import declare_twice

from conftest import Project
from pytest_cudaopt import regions
from pytest_cudaopt.errors import SourceError
from pytest_cudaopt.evaluation import LatencyKind
from pytest_cudaopt.optimize.accept import AcceptOutcome, AcceptPolicy, accept

TWO = """\
#include <vector>
// @cudaopt begin first
int one;
// @cudaopt end
host code
// @cudaopt begin ns::second<4>
int two;
// @cudaopt end ns::second<4>
"""


def test_only_the_named_region_is_left_and_lines_keep_their_numbers() -> None:
    assert regions.select(TWO, ("first", "entry"), "k.cu") == (
        "\n// @cudaopt begin first\nint one;\n// @cudaopt end\n\n\n\n\n"
    )
    selected = regions.select(TWO, ("absent", "ns::second<4>"), "k.cu")
    assert selected.splitlines()[6] == "int two;"
    assert "one" not in selected


def test_a_source_without_regions_is_taken_whole() -> None:
    assert regions.select("int a; // @cudaopt begin x\n", ("x",), "k.cu") == "int a; // @cudaopt begin x\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "\n// @cudaopt begin a\n",
            "k.cu:2: region 'a': expected a line '// @cudaopt end' below, got the end of",
        ),
        ("// @cudaopt end\n", "k.cu:1: // @cudaopt end: expected '// @cudaopt begin NAME', got 'end'"),
        ("// @cudaopt begin\n", "k.cu:1: // @cudaopt begin: expected '// @cudaopt begin NAME', got 'begin'"),
        ("// @cudaopt start a\n", "expected '// @cudaopt begin NAME', got 'start a'"),
        (
            "// @cudaopt begin a\n// @cudaopt begin b\n",
            "k.cu:2: region 'b': expected '// @cudaopt end' of region 'a'",
        ),
        (
            "// @cudaopt begin a\n// @cudaopt end b\n",
            "k.cu:2: // @cudaopt end b: expected '// @cudaopt end' of region",
        ),
        (
            "// @cudaopt begin a\n// @cudaopt end\n// @cudaopt begin a\n// @cudaopt end\n",
            "k.cu:3: region 'a': expected one of that name, got a second one",
        ),
        (
            TWO,
            "k.cu: expected a region 'x', since it has regions, got 'first', 'ns::second<4>'. Write '// @cud",
        ),
    ],
)
def test_marks_that_make_no_sense_are_named_with_their_line(text: str, message: str) -> None:
    with pytest.raises(SourceError) as caught:
        regions.select(text, ("x",), "k.cu")
    assert str(caught.value).startswith(message) or message in str(caught.value)


def test_what_is_inside_can_be_replaced_and_nothing_else_changes() -> None:
    text = "\ufeff// @cudaopt begin a\r\nold\rolder\r\n// @cudaopt end\r\nrest\n\x0cmore"
    seen: list[str] = []
    new = regions.replace_inside(text, lambda own: seen.append(own) or "new\n", ("a",))
    assert seen == ["old\nolder\n"]
    assert new == "\ufeff// @cudaopt begin a\r\nnew\r\n// @cudaopt end\r\nrest\n\x0cmore"


# Written back.

BEFORE, AFTER = "#include <vector>\r\nint host() { return 1; }\r\n", "// caf\u00e9\r\nint more;\x0c\n"
KERNEL = """\
// @tune BLOCK = 64, 128, 256, 512
extern "C" __global__ void twice(const float* x, float* y, int n) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i < n) y[i] = 2 * x[i];
}
"""
RULE = "// @launch grid=(cdiv(n, BLOCK)) block=(BLOCK)\n"
OWN = (RULE + KERNEL).replace("\n", "\r\n")
FILE = f"{BEFORE}// @cudaopt begin twice\r\n{OWN}// @cudaopt end\r\n{AFTER}"
ALWAYS = AcceptPolicy(accept=True, accept_modelled=True)


def put(folder: Path, text: str) -> Path:
    path = folder / "twice.cu"
    path.write_bytes(text.encode())
    return path


@pytest.fixture
def declared(tmp_path: Path):
    kernel = declare_twice(tmp_path)
    put(tmp_path, FILE)
    return kernel


def test_only_the_region_of_the_file_is_written_back(tmp_path: Path, declared) -> None:
    start = declared.start()
    winner = start.with_tunables({"BLOCK": 512})
    outcome = accept(
        declared.source, start.source, winner, LatencyKind.MODELLED, ALWAYS, declared.region_names
    ).outcome
    assert outcome is AcceptOutcome.WRITTEN
    expected = FILE.replace("BLOCK = 64, 128, 256, 512", "BLOCK = 512, 64, 128, 256")
    assert declared.source.read_bytes() == expected.encode()
    assert declared.start().chosen == {"BLOCK": 512}


def test_a_winner_without_marks_fills_the_region(declared) -> None:
    winner = declared.candidate(RULE + KERNEL.replace("2 * x[i]", "x[i] + x[i]"), Path("model.cu"))
    accept(
        declared.source, declared.start().source, winner, LatencyKind.MODELLED, ALWAYS, declared.region_names
    )
    expected = FILE.replace("2 * x[i]", "x[i] + x[i]")
    assert declared.source.read_bytes() == expected.encode()


def test_a_rule_from_the_declaration_is_written_into_the_region(declared) -> None:
    start = declared.candidate(FILE.replace(RULE.replace("\n", "\r\n"), ""), declared.source)
    text = start.standalone_source()
    assert declared.candidate(text, declared.source).launch == start.launch
    assert text.index("@cudaopt begin") < text.index("@launch") < text.index("@tune")


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("int host()", "// moved down\r\nint host()", AcceptOutcome.WRITTEN),
        ("2 * x[i]", "3 * x[i]", AcceptOutcome.SOURCE_CHANGED),
        ("@cudaopt end", "@cudaopt ended", AcceptOutcome.SOURCE_CHANGED),
    ],
)
def test_a_file_is_only_written_if_the_region_is_as_the_run_found_it(
    tmp_path: Path, declared, old: str, new: str, expected: AcceptOutcome
) -> None:
    start = declared.start()
    changed = FILE.replace(old, new)
    put(tmp_path, changed)
    winner = start.with_tunables({"BLOCK": 512})
    outcome = accept(
        declared.source, start.source, winner, LatencyKind.MODELLED, ALWAYS, declared.region_names
    ).outcome
    assert outcome is expected
    assert expected is AcceptOutcome.WRITTEN or declared.source.read_bytes() == changed.encode()


# With pytest.

PRODUCTION = """\
#include <vector>
#include <string>
// @launch grid=(1) block=(1)
std::vector<int> host() { return {}; }
// @cudaopt begin scale
// @launch grid=(cdiv(n, BLOCK)) block=(BLOCK)
// @tune BLOCK = 64, 128
extern "C" __global__ void scale(const float* x, float* y, int n) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i < n) y[i] = 2.0f * x[i];
}
// @cudaopt end
void launcher() { scale<<<1, 1>>>(nullptr, nullptr, 0); }
"""


def test_a_kernel_among_host_code_is_checked_and_errors_keep_their_lines(project: Project) -> None:
    project.write("scale.cu", PRODUCTION)
    project.run("--cudaopt-device=sim").assert_outcomes(passed=6)
    project.edit("scale.cu", "2.0f * x[i]", "2.0f * z[i]")
    result = project.run("--cudaopt-device=sim")
    result.assert_outcomes(failed=6)
    result.stdout.fnmatch_lines(['*scale.cu:10:*error: identifier "z" is undefined*'])


def test_a_region_of_another_name_is_no_kernels(project: Project) -> None:
    project.write("scale.cu", PRODUCTION.replace("begin scale", "begin scales"))
    result = project.run("--cudaopt-device=sim")
    assert result.ret != 0
    result.stdout.fnmatch_lines(["*expected*a region 'scale', since it has regions*"])


def test_an_accepted_winner_leaves_the_rest_of_the_file(project: Project) -> None:
    project.write("scale.cu", PRODUCTION)
    project.run("--cudaopt-device=sim", "--optimize", "--optimize-accept", "--optimize-accept-modelled")
    text = (project.path / "scale.cu").read_text()
    head, tail = PRODUCTION.split("// @cudaopt begin scale\n")[0], PRODUCTION.split("// @cudaopt end\n")[1]
    assert text.startswith(head + "// @cudaopt begin scale\n")
    assert text.endswith("// @cudaopt end\n" + tail)
