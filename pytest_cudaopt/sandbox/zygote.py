"""Runs on the inside. A process that has NumPy imported and forks a child for each call.

It is clean: started with an environment of its own, it holds no keys and no descriptors but its channel.
It runs no foreign code itself; the child that does gives up everything first.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import json
import mmap
import os
import signal
import socket
import sys
import time

from pytest_cudaopt.sandbox import confine, function_call
from pytest_cudaopt.sandbox.manifest import Answer, Ended, Setup, Start
from pytest_cudaopt.wire import from_json, to_json

# Of a message: input, answer, arrays, standard output, standard error.
DESCRIPTORS = 5
MESSAGE_BYTES = 16 * 1024


def serve(channel_descriptor: int, setup_text: str) -> None:
    """Make calls until the other side hangs up."""
    setup = from_json(Setup, json.loads(setup_text), "setup")
    os.umask(0o077)
    # Bubblewrap sets it.
    os.environ.pop("PWD", None)
    for name in setup.preloaded:
        importlib.import_module(name)
    # Parts that are imported later are found by their package; nothing else is to be imported from there.
    sys.path[:] = [path for path in sys.path if path not in setup.importable]
    # Children then share these objects' memory with this process instead of copying it.
    gc.freeze()
    taken = confine.taken_bytes()
    # Waited for below; a handler would interrupt instead.
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGCHLD})
    with socket.socket(fileno=channel_descriptor) as channel:
        channel.send(b"ready")
        while True:
            message, descriptors, _, _ = socket.recv_fds(channel, MESSAGE_BYTES, DESCRIPTORS)
            if not message:
                return
            start = from_json(Start, json.loads(message), "start")
            ended = _call(setup, start, taken, list(descriptors))
            channel.send(json.dumps(to_json(ended)).encode())


def _call(setup: Setup, start: Start, taken: int, descriptors: list[int]) -> Ended:
    deadline = time.monotonic() + start.limits.wall_s
    parent = os.getpid()
    child = os.fork()
    if child == 0:
        _be_the_child(setup, start, taken, descriptors, parent)
    for one in descriptors:
        os.close(one)
    timed_out = not _ends_before(child, deadline)
    # Also what it may have started, and before its number is free for others.
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)
    with contextlib.suppress(ProcessLookupError):
        os.kill(child, signal.SIGKILL)
    _, status, usage = os.wait4(child, 0)
    return Ended(status, timed_out, usage.ru_utime + usage.ru_stime)


def _ends_before(child: int, deadline: float) -> bool:
    """Wait for the child, without reaping it; False if it still runs at the deadline."""
    while True:
        if os.waitid(os.P_PID, child, os.WEXITED | os.WNOWAIT | os.WNOHANG) is not None:
            return True
        left = deadline - time.monotonic()
        if left <= 0:
            return False
        signal.sigtimedwait({signal.SIGCHLD}, left)


def _be_the_child(setup: Setup, start: Start, taken: int, descriptors: list[int], parent: int) -> None:
    """Confine this process, make the call, and end. Whatever happens, never return."""
    status = 1
    try:
        confine.lead_a_group_of_its_own(parent)
        given, answer, arrays, out, err = descriptors
        # The zygote's own standard input is /dev/null.
        confine.keep_only([0, out, err, given, answer, arrays])
        os.chdir(start.folder)
        held = mmap.mmap(3, 0, access=mmap.ACCESS_READ)
        try:
            confine.limit(start.limits, taken)
            confine.close_in(setup)
        except OSError as error:
            os.pwrite(4, json.dumps(to_json(Answer(refused=str(error)))).encode(), 0)
            return
        function_call.print_at_most(start.limits.printed_bytes)
        function_call.run(held, 4, 5, start.limits.output_bytes)
        status = 0
    finally:
        os._exit(status)
