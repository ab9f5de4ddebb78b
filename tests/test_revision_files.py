"""The files of a revision: texts as they were, through links and submodules, by any name of their folder."""

from __future__ import annotations

from pathlib import Path

import pytest
from git_projects import Repository

from pytest_cudaopt.errors import EnvironmentFault
from pytest_cudaopt.git_revision import Revision, decoded, resolve
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
