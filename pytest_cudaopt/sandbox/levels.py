"""Which level this machine can keep: tried out with a function that tries to get out, never assumed."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

from pytest_cudaopt.errors import EnvironmentFault
from pytest_cudaopt.sandbox import landlock, seccomp
from pytest_cudaopt.sandbox.box import Sandbox
from pytest_cudaopt.sandbox.call import Argument, Call, Limits, Wanted
from pytest_cudaopt.sandbox.outcome import Barriers, Level, Ok

AUTO = "auto"
_STRONGEST_FIRST = (Level.BUBBLEWRAP, Level.LANDLOCK)
_ATTEMPTS = """\
import os, socket
import numpy as np

def attempt(secret, sees_files):
    def ways():
        if not sees_files:
            yield "see a file", lambda: os.stat(secret)
        yield "read a file", lambda: open(secret).read()
        yield "write a file", lambda: open(secret + ".new", "w")
        yield "open a socket", lambda: socket.socket()
        yield "start a process", lambda: os._exit(9) if os.fork() == 0 else None
        yield "signal another process", lambda: os.kill(os.getppid() or 1, 0)
    done = []
    for name, way in ways():
        try:
            way()
        except (OSError, AttributeError):
            continue
        done.append(name)
    print(", ".join(done))
    return np.array(len(done), np.int64)
"""
_PROBE_LIMITS = Limits(wall_s=10.0, cpu_s=10)


def open_sandbox(wanted: str = AUTO, environ: Mapping[str, str] = os.environ) -> Sandbox:
    """Open a sandbox of the level, or of the strongest one that works; `off` is never chosen by itself.

    Raises EnvironmentFault that says of each level why it does not work here.
    """
    if sys.platform != "linux":
        raise EnvironmentFault("sandbox for a model's Python", expected="Linux", got=sys.platform)
    if wanted == Level.OFF:
        return Sandbox(Level.OFF, environ=environ)
    reasons = {}
    for level in _STRONGEST_FIRST if wanted == AUTO else (Level(wanted),):
        sandbox = Sandbox(level, barriers_of(level), environ)
        why = why_unfit(sandbox)
        if why is None:
            return sandbox
        sandbox.close()
        reasons[level] = why
    raise EnvironmentFault(
        "sandbox for a model's Python",
        expected="bubblewrap, or a kernel with Landlock and seccomp" if wanted == AUTO else wanted,
        got="; ".join(f"{level}: {why}" for level, why in reasons.items()),
        next_step="Install bubblewrap, or run it unprotected with --optimize-sandbox=off",
    )


def barriers_of(level: Level) -> Barriers:
    """Return all that this machine may put up at a level."""
    if level is Level.OFF:
        return Barriers()
    return Barriers(level is Level.BUBBLEWRAP, landlock.version(), seccomp=True)


def why_unfit(sandbox: Sandbox) -> str | None:
    """Try to get out of the sandbox; None if nothing did, else what, or why it cannot be tried."""
    if (why := seccomp.why_not()) is not None:
        return why
    if sandbox.level is Level.LANDLOCK and landlock.version() == 0:
        return "this kernel has no Landlock, or it is not enabled"
    try:
        sandbox.start()
    except EnvironmentFault as error:
        return error.got or str(error)
    with tempfile.TemporaryDirectory(prefix="cudaopt-probe-") as folder:
        secret = Path(folder) / "secret"
        secret.write_text("secret")
        # Landlock cannot hide that a file is there; a namespace that shows it is none.
        sees_files = not sandbox.barriers.namespaces
        arguments: dict[str, Argument] = {"secret": str(secret), "sees_files": sees_files}
        run = sandbox.run(Call(_ATTEMPTS, "attempt", arguments, {"done": Wanted("i64", ())}), _PROBE_LIMITS)
    if not isinstance(run.outcome, Ok):
        return f"its probe {run.outcome}"
    return None if run.outcome.arrays["done"] == 0 else f"a call could {run.stdout.strip()}"
