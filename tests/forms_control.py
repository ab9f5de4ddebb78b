"""Branches, returns, barriers and fences: what threads write shows where they went."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from operand_values import all_of
from ptx_runner import BLOCK, KINDS, Array, Form, store_result

VARIABLES = f".shared .align 8 .b8 exchange[{8 * BLOCK}];\n"
NAMED = (0, 1, 15)
# A thread finds what it wrote, and what the thread across the block wrote.
OWN = "mov.u32 %x7, %tid.x;\n mov.u32 %x0, exchange;\n mad.lo.u32 %x1, %x7, 4, %x0;\n"
ACROSS = f" sub.u32 %x6, {BLOCK - 1}, %x7;\n mad.lo.u32 %x2, %x6, 4, %x0;\n"


def _form(
    name: str, expected: Callable[[Array], Array], operands: str, before: str, after: str, **more: object
) -> Form:
    inputs = all_of("u32")
    return Form(name, ("u32",), ("u32",), expected, inputs, operands, before, after, VARIABLES, **more)  # type: ignore[arg-type]


def _branches() -> list[Form]:
    there = "bra OUT;\nTHERE:\n mov.b32 {d}, {a};\nOUT:"
    return [
        _form("bra", lambda a: a, "THERE", "", there),
        _form("bra.uni", lambda a: a, "THERE", "", there, guarded=False),
        _form("bra", _sum_of_steps, "AGAIN", *_loop(), guarded=False, label="backwards"),
    ]


def _loop() -> tuple[str, str]:
    """Count down from the operand's low 5 bits, summing up; the branch back is guarded by a predicate."""
    before = "and.b32 %x0, {a}, 31;\n mov.b32 {d}, 0;\nAGAIN:\n add.u32 {d}, {d}, %x0;\n"
    before += " setp.eq.u32 %q0, %x0, 0;\n @%q0 bra DONE;\n sub.u32 %x0, %x0, 1;"
    return before, "DONE:"


def _sum_of_steps(a: Array) -> Array:
    steps = a & 31
    return steps * (steps + 1) // 2


def _ends() -> list[Form]:
    """Those who leave keep what they stored; the others go on and store something else."""
    stored = "mov.b32 {d}, {a};\n " + store_result("d", "u32", 0)
    return [
        _form(name, lambda a: a, "", stored, f"mov.b32 {{d}}, {KINDS['u32'].sentinel};")
        for name in ("ret", "exit")
    ]


def _across(a: Array) -> Array:
    return a.reshape(-1, BLOCK)[:, ::-1].ravel()


def _barriers() -> list[Form]:
    before, after = OWN + ACROSS + "st.shared.u32 [%x1], {a};", "ld.shared.u32 {d}, [%x2];"
    forms = []
    for name in (
        "bar.sync",
        "barrier.sync",
        "barrier.sync.aligned",
        "bar.cta.sync",
        "barrier.cta.sync.aligned",
    ):
        for number in NAMED:
            for count in ("", f", {BLOCK}"):
                forms.append(
                    _form(
                        name,
                        _across,
                        f"{number}{count}",
                        before,
                        after,
                        guarded=False,
                        label=f"{number}{count}",
                    )
                )
    return forms


def _reductions() -> list[Form]:
    def of_blocks(function: Callable[[Array], Array]) -> Callable[[Array], Array]:
        def expected(a: Array) -> Array:
            rows = (a & 1).reshape(-1, BLOCK)
            rows[0] = 0
            rows[1] = 1
            return np.repeat(function(rows), BLOCK).astype(np.uint32)

        return expected

    # The first two blocks agree: none and all.
    odd = "and.b32 %x0, {a}, 1;\n setp.eq.u32 %q0, %r1, 1;\n @%q0 mov.u32 %x0, 1;\n"
    odd += " setp.eq.u32 %q0, %r1, 0;\n @%q0 mov.u32 %x0, 0;\n setp.ne.u32 %q0, %x0, 0;"
    flag = "selp.u32 {d}, 1, 0, %q1;"
    forms = []
    for prefix in ("bar.red", "barrier.red", "barrier.cta.red"):
        forms += [
            _form(
                f"{prefix}.popc.u32",
                of_blocks(lambda r: r.sum(axis=1)),
                "{d}, 0, %q0",
                odd,
                "",
                guarded=False,
            ),
            _form(
                f"{prefix}.and.pred",
                of_blocks(lambda r: r.all(axis=1)),
                "%q1, 0, %q0",
                odd,
                flag,
                guarded=False,
            ),
            _form(
                f"{prefix}.or.pred",
                of_blocks(lambda r: r.any(axis=1)),
                "%q1, 0, %q0",
                odd,
                flag,
                guarded=False,
            ),
        ]
    return forms


def _arrivals() -> list[Form]:
    """The first half writes and does not wait; the second half waits, then reads what the first wrote."""
    half = BLOCK // 2
    before = OWN + ACROSS + f"setp.ge.u32 %q0, %x7, {half};\n mov.b32 {{d}}, {{a}};\n @%q0 bra READ;\n"
    before += " st.shared.u32 [%x1], {a};"
    after = f"bra OUT;\nREAD:\n bar.sync 3, {BLOCK};\n ld.shared.u32 {{d}}, [%x2];\nOUT:"

    def expected(a: Array) -> Array:
        rows = a.reshape(-1, BLOCK)
        return np.concatenate([rows[:, :half], rows[:, half - 1 :: -1]], axis=1).ravel()

    return [
        _form(name, expected, f"3, {BLOCK}", before, after, guarded=False)
        for name in ("bar.arrive", "barrier.arrive", "barrier.cta.arrive")
    ]


def _fences() -> list[Form]:
    """A thread sees what it wrote, fence or not."""
    names = [
        "membar.cta",
        "membar.gl",
        "membar.sys",
        "fence.acq_rel.gpu",
        "fence.sc.cta",
        "fence.acq_rel.sys",
    ]
    before, after = OWN + "st.shared.u32 [%x1], {a};", "ld.shared.u32 {d}, [%x1];"
    return [_form(name, lambda a: a, "", before, after, guarded=False) for name in names]


FORMS = [*_branches(), *_ends(), *_barriers(), *_reductions(), *_arrivals(), *_fences()]
