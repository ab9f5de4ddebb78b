"""Branches that wait for a model are left alone once the run is interrupted."""

from __future__ import annotations

import signal
import threading

import pytest

from pytest_cudaopt.optimize.interruption import Interrupted, call, noticed_by


def in_a_branch(work, interrupted: threading.Event) -> list[BaseException]:
    """Call it as LangGraph does, in a thread of its own, and return what it raised."""
    raised: list[BaseException] = []

    def branch() -> None:
        try:
            call(work, interrupted)
        except (Interrupted, ValueError) as error:
            raised.append(error)

    thread = threading.Thread(target=branch)
    thread.start()
    thread.join(10)
    assert not thread.is_alive()
    return raised


def test_a_branch_that_waits_is_left_alone() -> None:
    never, interrupted = threading.Event(), threading.Event()
    interrupted.set()
    assert [type(error) for error in in_a_branch(never.wait, interrupted)] == [Interrupted]
    never.set()


def test_what_a_branch_raises_is_raised() -> None:
    def fails() -> None:
        raise ValueError("no")

    assert [str(error) for error in in_a_branch(fails, threading.Event())] == ["no"]


def test_a_branch_that_ends_ends() -> None:
    assert in_a_branch(lambda: None, threading.Event()) == []


def test_ctrl_c_is_noticed_and_still_raises() -> None:
    interrupted = threading.Event()
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt), noticed_by(interrupted):
            signal.raise_signal(signal.SIGINT)
        assert interrupted.is_set()
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    finally:
        signal.signal(signal.SIGINT, before)
