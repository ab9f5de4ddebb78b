"""Where baseline files lie, and what they are called."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from pytest_cudaopt.settings import BASELINE_FOLDER

_MODELLED = re.compile(r"^sim \(modelled (.+)\)$")


@dataclass(frozen=True)
class Place:
    """Where a kernel's baseline on one device lies; `module` is the test module's stem."""

    folder: Path
    module: str
    kernel: str
    device: str

    @classmethod
    def of(cls, module: Path, kernel: str, device: str) -> Place:
        """Return the place for a kernel of a test module, by the name it has there."""
        return cls(module.parent / BASELINE_FOLDER, module.stem, kernel, device)

    @property
    def stem(self) -> str:
        return f"{self.module}.{self.kernel}"

    @property
    def on_device(self) -> str:
        return f"{self.stem}.{slug(self.device)}"

    @property
    def document(self) -> Path:
        return self.folder / f"{self.on_device}.json"

    def source_name(self, sha256: str, taken: Mapping[str, str | None]) -> str:
        """Return the name for a source: the shared one, unless another device has another text there.

        `taken` are the digests of what other devices refer to; None is any text.
        """
        shared = f"{self.stem}.cu"
        is_free = shared not in taken or taken[shared] == sha256
        return shared if is_free else f"{self.on_device}.cu"

    def anchor_name(self, number: int) -> str:
        """Return the name for the source of a version behind the first."""
        return f"{self.on_device}.anchor.cu" if number == 1 else f"{self.on_device}.anchor-{number}.cu"


def slug(device: str) -> str:
    """Return a device's name as part of a file's: `nvidia-h200`, `sim-h200`."""
    modelled = _MODELLED.match(device)
    name = f"sim {modelled[1]}" if modelled else device
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-") or "device"
