"""Attempts to get out of the sandbox at every level that this machine has, and that they are real ones."""

from __future__ import annotations

import os
import platform
import re
import signal
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from sandbox_attempts import ATTEMPTS, NETWORK, PROCESSES, READING, WRITING, Attempt

from pytest_cudaopt.errors import EnvironmentFault
from pytest_cudaopt.sandbox import landlock
from pytest_cudaopt.sandbox.box import Sandbox
from pytest_cudaopt.sandbox.call import MEBIBYTE, Argument, Call, Limits, Wanted
from pytest_cudaopt.sandbox.levels import open_sandbox
from pytest_cudaopt.sandbox.outcome import (
    BadOutput,
    Barriers,
    Killed,
    Level,
    Ok,
    Outcome,
    OutOfMemory,
    Raised,
    SandboxRun,
    TimedOut,
)
from pytest_cudaopt.sandbox.surroundings import environment

LEVELS = (Level.BUBBLEWRAP, Level.LANDLOCK)
PAGE = Path(__file__).parents[1] / "docs" / "sandbox.md"
SHORT = Limits(wall_s=20.0, cpu_s=20, memory_bytes=512 * MEBIBYTE, output_bytes=MEBIBYTE)
FORK = next(one for one in PROCESSES if one.title == "forks")


@pytest.fixture(scope="module", params=LEVELS)
def box(request: pytest.FixtureRequest) -> Iterator[Sandbox]:
    """A sandbox of each protecting level; skipped where this machine lacks it."""
    environ = {**os.environ, "OPENAI_API_KEY": "secret-key", "HOME": "/home/somebody"}
    try:
        sandbox = open_sandbox(request.param, environ)
    except EnvironmentFault as fault:
        pytest.skip(str(fault))
    with sandbox:
        yield sandbox


@pytest.fixture(scope="module", params=["namespaces", "landlock", "seccomp"])
def alone(request: pytest.FixtureRequest) -> Iterator[tuple[str, Sandbox]]:
    """A sandbox with this barrier and no other; skipped where it does not stand here."""
    name = request.param
    barriers = {
        "namespaces": Barriers(namespaces=True),
        "landlock": Barriers(landlock=landlock.version()),
        "seccomp": Barriers(seccomp=True),
    }[name]
    with Sandbox(Level.OFF, barriers) as sandbox:
        try:
            sandbox.start()
        except EnvironmentFault as fault:
            pytest.skip(str(fault))
        if name == "landlock" and not barriers.landlock:
            pytest.skip("this kernel has no Landlock")
        yield name, sandbox


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / "secret").write_text("secret")
    return tmp_path


def run(box: Sandbox, source: str, limits: Limits = SHORT, **arguments: Argument) -> SandboxRun:
    """Call the function `f` of `source`, which is to return one float64."""
    return box.run(Call(source, "f", arguments, {"y": Wanted("f64", (1,))}), limits)


def outcome(box: Sandbox, source: str, limits: Limits = SHORT, **arguments: Argument) -> Outcome:
    return run(box, source, limits, **arguments).outcome


def skip_on_other_machines(attempt: Attempt) -> None:
    if attempt.is_of_x86 and platform.machine() != "x86_64":
        pytest.skip(f"its numbers are those of x86_64, this is {platform.machine()}")


@pytest.mark.parametrize("attempt", ATTEMPTS, ids=str)
def test_an_attempt_fails_in_the_sandbox_and_changes_nothing(
    attempt: Attempt, box: Sandbox, place: Path
) -> None:
    skip_on_other_machines(attempt)
    before = [(one.name, one.read_text(), one.stat().st_mode) for one in place.iterdir()]
    came_of_it = box.run(attempt.call(place), SHORT).outcome
    assert isinstance(came_of_it, Raised), came_of_it
    assert came_of_it.type == attempt.seen[LEVELS.index(box.level)], came_of_it
    assert [(one.name, one.read_text(), one.stat().st_mode) for one in place.iterdir()] == before


@pytest.mark.parametrize("attempt", [one for one in ATTEMPTS if one.control], ids=str)
def test_the_same_attempt_succeeds_without_a_sandbox(attempt: Attempt, place: Path) -> None:
    skip_on_other_machines(attempt)
    assert attempt.succeeds_alone(place)


@pytest.mark.parametrize("attempt", ATTEMPTS, ids=str)
def test_each_barrier_of_an_attempt_holds_it_alone(
    attempt: Attempt, alone: tuple[str, Sandbox], place: Path
) -> None:
    skip_on_other_machines(attempt)
    name, sandbox = alone
    if name in attempt.held_by:
        assert isinstance(sandbox.run(attempt.call(place), SHORT).outcome, Raised)


def test_without_a_barrier_nothing_but_the_limits_holds(place: Path) -> None:
    with Sandbox(Level.OFF) as unprotected:
        for attempt in (*READING[:3], *WRITING[:1], *NETWORK):
            assert isinstance(unprotected.run(attempt.call(place), SHORT).outcome, Ok), attempt


def test_a_fork_bomb_makes_no_process(box: Sandbox, place: Path) -> None:
    # First one fork alone: were it possible, what follows would be a bomb.
    assert isinstance(box.run(FORK.call(place), SHORT).outcome, Raised)
    refused = outcome(box, BOMB)
    assert isinstance(refused, Ok), refused
    assert refused.arrays["y"] == [1000.0]


BOMB = """\
import os
def f():
    refused = 0
    for _ in range(1000):
        try:
            if os.fork() == 0:
                os._exit(0)
        except PermissionError:
            refused += 1
    return [float(refused)]
"""


def test_a_loop_without_end_is_ended_by_the_clock(box: Sandbox) -> None:
    limits = Limits(wall_s=0.2)
    assert outcome(box, "def f():\n    while True: pass", limits) == TimedOut(0.2)
    assert outcome(box, "import time\ndef f(): time.sleep(3600)", limits) == TimedOut(0.2)


def test_a_loop_with_an_end_is_not(box: Sandbox) -> None:
    assert isinstance(outcome(box, "def f():\n    for _ in range(1000): pass\n    return [1.0]"), Ok)


@pytest.mark.parametrize("ignored", ["", "signal.signal(signal.SIGXCPU, signal.SIG_IGN)"])
def test_a_loop_is_ended_by_its_seconds_of_the_cpu_whatever_it_ignores(box: Sandbox, ignored: str) -> None:
    source = f"import signal\ndef f():\n    {ignored or 'pass'}\n    while True: pass"
    assert outcome(box, source, Limits(wall_s=60.0, cpu_s=1)) == TimedOut(1, of_cpu=True)


def test_what_stops_itself_is_ended_by_the_clock(box: Sandbox) -> None:
    source = "import os, signal\ndef f(): os.kill(os.getpid(), signal.SIGSTOP)"
    assert outcome(box, source, Limits(wall_s=0.2)) == TimedOut(0.2)


@pytest.mark.parametrize(
    ("statement", "number"),
    [
        ("os.kill(os.getpid(), signal.SIGKILL)", signal.SIGKILL),
        ("os.abort()", signal.SIGABRT),
        ("ctypes.string_at(0)", signal.SIGSEGV),
    ],
)
def test_a_death_by_signal_is_told(box: Sandbox, statement: str, number: int) -> None:
    assert outcome(box, f"import ctypes, os, signal\ndef f(): {statement}") == Killed(number)


@pytest.mark.skipif(platform.machine() != "x86_64", reason="the instruction is one of x86")
def test_a_system_call_of_another_abi_kills(box: Sandbox) -> None:
    # mov eax, 20 (getpid of 32-bit programs); int 0x80; ret
    source = """
import ctypes, mmap
def f():
    memory = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    memory.write(bytes.fromhex("b814000000cd80c3"))
    address = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    return [float(ctypes.CFUNCTYPE(ctypes.c_int)(address)())]
"""
    # SIGSEGV from kernels that do not know such calls.
    assert outcome(box, source) in (Killed(signal.SIGSYS), Killed(signal.SIGSEGV))


def test_a_hundred_gigabytes_are_too_many(box: Sandbox) -> None:
    source = "import numpy as np\ndef f(): return np.ones(int(100e9) // 8)"
    assert outcome(box, source) == OutOfMemory(SHORT.memory_bytes)


def test_memory_up_to_the_limit_may_be_used(box: Sandbox) -> None:
    source = "import numpy as np\ndef f(count): return [np.ones(count).sum()]"
    count = 64 * MEBIBYTE // 8
    assert isinstance(outcome(box, source, Limits(memory_bytes=256 * MEBIBYTE), count=count), Ok)
    assert isinstance(outcome(box, source, Limits(memory_bytes=32 * MEBIBYTE), count=count), OutOfMemory)


def test_many_small_objects_are_too_many_too(box: Sandbox) -> None:
    source = "def f():\n    kept = []\n    while True: kept.append(bytearray(100_000))"
    assert outcome(box, source) == OutOfMemory(SHORT.memory_bytes)


@pytest.mark.parametrize(
    ("descriptor", "seen"),
    [
        (1, "raised PermissionError"),
        (2, "raised PermissionError"),
        # What was written over an answer is none.
        (4, "gave no usable output"),
        # As long as a file may be: the limit is reached before the end of the memory.
        (5, "raised OSError"),
    ],
)
def test_ten_gigabytes_fit_into_none_of_its_descriptors(box: Sandbox, descriptor: int, seen: str) -> None:
    source = """
import os
def f(descriptor):
    block = b"x" * 2**16
    for _ in range(160 * 2**10):
        os.write(descriptor, block)
"""
    assert str(outcome(box, source, descriptor=descriptor)).startswith(seen)


def test_of_a_printed_gigabyte_the_beginning_is_kept(box: Sandbox) -> None:
    source = """
def f():
    text = "x" * 2**20
    for _ in range(2**10):
        print(text)
    return [1.0]
"""
    ended = run(box, source)
    assert isinstance(ended.outcome, Ok)
    assert ended.stdout == "x" * SHORT.printed_bytes


def test_its_environment_holds_no_key_and_no_home(box: Sandbox) -> None:
    source = "import os\ndef f():\n    print(*sorted(os.environ))\n    return [1.0]"
    held = run(box, source).stdout.split()
    assert held == sorted(environment(os.environ))
    assert set(held) <= {*environment({}), "LD_LIBRARY_PATH"}
    assert not [name for name in held if "KEY" in name or name.startswith(("OPENAI", "HOME"))]


def test_no_descriptor_is_inherited(box: Sandbox, place: Path) -> None:
    source = """
import os
def f():
    held = []
    for number in range(4096):
        try:
            os.fstat(number)
        except OSError:
            continue
        held.append(number)
    print(*held)
    return [1.0]
"""
    with (place / "secret").open() as secret:
        os.set_inheritable(secret.fileno(), True)
        with Sandbox(box.level, box.barriers) as other:
            # Its input, what it prints, the call, its answer, its arrays, and the call again, mapped.
            assert run(other, source).stdout.split() == ["0", "1", "2", "3", "4", "5", "6"]


def test_its_arguments_cannot_be_changed_for_others(box: Sandbox) -> None:
    came_of_it = outcome(box, "import os\ndef f(): os.pwrite(3, b'x', 0)")
    assert isinstance(came_of_it, Raised)
    assert came_of_it.type == "PermissionError"


def test_a_changed_interpreter_is_changed_for_its_own_call_only(box: Sandbox) -> None:
    spoils = """
import sys, builtins
import numpy as np
def f():
    np.add = np.subtract
    builtins.len = lambda _: 7
    sys.modules["numpy"] = sys.modules["json"] = None
    print(np.add(3, 1), len([]))
    return [1.0]
"""
    asks = "import json\nimport numpy as np\ndef f(): return [float(np.add(1, len([2, 3])))]"
    assert run(box, spoils).stdout == "2 7\n"
    after = outcome(box, asks)
    assert isinstance(after, Ok), after
    np.testing.assert_array_equal(after.arrays["y"], [3.0])


@pytest.mark.parametrize(
    ("statement", "why"),
    [
        ("os._exit(0)", "it ended without an answer"),
        ("os._exit(3)", "it ended without an answer"),
        ("says(b'[' * 60_000)", "nested deeper than"),
        ("says(b'{' * 9 + b'}' * 9)", "cannot be read"),
        ("says(pickle.dumps([1.0]))", "cannot be read"),
        ("says(b'{\"arrays\": []}')", "expected y, got nothing"),
        ("says(b'{}')", "neither arrays nor an exception"),
        ("return np.ones(2)", r"y: expected shape \(1,\), got \(2,\)"),
        ("return np.ones(1, np.float32)", "y: expected dtype f64, got f32"),
        ("return np.array([None])", "y: a dtype among .*, not 'object'"),
        ("return np.array(['text'])", "y: a dtype among .*, not '<U4'"),
        ("return np.array([1.0 + 2.0j])", "y: a dtype among .*, not 'complex128'"),
        ("return np.ones(1, '>f8')", "y: a dtype among .*, not '>f8'"),
        ("return np.zeros(1, [('a', 'f8')])", "y: a dtype among .*, not"),
        ("return None", "expected y, got nothing"),
        ("return [1.0], [2.0]", "y: expected shape"),
    ],
)
def test_what_is_no_result_is_not_taken_for_one(box: Sandbox, statement: str, why: str) -> None:
    source = f"""
import os, pickle
import numpy as np
def says(data):
    os.pwrite(4, data, 0)
    os._exit(0)
def f():
    {statement}
"""
    came_of_it = outcome(box, source)
    assert isinstance(came_of_it, BadOutput), came_of_it
    assert re.search(why, came_of_it.why), came_of_it


@pytest.mark.parametrize("value", ["nan", "inf"])
def test_what_is_not_finite_is_refused_where_that_is_asked_for(box: Sandbox, value: str) -> None:
    source = f"import numpy as np\ndef f(): return np.array([np.{value}])"
    call = Call(source, "f", {}, {"y": Wanted("f64", (1,), finite=True)})
    assert box.run(call, SHORT).outcome == BadOutput("y: not all of it is finite")
    assert isinstance(outcome(box, source), Ok)


def test_the_page_says_of_every_attempt_what_holds_it_and_how_that_is_seen() -> None:
    rows = re.findall(r"^\| (.+?) \| (.+?) \| `(\w+)` \| `(\w+)` \|$", PAGE.read_text(), re.MULTILINE)
    said = [(title, tuple(held.split(", ")), (first, second)) for title, held, first, second in rows]
    assert said == [(one.title, one.held_by, one.seen) for one in ATTEMPTS]
