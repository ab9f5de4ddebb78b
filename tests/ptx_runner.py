"""Runs one PTX instruction on arrays: load the operands, execute it, store the results."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from harness_client import LOAD, Json, Served, launch, request

BLOCK = 128

Array = np.ndarray[Any, np.dtype[Any]]


@dataclass(frozen=True)
class Kind:
    """How a value lies in arrays and registers, and a value nothing computes by chance."""

    dtype: type[np.generic]
    register: str  # "h" 16 bits, "r" 32, "d" 64, "p" predicate

    @property
    def bits(self) -> int:
        return np.dtype(self.dtype).itemsize * 8

    @property
    def unsigned(self) -> np.dtype[Any]:
        return np.dtype(f"u{self.bits // 8}")

    @property
    def sentinel(self) -> int:
        return 1 if self.register == "p" else 0x5A5A5A5A5A5A5A5A & ((1 << self.bits) - 1)


# f16 and bf16 are held as their bits, one or two of them.
KINDS = {
    "pred": Kind(np.uint32, "p"),
    "u8": Kind(np.uint8, "h"),
    "s8": Kind(np.int8, "h"),
    "u16": Kind(np.uint16, "h"),
    "s16": Kind(np.int16, "h"),
    "f16": Kind(np.uint16, "h"),
    "bf16": Kind(np.uint16, "h"),
    "u32": Kind(np.uint32, "r"),
    "s32": Kind(np.int32, "r"),
    "f32": Kind(np.float32, "r"),
    "f16x2": Kind(np.uint32, "r"),
    "bf16x2": Kind(np.uint32, "r"),
    "u64": Kind(np.uint64, "d"),
    "s64": Kind(np.int64, "d"),
    "f64": Kind(np.float64, "d"),
}


@dataclass(frozen=True)
class Form:
    """One instruction: its name, the kinds of its results and operands, and what it should give.

    `expected` takes one array per operand and returns one per result. `bound` (expected, got) -> bool
    array replaces bit equality. `operands` overrides the text after the name: `{d}` to `{g}` results,
    `{a}`, `{b}`, `{c}` operands. `before` and `after` are instructions around it; `%x0` to `%x7`, `%y0` to
    `%y3` and `%q0` to `%q3` are 32-bit, 64-bit and predicate registers they may use, `%r4` is the thread's
    number. `variables` go before the kernels. `scalars` are further parameters `s0`, `s1`: type, bits.
    `target` is the least GPU that has the instruction.
    """

    name: str
    results: tuple[str, ...]
    sources: tuple[str, ...]
    expected: Callable[..., Any]
    inputs: tuple[Array, ...]
    operands: str | None = None
    before: str = ""
    after: str = ""
    variables: str = ""
    label: str = ""
    bound: Callable[[Array, Array], Array] | None = None
    guarded: bool = True
    scalars: tuple[tuple[str, int], ...] = ()
    target: int = 90

    @property
    def id(self) -> str:
        return self.name + (f"[{self.label}]" if self.label else "")


@dataclass(frozen=True)
class Outcome:
    """Results as unsigned bit patterns: with every thread executing, and with some."""

    whole: list[Array]
    some: list[Array] = field(default_factory=list)


def executing(count: int) -> Array:
    """Return which threads execute in the guarded run."""
    return (np.arange(count) & 5) != 0


def _name(letter: str, kind: Kind) -> str:
    return f"%{letter}{kind.register}"


def _load(letter: str, kind: Kind, index: int) -> str:
    name = _name(letter, kind)
    address = f"ld.param.u64 %rd1, [in{index}];\n mul.wide.u32 %rd2, %r4, {kind.bits // 8};\n"
    address += " add.s64 %rd1, %rd1, %rd2;\n"
    if kind.register == "p":
        return address + f" ld.global.u32 %r5, [%rd1];\n setp.ne.u32 {name}, %r5, 0;\n"
    return address + f" ld.global.b{kind.bits} {name}, [%rd1];\n"


def store_result(letter: str, kind: str, index: int) -> str:
    """Return instructions that store a result's register where the result is read."""
    return _store(letter, KINDS[kind], index)


def _store(letter: str, kind: Kind, index: int) -> str:
    name = _name(letter, kind)
    address = f"ld.param.u64 %rd1, [out{index}];\n mul.wide.u32 %rd2, %r4, {kind.bits // 8};\n"
    address += " add.s64 %rd1, %rd1, %rd2;\n"
    if kind.register == "p":
        return address + f" selp.u32 %r5, 1, 0, {name};\n st.global.u32 [%rd1], %r5;\n"
    return address + f" st.global.b{kind.bits} [%rd1], {name};\n"


def _initial(letter: str, kind: Kind) -> str:
    if kind.register == "p":
        return f"setp.eq.u32 {_name(letter, kind)}, %r4, %r4;\n"
    bits = max(kind.bits, 16)
    return f"mov.b{bits} {_name(letter, kind)}, {kind.sentinel};\n"


def _declarations(letters: str) -> str:
    classes = {"h": "b16", "r": "b32", "d": "b64", "p": "pred"}
    return "".join(
        f".reg .{register} {', '.join(f'%{letter}{short}' for letter in letters)};\n "
        for short, register in classes.items()
    )


def kernel_text(form: Form, entry: str, guarded: bool) -> str:
    """Return an entry that executes the instruction in every thread, or in those of `executing`."""
    sources = dict(zip("abc", (KINDS[kind] for kind in form.sources), strict=False))
    results = dict(zip("defg", (KINDS[kind] for kind in form.results), strict=False))
    parameters = [f".param .u64 out{i}" for i in range(len(results))]
    parameters += [f".param .u64 in{i}" for i in range(len(sources))]
    parameters += [f".param .{kind} s{i}" for i, (kind, _) in enumerate(form.scalars)]
    names = {letter: _name(letter, kind) for letter, kind in {**sources, **results}.items()}
    listed = "|".join(f"{{{letter}}}" for letter in results)
    operands = form.operands
    if operands is None:
        operands = ", ".join([listed, *(f"{{{letter}}}" for letter in sources)])
    text = f".visible .entry {entry}({', '.join(parameters)})\n{{\n {_declarations('abcdefg')}"
    text += ".reg .b32 %r<8>, %x<8>;\n .reg .b64 %rd<4>, %y<4>;\n .reg .pred %q<4>, %guard;\n"
    text += " mov.u32 %r1, %ctaid.x;\n mov.u32 %r2, %ntid.x;\n mov.u32 %r3, %tid.x;\n"
    text += " mad.lo.s32 %r4, %r1, %r2, %r3;\n and.b32 %r6, %r4, 5;\n setp.ne.u32 %guard, %r6, 0;\n "
    text += " ".join(_initial(letter, kind) for letter, kind in results.items())
    text += " ".join(_load(letter, kind, i) for i, (letter, kind) in enumerate(sources.items()))
    guard = "@%guard " if guarded else ""
    text += f" {form.before.format(**names)}\n {guard}{form.name} {operands.format(**names)};\n"
    text += f" {form.after.format(**names)}\n "
    text += " ".join(_store(letter, kind, i) for i, (letter, kind) in enumerate(results.items()))
    return text + " ret;\n}\n"


HEADER = ".version 8.4\n.target sm_90\n.address_size 64\n"


def header(target: int) -> str:
    """Return the first lines of a module for GPUs from `target` on."""
    return HEADER if target <= 90 else HEADER.replace("8.4", "8.8").replace("sm_90", f"sm_{target}a")


def module_text(form: Form) -> str:
    """Return the PTX of both kernels: `whole`, and `some` if the instruction can be guarded."""
    entries = ["whole", "some"] if form.guarded else ["whole"]
    kernels = "".join(kernel_text(form, entry, entry == "some") for entry in entries)
    return header(form.target) + form.variables + kernels


def _scalar(kind: str, bits: int) -> Json:
    size = int(kind[1:]) // 8
    return {"scalar": f"u{8 * size}", "value": bits.to_bytes(size, "little").hex()}


def _buffers(form: Form, folder: Path, count: int) -> list[Json]:
    buffers: list[Json] = []
    for i, array in enumerate(form.inputs):
        (folder / f"in{i}.bin").write_bytes(array.tobytes())
        buffers.append(
            {"name": f"in{i}", "bytes": array.nbytes, "access": "read", "initial_file": f"in{i}.bin"}
        )
    for name in ("whole", "some"):
        for i, kind in enumerate(form.results):
            size = KINDS[kind].bits // 8
            buffers.append(
                {"name": f"{name}{i}", "bytes": size * count, "access": "write", "element_bytes": size}
            )
    return buffers


def execute(form: Form, harness: Served, folder: Path, isa: str) -> Outcome:
    """Run `form` over its inputs with the handlers of `isa`; raise AssertionError with the fault's text."""
    return _execute(form, harness, folder, {"sim": {"threads": 1, "isa": isa}})


def execute_on_gpu(form: Form, harness: Served, folder: Path) -> Outcome:
    """Run `form` over its inputs on the first GPU, whose driver takes PTX where it takes a cubin."""
    (folder / "form.image").write_bytes(module_text(form).encode() + b"\0")
    return _execute(form, harness, folder, {"device": "cuda:0"}, cubin_file="form.image")


def _execute(form: Form, harness: Served, folder: Path, device: Json, **module_members: str) -> Outcome:
    count = len(form.inputs[0])
    assert count % BLOCK == 0
    assert all(len(array) == count for array in form.inputs)
    text = module_text(form)
    (folder / "form.ptx").write_text(text)
    entries = ["whole", "some"] if form.guarded else ["whole"]
    sources: Sequence[Json] = [{"buffer": f"in{i}"} for i in range(len(form.inputs))]
    scalars = [_scalar(kind, bits) for kind, bits in form.scalars]
    steps: list[Json] = [LOAD]
    for entry in entries:
        outputs = [{"buffer": f"{entry}{i}"} for i in range(len(form.results))]
        steps.append(launch(entry, *outputs, *sources, *scalars, grid=count // BLOCK, block=BLOCK))
        steps += [{"do": "read", "buffer": o["buffer"], "file": f"n0-{o['buffer']}.bin"} for o in outputs]
    module: Json = {"name": "m", "file": "form.ptx", "ptx_file": "form.ptx", **module_members}
    module["entries"] = [{"name": entry} for entry in entries]
    asked = request(
        *steps, directory=str(folder), modules=[module], buffers=_buffers(form, folder, count), **device
    )
    answer = harness.ask(asked)
    assert answer["status"] == "ok", f"{answer['fault']['message']}\n{text}"

    def read(entry: str) -> list[Array]:
        return [
            np.fromfile(folder / f"n0-{entry}{i}.bin", dtype=KINDS[kind].unsigned)
            for i, kind in enumerate(form.results)
        ]

    return Outcome(read("whole"), read("some") if form.guarded else [])
