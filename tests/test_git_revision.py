"""Revisions of real repositories: which commit a name stands for, what it holds, and what cannot be read."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from git_projects import Repository

from pytest_cudaopt.errors import EnvironmentFault, SettingsError
from pytest_cudaopt.git_revision import Revision, decoded, entries, resolve
from pytest_cudaopt.revision_files import RevisionFiles, find, path_in

OPTION = "--cudaopt-against"


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    made = Repository.begun(tmp_path / "project")
    made.write("k/scale.cu", "first\n")
    made.commit()
    return made


def text_of(revision: Revision, path: str) -> str | None:
    found = find(revision, path)
    return None if found is None else decoded(found.data)


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
    with pytest.raises(SettingsError) as raised:
        resolve(repository.path, name, OPTION)
    assert str(raised.value).startswith(
        f"{OPTION}: expected a revision of the git repository {repository.path}, got '{name}', which it does"
    )
    assert advice in str(raised.value)


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


def test_neither_hooks_nor_filters_nor_monitors_of_the_user_run(
    repository: Repository, tmp_path: Path
) -> None:
    ran = tmp_path / "ran"
    program = repository.write("program", f"#!/bin/sh\ntouch {ran}\ncat\n")
    program.chmod(0o755)
    repository.write(".gitattributes", "*.cu filter=f diff=f\n")
    repository.commit()
    for key in ("core.fsmonitor", "filter.f.smudge", "diff.f.textconv", "diff.external"):
        repository.git("config", key, str(program))
    revision = resolve(repository.path, "HEAD", OPTION)
    assert text_of(revision, "k/scale.cu") == "first\n"
    assert not ran.exists()


def test_texts_are_those_of_the_commit_whatever_became_of_the_files(repository: Repository) -> None:
    revision = resolve(repository.path, "HEAD", OPTION)
    repository.write("k/scale.cu", "second\n")
    repository.write("k/new.cu", "new\n")
    repository.git("add", "--all")
    assert text_of(revision, "k/scale.cu") == "first\n"
    assert text_of(revision, "k/new.cu") is None
    assert text_of(revision, "k") is None
    assert text_of(revision, "k/scale.cu/inside") is None


@pytest.mark.parametrize("name", ["with space.cu", 'quo"te.cu', "tab\t.cu", "größe.cu", "new\nline.cu"])
def test_any_name_of_a_file_is_found(repository: Repository, name: str) -> None:
    repository.write(f"k/{name}", "odd\n")
    repository.commit()
    assert text_of(resolve(repository.path, "HEAD", OPTION), f"k/{name}") == "odd\n"


def test_text_is_read_as_from_a_file() -> None:
    assert decoded(b"\xef\xbb\xbfa\r\nb\rc\n") == "a\nb\nc\n"
    assert decoded(b"\xff", errors="replace") == "\ufffd"
    with pytest.raises(UnicodeDecodeError):
        decoded(b"\xff")


def test_links_lead_where_they_led_then(repository: Repository) -> None:
    (repository.path / "inc").symlink_to("k")
    (repository.path / "k" / "link.cu").symlink_to("../k/scale.cu")
    (repository.path / "k" / "round.cu").symlink_to("round.cu")
    (repository.path / "k" / "out.cu").symlink_to("/etc/hostname")
    repository.commit()
    revision = resolve(repository.path, "HEAD", OPTION)
    (repository.path / "inc").unlink()
    assert text_of(revision, "inc/link.cu") == "first\n"
    assert text_of(revision, "k/round.cu") is None
    assert text_of(revision, "k/out.cu") is None


def test_a_submodule_is_read_at_the_commit_it_was_at(repository: Repository, tmp_path: Path) -> None:
    library = Repository.begun(tmp_path / "library")
    library.write("include/twice.cuh", "old\n")
    library.commit()
    repository.git("submodule", "--quiet", "add", str(library.path), "lib")
    repository.commit()
    revision = resolve(repository.path, "HEAD", OPTION)
    inside = Repository(repository.path / "lib")
    inside.write("include/twice.cuh", "new\n")
    inside.commit()
    repository.commit()
    assert text_of(revision, "lib/include/twice.cuh") == "old\n"
    assert text_of(revision, "lib") is None
    assert text_of(resolve(repository.path, "HEAD", OPTION), "lib/include/twice.cuh") == "new\n"


def test_a_submodule_that_is_not_there_is_an_error_and_no_missing_file(
    repository: Repository, tmp_path: Path
) -> None:
    library = Repository.begun(tmp_path / "library")
    library.write("twice.cuh", "old\n")
    library.commit()
    repository.git("submodule", "--quiet", "add", str(library.path), "lib")
    repository.commit()
    clone = Repository(tmp_path / "clone")
    repository.git("clone", "--quiet", str(repository.path), str(clone.path))
    revision = resolve(clone.path, "HEAD", OPTION)
    with pytest.raises(EnvironmentFault, match=rf"ls-tree .* in {clone.path}/lib"):
        find(revision, "lib/twice.cuh")


def test_a_commit_whose_objects_are_gone_is_an_error(repository: Repository) -> None:
    gone = Revision("gone", "0" * 40, repository.path)
    with pytest.raises(
        EnvironmentFault, match=r"ls-tree .*: expected an answer, got fatal: not a tree object"
    ):
        entries(gone)


def test_a_path_is_known_by_any_name_of_its_folder(repository: Repository, tmp_path: Path) -> None:
    alias = tmp_path / "alias"
    alias.symlink_to(repository.path)
    root = repository.path
    assert path_in(root, root / "k" / ".." / "k" / "scale.cu") == "k/scale.cu"
    assert path_in(root, alias / "k" / "gone.cu") == "k/gone.cu"
    assert path_in(root, tmp_path / "project2" / "scale.cu") is None
    assert path_in(root, "/usr/include/stdio.h") is None


def test_two_headers_with_the_same_text_are_two_and_what_is_outside_is_read_as_it_is(
    repository: Repository, tmp_path: Path
) -> None:
    repository.write("a.cuh", "same\n")
    repository.write("b.cuh", "same\n")
    outside = tmp_path / "outside.cuh"
    outside.write_text("now\n")
    repository.commit()
    files = RevisionFiles(resolve(repository.path, "HEAD", OPTION))
    first, second = (files.stamp(str(repository.path / name)) for name in ("a.cuh", "b.cuh"))
    assert first is not None
    assert second is not None
    assert first[:2] != second[:2]
    assert files.stamp(str(repository.path / "a.cuh")) == first
    assert files.stamp(str(repository.path / "c.cuh")) is None
    assert files.read(str(outside)).text == "now\n"
    assert files.stamp(str(outside)) is not None
