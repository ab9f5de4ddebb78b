"""What the judge was wrong about once, through the whole ladder."""

from __future__ import annotations

import judged_found
import pytest
from corpus import RIGHT
from ladder_table import climb

from pytest_cudaopt.device import Device

FOUND = {one.operation for one in judged_found.FAULTY} | {"colsum"}


@pytest.mark.parametrize("name", [name for name in RIGHT if name.split("/")[0] in FOUND])
def test_a_right_rewrite_is_accepted(name: str, sim: Device) -> None:
    climbed = climb(name, sim, seed=1, examples=20)

    assert climbed.evaluation.accepted, climbed.evaluation.reason


@pytest.mark.parametrize("name", [one.name for one in judged_found.FAULTY])
def test_a_faulty_one_is_refused(name: str, sim: Device) -> None:
    assert not climb(name, sim, seed=1, examples=20).evaluation.accepted
