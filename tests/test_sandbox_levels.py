"""Which level a machine can keep is tried out: a level that lets anything through is not offered."""

from __future__ import annotations

import os
import re
import select
from pathlib import Path

import pytest

from pytest_cudaopt.errors import EnvironmentFault
from pytest_cudaopt.sandbox import landlock, levels, seccomp, surroundings
from pytest_cudaopt.sandbox.box import Sandbox
from pytest_cudaopt.sandbox.call import Call
from pytest_cudaopt.sandbox.levels import open_sandbox, why_unfit
from pytest_cudaopt.sandbox.outcome import BadOutput, Barriers, Level, Ok
from pytest_cudaopt.sandbox.syscalls import AUDIT_ARCH, numbers

NOWHERE = {"PATH": "/nonexistent"}


def with_bwrap(folder: Path, script: str) -> dict[str, str]:
    """Return an environment whose bwrap is this shell script."""
    program = folder / "bwrap"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    return {"PATH": f"{folder}:{os.defpath.lstrip(':')}"}


def opened(wanted: str, environ: dict[str, str]) -> Level:
    with open_sandbox(wanted, environ) as sandbox:
        return sandbox.level


def needs_landlock() -> None:
    if not landlock.version() or seccomp.why_not():
        pytest.skip("this kernel has no Landlock")


def test_without_bubblewrap_landlock_is_taken() -> None:
    needs_landlock()
    assert opened("auto", NOWHERE) is Level.LANDLOCK


def test_a_bubblewrap_that_does_not_work_is_passed_over_and_told(tmp_path: Path) -> None:
    needs_landlock()
    environ = with_bwrap(tmp_path, "echo 'bwrap: setting up uid map: Permission denied' >&2; exit 1")
    assert opened("auto", environ) is Level.LANDLOCK
    with pytest.raises(EnvironmentFault, match="bubblewrap: bwrap: setting up uid map: Permission denied"):
        open_sandbox("bubblewrap", environ)


def test_a_bubblewrap_that_isolates_nothing_is_found_out(tmp_path: Path) -> None:
    needs_landlock()
    environ = with_bwrap(
        tmp_path, 'while [ "$1" != -- ]; do shift; done; shift; mkdir -p /dev/null; exec "$@"'
    )
    with pytest.raises(EnvironmentFault, match=r"its probe|a call could see a file"):
        open_sandbox("bubblewrap", environ)


def test_where_nothing_works_nothing_is_run_and_the_way_out_is_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(landlock, "version", lambda: 0)
    with pytest.raises(EnvironmentFault) as caught:
        open_sandbox("auto", NOWHERE)
    assert str(caught.value) == (
        "sandbox for a model's Python: expected bubblewrap, or a kernel with Landlock and seccomp, "
        "got bubblewrap: none; landlock: this kernel has no Landlock, or it is not enabled. "
        "Install bubblewrap, or run it unprotected with --optimize-sandbox=off"
    )


def test_a_machine_whose_system_calls_are_unknown_has_no_level(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("platform.machine", lambda: "riscv64")
    with pytest.raises(EnvironmentFault, match="system calls of riscv64 are not known here"):
        open_sandbox("auto")


def test_off_is_what_was_asked_for() -> None:
    assert opened("off", NOWHERE) is Level.OFF


@pytest.mark.parametrize(
    ("missing", "could"),
    [
        # Without root, the limits refuse processes too.
        ("seccomp", "open a socket"),
        ("landlock", "read a file"),
        ("both", "read a file, write a file, open a socket"),
    ],
)
def test_the_probe_finds_out_what_a_missing_barrier_lets_through(missing: str, could: str) -> None:
    needs_landlock()
    barriers = {
        "seccomp": Barriers(landlock=landlock.version()),
        "landlock": Barriers(seccomp=True),
        "both": Barriers(),
    }[missing]
    with Sandbox(Level.LANDLOCK, barriers) as sandbox:
        assert (why_unfit(sandbox) or "").startswith(f"a call could {could}")


def test_a_barrier_that_cannot_be_put_up_refuses_the_call(monkeypatch: pytest.MonkeyPatch) -> None:
    # The inside asks the kernel for more than it has: a path that is no path.
    real = surroundings.look_around()
    broken = surroundings.Surroundings(real.python, real.program, ("/etc/passwd/x",), real.importable)
    monkeypatch.setattr(surroundings, "look_around", lambda: broken)
    needs_landlock()
    with Sandbox(Level.LANDLOCK, Barriers(landlock=landlock.version())) as sandbox:
        run = sandbox.run(Call("def f(): print('ran')", "f", {}, {}))
    assert str(run.outcome) == "was not run: [Errno 20] Not a directory: '/etc/passwd/x'"
    assert run.stdout == ""


def test_an_unprotected_call_is_still_ended_as_a_whole() -> None:
    source = """
import os, signal, time
def f():
    child = os.fork()
    if child == 0:
        time.sleep(3600)
    print(child)
"""
    with Sandbox(Level.OFF) as unprotected:
        run = unprotected.run(Call(source, "f", {}, {}))
        if not isinstance(run.outcome, Ok):
            pytest.skip(f"whoever is not root is refused even this: {run.outcome}")
        assert_ends(int(run.stdout))


def test_a_call_has_no_capability_and_gets_none_even_if_root_makes_it() -> None:
    source = """
def f():
    lines = open("/proc/self/status").read().splitlines()
    print(*[line for line in lines if line.startswith(("CapPrm", "CapEff", "NoNewPrivs"))], sep="\\n")
"""
    with Sandbox(Level.OFF) as unprotected:
        said = unprotected.run(Call(source, "f", {}, {})).stdout.split()
    assert said == ["CapPrm:", "0" * 16, "CapEff:", "0" * 16, "NoNewPrivs:", "1"]


def test_a_call_does_not_outlive_the_process_that_it_was_forked_from() -> None:
    source = """
import os, signal
def f():
    print(os.getpid())
    os.kill(os.getppid(), signal.SIGKILL)
    while True:
        pass
"""
    with Sandbox(Level.OFF) as unprotected:
        run = unprotected.run(Call(source, "f", {}, {}))
        assert run.outcome == BadOutput("the sandbox itself ended during the call")
        assert_ends(int(run.stdout))
        assert isinstance(unprotected.run(Call("def f(): pass", "f", {}, {})).outcome, Ok)


def assert_ends(pid: int) -> None:
    """Wait for what was killed before the answer came: it may still be on its way out."""
    try:
        watched = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    ended, _, _ = select.select([watched], [], [], 20)
    os.close(watched)
    assert ended


def test_nothing_of_the_project_can_be_read_inside() -> None:
    around = surroundings.look_around()
    site_packages = {str(Path(folder)) for folder in around.importable}
    assert not site_packages & set(around.libraries)
    assert str(surroundings.PACKAGE) not in around.libraries
    assert str(Path.home()) not in around.libraries


def headers() -> list[tuple[str, Path]]:
    """Return the kernel's lists of system calls that are installed here."""
    known = {
        "x86_64": Path("/usr/include/x86_64-linux-gnu/asm/unistd_64.h"),
        "aarch64": Path("/usr/include/asm-generic/unistd.h"),
    }
    return [(machine, path) for machine, path in known.items() if path.exists()]


@pytest.mark.parametrize(("machine", "path"), headers(), ids=lambda one: str(one))
def test_numbers_of_system_calls_are_those_of_the_kernel(machine: str, path: Path) -> None:
    text = path.read_text()
    found = {name: int(number) for name, number in re.findall(r"#define __NR_(\w+)\s+(\d+)", text)}
    # The generic list has names of its own for those that are shared with 32-bit machines.
    found |= {name: int(number) for name, number in re.findall(r"#define __NR3264_(\w+)\s+(\d+)", text)}
    named = {"newfstatat": found.get("fstatat", found.get("newfstatat"))}
    assert {name: named.get(name, found.get(name)) for name in numbers(machine)} == numbers(machine)


@pytest.mark.parametrize("machine", AUDIT_ARCH)
def test_the_filter_allows_its_list_and_refuses_all_else(machine: str) -> None:
    code = seccomp.program(machine, pid=77)
    unconditional = set(numbers(machine).values()) - {
        numbers(machine)[name] for name in ("kill", "tgkill", "prlimit64", "fcntl", "ioctl", "openat")
    }
    verdicts = {number: decided(code, machine, number) for number in range(600)}
    assert {number for number, verdict in verdicts.items() if verdict == "allow"} >= unconditional
    assert {number for number, verdict in verdicts.items() if verdict == "allow"} <= set(
        numbers(machine).values()
    )


@pytest.mark.parametrize("machine", AUDIT_ARCH)
@pytest.mark.parametrize(
    ("name", "arguments", "verdict"),
    [
        ("kill", (77, 9), "allow"),
        ("kill", (78, 9), "refuse"),
        ("kill", (-1 % 2**64, 9), "refuse"),
        ("kill", (0, 9), "refuse"),
        ("openat", (0, 0, os.O_RDONLY | os.O_CLOEXEC | os.O_DIRECTORY), "allow"),
        ("openat", (0, 0, os.O_WRONLY), "refuse"),
        ("openat", (0, 0, os.O_RDWR | os.O_CLOEXEC), "refuse"),
        ("openat", (0, 0, os.O_RDONLY | os.O_CREAT), "refuse"),
        ("openat", (0, 0, os.O_RDONLY | os.O_TRUNC), "refuse"),
        ("prlimit64", (0, 7, 0, 1), "allow"),
        ("prlimit64", (0, 7, 1, 0), "refuse"),
        ("prlimit64", (0, 7, 2**32, 0), "refuse"),
        ("prlimit64", (1, 7, 0, 1), "refuse"),
        ("fcntl", (1, 3), "allow"),
        ("fcntl", (1, 8), "refuse"),
        ("ioctl", (1, 0x5401), "allow"),
        ("ioctl", (1, 0x5412), "refuse"),
    ],
)
def test_the_filter_looks_at_arguments(
    machine: str, name: str, arguments: tuple[int, ...], verdict: str
) -> None:
    assert decided(seccomp.program(machine, pid=77), machine, numbers(machine)[name], *arguments) == verdict


def test_the_filter_kills_what_calls_as_another_machine() -> None:
    assert decided(seccomp.program("x86_64", pid=77), "aarch64", 0) == "kill"


def decided(code: list[seccomp.Instruction], machine: str, number: int, *arguments: int) -> str:
    """Run the filter as the kernel would: on number, machine, instruction pointer and six arguments."""
    six = [*arguments, *[0] * (6 - len(arguments))]
    words = [number, AUDIT_ARCH[machine], 0, 0]
    words += [half for one in six for half in (one % 2**32, one >> 32)]
    at = held = 0
    while True:
        operation, if_true, if_false, operand = code[at]
        if operation == 0x06:
            return {0x7FFF0000: "allow", 0x80000000: "kill", 0x00050001: "refuse"}[operand]
        if operation == 0x20:
            held = words[operand // 4]
        elif operation == 0x54:
            held &= operand
        else:
            assert operation == 0x15
            at += if_true if held == operand else if_false
        at += 1


def test_every_word_of_the_option_is_a_level() -> None:
    from pytest_cudaopt.option_text import SANDBOXES

    assert (levels.AUTO, *Level) == SANDBOXES
