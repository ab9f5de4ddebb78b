"""What the pages under docs show is what can be declared."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import pytest_cudaopt
from pytest_cudaopt import Kernel
from pytest_cudaopt.families import Family
from pytest_cudaopt.mutate.edits import MutantKind
from pytest_cudaopt.properties import Property

DOCS = Path(__file__).parent.parent / "docs"
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
