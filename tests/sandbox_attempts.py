"""What a function that a model wrote might try: an attempt returns once it has succeeded, else it raises.

`attempt(place)` gets the path of a folder that is not its own, with a file `secret` in it. Attempts need only
the standard library, so that they can be made without a sandbox too. None does harm where it succeeds.
"""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from pytest_cudaopt.sandbox.call import Call, Wanted

_CALL_BY_NUMBER = """\
import ctypes, os

def call(number, *arguments):
    libc = ctypes.CDLL(None, use_errno=True)
    result = libc.syscall(ctypes.c_long(number), *(ctypes.c_long(one) for one in arguments))
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result

"""


# Barriers that each hold an attempt alone.
ALL = ("namespaces", "landlock", "seccomp")
FILES = ("namespaces", "landlock")
CALLS = ("seccomp",)


@dataclass(frozen=True)
class Attempt:
    """`body` is what `attempt(place)` does; `held_by` are the barriers each of which refuses it alone.

    `seen` is what it raises at the levels bubblewrap and landlock. `is_of_x86` ones use numbers of system
    calls of x86_64. Those without `control` need a right or a kernel that not everybody has.
    """

    title: str
    body: str
    held_by: tuple[str, ...] = CALLS
    seen: tuple[str, str] = ("PermissionError", "PermissionError")
    before: str = ""
    is_of_x86: bool = False
    control: bool = True

    @property
    def source(self) -> str:
        imports = "import os, socket, subprocess, sys, threading\n"
        lines = "\n".join(f"    {line}" for line in self.body.splitlines())
        return f"{imports}{self.before}\ndef attempt(place):\n{lines}\n    return [1.0]\n"

    def call(self, place: Path) -> Call:
        return Call(self.source, "attempt", {"place": str(place)}, {"done": Wanted("f64", (1,))})

    def succeeds_alone(self, place: Path) -> bool:
        """Make the attempt in a process that nothing holds."""
        code = f"{self.source}\nassert attempt({str(place)!r}) == [1.0]"
        command = [sys.executable, "-I", "-c", code]
        ended = subprocess.run(command, timeout=60, stdin=subprocess.DEVNULL, cwd=place)
        return ended.returncode == 0

    def __str__(self) -> str:
        return self.title


def _reading(title: str, body: str) -> Attempt:
    return Attempt(title, body, FILES, ("FileNotFoundError", "PermissionError"))


def _by_number(title: str, number: int, *arguments: int, control: bool = True) -> Attempt:
    body = f"call({', '.join(map(str, (number, *arguments)))})"
    return Attempt(title, body, before=_CALL_BY_NUMBER, is_of_x86=True, control=control)


READING = (
    _reading("reads a file of somebody's home folder", "open(place + '/secret').read()"),
    _reading("lists somebody's home folder", "assert os.listdir(place)"),
    _reading("reads /etc/passwd", "open('/etc/passwd').read()"),
    _reading("reads its process's environment in /proc", "open('/proc/self/environ', 'rb').read()"),
    _reading("reads the memory map of its parent", "open(f'/proc/{os.getppid()}/maps').read()"),
    # Its search path has none of them at any level.
    Attempt(
        "imports a package of the project's environment",
        "import pytest",
        ALL,
        ("ModuleNotFoundError", "ModuleNotFoundError"),
    ),
)
WRITING = (
    Attempt("writes a new file", "open(place + '/new', 'w').write('x')", ALL),
    Attempt("writes to a file that is there", "open(place + '/secret', 'a').write('x')", ALL),
    Attempt("empties a file", "os.truncate(place + '/secret', 0)", ALL),
    Attempt("writes to /tmp", "import tempfile\ntempfile.TemporaryFile(dir='/tmp').write(b'x')", ALL),
    Attempt("writes to the folder it begins in", "open('new', 'w').write('x'); os.remove('new')", ALL),
    Attempt("makes a folder", "os.mkdir(place + '/folder')", ALL),
    Attempt("removes a file", "os.remove(place + '/secret')", ALL),
    Attempt("renames a file", "os.rename(place + '/secret', place + '/other')", ALL),
    Attempt("changes a file's permissions", "os.chmod(place + '/secret', 0o777)", ("namespaces", "seccomp")),
    Attempt("changes a file's times", "os.utime(place + '/secret')", ("namespaces", "seccomp")),
    Attempt("leaves a symlink as its result", "os.symlink('/etc/passwd', place + '/result')", ALL),
    Attempt("leaves a FIFO as its result", "os.mkfifo(place + '/result')", ALL),
    Attempt("makes memory that no limit counts", "os.memfd_create('more')"),
)
NETWORK = (
    Attempt("opens a socket (inet)", "socket.socket(socket.AF_INET)"),
    Attempt("opens a socket (unix)", "socket.socket(socket.AF_UNIX)"),
    Attempt("opens a socket (netlink)", "socket.socket(socket.AF_NETLINK, socket.SOCK_RAW)"),
    Attempt("opens a pair of sockets", "socket.socketpair()"),
)
PROCESSES = (
    Attempt("forks", "child = os.fork()\nif child == 0: os._exit(0)\nos.waitpid(child, 0)"),
    Attempt(
        "starts a thread", "threading.Thread(target=print).start()", seen=("RuntimeError", "RuntimeError")
    ),
    Attempt("runs a shell", "subprocess.run(['/bin/sh', '-c', 'true'], check=True)", ALL),
    Attempt("becomes a shell", "os.execv('/bin/sh', ['/bin/sh', '-c', 'true'])", ALL),
    Attempt("spawns a shell", "assert os.posix_spawn('/bin/sh', ['/bin/sh', '-c', 'true'], {})", ALL),
    # Landlock refuses signals only since its version 6.
    Attempt("signals its parent", "os.kill(os.getppid() or 1, 0)"),
    Attempt("signals a whole group of processes", "os.kill(-os.getpgrp(), 0)"),
    Attempt(
        "has itself traced",
        "import ctypes\nlibc = ctypes.CDLL(None, use_errno=True)\n"
        "if libc.ptrace(0, 0, None, None): raise OSError(ctypes.get_errno(), 'ptrace')",
    ),
    Attempt(
        "sets its limits",
        "import resource as r\nr.setrlimit(r.RLIMIT_CORE, r.getrlimit(r.RLIMIT_CORE))",
        seen=("ValueError", "ValueError"),
    ),
)
KERNEL = (
    _by_number("calls clone3", 435, 0, 0, control=False),
    _by_number("calls execveat", 322, 0, 0, 0, 0, 0, control=False),
    _by_number("calls vfork", 58, control=False),
    _by_number("calls unshare", 272, 0),
    _by_number("calls mount", 165, 0, 0, 0, 0, 0, control=False),
    _by_number("calls add_key (keyring)", 248, 0, 0, 0, 0, 0, control=False),
    _by_number("calls io_uring_setup", 425, 0, 0, control=False),
    _by_number("calls bpf", 321, 0, 0, 0, control=False),
    _by_number("calls process_vm_readv", 310, 0, 0, 0, 0, 0, 0, control=False),
    _by_number("calls prctl", 157, 3, 0, 0, 0, 0),
    _by_number("calls shmget", 29, 0, 4096, 0o1600),
    _by_number("calls openat2", 437, 0, 0, 0, 0, control=False),
    _by_number("calls name_to_handle_at", 303, 0, 0, 0, 0, 0, control=False),
    _by_number("calls fcntl(F_SETOWN)", 72, 0, 8, 0),
    _by_number("calls getpid as an x32 program", 0x40000000 | 39, control=False),
)
ATTEMPTS = (*READING, *WRITING, *NETWORK, *PROCESSES, *KERNEL)
