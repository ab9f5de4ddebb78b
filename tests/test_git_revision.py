"""Revisions of real repositories: which commit a name stands for, what it holds, and what cannot be read."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from git_projects import Repository

from pytest_cudaopt.errors import EnvironmentFault, SettingsError
from pytest_cudaopt.git_revision import Revision, decoded, entries, resolve

OPTION = "--cudaopt-against"


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    made = Repository.begun(tmp_path / "project")
    made.write("k/scale.cu", "first\n")
    made.commit()
    return made


@pytest.mark.parametrize("name", ["main", "HEAD", "HEAD~1", "v1", ":/Second", "HEAD^{/Second}"])
def test_a_name_stands_for_the_commit_that_git_says(repository: Repository, name: str) -> None:
    repository.git("tag", "--annotate", "v1", "--message", "one")
    repository.commit("Second")
    found = resolve(repository.path / "k", name, OPTION)
    assert found == Revision(
        name, repository.git("rev-parse", "main~1" if "1" in name else "main"), repository.path
    )


def test_a_revision_is_shown_by_its_name_and_the_commit_it_stood_for() -> None:
    assert str(Revision("origin/main", "0123456789abcdef", Path("/p"))) == "origin/main (0123456789)"
    assert str(Revision("0123456", "0123456789abcdef", Path("/p"))) == "0123456789"


@pytest.mark.parametrize(
    ("name", "advice"),
    [
        ("mian", "Did you mean 'main'?"),
        ("--output=x", "Fetch it"),
        ("^main", "Did you mean 'main'?"),
        ("main..main", "Fetch it"),
        ("HEAD:k/scale.cu", "Fetch it"),
        ("", "Fetch it"),
        ("0" * 40, "Fetch it"),
        ("topic", "Fetch it: git fetch origin topic"),
    ],
)
def test_an_unknown_revision_is_refused_with_what_to_do(
    repository: Repository, name: str, advice: str
) -> None:
    repository.git("remote", "add", "origin", "https://example.invalid/k.git")
    with pytest.raises(SettingsError) as raised:
        resolve(repository.path, name, OPTION)
    assert str(raised.value).startswith(
        f"{OPTION}: expected a revision of the git repository {repository.path}, got '{name}', which it does"
    )
    assert advice in str(raised.value)


def test_without_a_remote_it_says_what_there_is(repository: Repository) -> None:
    repository.git("branch", "topic")
    with pytest.raises(SettingsError, match=r"It has main, topic, and no remote to fetch others from"):
        resolve(repository.path, "origin/main", OPTION)


def test_of_a_shallow_clone_it_says_how_to_get_the_rest(repository: Repository, tmp_path: Path) -> None:
    repository.git("branch", "topic")
    repository.commit()
    shallow = Repository(tmp_path / "shallow")
    repository.git("clone", "--quiet", "--depth=1", f"file://{repository.path}", str(shallow.path))
    shallow.git("branch", "--move", "main", "work")
    with pytest.raises(SettingsError, match=r"Did you mean 'origin/main'\?"):
        resolve(shallow.path, "main", OPTION)
    with pytest.raises(SettingsError) as raised:
        resolve(shallow.path, "origin/topic", OPTION)
    assert str(raised.value).endswith(
        "Fetch it: git fetch origin topic; this clone is shallow: git fetch --unshallow, "
        "or fetch-depth: 0 of actions/checkout"
    )
    shallow.git("fetch", "--quiet", "origin", "topic:refs/remotes/origin/topic")
    assert resolve(shallow.path, "origin/topic", OPTION).name == "origin/topic"


def test_outside_of_a_repository_there_is_no_revision(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    with pytest.raises(SettingsError, match=rf"{OPTION}: expected tests in a git repository, got {tmp_path}"):
        resolve(tmp_path, "HEAD", OPTION)


def test_a_repository_without_a_commit_says_so(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="It has no commit yet"):
        resolve(Repository.begun(tmp_path).path, "HEAD", OPTION)


def test_a_repository_that_git_refuses_to_read_is_told_in_its_own_words(repository: Repository) -> None:
    repository.write(".git/config", "[core\n")
    with pytest.raises(EnvironmentFault, match="bad config line 1"):
        resolve(repository.path, "HEAD", OPTION)


def test_without_git_it_says_what_to_install(
    repository: Repository, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(EnvironmentFault, match=r"git: expected the program on PATH, got none\. Install git"):
        resolve(repository.path, "HEAD", OPTION)


def test_a_git_that_cannot_be_started_is_no_traceback(
    repository: Repository, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    program = tmp_path / "git"
    program.write_bytes(b"\x7fELF")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(EnvironmentFault, match="Exec format error"):
        resolve(repository.path, "HEAD", OPTION)


def test_a_git_that_never_answers_is_given_up(
    repository: Repository, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    program = tmp_path / "git"
    program.write_text("#!/bin/sh\nread forever < /dev/tty || exec tail -f /dev/null\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.setattr("pytest_cudaopt.git_revision._TIMEOUT_S", 0.1)
    with pytest.raises(EnvironmentFault, match=r"expected an answer in 0\.1 s"):
        resolve(repository.path, "HEAD", OPTION)


def test_where_git_started_the_tests_its_own_variables_do_not_mislead(
    repository: Repository, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    other = Repository.begun(tmp_path / "other")
    commit = other.commit()
    monkeypatch.setenv("GIT_DIR", str(repository.path / ".git"))
    monkeypatch.setenv("GIT_WORK_TREE", str(repository.path))
    monkeypatch.setenv("GIT_INDEX_FILE", "index")
    assert resolve(other.path, "HEAD", OPTION) == Revision("HEAD", commit, other.path)


def test_text_is_read_as_from_a_file() -> None:
    assert decoded(b"\xef\xbb\xbfa\r\nb\rc\n") == "a\nb\nc\n"
    assert decoded(b"\xff", errors="replace") == "\ufffd"
    with pytest.raises(UnicodeDecodeError):
        decoded(b"\xff")


def test_a_commit_whose_objects_are_gone_is_an_error(repository: Repository) -> None:
    gone = Revision("gone", "0" * 40, repository.path)
    with pytest.raises(
        EnvironmentFault, match=r"ls-tree .*: expected an answer, got fatal: not a tree object"
    ):
        entries(gone)
