"""One serving harness process: start it, exchange lines with it, say how it ended."""

from __future__ import annotations

import contextlib
import os
import re
import selectors
import signal
import subprocess
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any

from pytest_cudaopt.answers import HarnessVersion, parse_line
from pytest_cudaopt.errors import EnvironmentFault, HarnessError
from pytest_cudaopt.protocol import PROTOCOL_VERSION

REINSTALL = "Reinstall with: pip install --force-reinstall --no-deps pytest-cudaopt"
_START_TIMEOUT_S = 60.0
_END_TIMEOUT_S = 10.0
_OUTPUT_SHOWN = 4000
_OF_KEYS = re.compile(r"^OPENAI_|_API_KEY$")


class NeverReceivedError(EOFError):
    """The process ended before it got any of a request."""


class Serving:
    """The process and its two pipes. What a kernel prints goes to a file, never to the result pipe.

    Raises EnvironmentFault for a program that cannot be started, HarnessError for one of another protocol.
    """

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
                env=without_keys(os.environ),
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
                next_step=REINSTALL,
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
    def pid(self) -> int:
        return self._process.pid

    @property
    def is_alive(self) -> bool:
        return self._process.poll() is None

    def exchange(self, line: bytes, timeout_s: float | None) -> bytes:
        """Send a line and return the answer's; raise TimeoutError, or EOFError if the process ended.

        It is a NeverReceivedError if the process had ended before any of a line was sent.
        """
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
                try:
                    for key, _ in ready:
                        if key.fd == self._results:
                            if (answer := self._receive()) is not None:
                                return answer
                        else:
                            left = left[self._send(left) :]
                            if not left:
                                selector.unregister(self._requests)
                except EOFError:
                    if line and len(left) == len(line):
                        raise NeverReceivedError from None
                    raise

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
        """Kill the process."""
        self._process.kill()
        # One that a hung driver holds must not hold us as well.
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(_END_TIMEOUT_S)
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
            said: Any = parse_line(self.exchange(b"", _START_TIMEOUT_S), f"greeting of {binary}")
        except (EOFError, TimeoutError, HarnessError) as error:
            how = self.obituary() if isinstance(error, EOFError) else str(error) or "stayed silent"
            self.end()
            raise HarnessError(
                str(binary),
                expected="a harness that answers with its version",
                got=how,
                next_step=REINSTALL,
            ) from error
        if not isinstance(said, dict) or said.get("protocol") != PROTOCOL_VERSION:
            self.end()
            spoken = said.get("protocol") if isinstance(said, dict) else said
            raise HarnessError(
                str(binary),
                expected=f"protocol version {PROTOCOL_VERSION}, as this package speaks",
                got=f"protocol version {spoken}",
                next_step=f"Package and harness are of different releases. {REINSTALL}",
            )
        harness, isa, model = (str(said.get(key, "")) for key in ("harness", "isa", "model"))
        return HarnessVersion(said["protocol"], harness, isa, model)


def _signal_name(number: int) -> str:
    try:
        return f"signal {number} ({signal.Signals(number).name})"
    except ValueError:
        return f"signal {number}"


def without_keys(environ: Mapping[str, str]) -> dict[str, str]:
    """Return the environment of what runs kernels: a language model wrote some, keys are not its business."""
    return {name: value for name, value in environ.items() if not _OF_KEYS.search(name)}
