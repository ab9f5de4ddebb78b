"""A candidate: everything that decides what is compiled and how it is launched, frozen."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

from pytest_cudaopt import directives, regions
from pytest_cudaopt.closure import Closure
from pytest_cudaopt.launch import LaunchConfiguration, LaunchRule


@dataclass(frozen=True)
class Candidate:
    """One kernel source with its launch rule and chosen tunables.

    `file` is the name diagnostics show. Tunables reach the compiler as `#define NAME VALUE`, before
    `defines`. `closure` holds the headers `source` may include, as they were when the candidate was made;
    None for a source that stands nowhere.
    """

    file: str
    source: str
    launch: LaunchRule
    tunables: tuple[tuple[str, int], ...] = ()
    defines: tuple[tuple[str, str], ...] = ()
    options: tuple[str, ...] = ()
    closure: Closure | None = field(default=None, repr=False)

    @cached_property
    def digest(self) -> str:
        """SHA-256 over all fields but the file's name, as hex; of the closure, over its headers' texts."""
        parts = [
            self.source,
            self.launch.directives(),
            sorted(self.tunables),
            sorted(self.defines),
            list(self.options),
            # Nothing where nothing is included: the digest then is what it was before there were closures.
            *([self.headers] if self.headers else []),
        ]
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()

    @property
    def headers(self) -> dict[str, str]:
        """The texts of the user's headers, by name."""
        return {} if self.closure is None else self.closure.headers.texts

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
        return regions.replace_inside(
            self.source, lambda own: directives.rewrite(own, self.launch, self.chosen)
        )
