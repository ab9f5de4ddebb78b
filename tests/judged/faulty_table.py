"""What the tables say of faulty and cheating kernels: how each is wrong, and which stage should catch it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

FOLDER = Path(__file__).parent


class Kind(StrEnum):
    """Families of faults and cheats."""

    CACHED = "result of an earlier launch"
    COUNTED = "launches counted"
    UNWRITTEN = "output not computed"
    IGNORED_INPUT = "part of the input ignored"
    SIZE_PATH = "worse at large sizes"
    SNIFFED = "values decide the path"
    FITTED = "fitted to the usual values"
    STRUCTURE = "structure assumed"
    SIZES = "only some sizes right"
    PRECISION = "narrower arithmetic"
    FAST_MATH = "overflow or approximation"
    INSENSITIVE = "tolerance hides everything"
    RARE = "few elements wrong"
    NON_FINITE = "NaN or infinity mishandled"
    MASK = "tail, mask or scale leaks"
    TIES = "equals mishandled"
    INPUT_WRITTEN = "input modified"
    ACCUMULATED = "in-out array across launches"
    UNINITIALISED = "read before written"
    OUT_OF_BOUNDS = "out of bounds"
    BEHIND_OUTPUT = "searches other memory"
    RACE = "race within a block"
    BLOCK_RACE = "race between blocks"
    HANG = "hang"
    TRAP = "trap"
    FORGED = "forged output"
    INCLUDED = "file included"
    NO_LAUNCH = "nothing launched"
    NARROW_INDEX = "index too narrow"
    GRID_LIMIT = "grid dimension over 65535"
    ALIGNMENT = "alignment assumed"
    ALIASING = "aliasing"
    EMPTY = "empty size"
    INTEGER_RANGE = "integers outside the declared range"
    SUBNORMAL = "subnormals or signed zeros"
    REPEATABILITY = "other bits each time"


class Rung(StrEnum):
    """The stages of the judge, cheapest first."""

    COMPILE = "compile"
    SCAN = "scan"
    CHECK = "check"
    PROBE = "probe"
    FUZZ = "fuzz"
    CONTRACT = "contract"
    SANITIZE = "sanitize"
    MEASURE = "measure"


# Rows of the catalogue that can happen here and have no kernel.
NOT_HERE = {
    38: "hints to the L2 change times and no result; only the scan, and a GPU's clock, can tell",
    40: "a slow baseline is no fault of a candidate",
    41: "noise that many candidates mine is none of one kernel's",
}
# Those that the catalogue marks as likely where a candidate is device code and a launch rule.
LIKELY_ROWS = frozenset(
    [1, 2, 4, 5, *range(9, 16), *range(18, 23), 24, 25, 26, 28, 29, 31, 32, 33, 36, 37, 39, 40, 41]
)

# What the judge may say, where it is not a wrong result.
FAULT = ("illegal_address", "misaligned")
LOST = ("lost_property",)
WRONG = ("wrong_result",)


@dataclass(frozen=True)
class Faulty:
    """One kernel that must not be accepted.

    `row` is that of the catalogue of cheats; `told` lists the statuses and kinds of finding of which any will
    do; `needs` is "contract" where only a declared property binds, "gpu" where only hardware shows it.
    `today` is the stage that caught it before there were others than compile, check, sanitize and a fuzzing
    of sizes alone (40 examples, seed 1); None for none.
    """

    operation: str
    file: str
    row: int
    kind: Kind
    caught_by: Rung
    why: str
    told: tuple[str, ...] = WRONG
    needs: str = ""
    today: Rung | None = None

    @property
    def name(self) -> str:
        return f"{self.operation}/{self.file}"

    @property
    def path(self) -> Path:
        return FOLDER / self.operation / f"{self.file}.cu"
