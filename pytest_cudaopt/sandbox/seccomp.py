"""Runs on the inside. A filter of system calls, which nothing undoes: the list, or EPERM."""

from __future__ import annotations

import ctypes
import os
import platform
import struct
import sys
from collections.abc import Sequence

from pytest_cudaopt.sandbox.syscalls import AUDIT_ARCH, Allowed, Condition, allowed

_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER = 22, 2
# BPF_LD|BPF_W|BPF_ABS, BPF_ALU|BPF_AND|BPF_K, BPF_JMP|BPF_JEQ|BPF_K, BPF_RET|BPF_K of linux/bpf_common.h.
_LOAD, _AND, _JUMP_IF_EQUAL, _RETURN = 0x20, 0x54, 0x15, 0x06
_ALLOW, _KILL, _REFUSE = 0x7FFF0000, 0x80000000, 0x00050001  # the last with errno 1, EPERM
# In struct seccomp_data: int nr; u32 arch; u64 instruction_pointer; u64 args[6].
_NUMBER_AT, _ARCH_AT, _ARGUMENTS_AT = 0, 4, 16

Instruction = tuple[int, int, int, int]  # code, jump if true, jump if false, operand


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("instructions", ctypes.c_void_p))


def install() -> None:
    """Put this process under the filter; OSError if the kernel does not take it. no_new_privs must be set."""
    code = packed(program(platform.machine(), os.getpid()))
    held = ctypes.create_string_buffer(code, len(code))
    given = _Program(len(code) // 8, ctypes.addressof(held))
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, ctypes.byref(given), 0, 0):
        raise OSError(ctypes.get_errno(), "seccomp filter")


def why_not() -> str | None:
    """Say why this machine cannot be filtered; None if its calls are known."""
    machine = platform.machine()
    if machine not in AUDIT_ARCH or sys.byteorder != "little" or sys.maxsize < 2**32:
        return f"seccomp: system calls of {machine} are not known here"
    return None


def program(machine: str, pid: int) -> list[Instruction]:
    """Return the filter of a process `pid`."""
    code: list[Instruction] = [
        (_LOAD, 0, 0, _ARCH_AT),
        (_JUMP_IF_EQUAL, 1, 0, AUDIT_ARCH[machine]),
        (_RETURN, 0, 0, _KILL),
        (_LOAD, 0, 0, _NUMBER_AT),
    ]
    for call in allowed(machine, pid):
        block = _block(call)
        code += [(_JUMP_IF_EQUAL, 0, len(block), call.number), *block]
    return [*code, (_RETURN, 0, 0, _REFUSE)]


def packed(code: Sequence[Instruction]) -> bytes:
    """Return instructions as struct sock_filter[]."""
    return b"".join(struct.pack("=HBBI", *instruction) for instruction in code)


def _block(call: Allowed) -> list[Instruction]:
    """Return what decides a call whose number is known."""
    code = [step for condition in call.conditions for step in _refuse_unless(condition)]
    return [*code, (_RETURN, 0, 0, _ALLOW)]


def _refuse_unless(condition: Condition) -> list[Instruction]:
    offset = _ARGUMENTS_AT + 8 * condition.argument + 4 * condition.upper
    count = len(condition.values)
    tests = [(_JUMP_IF_EQUAL, count - i, 0, value) for i, value in enumerate(condition.values)]
    return [(_LOAD, 0, 0, offset), (_AND, 0, 0, condition.mask), *tests, (_RETURN, 0, 0, _REFUSE)]
