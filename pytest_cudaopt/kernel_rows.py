"""What the declared kernels need, as the doctor's rows: compiled for `sim`, and not run."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from pytest_cudaopt.compile import CompileFailure, compile_candidate
from pytest_cudaopt.declared import Kernel
from pytest_cudaopt.device import Device, open_device
from pytest_cudaopt.doctor import Row, State
from pytest_cudaopt.errors import CudaoptError, DeclarationError, EnvironmentFault
from pytest_cudaopt.evaluation import Budget
from pytest_cudaopt.load import kernels_in
from pytest_cudaopt.protocol import Load

# Folders pytest does not collect from, and ours.
_SKIPPED = frozenset({"_darcs", "build", "CVS", "dist", "node_modules", "venv", "results"})
_FROM_GOOD_TO_BAD = (State.FOUND, State.ABSENT, State.MISSING)
# Makes a kernel that of its project, by the module that declares it.
Placed = Callable[[Kernel, Path], Kernel]


def examine_kernels(paths: Sequence[Path], base: Path, placed: Placed, timeout_s: float) -> list[Row]:
    """Compile every kernel of the test modules at `paths`, or of all below `base`, and their references.

    Raises DeclarationError for a path that does not exist or without a test module, and EnvironmentFault if
    nothing can be compiled here.
    """
    modules = [module for path in paths or [base] for module in _modules(path)]
    rows: list[Row] = []
    with open_device("sim") as device:
        for module in dict.fromkeys(modules):
            rows += _module_rows(module, _shown(module, base), placed, device, timeout_s)
    if not rows:
        raise DeclarationError(
            "--kernels", expected="test modules with a @kernel", got=f"none in {len(modules)} test modules"
        )
    return rows


def _modules(path: Path) -> list[Path]:
    if path.is_file():
        return [path.resolve()]
    if not path.is_dir():
        raise DeclarationError(f"--kernels {path}", expected="a test module or a folder", got="none there")
    found = sorted(path.resolve().rglob("test_*.py"))
    return [file for file in found if not _is_skipped(file.relative_to(path.resolve()).parent)]


def _is_skipped(folder: Path) -> bool:
    return any(name in _SKIPPED or name.startswith(".") or name.endswith(".egg") for name in folder.parts)


def _module_rows(module: Path, shown: str, placed: Placed, device: Device, timeout_s: float) -> Iterator[Row]:
    try:
        kernels = kernels_in(module)
    except CudaoptError as error:
        yield _failed(shown, str(error))
        return
    for name, kernel in kernels.items():
        yield _kernel_row(f"{shown}::{name}", kernel, lambda one: placed(one, module), device, timeout_s)


def _kernel_row(
    what: str, kernel: Kernel, place: Callable[[Kernel], Kernel], device: Device, timeout_s: float
) -> Row:
    """Return the kernel's row, or that of the kernel that is its reference where that is worse."""
    try:
        kernel = place(kernel)
        rows = [_source_row(what, kernel, device, timeout_s)]
        if (reference := kernel.reference_kernel) is not None:
            row = _source_row(what, reference, device, timeout_s)
            rows.append(replace(row, detail=f"reference {kernel.reference}: {row.detail}"))
    except EnvironmentFault:
        raise
    except CudaoptError as error:
        return _failed(what, str(error))
    # The first of several that are equally bad.
    return max(rows, key=lambda row: _FROM_GOOD_TO_BAD.index(row.state))


def _source_row(what: str, kernel: Kernel, device: Device, timeout_s: float) -> Row:
    try:
        candidate = kernel.start()
    except CudaoptError as error:
        return _failed(what, str(error))
    compiled = compile_candidate(kernel, candidate, device, Budget(timeout_s))
    if isinstance(compiled, CompileFailure):
        first = next((d for d in compiled.diagnostics if d.severity == "error"), None)
        return _failed(what, f"does not compile: {first or compiled.finding.message}")
    request = replace(
        device.new_request(f"{kernel.name}/load"),
        modules=(compiled.module,),
        steps=(Load(compiled.module.name),),
        timeout_s=timeout_s,
    )
    answer = device.ask(request)
    if answer.fault is not None:
        return _failed(what, f"does not load: {answer.fault.message}")
    notes = _own(answer.step("load").notes, compiled.module.lowered.values())
    if not notes:
        return Row(what, State.FOUND, "sim ok")
    more = f" and {len(notes) - 1} more" if len(notes) > 1 else ""
    return Row(what, State.ABSENT, f"needs a GPU: {notes[0]}{more}", "Run it with --cudaopt-device cuda:0")


def _own(notes: Iterable[str], lowered: Iterable[str]) -> list[str]:
    """Return the notes about these entries: the file's other kernels are compiled beside them."""
    marks = tuple(f"(kernel {name}{end}" for name in lowered for end in (",", ")"))
    return [note for note in notes if any(mark in note for mark in marks)]


def _failed(what: str, detail: str) -> Row:
    return Row(what, State.MISSING, detail)


def _shown(path: Path, base: Path) -> str:
    return str(path.relative_to(base)) if path.is_relative_to(base) else str(path)
