"""Compile a candidate through the harness, and remember what the compiler answered."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar

from pytest_cudaopt import directives, macros, protocol
from pytest_cudaopt.cache import cache_folder, remember
from pytest_cudaopt.candidate import Candidate
from pytest_cudaopt.cases import Case
from pytest_cudaopt.closure import close
from pytest_cudaopt.compile_notes import with_notes
from pytest_cudaopt.declared import Kernel
from pytest_cudaopt.device import Device
from pytest_cudaopt.errors import CudaoptError, DeclarationError, EnvironmentFault, HarnessError
from pytest_cudaopt.evaluation import Budget, Diagnostic, Resources
from pytest_cudaopt.finding import Finding, FindingKind
from pytest_cudaopt.formals import StructLayout, constants, cuda_types, declared_as, struct_layouts
from pytest_cudaopt.instances import Instance, distinct
from pytest_cudaopt.protocol import Entry, Member, Module, Struct, Symbol
from pytest_cudaopt.rewritten import Rewritten, rewrite
from pytest_cudaopt.wire import from_json, to_json

_T = TypeVar("_T")

MODULE = "candidate"
_STANDARD = "-std=c++17"


@dataclass(frozen=True)
class Compiled:
    """A compiled candidate: `module` loads from files in the device's scratch folder.

    `source` compiles for `sim`, with line tables.
    """

    module: Module
    source: Module
    diagnostics: tuple[Diagnostic, ...]

    def entry_of(self, instance: Instance) -> str:
        """Return what launches name; raise HarnessError if the module does not hold `instance`."""
        entries = [entry.name for entry in self.module.entries]
        if instance.entry not in entries:
            raise HarnessError(
                "compiled module", expected=f"an entry '{instance.entry}'", got=", ".join(entries)
            )
        return instance.entry

    def resources_of(self, instance: Instance) -> Resources:
        """Return what a launch of `instance` takes; raise HarnessError as `entry_of` does."""
        return self.resources[self.entry_of(instance)]

    @property
    def resources(self) -> dict[str, Resources]:
        """What each entry takes."""
        lowered, resources = self.module.lowered or {}, self.module.resources or {}
        return {entry.name: resources[lowered[entry.name]] for entry in self.module.entries}


@dataclass(frozen=True)
class CompileFailure:
    """Why there is nothing to run."""

    finding: Finding
    diagnostics: tuple[Diagnostic, ...]


def compile_candidate(
    kernel: Kernel, candidate: Candidate, device: Device, budget: Budget, cases: Iterable[Case] = ()
) -> Compiled | CompileFailure:
    """Compile `candidate` for `device`, or take the answer from the user's cache.

    The module holds every instance the declared cases need, and those of `cases`. Raises DeclarationError for
    a compiler option that is not allowed.
    """
    texts = _texts(kernel, candidate, device)
    source = _module(kernel, candidate, texts, device, cases)
    key = _key(source, device)
    remembered = cache_folder() / "compile" / f"{key}.json"
    # Nothing but what is in `source` and a toolchain of this release can have been included.
    product = _recall(remembered)
    if product is None:
        answer = _compile(source, key, kernel, device, budget)
        if isinstance(answer, CompileFailure):
            return _with_notes(answer, kernel, texts)
        product = answer
        _remember(remembered, product)
    return _compiled(kernel, source, key, product, device)


def source_module(kernel: Kernel, candidate: Candidate, device: Device, cases: Iterable[Case] = ()) -> Module:
    """Return the module to compile: source, options, headers, and the signatures to check.

    Its entries are those of `compile_candidate`.
    """
    return _module(kernel, candidate, _texts(kernel, candidate, device), device, cases)


def _module(
    kernel: Kernel, candidate: Candidate, texts: Rewritten, device: Device, cases: Iterable[Case]
) -> Module:
    needed = distinct((*kernel.instances, *(kernel.at(case) for case in cases)))
    return Module(
        name=MODULE,
        file=candidate.file,
        source=texts.source,
        options=_options(kernel, candidate),
        include=device.toolchain.include,
        headers={**texts.headers, macros.HEADER: _macros(candidate)},
        entries=tuple(Entry(one.entry, cuda_types(one.parameters)) for one in needed),
        structs=_once(_struct(layout) for one in needed for layout in struct_layouts(one.parameters)),
        symbols=_once(
            Symbol(p.symbol, p.dtype.cuda) for one in needed for p in constants(one.parameters) if p.symbol
        ),
        architecture=device.limits.architecture,
        # A GPU never says at which line it failed; without them, compiling takes half the time.
        line_tables=not device.is_gpu,
    )


def _once(values: Iterable[_T]) -> tuple[_T, ...]:
    return tuple(dict.fromkeys(values))


def _struct(layout: StructLayout) -> Struct:
    members = (Member(m.parameter.name, m.offset, m.parameter.cuda_types) for m in layout.members)
    return Struct(layout.type_name, layout.bytes, tuple(members))


@dataclass(frozen=True)
class _Product:
    """What compiling gave, complete in itself."""

    ptx: str
    cubin_base64: str
    resources: dict[str, Resources] = field(default_factory=dict)
    lowered: dict[str, str] = field(default_factory=dict)
    diagnostics: tuple[Diagnostic, ...] = ()


def _options(kernel: Kernel, candidate: Candidate) -> tuple[str, ...]:
    try:
        asked = tuple(directives.allowed_option(option) for option in candidate.options)
    except CudaoptError as error:
        raise DeclarationError(
            f"kernel '{kernel.name}': {error.what}",
            expected=error.expected,
            got=error.got,
            at=kernel.location,
        ) from error
    standard = () if any(option.startswith("-std=") for option in asked) else (_STANDARD,)
    return (*standard, *asked, f"--pre-include={macros.HEADER}")


def _macros(candidate: Candidate) -> str:
    """Return the header that defines tunables and `defines`."""
    tunables = ((name, str(value)) for name, value in candidate.tunables)
    return macros.as_header((*tunables, *candidate.defines))


def _texts(kernel: Kernel, candidate: Candidate, device: Device) -> Rewritten:
    closure = candidate.closure
    if closure is None or closure.source.text != candidate.source:
        closure = close(candidate.source, kernel.place)
    return rewrite(closure, device.toolchain.has_header)


def _with_notes(failure: CompileFailure, kernel: Kernel, texts: Rewritten) -> CompileFailure:
    """Say what is known of the cause: names that nvcc would have known, headers that were empty."""
    if failure.finding.kind is not FindingKind.COMPILE_ERROR:
        return failure
    diagnostics, note = with_notes(failure.diagnostics, texts.stubbed, declared_as(kernel.parameters))
    message = failure.finding.message + (f" ({note})" if note else "")
    return CompileFailure(replace(failure.finding, message=message), diagnostics)


def _key(source: Module, device: Device) -> str:
    binary = device.harness.binary.stat()
    parts = [
        to_json(source),
        device.toolchain.nvrtc,
        device.toolchain.version,
        device.toolchain.header_version,
        device.toolchain.stamp,
        protocol.PROTOCOL_VERSION,
        # The harness generates code around the source: another build is another compiler.
        f"{binary.st_size}-{binary.st_mtime_ns}",
    ]
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def _compile(
    source: Module, key: str, kernel: Kernel, device: Device, budget: Budget
) -> _Product | CompileFailure:
    ptx, cubin = device.scratch / f"{key}.ptx", device.scratch / f"{key}.cubin"
    request = replace(
        device.new_request(f"{kernel.name}/compile"),
        modules=(replace(source, ptx_file=str(ptx), cubin_file=str(cubin)),),
        steps=(protocol.Compile(MODULE),),
        timeout_s=budget.timeout_s,
    )
    answer = device.ask(request)
    if answer.fault is not None:
        return CompileFailure(_with_hint(answer.fault, kernel), answer.diagnostics)
    step = answer.step("compile")
    try:
        text, binary = ptx.read_text(), cubin.read_bytes()
    except OSError as error:
        raise HarnessError(
            f"request '{request.id}'", expected="the files it was asked for", got=str(error)
        ) from error
    return _Product(
        text, base64.b64encode(binary).decode(), dict(step.resources), dict(step.lowered), step.diagnostics
    )


def _with_hint(fault: Finding, kernel: Kernel) -> Finding:
    """Say where the name of an entry comes from, which the harness cannot know."""
    if fault.kind is not FindingKind.UNKNOWN_ENTRY:
        return fault
    how = f"reference='{kernel.source.name}::ENTRY'" if kernel.is_reference else "entry="
    hint = f"Name it with {how}; without, it is called as the declared function."
    return replace(fault, message=f"{fault.message} {hint}")


def _compiled(kernel: Kernel, source: Module, key: str, product: _Product, device: Device) -> Compiled:
    ptx, cubin = device.scratch / f"{key}.ptx", device.scratch / f"{key}.cubin"
    if not ptx.exists():
        try:
            cubin.write_bytes(base64.b64decode(product.cubin_base64))
            # Last, since its presence says that both are there.
            ptx.write_text(product.ptx)
        except OSError as error:
            ptx.unlink(missing_ok=True)
            raise EnvironmentFault(
                f"scratch files in {device.scratch}",
                expected="to be written",
                got=error.strerror or str(error),
                next_step="Free some space, or point TMPDIR at another folder",
            ) from error
    for entry in source.entries:
        if product.lowered.get(entry.name) not in product.resources:
            raise HarnessError(
                f"compiled kernel '{kernel.name}'",
                expected=f"resources of '{entry.name}'",
                got=", ".join(product.resources) or "none",
            )
    module = Module(
        name=MODULE,
        file=source.file,
        entries=tuple(Entry(entry.name) for entry in source.entries),
        architecture=source.architecture,
        ptx_file=str(ptx),
        cubin_file=str(cubin),
        lowered=product.lowered,
        resources=product.resources,
    )
    return Compiled(module, replace(source, line_tables=True), product.diagnostics)


def _remember(path: Path, product: _Product) -> None:
    body = json.dumps(to_json(product), sort_keys=True)
    remember(path, json.dumps({"sha256": _digest(body), "body": body}).encode())


def _recall(path: Path) -> _Product | None:
    """Return what was remembered; None if there is nothing, or nothing that can be trusted."""
    try:
        stored: Any = json.loads(path.read_text())
        body = stored["body"]
        if stored["sha256"] != _digest(body):
            return None
        return from_json(_Product, json.loads(body), "cached compile answer")
    except (OSError, ValueError, KeyError, TypeError, AttributeError, HarnessError):
        return None


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
