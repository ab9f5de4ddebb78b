"""The `cudaopt` command: what has no test module, or is asked for by another program.

Exit codes: 0 yes, 1 no, 2 could not be judged.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import IntEnum
from pathlib import Path
from typing import IO, TYPE_CHECKING

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.text import Text

from pytest_cudaopt import baseline_command, doctor, optimize_command, rerun
from pytest_cudaopt.achieved import Achieved, achieved_by_case
from pytest_cudaopt.adopt import command as adoption
from pytest_cudaopt.certificate import certificate_of
from pytest_cudaopt.command_settings import add_options, settings_for
from pytest_cudaopt.device import open_required
from pytest_cudaopt.doctor import State
from pytest_cudaopt.draw_cases import declared_seed
from pytest_cudaopt.errors import CudaoptError, SettingsError, SourceError, why_unreadable
from pytest_cudaopt.evaluation import Evaluation, Status
from pytest_cudaopt.kernel_rows import examine_kernels
from pytest_cudaopt.load import load_kernel
from pytest_cudaopt.peak_rows import examine_peaks
from pytest_cudaopt.peaks import known_peaks
from pytest_cudaopt.pipeline import evaluate
from pytest_cudaopt.plans import candidate_plan, secret_seed
from pytest_cudaopt.report import describe_error, describe_evaluation, shown_path
from pytest_cudaopt.rerun import Ending
from pytest_cudaopt.settings import Settings
from pytest_cudaopt.strength_command import Limits, Measured, measure_strength, why_not
from pytest_cudaopt.strength_report import strength_json, strength_lines
from pytest_cudaopt.table import Line, Mood, rows_of, table_lines
from pytest_cudaopt.verdict_json import evaluation_json, failure_json

if TYPE_CHECKING:
    from pytest_cudaopt.candidate import Candidate
    from pytest_cudaopt.declared import Kernel
    from pytest_cudaopt.device import Device
    from pytest_cudaopt.report import Failure

# What a check depends on; the rest is for runs of pytest.
_SHARED_OPTIONS = (
    "device",
    "threads",
    "require",
    "timeout_s",
    "samples",
    "warmup",
    "relative_error",
    "fuzz_examples",
    "fuzz_seed",
    "sanitize_elements",
)
_SOURCE_OPTIONS = ("include", "stub", "compdb")
_DOCTOR_OPTIONS = ("results", "device")
_STRENGTH_HELP = (
    "make mistakes in the kernel on purpose, and say which of them its cases notice, and which all stages do"
)
_CANDIDATE_HELP = "judge this source instead; its includes are looked for from the kernel's own file"


class Exit(IntEnum):
    """What the shell gets."""

    YES = 0
    NO = 1
    NOT_JUDGED = 2


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; return its exit code."""
    given = _parser().parse_args(arguments)
    try:
        return int(_COMMANDS[given.command](given))
    except CudaoptError as error:
        _say(describe_error(error, Path.cwd()).text, to_stderr=True)
        return int(Exit.NOT_JUDGED)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="cudaopt", description="Check CUDA kernels declared for pytest-cudaopt."
    )
    commands = parser.add_subparsers(dest="command", required=True)
    doctor = commands.add_parser("doctor", help="say what is found, what is missing and what to do")
    doctor.add_argument(
        "--peaks", action="store_true", help="measure the GPU's peaks, which percentages then refer to"
    )
    doctor.add_argument(
        "--kernels",
        nargs="*",
        metavar="PATH",
        help="compile the kernels of these test modules instead (default: all below the current folder)",
    )
    check = commands.add_parser("check", help="judge a kernel, or another source for it")
    check.add_argument("kernel", metavar="MODULE::KERNEL", help="such as test_softmax.py::softmax")
    check.add_argument("candidate", metavar="CANDIDATE.cu", nargs="?", help=_CANDIDATE_HELP)
    check.add_argument("--json", action="store_true", help="print the verdict as JSON")
    _add_strength_options(check)
    baseline_command.add_options(
        commands.add_parser("baseline", help="list, show, compare, prune and take over recorded baselines")
    )
    adoption.add_options(commands.add_parser("adopt", help="write a test module for a .cu file's kernels"))
    replay = commands.add_parser("replay", help="execute a recorded request again")
    replay.add_argument("request", metavar="REQUEST.json")
    replay.add_argument("--json", action="store_true", help="print the harness's answer as it is")
    optimize_command.add_options(
        commands.add_parser("optimize", help="look for a faster version of a kernel, declared or from files")
    )
    graph = commands.add_parser("graph", help="print the optimising agent's graph as mermaid text")
    graph.add_argument("--svg", metavar="FILE", help="draw it instead, with mmdc or dot if there is one")
    add_options(check, (*_SHARED_OPTIONS, *_SOURCE_OPTIONS))
    add_options(doctor, (*_DOCTOR_OPTIONS, *_SOURCE_OPTIONS))
    return parser


def _add_strength_options(check: argparse.ArgumentParser) -> None:
    check.add_argument("--strength", action="store_true", help=_STRENGTH_HELP)
    check.add_argument(
        "--mutants",
        type=int,
        default=Limits.mutants,
        metavar="N",
        help="with --strength, judge at most N of them (default %(default)s)",
    )
    check.add_argument(
        "--seconds",
        type=float,
        default=Limits.seconds,
        metavar="SECONDS",
        help="with --strength, begin no mutant after so long (default %(default).0f)",
    )


def _doctor(given: argparse.Namespace) -> Exit:
    here = settings_for(given, Path.cwd())
    settings = here.settings
    if given.kernels is not None:
        paths = [Path(path) for path in given.kernels]
        rows = examine_kernels(
            paths,
            Path.cwd(),
            lambda kernel, module: settings_for(given, module.parent).place(kernel),
            settings.timeout_s,
        )
        _say(_doctor_lines(rows))
        return Exit.YES if doctor.is_healthy(rows) else Exit.NO
    rows = doctor.examine(here.root / settings.results, os.environ, settings.device)
    if given.peaks and doctor.is_healthy(rows):
        with open_required(settings) as device:
            rows += examine_peaks(device)
    _say(_doctor_lines(rows))
    return Exit.YES if doctor.is_healthy(rows) else Exit.NO


def _check(given: argparse.Namespace) -> Exit:
    if given.strength:
        return _strength(given)
    judged = _judge(given)
    if not given.json and judged.evaluation is not None:
        for outcome in judged.evaluation.outcomes:
            if outcome.printed:
                _say(f"output of the kernel at {outcome.case_id}:\n{outcome.printed}".rstrip())
    if given.json:
        _say(json.dumps(_judged_json(judged), indent=2, allow_nan=False))
    elif judged.failure is not None:
        _say(judged.failure.text)
    elif judged.evaluation is not None:
        _say(_accepted_lines(judged.evaluation, judged.done))
    if judged.status is Status.ACCEPTED:
        return Exit.YES
    return Exit.NOT_JUDGED if judged.status is Status.NOT_JUDGED else Exit.NO


def _strength(given: argparse.Namespace) -> Exit:
    """Report; whether it is enough is for a person to say."""
    try:
        kernel, measured, device = _measure_strength(given)
    except CudaoptError as error:
        return _without_strength(given, describe_error(error, Path.cwd()))
    if measured.strength is None:
        return _without_strength(given, why_not(kernel, measured, Path.cwd()))
    if given.json:
        _say(json.dumps(strength_json(measured.strength, device), indent=2, allow_nan=False))
    else:
        _say(_coloured(strength_lines(measured.strength, shown_path(kernel.source, Path.cwd()), device)))
    return Exit.YES


def _without_strength(given: argparse.Namespace, failure: Failure) -> Exit:
    not_judged = failure_json(failure, Status.NOT_JUDGED)
    _say(json.dumps(not_judged, indent=2, allow_nan=False) if given.json else failure.text)
    return Exit.NOT_JUDGED


def _measure_strength(given: argparse.Namespace) -> tuple[Kernel, Measured, str]:
    if given.candidate is not None:
        raise SettingsError(
            "check --strength", expected="no candidate: it changes the kernel itself", got=given.candidate
        )
    project = settings_for(given, Path(given.kernel.partition("::")[0]).resolve().parent)
    kernel = project.place(load_kernel(given.kernel))
    errors = Console(stderr=True)
    bar = Progress(*_BAR, console=errors, transient=True, disable=not errors.is_terminal)
    task = bar.add_task("mutants", total=None)

    def progress(done: int, of: int) -> None:
        bar.update(task, completed=done, total=of)

    # References and value callables are user code, and may print.
    with _opened(project.settings) as device, bar:
        limits = Limits(given.mutants, given.seconds)
        measured = measure_strength(kernel, project.settings, device, limits, progress)
        return kernel, measured, device.description


@contextlib.contextmanager
def _opened(settings: Settings) -> Iterator[Device]:
    """Open the device of `settings`; what user code prints meanwhile goes to stderr."""
    with open_required(settings) as device, contextlib.redirect_stdout(sys.stderr):
        if device.missed_gpu:
            _say(Text(f"WARNING: {device.note}", style="bold red"), to_stderr=True)
        yield device


@dataclass(frozen=True)
class _Judged:
    """A verdict, or what prevented one; `failure` is None for an accepted kernel."""

    status: Status
    evaluation: Evaluation | None = None
    failure: Failure | None = None
    done: Mapping[str, Achieved] = field(default_factory=dict)


def _judge(given: argparse.Namespace) -> _Judged:
    here = Path.cwd()
    try:
        module = Path(given.kernel.partition("::")[0]).resolve()
        project = settings_for(given, module.parent)
        kernel = project.place(load_kernel(given.kernel))
        start = kernel.start()
        source = None if given.candidate is None else _read_candidate(Path(given.candidate))
    except CudaoptError as error:
        return _Judged(Status.NOT_JUDGED, failure=describe_error(error, here))
    try:
        candidate = start if source is None else kernel.candidate(source, Path(given.candidate))
    except SourceError as error:
        # Directives that cannot be read are the candidate's fault.
        return _Judged(Status.COMPILE_ERROR, failure=describe_error(error, here))
    try:
        evaluation, done = _evaluate(kernel, candidate, project.settings, is_start=source is None)
    except CudaoptError as error:
        return _Judged(Status.NOT_JUDGED, failure=describe_error(error, here))
    if evaluation.accepted:
        return _Judged(evaluation.status, evaluation, done=done)
    file = None if given.candidate is None else Path(given.candidate)
    failure = describe_evaluation(kernel, candidate, evaluation, here, file)
    return _Judged(evaluation.status, evaluation, failure, done)


def _read_candidate(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise SourceError(
            "candidate", expected=f"a readable file {path}", got=why_unreadable(error)
        ) from error


def _evaluate(
    kernel: Kernel, candidate: Candidate, settings: Settings, *, is_start: bool
) -> tuple[Evaluation, dict[str, Achieved]]:
    start = kernel.start()
    # A candidate's draws are secret; those of the kernel as it is are the same on every push.
    fixed = declared_seed(kernel) if is_start else secret_seed()
    seed = fixed if settings.fuzz_seed is None else settings.fuzz_seed
    plan = candidate_plan(kernel, start, settings, seed)
    if is_start:
        plan = replace(plan, is_start=True, incumbents=())
    # References and value callables are user code, and may print.
    with _opened(settings) as device:
        evaluation = evaluate(kernel, candidate, plan, device)
        return evaluation, achieved_by_case(kernel, evaluation, known_peaks(device))


def _judged_json(judged: _Judged) -> dict[str, object]:
    if judged.evaluation is not None:
        return evaluation_json(judged.evaluation, judged.done)
    assert judged.failure is not None  # noqa: S101 - there is a verdict or a reason for none
    return failure_json(judged.failure, judged.status)


def _replay(given: argparse.Namespace) -> Exit:
    replayed = rerun.execute(Path(given.request), os.environ)
    _say(replayed.text if given.json else "\n".join(rerun.lines(replayed.answer)))
    return {Ending.RAN: Exit.YES, Ending.FAULT: Exit.NO}.get(rerun.ending(replayed.answer), Exit.NOT_JUDGED)


def _graph(given: argparse.Namespace) -> Exit:
    # Loads langgraph, which the other commands do not need.
    if given.svg is not None:
        from pytest_cudaopt.optimize.drawing import write_svg

        _say(f"{given.svg}, drawn by {write_svg(Path(given.svg))}")
        return Exit.YES
    from pytest_cudaopt.optimize.graph import mermaid

    _say(mermaid())
    return Exit.YES


def _optimize(given: argparse.Namespace) -> Exit:
    # A reference may print: only what came of the run belongs to this command's output.
    own = sys.stderr if given.json else sys.stdout
    with contextlib.redirect_stdout(sys.stderr):
        optimized = optimize_command.run(given, lambda line: _say(line, file=own))
    if given.json:
        if optimized.failure:
            _say(optimized.failure, to_stderr=True)
        if optimized.summary is not None:
            _say(optimized.summary.rstrip())
    else:
        shown = _coloured(optimized.lines)
        shown.rstrip()
        _say(shown)
    return _EXITS[optimized.ending]


def _adopt(given: argparse.Namespace) -> Exit:
    adopted = adoption.run(given)
    _say(adopted.text)
    return Exit.YES if adopted.is_useful else Exit.NO


def _baseline(given: argparse.Namespace) -> Exit:
    told = baseline_command.run(given)
    _say("\n".join(told.lines))
    return Exit.YES if told.is_yes else Exit.NO


_COMMANDS = {
    "doctor": _doctor,
    "check": _check,
    "optimize": _optimize,
    "replay": _replay,
    "graph": _graph,
    "adopt": _adopt,
    "baseline": _baseline,
}
_EXITS = {
    optimize_command.Ending.FINISHED: Exit.YES,
    optimize_command.Ending.START_REJECTED: Exit.NO,
    optimize_command.Ending.NOT_JUDGED: Exit.NOT_JUDGED,
}


def _accepted_lines(evaluation: Evaluation, done: Mapping[str, Achieved]) -> Text:
    text = Text(f"{evaluation.kernel}: accepted on {evaluation.device}\n")
    table = _coloured(table_lines(rows_of(evaluation, done))[1:])
    return text + table + Text("\n".join(("certificate:", *certificate_of(evaluation).lines)))


def _coloured(lines: Sequence[Line]) -> Text:
    text = Text()
    for line in lines:
        for piece, mood in line:
            text.append(piece, style=_STYLES.get(mood, ""))
        text.append("\n")
    return text


def _doctor_lines(rows: Sequence[doctor.Row]) -> Text:
    """One line per row and not a table: its cells would break paths."""
    width = max(len(row.what) for row in rows)
    lines = Text()
    for row in rows:
        lines.append(f"{row.state:<8} ", style=_COLOURS[row.state])
        lines.append(f"{row.what:<{width}}  {row.detail}\n")
        if row.advice:
            lines.append(f"{'':<9}{'':<{width}}  {row.advice}\n", style="bold")
    lines.rstrip()
    return lines


_BAR = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
_STYLES = {Mood.GOOD: "green", Mood.WARNING: "yellow", Mood.BAD: "red", Mood.TITLE: "bold"}
_COLOURS = {State.FOUND: "green", State.ABSENT: "yellow", State.MISSING: "red"}


def _say(what: str | Text, *, to_stderr: bool = False, file: IO[str] | None = None) -> None:
    """Write to the terminal; the only place this command does."""
    # Not wrapped, and no emoji for the `:100:` of `a.cu:100:5`: paths and JSON must survive being copied.
    Console(file=file, stderr=to_stderr, highlight=False, emoji=False).print(
        what, markup=False, soft_wrap=True
    )
