"""The pages under `knowledge/`: one technique each, of our own writing, packaged with this module."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from pytest_cudaopt.optimize.passages import MOST_CHARACTERS, Origin, Passage, sections

PARTS = (
    "When it applies",
    "What it changes",
    "How it shows in counters",
    "Pitfalls",
    "Architectures",
    "Example",
    "Sources",
)
# What a proposer needs most comes first, and the rest as far as it fits.
_TOLD = ("When it applies", "What it changes", "Pitfalls", "Example")
_LINK = re.compile(r"\]\((https://[^\s)]+)\)")
_ARCHITECTURE = re.compile(r"\bsm_(\d+)")


@dataclass(frozen=True)
class KnowledgePage:
    """One technique: `names` is what else it is called, `parts` its text by heading."""

    name: str
    title: str
    names: str
    parts: tuple[tuple[str, str], ...]

    def part(self, heading: str) -> str:
        return dict(self.parts).get(heading, "")

    @property
    def sources(self) -> tuple[str, ...]:
        """Addresses of the documents that its facts are from."""
        return tuple(_LINK.findall(self.part("Sources")))

    @property
    def least_architecture(self) -> int:
        """The compute capability from which on it exists, 90 for sm_90; 0 if everywhere."""
        text = self.part("Architectures")
        if text.startswith("All"):
            return 0
        return min((int(number) for number in _ARCHITECTURE.findall(text)), default=0)

    @property
    def passage(self) -> Passage:
        told = [f"{heading}. {self.part(heading)}" for heading in _TOLD]
        text, shown = "", []
        for heading, part in zip(_TOLD, told, strict=True):
            if len(text) + len(part) + 2 <= MOST_CHARACTERS:
                text += ("\n\n" if text else "") + part
                shown.append(heading)
        return Passage(self.name, self.title, ", ".join(shown), text, " ".join(self.sources), Origin.OWN)


@cache
def pages() -> tuple[KnowledgePage, ...]:
    """Read all pages, in the order of their names."""
    folder = files("pytest_cudaopt.optimize") / "knowledge"
    found = sorted(
        (file for file in folder.iterdir() if file.name.endswith(".md")), key=lambda file: file.name
    )
    return tuple(parse(file.name.removesuffix(".md"), file.read_text(encoding="utf-8")) for file in found)


def parse(name: str, text: str) -> KnowledgePage:
    """Read one page: its title and other names, then its parts."""
    head, *parts = sections(text)
    names = " ".join(head.text.split()).removeprefix("Also called:").strip()
    return KnowledgePage(name, head.heading, names, tuple((one.heading, one.text) for one in parts))
