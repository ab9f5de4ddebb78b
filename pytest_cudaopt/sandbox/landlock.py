"""Runs on the inside. Landlock: from now on only the given folders can be read, and nothing written.

Kernel's documentation: userspace-api/landlock. It refuses TCP ports, signals and abstract sockets too where
the kernel knows how; it cannot refuse to say that a file exists, how large it is and who owns it.
"""

from __future__ import annotations

import ctypes
import os
import struct
import sys
from collections.abc import Iterable
from pathlib import Path

# The same numbers on every machine.
_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_ASK_FOR_VERSION = 1
_PATH_BENEATH = 1
_READ_FILE, _READ_DIR = 1 << 2, 1 << 3
# How many kinds of access to files each version (ABI) knows: all of them are handled, thus refused.
_FILE_ACCESSES = {1: 13, 2: 14, 3: 15, 4: 15, 5: 16}
_TCP_SINCE, _SCOPES_SINCE = 4, 6
_BIND_AND_CONNECT, _SOCKETS_AND_SIGNALS = 0b11, 0b11

_libc = ctypes.CDLL(None, use_errno=True)
_libc.syscall.restype = ctypes.c_long


def version() -> int:
    """Return the version (ABI) of Landlock; 0 where there is none, or it is disabled."""
    if sys.platform != "linux":
        return 0
    found = _libc.syscall(
        ctypes.c_long(_CREATE_RULESET), None, ctypes.c_size_t(0), ctypes.c_uint(_ASK_FOR_VERSION)
    )
    return max(0, int(found))


def restrict(readable: Iterable[str]) -> None:
    """Let this process read what is under `readable` and nothing else. no_new_privs must be set.

    Paths that do not exist are passed over. Raises OSError if the kernel does not comply.
    """
    known = version()
    # The kernel takes a shorter struct from those who know fewer fields.
    fields = [(1 << _FILE_ACCESSES.get(known, max(_FILE_ACCESSES.values()))) - 1]
    fields += [_BIND_AND_CONNECT] if known >= _TCP_SINCE else []
    fields += [_SOCKETS_AND_SIGNALS] if known >= _SCOPES_SINCE else []
    attributes = struct.pack(f"={len(fields)}Q", *fields)
    ruleset = _called(_CREATE_RULESET, attributes, ctypes.c_size_t(len(attributes)), ctypes.c_uint(0))
    for path in readable:
        _let_read(ruleset, path)
    _called(_RESTRICT_SELF, ctypes.c_int(ruleset), ctypes.c_uint(0))
    os.close(ruleset)


def _let_read(ruleset: int, path: str) -> None:
    try:
        opened = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except FileNotFoundError:
        return
    access = _READ_FILE | (_READ_DIR if Path(path).is_dir() else 0)
    # struct landlock_path_beneath_attr is packed.
    rule = struct.pack("=Qi", access, opened)
    _called(_ADD_RULE, ctypes.c_int(ruleset), ctypes.c_int(_PATH_BENEATH), rule, ctypes.c_uint(0))
    os.close(opened)


def _called(number: int, *arguments: object) -> int:
    result = _libc.syscall(ctypes.c_long(number), *arguments)
    if result < 0:
        raise OSError(ctypes.get_errno(), f"landlock (system call {number})")
    return int(result)
