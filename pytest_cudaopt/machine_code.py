"""What a compiled module is to the GPU: its code and data, without line tables and names of files."""

from __future__ import annotations

import hashlib
import struct

# Name, type, flags, address, offset, size of an ELF section; the rest does not matter here.
_SECTION = struct.Struct("<IIQQQQ")
_HEADER = struct.Struct("<16x24xQ10xHHH")
_NO_BITS = 8
_CODE = (".text", ".rel.text", ".rela.text", ".nv.constant", ".nv.global", ".nv.shared")


def machine_code(cubin: bytes) -> str:
    """Return a digest of the instructions and data of a cubin; of anything else, of all of it."""
    try:
        sections = sorted(_sections(cubin))
    except (struct.error, ValueError, IndexError):
        sections = []
    digest = hashlib.sha256()
    for name, content in sections or [("", cubin)]:
        digest.update(f"{name} {len(content)}\n".encode() + content)
    return digest.hexdigest()


def _sections(cubin: bytes) -> list[tuple[str, bytes]]:
    if not cubin.startswith(b"\x7fELF\x02\x01"):
        raise ValueError("not a 64-bit ELF file")
    offset, entry_bytes, number, names_at = _HEADER.unpack_from(cubin)
    headers = [_SECTION.unpack_from(cubin, offset + at * entry_bytes) for at in range(number)]
    names = _content(cubin, headers[names_at])
    named = [(names[header[0] : names.index(b"\0", header[0])].decode(), header) for header in headers]
    return [(name, _content(cubin, header)) for name, header in named if name.startswith(_CODE)]


def _content(cubin: bytes, header: tuple[int, ...]) -> bytes:
    _, kind, _, _, offset, size = header
    # Shared memory has a size only.
    return str(size).encode() if kind == _NO_BITS else cubin[offset : offset + size]
