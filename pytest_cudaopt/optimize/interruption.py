"""Ctrl-C while branches wait for a model: they are left alone, so that the run ends at once."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

_LOOK_EVERY_S = 0.1


class Interrupted(Exception):
    """The run was interrupted while this branch waited."""


@contextmanager
def noticed_by(interrupted: threading.Event) -> Iterator[None]:
    """Set the event at Ctrl-C, then do what was done at it before; in the main thread only."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.getsignal(signal.SIGINT)

    def notice(number: int, frame: FrameType | None) -> None:
        interrupted.set()
        if callable(before):
            before(number, frame)

    signal.signal(signal.SIGINT, notice)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def call(work: Callable[[], None], interrupted: threading.Event) -> None:
    """Do `work`, which may wait long; raise Interrupted once the event is set, whatever becomes of it.

    In the main thread, where Ctrl-C arrives by itself, it is simply done.
    """
    if threading.current_thread() is threading.main_thread():
        work()
        return
    failed: list[BaseException] = []

    def attempt() -> None:
        try:
            work()
        except BaseException as error:
            failed.append(error)

    thread = threading.Thread(target=attempt, daemon=True)
    thread.start()
    while thread.is_alive():
        thread.join(_LOOK_EVERY_S)
        if interrupted.is_set():
            raise Interrupted
    if failed:
        raise failed[0]
