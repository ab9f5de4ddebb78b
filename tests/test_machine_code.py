"""Compiled code is the same where its instructions and data are, whatever stands beside them."""

from __future__ import annotations

import struct

from pytest_cudaopt.machine_code import machine_code

PROGRAM, NO_BITS = 1, 8


def elf(*sections: tuple[str, int, bytes]) -> bytes:
    """Return a 64-bit file of these sections: names, kinds and contents."""
    names = b"\0" + b"".join(name.encode() + b"\0" for name, _, _ in sections) + b".shstrtab\0"
    body, headers, name_at = names, b"", 1
    for name, kind, content in sections:
        size = len(content)
        headers += struct.pack("<IIQQQQ24x", name_at, kind, 0, 0, 64 + len(body), size)
        body += b"" if kind == NO_BITS else content
        name_at += len(name) + 1
    headers += struct.pack("<IIQQQQ24x", name_at, 3, 0, 0, 64, len(names))
    start = struct.pack(
        "<4sBB34xQ10xHHH", b"\x7fELF", 2, 1, 64 + len(body), 64, len(sections) + 1, len(sections)
    )
    assert len(start) == 64
    return start + body + headers


CODE = (".text.f", PROGRAM, b"\1\2\3\4")


def test_line_tables_and_their_order_do_not_count() -> None:
    plain = machine_code(elf(CODE))
    assert machine_code(elf((".debug_line", PROGRAM, b"f.cu"), CODE)) == plain
    assert machine_code(elf((".debug_line", PROGRAM, b"g.cu:17"), CODE)) == plain


def test_instructions_constants_and_shared_memory_count() -> None:
    programs = [
        elf(CODE),
        elf((".text.f", PROGRAM, b"\1\2\3\5")),
        elf((".text.g", PROGRAM, b"\1\2\3\4")),
        elf(CODE, (".nv.constant3", PROGRAM, b"\1")),
        elf(CODE, (".nv.constant3", PROGRAM, b"\2")),
        elf(CODE, (".nv.shared.f", NO_BITS, bytes(64))),
        elf(CODE, (".nv.shared.f", NO_BITS, bytes(128))),
    ]
    assert len({machine_code(one) for one in programs}) == len(programs)


def test_what_is_no_such_file_counts_as_a_whole() -> None:
    broken = elf(CODE)[:-30]
    texts = [b"", b"a", b"b", b"\x7fELF\2\1", broken, broken + b"\0"]
    assert len({machine_code(text) for text in texts}) == len(texts)
    assert machine_code(b"a") == machine_code(b"a")
