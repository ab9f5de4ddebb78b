"""Arrays of many gigabytes in the memory of one tile, which is mapped again and again: read-only, Linux only.

For inputs whose values nobody needs all of: what matters is where an element lies, not that all differ.
"""

from __future__ import annotations

import ctypes
import mmap
import os
import sys
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING, Any, cast

from pytest_cudaopt.errors import EnvironmentFault

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

# Arrays with more elements have offsets that 32 bits do not hold.
LARGE = 1 << 31
# Whole units of the harness at any element size, and no power of two: whoever wraps an offset at one reads
# other values.
TILE_ELEMENTS = 13 << 16
# A process may have 65530 mappings.
_LEAST_PIECE_BYTES = 4 << 20
_MOST_MAPPINGS = 1 << 14
_NO_ADDRESS = ctypes.c_void_p(-1).value


def can_tile() -> bool:
    """Whether this machine can map a tile again and again."""
    return sys.platform == "linux"


def tiled(tile: NDArray[Any], shape: tuple[int, ...]) -> NDArray[Any]:
    """Return a read-only array of `shape` in C order whose elements are those of `tile` over and over.

    `tile` is flat, and has whole pages. The memory is given back with the last array over it. Raises
    EnvironmentFault where there is no room for it.
    """
    import numpy as np

    elements = 1
    for extent in shape:
        elements *= extent
    memory = _Mapping(tile.view(np.uint8), elements * tile.itemsize)
    return cast("NDArray[Any]", np.asarray(memory).view(tile.dtype).reshape(shape))


class _Mapping:
    """Bytes for NumPy, unmapped when nobody refers to them."""

    def __init__(self, tile: NDArray[np.uint8], size: int) -> None:
        pieces = max(_LEAST_PIECE_BYTES, size // _MOST_MAPPINGS)
        tiles = -(-pieces // tile.size)
        piece = tiles * tile.size
        reserved = -(-size // piece) * piece
        # First, since it says whether there can be such an array at all.
        address = _reserve(reserved)
        self._release = weakref.finalize(self, _libc().munmap, address, reserved)
        with _nameless_file(tile.tobytes() * tiles) as file:
            for start in range(0, reserved, piece):
                _map(address + start, piece, mmap.PROT_READ, mmap.MAP_SHARED | _MAP_FIXED, file)
        self.__array_interface__ = {
            "version": 3,
            "typestr": "|u1",
            "shape": (size,),
            "data": (address, True),
        }


# Not in the module mmap; the same on every Linux that CUDA runs on.
_MAP_FIXED, _MAP_NORESERVE = 0x10, 0x4000


def _reserve(size: int) -> int:
    return _map(0, size, 0, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | _MAP_NORESERVE, -1)


def _map(address: int, size: int, protection: int, flags: int, file: int) -> int:
    got = _libc().mmap(address, size, protection, flags, file, 0)
    if got is None or got == _NO_ADDRESS:
        raise _no_room(size, os.strerror(ctypes.get_errno()))
    return int(got)


@contextmanager
def _nameless_file(content: bytes) -> Iterator[int]:
    """Open a file in memory that holds `content`, for as long as the block lasts."""
    try:
        file = os.memfd_create("cudaopt tile")
    except OSError as error:
        raise _no_room(len(content), error.strerror or str(error)) from error
    try:
        left = memoryview(content)
        while left:
            left = left[os.write(file, left) :]
        yield file
    except OSError as error:
        raise _no_room(len(content), error.strerror or str(error)) from error
    finally:
        os.close(file)


def _no_room(size: int, reason: str) -> EnvironmentFault:
    return EnvironmentFault(
        f"an array of {size} bytes",
        expected="memory and addresses for it",
        got=reason,
        next_step="Free some memory, or raise the limit of the address space (ulimit -v)",
    )


@cache
def _libc() -> ctypes.CDLL:
    libc = ctypes.CDLL(None, use_errno=True)
    libc.mmap.restype = ctypes.c_void_p
    libc.mmap.argtypes = (
        ctypes.c_void_p,
        ctypes.c_size_t,
        ctypes.c_int,
        ctypes.c_int,
        ctypes.c_int,
        ctypes.c_long,
    )
    libc.munmap.argtypes = (ctypes.c_void_p, ctypes.c_size_t)
    return libc
