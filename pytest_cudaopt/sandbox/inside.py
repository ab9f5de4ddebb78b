"""The process behind the door: start it, hand it calls, end it."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import tempfile
from collections.abc import Mapping
from typing import IO

from pytest_cudaopt.errors import EnvironmentFault
from pytest_cudaopt.sandbox import bubblewrap, surroundings
from pytest_cudaopt.sandbox.call import Limits
from pytest_cudaopt.sandbox.manifest import Ended, Setup, Start
from pytest_cudaopt.sandbox.outcome import BadOutput, Barriers, Outcome, TimedOut
from pytest_cudaopt.wire import from_json, to_json

_START_TIMEOUT_S = 60.0
# The inside ends a call by its clock itself; ours is for an inside that cannot.
_GRACE_S = 10.0
_MESSAGE_BYTES = 64 * 1024
_SHOWN = 2000
# Without the package's __init__ and its imports: the inside needs few modules.
_BEGIN = """\
import json, sys, types
root, channel, setup = sys.argv[1:]
sys.path[:0] = json.loads(setup)["importable"]
package = types.ModuleType("pytest_cudaopt")
package.__path__ = [root]
sys.modules["pytest_cudaopt"] = package
from pytest_cudaopt.sandbox.zygote import serve
serve(int(channel), setup)
"""


class InsideLostError(Exception):
    """The process behind the door is gone or silent."""

    def __init__(self, *, silent: bool) -> None:
        super().__init__("silent" if silent else "gone")
        self._silent = silent

    def outcome(self, limits: Limits) -> Outcome:
        """Return what came of the call that was being made."""
        return (
            TimedOut(limits.wall_s) if self._silent else BadOutput("the sandbox itself ended during the call")
        )


class Inside:
    """One zygote. Raises EnvironmentFault if it does not start."""

    def __init__(self, barriers: Barriers, environ: Mapping[str, str]) -> None:
        around = surroundings.look_around()
        self._barriers = barriers
        setup = Setup(
            readable=around.libraries,
            importable=around.importable,
            preloaded=surroundings.PRELOADED,
            landlock=barriers.landlock > 0,
            seccomp=barriers.seccomp,
        )
        self._said: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - lives as long as the process
        self._channel, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with other:
            command = _command(around, other.fileno(), setup)
            try:
                self._process = self._started(command, other, around, environ)
            except EnvironmentFault:
                self._let_go()
                raise
        self._greet()

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def is_alive(self) -> bool:
        return self._process.poll() is None

    def call(self, folder: str, limits: Limits, descriptors: list[int]) -> Ended:
        """Have a child make the call in `folder`; raise InsideLostError if no answer comes."""
        place = bubblewrap.FOLDER if self._barriers.namespaces else folder
        message = json.dumps(to_json(Start(place, limits))).encode()
        try:
            self._channel.settimeout(limits.wall_s + _GRACE_S)
            socket.send_fds(self._channel, [message], descriptors)
            reply = self._channel.recv(_MESSAGE_BYTES)
        except TimeoutError as error:
            raise InsideLostError(silent=True) from error
        except OSError as error:
            raise InsideLostError(silent=False) from error
        if not reply:
            raise InsideLostError(silent=False)
        return from_json(Ended, json.loads(reply), "ended")

    def end(self) -> None:
        """End the process and all that came of it."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        self._let_go()

    def _started(
        self,
        command: list[str],
        channel: socket.socket,
        around: surroundings.Surroundings,
        environ: Mapping[str, str],
    ) -> subprocess.Popen[bytes]:
        if self._barriers.namespaces:
            command = bubblewrap.wrapped(bubblewrap.found(environ), command, around)
        try:
            return subprocess.Popen(  # noqa: S603 - our interpreter, without a shell
                command,
                stdin=subprocess.DEVNULL,
                stdout=self._said,
                stderr=self._said,
                pass_fds=(channel.fileno(),),
                env=surroundings.environment(environ),
                start_new_session=True,
            )
        except OSError as error:
            raise _not_started(error.strerror or str(error)) from error

    def _let_go(self) -> None:
        self._channel.close()
        self._said.close()

    def _greet(self) -> None:
        self._channel.settimeout(_START_TIMEOUT_S)
        try:
            greeting = self._channel.recv(_MESSAGE_BYTES)
        except (TimeoutError, ConnectionResetError):
            greeting = b""
        if greeting != b"ready":
            self._said.seek(0)
            said = self._said.read(_SHOWN).decode(errors="replace").strip()
            self.end()
            raise _not_started(said or "no answer")


def _command(around: surroundings.Surroundings, channel: int, setup: Setup) -> list[str]:
    text = json.dumps(to_json(setup))
    # Isolated, without site-packages, writing no bytecode.
    begin = [around.python, "-I", "-S", "-B", "-c", _BEGIN]
    return [*begin, str(surroundings.PACKAGE), str(channel), text]


def _not_started(why: str) -> EnvironmentFault:
    return EnvironmentFault("sandbox", expected="its process to start", got=why)
