"""A described kernel on its way to a declaration: what was supplied, and what is there so far."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_cudaopt.errors import SourceLocation
from pytest_cudaopt.from_files.cases import ROOT, read_cases
from pytest_cudaopt.from_files.fields import Field
from pytest_cudaopt.from_files.kernel import assembled
from pytest_cudaopt.from_files.reference import LoadedReference, load_reference
from pytest_cudaopt.from_files.signature import read_signature
from pytest_cudaopt.sandbox.call import Limits
from pytest_cudaopt.sandboxed_function import SandboxedFunction

if TYPE_CHECKING:
    from collections.abc import Callable

    from pytest_cudaopt.declared import Kernel
    from pytest_cudaopt.device import Device
    from pytest_cudaopt.optimize.generate.asking import Asking

Json = dict[str, Any]
ORIGIN = "generated"
# Of a reference at cases of a few thousand elements.
_LIMITS = Limits(wall_s=20.0, cpu_s=20)


@dataclass(frozen=True)
class Supplied:
    """Files of the user's, which are used as they are; a kernel without a signature is one to describe."""

    signature: str | None = None
    reference: str | None = None
    initial_kernel: str | None = None
    input_cases: str | None = None


@dataclass
class Generation:
    """The nodes' common ground. `said` are sentences for the review, in order.

    `limits` are those of a reference's call, `seed` draws what references are compared at.
    """

    description: str
    supplied: Supplied
    asking: Asking
    device: Device
    seed: int
    timeout_s: float
    announce: Callable[[str], None]
    signature: Json = field(default_factory=dict)
    cases: list[Json] = field(default_factory=list)
    said: list[str] = field(default_factory=list)
    kernel: Kernel | None = None
    origin: str = ORIGIN
    limits: Limits = _LIMITS

    @property
    def folder(self) -> Path:
        """Where the declaration is written."""
        return self.asking.folder.path / "generated"

    @property
    def name(self) -> str:
        return str(self.signature["kernel"])

    @property
    def source(self) -> Path:
        supplied = self.supplied.initial_kernel
        return self.folder / f"{self.name}.cu" if supplied is None else Path(supplied).absolute()

    @property
    def reference(self) -> Path:
        return self.folder / f"{self.name}_reference.py"

    @property
    def second_reference(self) -> Path:
        return self.folder / f"{self.name}_second_reference.py"

    def write(self, path: Path, content: str) -> None:
        """Write a file of the declaration."""
        self.asking.folder.write(str(path.relative_to(self.asking.folder.path)), content)

    def say(self, sentence: str) -> None:
        """Keep a sentence for the review, and tell it now."""
        self.said.append(sentence)
        self.announce(f"  {sentence}")

    def declared(self, reference: Path) -> Kernel:
        """Return the kernel as far as it is declared; a reference of a model's runs in the sandbox.

        Raises DeclarationError for what does not fit together.
        """
        place = self.supplied.signature or "signature.json"
        folder = self.folder if self.supplied.signature is None else Path(place).absolute().parent
        signature = read_signature(Field(place, "", self.signature), folder)
        written = read_cases(Field(self.supplied.input_cases or "input_cases.json", ROOT, self.cases))
        if self.supplied.reference is not None:
            loaded = load_reference(self.supplied.reference, signature)
        else:
            sizes = tuple(one for one in signature.sizes if one not in {p.name for p in signature.parameters})
            function = SandboxedFunction(reference, signature.name, self.origin, self.limits)
            loaded = LoadedReference(function, sizes)
        location = SourceLocation(str(self.folder / f"test_{signature.name}.py"), 1)
        return assembled(signature, written, self.source, loaded, location)


def read_json_file(named: str) -> Any:
    """Return what a JSON file of the user's holds; raises ValueError and OSError as they come."""
    return json.loads(Path(named).read_text(encoding="utf-8-sig"))
