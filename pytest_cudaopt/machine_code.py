"""What a compiled module is to the GPU: its code and data, without line tables and names."""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Sequence, Set
from dataclasses import dataclass

# Name, type, flags, address, offset, size, link, info of an ELF section.
_SECTION = struct.Struct("<IIQQQQII")
_HEADER = struct.Struct("<16x24xQ10xHHH")
# Name, binding and type, other, section, value, size.
_SYMBOL = struct.Struct("<IBBHQQ")
_SYMBOLS, _NO_BITS = 2, 8
_UNDEFINED = 0
# Names, what debuggers read, and which compiler it was.
_BESIDE = (".shstrtab", ".strtab", ".debug", ".rel.debug", ".rela.debug", ".nv_debug", ".line", ".note")
_THE_ENTRY = "@"


def machine_code(cubin: bytes, entry: str = "", written: Set[str] = frozenset()) -> str:
    """Return a digest of the instructions, data and resources of a cubin; of anything else, of all of it.

    `entry`, the launched kernel as the module names it, may have any name; other kernels, and the variables
    that the host has `written`, may not. What relocations refer to counts by its place.
    """
    try:
        parts = sorted(_parts(cubin, entry, written))
    except (struct.error, ValueError, IndexError):
        parts = [("", cubin)]
    digest = hashlib.sha256()
    for name, content in parts:
        digest.update(f"{name} {len(content)}\n".encode() + content)
    return digest.hexdigest()


@dataclass(frozen=True)
class _Section:
    name: str
    kind: int
    link: int
    info: int
    content: bytes


def _parts(cubin: bytes, entry: str, written: Set[str]) -> list[tuple[str, bytes]]:
    sections = _sections(cubin)
    return [
        (_without(entry, section.name), _content(section, sections, written))
        for section in sections
        if not section.name.startswith(_BESIDE)
    ]


def _without(entry: str, name: str) -> str:
    is_its_own = bool(entry) and name.endswith(f".{entry}")
    return name.removesuffix(entry) + _THE_ENTRY if is_its_own else name


def _content(section: _Section, sections: Sequence[_Section], written: Set[str]) -> bytes:
    if section.kind != _SYMBOLS:
        # Which section it belongs to; of code, in older formats, also how many registers it takes.
        return struct.pack("<I", section.info) + section.content
    names = sections[section.link].content
    symbols = _SYMBOL.iter_unpack(section.content)
    return b"".join(_symbol(symbol, names, written) for symbol in symbols)


def _symbol(symbol: tuple[int, ...], names: bytes, written: Set[str]) -> bytes:
    """Return a symbol without its name, unless somebody outside the module knows it by that."""
    name_at, kind, other, section, value, size = symbol
    name = names[name_at : names.index(b"\0", name_at)]
    is_known = section == _UNDEFINED or name.decode() in written
    return _SYMBOL.pack(0, kind, other, section, value, size) + (name if is_known else b"") + b"\0"


def _sections(cubin: bytes) -> list[_Section]:
    if not cubin.startswith(b"\x7fELF\x02\x01"):
        raise ValueError("not a 64-bit ELF file")
    offset, entry_bytes, number, names_at = _HEADER.unpack_from(cubin)
    headers = [_SECTION.unpack_from(cubin, offset + at * entry_bytes) for at in range(number)]
    names = _bytes_of(cubin, headers[names_at])
    return [
        _Section(
            name=names[header[0] : names.index(b"\0", header[0])].decode(),
            kind=header[1],
            link=header[6],
            info=header[7],
            content=_bytes_of(cubin, header),
        )
        for header in headers
    ]


def _bytes_of(cubin: bytes, header: tuple[int, ...]) -> bytes:
    _, kind, _, _, offset, size, *_ = header
    # Memory that begins empty has a size only.
    return str(size).encode() if kind == _NO_BITS else cubin[offset : offset + size]
