"""PTX as NVRTC writes it for a given architecture: the harness itself asks for one only."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence


def ptx_for(nvrtc: str, source: str, options: Sequence[str]) -> str:
    """Compile; raise RuntimeError with the compiler's log."""
    library = ctypes.CDLL(nvrtc)
    program = ctypes.c_void_p()
    _check(library.nvrtcCreateProgram(ctypes.byref(program), source.encode(), b"k.cu", 0, None, None))
    listed = (ctypes.c_char_p * len(options))(*[option.encode() for option in options])
    if library.nvrtcCompileProgram(program, len(options), listed):
        raise RuntimeError(_text(library.nvrtcGetProgramLogSize, library.nvrtcGetProgramLog, program))
    return _text(library.nvrtcGetPTXSize, library.nvrtcGetPTX, program)


def _text(
    size_of: ctypes._NamedFuncPointer, text_of: ctypes._NamedFuncPointer, program: ctypes.c_void_p
) -> str:
    size = ctypes.c_size_t()
    _check(size_of(program, ctypes.byref(size)))
    text = ctypes.create_string_buffer(size.value)
    _check(text_of(program, text))
    return text.value.decode()


def _check(code: int) -> None:
    if code:
        raise RuntimeError(f"NVRTC answered {code}")
