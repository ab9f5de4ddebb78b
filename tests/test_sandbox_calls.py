"""Calls in the sandbox: what goes in, what comes out, and that one call leaves nothing to the next."""

from __future__ import annotations

import os
import signal
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pytest_cudaopt import dtypes
from pytest_cudaopt.errors import EnvironmentFault
from pytest_cudaopt.sandbox import inside
from pytest_cudaopt.sandbox.box import Sandbox
from pytest_cudaopt.sandbox.call import MEBIBYTE, Argument, Call, Limits, Seed, Wanted
from pytest_cudaopt.sandbox.levels import open_sandbox
from pytest_cudaopt.sandbox.outcome import (
    BadOutput,
    Killed,
    Level,
    Ok,
    Outcome,
    OutOfMemory,
    Raised,
    Refused,
    TimedOut,
)

SHORT = Limits(wall_s=20.0, output_bytes=MEBIBYTE)


@pytest.fixture(scope="module")
def box() -> Iterator[Sandbox]:
    """The best that this machine has, be it limits alone: calls are the same at every level."""
    try:
        sandbox = open_sandbox()
    except EnvironmentFault:
        sandbox = Sandbox(Level.OFF)
    with sandbox:
        yield sandbox


def outcome(
    box: Sandbox, source: str, wanted: dict[str, Wanted] | None = None, **arguments: Argument
) -> Outcome:
    """Call `f` of `source`, which imports NumPy."""
    call = Call(f"import numpy as np\n{source}", "f", arguments, wanted or {"y": Wanted()})
    return box.run(call, SHORT).outcome


def arrays(
    box: Sandbox, source: str, wanted: dict[str, Wanted] | None = None, **arguments: Argument
) -> dict[str, np.ndarray]:
    came_of_it = outcome(box, source, wanted, **arguments)
    assert isinstance(came_of_it, Ok), came_of_it
    return dict(came_of_it.arrays)


X = np.arange(6.0).reshape(2, 3)


@pytest.mark.parametrize(
    "source",
    [
        "def f(x, y, k): y[...] = k * x",
        "def f(x, y, k): return k * x",
        "def f(x, y, k): return {'y': k * x}",
        "def f(x, y, k): return (k * x,)",
        "f = lambda x, y, k: (k * x).tolist()",
    ],
)
def test_an_output_is_written_or_returned(source: str, box: Sandbox) -> None:
    wanted = {"y": Wanted("f64", (2, 3))}
    found = arrays(box, source, wanted, x=X, y=np.zeros((2, 3)), k=3)
    np.testing.assert_array_equal(found["y"], 3 * X)


def test_several_outputs_come_in_the_order_that_they_are_wanted_in(box: Sandbox) -> None:
    found = arrays(box, "def f(x): return x[0], x.sum()", {"row": Wanted(), "sum": Wanted("f64", ())}, x=X)
    np.testing.assert_array_equal(found["row"], X[0])
    assert found["sum"] == 15


def test_an_input_cannot_be_written_to(box: Sandbox) -> None:
    came_of_it = outcome(box, "def f(x):\n    x[0] = 1\n    return x", x=X)
    assert came_of_it == Raised("ValueError", "assignment destination is read-only", 3)


@pytest.mark.parametrize("dtype", dtypes.ALL, ids=str)
def test_every_dtype_goes_in_and_comes_out(dtype: dtypes.DType, box: Sandbox) -> None:
    x = np.array([0, 1, 2], np.float32).astype(dtype.numpy)
    found = arrays(box, "def f(x): return x[::-1]", {"y": Wanted(dtype.name, (3,))}, x=x)
    assert found["y"].dtype == dtype.numpy
    np.testing.assert_array_equal(dtype.bit_patterns(found["y"]), dtype.bit_patterns(x[::-1].copy()))


@pytest.mark.parametrize("shape", [(), (0,), (3, 0, 2), (1, 1, 1, 1, 1)])
def test_every_shape_goes_in_and_comes_out(shape: tuple[int, ...], box: Sandbox) -> None:
    x = np.full(shape, 7, np.float32)
    found = arrays(box, "def f(x): return x + 1", {"y": Wanted("f32", shape)}, x=x)
    np.testing.assert_array_equal(found["y"], x + 1)


def test_an_array_with_gaps_goes_in_as_it_looks(box: Sandbox) -> None:
    np.testing.assert_array_equal(arrays(box, "def f(x): return x", x=X.T[::2])["y"], X.T[::2])


@pytest.mark.parametrize("value", [3, -(2**63), True, 0.1, float("nan"), float("-inf"), "text", None])
def test_a_plain_value_arrives_as_it_is(value: float | str | None, box: Sandbox) -> None:
    found = outcome(
        box, f"def f(value):\n    print(repr(value))\n    return [{value!r} is None]", value=value
    )
    call = Call(
        "def f(value):\n    print(repr(value))\n    return [1.0]", "f", {"value": value}, {"y": Wanted()}
    )
    assert box.run(call, SHORT).stdout == f"{value!r}\n"
    assert isinstance(found, Ok | Raised)


def test_a_generator_gets_a_source_of_random_numbers_sizes_and_what_was_drawn(box: Sandbox) -> None:
    source = "def f(rng, sizes, drawn): return drawn['x'] + rng.normal(size=sizes['n'])"
    found = arrays(box, source, rng=Seed(7), sizes={"n": 3}, drawn={"x": X[0]})
    np.testing.assert_array_equal(found["y"], X[0] + np.random.default_rng(7).normal(size=3))


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("def f():\n    raise KeyError('k')", Raised("KeyError", "'k'", 3)),
        ("def g():\n    return 1 // 0\ndef f(): g()", Raised("ZeroDivisionError", "", 3)),
        ("def f(: pass", Raised("SyntaxError", "", 2)),
        ("raise SystemExit(3)", Raised("SystemExit", "3", 2)),
        ("def g(): pass", Raised("AttributeError", "", None)),
        ("def f(needed): pass", Raised("TypeError", "", None)),
        ("class E(BaseException):\n    def __str__(self): return 1\ndef f(): raise E", Raised("E", "", 4)),
        ("def f(): return f()", Raised("RecursionError", "", 2)),
    ],
)
def test_what_it_raises_is_told_with_its_line(source: str, expected: Raised, box: Sandbox) -> None:
    came_of_it = outcome(box, source)
    assert isinstance(came_of_it, Raised), came_of_it
    assert (came_of_it.type, came_of_it.line) == (expected.type, expected.line)
    assert expected.message in came_of_it.message


def test_a_long_message_is_cut(box: Sandbox) -> None:
    came_of_it = outcome(box, "def f(): raise ValueError('x' * 10**6)")
    assert came_of_it == Raised("ValueError", "x" * 2000, 2)


def test_a_message_is_told_without_what_moves_a_cursor(box: Sandbox) -> None:
    came_of_it = outcome(box, "def f(): raise ValueError('\\x1b[2J\\ud800')")
    assert came_of_it == Raised("ValueError", "\ufffd[2J\ufffd", 2)


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        ({"x": np.zeros(2, complex)}, "x of dtype complex128: not one of"),
        ({"x": np.array([None])}, "x of dtype object"),
        ({"sizes": {"n": np.zeros(2, ">f4")}}, "sizes.n of dtype >f4"),
        ({"x": object()}, "x is a object"),
        ({"x": np.zeros(2 * MEBIBYTE, np.uint8)}, "2097152 bytes of arguments, at most 1048576"),
    ],
)
def test_arguments_that_cannot_be_handed_over_are_refused(
    arguments: dict[str, Argument], why: str, box: Sandbox
) -> None:
    run = box.run(Call("def f(**_): pass", "f", arguments, {}), Limits(input_bytes=MEBIBYTE))
    assert isinstance(run.outcome, Refused)
    assert why in run.outcome.why


def test_a_source_of_megabytes_is_refused(box: Sandbox) -> None:
    assert outcome(box, "#" * MEBIBYTE) == Refused("a source of more than 1048576 bytes")


def test_more_than_the_outputs_may_be_is_refused(box: Sandbox) -> None:
    came_of_it = outcome(box, f"def f(): return np.zeros({MEBIBYTE + 1}, np.uint8)")
    assert came_of_it == BadOutput(f"{MEBIBYTE + 64} bytes of arrays, at most {MEBIBYTE} are read")


def test_what_is_printed_is_kept_apart(box: Sandbox) -> None:
    prints = "print('out \N{GREEK SMALL LETTER PI}')\n    print('err', file=sys.stderr)"
    source = f"import sys\ndef f():\n    {prints}\n"
    run = box.run(Call(source, "f", {}, {}), SHORT)
    assert (run.stdout, run.stderr) == ("out \N{GREEK SMALL LETTER PI}\n", "err\n")


def test_a_call_has_the_level_and_the_barriers_in_it_for_records(box: Sandbox) -> None:
    run = box.run(Call("def f(): pass", "f", {}, {}), SHORT)
    assert (run.level, run.barriers) == (box.level, box.barriers)
    assert run.barriers.names[-1] == "limits"


def test_a_process_that_died_between_calls_is_replaced(box: Sandbox) -> None:
    arrays(box, "def f(): return [1.0]")
    before = box.pid
    assert before is not None
    os.kill(before, signal.SIGKILL)
    os.waitid(os.P_PID, before, os.WEXITED | os.WNOWAIT)
    arrays(box, "def f(): return [1.0]")
    assert box.pid != before


def test_a_process_that_does_not_answer_is_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inside, "_GRACE_S", 0.1)
    with Sandbox(Level.OFF) as unprotected:
        unprotected.start()
        before = unprotected.pid
        assert before is not None
        os.kill(before, signal.SIGSTOP)
        call = Call("def f(): pass", "f", {}, {})
        assert unprotected.run(call, Limits(wall_s=0.1)).outcome == TimedOut(0.1)
        assert isinstance(unprotected.run(call, SHORT).outcome, Ok)
        assert unprotected.pid != before


def test_an_interrupted_call_leaves_no_answer_to_the_next(
    box: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    send = socket.send_fds

    def interrupted(*arguments: Any) -> None:
        send(*arguments)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(socket, "send_fds", interrupted)
        with pytest.raises(KeyboardInterrupt):
            outcome(box, "def f(): return [1.0]")
    assert box.pid is None
    assert arrays(box, "def f(): return [2.0]")["y"] == [2.0]


def test_a_closed_sandbox_leaves_neither_a_process_nor_a_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with Sandbox(Level.OFF) as unprotected:
        arrays(unprotected, "def f():\n    open('left', 'w').write('x')\n    return [1.0]")
        pid = unprotected.pid
        assert pid is not None
        (folder,) = tmp_path.iterdir()
        assert list(folder.iterdir()) == []
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


@pytest.mark.parametrize(
    ("came_of_it", "text"),
    [
        (Ok({"y": X}), "returned y"),
        (Raised("ValueError", "no", 3), "raised ValueError at line 3: no"),
        (Raised("ValueError", "no", None), "raised ValueError: no"),
        (TimedOut(2.5), "did not end within 2.5 s"),
        (TimedOut(2, of_cpu=True), "did not end within 2 s of CPU time"),
        (OutOfMemory(64 * MEBIBYTE), "asked for more than 64 MiB of memory"),
        (Killed(11), "was ended by SIGSEGV"),
        (Killed(99), "was ended by signal 99"),
        (BadOutput("why"), "gave no usable output: why"),
        (Refused("why"), "was not run: why"),
    ],
)
def test_an_outcome_is_a_sentence_about_the_function(came_of_it: Outcome, text: str) -> None:
    assert str(came_of_it) == text
