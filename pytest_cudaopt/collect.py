"""Declared kernels as pytest items: which ones a module has, their names, marks and failure reports."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from _pytest._code.code import ReprEntryNative, ReprExceptionInfo, ReprFileLocation, ReprTraceback

from pytest_cudaopt import benchmark_bridge, items, report
from pytest_cudaopt.declared import Kernel
from pytest_cudaopt.errors import CudaoptError, DeclarationError, SourceLocation
from pytest_cudaopt.item_work import Announce, Work
from pytest_cudaopt.project import within_project
from pytest_cudaopt.report import Failure, FailureClass
from pytest_cudaopt.session import KernelSession
from pytest_cudaopt.session_budget import lowest_first
from pytest_cudaopt.settings import Settings
from pytest_cudaopt.table import NOT_RUN, RowStage

# What the machine lacks, and what does not compile, is no item's own.
_SHARED = (FailureClass.ENVIRONMENT, FailureClass.COMPILE)


class KernelFailed(Exception):
    """Carries a failure to the item that shows it."""

    def __init__(self, failure: Failure) -> None:
        self.failure = failure
        super().__init__(failure.text)


def kernel_in_class(class_name: str, kernel: Kernel) -> DeclarationError:
    """Say why a kernel declared in a test class is not collected: silence would look like success."""
    return DeclarationError(
        f"kernel '{kernel.name}'",
        expected="a declaration in the module itself",
        got=f"one in class {class_name}",
        next_step="Move it out of the class; marks and fixtures work on kernels as they are",
        at=kernel.location,
    )


class KernelItem(pytest.Function):
    """One check, fuzzing, sanitizing, limits, latency measurement or optimisation of a declared kernel."""

    def __init__(self, *, work: Work, **rest: Any) -> None:
        super().__init__(**rest)
        self.work = work

    def setup(self) -> None:
        """Set up what the item needs, unless no budget is left for it."""
        budget = KernelSession.of(self.config).budget
        if budget.is_spent:
            self.user_properties += replace(self.work.row, status=NOT_RUN).properties()
            pytest.skip(f"the budget of {budget.limit_s:g} s is spent")
        super().setup()

    def reportinfo(self) -> tuple[Path, int, str]:
        """Point at the declaration."""
        at = self.work.kernel.location
        return Path(at.file), at.line - 1, self.name

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """Show a kernel's failure as its own report, anything else as pytest does."""
        if not isinstance(excinfo.value, KernelFailed):
            return super().repr_failure(excinfo)
        failure = excinfo.value.failure
        at = failure.at or self.work.kernel.location
        session = KernelSession.of(self.config)
        if failure.kind in _SHARED and not session.explain_once(failure.text):
            # Every item fails alike: one full text is enough.
            return shown(
                failure.summary,
                [f"{failure.kind}: {failure.headline} (as explained at the first failure)"],
                at,
            )
        path = os.path.relpath(self.path, self.config.invocation_params.dir)
        flags = session.settings.differing_flags(
            timing=self.work.stage is RowStage.LATENCY,
            optimizing=self.work.stage is RowStage.OPTIMIZE,
            fuzzing=self.work.stage in (RowStage.FUZZ, RowStage.CONTRACT),
            sanitizing=self.work.stage is RowStage.SANITIZE,
        )
        again = report.reproduce_lines(f"{path}::{self.name}", flags, self.work.case or failure.case)
        return shown(failure.summary, [failure.text, *again], at)


def items_of(collector: pytest.Module, name: str, kernel: Kernel) -> list[pytest.Item]:
    """Return the items of a kernel found under `name`; none for an alias or an imported kernel."""
    first_name = next((key for key, value in vars(collector.obj).items() if value is kernel), name)
    if first_name != name or _is_imported(kernel, collector):
        return []
    session = KernelSession.of(collector.config)
    settings = session.settings
    kernel = within_project(kernel, settings, session.root)
    works = _works(collector, name, kernel, settings)
    return [_item(collector, name, work) for work in works]


def checks_first(items: Sequence[pytest.Item]) -> list[pytest.Item]:
    """Return `items` with the checks of all kernels before what else there is of kernels."""
    return lowest_first(
        items, lambda item: item.work.stage is not RowStage.CHECK if isinstance(item, KernelItem) else None
    )


def shown(summary: str, lines: Iterable[str], at: SourceLocation) -> ReprExceptionInfo:
    """Return text as pytest's own report object.

    Not a plain string: only these carry the one-line summary, and only these survive pytest-xdist.
    """
    entry = ReprEntryNative(["\n".join(lines) + "\n"])
    return ReprExceptionInfo(
        reprtraceback=ReprTraceback([entry], None, "native"),
        reprcrash=ReprFileLocation(at.file, at.line, summary),
    )


def shown_collection_error(
    collector: pytest.Collector, excinfo: pytest.ExceptionInfo[BaseException], error: CudaoptError
) -> ReprExceptionInfo:
    """Return a declaration's error, at the line of the module that made it if it knows no better."""
    own_lines = [entry.lineno + 1 for entry in excinfo.traceback if Path(str(entry.path)) == collector.path]
    at = error.at or SourceLocation(str(collector.path), own_lines[-1] if own_lines else 1)
    failure = report.describe_error(error.located(at), collector.config.rootpath)
    return shown(failure.summary, [failure.text], at)


def _is_imported(kernel: Kernel, collector: pytest.Module) -> bool:
    """True if another module declares `kernel` and holds it; one that a function made there belongs here."""
    file = kernel.location.file
    if Path(file).resolve() == collector.path.resolve():
        return False
    # sys.modules may hold anything.
    spaces = [getattr(module, "__dict__", {}) for module in list(sys.modules.values())]
    return any(
        value is kernel for space in spaces if space.get("__file__") == file for value in space.values()
    )


def _works(collector: pytest.Module, name: str, kernel: Kernel, settings: Settings) -> Iterator[Work]:
    kernel_id = f"{collector.nodeid}::{name}"
    named_cases = list(zip(range(len(kernel.cases)), kernel.case_ids, kernel.cases, strict=True))
    for position, case_id, case in named_cases:
        yield Work(kernel, kernel_id, RowStage.CHECK, position, case_id, case)
    after = len(kernel.cases)
    if kernel.limits is not None:
        yield Work(kernel, kernel_id, RowStage.LIMITS, after + 3, "", None)
    if settings.fuzz_examples > 0:
        yield Work(kernel, kernel_id, RowStage.FUZZ, after, "", None)
        yield Work(kernel, kernel_id, RowStage.CONTRACT, after + 1, "", None)
    if settings.sanitize_elements > 0:
        yield Work(kernel, kernel_id, RowStage.SANITIZE, after + 2, "", None)
    for position, case_id, case in named_cases:
        if case.measure:
            yield Work(kernel, kernel_id, RowStage.LATENCY, position, case_id, case)
    if settings.optimize:
        yield Work(kernel, kernel_id, RowStage.OPTIMIZE, after + 4, "", None)


def _item(collector: pytest.Module, name: str, work: Work) -> pytest.Item:
    is_benchmark = work.stage is RowStage.LATENCY and benchmark_bridge.takes_part(collector.config)
    call = _test_function(work, is_benchmark=is_benchmark)
    call.__name__ = name
    call.__doc__ = work.kernel.doc
    call.__module__ = collector.obj.__name__
    stage_mark: pytest.MarkDecorator = getattr(pytest.mark, f"cudaopt_{work.stage}")
    benchmark_marks = [benchmark_bridge.MARK.mark] if is_benchmark else []
    vars(call)["pytestmark"] = [*work.kernel.pytestmark, stage_mark.mark, *benchmark_marks]
    parameters = f"{work.stage}-{work.case_id}" if work.case_id else str(work.stage)
    item: pytest.Item = KernelItem.from_parent(
        collector, name=f"{name}[{parameters}]", callobj=call, work=work
    )
    if is_benchmark:
        benchmark_bridge.join(item)
    return item


def _test_function(work: Work, *, is_benchmark: bool) -> Callable[..., None]:
    """Return what pytest calls: an ordinary test function, so that fixtures and other plugins work."""

    def test(request: pytest.FixtureRequest) -> None:
        finished = items.run(work, KernelSession.of(request.config), _announcer(request.config))
        request.node.user_properties += finished.row.properties()
        if finished.printed:
            request.node.add_report_section("call", "output of the kernel", finished.printed)
        if finished.row.waived:
            request.node.add_report_section("call", "waived findings", "\n".join(finished.row.waived))
        if is_benchmark:
            benchmark_bridge.record(request, work, finished)
        if finished.not_judged is not None:
            pytest.skip(finished.not_judged)
        if finished.failure is not None:
            raise KernelFailed(finished.failure)

    return test


def _announcer(config: pytest.Config) -> Announce:
    """Return where lines about work in progress go: to a terminal somebody may be watching, else nowhere."""
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    capture = config.pluginmanager.get_plugin("capturemanager")
    # pytest's own signs of a CI log.
    in_ci = any(name in os.environ for name in ("CI", "BUILD_NUMBER"))
    if reporter is None or not reporter.isatty or in_ci or config.get_verbosity() < 0:
        return lambda line: None

    def announce(line: str) -> None:
        # While a test runs, pytest captures even its own reporter.
        with capture.global_and_fixture_disabled() if capture is not None else nullcontext():
            reporter.write_line(line)

    return announce
