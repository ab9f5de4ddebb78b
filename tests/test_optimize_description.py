"""`cudaopt optimize --description`: from a sentence to a kernel that is right, or to a reason why not."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from described_kernel import (
    DESCRIPTION,
    FASTER,
    GOOD,
    KERNEL,
    LAUNCH,
    REFERENCE,
    SECOND,
    says,
    second_opinion,
)
from scripted_server import Step, proposal, serving

from conftest import Answered, Project

KEY = "sk-marker-that-nobody-may-write-down"


def run(
    project: Project, monkeypatch: pytest.MonkeyPatch, *script: Step, more: tuple[str, ...] = ()
) -> Answered:
    """Run the command against a server that follows the script."""
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with serving(*script) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        arguments = ("--description", DESCRIPTION, "--model", "m", "--max-iterations", "1", *more)
        return project.cudaopt("optimize", *arguments)


def generated(project: Project) -> Path:
    (folder,) = (project.path / "results").glob("run-*/generated")
    return folder


def text(answered: Answered) -> str:
    return f"{answered.stdout}\n{answered.stderr}"


def test_a_sentence_becomes_a_kernel_that_is_right_and_faster(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    answered = run(project, monkeypatch, *GOOD, FASTER)

    assert answered.ret == 0, text(answered)
    answered.stdout.fnmatch_lines(
        [
            f"  {DESCRIPTION}",
            "  declared: sgemm(a, b, c, m, n, k)",
            "  reference: generated: two generated references agree at * cases; linear in a, b; reordered*",
            "  first kernel: right at 4 cases and 50 drawn ones",
            "*optimize *",
            "*reference: generated: two generated references agree at * cases*",
        ]
    )
    folder = generated(project)
    assert sorted(path.name for path in folder.iterdir() if path.is_file()) == [
        "REVIEW.md",
        "sgemm.cu",
        "sgemm_reference.py",
        "sgemm_second_reference.py",
        "test_sgemm.py",
    ]
    run_folder = folder.parent
    assert (run_folder / "best.cu").is_file()
    config = json.loads((run_folder / "config.json").read_text())
    assert config["reference"].startswith("generated: two generated references agree at ")
    assert config["sandbox"][0] in ("bubblewrap", "landlock")
    certificate = json.loads((run_folder / "certificate.json").read_text())
    assert certificate["reference"] == config["reference"]
    assert "the reference: nobody has" in certificate["not_checked"]
    for path in run_folder.rglob("*"):
        assert not path.is_file() or KEY.encode() not in path.read_bytes()


def test_the_declaration_is_an_ordinary_test_module_whose_reference_stays_in_the_sandbox(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert run(project, monkeypatch, *GOOD, FASTER).ret == 0
    module = generated(project) / "test_sgemm.py"

    result = project.run(str(module), "--cudaopt-device=sim")

    result.assert_outcomes(passed=8)
    result.stdout.fnmatch_lines(["*test_sgemm.py::sgemm", "  m32-n64-k32 *passed*"])
    outside = project.path / "there"
    reference = module.with_name("sgemm_reference.py")
    reference.write_text(REFERENCE.replace("return", f"open({str(outside)!r}, 'w')\n    return"))
    result = project.run_alone(str(module), "--cudaopt-device=sim", "-k", "check-m1-")
    result.stdout.fnmatch_lines(["*sgemm_reference.py: the function raised PermissionError at line 5*"])
    assert not outside.exists()


def test_two_references_that_disagree_stop_the_run(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    other = SECOND.replace("c +=", "c = c + 2 *")

    answered = run(project, monkeypatch, *GOOD[:2], says(second_opinion(other)))

    assert answered.ret == 2
    answered.stderr.fnmatch_lines(
        ["*reference of the described kernel*", "*two references of the description disagree at*"]
    )
    assert (
        not list((project.path / "results").glob("run-*/history.jsonl"))
        or not (generated(project) / "test_sgemm.py").exists()
    )


def test_what_is_supplied_is_used_and_nothing_else_is_asked(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    project.write("mine.py", REFERENCE)
    project.write("mine.cu", f"// @launch {LAUNCH.replace('BLOCK', '32')}\n{KERNEL}")

    files = ("--reference", "mine.py", "--initial-kernel", "mine.cu")
    answered = run(project, monkeypatch, GOOD[0], says(specified_nothing()), more=files)

    assert answered.ret == 0, text(answered)
    answered.stdout.fnmatch_lines(["  reference: mine.py, as supplied"])
    assert (project.path / "mine.py").read_text() == REFERENCE
    config = json.loads((generated(project).parent / "config.json").read_text())
    assert (config["reference"], config["sandbox"]) == ("declared", None)
    assert [path.name for path in generated(project).iterdir()] == ["REVIEW.md"]


def specified_nothing() -> dict[str, object]:
    """A proposal of the loop that is the kernel as it is."""
    return proposal(KERNEL, LAUNCH.replace("BLOCK", "32"))


def test_the_offline_tuner_cannot_declare_anything(project: Project) -> None:
    answered = project.cudaopt("optimize", "--description", DESCRIPTION, "--model", "offline")

    assert answered.ret == 2
    answered.stderr.fnmatch_lines(["*--description*", "*expected*a language model*", "*the offline tuner*"])
    assert not (project.path / "results").exists()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("test_x.py::x",), "test_x.py::x and --description"),
        (("--signature", "s.json"), "--signature, but no --input-cases"),
    ],
)
def test_what_cannot_be_described_too_is_refused(
    project: Project, arguments: tuple[str, ...], said: str
) -> None:
    answered = project.cudaopt("optimize", "--description", DESCRIPTION, "--model", "files:x", *arguments)

    assert answered.ret == 2
    answered.stderr.fnmatch_lines([f"*{said}*"])
