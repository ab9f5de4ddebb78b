"""Git repositories made for tests: a folder with kernels, commits, clones."""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from conftest import Project

_IDENTITY = {
    "GIT_AUTHOR_NAME": "A",
    "GIT_AUTHOR_EMAIL": "a@example.invalid",
    "GIT_COMMITTER_NAME": "A",
    "GIT_COMMITTER_EMAIL": "a@example.invalid",
    # Whatever the machine's own settings say of signatures, line ends and hooks.
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_SYSTEM": os.devnull,
    # Only here: a file for a submodule to come from.
    "GIT_ALLOW_PROTOCOL": "file",
}


@dataclass(frozen=True)
class Repository:
    """A repository in `path`, whose first branch is main."""

    path: Path

    @classmethod
    def begun(cls, path: Path) -> Repository:
        path.mkdir(parents=True, exist_ok=True)
        repository = cls(path)
        repository.git("init", "--quiet", "--initial-branch=main")
        return repository

    def git(self, *arguments: str) -> str:
        ended = subprocess.run(
            ["git", "-C", str(self.path), *arguments],
            env={**os.environ, **_IDENTITY},
            capture_output=True,
            text=True,
            check=False,
        )
        assert ended.returncode == 0, ended.stderr
        return ended.stdout.strip()

    def write(self, name: str, text: str | bytes) -> Path:
        file = self.path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text.encode() if isinstance(text, str) else text)
        return file

    def commit(self, message: str = "Change something") -> str:
        """Commit everything that is there and return the commit's id."""
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "--message", message)
        return self.git("rev-parse", "HEAD")


def commit(project: Project) -> str:
    return Repository(project.path).commit()


def head(project: Project) -> str:
    return Repository(project.path).git("rev-parse", "HEAD")[:10]


def kernels_run(result: pytest.RunResult) -> set[str]:
    lines = [line.split(" ")[0] for line in result.outlines if "::" in line and line.endswith("%]")]
    return {line.partition("::")[2].partition("[")[0] for line in lines} - {"test_plain"}


def changed(project: Project, *arguments: str) -> set[str]:
    """Return the kernels that are run although only changed ones are."""
    result = project.run("-v", "--cudaopt-changed", *arguments)
    assert result.ret == 0, result.outlines
    return kernels_run(result)
