"""mov of every type, packed and unpacked, and addresses on their way between spaces."""

from __future__ import annotations

import numpy as np
from forms_memory import GENERIC_OF_OTHERS, SPACES, VARIABLES, Space, bits_of, held_as
from operand_values import all_of, mixtures
from ptx_runner import KINDS, Array, Form

ELEMENTS = ("b16", "u16", "s16", "b32", "u32", "s32", "f32", "b64", "u64", "s64", "f64")


def _moves() -> list[Form]:
    return [
        Form(
            f"mov.{element}",
            (held_as(element),),
            (held_as(element),),
            lambda a: a,
            all_of(held_as(element)),
        )
        for element in ELEMENTS
    ]


def _immediates() -> list[Form]:
    """A constant of every way to write one."""
    written = [("mov.u32", "u32", "0xdeadbeef", 0xDEADBEEF), ("mov.b32", "u32", "-2", 0xFFFFFFFE)]
    written += [("mov.f32", "u32", "0f3F800001", 0x3F800001), ("mov.f32", "u32", "1.5", 0x3FC00000)]
    written += [("mov.u64", "u64", "0xdeadbeefcafe", 0xDEADBEEFCAFE), ("mov.b64", "u64", "-1", (1 << 64) - 1)]
    written += [
        ("mov.f64", "u64", "0d3FF0000000000001", 0x3FF0000000000001),
        ("mov.b16", "u16", "0x1234", 0x1234),
    ]
    written += [("mov.f64", "u64", "0f40490FDB", 0x40490FDB), ("mov.u16", "u16", "65535", 65535)]
    return [
        Form(
            name,
            (kind,),
            ("u32",),
            lambda a, b=bits, k=kind: np.full(len(a), b, KINDS[k].unsigned),
            all_of("u32"),
            f"{{d}}, {text}",
            label=text,
        )
        for name, kind, text, bits in written
    ]


def _packed() -> list[Form]:
    forms = []
    for whole, part in (("u32", "u16"), ("u64", "u32")):
        bits = KINDS[part].bits

        def joined(a: Array, b: Array, n: int = bits, w: str = whole) -> Array:
            wide = KINDS[w].unsigned
            return b.astype(wide) << wide.type(n) | a.astype(wide)

        def split(a: Array, n: int = bits, p: str = part) -> tuple[Array, Array]:
            narrow = KINDS[p].unsigned
            return a.astype(narrow), (a >> a.dtype.type(n)).astype(narrow)

        name = f"mov.{bits_of(whole)}"
        pair, single = mixtures(part, part), all_of(whole)
        forms += [
            Form(name, (whole,), (part, part), joined, pair, "{d}, {{{a}, {b}}}", label="pack"),
            Form(name, (part, part), (whole,), split, single, "{{{d}, {e}}}, {a}", label="unpack"),
            Form(
                name, (part,), (whole,), lambda a, f=split: f(a)[1], single, "{{_, {d}}}, {a}", label="upper"
            ),
        ]
    return forms


def _four() -> list[Form]:
    """Four parts of a 32-bit or a 64-bit register."""
    forms = []
    for whole, part, register in (("u64", "u16", "%w"), ("u32", "u8", "%v")):
        bits = KINDS[part].bits
        declared = f".reg .b{bits} {register}<4>;\n "
        unpacked = f"mov.{bits_of(whole)} {{{{{register}0, {register}1, {register}2, {register}3}}}}, {{a}};"
        packed = f"{{d}}, {{{{{register}3, {register}0, {register}2, {register}1}}}}"

        def turned(a: Array, p: str = part) -> Array:
            parts = a.view(KINDS[p].unsigned).reshape(-1, 4)
            return np.ascontiguousarray(parts[:, [3, 0, 2, 1]]).view(a.dtype).ravel()

        forms.append(
            Form(
                f"mov.{bits_of(whole)}",
                (whole,),
                (whole,),
                turned,
                all_of(whole),
                packed,
                declared + unpacked,
                label=f"four {part}",
            )
        )
    return forms


def _addresses() -> list[Form]:
    """What is stored at an address is loaded through the address in the other space."""
    inputs = all_of("u32")
    forms = []
    for space in SPACES[:3]:
        store = f"st.{space.name}.u32 [%y0], {{a}};"
        forms.append(
            Form(
                f"cvta.{space.name}.u64",
                ("u32",),
                ("u32",),
                lambda a: a,
                inputs,
                "%y2, %y0",
                space.address + store,
                "ld.u32 {d}, [%y2];",
                VARIABLES,
                guarded=False,
            )
        )
        back = f"cvta.{space.name}.u64 %y1, %y0;\n "
        forms.append(
            Form(
                f"cvta.to.{space.name}.u64",
                ("u32",),
                ("u32",),
                lambda a: a,
                inputs,
                "%y2, %y1",
                space.address + back + store,
                f"ld.{space.name}.u32 {{d}}, [%y2];",
                VARIABLES,
                guarded=False,
            )
        )
    constant = ".const .b32 answer = 42;\n"
    for name, before, after in (
        ("cvta.const.u64", "mov.u64 %y0, answer;", "ld.u32 {d}, [%y2];"),
        ("cvta.to.const.u64", "mov.u64 %y1, answer;\n cvta.const.u64 %y0, %y1;", "ld.const.u32 {d}, [%y2];"),
    ):
        forms.append(
            Form(
                name,
                ("u32",),
                ("u32",),
                lambda a: np.full_like(a, 42),
                inputs,
                "%y2, %y0",
                before,
                after,
                constant,
                guarded=False,
            )
        )
    return forms


def _questions() -> list[Form]:
    """isspacep: of a generic address into each space."""
    inputs = all_of("u32")
    places: list[tuple[str, Space]] = [("global", SPACES[3])]
    places += [(name, space) for name, space in zip(("shared", "local"), GENERIC_OF_OTHERS, strict=True)]
    forms = []
    for asked in ("global", "shared", "local", "const", "shared::cta", "shared::cluster"):
        for place, space in places:
            answer = int(asked.split("::")[0] == place)
            forms.append(
                Form(
                    f"isspacep.{asked}",
                    ("pred",),
                    ("u32",),
                    lambda a, y=answer: np.full_like(a, y),
                    inputs,
                    "{d}, %y0",
                    space.address,
                    variables=VARIABLES,
                    label=f"of {place}",
                )
            )
    return forms


FORMS = [*_moves(), *_immediates(), *_packed(), *_four(), *_addresses(), *_questions()]
