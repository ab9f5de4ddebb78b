"""`cudaopt baseline`: list, show, compare, prune and take over baselines."""

from __future__ import annotations

import argparse
import os
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from pytest_cudaopt.baseline import Baseline, version_of
from pytest_cudaopt.baseline_apply import apply
from pytest_cudaopt.baseline_lines import described, difference, table
from pytest_cudaopt.baseline_prune import prune
from pytest_cudaopt.baseline_tree import Done, find, find_kernel, kernel_id
from pytest_cudaopt.command_settings import settings_for
from pytest_cudaopt.errors import BaselineError, DeclarationError, SettingsError
from pytest_cudaopt.load import load_kernel

_KERNEL = "such as test_softmax.py::softmax"


@dataclass(frozen=True)
class Told:
    """What to print, and whether it is a yes: all is well, or nothing differs."""

    lines: tuple[str, ...]
    is_yes: bool = True


def add_options(parser: argparse.ArgumentParser) -> None:
    """Declare what the command takes."""
    actions = parser.add_subparsers(dest="action", required=True)
    listed = actions.add_parser("list", help="list every case that has a baseline below a folder")
    listed.add_argument("folder", metavar="FOLDER", nargs="?", default=".")
    shown = actions.add_parser("show", help="say all that is recorded of a kernel")
    shown.add_argument("kernel", metavar="MODULE::KERNEL", help=_KERNEL)
    compared = actions.add_parser("diff", help="compare a kernel as it is with what was recorded")
    compared.add_argument("kernel", metavar="MODULE::KERNEL", help=_KERNEL)
    pruned = actions.add_parser("prune", help="remove baselines of modules, kernels and cases that are gone")
    pruned.add_argument("folder", metavar="FOLDER", nargs="?", default=".")
    pruned.add_argument("--dry-run", action="store_true", help="only say what would be removed")
    applied = actions.add_parser(
        "apply", help="take over baselines recorded elsewhere, such as a CI artefact"
    )
    applied.add_argument("folder", metavar="DIR", help="the tree that holds them, laid out as this one")
    applied.add_argument("--accept-slower", action="store_true", help="take slower ones too")


def run(given: argparse.Namespace) -> Told:
    """Do what was asked; raise a CudaoptError for what prevents it."""
    return {"list": _list, "show": _show, "diff": _diff, "prune": _prune, "apply": _apply}[given.action](
        given
    )


def _list(given: argparse.Namespace) -> Told:
    found, here = find(_folder(given.folder)), Path.cwd()
    if not found:
        return Told((f"no baselines below {given.folder}; --cudaopt-baseline update writes them",))
    good = [
        (kernel_id(one.folder, one.held, here), one.held) for one in found if isinstance(one.held, Baseline)
    ]
    wrong = tuple(str(one.held) for one in found if isinstance(one.held, BaselineError))
    return Told((*(table(good, _today()) if good else ()), *wrong), is_yes=not wrong)


def _show(given: argparse.Namespace) -> Told:
    lines: list[str] = []
    for baseline in _of_kernel(given.kernel):
        lines += described(given.kernel, baseline, _today())
    return Told(tuple(lines))


def _diff(given: argparse.Namespace) -> Told:
    baselines = _of_kernel(given.kernel)
    kernel = load_kernel(given.kernel)
    kernel = settings_for(given, kernel.source.parent).place(kernel)
    current = version_of(kernel, kernel.start())
    lines, is_same = [], True
    for baseline in baselines:
        name = f"{given.kernel} on {baseline.device}"
        differences = [difference(baseline, version, current) for version in baseline.versions]
        if any(differences):
            lines += [f"{name} differs", *(line for lines in differences for line in lines)]
            is_same = False
        else:
            lines.append(f"{name} is as recorded")
    return Told(tuple(lines), is_same)


def _prune(given: argparse.Namespace) -> Told:
    return _told(prune(_folder(given.folder), dry_run=given.dry_run) or [Done("nothing to remove")])


def _apply(given: argparse.Namespace) -> Told:
    return _told(apply(_folder(given.folder), Path.cwd(), accept_slower=given.accept_slower))


def _told(done: list[Done]) -> Told:
    return Told(tuple(one.what for one in done), is_yes=not any(one.is_refused for one in done))


def _of_kernel(target: str) -> list[Baseline]:
    file, separator, name = target.partition("::")
    if not (file and separator and name):
        raise DeclarationError("kernel", expected=f"MODULE::KERNEL, {_KERNEL}", got=f"'{target}'")
    found = find_kernel(Path(file).absolute(), name)
    if not found:
        raise BaselineError(
            f"baseline of {target}",
            expected=f"files in {os.path.relpath(Path(file).absolute().parent)}",
            got="none",
            next_step=f"Record one: pytest {file} --cudaopt-baseline update",
        )
    return [one.trusted() for one in found]


def _folder(text: str) -> Path:
    folder = Path(os.path.normpath(text))
    if not folder.is_dir():
        raise SettingsError(f"folder {text}", expected="a folder", got="none of that name")
    return folder


def _today() -> date:
    return date.today()
