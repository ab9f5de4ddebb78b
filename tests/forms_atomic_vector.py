"""atom and red of two and four floats: what each element returns and what is left in memory."""

from __future__ import annotations

from collections.abc import Callable

from forms_atomic import THREADS, sum_of
from forms_float import extreme, inputs_for, rounded
from forms_half import in_pairs
from ptx_runner import KINDS, Array, Form

SLOT = 16
VARIABLES = f".global .align {SLOT} .b8 vector_slots[{SLOT * THREADS}];\n"
ADDRESS = f"mov.u64 %y1, vector_slots;\n mad.wide.u32 %y0, %r4, {SLOT}, %y1;\n"
Update = Callable[..., Array]


def _registers(kind: str, count: int) -> tuple[str, list[str]]:
    """Declare the elements of the operand: the second input, then its neighbours in the first one's bits."""
    bits = KINDS[kind].bits
    names = [f"%n{i}" for i in range(count)]
    return f".reg .b{bits} {', '.join(names)};\n ", names


def _form(verb: str, name: str, kind: str, count: int, update: Update, inputs: tuple[Array, ...]) -> Form:
    """Every element holds the first operand; odd ones are updated with the second, its lowest bit turned."""
    bits, size = KINDS[kind].bits, KINDS[kind].bits // 8
    declared, names = _registers(kind, count)
    made = " ".join(f"xor.b{bits} {name}, {{b}}, {i & 1};\n" for i, name in enumerate(names))
    stored = " ".join(f"st.global.b{bits} [%y0+{i * size}], {{a}};\n" for i in range(count))
    old = [f"%o{i}" for i in range(count)]
    returned = f".reg .b{bits} {', '.join(old)};\n " if verb == "atom" else ""
    results = f"{{{{{', '.join(old)}}}}}, " if verb == "atom" else ""
    last = count - 1
    after = f"ld.global.b{bits} {{d}}, [%y0];\n ld.global.b{bits} {{e}}, [%y0+{last * size}];\n"
    after += f" mov.b{bits} {{f}}, {old[1]};" if verb == "atom" else ""

    def expected(a: Array, b: Array) -> tuple[Array, ...]:
        unsigned = KINDS[kind].unsigned
        turned = (b.view(unsigned) ^ unsigned.type(last & 1)).view(b.dtype)
        left = (update(a, b), update(a, turned))
        return (*left, a) if verb == "atom" else left

    return Form(
        f"{verb}.global.{name}",
        (kind,) * (3 if verb == "atom" else 2),
        (kind, kind),
        expected,
        inputs,
        f"{results}[%y0], {{{{{', '.join(names)}}}}}",
        declared + returned + ADDRESS + made + stored,
        after,
        VARIABLES,
        guarded=False,
    )


def _halves() -> list[Form]:
    forms = []
    for kind in ("f16", "bf16"):
        updates = {"add": sum_of(kind, False)}
        updates |= {name: rounded(kind, extreme(name == "max", "")) for name in ("min", "max")}
        for operation, update in updates.items():
            for count in (2, 4):
                for verb in ("atom", "red"):
                    name = f"{operation}.noftz.v{count}"
                    both = f"{kind}x2"
                    forms += [
                        _form(verb, f"{name}.{kind}", kind, count, update, inputs_for(kind, 2)),
                        _form(verb, f"{name}.{both}", both, count, in_pairs(update), inputs_for(both, 2)),
                    ]
    return forms


FORMS = [
    *(
        _form(verb, name, "f32", count, sum_of("f32", True), inputs_for("f32", 2))
        for verb in ("atom", "red")
        for count in (2, 4)
        for name in (f"add.v{count}.f32", f"v{count}.f32.add")
    ),
    *_halves(),
]
