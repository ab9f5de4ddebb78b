"""What the pages under docs show is what can be declared."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterable
from pathlib import Path

import pytest

import pytest_cudaopt

# Made-up projects forget what they import, and half of this cannot be imported anew.
import pytest_cudaopt.optimize.graph
from conftest import Project
from pytest_cudaopt import Kernel
from pytest_cudaopt.families import Family
from pytest_cudaopt.from_files import cases, parameters, signature
from pytest_cudaopt.from_files.config import FILE_KEYS
from pytest_cudaopt.gated import GateVerdict
from pytest_cudaopt.mutate.edits import MutantKind
from pytest_cudaopt.optimize.plain_form import found_in
from pytest_cudaopt.optimize.proposal_form import fill
from pytest_cudaopt.option_text import BASELINE_MODES
from pytest_cudaopt.properties import Property

DOCS = Path(__file__).parent.parent / "docs"
GOLDEN = Path(__file__).parent / "golden" / "baselines"
BLOCKS = re.findall(r"^```python\n(.*?)^```$", (DOCS / "declaring.md").read_text(), re.DOTALL | re.MULTILINE)
NAMES = [re.findall(r"^def (\w+)", block, re.MULTILINE)[-1] for block in BLOCKS]


@pytest.mark.parametrize(
    "block", BLOCKS, ids=[re.findall(r"^def (\w+)", block, re.M)[-1] for block in BLOCKS]
)
def test_every_shown_declaration_is_accepted(block: str, tmp_path: Path) -> None:
    names = {name: getattr(pytest_cudaopt, name) for name in pytest_cudaopt.__all__}
    space = {**names, "np": pytest.importorskip("numpy")}
    # Errors are then shown at its lines.
    file = tmp_path / "test_shown.py"
    file.write_text(block)
    exec(compile(block, str(file), "exec"), space)  # noqa: S102 - the page is our own
    assert [value for value in space.values() if type(value) is Kernel]


def test_every_public_name_is_explained() -> None:
    page = (DOCS / "declaring.md").read_text() + (DOCS.parent / "README.md").read_text()
    assert [name for name in pytest_cudaopt.__all__ if not re.search(rf"\b{name}\b", page)] == []


def test_every_property_and_family_is_explained() -> None:
    page = (DOCS / "declaring.md").read_text()
    section = page.split("\n## Properties\n")[1].split("\n## ")[0]
    rows = re.findall(r"^\| `(\w+)` \| (.*?) \|", section, re.MULTILINE)
    assert [name for name, _ in rows] == list(Property)
    assert [one for one, (_, words) in zip(Property, rows, strict=True) if words not in one.meaning] == []
    assert [
        family for family in Family if not re.search(rf"\b{family}\b", section.split("Families are")[1])
    ] == []


def test_every_kind_of_mutant_is_explained() -> None:
    rows = re.findall(r"^\| ([a-z ]+) \|", (DOCS / "strength.md").read_text(), re.MULTILINE)
    assert rows == ["kind", *MutantKind]


def test_the_shown_baseline_is_what_is_written() -> None:
    (shown,) = re.findall(
        r"^```json\n(.*?)^```$", (DOCS / "baselines.md").read_text(), re.DOTALL | re.MULTILINE
    )
    assert shown == (GOLDEN / "test_scale.scale.nvidia-h200.json").read_text()


def test_every_mode_and_action_of_baselines_is_explained(project: Project) -> None:
    page = (DOCS / "baselines.md").read_text()
    assert re.findall(r"^\| `(\S+)`.* \| (?:yes|no)", page, re.MULTILINE) == list(BASELINE_MODES)
    offered = re.search(r"\{(.*?)\}", project.cudaopt("baseline", "--help").stdout.str())
    assert offered is not None
    assert re.findall(r"^\| `cudaopt baseline (\w+)", page, re.MULTILINE) == offered[1].split(",")
    assert [one for one in GateVerdict if f"\n| `{one}` |" not in page] == []


PAGE = (DOCS / "optimizing.md").read_text()
FILES = DOCS.parent / "example_kernels" / "files"
SHOWN_FILES = re.findall(
    r"^`example_kernels/files/([\w.]+)`[^\n]*\n\n```\w+\n(.*?)^```$", PAGE, re.DOTALL | re.M
)
# What holds blocks itself: an answer in plain text.
SHOWN_IN_BLOCKS = re.findall(r"^````text\n(.*?)^````$", PAGE, re.DOTALL | re.MULTILINE)
SHOWN = re.findall(
    r"^```(\w+)\n(.*?)^```$", re.sub(r"^````.*?^````$", "", PAGE, flags=re.DOTALL | re.M), re.DOTALL | re.M
)


def test_the_page_shows_the_files_of_the_example_as_they_are() -> None:
    assert dict(SHOWN_FILES) == {file.name: file.read_text() for file in FILES.iterdir() if file.is_file()}


def test_the_shown_answer_is_one_that_is_understood() -> None:
    (answer,) = [text for kind, text in SHOWN if kind == "json" and text not in dict(SHOWN_FILES).values()]
    filled = fill(answer)
    assert "// @launch[cols <= 64] block=(32)" in filled.source
    assert "// @tune BLOCK = 256, 128" in filled.source


def test_the_shown_answer_in_plain_text_is_one_that_is_understood() -> None:
    (answer,) = SHOWN_IN_BLOCKS
    filled = fill(found_in(answer))
    assert filled.source.startswith("// @launch grid=(rows) block=(BLOCK)\n// @tune BLOCK = 256, 128\n")
    assert "__global__ void softmax" in filled.source


def test_the_shown_run_is_what_its_command_prints(project: Project) -> None:
    shutil.copytree(FILES, project.path / "example_kernels" / "files")
    (shown,) = [text for kind, text in SHOWN if kind == "text"]
    command, *expected = shown.splitlines()
    result = project.cudaopt(*command.removeprefix("$ cudaopt ").split())
    assert result.ret == 0
    assert [masked(line) for line in result.stdout.lines] == [masked(line) for line in expected]


def masked(line: str) -> str:
    """Without what another compiler version may change, and without what is drawn anew."""
    secret = re.sub(r"\d+ trials of \d+ properties \(seed \d+\)", "# trials", line)
    return re.sub(r"\d+\.\d+", "#", secret)


def test_every_kind_of_block_on_the_page_is_tested() -> None:
    assert sorted(kind for kind, _ in SHOWN) == ["cuda", "json", "json", "json", "json", "python", "text"]


@pytest.mark.parametrize(
    "names",
    [
        ("kernel", "parameters", *signature.OPTIONAL),
        cases.OPTIONAL,
        FILE_KEYS,
        (*parameters.FORMS, *parameters.SOURCES),
        [keyword for form in parameters.FORMS.values() for keyword in form.keywords],
    ],
    ids=["signature", "cases", "config", "roles and generators", "of parameters"],
)
def test_every_key_of_the_files_is_explained(names: Iterable[str]) -> None:
    assert [name for name in names if f"`{name}`" not in PAGE] == []
