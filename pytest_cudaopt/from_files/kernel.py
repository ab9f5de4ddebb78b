"""A declared kernel from its files."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from pytest_cudaopt import instances
from pytest_cudaopt.cases import Case
from pytest_cudaopt.declaration_checks import require_sound
from pytest_cudaopt.declared import Kernel
from pytest_cudaopt.declared_thresholds import declared_gate
from pytest_cudaopt.errors import CudaoptError, DeclarationError, SourceLocation, why_unreadable
from pytest_cudaopt.from_files.cases import ROOT, read_cases
from pytest_cudaopt.from_files.fields import read_json
from pytest_cudaopt.from_files.reference import LoadedReference, load_reference
from pytest_cudaopt.from_files.signature import Signature, read_signature


@dataclass(frozen=True)
class KernelFiles:
    """Paths as the user named them; `reference` may end in `::NAME`."""

    signature: str
    reference: str
    initial_kernel: str
    input_cases: str


def kernel_of(files: KernelFiles) -> Kernel:
    """Read the files and return the kernel they declare, checked as a declaration in a test module is.

    Raises DeclarationError for anything that is missing or wrong, with the file and the place in it.
    """
    path = Path(files.signature).absolute()
    signature = read_signature(read_json(path, files.signature, "signature"), path.parent)
    written = read_cases(
        read_json(Path(files.input_cases).absolute(), files.input_cases, "input cases", ROOT)
    )
    source = _source(files.initial_kernel)
    loaded = load_reference(files.reference, signature)
    try:
        return assembled(signature, written, source, loaded, SourceLocation(str(path), 1))
    except CudaoptError as error:
        file = files.input_cases if error.what.startswith(ROOT) else files.signature
        raise DeclarationError(
            f"{file}: {error.what}", expected=error.expected, got=error.got, next_step=error.next_step
        ) from error


def assembled(
    signature: Signature,
    written: tuple[Case, ...],
    source: Path,
    loaded: LoadedReference,
    location: SourceLocation,
) -> Kernel:
    """Return the kernel of these parts; raise DeclarationError for what a declaration may not be."""
    kernel = Kernel(
        name=signature.name,
        entry=signature.entry,
        source=source,
        location=location,
        parameters=signature.parameters,
        sizes=signature.sizes,
        derived=signature.derived,
        cases=instances.with_types(written, signature.types),
        tolerance=signature.tolerance,
        reference=loaded.reference,
        launch=signature.launch,
        defines=signature.defines,
        options=signature.options,
        work=signature.work,
        doc=signature.doc,
        types=signature.types,
        reference_sizes=loaded.sizes,
        contract=signature.contract,
        include=signature.include,
        stub=signature.stub,
        inherited=signature.inherited,
        limits=signature.limits,
        gate=declared_gate(signature.gate),
        batch=signature.batch,
        waivers=signature.waivers,
        obligations=signature.obligations,
    )
    require_sound(kernel, written)
    return kernel


def _source(named: str) -> Path:
    path = Path(named).absolute()
    try:
        path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        near = sorted(found.name for found in path.parent.glob("*.cu"))
        raise DeclarationError(
            f"initial kernel {named}",
            expected="a readable file",
            got=why_unreadable(error),
            next_step=f"Sources beside it: {', '.join(near) or 'none'}",
        ) from error
    return path
