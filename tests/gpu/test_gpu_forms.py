"""Every instruction form on silicon: what its oracle says, the bits that are kept, or bits to keep."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from golden_forms import HOW_TO_WRITE, differences, read_all, record, write
from golden_outputs import WRITE_VARIABLE
from harness_client import Served
from instruction_forms import TABLES
from ptx_runner import Form, Outcome, execute_on_gpu

from pytest_cudaopt.device import Device


class Silicon:
    """A harness of its own, opened again when a fault ended it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._harness = Served("--nvrtc", "none")
        self.refused: list[str] = []
        self.outcomes: dict[str, Outcome] = {}

    def execute(self, form: Form) -> Outcome | None:
        try:
            outcome = execute_on_gpu(form, self._harness, self._folder)
        except (AssertionError, ValueError, OSError) as error:
            self.refused.append(f"{form.id}: {str(error).splitlines()[0]}")
            self.close()
            self._harness = Served("--nvrtc", "none")
            return None
        self.outcomes[form.id] = outcome
        return outcome

    def close(self) -> None:
        self._harness.__exit__(None, None, None)


@pytest.mark.gpu
@pytest.mark.parametrize("table", TABLES)
def test_silicon_gives_what_the_oracle_says_and_the_bits_that_are_kept(
    table: str, cuda: Device, tmp_path: Path
) -> None:
    capability = int("".join(c for c in cuda.limits.architecture if c.isdigit()))  # sm_90 -> 90
    forms = [form for form in TABLES[table] if form.target <= capability]
    silicon = Silicon(tmp_path)
    recorded, disagreeing = record(forms, silicon.execute)
    silicon.close()
    if folder := os.environ.get(WRITE_VARIABLE):
        write(table, cuda.description, recorded, Path(folder))
    else:
        kept = read_all()
        assert kept, f"no golden file: {HOW_TO_WRITE}"
        outcomes = [(form, silicon.outcomes[form.id]) for form in forms if form.id in silicon.outcomes]
        assert [found for form, outcome in outcomes for found in differences(form, outcome, kept)] == []
    assert disagreeing == []
    assert silicon.refused == []
