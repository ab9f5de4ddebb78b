"""Removing baselines of what nobody declares any longer: first what would be done, then doing it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from pytest_cudaopt import baseline_text
from pytest_cudaopt.baseline import Baseline
from pytest_cudaopt.baseline_files import folder_locked, write
from pytest_cudaopt.baseline_place import Place
from pytest_cudaopt.baseline_tree import Done, Found, find_in, folders
from pytest_cudaopt.declared import Kernel
from pytest_cudaopt.errors import BaselineError, CudaoptError
from pytest_cudaopt.load import kernels_in

_Kernels = Mapping[str, Kernel] | CudaoptError


@dataclass(frozen=True)
class _Step:
    """A file to remove, or to write anew as `left`; neither for one that is left because of `why`."""

    path: Path
    why: str
    removes: bool = False
    left: Baseline | None = None


def prune(root: Path, *, dry_run: bool) -> list[Done]:
    """Remove the baselines of modules, kernels and cases that are no longer declared, and stray sources.

    What cannot be read or imported is left, and said so. `dry_run` only says what would be removed.
    """
    done: list[Done] = []
    for folder in folders(root):
        with folder_locked(folder):
            steps = _steps(folder)
            if not dry_run:
                for step in steps:
                    _do(step)
            done += [_told(step, dry_run=dry_run) for step in steps]
    return done


def _steps(folder: Path) -> list[_Step]:
    modules: dict[str, _Kernels] = {}
    documents = find_in(folder)
    steps = []
    for one in documents:
        if isinstance(one.held, BaselineError):
            steps.append(_Step(one.path, str(one.held)))
            continue
        module = folder.parent / f"{one.held.module}.py"
        if module.name not in modules:
            modules[module.name] = _kernels(module)
        step = _step(one.path, one.held, module, modules[module.name])
        steps += [] if step is None else [step]
    gone = {step.path for step in steps if step.removes}
    return steps + _strays(folder, [one for one in documents if one.path not in gone])


def _kernels(module: Path) -> _Kernels:
    if not module.is_file():
        return {}
    try:
        return kernels_in(module.resolve())
    except CudaoptError as error:
        return error


def _step(path: Path, baseline: Baseline, module: Path, kernels: _Kernels) -> _Step | None:
    if isinstance(kernels, CudaoptError):
        return _Step(path, str(kernels))
    kernel = kernels.get(baseline.kernel)
    if kernel is None:
        what = f"kernel '{baseline.kernel}' in {module.name}" if module.is_file() else f"module {module.name}"
        return _Step(path, f"there is no {what}", removes=True)
    measured = {id for id, case in zip(kernel.case_ids, kernel.cases, strict=True) if case.measure}
    gone = [case_id for case_id in baseline.case_ids if case_id not in measured]
    if not gone:
        return None
    why = f"there is no measured case {', '.join(gone)} of '{baseline.kernel}'"
    left = _without(baseline, gone)
    return _Step(path, why, left=left) if left.versions else _Step(path, why, removes=True)


def _without(baseline: Baseline, gone: Sequence[str]) -> Baseline:
    versions = [
        replace(version, cases={id: one for id, one in version.cases.items() if id not in gone})
        for version in baseline.versions
    ]
    return replace(baseline, versions=tuple(version for version in versions if version.cases))


def _strays(folder: Path, documents: Sequence[Found]) -> list[_Step]:
    """Find sources that no document refers to; none of a kernel whose documents cannot all be read."""
    named: set[str] = set()
    unclear: list[str] = []
    for one in documents:
        if isinstance(one.held, BaselineError):
            unclear.append(".".join(one.path.name.split(".")[:2]) + ".")
        else:
            named |= set(baseline_text.source_digests(one.path.read_text(encoding="utf-8"), str(one.path)))
    return [
        _Step(path, "no baseline refers to it", removes=True)
        for path in sorted(folder.glob("*.cu"))
        if path.name not in named and not path.name.startswith(tuple(unclear))
    ]


def _do(step: _Step) -> None:
    if step.removes:
        step.path.unlink(missing_ok=True)
    elif step.left is not None:
        write(Place(step.path.parent, step.left.module, step.left.kernel, step.left.device), step.left)


def _told(step: _Step, *, dry_run: bool) -> Done:
    if not step.removes and step.left is None:
        return Done(f"left {step.path}: {step.why}", is_refused=True)
    wanted, was = ("remove", "removed") if step.removes else ("shorten", "shortened")
    return Done(f"{f'would {wanted}' if dry_run else was} {step.path}: {step.why}")
