"""Which instruction forms the tests execute on `sim` and compare with a value they know.

Run `python tests/form_coverage.py [--missing]`. `instruction_forms.txt` counts what NVRTC wrote for 30
kernels (uses, form). A form is executed if a table of `instruction_forms.py` has it: each entry is run
and compared with an oracle. Other tests name what they execute in a tuple `EXECUTES = ("call.uni", ...)`.
"""

from __future__ import annotations

import argparse
import ast
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import matrix_forms
import test_wmma
from instruction_forms import TABLES
from ptx_runner import Form

TESTS = Path(__file__).parent
LIST = TESTS / "instruction_forms.txt"


@dataclass(frozen=True)
class Row:
    """A form, how often NVRTC wrote it, and the table or test that executes it, if any does."""

    form: str
    uses: int
    executed_by: str | None


@dataclass(frozen=True)
class Coverage:
    """All forms of the list, most frequent first, and how many more are executed."""

    rows: tuple[Row, ...]
    beyond: int

    @property
    def missing(self) -> tuple[Row, ...]:
        return tuple(row for row in self.rows if row.executed_by is None)

    def summary(self) -> str:
        executed = [row for row in self.rows if row.executed_by]
        uses, all_uses = sum(row.uses for row in executed), sum(row.uses for row in self.rows)
        return (
            f"executed against a known value: {len(executed)} of {len(self.rows)} forms "
            f"({100 * len(executed) / len(self.rows):.1f} %), {uses} of {all_uses} instructions "
            f"({100 * uses / all_uses:.1f} %); and {self.beyond} forms that are not in the list"
        )


def listed(text: str) -> list[tuple[int, str]]:
    return [(int(uses), form) for uses, form in (line.split() for line in text.splitlines())]


def of_tables(tables: Mapping[str, Iterable[Form]]) -> dict[str, str]:
    """Return the forms in these tables, and the table each is in."""
    return {form.name: name for name, forms in tables.items() for form in forms}


def of_matrices() -> dict[str, str]:
    """Return the forms of tensor cores: the `mma` of their table, and what the kernels of `wmma` hold."""
    found = {form.name: "matrix_forms" for form in matrix_forms.FORMS}
    for form in test_wmma.FORMS:
        names: list[str] = re.findall(r"\bwmma\.\S+", test_wmma.kernel_text(form))
        found |= dict.fromkeys(names, "test_wmma")
    return found


def declared_in(source: str) -> tuple[str, ...]:
    """Return the forms a test module says it executes."""
    for statement in ast.parse(source).body:
        if isinstance(statement, ast.Assign) and [ast.unparse(t) for t in statement.targets] == ["EXECUTES"]:
            return tuple(ast.literal_eval(statement.value))
    return ()


def of_other_tests(files: Iterator[Path]) -> dict[str, str]:
    texts = ((file.stem, file.read_text()) for file in sorted(files))
    return {form: name for name, text in texts if "EXECUTES" in text for form in declared_in(text)}


def coverage() -> Coverage:
    """Collect what is executed from the tests themselves."""
    executed = of_other_tests(TESTS.glob("test_*.py")) | of_matrices() | of_tables(TABLES)
    forms = listed(LIST.read_text())
    rows = tuple(Row(form, uses, executed.get(form)) for uses, form in forms)
    return Coverage(rows, len(executed.keys() - {form for _, form in forms}))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--missing", action="store_true", help="only the forms nothing executes")
    only_missing = parser.parse_args().missing
    found = coverage()
    for row in found.missing if only_missing else found.rows:
        print(f"{row.form:58s} {row.uses:4d}  {row.executed_by or '-'}")  # noqa: T201 - a script
    print(found.summary())  # noqa: T201


if __name__ == "__main__":
    main()
