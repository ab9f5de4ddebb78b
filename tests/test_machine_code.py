"""Compiled code is the same where its instructions and data are, whatever stands beside them."""

from __future__ import annotations

import struct

from pytest_cudaopt.machine_code import machine_code

PROGRAM, SYMBOLS, NAMES, NO_BITS = 1, 2, 3, 8


def elf(*sections: tuple[str, int, bytes], link: int = 0, info: int = 0) -> bytes:
    """Return a 64-bit file of these sections: names, kinds and contents."""
    names = b"\0" + b"".join(name.encode() + b"\0" for name, _, _ in sections) + b".shstrtab\0"
    body, headers, name_at = names, b"", 1
    for name, kind, content in sections:
        size = len(content)
        headers += struct.pack("<IIQQQQII16x", name_at, kind, 0, 0, 64 + len(body), size, link, info)
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


def test_the_launched_kernel_may_have_any_name_and_no_other_may() -> None:
    def named(name: str, other: str, entry: str) -> str:
        own = ((f"{part}.{name}", PROGRAM, b"\1\2") for part in (".text", ".nv.info", ".nv.constant0"))
        return machine_code(elf(*own, (f".text.{other}", PROGRAM, b"\3")), entry)

    assert named("f", "h", "f") == named("_Z2ggv", "h", "_Z2ggv")
    assert named("f", "h", "f") != named("f", "hh", "f")
    assert named("f", "h", "") != named("g", "h", "")
    # Which of two kernels is launched is not a matter of names.
    assert named("f", "h", "f") != named("f", "h", "h")


def test_resources_count() -> None:
    bounds = [elf(CODE, (".nv.info.f", PROGRAM, bound)) for bound in (b"\1", b"\2")]
    registers = [elf(CODE, info=info) for info in (16 << 24, 32 << 24)]
    assert len({machine_code(one, "f") for one in (*bounds, *registers)}) == 4


def with_symbol(name: bytes, value: int = 0, section: int = 0x10) -> bytes:
    """Return code and one symbol, of a section or (0) of somebody else's."""
    symbol = struct.pack("<IBBHQQ", 1, 1, 0, section, value, 4)
    names = b"\0" + name + b"\0"
    return elf((".strtab", NAMES, names), (".symtab", SYMBOLS, symbol), CODE, link=0)


def test_variables_count_by_their_place_and_those_the_host_writes_by_name_too() -> None:
    assert machine_code(with_symbol(b"taps"), "f") == machine_code(with_symbol(b"other"), "f")
    assert machine_code(with_symbol(b"taps"), "f") != machine_code(with_symbol(b"taps", value=8), "f")
    written = frozenset({"taps", "other"})
    first, second = (machine_code(with_symbol(name), "f", written) for name in (b"taps", b"other"))
    assert first != second


def test_what_the_driver_provides_counts_by_name() -> None:
    provided = [machine_code(with_symbol(name, section=0)) for name in (b"vprintf", b"malloc")]
    assert provided[0] != provided[1]


def test_what_is_no_such_file_counts_as_a_whole() -> None:
    broken = elf(CODE)[:-30]
    texts = [b"", b"a", b"b", b"\x7fELF\2\1", broken, broken + b"\0"]
    assert len({machine_code(text) for text in texts}) == len(texts)
    assert machine_code(b"a") == machine_code(b"a")
