"""Runs on the inside, after fork and before the call: give up everything that it does not need, for good."""

from __future__ import annotations

import ctypes
import fcntl
import math
import mmap
import os
import resource
import signal

from pytest_cudaopt.sandbox import landlock, seccomp
from pytest_cudaopt.sandbox.call import Limits
from pytest_cudaopt.sandbox.manifest import Setup

_PR_SET_PDEATHSIG, _PR_SET_NO_NEW_PRIVS = 1, 38
# The same number on every machine.
_CLOSE_RANGE = 436
_CAPABILITIES_V3 = 0x20080522
_PAGE_BYTES = mmap.PAGESIZE
_MOST_BYTES = 2**46


def lead_a_group_of_its_own(parent: int) -> None:
    """Have this process be killed together with all that it starts, and when its `parent` dies."""
    os.setsid()
    _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        # It died before it was asked for its signal.
        os.kill(os.getpid(), signal.SIGKILL)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)
    # A signal that is blocked stays so in this child, and in what it starts.
    signal.pthread_sigmask(signal.SIG_SETMASK, ())


def keep_only(descriptors: list[int]) -> list[int]:
    """Make `descriptors` 0, 1, 2 and so on, close all others, and return the new numbers."""
    # Above all targets first, so that none is overwritten before it is moved.
    high = [fcntl.fcntl(one, fcntl.F_DUPFD_CLOEXEC, len(descriptors)) for one in descriptors]
    for index, one in enumerate(high):
        os.dup2(one, index)
    _close_from(len(descriptors))
    return list(range(len(descriptors)))


def taken_bytes() -> int:
    """Return how many bytes of addresses this process has taken, to a page.

    Found by trying, since a namespace of its own has no /proc to look it up in.
    """
    before = resource.getrlimit(resource.RLIMIT_AS)
    hard = before[1]
    low, high = 0, _MOST_BYTES if hard == resource.RLIM_INFINITY else min(hard, _MOST_BYTES)
    try:
        while high - low > _PAGE_BYTES:
            middle = (low + high) // 2
            resource.setrlimit(resource.RLIMIT_AS, (middle, hard))
            low, high = (low, middle) if _has_room_for_a_page() else (middle, high)
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)
    return high


def limit(limits: Limits, taken: int) -> None:
    """Put the limits of `setrlimit` on this process; memory on top of the `taken` bytes."""
    cpu_s = max(1, math.ceil(limits.cpu_s))
    bounds = {
        resource.RLIMIT_AS: (taken + limits.memory_bytes,) * 2,
        # The first sends SIGXCPU, which could be caught; the second kills.
        resource.RLIMIT_CPU: (cpu_s, cpu_s + 1),
        resource.RLIMIT_FSIZE: (max(limits.output_bytes, limits.printed_bytes),) * 2,
        resource.RLIMIT_NPROC: (0, 0),
        resource.RLIMIT_NOFILE: (limits.open_files,) * 2,
        resource.RLIMIT_CORE: (0, 0),
        resource.RLIMIT_MEMLOCK: (0, 0),
        resource.RLIMIT_MSGQUEUE: (0, 0),
    }
    for which, bound in bounds.items():
        resource.setrlimit(which, bound)


def close_in(setup: Setup) -> None:
    """Drop privileges and put up the barriers. Raises OSError if one does not stand: then run nothing."""
    _prctl(_PR_SET_NO_NEW_PRIVS, 1)
    _drop_capabilities()
    if setup.landlock:
        landlock.restrict(setup.readable)
    if setup.seccomp:
        # Last: it would refuse what the others need.
        seccomp.install()


def _close_from(first: int) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    last = ctypes.c_uint(0xFFFFFFFF)
    if libc.syscall(ctypes.c_long(_CLOSE_RANGE), ctypes.c_uint(first), last, ctypes.c_int(0)):
        # Before Linux 5.9: one by one, up to a number that may be huge.
        os.closerange(first, os.sysconf("SC_OPEN_MAX"))


def _has_room_for_a_page() -> bool:
    try:
        mmap.mmap(-1, _PAGE_BYTES).close()
    except OSError:
        return False
    return True


def _drop_capabilities() -> None:
    """Make root a user like any other, who cannot raise limits again."""
    header = (ctypes.c_uint32 * 2)(_CAPABILITIES_V3, 0)
    none = (ctypes.c_uint32 * 6)()
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.capset(header, none):
        raise OSError(ctypes.get_errno(), "capset")


def _prctl(option: int, value: int) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(option, ctypes.c_ulong(value), ctypes.c_ulong(0), ctypes.c_ulong(0), ctypes.c_ulong(0)):
        raise OSError(ctypes.get_errno(), f"prctl({option})")
