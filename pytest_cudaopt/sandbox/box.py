"""The door of the sandbox: make calls one after the other, each in a process of its own."""

from __future__ import annotations

import os
import shutil
import signal
import tempfile
import threading
from collections.abc import Mapping
from types import TracebackType

from pytest_cudaopt.sandbox import exchange, results
from pytest_cudaopt.sandbox.call import Call, Limits
from pytest_cudaopt.sandbox.inside import Inside, InsideLostError
from pytest_cudaopt.sandbox.manifest import Ended
from pytest_cudaopt.sandbox.outcome import (
    BadOutput,
    Barriers,
    Killed,
    Level,
    Ok,
    Outcome,
    OutOfMemory,
    Raised,
    Refused,
    SandboxRun,
    TimedOut,
)

STANDARD = Limits()
NONE = Barriers()


class Sandbox:
    """Calls at one level, one at a time whatever the threads; a `with` block ends its processes.

    `levels.open_sandbox` chooses level and barriers, and tries them out; this class takes them as they are.
    """

    def __init__(
        self, level: Level, barriers: Barriers = NONE, environ: Mapping[str, str] = os.environ
    ) -> None:
        self.level = level
        self.barriers = barriers
        self._environ = environ
        self._lock = threading.Lock()
        self._folder = tempfile.TemporaryDirectory(prefix="cudaopt-sandbox-")
        self._inside: Inside | None = None

    def __enter__(self) -> Sandbox:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def pid(self) -> int | None:
        """The process that calls are started through, if it runs."""
        return None if self._inside is None else self._inside.pid

    def close(self) -> None:
        """End the processes and remove the folder."""
        with self._lock:
            self._leave()
            self._folder.cleanup()

    def start(self) -> None:
        """Start the process that calls fork from, unless it runs; the first call does it too.

        Raises EnvironmentFault with what the process said if it does not start.
        """
        with self._lock:
            self._entered()

    def run(self, call: Call, limits: Limits = STANDARD) -> SandboxRun:
        """Make the call and return what came of it; nothing that it does is an exception here."""
        with self._lock:
            try:
                with exchange.prepare(call, limits) as between:
                    return self._made(call, limits, between)
            except exchange.UnfitCallError as error:
                return SandboxRun(Refused(str(error)), self.level, self.barriers)

    def _made(self, call: Call, limits: Limits, between: exchange.Exchange) -> SandboxRun:
        cpu_s = 0.0
        try:
            ended = self._ended(limits, between)
            outcome, cpu_s = _outcome(call, limits, between, ended), ended.cpu_s
        except InsideLostError as error:
            outcome = error.outcome(limits)
        return SandboxRun(
            outcome,
            self.level,
            self.barriers,
            results.printed(between.stdout, limits.printed_bytes),
            results.printed(between.stderr, limits.printed_bytes),
            cpu_s,
        )

    def _ended(self, limits: Limits, between: exchange.Exchange) -> Ended:
        inside = self._entered()
        folder = tempfile.mkdtemp(dir=self._folder.name)
        try:
            return inside.call(folder, limits, between.descriptors)
        except BaseException:
            # A late answer must never be taken for the answer to the next call.
            self._leave()
            raise
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def _entered(self) -> Inside:
        if self._inside is not None and not self._inside.is_alive:
            self._leave()
        if self._inside is None:
            self._inside = Inside(self.barriers, self._environ)
        return self._inside

    def _leave(self) -> None:
        if self._inside is not None:
            self._inside.end()
            self._inside = None


def _outcome(call: Call, limits: Limits, between: exchange.Exchange, ended: Ended) -> Outcome:
    if ended.timed_out:
        return TimedOut(limits.wall_s)
    if os.WIFSIGNALED(ended.status):
        return _killed(os.WTERMSIG(ended.status), limits, ended)
    try:
        return _said(call, limits, between)
    except results.BadOutputError as error:
        return BadOutput(results.readable(str(error), 500))


def _killed(number: int, limits: Limits, ended: Ended) -> Outcome:
    # The kernel kills who ignores SIGXCPU a second later.
    is_of_cpu = number == signal.SIGXCPU or (number == signal.SIGKILL and ended.cpu_s >= limits.cpu_s)
    return TimedOut(limits.cpu_s, of_cpu=True) if is_of_cpu else Killed(number)


def _said(call: Call, limits: Limits, between: exchange.Exchange) -> Outcome:
    answer = results.read_answer(between.answer)
    if answer.refused is not None:
        return Refused(results.readable(answer.refused, 500))
    if answer.raised is not None:
        raised = answer.raised
        if raised.out_of_memory:
            return OutOfMemory(limits.memory_bytes)
        return Raised(results.readable(raised.type, 100), results.readable(raised.message, 2000), raised.line)
    if answer.arrays is None:
        raise results.BadOutputError("neither arrays nor an exception")
    return Ok(results.read_arrays(between.arrays, answer.arrays, call.outputs, limits.output_bytes))
