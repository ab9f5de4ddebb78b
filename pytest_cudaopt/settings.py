"""Every option, declared once for pytest's command line, ini files, the environment and `cudaopt`.

Reads no file and knows no pytest: whoever has the texts hands them to `resolve`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Any

from pytest_cudaopt import option_text
from pytest_cudaopt.errors import SettingsError
from pytest_cudaopt.evaluation import SANITIZE_ELEMENTS
from pytest_cudaopt.option_text import Reader, Writer

# Beside each test module whose kernels have baselines.
BASELINE_FOLDER = "__baselines__"


@dataclass(frozen=True)
class Option:
    """One option: `field` of Settings, its flag, how its text is read, and written so that it reads the same.

    A `metavar` of None makes it a switch without a value on the command line. `bare` is what the flag stands
    for without a value; None where it needs one.
    """

    field: str
    flag: str
    read: Reader
    default: Any
    help: str
    metavar: str | None = None
    write: Writer = str
    bare: str | None = None

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
        return "--" + self.flag.removeprefix("--").removeprefix("cudaopt-").removeprefix("optimize-")

    @property
    def config_key(self) -> str:
        """The key in the file of `cudaopt optimize --config`."""
        return self.cli_flag.removeprefix("--").replace("-", "_")

    @property
    def is_switch(self) -> bool:
        return self.metavar is None


@dataclass(frozen=True)
class Settings:
    """What the user asked for. `results` is relative to pytest's root folder unless absolute."""

    optimize: bool
    max_iterations: int | None
    model: str
    effort: str
    api: str
    strategy: str
    search: tuple[int, int]
    max_tokens: int | None
    max_seconds: float | None
    until: str
    patience: int | None
    floor_share: float
    record: str
    docs: str
    going_on_from: str
    accept: bool
    accept_modelled: bool
    seed: int
    allow_slower: float
    sandbox: str
    results: str
    device: str
    threads: int
    require: frozenset[str]
    timeout_s: float
    samples: int
    warmup: int
    relative_error: float
    baseline: str
    accept_slower: bool
    against: str
    changed: str
    fuzz_examples: int
    fuzz_seed: int | None
    sanitize_elements: int
    sim_gate: str
    include: tuple[str, ...]
    stub: tuple[str, ...]
    compdb: str
    budget_s: float | None
    report: str

    def is_default(self, field: str) -> bool:
        """Whether an option has the value that it has without being given."""
        return any(o.field == field and o.default == getattr(self, field) for o in OPTIONS)

    def differing_flags(
        self,
        *,
        timing: bool = False,
        optimizing: bool = False,
        fuzzing: bool = False,
        sanitizing: bool = False,
    ) -> list[str]:
        """Return the flags that reproduce what a check depends on, where not the default.

        Those of a measurement too if `timing`, those of a run if `optimizing`, of drawn cases if `fuzzing`
        or `sanitizing`.
        """
        fields = _REPRODUCING_RUN if optimizing else _REPRODUCING_LATENCY if timing else _REPRODUCING_CHECK
        fields |= _REPRODUCING_DRAWS if fuzzing else frozenset()
        fields |= _REPRODUCING_SANITIZED if sanitizing else frozenset()
        return self.given_flags(without={o.field for o in OPTIONS} - fields)

    def given_flags(self, *, without: Collection[str] = ()) -> list[str]:
        """Return the flags of everything that is not the default, but for the fields in `without`."""
        chosen = [o for o in OPTIONS if o.field not in without and not self.is_default(o.field)]
        return [o.flag if o.is_switch else f"{o.flag}={o.write(getattr(self, o.field))}" for o in chosen]


@dataclass(frozen=True)
class ConfigFile:
    """The values of a file of `--config` by field, and its name."""

    name: str = ""
    values: Mapping[str, str] = field(default_factory=dict)


NO_CONFIG = ConfigFile()


def resolve(
    command_line: Mapping[str, str | bool | None],
    environ: Mapping[str, str],
    ini: Mapping[str, str | bool | None],
    *,
    config: ConfigFile = NO_CONFIG,
    flag_of: Callable[[Option], str] = attrgetter("flag"),
) -> Settings:
    """Combine the sources: command line over environment over `config` over ini over default.

    `command_line` and `ini` are keyed by field and hold None for what was not given; `flag_of` names an
    option as the command line in question spells it. Raises SettingsError that names the source of the
    value it cannot read.
    """
    values = {}
    for option in OPTIONS:
        sources = (
            (f"{flag_of(option)} on the command line", command_line.get(option.field)),
            (f"{option.env} in the environment", environ.get(option.env)),
            (f"{option.config_key} in {config.name}", config.values.get(option.field)),
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


OPTIONS: tuple[Option, ...] = (
    Option(
        "optimize",
        "--optimize",
        option_text.switch,
        False,
        "look for a faster version of every selected kernel",
    ),
    Option(
        "max_iterations",
        "--optimize-max-iterations",
        option_text.whole(1),
        None,
        "attempts per kernel after its starting version (default 7; 1 with --optimize-strategy single)",
        metavar="N",
    ),
    Option(
        "model",
        "--optimize-model",
        option_text.model,
        "auto",
        "who proposes: a language model's name, offline (tries the declared tunables), replay:FILE or "
        "files:FOLDER; auto is gpt-5.4-mini if OPENAI_API_KEY is set, else offline (default auto)",
        metavar="NAME",
    ),
    Option(
        "effort",
        "--optimize-reasoning-effort",
        option_text.effort,
        "medium",
        "how long a language model may think: none, minimal, low, medium, high or xhigh (default medium)",
        metavar="WORD",
    ),
    Option(
        "api",
        "--optimize-api",
        option_text.api,
        "auto",
        "how a model's server is spoken to: responses, chat (completions with tools and a JSON schema, less "
        "what it refuses) or plain (without both); auto asks the server (default auto)",
        metavar="WORD",
    ),
    Option(
        "strategy",
        "--optimize-strategy",
        option_text.strategy,
        "loop",
        "loop asks a language model again and again, with tools and what came of each attempt; single asks "
        "once, without either, for one proposal that is judged alike (default loop)",
        metavar="WORD",
    ),
    Option(
        "search",
        "--optimize-search",
        option_text.search,
        (1, 1),
        "greedy varies the best; beam:WxB asks for B versions of each of the W best at once (default greedy)",
        metavar="SEARCH",
        write=option_text.search_text,
    ),
    Option(
        "max_tokens",
        "--optimize-max-tokens",
        option_text.limit,
        None,
        "stop after so many tokens per kernel, 0 for no limit (default 0)",
        metavar="N",
        write=option_text.limit_text,
    ),
    Option(
        "max_seconds",
        "--optimize-max-seconds",
        option_text.duration_limit,
        None,
        "begin no attempt after so many seconds per kernel, 0 for no limit (default 0)",
        metavar="SECONDS",
        write=option_text.duration_limit_text,
    ),
    Option(
        "until",
        "--optimize-until",
        option_text.clock,
        "",
        "begin no attempt after this time of day, such as 07:00",
        metavar="HH:MM",
    ),
    Option(
        "patience",
        "--optimize-patience",
        option_text.limit,
        None,
        "stop after so many attempts in a row that brought nothing, 0 for no limit (default 0)",
        metavar="N",
        write=option_text.limit_text,
    ),
    Option(
        "floor_share",
        "--optimize-stop-at-floor",
        option_text.percent,
        0.0,
        "stop at so many percent of the speed that work= and the peaks allow, 0 to go on (default 0)",
        metavar="PERCENT",
        write=option_text.percent_text,
    ),
    Option(
        "record",
        "--optimize-record",
        option_text.text,
        "",
        "append every proposal of a language model to this file, for replay:FILE",
        metavar="FILE",
    ),
    Option(
        "docs",
        "--optimize-docs",
        option_text.text,
        "",
        "look things up in this folder's documents too (.md, .txt, .rst), beside the pages that come along",
        metavar="FOLDER",
    ),
    Option(
        "going_on_from",
        "--optimize-from",
        option_text.text,
        "",
        "go on with an earlier run of the kernel, such as run-007: after a kill, or with larger limits",
        metavar="RUN",
    ),
    Option(
        "accept",
        "--optimize-accept",
        option_text.switch,
        False,
        "write the best version back to its .cu file",
    ),
    Option(
        "accept_modelled",
        "--optimize-accept-modelled",
        option_text.switch,
        False,
        "let --optimize-accept write back a version that only the latency model ranked best",
    ),
    Option(
        "seed",
        "--optimize-seed",
        option_text.whole(0),
        0,
        "seed for the choice of attempts when not all fit (default 0)",
        metavar="N",
    ),
    Option(
        "allow_slower",
        "--optimize-allow-slower",
        option_text.percent,
        0.02,
        "how many percent slower any measured case of a faster version may be (default 2)",
        metavar="PERCENT",
        write=option_text.percent_text,
    ),
    Option(
        "sandbox",
        "--optimize-sandbox",
        option_text.sandbox,
        "auto",
        "what holds Python that a model wrote: bubblewrap, landlock (with seccomp), off for limits of time "
        "and memory only; auto is the strongest that works here, and never off (default auto)",
        metavar="LEVEL",
    ),
    Option(
        "results",
        "--optimize-results",
        option_text.folder,
        "results",
        "folder for the records of runs, under the root folder (default results)",
        metavar="FOLDER",
    ),
    Option(
        "device",
        "--cudaopt-device",
        option_text.device,
        "auto",
        "where kernels run: auto, sim or cuda:N (default auto)",
        metavar="DEVICE",
    ),
    Option(
        "threads",
        "--cudaopt-threads",
        option_text.whole(0),
        0,
        "threads of sim, 0 for all cores; results do not depend on it (default 0)",
        metavar="N",
    ),
    Option(
        "require",
        "--cudaopt-require",
        option_text.requirements,
        frozenset(),
        "what fails instead of passing quietly: a machine without a gpu, a measured case without a baseline, "
        "an unsure verdict (comma-separated list of gpu, baseline, verdict)",
        metavar="WORDS",
        write=option_text.requirements_text,
    ),
    Option(
        "timeout_s",
        "--cudaopt-timeout",
        option_text.seconds,
        120.0,
        "seconds one kernel run may take (default 120)",
        metavar="SECONDS",
    ),
    Option(
        "samples",
        "--cudaopt-samples",
        option_text.whole(2),
        100,
        "timed launches of a measured case on a GPU (default 100)",
        metavar="N",
    ),
    Option(
        "warmup",
        "--cudaopt-warmup",
        option_text.whole(0),
        10,
        "launches before the first timed one, at least; they also last at least 25 ms (default 10)",
        metavar="N",
    ),
    Option(
        "relative_error",
        "--cudaopt-relative-error",
        option_text.percent,
        0.0,
        "time more launches until the median's standard error is below so many percent; 0 for a fixed number "
        "(default 0)",
        metavar="PERCENT",
        write=option_text.percent_text,
    ),
    Option(
        "baseline",
        "--cudaopt-baseline",
        option_text.baseline,
        "check",
        "baselines of measured cases: check holds kernels to them; update also writes those that are not the "
        "same and not slower, update-new only missing ones; off does neither (default check)",
        metavar="MODE",
    ),
    Option(
        "accept_slower",
        "--cudaopt-accept-slower",
        option_text.switch,
        False,
        "let --cudaopt-baseline update write what is slower or has lost a property, too",
    ),
    Option(
        "against",
        "--cudaopt-against",
        option_text.text,
        "",
        "hold measured cases also to what the kernels were in this git revision, such as origin/main",
        metavar="REF",
    ),
    Option(
        "changed",
        "--cudaopt-changed",
        option_text.text,
        "",
        "run only kernels of which something changed since a git revision, without one since HEAD: source, "
        "headers, flags, declaration, or the version of this plugin",
        metavar="REF",
        bare="HEAD",
    ),
    Option(
        "fuzz_examples",
        "--cudaopt-fuzz-examples",
        option_text.whole(0),
        10,
        "cases drawn per kernel beside the declared ones, 0 for none (default 10, or what a Hypothesis "
        "profile of yours says)",
        metavar="N",
    ),
    Option(
        "fuzz_seed",
        "--cudaopt-fuzz-seed",
        option_text.seed,
        None,
        "seed of the drawn cases: a number, or random (default: one that follows from the declaration)",
        metavar="SEED",
    ),
    Option(
        "sanitize_elements",
        "--cudaopt-sanitize-elements",
        option_text.whole(0),
        SANITIZE_ELEMENTS,
        "sanitize cases of at most so many elements in all their arrays, and always the smallest; 0 for none "
        "(default 65536)",
        metavar="N",
    ),
    Option(
        "sim_gate",
        "--cudaopt-sim-gate",
        option_text.sim_gate,
        "fail",
        "what modelled latencies of sim do in the gate: fail fails from 1.5 times the earlier one and warns "
        "from 1.1, warn only warns, off says nothing (default fail)",
        metavar="WORD",
    ),
    Option(
        "include",
        "--cudaopt-include",
        option_text.words,
        (),
        "folders of headers for every kernel, under the root folder (comma-separated list)",
        metavar="FOLDERS",
        write=option_text.words_text,
    ),
    Option(
        "stub",
        "--cudaopt-stub",
        option_text.words,
        (),
        "headers to take as empty, such as torch/* (comma-separated list)",
        metavar="PATTERNS",
        write=option_text.words_text,
    ),
    Option(
        "compdb",
        "--cudaopt-compdb",
        option_text.text,
        "",
        "compile_commands.json whose macros, include folders and options apply to the kernels' files",
        metavar="FILE",
    ),
    Option(
        "budget_s",
        "--cudaopt-budget",
        option_text.span_limit,
        None,
        "begin no kernel item after they took so long, such as 300s or 5m; checks of all kernels come first, "
        "each worker of pytest-xdist has its own budget; 0 for no limit (default 0)",
        metavar="TIME",
        write=option_text.duration_limit_text,
    ),
    Option(
        "report",
        "--cudaopt-report",
        option_text.report_file,
        "",
        "write what was found to this file, Markdown (.md) or one HTML page (.html)",
        metavar="FILE",
    ),
)
# Results depend on these; the others change what is done, not what is found.
_REPRODUCING_CHECK = frozenset({"device", "timeout_s", "include", "stub", "compdb"})
_REPRODUCING_DRAWS = frozenset({"fuzz_examples", "fuzz_seed"})
_REPRODUCING_SANITIZED = frozenset({"fuzz_seed", "sanitize_elements"})
_REPRODUCING_LATENCY = _REPRODUCING_CHECK | {
    *("samples", "warmup", "relative_error"),
    *("against", "require", "sim_gate"),
}
_REPRODUCING_RUN = _REPRODUCING_LATENCY | {
    "optimize",
    "max_iterations",
    "model",
    "effort",
    "api",
    "strategy",
    "search",
    "docs",
    "going_on_from",
    "seed",
    "allow_slower",
    "sanitize_elements",
}
