"""All the kernels the judge is tested with: starts, right twins, and those that must not be accepted."""

from __future__ import annotations

from pathlib import Path

import judged_lists
import judged_matrices
import judged_rows
import judged_streams
from faulty_table import FOLDER

from pytest_cudaopt.candidate import Candidate
from pytest_cudaopt.declared import Kernel

MODULES = (judged_rows, judged_matrices, judged_lists, judged_streams)
KERNELS = {name: value for module in MODULES for name, value in vars(module).items() if type(value) is Kernel}
FAULTY = {one.name: one for module in MODULES for one in module.FAULTY}
FILES = {f"{path.parent.name}/{path.stem}": path for path in sorted(FOLDER.glob("*/*.cu"))}
RIGHT = [name for name in FILES if Path(name).name.startswith("right_")]
STARTS = [f"{name}/start" for name in KERNELS]


def candidate_of(name: str) -> tuple[Kernel, Candidate]:
    kernel, path = KERNELS[name.split("/")[0]], FILES[name]
    return kernel, kernel.start() if path.stem == "start" else kernel.candidate(path.read_text(), path)
