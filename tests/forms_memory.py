"""ld and st in every space, width and vector length, and what parameters, tables and constants hold."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from operand_values import all_of, mixtures
from ptx_runner import BLOCK, KINDS, Array, Form

THREADS = 4096
SLOT = 32  # bytes each thread has of every space
VARIABLES = (
    f".global .align {SLOT} .b8 slots[{SLOT * THREADS}];\n"
    f".shared .align {SLOT} .b8 block_slots[{SLOT * BLOCK}];\n"
)
ELEMENTS = ("b8", "u8", "s8", "b16", "u16", "s16", "b32", "u32", "s32", "f32", "b64", "u64", "s64", "f64")


@dataclass(frozen=True)
class Space:
    """A state space: what stands between the opcode and the type, and how a thread finds its slot."""

    name: str
    address: str

    @property
    def infix(self) -> str:
        return f".{self.name}" if self.name else ""


_GLOBAL = f"mov.u64 %y1, slots;\n mad.wide.u32 %y0, %r4, {SLOT}, %y1;\n"
_SHARED = f"mov.u64 %y1, block_slots;\n mov.u32 %x7, %tid.x;\n mad.wide.u32 %y0, %x7, {SLOT}, %y1;\n"
_LOCAL = f".local .align {SLOT} .b8 mine[{2 * SLOT}];\n mov.u64 %y0, mine;\n"
SPACES = (
    Space("global", _GLOBAL),
    Space("shared", _SHARED),
    Space("local", _LOCAL),
    Space("", _GLOBAL + " cvta.global.u64 %y0, %y0;\n"),
)
GENERIC_OF_OTHERS = (
    Space("", _SHARED + " cvta.shared.u64 %y0, %y0;\n"),
    Space("", _LOCAL + " cvta.local.u64 %y0, %y0;\n"),
)


def held_as(element: str) -> str:
    """Return the kind of a value of this type."""
    return f"u{element[1:]}" if element[0] == "b" else element


def bits_of(element: str) -> str:
    return f"b{element[1:]}"


def _load(space: Space, element: str, modifiers: str = "", result: str = "", label: str = "") -> Form:
    kind = held_as(element)
    result = result or kind

    def expected(a: Array) -> Array:
        if result == kind:
            return a
        return a.astype(KINDS[result].dtype)

    store = f"st{space.infix}.{bits_of(element)} [%y0+8], {{a}};"
    name = f"ld{modifiers or space.infix}.{element}"
    inputs = all_of(kind)
    return Form(
        name,
        (result,),
        (kind,),
        expected,
        inputs,
        "{d}, [%y0+8]",
        space.address + store,
        variables=VARIABLES,
        label=label,
    )


def _store(space: Space, element: str) -> Form:
    kind = held_as(element)
    zero = f"mov.b64 %y2, 0;\n st{space.infix}.b64 [%y0], %y2;\n"
    # Where a thread does not store, the result stays what it was: it is stored before.
    before = space.address + zero + f" st{space.infix}.{bits_of(element)} [%y0], {{d}};"
    after = f"ld{space.infix}.{bits_of(element)} {{d}}, [%y0];"
    inputs = all_of(kind)
    name = f"st{space.infix}.{element}"
    return Form(name, (kind,), (kind,), lambda a: a, inputs, "[%y0], {a}", before, after, VARIABLES)


def _fourth(element: str) -> str:
    """Return a register for a fourth element: the first of the others, its bits turned."""
    return {"8": "%h4", "16": "%h4", "32": "%x4", "64": "%y3"}[element[1:]]


def _made_of_first(element: str) -> str:
    bits = {"8": "b16", "16": "b16", "32": "b32", "64": "b64"}[element[1:]]
    register = _fourth(element)
    declared = f".reg .b16 {register};\n " if bits == "b16" else ""
    return f"{declared}not.{bits} {register}, {{a}};\n"


def _elements(element: str, count: int) -> list[str]:
    return ["{a}", "{b}", "{c}", _fourth(element)][:count]


def _turned(a: Array) -> Array:
    return ~a.view(f"u{a.itemsize}")


def _vector(space: Space, element: str, count: int, modifiers: str = "") -> list[Form]:
    kind, size = held_as(element), int(element[1:]) // 8
    sources = (kind,) * min(count, 3)
    inputs = mixtures(*sources, count=256)
    registers = _elements(element, count)
    made = _made_of_first(element) if count == 4 else ""
    singles = " ".join(
        f"st{space.infix}.{bits_of(element)} [%y0+{i * size}], {register};\n"
        for i, register in enumerate(registers)
    )

    def all_of(*arrays: Array) -> tuple[Array, ...]:
        return (*arrays, _turned(arrays[0]))[:count]

    # Of 32 bytes: since sm_100.
    target = 100 if size * count > 16 else 90
    names = ["{d}", "{e}", "{f}", "{g}"][:count]
    single_loads = " ".join(
        f"ld{space.infix}.{bits_of(element)} {name}, [%y0+{i * size}];\n" for i, name in enumerate(names)
    )
    kept = " ".join(
        f"st{space.infix}.{bits_of(element)} [%y0+{i * size}], {name};\n" for i, name in enumerate(names)
    )
    load = Form(
        f"ld{modifiers or space.infix}.v{count}.{element}",
        (kind,) * count,
        sources,
        all_of,
        inputs,
        f"{{{{{', '.join(names)}}}}}, [%y0]",
        space.address + made + singles,
        variables=VARIABLES,
        target=target,
    )
    store = Form(
        f"st{space.infix}.v{count}.{element}",
        (kind,) * count,
        sources,
        all_of,
        inputs,
        f"[%y0], {{{{{', '.join(registers)}}}}}",
        space.address + made + kept,
        single_loads,
        VARIABLES,
        target=target,
    )
    return [load] if modifiers else [load, store]


def _widened() -> list[Form]:
    """A register may be wider than what is loaded: the type says how it is extended."""
    pairs = [("s8", "s16"), ("u8", "u16"), ("s8", "s32"), ("u8", "u32"), ("s16", "s32"), ("u16", "u32")]
    pairs += [("s8", "s64"), ("s16", "s64"), ("s32", "s64"), ("u32", "u64"), ("u8", "u64")]
    return [
        _load(space, element, result=result, label=f"into {result}")
        for space in SPACES[:3]
        for element, result in pairs
    ]


def _narrowed() -> list[Form]:
    """A store takes the low bits of a wider register."""
    forms = []
    for element, source in (("u8", "u32"), ("u16", "u32"), ("u32", "u64"), ("u8", "u64")):
        kept = np.dtype(KINDS[element].dtype)
        after = f"ld.global.{bits_of(element)} {{d}}, [%y0];"
        forms.append(
            Form(
                f"st.global.{element}",
                (element,),
                (source,),
                lambda a, k=kept: a.astype(k),
                all_of(source),
                "[%y0], {a}",
                _GLOBAL,
                after,
                VARIABLES,
                f"from {source}",
                guarded=False,
            )
        )
    return forms


def _hinted() -> list[Form]:
    """Caches, scopes and orders change nothing of what one thread sees."""
    names = (".global.nc", ".global.ca", ".global.cg", ".global.cs", ".global.lu", ".volatile.global")
    names += (".relaxed.gpu.global", ".acquire.sys.global", ".global.nc.L1::no_allocate.L2::128B")
    forms = [_load(SPACES[0], element, name) for name in names for element in ("u32", "f32", "u64")]
    forms += [_load(SPACES[1], "u32", name) for name in (".volatile.shared", ".relaxed.cta.shared::cta")]
    forms += [_load(SPACES[0], "u32", ".volatile"), _load(SPACES[0], "u32", ".acquire.gpu")]
    for name in (".global.nc", ".global.nc.L1::no_allocate.L2::128B", ".global.L1::evict_last"):
        forms += [
            *_vector(SPACES[0], "f32", 4, name),
            *_vector(SPACES[0], "u32", 4, name),
            *_vector(SPACES[0], "u64", 2, name),
        ]
    for suffix in (".global.cs", ".global.wt", ".release.gpu.global", ".volatile.global"):
        plain = _store(SPACES[0], "u32")
        forms.append(
            Form(
                f"st{suffix}.u32",
                plain.results,
                plain.sources,
                plain.expected,
                plain.inputs,
                plain.operands,
                plain.before,
                plain.after,
                plain.variables,
            )
        )
    return forms


def _parameters() -> list[Form]:
    """The value of a parameter, of every type, in registers as wide or wider."""
    bits = 0xF1E2D3C4B5A69788
    forms = []
    for element in ELEMENTS:
        wider = {"s8": "s32", "s16": "s32", "s32": "s64"}.get(element)
        for result in [held_as(element), *([wider] if wider else [])]:
            kind = held_as(element)
            value = np.array([bits & (1 << KINDS[kind].bits) - 1], KINDS[kind].unsigned).view(
                KINDS[kind].dtype
            )

            def expected(a: Array, v: Array = value, r: str = result, k: str = kind) -> Array:
                cast = v if r == k else v.astype(KINDS[r].dtype)
                return np.full(len(a), cast[0], cast.dtype)

            forms.append(
                Form(
                    f"ld.param.{element}",
                    (result,),
                    ("u32",),
                    expected,
                    all_of("u32"),
                    "{d}, [s0]",
                    scalars=(
                        (
                            held_as(element).replace("f", "u").replace("s", "u"),
                            int(value.view(KINDS[kind].unsigned)[0]),
                        ),
                    ),
                    label=f"into {result}",
                )
            )
    return forms


def _constants() -> list[Form]:
    """A table in constant memory, initialised by the module, at an index of each thread's own."""
    words = [(0x9E3779B9 * (i + 1)) & 0xFFFFFFFF for i in range(64)]
    variables = f".const .align 16 .b32 table[64] = {{{', '.join(map(str, words))}}};\n"
    table = np.array(words, dtype=np.uint32)
    forms = []
    for element in ("b8", "u8", "s8", "u16", "s16", "u32", "s32", "f32", "b32", "u64", "f64", "b64"):
        kind = held_as(element)
        values = table.view(KINDS[kind].dtype)

        def expected(a: Array, v: Array = values) -> Array:
            return v[a.astype(np.int64) % len(v)]

        before = f"rem.u32 %x0, {{a}}, {len(values)};\n mov.u64 %y1, table;\n"
        before += f" mad.wide.u32 %y0, %x0, {KINDS[kind].bits // 8}, %y1;"
        forms.append(
            Form(
                f"ld.const.{element}",
                (kind,),
                ("u32",),
                expected,
                all_of("u32"),
                "{d}, [%y0]",
                before,
                variables=variables,
            )
        )
    return forms


def _once() -> list[Form]:
    """ldu: a load whose address all lanes share."""
    value = np.uint32(0xC0FFEE01)
    expected: Callable[[Array], Array] = lambda a: np.full(len(a), value)  # noqa: E731
    variables = f".global .b32 shared_by_all = {int(value)};\n"
    before = "mov.u64 %y0, shared_by_all;"
    inputs = all_of("u32")
    return [
        Form(
            "ldu.global.u32", ("u32",), ("u32",), expected, inputs, "{d}, [%y0]", before, variables=variables
        )
    ]


FORMS = [
    *(
        each
        for space in SPACES
        for element in ELEMENTS
        for each in (_load(space, element), _store(space, element))
    ),
    *(
        each
        for space in SPACES
        for element in ("u8", "b16", "u32", "f32", "b32", "s32", "u64", "f64", "b64")
        for each in _vector(space, element, 2)
    ),
    *(
        each
        for space in SPACES
        for element in ("u8", "b16", "u32", "f32", "b32", "s32", "b64")
        for each in _vector(space, element, 4)
        if element != "b64" or space.name == "global"
    ),
    *(_load(space, "u32", label=f"window {i}") for i, space in enumerate(GENERIC_OF_OTHERS)),
    *_widened(),
    *_narrowed(),
    *_hinted(),
    *_parameters(),
    *_constants(),
    *_once(),
]
