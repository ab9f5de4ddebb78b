"""What stands out in a candidate's compiled code, beyond what stands out in the starting kernel's."""

from __future__ import annotations

from pathlib import Path

from pytest_cudaopt.candidate import Candidate
from pytest_cudaopt.case_judge import CaseJudge
from pytest_cudaopt.compile import Compiled, CompileFailure, compile_candidate
from pytest_cudaopt.declared import Kernel
from pytest_cudaopt.scan import scan
from pytest_cudaopt.tripwire import Scanned, Tripwire


def new_tripwires(judge: CaseJudge) -> tuple[Tripwire, ...]:
    """Scan the code; of that of the starting kernel itself nothing is new."""
    kernel, plan, witness = judge.kernel, judge.plan, judge.plan.witness
    own = _scan(kernel, judge.candidate, judge.for_sim())
    if witness is None or witness.digest == judge.candidate.digest:
        return own.tripwires if witness is None else ()
    start = compile_candidate(kernel, witness, judge.device.on_sim, plan.budget, judge.cases)
    return own.new_since(_scan(kernel, witness, start))


def _scan(kernel: Kernel, candidate: Candidate, compiled: Compiled | CompileFailure) -> Scanned:
    if isinstance(compiled, CompileFailure) or compiled.module.ptx_file is None:
        return Scanned()
    ptx = Path(compiled.module.ptx_file).read_text()
    return scan(ptx, candidate, kernel, compiled.module.lowered)
