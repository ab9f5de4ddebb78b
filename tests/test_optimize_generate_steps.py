"""Each part of a described kernel is checked before the next, and what does not do is asked for again."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast, get_args

import pytest
from described_kernel import (
    DESCRIPTION,
    KNOWN,
    PLAIN,
    REFERENCE,
    SECOND,
    kernel,
    parameter,
    second_opinion,
    sizes,
    specification,
)
from made_up_models import ListModel, proposes

from pytest_cudaopt.device import Device
from pytest_cudaopt.optimize.conversation import FailureKind, ModelFailure, Text
from pytest_cudaopt.optimize.generate import specification as specifying
from pytest_cudaopt.optimize.generate import steps
from pytest_cudaopt.optimize.generate.asking import Asking, GenerationError
from pytest_cudaopt.optimize.generate.forms import ParameterForm, SpecificationForm
from pytest_cudaopt.optimize.generate.generation import Generation, Supplied
from pytest_cudaopt.optimize.record import RunFolder
from pytest_cudaopt.sandbox.call import Limits

SPECIFIED = SpecificationForm.model_validate(specification())


def generation(folder: Path, sim: Device, *filled: Any, supplied: Supplied | None = None) -> Generation:
    """A generation of which the specification is there, with a model that answers so."""
    replies = [one if isinstance(one, ModelFailure) else proposes(one) for one in filled]
    asking = Asking(ListModel(*replies), RunFolder.create(folder / "results"))
    given = Generation(
        DESCRIPTION, supplied or Supplied(), asking, sim, 3, 60.0, lambda line: None, limits=Limits(2.0, 2)
    )
    given.signature, given.cases = specifying.signature_json(SPECIFIED), specifying.cases_json(SPECIFIED)
    return given


def take(step: Any, given: Generation) -> None:
    step({}, SimpleNamespace(context=given))


def told(given: Generation) -> list[str]:
    """Return what the model was told after each answer that did not do, in the last conversation."""
    requests = cast("ListModel", given.asking.model).requests
    texts = [item.text for item in requests[-1].items if isinstance(item, Text)]
    assert all(one.startswith("Your answer was:") for one in texts[1::2])
    return texts[2::2]


NOT_DECLARABLE = [
    (specification(kernel="not a name"), "expected a name"),
    (specification(measured=[]), 'at least one case with "measure": true'),
    (specification(friendly=[sizes(m=32, n=64)]), "k"),
    (specification(where=["m <= rows"]), "rows"),
    (specification(measured=[sizes(m=1 << 15, n=1 << 15, k=1 << 15)]), "elements; at most"),
    (
        specification(parameters=[one for one in specification()["parameters"] if one["role"] != "out"]),
        "at least one Out or InOut",
    ),
    (
        specification(parameters=[*specification()["parameters"], parameter("alpha", "scalar", "f32")]),
        "the scalar 'alpha' has no `value`",
    ),
    (specification(kernel="lambda"), "'lambda' is a word of Python's"),
    (
        specification(
            parameters=[parameter("short", "in", "f32", "m", "k"), *specification()["parameters"][1:]]
        ),
        "the parameters do not compile",
    ),
]


@pytest.mark.parametrize(("wrong", "said"), NOT_DECLARABLE, ids=[said for _, said in NOT_DECLARABLE])
def test_a_declaration_that_does_not_hold_together_is_asked_for_again(
    tmp_path: Path, sim: Device, wrong: dict[str, Any], said: str
) -> None:
    given = generation(tmp_path, sim, wrong, specification())
    given.signature, given.cases = {}, []

    take(steps.specify, given)

    (objection,) = told(given)
    assert said in objection
    assert (given.name, len(given.cases), given.asking.repairs) == ("sgemm", 4, 1)


DTYPES = get_args(ParameterForm.model_fields["dtype"].annotation)


def test_parameters_of_every_type_compile(tmp_path: Path, sim: Device) -> None:
    inputs = [parameter(f"x{number}", "in", dtype, "m", "k") for number, dtype in enumerate(DTYPES)]
    given = generation(tmp_path, sim, specification(parameters=[*inputs, *specification()["parameters"][1:]]))

    take(steps.specify, given)

    assert given.asking.repairs == 0


def test_an_answer_that_is_no_form_is_asked_for_again(tmp_path: Path, sim: Device) -> None:
    given = generation(tmp_path, sim, {"kernel": "sgemm"}, specification())

    take(steps.specify, given)

    assert "Field required" in told(given)[0]


BODY = "import numpy as np\n\n\ndef sgemm(a, b):\n    {}\n"
WRONG_REFERENCES = {
    "raises": ("raise ValueError('no idea')", "raised ValueError at line 5: no idea"),
    "loops": ("while True: pass", "did not end within 2 s"),
    "allocates": ("return np.ones((10**5, 10**5, 10)) @ b", "of memory"),
    "opens a socket": ("import socket; socket.socket(); return a @ b", "PermissionError"),
    "reads the home folder": ("import os; os.listdir(os.path.expanduser('~root')); return a @ b", "Error"),
    "forks": ("import os; os.fork(); return a @ b", "PermissionError"),
    "writes outside": ("open('/tmp/there', 'w'); return a @ b", "PermissionError"),
    "another shape": ("return (a @ b).T", "shape"),
    "NaN": ("return a @ b + np.nan", "'c' holds NaN or infinities"),
    "independent": ("return np.ones((a.shape[0], b.shape[1]))", "'c' is the same whatever the inputs hold"),
    "nothing": ("pass", "gave no usable output: expected c"),
    "no Python": ("return a @", "line 5"),
}


@pytest.mark.parametrize("which", WRONG_REFERENCES)
def test_a_reference_that_is_none_is_told_why_and_asked_for_again(
    tmp_path: Path, sim: Device, which: str
) -> None:
    body, said = WRONG_REFERENCES[which]
    given = generation(tmp_path, sim, {"source": BODY.format(body)}, {"source": REFERENCE})

    take(steps.reference, given)

    (objection,) = told(given)
    assert said in objection
    assert given.reference.read_text() == REFERENCE


def test_a_reference_that_takes_what_nobody_has_is_told_so(tmp_path: Path, sim: Device) -> None:
    given = generation(tmp_path, sim, {"source": REFERENCE.replace("a, b", "a, b, x")}, {"source": REFERENCE})

    take(steps.reference, given)

    assert "it takes 'x', which is no parameter" in told(given)[0]


def test_after_four_answers_that_do_not_do_nobody_is_asked_any_more(tmp_path: Path, sim: Device) -> None:
    given = generation(tmp_path, sim, *[{"source": BODY.format("return a @ b + np.nan")}] * 4)

    with pytest.raises(GenerationError, match=r"4 without success; the last one: at case.*NaN"):
        take(steps.reference, given)

    kept = sorted(path.name for path in (given.asking.folder.path / "model" / "generate").iterdir())
    assert kept == [f"0{n}-reference-{what}" for n in (1, 2, 3, 4) for what in ("answer.txt", "request.json")]


def test_a_model_that_cannot_be_reached_ends_it(tmp_path: Path, sim: Device) -> None:
    refused = ModelFailure(FailureKind.REJECTED, "HTTP 401: no such key", is_final=True)

    with pytest.raises(GenerationError, match="HTTP 401: no such key"):
        take(steps.reference, generation(tmp_path, sim, refused))


def with_reference(folder: Path, sim: Device, *filled: Any) -> Generation:
    given = generation(folder, sim, *filled)
    given.write(given.reference, REFERENCE)
    return given


def test_two_references_that_agree_are_reported_as_that_and_no_more(tmp_path: Path, sim: Device) -> None:
    given = with_reference(tmp_path, sim, second_opinion())

    take(steps.second_opinion, given)

    assert given.origin == "generated: two generated references agree at 16 cases"
    (said,) = given.said
    assert said.endswith(
        "linear in a, b; reordered along m, k; right at 1 known result; nobody has checked either"
    )


def test_the_second_reference_is_asked_for_without_the_first(tmp_path: Path, sim: Device) -> None:
    given = with_reference(tmp_path, sim, second_opinion())

    take(steps.second_opinion, given)

    (request,) = cast("ListModel", given.asking.model).requests
    assert DESCRIPTION in str(request.items)
    assert "a @ b" not in str(request)


TRANSPOSED = SECOND.replace("np.outer(a[:, i], b[i, :])", "np.outer(a[:, i], b[i, ::-1])")
DISAGREEING = {
    "another result": (
        second_opinion(TRANSPOSED),
        r"two references of the description disagree at case\(.*: c\[",
    ),
    "a known result": (
        second_opinion(known=[{**KNOWN, "outputs": [{"name": "c", "elements": [13, 17]}]}]),
        r"at the known case case\(m=1, n=2, k=2\): c\[0, 1\] is 17 by one and 16 by the other",
    ),
    "no such case": (second_opinion(known=[{**KNOWN, "sizes": sizes(m=1)}]), "does not fit"),
    "permutes": (second_opinion(permutes=["n"], linear_in=[]), None),
}


@pytest.mark.parametrize("which", [name for name, (_, said) in DISAGREEING.items() if said])
def test_where_they_disagree_the_run_stops_with_the_input_that_shows_it(
    tmp_path: Path, sim: Device, which: str
) -> None:
    filled, said = DISAGREEING[which]
    given = with_reference(tmp_path, sim, filled)

    with pytest.raises(GenerationError, match=said) as raised:
        take(steps.second_opinion, given)

    assert "supply the right one with --reference" in str(raised.value)


@pytest.mark.parametrize(
    ("reference", "claims", "said"),
    [
        ("return a @ b + 1.0", {"linear_in": ["a"], "permutes": []}, "it is not linear in 'a'"),
        (
            "return np.cumsum(a, axis=0) @ b",
            {"linear_in": [], "permutes": ["m"]},
            "reordering along 'm' at .* does not reorder its outputs",
        ),
    ],
)
def test_a_property_that_was_said_to_hold_and_does_not_stops_it(
    tmp_path: Path, sim: Device, reference: str, claims: dict[str, Any], said: str
) -> None:
    source = BODY.format(reference)
    given = generation(tmp_path, sim, second_opinion(source, known=[], **claims))
    given.write(given.reference, source)

    with pytest.raises(GenerationError, match=said):
        take(steps.second_opinion, given)


@pytest.mark.parametrize(
    ("claims", "said"),
    [
        ({"linear_in": ["c"]}, "`linear_in` names 'c'; there are a, b"),
        ({"permutes": ["rows"]}, "`permutes` names 'rows'; there are m, n, k"),
    ],
)
def test_an_opinion_on_what_is_not_there_is_asked_for_again(
    tmp_path: Path, sim: Device, claims: dict[str, Any], said: str
) -> None:
    given = with_reference(tmp_path, sim, second_opinion(**claims), second_opinion())

    take(steps.second_opinion, given)

    assert said in told(given)[0]


NO_BOUND = PLAIN.replace("at < m * n", "at < m * n + 64")
WRONG_SUM = PLAIN.replace("sum += a", "sum -= a")


def test_a_first_kernel_that_is_wrong_twice_is_repaired(tmp_path: Path, sim: Device) -> None:
    given = with_reference(tmp_path, sim, kernel("nonsense"), kernel(NO_BOUND), kernel(WRONG_SUM), kernel())

    take(steps.first_kernel, given)

    objections = told(given)
    assert [
        said in one for said, one in zip(("compile_error", "fault", "wrong_result"), objections, strict=True)
    ]
    assert given.asking.repairs == 3
    assert given.kernel is not None
    assert "sum += a" in given.kernel.read_source()


def test_a_supplied_reference_is_used_as_it_is_and_needs_no_second(tmp_path: Path, sim: Device) -> None:
    mine = tmp_path / "mine.py"
    mine.write_text(REFERENCE)
    given = generation(tmp_path, sim, supplied=Supplied(reference=str(mine)))

    take(steps.reference, given)
    take(steps.second_opinion, given)

    assert given.asking.answers == 0
    assert given.declared(given.reference).reference_origin == ""
    assert mine.read_text() == REFERENCE
