"""Fixtures of committed projects: `pytest_plugins = ["git_project_fixtures"]` in a test module."""

from __future__ import annotations

import pytest
from git_projects import Repository

from conftest import Project
from pytest_cudaopt.item_work import Finished


@pytest.fixture
def two(project: Project, monkeypatch: pytest.MonkeyPatch) -> Project:
    """The kernels `again` and `scale` and an ordinary test, all committed.

    Nothing is judged but in processes of their own: it is of no interest here.
    """
    monkeypatch.setattr("pytest_cudaopt.items.run", lambda work, session, announce: Finished(work.row))
    project.write("test_plain.py", "def test_plain(): pass\n")
    for name in ("scale.cu", "test_scale.py"):
        text = (project.path / name).read_text()
        project.write(name.replace("scale", "again"), text.replace("scale", "again"))
    project.write(".gitignore", "__pycache__\n.benchmarks\n")
    Repository.begun(project.path).commit()
    return project
