"""The harness as a long-lived process: find it, start it, ask it, time it out, restart it after a crash."""

from __future__ import annotations

import importlib.metadata
import json
import os
import selectors
import signal
import subprocess
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import IO, Any

from pytest_cudaopt.answers import Answer, AnswerStatus, HarnessVersion, parse_line
from pytest_cudaopt.errors import EnvironmentFault, HarnessError
from pytest_cudaopt.finding import Finding, FindingKind
from pytest_cudaopt.protocol import PROTOCOL_VERSION, Request

NAME = "cudaopt-harness"
VARIABLE = "CUDAOPT_HARNESS"
START_TIMEOUT_S = 60.0
# The harness's own watchdog answers first; ours is for a harness that cannot.
GRACE_S = 10.0
_END_TIMEOUT_S = 10.0
_REINSTALL = "Reinstall with: pip install --force-reinstall --no-deps pytest-cudaopt"
_OUTPUT_SHOWN = 4000


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
        next_step=f"{_REINSTALL} (its build needs a C++17 compiler)",
    )


class Harness:
    """One serving harness process; started on the first `ask`, and again after it died."""

    def __init__(self, binary: Path, nvrtc: Path | None = None) -> None:
        self.binary = binary
        self._arguments = ["--nvrtc", str(nvrtc)] if nvrtc else []
        self._running: _Serving | None = None

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

    def ask(self, request: Request) -> Answer:
        """Send `request` and return its answer.

        A process that dies or stays silent is replaced, and the request is answered with a fault
        `harness_crash` or `timeout`. Raises HarnessError if the two sides do not understand each other.
        """
        serving = self._started()
        line = json.dumps(request.to_json(), allow_nan=False).encode() + b"\n"
        timeout_s = request.timeout_s + GRACE_S if request.timeout_s else None
        try:
            reply = serving.exchange(line, timeout_s)
        except TimeoutError:
            self.close()
            return _failed(request, FindingKind.TIMEOUT, f"no answer within {request.timeout_s:g} s")
        except EOFError:
            message = f"the harness {serving.obituary()} without an answer"
            self.close()
            return _failed(request, FindingKind.HARNESS_CRASH, message)
        except BaseException:
            # A late answer must never be taken for the answer to the next request.
            self.close()
            raise
        return self._read(request, reply)

    def close(self) -> None:
        """End the process, if one runs. The next `ask` starts another."""
        if self._running is not None:
            self._running.end()
            self._running = None

    def _started(self) -> _Serving:
        if self._running is not None and not self._running.is_alive:
            self.close()
        if self._running is None:
            self._running = _Serving(self.binary, self._arguments)
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
        if answer.fault is not None and answer.fault.kind is FindingKind.TIMEOUT:
            # The watchdog answers and then ends the process.
            self.close()
        return answer


class _Serving:
    """The process and its two pipes. What a kernel prints goes to a file, never to the result pipe."""

    def __init__(self, binary: Path, arguments: list[str]) -> None:
        self._output: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - lives as long as the process
        self._results, results_end = os.pipe()
        try:
            self._process = subprocess.Popen(  # noqa: S603 - the harness, without a shell
                [str(binary), "serve", *arguments, "--result-fd", str(results_end)],
                stdin=subprocess.PIPE,
                stdout=self._output,
                stderr=self._output,
                pass_fds=(results_end,),
                # Ctrl-C in a terminal reaches us only; we decide what happens to the harness.
                process_group=0,
            )
        except OSError as error:
            os.close(self._results)
            self._output.close()
            raise EnvironmentFault(
                str(binary),
                expected="an executable harness",
                got=error.strerror or str(error),
                next_step=_REINSTALL,
            ) from error
        finally:
            os.close(results_end)
        assert self._process.stdin is not None  # noqa: S101 - opened by stdin=PIPE above
        self._requests: IO[bytes] = self._process.stdin
        os.set_blocking(self._requests.fileno(), False)
        os.set_blocking(self._results, False)
        self._received = bytearray()
        self.version = self._greet(binary)

    @property
    def is_alive(self) -> bool:
        return self._process.poll() is None

    def exchange(self, line: bytes, timeout_s: float | None) -> bytes:
        """Send a line and return the answer's; raise TimeoutError, or EOFError if the process ended."""
        deadline = None if timeout_s is None else time.monotonic() + timeout_s
        left = memoryview(line)
        with selectors.DefaultSelector() as selector:
            selector.register(self._results, selectors.EVENT_READ)
            if left:
                selector.register(self._requests, selectors.EVENT_WRITE)
            while True:
                ready = selector.select(None if deadline is None else max(0.0, deadline - time.monotonic()))
                if not ready:
                    raise TimeoutError
                for key, _ in ready:
                    if key.fd == self._results:
                        if (answer := self._receive()) is not None:
                            return answer
                    else:
                        left = left[self._send(left) :]
                        if not left:
                            selector.unregister(self._requests)

    def obituary(self) -> str:
        """Say how the process ended, with the end of what it wrote."""
        try:
            code = self._process.wait(_END_TIMEOUT_S)
            how = f"was ended by {_signal_name(-code)}" if code < 0 else f"ended with exit code {code}"
        except subprocess.TimeoutExpired:
            how = "closed its results"
        self._output.seek(0)
        text = self._output.read()[-_OUTPUT_SHOWN:].decode(errors="replace").strip()
        return f"{how}{f' (it wrote: {text})' if text else ''}"

    def end(self) -> None:
        self._process.kill()
        self._process.wait()
        # Nothing is ever buffered on our side, so closing cannot raise BrokenPipeError.
        self._requests.close()
        os.close(self._results)
        self._output.close()

    def _send(self, data: memoryview) -> int:
        try:
            return os.write(self._requests.fileno(), data)
        except BrokenPipeError:
            raise EOFError from None

    def _receive(self) -> bytes | None:
        chunk = os.read(self._results, 1 << 20)
        if not chunk:
            raise EOFError
        self._received += chunk
        end = self._received.find(b"\n")
        if end < 0:
            return None
        line = bytes(self._received[:end])
        del self._received[: end + 1]
        return line

    def _greet(self, binary: Path) -> HarnessVersion:
        try:
            said: Any = parse_line(self.exchange(b"", START_TIMEOUT_S), f"greeting of {binary}")
        except (EOFError, TimeoutError, HarnessError) as error:
            how = self.obituary() if isinstance(error, EOFError) else str(error) or "stayed silent"
            self.end()
            raise HarnessError(
                str(binary),
                expected="a harness that answers with its version",
                got=how,
                next_step=_REINSTALL,
            ) from error
        if not isinstance(said, dict) or said.get("protocol") != PROTOCOL_VERSION:
            self.end()
            spoken = said.get("protocol") if isinstance(said, dict) else said
            raise HarnessError(
                str(binary),
                expected=f"protocol version {PROTOCOL_VERSION}, as this package speaks",
                got=f"protocol version {spoken}",
                next_step=f"Package and harness are of different releases. {_REINSTALL}",
            )
        return HarnessVersion(said["protocol"], str(said.get("harness")), str(said.get("isa")))


def _failed(request: Request, kind: FindingKind, message: str) -> Answer:
    return Answer(request.id, request.nonce, AnswerStatus.FAULT, request.device, (), Finding(kind, message))


def _signal_name(number: int) -> str:
    try:
        return f"signal {number} ({signal.Signals(number).name})"
    except ValueError:
        return f"signal {number}"


def _is_program(path: Path) -> bool:
    return path.is_file() and os.access(path, os.X_OK)
