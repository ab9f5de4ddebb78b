"""Every option, declared once for pytest's command line, ini files, the environment and `cudaopt`.

Reads no file and knows no pytest: whoever has the texts hands them to `resolve`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from operator import attrgetter
from typing import Any

from pytest_cudaopt.errors import SettingsError

# Text to value; raises ValueError whose text is what was expected.
Reader = Callable[[str], Any]
DEVICE_SELECTOR = re.compile(r"^(auto|sim|cuda:\d+)$")
_WORDS = {
    "1": True,
    "true": True,
    "yes": True,
    "on": True,
    "0": False,
    "false": False,
    "no": False,
    "off": False,
}
REQUIREMENTS = ("gpu",)


@dataclass(frozen=True)
class Option:
    """One option: `field` of Settings, its flag, how its text is read.

    A `metavar` of None makes it a switch without a value on the command line.
    """

    field: str
    flag: str
    read: Reader
    default: Any
    help: str
    metavar: str | None = None

    @property
    def ini(self) -> str:
        """The key in an ini file."""
        return self.flag.removeprefix("--").replace("-", "_")

    @property
    def env(self) -> str:
        """The environment variable."""
        return "CUDAOPT_" + self.ini.removeprefix("cudaopt_").upper()

    @property
    def cli_flag(self) -> str:
        """The flag of the `cudaopt` command: the same suffix without the prefix pytest needs."""
        return "--" + self.flag.removeprefix("--").removeprefix("cudaopt-")

    @property
    def is_switch(self) -> bool:
        return self.metavar is None


@dataclass(frozen=True)
class Settings:
    """What the user asked for. `results` is relative to pytest's root folder unless absolute."""

    optimize: bool
    max_iterations: int
    model: str
    accept: bool
    accept_modelled: bool
    seed: int
    allow_slower: float
    results: str
    device: str
    threads: int
    require: frozenset[str]
    timeout_s: float
    samples: int
    warmup: int
    relative_error: float

    def differing_flags(self, *, optimizing: bool = False) -> list[str]:
        """Return the flags that reproduce what a check, or a run, depends on, where not the default."""
        fields = _REPRODUCING_RUN if optimizing else _REPRODUCING_CHECK
        differing = [o for o in OPTIONS if o.field in fields and getattr(self, o.field) != o.default]
        return [o.flag if o.is_switch else f"{o.flag}={getattr(self, o.field)}" for o in differing]


def resolve(
    command_line: Mapping[str, str | bool | None],
    environ: Mapping[str, str],
    ini: Mapping[str, str | bool | None],
    *,
    flag_of: Callable[[Option], str] = attrgetter("flag"),
) -> Settings:
    """Combine the sources: command line over environment over ini over default.

    `command_line` and `ini` are keyed by field and hold None for what was not given; `flag_of` names an
    option as the command line in question spells it. Raises SettingsError that names the source of the
    value it cannot read.
    """
    values = {}
    for option in OPTIONS:
        sources = (
            (f"{flag_of(option)} on the command line", command_line.get(option.field)),
            (f"{option.env} in the environment", environ.get(option.env)),
            (f"{option.ini} in the ini file", ini.get(option.field)),
        )
        values[option.field] = _first_given(option, sources)
    return Settings(**values)


def _first_given(option: Option, sources: Iterable[tuple[str, str | bool | None]]) -> Any:
    for source, given in sources:
        if given is None:
            continue
        try:
            return option.read(str(given).strip())
        except ValueError as error:
            raise SettingsError(source, expected=str(error), got=f"'{given}'") from error
    return option.default


def _switch(text: str) -> bool:
    if text.lower() not in _WORDS:
        raise ValueError("true or false")
    return _WORDS[text.lower()]


def _whole(least: int) -> Reader:
    def read(text: str) -> int:
        if not re.fullmatch(r"\d+", text) or int(text) < least:
            raise ValueError(f"a whole number of at least {least}")
        return int(text)

    return read


def _seconds(text: str) -> float:
    if not re.fullmatch(r"\d+(\.\d+)?s?", text) or float(text.removesuffix("s")) == 0:
        raise ValueError("seconds greater than 0, such as 60 or 0.5")
    return float(text.removesuffix("s"))


def _percent(text: str) -> float:
    if not re.fullmatch(r"\d+(\.\d+)?%?", text):
        raise ValueError("a percentage of at least 0, such as 2 or 0.5%")
    return float(text.removesuffix("%")) / 100


def _device(text: str) -> str:
    if not DEVICE_SELECTOR.match(text):
        raise ValueError("auto, sim or cuda:N")
    return text


def _model(text: str) -> str:
    if text != "offline":
        raise ValueError("offline, the only proposer of this version (language models come later)")
    return text


def _requirements(text: str) -> frozenset[str]:
    words = frozenset(word.strip() for word in text.split(",") if word.strip())
    if words - set(REQUIREMENTS):
        raise ValueError(f"a comma-separated list of {', '.join(REQUIREMENTS)}")
    return words


def _folder(text: str) -> str:
    if not text:
        raise ValueError("a folder")
    return text


OPTIONS: tuple[Option, ...] = (
    Option("optimize", "--optimize", _switch, False, "look for a faster version of every selected kernel"),
    Option(
        "max_iterations",
        "--optimize-max-iterations",
        _whole(1),
        7,
        "attempts per kernel after its starting version (default 7)",
        metavar="N",
    ),
    Option(
        "model",
        "--optimize-model",
        _model,
        "offline",
        "who proposes candidates: offline tries the declared tunables (default offline)",
        metavar="NAME",
    ),
    Option("accept", "--optimize-accept", _switch, False, "write the best version back to its .cu file"),
    Option(
        "accept_modelled",
        "--optimize-accept-modelled",
        _switch,
        False,
        "let --optimize-accept write back a version that only the latency model ranked best",
    ),
    Option(
        "seed",
        "--optimize-seed",
        _whole(0),
        0,
        "seed for the choice of attempts when not all fit (default 0)",
        metavar="N",
    ),
    Option(
        "allow_slower",
        "--optimize-allow-slower",
        _percent,
        0.02,
        "how many percent slower any measured case of a faster version may be (default 2)",
        metavar="PERCENT",
    ),
    Option(
        "results",
        "--optimize-results",
        _folder,
        "results",
        "folder for the records of runs, under the root folder (default results)",
        metavar="FOLDER",
    ),
    Option(
        "device",
        "--cudaopt-device",
        _device,
        "auto",
        "where kernels run: auto, sim or cuda:N (default auto)",
        metavar="DEVICE",
    ),
    Option(
        "threads",
        "--cudaopt-threads",
        _whole(0),
        0,
        "threads of sim, 0 for all cores; results do not depend on it (default 0)",
        metavar="N",
    ),
    Option(
        "require",
        "--cudaopt-require",
        _requirements,
        frozenset(),
        "fail instead of falling back: gpu (comma-separated list)",
        metavar="WORDS",
    ),
    Option(
        "timeout_s",
        "--cudaopt-timeout",
        _seconds,
        120.0,
        "seconds one kernel run may take (default 120)",
        metavar="SECONDS",
    ),
    Option(
        "samples",
        "--cudaopt-samples",
        _whole(2),
        100,
        "timed launches of a measured case on a GPU (default 100)",
        metavar="N",
    ),
    Option(
        "warmup",
        "--cudaopt-warmup",
        _whole(0),
        10,
        "launches before the first timed one, at least; they also last at least 25 ms (default 10)",
        metavar="N",
    ),
    Option(
        "relative_error",
        "--cudaopt-relative-error",
        _percent,
        0.0,
        "time more launches until the median's standard error is below so many percent; 0 for a fixed number "
        "(default 0)",
        metavar="PERCENT",
    ),
)
# Results depend on these; the others change what is done, not what is found.
_REPRODUCING_CHECK = frozenset({"device", "timeout_s"})
_REPRODUCING_RUN = _REPRODUCING_CHECK | {"optimize", "max_iterations", "model", "seed"}
