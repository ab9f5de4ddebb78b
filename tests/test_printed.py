"""What a kernel prints, shown with its test and by `cudaopt check`."""

from __future__ import annotations

import json

PRINTING = '    if (i == 7) printf("seven of %d\\n", n);\n    if (i < n'


def test_a_failing_check_shows_what_the_kernel_printed(project):
    project.edit("scale.cu", "    if (i < n", PRINTING)
    project.edit("scale.cu", "2.0f", "3.0f")
    result = project.run("-k", "check-n51")

    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*Captured output of the kernel call*", "seven of 51"])


def test_a_check_that_ends_in_a_fault_shows_what_was_printed_before(project):
    project.edit("scale.cu", "    if (i < n", PRINTING.replace("if (i < n", "if (i <= n"))
    result = project.run("-k", "check-n51")

    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*Captured output of the kernel call*", "seven of 51"])


def test_a_passing_check_shows_it_when_asked(project):
    project.edit("scale.cu", "    if (i < n", PRINTING)

    quiet, asked = project.run("-k", "check-n51"), project.run("-k", "check-n51", "-rP")
    quiet.assert_outcomes(passed=1)
    quiet.stdout.no_fnmatch_line("seven of 51")
    asked.stdout.fnmatch_lines(["*Captured output of the kernel call*", "seven of 51"])


def test_a_kernel_that_prints_nothing_has_no_such_section(project):
    assert "output of the kernel" not in project.run("-rP").stdout.str()


def test_check_prints_it_before_the_verdict_and_in_its_json(project):
    project.edit("scale.cu", "    if (i < n", PRINTING)
    result = project.cudaopt("check", "test_scale.py::scale")
    result.stdout.fnmatch_lines(["output of the kernel at n51:", "seven of 51", "*accepted on sim*"])

    judged = json.loads(project.cudaopt("check", "test_scale.py::scale", "--json").stdout.str())
    assert [case.get("printed") for case in judged["cases"]] == ["seven of 51\n", "seven of 4096\n"]
