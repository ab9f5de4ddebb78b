"""The system calls that computing with arrays takes, and their numbers. Whatever is not here is refused."""

from __future__ import annotations

import fcntl
from collections.abc import Mapping
from dataclasses import dataclass

# AUDIT_ARCH_* of linux/audit.h, which tell a 64-bit call from one of another ABI with other numbers.
AUDIT_ARCH = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}

# Name to number on x86_64 and aarch64; None where a machine has no such call.
_NUMBERS: Mapping[str, tuple[int | None, int | None]] = {
    "read": (0, 63),
    "write": (1, 64),
    "close": (3, 57),
    "stat": (4, None),
    "fstat": (5, 80),
    "lstat": (6, None),
    "poll": (7, None),
    "lseek": (8, 62),
    "mmap": (9, 222),
    "mprotect": (10, 226),
    "munmap": (11, 215),
    "brk": (12, 214),
    "rt_sigaction": (13, 134),
    "rt_sigprocmask": (14, 135),
    "rt_sigreturn": (15, 139),
    "ioctl": (16, 29),
    "pread64": (17, 67),
    "pwrite64": (18, 68),
    "readv": (19, 65),
    "writev": (20, 66),
    "access": (21, None),
    "select": (23, None),
    "sched_yield": (24, 124),
    "mremap": (25, 216),
    "madvise": (28, 233),
    "dup": (32, 23),
    "dup2": (33, None),
    "nanosleep": (35, 101),
    "getpid": (39, 172),
    "exit": (60, 93),
    "kill": (62, 129),
    "uname": (63, 160),
    "fcntl": (72, 25),
    "ftruncate": (77, 46),
    "getcwd": (79, 17),
    "gettimeofday": (96, 169),
    "getrlimit": (97, 163),
    "getrusage": (98, 165),
    "sysinfo": (99, 179),
    "times": (100, 153),
    "getuid": (102, 174),
    "getgid": (104, 176),
    "geteuid": (107, 175),
    "getegid": (108, 177),
    "getppid": (110, 173),
    "sigaltstack": (131, 132),
    "gettid": (186, 178),
    "time": (201, None),
    "futex": (202, 98),
    "sched_getaffinity": (204, 123),
    "getdents64": (217, 61),
    "restart_syscall": (219, 128),
    "clock_gettime": (228, 113),
    "clock_getres": (229, 114),
    "clock_nanosleep": (230, 115),
    "exit_group": (231, 94),
    "tgkill": (234, 131),
    "openat": (257, 56),
    "newfstatat": (262, 79),
    "pselect6": (270, 72),
    "ppoll": (271, 73),
    "faccessat": (269, 48),
    "dup3": (292, 24),
    "prlimit64": (302, 261),
    "getcpu": (309, 168),
    "getrandom": (318, 278),
    "statx": (332, 291),
    "faccessat2": (439, 439),
}


@dataclass(frozen=True)
class Condition:
    """Of argument `argument`, the lower 32 bits (or the `upper`), masked, must be one of `values`."""

    argument: int
    values: tuple[int, ...]
    mask: int = 0xFFFFFFFF
    upper: bool = False


@dataclass(frozen=True)
class Allowed:
    """A call that is let through if all conditions hold."""

    number: int
    conditions: tuple[Condition, ...] = ()


def allowed(machine: str, pid: int) -> list[Allowed]:
    """Return what a process `pid` on `machine` may call; KeyError for a machine whose numbers are unknown."""
    column = list(AUDIT_ARCH).index(machine) if machine in AUDIT_ARCH else None
    if column is None:
        raise KeyError(machine)
    conditions = _conditions(pid)
    numbered = {name: numbers[column] for name, numbers in _NUMBERS.items()}
    return [
        Allowed(number, conditions.get(name, ())) for name, number in numbered.items() if number is not None
    ]


def numbers(machine: str) -> dict[str, int]:
    """Return the calls of this list that `machine` has, by name."""
    column = list(AUDIT_ARCH).index(machine)
    return {name: number for name, both in _NUMBERS.items() if (number := both[column]) is not None}


def _conditions(pid: int) -> dict[str, tuple[Condition, ...]]:
    is_itself = (Condition(0, (pid,)),)
    return {
        # abort() signals its own process.
        "kill": is_itself,
        "tgkill": is_itself,
        # To ask for limits, never to set them: no new value, which is a pointer.
        "prlimit64": (Condition(0, (0, pid)), Condition(2, (0,)), Condition(2, (0,), upper=True)),
        # Not F_SETOWN, which has the kernel send signals to others. F_DUPFD_CLOEXEC is 1030.
        "fcntl": (
            Condition(1, (fcntl.F_DUPFD, fcntl.F_GETFD, fcntl.F_SETFD, fcntl.F_GETFL, fcntl.F_DUPFD_CLOEXEC)),
        ),
        # TCGETS, which open() asks; FIONCLEX and FIOCLEX.
        "ioctl": (Condition(1, (0x5401, 0x5450, 0x5451)),),
        # Neither O_WRONLY nor O_RDWR, O_CREAT, O_TRUNC: the results' descriptors are open already.
        "openat": (Condition(2, (0,), mask=0o3 | 0o100 | 0o1000),),
    }
