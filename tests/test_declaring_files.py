"""The Python files that a declaration stands on count as a change of the kernel, and no others."""

from __future__ import annotations

import pytest
from git_projects import changed, commit

from conftest import Project

pytest_plugins = ["git_project_fixtures"]


def test_the_declaration_counts_with_all_that_it_imports(two: Project) -> None:
    two.write("pack/__init__.py", "")
    two.write("pack/oracle.py", "from . import deep\n")
    two.write("pack/deep.py", "TWO = 2\n")
    two.write("pack/unused.py", "")
    two.edit("test_scale.py", "y[...] = 2 * x", "from pack import oracle\n    y[...] = oracle.deep.TWO * x")
    commit(two)
    assert changed(two) == set()
    two.write("pack/unused.py", "X = 1\n")
    assert changed(two) == set()
    two.write("pack/deep.py", "TWO = 2.0\n")
    assert changed(two) == {"scale"}
    commit(two)
    two.edit("test_again.py", "2 * x", "x + x")
    assert changed(two) == {"again"}


def test_a_module_that_makes_the_declaration_counts_however_it_was_found(two: Project) -> None:
    declared = (two.path / "test_scale.py").read_text()
    head, _, body = declared.partition("@kernel")
    indented = "\n".join(f"    {line}" for line in f"@kernel{body}".splitlines())
    two.write("maker.py", f"{head}def make():\n{indented}\n    return scale\n")
    two.write("test_scale.py", "import importlib\nscale = importlib.import_module('maker').make()\n")
    commit(two)
    assert changed(two) == set()
    two.edit("maker.py", "2 * x", "x + x")
    assert changed(two) == {"scale"}


@pytest.mark.parametrize(
    ("folder", "counts"), [("env/site-packages", False), ("prefix/lib", False), ("made", True)]
)
def test_what_is_installed_in_the_project_is_not_of_it(
    two: Project, monkeypatch: pytest.MonkeyPatch, folder: str, counts: bool
) -> None:
    two.write(".gitignore", f"__pycache__\n.benchmarks\n{folder}\n")
    two.write(f"{folder}/dependency_of_scale.py", "")
    two.edit("test_scale.py", "from pytest_cudaopt", "import dependency_of_scale\nfrom pytest_cudaopt")
    commit(two)
    monkeypatch.syspath_prepend(two.path / folder)
    monkeypatch.setattr("pytest_cudaopt.declaring_files.sys.prefix", str(two.path / "prefix"))
    assert changed(two) == ({"scale"} if counts else set())


def test_a_conftest_counts_for_all_modules_beside_and_below(two: Project) -> None:
    two.write("deeper/conftest.py", "")
    for name in ("scale.cu", "test_scale.py"):
        (two.path / name).rename(two.path / "deeper" / name)
    commit(two)
    two.write("deeper/conftest.py", "X = 1\n")
    assert changed(two) == {"scale"}
    commit(two)
    two.write("conftest.py", "")
    assert changed(two) == {"again", "scale"}
