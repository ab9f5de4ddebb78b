"""The steps from a description to a declared kernel that is right: one function each, nodes of the graph."""

from __future__ import annotations

import keyword
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict

from langgraph.runtime import Runtime

from pytest_cudaopt.arguments import all_elements, bind
from pytest_cudaopt.compile import CompileFailure, compile_candidate
from pytest_cudaopt.errors import CudaoptError
from pytest_cudaopt.evaluation import Budget, Evaluation, Plan, Stage
from pytest_cudaopt.from_files.cases import ROOT
from pytest_cudaopt.from_files.fields import read_json
from pytest_cudaopt.optimize import proposal_form
from pytest_cudaopt.optimize.filled_form import filled_form
from pytest_cudaopt.optimize.generate import module_text, oracle, questions, review, specification
from pytest_cudaopt.optimize.generate.asking import GenerationError
from pytest_cudaopt.optimize.generate.forms import (
    ReferenceForm,
    SecondOpinionForm,
    SpecificationForm,
    answer_form,
)
from pytest_cudaopt.optimize.generate.generation import ORIGIN, Generation
from pytest_cudaopt.pipeline import evaluate
from pytest_cudaopt.reasons import count
from pytest_cudaopt.sandboxed_function import SandboxedFunction

if TYPE_CHECKING:
    from pytest_cudaopt.candidate import Candidate
    from pytest_cudaopt.cases import Case
    from pytest_cudaopt.declared import Kernel

# What a run can hold and a simulator execute; a case of a person's may have more.
_MOST_MEASURED, _MOST_OTHERS = 1 << 26, 1 << 22
_FUZZ_EXAMPLES = 50
_NOTHING = "// @launch grid=(1) block=(32)\n"
_TYPES = "#include <cuda_fp16.h>\n#include <cuda_bf16.h>\n"


class GenerationState(TypedDict, total=False):
    """Nothing but whether the kernel is declared: its parts stay in the generation and its folder."""

    declared: bool


def specify(state: GenerationState, runtime: Runtime[Generation]) -> GenerationState:
    """Declare parameters, contents, cases: as supplied, or asked for until they compile and can be drawn."""
    given = runtime.context
    if given.supplied.input_cases is not None:
        path = Path(given.supplied.input_cases)
        given.cases = _read(path, "input cases", ROOT)
    if given.supplied.signature is not None:
        given.signature = _read(Path(given.supplied.signature), "signature")
        if (said := _not_declarable(given)) is not None:
            raise GenerationError(f"signature {given.supplied.signature}", got=said)
        return {}
    given.asking.part(
        "specification",
        questions.specify(given.description),
        answer_form(SpecificationForm),
        lambda text: filled_form(SpecificationForm, text, "the specification"),
        lambda form: _not_specified(given, form),
    )
    given.say(f"declared: {given.name}({', '.join(one['name'] for one in given.signature['parameters'])})")
    return {}


def reference(state: GenerationState, runtime: Runtime[Generation]) -> GenerationState:
    """Write a reference, until it answers at every small case and depends on its inputs."""
    given = runtime.context
    if given.supplied.reference is not None:
        given.say(f"reference: {given.supplied.reference}, as supplied")
        return {}
    given.asking.part(
        "reference",
        questions.reference(given.description, given.signature),
        answer_form(ReferenceForm),
        lambda text: filled_form(ReferenceForm, text, "the answer"),
        lambda form: _no_reference(given, given.reference, form.source),
    )
    return {}


def second_opinion(state: GenerationState, runtime: Runtime[Generation]) -> GenerationState:
    """Have another reference written from the description alone; raises GenerationError if they disagree."""
    given = runtime.context
    if given.supplied.reference is not None:
        return {}
    opinion = given.asking.part(
        "second opinion",
        questions.second_opinion(given.description, given.signature),
        answer_form(SecondOpinionForm),
        lambda text: filled_form(SecondOpinionForm, text, "the answer"),
        lambda form: _no_opinion(given, form),
    )
    first, second = given.declared(given.reference), given.declared(given.second_reference)
    cases = _compared(given, first)
    said = oracle.disagreement(first, second, cases)
    if said is not None:
        raise _disagreement(given, f"two references of the description disagree {said.text}")
    # Of one row nothing shows in which order they are.
    telling = max(cases, key=lambda one: min(one.by_name.values(), default=0))
    broken = next((one for known in opinion.known if (one := oracle.wrong_at_known(first, known))), None)
    broken = broken or oracle.broken_property(first, telling, opinion.linear_in, opinion.permutes)
    if broken is not None:
        raise _disagreement(
            given, f"the reference and what was said of it without it disagree: {broken.text}"
        )
    held = [f"linear in {', '.join(opinion.linear_in)}"] if opinion.linear_in else []
    held += [f"reordered along {', '.join(opinion.permutes)}"] if opinion.permutes else []
    held += [f"right at {count(len(opinion.known), 'known result')}"] if opinion.known else []
    given.origin = f"{ORIGIN}: two generated references agree at {len(cases)} cases"
    given.say(f"reference: {'; '.join([given.origin, *held])}; nobody has checked either")
    return {}


def first_kernel(state: GenerationState, runtime: Runtime[Generation]) -> GenerationState:
    """Have a kernel written until it is right everywhere; one that is supplied is judged and never edited."""
    given = runtime.context
    kernel = given.declared(given.reference)
    if given.supplied.initial_kernel is not None:
        given.kernel = kernel
        return {}
    listed = ", ".join(f"{one.cuda_types[0]} {one.name}" for one in kernel.instances[0].parameters)
    source = describe_reference(given)
    given.asking.part(
        "kernel",
        questions.first_kernel(given.description, given.signature, listed, source),
        proposal_form.form(),
        proposal_form.fill,
        lambda form: _not_right(given, kernel, form.source),
    )
    given.kernel = kernel
    given.say(f"first kernel: right at {len(kernel.cases)} cases and {_FUZZ_EXAMPLES} drawn ones")
    return {}


def declare(state: GenerationState, runtime: Runtime[Generation]) -> GenerationState:
    """Write the test module and what a person should know before they believe it."""
    given = runtime.context
    if given.supplied.signature is None and given.supplied.reference is None:
        text = module_text.module_text(
            given.signature, given.cases, given.source.name, given.reference.name, given.origin
        )
        given.write(given.folder / f"test_{given.name}.py", text)
    given.write(given.folder / "REVIEW.md", review.text(given))
    return {"declared": True}


def describe_reference(given: Generation) -> str:
    """Return the text of the reference that a kernel is held to."""
    named = given.supplied.reference
    path = given.reference if named is None else Path(named.partition("::")[0])
    return path.read_text(encoding="utf-8-sig")


def _read(path: Path, what: str, root: str = "") -> Any:
    return read_json(path.absolute(), str(path), what, root).value


def _not_specified(given: Generation, form: SpecificationForm) -> str | None:
    if unset := [one.name for one in form.parameters if one.role == "scalar" and one.value is None]:
        return f"the scalar '{unset[0]}' has no `value`; an integer that shapes are made of has the role size"
    names = [form.kernel, *(one.name for one in form.parameters)]
    if taken := [name for name in names if keyword.iskeyword(name)]:
        return f"'{taken[0]}' is a word of Python's: the reference could not use it"
    given.signature = specification.signature_json(form)
    if given.supplied.input_cases is None:
        given.cases = specification.cases_json(form)
    return _not_declarable(given)


def _not_declarable(given: Generation) -> str | None:
    """Return why the declaration does not do: names, shapes, contents, sizes, or C++ types."""
    try:
        kernel = given.declared(given.reference)
        for case in kernel.cases:
            elements = all_elements(kernel, kernel.all_sizes(case))
            most = _MOST_MEASURED if case.measure else _MOST_OTHERS
            if elements > most and given.supplied.input_cases is None:
                return f"{case} has {elements} elements; at most {most} are of use"
            if elements <= _MOST_OTHERS:
                bind(kernel, case)
        parameters = ", ".join(f"{one.cuda_types[0]} {one.name}" for one in kernel.instances[0].parameters)
        stub = f'{_NOTHING}{_TYPES}extern "C" __global__ void {kernel.entry}({parameters}) {{}}\n'
        candidate = kernel.candidate(stub, given.source)
        compiled = compile_candidate(kernel, candidate, given.device, Budget(given.timeout_s))
    except CudaoptError as error:
        return str(error)
    if isinstance(compiled, CompileFailure):
        return f"the parameters do not compile: {compiled.finding.message}"
    return None


def _no_reference(given: Generation, path: Path, source: str) -> str | None:
    given.write(path, source.rstrip() + "\n")
    kernel = given.declared(path)
    reference = kernel.reference
    assert isinstance(reference, SandboxedFunction)  # noqa: S101 - a supplied one is not asked for
    try:
        unknown = reference.takes - {one.name for one in kernel.parameters} - set(kernel.sizes)
        if unknown:
            return f"it takes '{min(unknown)}', which is no parameter"
        said = oracle.objection(kernel, _compared(given, kernel))
    except CudaoptError as error:
        return str(error)
    return None if said is None else said.text


def _no_opinion(given: Generation, form: SecondOpinionForm) -> str | None:
    kernel = given.declared(given.second_reference)
    inputs = [one.name for one in kernel.parameters if one.has_contents and one.dtype.is_float]
    for field, names, known in (
        ("linear_in", form.linear_in, inputs),
        ("permutes", form.permutes, kernel.sizes),
    ):
        if unknown := [name for name in names if name not in known]:
            return f"`{field}` names '{unknown[0]}'; there are {', '.join(known) or 'none'}"
    return _no_reference(given, given.second_reference, form.source)


def _compared(given: Generation, kernel: Kernel) -> tuple[Case, ...]:
    nothing = kernel.candidate(f"{_NOTHING}", given.source)
    return oracle.cases_of(kernel, nothing, given.seed)


def _not_right(given: Generation, kernel: Kernel, source: str) -> str | None:
    """Return what the judge has against a first kernel; it is written where it will stand."""
    given.write(given.source, source)
    try:
        start = kernel.start()
        evaluation = evaluate(kernel, start, _plan(given, kernel, start), given.device)
    except CudaoptError as error:
        return str(error)
    return None if evaluation.accepted else _complaint(evaluation)


def _plan(given: Generation, kernel: Kernel, start: Candidate) -> Plan:
    return Plan(
        (Stage.COMPILE, Stage.CHECK, Stage.PROBE, Stage.FUZZ, Stage.SANITIZE),
        tuple(sorted(kernel.cases, key=lambda case: all_elements(kernel, kernel.all_sizes(case)))),
        budget=Budget(given.timeout_s),
        stop_at_first=True,
        fuzz_examples=_FUZZ_EXAMPLES,
        fuzz_seed=given.seed,
        witness=start,
        is_start=True,
    )


def _complaint(evaluation: Evaluation) -> str:
    lines = [f"{evaluation.status}: {evaluation.reason}"]
    lines += [str(one) for one in evaluation.diagnostics[:5]]
    lines += [finding.message for finding in evaluation.findings[:3]]
    return "\n".join(dict.fromkeys(lines))


def _disagreement(given: Generation, got: str) -> GenerationError:
    return GenerationError(
        "reference of the described kernel",
        expected="answers that agree",
        got=got,
        next_step=f"Read both in {given.folder}, and supply the right one with --reference",
    )
