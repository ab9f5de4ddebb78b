"""A kernel as it was in a git revision: rebuilt from the repository alone, or why it cannot be."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from git_projects import Repository
from made_up_baselines import SOURCE, scale_in, version

from pytest_cudaopt.against import candidate_at, revision_incumbent
from pytest_cudaopt.compile import Compiled, CompileFailure, compile_candidate
from pytest_cudaopt.declared import Kernel
from pytest_cudaopt.device import Device
from pytest_cudaopt.evaluation import Budget
from pytest_cudaopt.git_revision import Revision, resolve
from pytest_cudaopt.incumbent import Incumbent
from pytest_cudaopt.launch import LaunchRule

HEADER = "#pragma once\n#define TWICE(x) (2.0f * (x))\n"
INCLUDING = '#include "twice.cuh"\n' + SOURCE.replace("2.0f * x[i]", "TWICE(x[i])")
REGION = f"// @cudaopt begin scale\n{SOURCE}// @cudaopt end\n"
OTHER = "// @cudaopt begin other\n__global__ void other() {}\n// @cudaopt end\n"


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    made = Repository.begun(tmp_path / "project")
    (made.path / "k").mkdir()
    return made


def head(repository: Repository) -> Revision:
    return resolve(repository.path, "main", "--cudaopt-against")


def incumbent(repository: Repository, kernel: Kernel) -> Incumbent:
    return revision_incumbent(kernel, head(repository))


def why_not(repository: Repository, kernel: Kernel) -> str:
    found = incumbent(repository, kernel)
    assert found.candidate is None
    prefix = f"{head(repository)}: "
    assert found.why_not.startswith(prefix)
    return found.why_not.removeprefix(prefix)


@pytest.mark.parametrize("source", [SOURCE, OTHER + REGION, INCLUDING], ids=["plain", "region", "headers"])
def test_a_kernel_is_what_it_was_whatever_became_of_its_files(repository: Repository, source: str) -> None:
    header = repository.write("k/twice.cuh", HEADER)
    declared = scale_in(repository.path / "k", source)
    then = declared.start()
    repository.commit()
    declared.source.write_text(version(1))
    header.unlink()
    found = incumbent(repository, declared)
    assert (found.name, found.why_not, found.recorded, found.note) == ("main", "", {}, "")
    assert found.candidate is not None
    assert found.candidate.digest == then.digest != declared.start().digest
    declared.source.unlink()
    assert candidate_at(declared, head(repository)).digest == then.digest


def test_launch_rule_tunables_and_options_are_those_of_the_file_then(repository: Repository) -> None:
    lines = "// @launch grid=(cdiv(n, B)) block=(B)\n// @tune B = 32, 64\n// @options --fmad=false\n"
    body = "".join(SOURCE.splitlines(keepends=True)[2:]).replace("BLOCK", "B")
    declared = scale_in(repository.path / "k", lines + body)
    repository.commit()
    declared.source.write_text(SOURCE)
    found = candidate_at(declared, head(repository))
    assert found.launch.directives() == ["@launch grid=(cdiv(n, B)) block=(B)"]
    assert found.tunables == (("B", 32),)
    assert found.options == ("--fmad=false",)


def test_what_only_the_declaration_says_is_that_of_now_and_told(repository: Repository) -> None:
    declared = scale_in(repository.path / "k", "".join(SOURCE.splitlines(keepends=True)[1:]))
    rule = LaunchRule.parse("grid=(n) block=(BLOCK)")
    repository.commit()
    launched = replace(declared, launch=rule)
    found = incumbent(repository, launched)
    assert found.candidate is not None
    assert found.candidate.launch == rule
    assert found.note == "its launch rule is the declaration's of now"
    many = replace(launched, defines=(("WIDE", "1"),), options=("--fmad=false",))
    assert (
        incumbent(repository, many).note
        == "its launch rule, defines and options are the declaration's of now"
    )


def test_headers_are_looked_up_in_the_revision_in_the_same_order(repository: Repository) -> None:
    for name in ("k/inner/twice.cuh", "inc/twice.cuh", "inc/deep.cuh"):
        repository.write(name, f"// {name}\n" + HEADER)
    repository.write("inc/twice.cuh", '#include "deep.cuh"\n')
    declared = replace(
        scale_in(repository.path / "k", INCLUDING),
        include=(repository.path / "inc", repository.path / "k" / "inner"),
    )
    then = declared.start()
    assert list(then.headers) == ["../inc/deep.cuh", "../inc/twice.cuh"]
    repository.commit()
    # What would be found now is another one.
    repository.write("k/twice.cuh", HEADER)
    assert list(declared.start().headers) == ["twice.cuh"]
    assert candidate_at(declared, head(repository)).headers == then.headers


def test_the_older_version_compiles_and_a_changed_header_of_now_is_not_in_it(
    repository: Repository, sim: Device
) -> None:
    header = repository.write("k/twice.cuh", HEADER)
    declared = scale_in(repository.path / "k", INCLUDING)
    repository.commit()
    header.write_text("#error of now\n")
    then = candidate_at(declared, head(repository))
    assert isinstance(compile_candidate(declared, then, sim, Budget()), Compiled)
    assert isinstance(compile_candidate(declared, declared.start(), sim, Budget()), CompileFailure)


def test_of_another_signature_only_compiling_tells(repository: Repository, sim: Device) -> None:
    declared = scale_in(repository.path / "k", SOURCE.replace("int n)", "long long n)"))
    repository.commit()
    declared.source.write_text(SOURCE)
    found = incumbent(repository, declared)
    assert found.candidate is not None
    failed = compile_candidate(declared, found.candidate, sim, Budget())
    assert isinstance(failed, CompileFailure)
    assert "long long" in f"{failed.finding.message} {failed.diagnostics}"


def _renamed(repository: Repository) -> Kernel:
    declared = scale_in(repository.path / "k")
    repository.commit()
    declared.source.rename(declared.source.with_name("renamed.cu"))
    return replace(declared, source=declared.source.with_name("renamed.cu"))


def _outside(repository: Repository) -> Kernel:
    repository.commit()
    return scale_in(repository.path.parent)


def _other_entry(repository: Repository) -> Kernel:
    declared = scale_in(repository.path / "k", SOURCE.replace("scale", "scale_2"))
    repository.commit()
    declared.source.write_text(SOURCE)
    return declared


def _no_region(repository: Repository) -> Kernel:
    declared = scale_in(repository.path / "k", OTHER)
    repository.commit()
    declared.source.write_text(OTHER + REGION)
    return declared


def _no_rule(repository: Repository) -> Kernel:
    declared = scale_in(repository.path / "k", "".join(SOURCE.splitlines(keepends=True)[1:]))
    repository.commit()
    declared.source.write_text(SOURCE)
    return declared


def _odd_rule(repository: Repository) -> Kernel:
    declared = scale_in(repository.path / "k", SOURCE.replace("block=(BLOCK)", "threads=(BLOCK)"))
    repository.commit()
    declared.source.write_text(SOURCE)
    return declared


def _not_text(repository: Repository) -> Kernel:
    declared = scale_in(repository.path / "k")
    declared.source.write_bytes(b"\xff\xfe")
    repository.commit()
    declared.source.write_text(SOURCE)
    return declared


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (_renamed, "k/renamed.cu: expected the file, got none: it was added, moved or renamed since"),
        (_outside, "scale.cu: expected a file of the repository"),
        (_other_entry, "scale.cu: expected the kernel 'scale', got none: it was added or renamed since"),
        (_no_region, "expected a region 'scale', since it has regions, got 'other'"),
        (_no_rule, "expected a launch rule, got no '// @launch' line in scale.cu and no launch="),
        (_odd_rule, "threads="),
        (_not_text, "k/scale.cu: expected UTF-8"),
    ],
)
def test_what_cannot_be_rebuilt_says_why(
    repository: Repository, make: Callable[[Repository], Kernel], reason: str
) -> None:
    assert reason in why_not(repository, make(repository))


@pytest.mark.parametrize(
    ("entry", "text"),
    [
        ("ns::scale<{n}, 4>", "scale"),
        ("static_cast<void (*)(float*)>(ns::scale)", "scale"),
        ("static_cast<void (*)(float*)>(scale<4>)", "scale"),
        ("pasted_kernel", "#define MAKE(name) name##_kernel"),
    ],
)
def test_an_entry_is_known_by_its_name_or_left_to_the_compiler(
    repository: Repository, entry: str, text: str
) -> None:
    rule = "// @launch grid=(1) block=(1)\n"
    declared = replace(scale_in(repository.path / "k", rule + text), entry=entry)
    repository.commit()
    assert incumbent(repository, declared).candidate is not None
    declared.source.write_text(rule + text.replace("scale", "other").replace("##", ""))
    repository.commit()
    assert "it was added or renamed since" in why_not(repository, declared)


def test_a_revision_that_git_cannot_read_is_why_not(repository: Repository) -> None:
    gone = Revision("gone", "0" * 40, repository.path)
    found = revision_incumbent(scale_in(repository.path / "k"), gone)
    assert found.candidate is None
    assert found.why_not.startswith("gone (0000000000): git ls-tree")


def test_a_header_in_a_submodule_is_that_of_the_submodules_commit(
    repository: Repository, tmp_path: Path
) -> None:
    library = Repository.begun(tmp_path / "library")
    library.write("include/twice.cuh", HEADER)
    library.commit()
    repository.git("submodule", "--quiet", "add", str(library.path), "lib")
    declared = replace(
        scale_in(repository.path / "k", INCLUDING), include=(repository.path / "lib" / "include",)
    )
    then = declared.start()
    repository.commit()
    repository.write("lib/include/twice.cuh", "// other\n")
    assert candidate_at(declared, head(repository)).digest == then.digest != declared.start().digest
