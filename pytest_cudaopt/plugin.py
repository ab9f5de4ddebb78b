"""pytest's hooks, a few lines each; loads nothing heavy, since pytest loads this in every session."""

from __future__ import annotations

import os
import re
import sys
import zlib
from collections.abc import Generator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pytest_cudaopt.errors import CudaoptError, SettingsError
from pytest_cudaopt.session import CHANGED_KEY, MACHINE_KEY, KernelSession
from pytest_cudaopt.settings import BASELINE_FOLDER, OPTIONS, resolve

_RUN_FOLDER = re.compile(r"^run-\d+$")
_MARKS = {
    "cudaopt_check": "compares a kernel with its reference at one case",
    "cudaopt_fuzz": "compares a kernel with its reference at cases nobody listed",
    "cudaopt_contract": "asks a kernel what it can do beyond its declared cases",
    "cudaopt_sanitize": "looks for races, uninitialised reads and the like in a kernel, on sim",
    "cudaopt_limits": "holds a kernel's registers, spills and shared memory against its limits",
    "cudaopt_latency": "measures a kernel's latency at one case",
    "cudaopt_optimize": "looks for a faster version of a kernel (--optimize)",
}


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("cudaopt", "CUDA kernels")
    for option in OPTIONS:
        where = f"{option.help}; ini {option.ini}, environment {option.env}"
        # Texts stay texts: `resolve` reads all sources alike and names the one at fault.
        if option.is_switch:
            group.addoption(
                option.flag, dest=_dest(option.field), action="store_true", default=None, help=where
            )
        else:
            # Only one that has a meaning without a value may be given without.
            bare = {} if option.bare is None else {"nargs": "?", "const": option.bare}
            group.addoption(option.flag, dest=_dest(option.field), metavar=option.metavar, help=where, **bare)
        parser.addini(option.ini, option.help, default=None)


def pytest_configure(config: pytest.Config) -> None:
    for name, meaning in _MARKS.items():
        config.addinivalue_line("markers", f"{name}: {meaning}")
    try:
        settings = resolve(
            {option.field: config.getoption(_dest(option.field)) for option in OPTIONS},
            os.environ,
            {option.field: config.getini(option.ini) for option in OPTIONS},
        )
    except SettingsError as error:
        raise pytest.UsageError(str(error)) from error
    if settings.fuzz_seed is None:
        settings = replace(settings, fuzz_seed=_hypothesis_seed(config))
    session = KernelSession.begin(config, settings)
    try:
        session.make_report_folder()
    except OSError as error:
        raise pytest.UsageError(f"--cudaopt-report={settings.report}: {error}") from error
    try:
        session.find_revisions()
    except CudaoptError as error:
        raise pytest.UsageError(str(error)) from error


def _hypothesis_seed(config: pytest.Config) -> int | None:
    """Return the seed that hypothesis' own option gives every test of the run; None without one."""
    given = config.getoption("--hypothesis-seed", None)
    if given is None:
        return None
    # hypothesis takes any text.
    return int(given) if str(given).isdigit() else zlib.crc32(str(given).encode())


def pytest_unconfigure(config: pytest.Config) -> None:
    KernelSession.end(config)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    # Runs hold generated Python; other folders beside them are the user's own.
    is_run = (
        _RUN_FOLDER.match(collection_path.name) and collection_path.parent == KernelSession.of(config).results
    )
    # Other plugins collect JSON.
    return True if is_run or collection_path.name == BASELINE_FOLDER else None


@pytest.hookimpl(tryfirst=True)
def pytest_pycollect_makeitem(
    collector: pytest.Module | pytest.Class, name: str, obj: object
) -> list[pytest.Item] | None:
    # Without the module that declares them there are no kernels, and nothing more to load.
    if "pytest_cudaopt.declared" not in sys.modules:
        return None
    from pytest_cudaopt.declared import Kernel

    # type() and not isinstance(): modules hold objects whose __class__ has side effects.
    if type(obj) is not Kernel:
        return None
    from pytest_cudaopt import collect

    if not isinstance(collector, pytest.Module):
        raise collect.kernel_in_class(collector.name, obj)
    return collect.items_of(collector, name, obj)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    collect = sys.modules.get("pytest_cudaopt.collect")
    if collect is None:
        return
    session = KernelSession.of(config)
    if session.changed_since is not None:
        from pytest_cudaopt import unchanged_items

        unchanged_items.deselect(config, items, session.changed_since)
    if session.budget.limit_s is not None:
        items[:] = collect.checks_first(items)


def pytest_report_collectionfinish(config: pytest.Config) -> list[str]:
    return KernelSession.of(config).changed_lines


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    output = getattr(node, "workeroutput", {})
    if CHANGED_KEY in output:
        from pytest_cudaopt import unchanged_items

        unchanged_items.take_over(output, KernelSession.of(node.config))


@pytest.hookimpl(tryfirst=True)
def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    # Where nothing changed there is nothing to run, and nothing wrong.
    if (
        exitstatus == pytest.ExitCode.NO_TESTS_COLLECTED
        and KernelSession.of(session.config).unchanged_kernels > 0
    ):
        session.exitstatus = pytest.ExitCode.OK


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    if not _is_kernel_item(item):
        return (yield)
    with KernelSession.of(item.config).budget.spending():
        return (yield)


def pytest_exception_interact(
    node: pytest.Item | pytest.Collector,
    call: pytest.CallInfo[object],
    report: pytest.CollectReport | pytest.TestReport,
) -> None:
    """Show a wrong declaration by its own message instead of a traceback."""
    excinfo = call.excinfo
    if isinstance(node, pytest.Collector) and excinfo is not None and isinstance(excinfo.value, CudaoptError):
        from pytest_cudaopt import collect

        report.longrepr = collect.shown_collection_error(node, excinfo, excinfo.value)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    # A kernel that could not be judged points at its declaration, not at the line here that skipped it.
    ours = report.when == "call" or (report.when == "setup" and _has_row(report))
    if ours and _is_kernel_item(item) and isinstance(report.longrepr, tuple):
        path, line, _ = item.reportinfo()
        report.longrepr = (str(path), (line or 0) + 1, report.longrepr[2])
    return report


# Innermost, so that pytest's own summary stays the last; behind the summaries of others, and shown even if
# pytest-benchmark's raises since times have grown.
@pytest.hookimpl(wrapper=True, trylast=True)
def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> Generator[None, None, None]:
    try:
        yield
    finally:
        _write_summary(terminalreporter, config)


def _write_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    # Workers have reporters too, which nobody sees, and a part of the rows.
    if hasattr(config, "workerinput"):
        return
    session = KernelSession.of(config)
    reports = [
        report
        for reports in terminalreporter.stats.values()
        for report in reports
        if isinstance(report, pytest.TestReport) and report.when != "teardown" and _has_row(report)
    ]
    broken = [one for one in terminalreporter.stats.get("error", []) if isinstance(one, pytest.CollectReport)]
    if reports or broken or session.report_file is not None:
        from pytest_cudaopt import session_end

        session_end.write(reports, broken, session, terminalreporter, os.environ)
    for line in session.parting_lines:
        terminalreporter.write_line(line)


@pytest.hookimpl(optionalhook=True)
def pytest_benchmark_update_machine_info(config: pytest.Config, machine_info: dict[str, Any]) -> None:
    # Whoever has timed a kernel has loaded it.
    if (bridge := sys.modules.get("pytest_cudaopt.benchmark_bridge")) is not None:
        bridge.identify(config, machine_info)


# Before pytest-benchmark's own, which warns where anything of the machine differs.
@pytest.hookimpl(optionalhook=True, tryfirst=True)
def pytest_benchmark_compare_machine_info(
    config: pytest.Config, machine_info: dict[str, Any], compared_benchmark: dict[str, Any]
) -> None:
    if MACHINE_KEY not in compared_benchmark["machine_info"]:
        return
    from pytest_cudaopt import benchmark_bridge

    benchmark_bridge.refuse_other_devices(config, machine_info, compared_benchmark)


def _has_row(report: pytest.TestReport) -> bool:
    return any(str(name).startswith("cudaopt.") for name, _ in report.user_properties)


def _is_kernel_item(item: pytest.Item) -> bool:
    collect = sys.modules.get("pytest_cudaopt.collect")
    return collect is not None and isinstance(item, collect.KernelItem)


def _dest(field: str) -> str:
    return f"cudaopt_{field}"
