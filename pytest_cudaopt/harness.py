"""The harness as a long-lived process: find it, start it, ask it, time it out, restart it after a crash."""

from __future__ import annotations

import importlib.metadata
import json
import os
import time
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType

from pytest_cudaopt.answers import Answer, AnswerStatus, HarnessVersion, parse_line
from pytest_cudaopt.errors import EnvironmentFault, HarnessError
from pytest_cudaopt.finding import Finding, FindingKind
from pytest_cudaopt.protocol import Request
from pytest_cudaopt.serving import REINSTALL, NeverReceivedError, Serving

NAME = "cudaopt-harness"
VARIABLE = "CUDAOPT_HARNESS"
# The harness's own watchdog answers first; ours is for a harness that cannot.
GRACE_S = 10.0


def locate(environ: Mapping[str, str] = os.environ) -> Path:
    """Return the harness's path; raise EnvironmentFault naming the places looked at."""
    if given := environ.get(VARIABLE):
        if _is_program(Path(given)):
            return Path(given).absolute()
        raise EnvironmentFault(
            VARIABLE,
            expected="the path of an executable harness",
            got=given,
            next_step=f"Correct {VARIABLE} or unset it",
        )
    places = [Path(__file__).parent / "bin" / NAME]
    try:
        installed = importlib.metadata.distribution("pytest-cudaopt")
        # An editable install keeps the binary in site-packages, away from the sources.
        places.append(Path(str(installed.locate_file(f"pytest_cudaopt/bin/{NAME}"))))
    except importlib.metadata.PackageNotFoundError:
        pass
    for place in places:
        if _is_program(place):
            return place.absolute()
    raise EnvironmentFault(
        NAME,
        expected="it to be installed with the package",
        got=f"nothing at {', '.join(str(place) for place in places)}",
        next_step=f"{REINSTALL} (its build needs a C++17 compiler)",
    )


class Harness:
    """One serving harness process; started on the first `ask`, and again after it died.

    `nvrtc` and `driver` are libraries to use instead of those the harness would look for. `busy_s` is how
    long its answers have been waited for, starts included.
    """

    def __init__(self, binary: Path, nvrtc: Path | None = None, driver: str | None = None) -> None:
        self.binary = binary
        named = {"--nvrtc": nvrtc, "--driver": driver}
        self._arguments = [text for flag, path in named.items() if path for text in (flag, str(path))]
        self._running: Serving | None = None
        self.busy_s = 0.0

    def __enter__(self) -> Harness:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def version(self) -> HarnessVersion:
        """What the serving process says of itself; starts one if none runs."""
        return self._started().version

    @property
    def pid(self) -> int | None:
        """The process id, if a process runs."""
        return None if self._running is None else self._running.pid

    def ask(self, request: Request) -> Answer:
        """Send `request` and return its answer.

        A process that dies or stays silent is replaced, and the request is answered with a fault
        `harness_crash` or `timeout`. One that was dead before it got anything of the request is replaced
        silently. Raises HarnessError if the two sides do not understand each other.
        """
        line = json.dumps(request.to_json(), allow_nan=False).encode() + b"\n"
        timeout_s = request.timeout_s + GRACE_S if request.timeout_s else None
        asked = time.perf_counter()
        try:
            reply = self._exchange(line, timeout_s)
        except TimeoutError:
            self.close()
            return _failed(request, FindingKind.TIMEOUT, f"no answer within {request.timeout_s:g} s")
        except EOFError:
            how = "ended" if self._running is None else self._running.obituary()
            message = f"the harness {how} without an answer"
            self.close()
            return _failed(request, FindingKind.HARNESS_CRASH, message)
        except BaseException:
            # A late answer must never be taken for the answer to the next request.
            self.close()
            raise
        finally:
            self.busy_s += time.perf_counter() - asked
        return self._read(request, reply)

    def close(self) -> None:
        """End the process, if one runs. The next `ask` starts another."""
        if self._running is not None:
            self._running.end()
            self._running = None

    def _exchange(self, line: bytes, timeout_s: float | None) -> bytes:
        try:
            return self._started().exchange(line, timeout_s)
        except NeverReceivedError:
            self.close()
            return self._started().exchange(line, timeout_s)

    def _started(self) -> Serving:
        if self._running is not None and not self._running.is_alive:
            self.close()
        if self._running is None:
            self._running = Serving(self.binary, self._arguments)
        return self._running

    def _read(self, request: Request, reply: bytes) -> Answer:
        try:
            answer = Answer.from_json(parse_line(reply, f"answer to '{request.id}'"))
        except HarnessError:
            self.close()
            raise
        if answer.status is AnswerStatus.INVALID:
            raise HarnessError(
                f"request '{request.id}'",
                expected="a request the harness accepts",
                got=answer.fault.message.rstrip(".") if answer.fault else "status invalid",
                next_step="Please report this as a bug of pytest-cudaopt",
            )
        if answer.nonce != request.nonce:
            self.close()
            raise HarnessError(
                f"answer to '{request.id}'", expected=f"nonce {request.nonce}", got=answer.nonce or "none"
            )
        is_watchdogs = answer.fault is not None and answer.fault.kind is FindingKind.TIMEOUT
        if answer.ending or is_watchdogs:
            # It ends by itself, but when is unknown, and what it holds of the GPU must be free by then.
            self.close()
        return answer


def _failed(request: Request, kind: FindingKind, message: str) -> Answer:
    return Answer(request.id, request.nonce, AnswerStatus.FAULT, request.device, (), Finding(kind, message))


def _is_program(path: Path) -> bool:
    return path.is_file() and os.access(path, os.X_OK)
