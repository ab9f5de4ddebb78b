"""How much memory this machine can give."""

from __future__ import annotations

import re
from pathlib import Path

_AVAILABLE = re.compile(r"^MemAvailable:\s+(\d+) kB$", re.MULTILINE)


def available_bytes() -> int | None:
    """Return the memory that is available without swapping; None where the system does not say."""
    try:
        match = _AVAILABLE.search(Path("/proc/meminfo").read_text())
    except OSError:
        return None
    return None if match is None else int(match.group(1)) * 1024
