"""A candidate: everything that decides what is compiled and how it is launched, frozen."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from pytest_cudaopt import directives
from pytest_cudaopt.launch import LaunchConfiguration, LaunchRule


@dataclass(frozen=True)
class Candidate:
    """One kernel source with its launch rule and chosen tunables.

    `file` is the name diagnostics show. Tunables reach the compiler as `#define NAME VALUE`, before
    `defines`.
    """

    file: str
    source: str
    launch: LaunchRule
    tunables: tuple[tuple[str, int], ...] = ()
    defines: tuple[tuple[str, str], ...] = ()
    options: tuple[str, ...] = ()

    @cached_property
    def digest(self) -> str:
        """SHA-256 over all fields but the file's name, as hex."""
        parts = [
            self.source,
            self.launch.directives(),
            sorted(self.tunables),
            sorted(self.defines),
            list(self.options),
        ]
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()

    @property
    def chosen(self) -> dict[str, int]:
        return dict(self.tunables)

    def with_tunables(self, chosen: Mapping[str, int]) -> Candidate:
        """Return the candidate with these tunables instead."""
        return replace(self, tunables=tuple(chosen.items()))

    def configure(self, sizes: Mapping[str, int]) -> LaunchConfiguration:
        """Return the launch for these sizes; raises LaunchError as LaunchRule.configure does."""
        return self.launch.configure({**sizes, **self.chosen})

    def standalone_source(self) -> str:
        """Return source that starts where this candidate stands: launch rule and tunables written in."""
        return directives.rewrite(self.source, self.launch, self.chosen)
