"""All the kernels the judge is tested with: starts, right twins, and those that must not be accepted."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import judged_found
import judged_given
import judged_lists
import judged_matrices
import judged_rows
import judged_streams
from faulty_table import FOLDER

from pytest_cudaopt.candidate import Candidate
from pytest_cudaopt.declared import Kernel
from pytest_cudaopt.launch import LaunchRule
from pytest_cudaopt.properties import Obligations, Property

MODULES = (judged_rows, judged_matrices, judged_lists, judged_streams, judged_found, judged_given)
KERNELS = {name: value for module in MODULES for name, value in vars(module).items() if type(value) is Kernel}
FAULTY = {one.name: one for module in MODULES for one in module.FAULTY}
_PATHS = (*FOLDER.glob("*/*.cu"), *judged_given.FOLDER.glob("*/*.cu"))
FILES = {f"{path.parent.name}/{path.stem.replace('correct', 'start')}": path for path in sorted(_PATHS)}
RIGHT = [name for name in FILES if Path(name).name.startswith("right_")]
STARTS = [f"{name}/start" for name in KERNELS]


# Rewritten by algebra that infinities do not obey: right only where the declaration gives them up.
GIVES_UP_INFINITIES = (
    "batch_norm/right_folded",
    "bilinear/right_lerp",
    "bilinear/right_weights",
    "colsum/right_kahan",
    "layer_norm/right_double",
    "logsumexp/right_online",
)


def candidate_of(name: str) -> tuple[Kernel, Candidate]:
    """Return the operation's kernel, and the candidate of that name for it."""
    kernel, path = KERNELS[name.split("/")[0]], FILES[name]
    if name.endswith("/start"):
        return kernel, kernel.start()
    if name in GIVES_UP_INFINITIES:
        kernel = replace(kernel, obligations=Obligations(ignored=frozenset({Property.NON_FINITE})))
    candidate = kernel.candidate(path.read_text(), path)
    rule = judged_given.LAUNCHES.get(name)
    return kernel, candidate if rule is None else replace(candidate, launch=LaunchRule.parse(rule))
