"""Compiling candidates: what reaches the compiler, what is remembered, what goes wrong."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from judged_kernels import AXPY, axpy

from pytest_cudaopt import compile as compile_module
from pytest_cudaopt.answers import Answer
from pytest_cudaopt.candidate import Candidate
from pytest_cudaopt.compile import Compiled, CompileFailure, compile_candidate, source_module
from pytest_cudaopt.declared import Kernel
from pytest_cudaopt.device import Device
from pytest_cudaopt.errors import DeclarationError, EnvironmentFault
from pytest_cudaopt.evaluation import Budget
from pytest_cudaopt.finding import FindingKind
from pytest_cudaopt.harness import Harness
from pytest_cudaopt.protocol import Compile, Request


@pytest.fixture
def cache(tmp_path: Path, sim: Device, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache folder."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "pytest-cudaopt" / "compile"


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[Request]:
    """Every compile request that reaches the harness."""
    seen: list[Request] = []
    ask = Harness.ask

    def listen(self: Harness, request: Request) -> Answer:
        if any(isinstance(step, Compile) for step in request.steps):
            seen.append(request)
        return ask(self, request)

    monkeypatch.setattr(Harness, "ask", listen)
    return seen


def compiled(kernel: Kernel, sim: Device, candidate: Candidate | None = None) -> Compiled:
    answer = compile_candidate(kernel, candidate or kernel.start(), sim, Budget())
    assert isinstance(answer, Compiled), answer
    return answer


def failure(kernel: Kernel, sim: Device) -> CompileFailure:
    answer = compile_candidate(kernel, kernel.start(), sim, Budget())
    assert isinstance(answer, CompileFailure), answer
    return answer


def test_the_compiler_gets_standard_options_tunables_and_defines_in_order(
    tmp_path: Path, sim: Device
) -> None:
    kernel = axpy(tmp_path, defines={"UNROLL": 4}, options=["--use_fast_math"])
    module = source_module(kernel, kernel.start(), sim)
    assert module.options == ("-std=c++17", "--use_fast_math", "--pre-include=cudaopt_defines.h")
    assert module.headers == {
        "cudaopt_defines.h": "#define _CCCL_META_UNROLL_LIMIT 10\n#define BLOCK 64\n#define UNROLL 4\n"
    }


def test_another_standard_replaces_ours(tmp_path: Path, sim: Device) -> None:
    kernel = axpy(tmp_path, options=["-std=c++20"])
    assert source_module(kernel, kernel.start(), sim).options == (
        "-std=c++20",
        "--pre-include=cudaopt_defines.h",
    )


@pytest.mark.parametrize(
    "option", ["-I/etc", "-include", "--pre-include=/etc/passwd", "-DX=1", "-include=/etc/passwd", "@file"]
)
def test_an_option_that_is_not_allowed_is_refused_at_the_declaration(
    tmp_path: Path, sim: Device, option: str
) -> None:
    kernel = axpy(tmp_path, options=[option])
    message = f"@options {option}: expected -std=c\\+\\+NN, .*, got '{option}'"
    with pytest.raises(DeclarationError, match=message) as caught:
        compile_candidate(kernel, kernel.start(), sim, Budget())
    assert caught.value.at == kernel.location


def test_compiling_gives_files_to_load_and_resources(tmp_path: Path, sim: Device) -> None:
    answer = compiled(axpy(tmp_path), sim)
    assert ".visible .entry axpy" in Path(str(answer.module.ptx_file)).read_text()
    assert Path(str(answer.module.cubin_file)).read_bytes()[:4] == b"\x7fELF"
    assert list(answer.resources) == ["axpy"]
    assert answer.resources["axpy"].registers > 0
    assert answer.resources["axpy"].spill_store_bytes == 0
    assert answer.diagnostics == ()


def test_warnings_are_kept(tmp_path: Path, sim: Device) -> None:
    (warning,) = compiled(axpy(tmp_path, ("if (i < n)", "int unused; if (i < n)")), sim).diagnostics
    assert (warning.file, warning.line, warning.severity) == ("axpy.cu", 5, "warning")
    assert "unused" in warning.text


def test_the_same_candidate_is_compiled_once(
    tmp_path: Path, sim: Device, cache: Path, asked: list[Request]
) -> None:
    kernel = axpy(tmp_path, ("if (i < n)", "int unused; if (i < n)"))
    first, again = compiled(kernel, sim), compiled(kernel, sim)
    assert len(asked) == 1
    assert first == again
    assert len(list(cache.iterdir())) == 1


def test_a_remembered_answer_serves_another_scratch_folder(
    tmp_path: Path, sim: Device, cache: Path, asked: list[Request]
) -> None:
    kernel = axpy(tmp_path)
    first = compiled(kernel, sim)
    (tmp_path / "other").mkdir()
    other = replace(sim, scratch=tmp_path / "other", _lock=-1)
    again = compiled(kernel, other)
    assert len(asked) == 1
    for name in ("ptx_file", "cubin_file"):
        here, there = (Path(str(getattr(one.module, name))) for one in (first, again))
        assert here != there
        assert here.read_bytes() == there.read_bytes()


def _change(candidate: Candidate, what: str) -> Candidate:
    changes: dict[str, Any] = {
        "source": {"source": AXPY.replace("1.0f", "1.00f")},
        "file": {"file": "other.cu"},
        "tunable": {"tunables": (("BLOCK", 128),)},
        "define": {"defines": (("X", "1"),)},
        "option": {"options": ("--fmad=false",)},
    }
    return replace(candidate, **changes[what])


@pytest.mark.parametrize("what", ["source", "file", "tunable", "define", "option"])
def test_whatever_can_change_the_answer_is_compiled_again(
    what: str, tmp_path: Path, sim: Device, cache: Path, asked: list[Request]
) -> None:
    kernel = axpy(tmp_path)
    compiled(kernel, sim)
    compiled(kernel, sim, _change(kernel.start(), what))
    assert len(asked) == 2


@pytest.mark.parametrize(
    "change",
    [{"stamp": "1-1"}, {"version": (13, 99)}, {"header_version": (13, 99)}],
    ids=lambda c: next(iter(c)),
)
def test_another_toolchain_compiles_again(
    change: dict[str, Any], tmp_path: Path, sim: Device, cache: Path, asked: list[Request]
) -> None:
    kernel = axpy(tmp_path)
    compiled(kernel, sim)
    compiled(kernel, replace(sim, toolchain=replace(sim.toolchain, **change), _lock=-1))
    assert len(asked) == 2


def _flip(text: str) -> str:
    stored = json.loads(text)
    return json.dumps({**stored, "body": stored["body"].replace("axpy", "axpz")})


@pytest.mark.parametrize(
    "spoil",
    [lambda text: "", lambda text: text[: len(text) // 2], _flip, lambda text: "[]", lambda text: "{}"],
    ids=["empty", "torn", "flipped", "list", "object"],
)
def test_a_spoilt_entry_is_compiled_again_and_repaired(
    spoil: Any, tmp_path: Path, sim: Device, cache: Path, asked: list[Request]
) -> None:
    kernel = axpy(tmp_path)
    compiled(kernel, sim)
    (entry,) = cache.iterdir()
    intact = entry.read_text()
    entry.write_text(spoil(intact))
    compiled(kernel, sim)
    assert len(asked) == 2
    assert entry.read_text() == intact


def test_a_scratch_folder_that_cannot_be_written_is_the_environments_fault(
    tmp_path: Path, sim: Device, cache: Path, asked: list[Request]
) -> None:
    kernel = axpy(tmp_path)
    compiled(kernel, sim)
    gone = replace(sim, scratch=tmp_path / "gone", _lock=-1)
    with pytest.raises(EnvironmentFault, match=r"scratch files in .*gone: expected to be written"):
        compiled(kernel, gone)


def test_without_a_writable_cache_compiling_still_works(
    tmp_path: Path, sim: Device, monkeypatch: pytest.MonkeyPatch, asked: list[Request]
) -> None:
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    kernel = axpy(tmp_path)
    assert compiled(kernel, sim) == compiled(kernel, sim)
    assert len(asked) == 2


def test_a_compile_error_has_its_place_and_is_not_remembered(
    tmp_path: Path, sim: Device, cache: Path
) -> None:
    broken = failure(axpy(tmp_path, ("a * x[i]", "a * z[i]")), sim)
    assert broken.finding.kind is FindingKind.COMPILE_ERROR
    assert (broken.finding.file, broken.finding.line) == ("axpy.cu", 6)
    error = next(d for d in broken.diagnostics if d.severity == "error")
    assert 'identifier "z" is undefined' in error.text
    assert not cache.exists() or list(cache.iterdir()) == []


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("const float* x", "const double* x"),
        ("float* y", "const float* y_, float* y"),
        ("int n", "long long n"),
        (", float a", ", double a"),
    ],
)
def test_another_signature_than_declared_is_a_compile_error(
    old: str, new: str, tmp_path: Path, sim: Device
) -> None:
    broken = failure(axpy(tmp_path, (old, new)), sim)
    assert broken.finding.kind is FindingKind.COMPILE_ERROR
    assert any("cudaopt signature: kernel 'axpy'" in d.text for d in broken.diagnostics)


def test_an_entry_that_is_not_there_lists_those_that_are(tmp_path: Path, sim: Device) -> None:
    broken = failure(axpy(tmp_path, entry="axpi"), sim)
    assert broken.finding.kind is FindingKind.UNKNOWN_ENTRY
    assert "axpy" in broken.finding.message


def test_a_template_is_compiled_by_its_name_expression(tmp_path: Path, sim: Device) -> None:
    kernel = axpy(
        tmp_path,
        ('extern "C" __global__', "template <int UNROLL> __global__"),
        entry="axpy<4>",
    )
    answer = compiled(kernel, sim)
    assert [entry.name for entry in answer.module.entries] == ["axpy<4>"]
    assert answer.module.lowered["axpy<4>"].startswith("_Z4axpyILi4EEv")


def test_half_precision_headers_are_found(tmp_path: Path, sim: Device) -> None:
    include = ("extern", "#include <cuda_fp16.h>\n#include <cuda_bf16.h>\n#include <cuda/std/limits>\nextern")
    assert compiled(axpy(tmp_path, include), sim).resources["axpy"].registers > 0


def test_keys_depend_on_the_harness_binary(
    tmp_path: Path, sim: Device, cache: Path, asked: list[Request], monkeypatch: pytest.MonkeyPatch
) -> None:
    kernel = axpy(tmp_path)
    source = source_module(kernel, kernel.start(), sim)
    copy = tmp_path / "cudaopt-harness"
    copy.write_bytes(b"another build")
    other = replace(sim, harness=Harness(copy), _lock=-1)
    assert compile_module._key(source, sim) != compile_module._key(source, other)


def test_headers_of_the_toolchain_do_not_keep_a_source_from_being_remembered(
    tmp_path: Path, sim: Device, cache: Path, asked: list[Request]
) -> None:
    kernel = axpy(tmp_path)
    candidate = replace(kernel.start(), source=f"#include <cuda_fp16.h>\n{AXPY}")
    compiled(kernel, sim, candidate)
    compiled(kernel, sim, candidate)
    assert len(asked) == 1
