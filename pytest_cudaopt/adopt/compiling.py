"""Ask the compiler what a file's kernels are, leaving out what stands in the way and saying what that was."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from pytest_cudaopt.adopt.headers import folders_with
from pytest_cudaopt.adopt.host_code import Lines, without_lines
from pytest_cudaopt.adopt.signatures import signatures_in
from pytest_cudaopt.adopt.texts import compiler_texts, missing_header
from pytest_cudaopt.answers import Answer
from pytest_cudaopt.device import Device
from pytest_cudaopt.evaluation import Diagnostic, Resources
from pytest_cudaopt.finding import FindingKind
from pytest_cudaopt.macros import HEADER, as_header
from pytest_cudaopt.protocol import Compile, Entry, Load, Module

_MODULE = "adopted"
_TIMEOUT_S = 120.0
_MOST_ROUNDS = 60


@dataclass(frozen=True)
class Wanted:
    """A kernel to ask for: its name expression, and the lines of its definition."""

    entry: str
    lines: Lines


@dataclass(frozen=True)
class Confirmed:
    """What the compiler says of one kernel; `error` is why there is nothing else.

    `signature` spells each parameter's type. `unsupported` are the simulator's words for the instructions it
    cannot execute.
    """

    signature: tuple[str, ...] = ()
    resources: Resources | None = None
    unsupported: tuple[str, ...] = ()
    error: str = ""


@dataclass(frozen=True)
class CompiledFile:
    """The compiler's view of a file: kernels by name expression, and what it took to compile it.

    `include` are folders found for headers, `places` those of a header that several have. `stubs` are
    headers found nowhere, which became empty, and `host_code` lines that were left out.
    """

    kernels: Mapping[str, Confirmed]
    include: tuple[Path, ...] = ()
    stubs: tuple[str, ...] = ()
    places: Mapping[str, tuple[Path, ...]] = field(default_factory=dict)
    host_code: tuple[Lines, ...] = ()


@dataclass(frozen=True)
class CompileInput:
    """The file and what is known before the compiler is asked; `project` is searched for headers."""

    source: str
    file: Path
    include: tuple[Path, ...]
    project: Path
    defines: Mapping[str, int]
    options: tuple[str, ...]
    host_code: tuple[Lines, ...]


def compile_file(given: CompileInput, wanted: Sequence[Wanted], device: Device) -> CompiledFile:
    """Compile all of `wanted` together, then ask for their signatures.

    Each failure is answered by leaving out the one thing it is about, until the rest compiles or nothing
    helps. Raises EnvironmentFault as `Device.ask` does.
    """
    attempt = _Attempt(given, list(wanted), device)
    answer = attempt.compile()
    if answer is None:
        return attempt.result({})
    compile_step, load_step = answer.step("compile"), answer.step("load")
    signatures = attempt.signatures()
    confirmed = {
        one.entry: _confirmed(
            compile_step.lowered.get(one.entry, one.entry),
            signatures.get(one.entry, ()),
            compile_step.resources,
            load_step.notes,
        )
        for one in attempt.wanted
    }
    return attempt.result(confirmed)


def _confirmed(
    lowered: str, signature: tuple[str, ...], resources: Mapping[str, Resources], notes: Iterable[str]
) -> Confirmed:
    marks = (f"(kernel {lowered})", f"(kernel {lowered},")
    own = (note for note in notes if any(mark in note for mark in marks))
    told = tuple(note.replace(f"kernel {lowered}, ", "") for note in own)
    return Confirmed(signature, resources.get(lowered), told)


class _Attempt:
    """One file, with more and more left out."""

    def __init__(self, given: CompileInput, wanted: list[Wanted], device: Device) -> None:
        self.wanted = wanted
        self._given = given
        self._device = device
        self._failed: dict[str, Confirmed] = {}
        self._left_out: list[Lines] = []
        self._include: list[Path] = []
        self._stubs: list[str] = []
        self._places: dict[str, tuple[Path, ...]] = {}
        self._host_code: tuple[Lines, ...] = ()

    def compile(self) -> Answer | None:
        """Return the answer once something compiles; None if nothing does."""
        for _ in range(_MOST_ROUNDS):
            answer = self._ask(None)
            if answer.fault is None:
                return answer
            if not self._leave_out(answer):
                break
        self._fail(self.wanted, _first_error(answer))
        return None

    def signatures(self) -> dict[str, tuple[str, ...]]:
        """Return the parameter types of every entry: asked by claiming that there are none."""
        return signatures_in(diagnostic.text for diagnostic in self._ask(()).diagnostics)

    def result(self, confirmed: Mapping[str, Confirmed]) -> CompiledFile:
        return CompiledFile(
            {**confirmed, **self._failed},
            tuple(self._include),
            tuple(self._stubs),
            self._places,
            self._host_code,
        )

    def _ask(self, parameters: tuple[tuple[str, ...], ...] | None) -> Answer:
        given, device = self._given, self._device
        defines = tuple((name, str(value)) for name, value in given.defines.items())
        standard = () if any(o.startswith("-std=") for o in given.options) else ("-std=c++17",)
        source = without_lines(given.source, [*self._left_out, *self._host_code])
        folders = (*given.include, *self._include)
        texts = compiler_texts(source, given.file, folders, self._stubs, device.toolchain)
        module = Module(
            name=_MODULE,
            file=given.file.name,
            source=texts.source,
            options=(*standard, *given.options, f"--pre-include={HEADER}"),
            include=texts.include,
            headers={**texts.headers, HEADER: as_header(defines)},
            entries=tuple(Entry(one.entry, parameters) for one in self.wanted),
            architecture=device.limits.architecture,
        )
        steps = (Compile(_MODULE), Load(_MODULE)) if parameters is None else (Compile(_MODULE),)
        request = replace(
            device.new_request(f"{given.file.name}/adopt"),
            modules=(module,),
            steps=steps,
            timeout_s=_TIMEOUT_S,
        )
        return device.ask(request)

    def _leave_out(self, answer: Answer) -> bool:
        """Leave out what the answer complains about; False if nothing can be."""
        errors = [diagnostic for diagnostic in answer.diagnostics if diagnostic.severity == "error"]
        text = "\n".join(diagnostic.text for diagnostic in errors) or _message(answer)
        if (header := missing_header(text)) is not None:
            return self._find_header(header)
        if answer.fault is not None and answer.fault.kind is FindingKind.UNKNOWN_ENTRY:
            return self._drop_unknown()
        own = [error for error in errors if error.file == self._given.file.name]
        host = [r for r in self._given.host_code if any(_is_within(error.line, [r]) for error in own)]
        if new := [lines for lines in host if lines not in self._host_code]:
            self._host_code = tuple(sorted((*self._host_code, *new)))
            return True
        bad = [one for one in self.wanted if any(_is_within(error.line, [one.lines]) for error in own)]
        return self._drop(bad, "", own)

    def _drop_unknown(self) -> bool:
        """Ask for each kernel alone: the message about one among many does not say which it is."""
        everything = self.wanted
        unknown: dict[str, list[Wanted]] = {}
        for one in everything:
            self.wanted = [one]
            answer = self._ask(None)
            if answer.fault is not None and answer.fault.kind is FindingKind.UNKNOWN_ENTRY:
                unknown.setdefault(_why_unknown(one.entry, _message(answer)), []).append(one)
        self.wanted = everything
        for why, kernels in unknown.items():
            self._drop(kernels, why, ())
        return bool(unknown) and bool(self.wanted)

    def _find_header(self, header: str) -> bool:
        if header in self._stubs:
            return False
        places = [p for p in folders_with(header, self._given.project) if p not in self._include]
        if places:
            self._include.append(places[0])
            if len(places) > 1:
                self._places[header] = tuple(places)
        else:
            self._stubs.append(header)
        return True

    def _drop(self, bad: Sequence[Wanted], why: str, errors: Sequence[Diagnostic]) -> bool:
        for one in bad:
            first = next((e for e in errors if _is_within(e.line, [one.lines])), None)
            self._fail([one], str(first) if first is not None else why)
        self._left_out += [one.lines for one in bad if errors]
        self.wanted = [one for one in self.wanted if one not in bad]
        return bool(bad) and bool(self.wanted)

    def _fail(self, kernels: Iterable[Wanted], why: str) -> None:
        self._failed.update({one.entry: Confirmed(error=why) for one in kernels})


def _message(answer: Answer) -> str:
    return "" if answer.fault is None else answer.fault.message


def _why_unknown(entry: str, message: str) -> str:
    """Return what the compiler says of a name it does not know, without what our own advice adds."""
    told = message.partition("has no such kernel: ")[2].partition(". ")[0]
    if not told or "undefined" in told or "has no member" in told:
        return "not there once compiled: an #if may leave it out, or be it of another name"
    return f"{entry}: {told}"


def _first_error(answer: Answer) -> str:
    first = next((d for d in answer.diagnostics if d.severity == "error"), None)
    return str(first) if first is not None else _message(answer)


def _is_within(line: int, ranges: Iterable[Lines]) -> bool:
    return any(first <= line <= last for first, last in ranges)
