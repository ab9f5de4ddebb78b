"""The one sandbox of this process: opened when it is first needed, at the level that was asked for."""

from __future__ import annotations

import atexit

from pytest_cudaopt.sandbox.box import Sandbox
from pytest_cudaopt.sandbox.levels import AUTO, open_sandbox


class _Shared:
    def __init__(self) -> None:
        self.level = AUTO
        self.opened: Sandbox | None = None


_SHARED = _Shared()


def use_level(level: str) -> None:
    """Have calls run at `level` from now on."""
    if level != _SHARED.level:
        close()
    _SHARED.level = level


def sandbox() -> Sandbox:
    """Return the sandbox; raise EnvironmentFault where its level does not work."""
    if _SHARED.opened is None:
        _SHARED.opened = open_sandbox(_SHARED.level)
    return _SHARED.opened


def standing() -> list[str]:
    """Return the level and what stands around calls, for a record; opens the sandbox."""
    opened = sandbox()
    return [str(opened.level), *opened.barriers.names]


@atexit.register
def close() -> None:
    """End its processes, if it was opened."""
    if _SHARED.opened is not None:
        _SHARED.opened.close()
        _SHARED.opened = None
