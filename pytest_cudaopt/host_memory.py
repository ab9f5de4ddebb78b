"""How much memory this machine can give."""

from __future__ import annotations

import os
import re
import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_AVAILABLE = re.compile(r"^MemAvailable:\s+(\d+) kB$", re.MULTILINE)


def available_bytes() -> int | None:
    """Return the memory that is available without swapping; None where the system does not say."""
    try:
        match = _AVAILABLE.search(Path("/proc/meminfo").read_text())
    except OSError:
        return None
    return None if match is None else int(match.group(1)) * 1024


@contextmanager
def at_most_more(size: int) -> Iterator[None]:
    """Let this process take at most so many more bytes of addresses: beyond them there is a MemoryError.

    Processes started meanwhile inherit the limit: start none. Nothing is limited where the system does not
    say how much is taken.
    """
    before, hard = resource.getrlimit(resource.RLIMIT_AS)
    try:
        taken = int(Path("/proc/self/statm").read_text().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        yield
        return
    limits = [taken + size, *(one for one in (before, hard) if one != resource.RLIM_INFINITY)]
    resource.setrlimit(resource.RLIMIT_AS, (min(limits), hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (before, hard))
