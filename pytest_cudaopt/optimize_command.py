"""`cudaopt optimize`: a run on a declared kernel or on one from files, as pytest's `--optimize` does it."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_cudaopt import items, report
from pytest_cudaopt.command_settings import ProjectSettings, settings_for
from pytest_cudaopt.command_settings import add_options as add_settings
from pytest_cudaopt.errors import DeclarationError
from pytest_cudaopt.from_files.config import FILE_KEYS, Config, read_config
from pytest_cudaopt.from_files.kernel import KernelFiles, kernel_of
from pytest_cudaopt.item_work import Finished, Work
from pytest_cudaopt.load import load_kernel
from pytest_cudaopt.plans import secret_seed
from pytest_cudaopt.report import FailureClass
from pytest_cudaopt.settings import OPTIONS
from pytest_cudaopt.table import Line, Mood, Row, RowStage, device_lines, table_lines, table_title

if TYPE_CHECKING:
    from pytest_cudaopt.declared import Kernel
    from pytest_cudaopt.session import KernelSession

# A run begins by itself, draws no cases, is held to no earlier version, and is no session of pytest's.
_NO_FIELDS = frozenset(
    {
        *("optimize", "fuzz_examples", "fuzz_seed", "budget_s", "report"),
        *("baseline", "accept_slower", "against", "changed", "sim_gate"),
    }
)
_FIELDS = tuple(option.field for option in OPTIONS if option.field not in _NO_FIELDS)
_HELP = {
    "signature": ("FILE.json", "parameters, sizes, tolerances, as docs/optimizing.md describes"),
    "reference": ("FILE.py|FILE.cu", "a function with the body of a reference, or a kernel that is right"),
    "initial_kernel": ("FILE.cu", "the kernel to start from, with its @launch and @tune lines"),
    "input_cases": ("FILE.json", "the sizes it is checked and measured at"),
}
# What a start is rejected for; every other failure prevented a verdict.
_OF_THE_START = frozenset(FailureClass) - {
    FailureClass.UNSUPPORTED,
    FailureClass.SOURCE,
    FailureClass.LAUNCH,
    FailureClass.DECLARATION,
    FailureClass.REFERENCE,
    FailureClass.SETTINGS,
    FailureClass.BASELINE,
    FailureClass.ENVIRONMENT,
}


class Ending(Enum):
    """What a run came to."""

    FINISHED = "finished"
    START_REJECTED = "start rejected"
    NOT_JUDGED = "not judged"


@dataclass(frozen=True)
class Optimized:
    """`lines` are for people, `failure` is the part of them that says what went wrong.

    `summary` is the text of `summary.json`, if the run got as far as that.
    """

    ending: Ending
    lines: tuple[Line, ...]
    failure: str = ""
    summary: str | None = None


def add_options(parser: argparse.ArgumentParser) -> None:
    """Declare what the command takes."""
    parser.add_argument(
        "kernel",
        metavar="MODULE::KERNEL",
        nargs="?",
        help="such as test_softmax.py::softmax; else files:",
    )
    for key in FILE_KEYS:
        metavar, text = _HELP[key]
        parser.add_argument(f"--{key.replace('_', '-')}", metavar=metavar, help=text)
    parser.add_argument(
        "--config", metavar="FILE.json", help="names those files, relative to its own folder, and options"
    )
    parser.add_argument(
        "--description",
        metavar="TEXT",
        help="what the kernel computes: a model declares what no file does, in the run's folder",
    )
    parser.add_argument("--json", action="store_true", help="print the run's summary as JSON")
    add_settings(parser, _FIELDS)


def run(given: argparse.Namespace, announce: Callable[[str], None]) -> Optimized:
    """Do a run; `announce` gets a line per attempt.

    Raises a CudaoptError for what keeps it from beginning.
    """
    # Loads pytest, which the other commands do not need.
    from pytest_cudaopt.session import KernelSession

    config = read_config(given.config, _FIELDS) if given.config is not None else Config()
    if given.description is None:
        kernel, kernel_id = _kernel(given, config)
        project = settings_for(given, kernel.source.parent, config.options)
        work = Work(project.place(kernel), kernel_id, RowStage.OPTIMIZE, 0, "", None)
    else:
        work, project = None, settings_for(given, Path.cwd(), config.options)
    session = KernelSession(project.settings, project.root)
    before = _runs(session.results)
    try:
        begun = work or _described(given, config, project, session, announce)
        finished = items.run(begun, session, announce)
    except KeyboardInterrupt:
        return _stopped(_new_run(before, session.results))
    finally:
        session.close()
    return _ended(finished, project, _new_run(before, session.results))


def _described(
    given: argparse.Namespace,
    config: Config,
    project: ProjectSettings,
    session: KernelSession,
    announce: Callable[[str], None],
) -> Work:
    """Have a model declare the kernel; raises GenerationError for what does not stand up to its checks."""
    # Loads langgraph, which only those who optimise should pay for.
    from pytest_cudaopt.optimize.generate.graph import Supplied, generate

    files = _files(given, config)
    if given.kernel is not None:
        raise _either(f"{given.kernel} and --description")
    if "signature" in files and "input_cases" not in files:
        raise _either("--description and --signature, but no --input-cases", "Add --input-cases FILE")
    settings = project.settings
    model = items.proposer(session, goes_on=False).model
    announce(f"  {' '.join(given.description.split())}")
    generated = generate(
        given.description,
        Supplied(**files),
        model,
        session.device(),
        session.results,
        seed=secret_seed() if settings.fuzz_seed is None else settings.fuzz_seed,
        timeout_s=settings.timeout_s,
        announce=announce,
    )
    kernel = project.place(generated.kernel)
    shown = report.shown_path(Path(generated.kernel_id.partition("::")[0]), Path.cwd())
    kernel_id = f"{shown}::{kernel.name}"
    return Work(kernel, kernel_id, RowStage.OPTIMIZE, 0, "", None, run_folder=generated.folder.path)


def _files(given: argparse.Namespace, config: Config) -> dict[str, str]:
    return {key: named for key in FILE_KEYS if (named := getattr(given, key) or config.files.get(key))}


def _kernel(given: argparse.Namespace, config: Config) -> tuple[Kernel, str]:
    """Return the kernel that was named, or that of the files, and what to call it."""
    files = _files(given, config)
    if given.kernel is not None:
        if files:
            raise _either(f"{given.kernel} and {', '.join(map(_flag, files))}")
        return load_kernel(given.kernel), given.kernel
    if missing := [key for key in FILE_KEYS if key not in files]:
        got = f"no {', no '.join(map(_flag, missing))}" if files else "neither"
        raise _either(got, f'Add {_flag(missing[0])} FILE, or "{missing[0]}": "FILE" to a --config')
    kernel = kernel_of(KernelFiles(**files))
    return kernel, f"{report.shown_path(kernel.source, Path.cwd())}::{kernel.name}"


def _flag(key: str) -> str:
    return f"--{key.replace('_', '-')}"


def _either(got: str, next_step: str | None = None) -> DeclarationError:
    return DeclarationError(
        "kernel to optimise",
        expected=f"MODULE::KERNEL, or {', '.join(map(_flag, FILE_KEYS))}",
        got=got,
        next_step=next_step,
    )


def _ended(finished: Finished, project: ProjectSettings, new: Path | None) -> Optimized:
    folder = new if finished.row.folder is None else project.root / finished.row.folder
    row = finished.row
    failure = "" if finished.failure is None else finished.failure.text
    if finished.not_judged is not None:
        failure, row = f"not judged: {finished.not_judged}", replace(row, note=finished.not_judged)
    if folder is not None:
        row = replace(row, folder=_shown(folder))
    lines = [*_as_lines(failure), *_table(row)]
    if finished.failure is None and finished.not_judged is None and folder is not None:
        lines += _as_lines(f"best kernel: {_shown(folder / 'best.cu')}")
    return Optimized(_ending(finished), tuple(lines), failure, _summary(folder))


def _ending(finished: Finished) -> Ending:
    if finished.not_judged is not None:
        return Ending.NOT_JUDGED
    if finished.failure is None:
        return Ending.FINISHED
    return Ending.START_REJECTED if finished.failure.kind in _OF_THE_START else Ending.NOT_JUDGED


def _stopped(folder: Path | None) -> Optimized:
    text = "interrupted" if folder is None else f"interrupted; what was tried is in {_shown(folder)}"
    return Optimized(Ending.NOT_JUDGED, tuple(_as_lines(text)), text, _summary(folder))


def _table(row: Row) -> list[Line]:
    # A failure in front of it has said the rest.
    if row.status != "passed" and row.folder is None:
        return []
    title = ((table_title([row]), Mood.TITLE),)
    return [title, *device_lines([row]), *table_lines([row])]


def _as_lines(text: str) -> list[Line]:
    return [((line, Mood.PLAIN),) for line in text.splitlines()]


def _shown(path: Path) -> str:
    return report.shown_path(path, Path.cwd())


def _summary(folder: Path | None) -> str | None:
    path = None if folder is None else folder / "summary.json"
    return None if path is None or not path.is_file() else path.read_text(encoding="utf-8")


def _runs(results: Path) -> frozenset[Path]:
    return frozenset(results.glob("run-*"))


def _new_run(before: frozenset[Path], results: Path) -> Path | None:
    """Return the run that has begun since; None if another process began one too, and it is unclear which."""
    new = _runs(results) - before
    return next(iter(new)) if len(new) == 1 else None
