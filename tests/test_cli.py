"""The `cudaopt` command: what it prints and what it answers to the shell."""

import json

import pytest

JSON_KEYS = {"schema", "accepted", "status", "findings", "cases", "latency", "certificate"}
YES, NO, NOT_JUDGED = 0, 1, 2


def judged_json(result: pytest.RunResult) -> dict:
    judged = json.loads(result.stdout.str())
    assert set(judged) >= JSON_KEYS
    assert judged["schema"] == 1
    return judged


def test_an_accepted_kernel_is_a_yes(project):
    result = project.cudaopt("check", "test_scale.py::scale")

    assert result.ret == YES
    result.stdout.fnmatch_lines(["*scale: accepted on sim*", "*n51*passed*", "*n4096*passed*modelled*"])


def test_how_often_to_measure_can_be_chosen(project):
    counts = ("--samples=7", "--warmup=2", "--relative-error=1")

    assert project.cudaopt("check", "test_scale.py::scale", *counts).ret == YES
    result = project.cudaopt("check", "test_scale.py::scale", "--samples=none")
    assert result.ret == NOT_JUDGED
    result.stdout.fnmatch_lines(["*--samples on the command line*"])


def test_json_says_what_was_and_was_not_proved(project):
    result = project.cudaopt("check", "test_scale.py::scale", "--json")
    judged = judged_json(result)

    assert result.ret == YES
    assert judged["accepted"] is True
    assert judged["status"] == "accepted"
    assert judged["findings"] == []
    assert [case["id"] for case in judged["cases"]] == ["n51", "n4096"]
    assert judged["latency"]["kind"] == "modelled"
    assert any("n51" in proved for proved in judged["certificate"]["proved"])
    assert any(proved.startswith("on sim no races, ") for proved in judged["certificate"]["proved"])
    assert not any("races" in left for left in judged["certificate"]["not_checked"])


def test_another_source_is_judged_in_the_kernels_place(project):
    project.write("faster.cu", (project.path / "scale.cu").read_text().replace("2.0f * x[i]", "x[i] + x[i]"))

    assert project.cudaopt("check", "test_scale.py::scale", "faster.cu").ret == YES


def test_a_wrong_candidate_is_a_no_with_its_finding(project):
    project.write("wrong.cu", (project.path / "scale.cu").read_text().replace("2.0f", "3.0f"))
    result = project.cudaopt("check", "test_scale.py::scale", "wrong.cu", "--json")
    judged = judged_json(result)

    assert result.ret == NO
    assert (judged["accepted"], judged["status"]) == (False, "wrong_result")
    assert judged["findings"][0]["kind"] == "wrong_result"
    assert judged["findings"][0]["worst"]["index"]


def test_a_candidate_that_does_not_compile_is_a_no_with_its_line(project):
    project.write("broken.cu", (project.path / "scale.cu").read_text().replace("2.0f * x[i]", "2.0f * z[i]"))
    judged = judged_json(project.cudaopt("check", "test_scale.py::scale", "broken.cu", "--json"))

    assert judged["status"] == "compile_error"
    assert (judged["findings"][0]["file"], judged["findings"][0]["line"]) == ("broken.cu", 5)


def test_a_candidate_that_faults_is_a_no_with_the_element(project):
    project.write("over.cu", (project.path / "scale.cu").read_text().replace("if (i < n) ", ""))
    judged = judged_json(project.cudaopt("check", "test_scale.py::scale", "over.cu", "--json"))

    assert judged["status"] == "fault"
    assert judged["findings"][0]["kind"] == "illegal_address"
    assert judged["findings"][0]["element"] == 51
    assert judged["findings"][0]["line"] == 5


def test_unreadable_directives_of_a_candidate_are_its_own_fault(project):
    project.write("odd.cu", (project.path / "scale.cu").read_text().replace("@tune BLOCK", "@tune"))
    result = project.cudaopt("check", "test_scale.py::scale", "odd.cu", "--json")

    assert result.ret == NO
    assert judged_json(result)["status"] == "compile_error"


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("test_scale.py", "*expected  MODULE::KERNEL*"),
        ("test_nothing.py::scale", "*next      Test modules there: test_scale.py"),
        ("test_scale.py::skale", "*got       kernels scale"),
    ],
)
def test_a_kernel_that_cannot_be_found_could_not_be_judged(project, target, message):
    result = project.cudaopt("check", target)

    assert result.ret == NOT_JUDGED
    result.stdout.fnmatch_lines(["DECLARATION: *", message])


def test_a_module_that_raises_could_not_be_judged(project):
    project.edit("test_scale.py", "@kernel", "1 / 0\n@kernel")
    result = project.cudaopt("check", "test_scale.py::scale", "--json")

    assert result.ret == NOT_JUDGED
    assert "ZeroDivisionError" in judged_json(result)["findings"][0]["message"]


def test_what_a_module_prints_is_kept_out_of_the_json(project):
    project.edit("test_scale.py", "@kernel", "print('hello')\n@kernel")
    result = project.cudaopt("check", "test_scale.py::scale", "--json")

    assert judged_json(result)["accepted"]
    assert "hello" in result.stderr.str()


def test_what_a_reference_prints_is_kept_out_of_the_json(project):
    project.edit("test_scale.py", "    y[...]", "    print('hello')\n    y[...]")
    result = project.cudaopt("check", "test_scale.py::scale", "--json")

    assert judged_json(result)["accepted"]
    assert "hello" in result.stderr.str()


def test_a_missing_candidate_could_not_be_judged(project):
    result = project.cudaopt("check", "test_scale.py::scale", "nowhere.cu")

    assert result.ret == NOT_JUDGED
    result.stdout.fnmatch_lines(["SOURCE: candidate", "  expected  a readable file nowhere.cu"])


def test_a_lacking_environment_could_not_be_judged(project, monkeypatch):
    monkeypatch.setenv("CUDAOPT_NVRTC", "/nowhere/libnvrtc.so.13")
    result = project.cudaopt("check", "test_scale.py::scale", "--json")
    judged = judged_json(result)

    assert result.ret == NOT_JUDGED
    assert judged["status"] == "not_judged"
    assert judged["findings"][0]["kind"] == "environment"
    assert judged["certificate"]["proved"] == []


def test_a_wrong_option_is_named_by_the_commands_own_flag(project):
    result = project.cudaopt("check", "test_scale.py::scale", "--device", "gpu")

    assert result.ret == NOT_JUDGED
    result.stdout.fnmatch_lines(["*--device on the command line*"])


def test_a_kernel_of_a_package_can_import_its_neighbours(project):
    project.write("pack/__init__.py", "")
    project.write("pack/sizes.py", "SIZE = 51\n")
    project.write("pack/scale.cu", (project.path / "scale.cu").read_text())
    text = (project.path / "test_scale.py").read_text().replace("n=51", "n=SIZE")
    project.write("pack/test_scale.py", "from .sizes import SIZE\n" + text)

    assert project.cudaopt("check", "pack/test_scale.py::scale").ret == YES


def test_doctor_finds_what_is_here(project):
    result = project.cudaopt("doctor")

    assert result.ret == YES
    result.stdout.fnmatch_lines(
        ["found *Python*", "found *harness*", "found *NVRTC*", "found *CUDA headers*", "found *sim*"]
    )


def test_doctor_says_that_a_modelled_device_has_no_peaks(project):
    result = project.cudaopt("doctor", "--peaks", "--device=sim")

    assert result.ret == YES
    result.stdout.fnmatch_lines(["absent *peaks *sim (modelled h200) is modelled: *no measured peaks"])


def test_doctor_says_no_where_something_is_missing(project, monkeypatch):
    monkeypatch.setenv("CUDAOPT_NVRTC", "/nowhere/libnvrtc.so.13")
    result = project.cudaopt("doctor")

    assert result.ret == NO
    result.stdout.fnmatch_lines(["missing *NVRTC*/nowhere/libnvrtc.so.13*", "*Correct CUDAOPT_NVRTC*"])


def test_graph_prints_the_agents_steps(project):
    result = project.cudaopt("graph")

    assert result.ret == YES
    result.stdout.fnmatch_lines(["graph TD;", "*evaluate --> decide;*"])


def test_a_graph_that_nothing_here_can_draw_could_not_be_done(project, monkeypatch):
    monkeypatch.setenv("PATH", str(project.path))
    result = project.cudaopt("graph", "--svg", "graph.svg")

    assert result.ret == NOT_JUDGED
    result.stderr.fnmatch_lines(["*drawing the graph*", "*mmdc (mermaid-cli) or dot (graphviz)*"])


def test_replay_executes_a_recorded_request(project):
    project.run_alone("--optimize", "-k", "optimize").assert_outcomes(passed=1, deselected=6)
    (request,) = (project.path / "results/run-001/replay").glob("*.json")
    result = project.cudaopt("replay", "--json", str(request))

    assert result.ret == YES
    assert json.loads(result.stdout.str())["status"] == "ok"


def test_replay_of_nothing_could_not_be_judged(project):
    assert project.cudaopt("replay", "nowhere.json").ret == NOT_JUDGED


def test_no_command_is_a_usage_error(project):
    result = project.cudaopt()

    assert result.ret == NOT_JUDGED
    result.stderr.fnmatch_lines(["usage: cudaopt*"])


def test_a_wrong_option_is_a_fault_of_the_settings(project):
    result = project.cudaopt("check", "test_scale.py::scale", "--device=gpu")

    assert result.ret == NOT_JUDGED
    result.stdout.fnmatch_lines(["SETTINGS: --device on the command line"])


def test_a_place_at_line_100_is_printed_as_it_is(project):
    start = (project.path / "scale.cu").read_text()
    lines_before = "//\n" * (99 - start[: start.index("2.0f * x[i]")].count("\n"))
    project.write("late.cu", lines_before + start.replace("2.0f * x[i]", "2.0f * z[i]"))
    result = project.cudaopt("check", "test_scale.py::scale", "late.cu")

    assert result.ret == NO
    result.stdout.fnmatch_lines(["*.cu:100:*error: *"])


INI_FILES = [
    ("pytest.ini", "[pytest]\ncudaopt_include = lib\n"),
    ("pyproject.toml", '[tool.pytest.ini_options]\ncudaopt_include = "lib"\n'),
    ("tox.ini", "[pytest]\ncudaopt_include = lib\n"),
    ("setup.cfg", "[tool:pytest]\ncudaopt_include = lib\n"),
]


@pytest.mark.parametrize(("name", "text"), INI_FILES, ids=[name for name, _ in INI_FILES])
def test_check_and_pytest_take_the_folders_of_the_same_ini_file(project, name, text):
    project.edit("scale.cu", "// @launch", '#include "factor.h"\n// @launch')
    project.edit("scale.cu", "2.0f", "FACTOR")
    project.write("lib/factor.h", "#define FACTOR 2.0f\n")
    for file in ("scale.cu", "test_scale.py"):
        project.write(f"sub/{file}", (project.path / file).read_text())
    assert project.cudaopt("check", "sub/test_scale.py::scale").ret == NO
    project.write(name, text)

    assert project.cudaopt("check", "sub/test_scale.py::scale").ret == YES
    project.run("--cudaopt-fuzz-examples=0", "sub").assert_outcomes(passed=4)


def test_what_cannot_be_read_from_the_ini_file_is_named(project):
    project.write("pytest.ini", "[pytest]\ncudaopt_device = gpu\n")
    result = project.cudaopt("check", "test_scale.py::scale")

    assert result.ret == NOT_JUDGED
    result.stdout.fnmatch_lines(["SETTINGS: cudaopt_device in the ini file"])


def test_flags_and_the_environment_win_over_the_ini_file(project, monkeypatch):
    project.write("pytest.ini", "[pytest]\ncudaopt_device = gpu\n")

    assert project.cudaopt("check", "test_scale.py::scale", "--device=sim").ret == YES
    monkeypatch.setenv("CUDAOPT_DEVICE", "sim")
    assert project.cudaopt("check", "test_scale.py::scale").ret == YES


def test_a_candidate_may_start_with_a_byte_order_mark(project):
    project.write("marked.cu", "\ufeff" + (project.path / "scale.cu").read_text())

    assert project.cudaopt("check", "test_scale.py::scale", "marked.cu").ret == YES


def test_an_error_of_a_candidate_names_the_file_that_was_given(project):
    project.write("other/scale2.cu", (project.path / "scale.cu").read_text().replace("2.0f", "nonsense"))
    result = project.cudaopt("check", "test_scale.py::scale", "other/scale2.cu")

    assert result.ret == NO
    result.stdout.fnmatch_lines(["COMPILE: other/scale2.cu: *", "  other/scale2.cu:5:*error*"])


def test_a_header_of_a_candidate_is_named_from_where_the_kernel_stands(project):
    project.write("factor.h", "#define FACTOR nonsense\n__device__ int f() { return nothing; }\n")
    text = (project.path / "scale.cu").read_text()
    project.write("other/scale2.cu", '#include "factor.h"\n' + text)
    result = project.cudaopt("check", "test_scale.py::scale", "other/scale2.cu")

    assert result.ret == NO
    result.stdout.fnmatch_lines(["  factor.h:2:*error*nothing*"])


def test_help_says_where_includes_of_a_candidate_are_looked_for(project):
    result = project.cudaopt("check", "--help")

    assert "includes are looked for from the kernel's own file" in " ".join(result.stdout.str().split())


FEW = ("--strength", "--mutants=8")


def test_strength_shows_the_mistakes_that_the_cases_miss_and_the_case_that_does_not(project):
    project.edit("test_scale.py", "cases=[case(n=51), case(n=4096, measure=True)]", "cases=[case(n=64)]")
    result = project.cudaopt("check", "test_scale.py::scale", *FEW)

    assert result.ret == YES
    result.stdout.fnmatch_lines(
        [
            "scale on sim*: * mutants judged in * s",
            "  killed by * mutants  declared    ladder",
            "  dropped guard  *1         0         1",
            "The declared cases miss, a later stage kills:",
            "  scale.cu:5  dropped guard",
            "    - if (i < n) y[[]i] = 2.0f * x[[]i];",
            "    + if (true) y[[]i] = 2.0f * x[[]i];",
            "    killed by fuzz (fault): case n*",
            "    a case that kills it: case(n=*",
        ],
        consecutive=False,
    )


def test_strength_as_json_counts_for_the_declared_cases_and_for_the_ladder(project):
    result = project.cudaopt("check", "test_scale.py::scale", *FEW, "--json")
    answer = json.loads(result.stdout.str())

    assert result.ret == YES
    assert set(answer) >= {"schema", "mutants", "declared", "ladder"}
    assert answer["declared"]["of"] == answer["ladder"]["of"] == len(answer["mutants"]) <= 8
    assert 0 < answer["declared"]["killed"] <= answer["ladder"]["killed"]


def test_strength_stops_when_its_time_is_over(project):
    result = project.cudaopt("check", "test_scale.py::scale", "--strength", "--seconds=0", "--json")
    answer = json.loads(result.stdout.str())

    assert (answer["mutants"], answer["dropped"]["no_time"] > 8) == ([], True)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("2.0f", "3.0f", "WRONG: *"),
        # Wrong only beyond the declared cases.
        ("i < n", "i < n && i < 4096", "WRONG: kernel 'scale' itself, beyond its declared cases: fuzz: *"),
    ],
)
def test_the_mutants_of_a_wrong_kernel_say_nothing(project, old, new, message):
    project.edit("scale.cu", old, new)
    result = project.cudaopt("check", "test_scale.py::scale", "--strength")

    assert result.ret == NOT_JUDGED
    result.stdout.fnmatch_lines([message])
    judged = judged_json(project.cudaopt("check", "test_scale.py::scale", "--strength", "--json"))
    assert judged["status"] == "not_judged"


def test_strength_is_of_the_kernel_not_of_a_candidate(project):
    result = project.cudaopt("check", "test_scale.py::scale", "scale.cu", "--strength")

    assert result.ret == NOT_JUDGED
    result.stdout.fnmatch_lines(["SETTINGS: check --strength", "*expected  no candidate*"])


def test_a_candidates_latency_is_held_against_the_kernel_as_it_is(project):
    text = (project.path / "scale.cu").read_text()
    idle = "volatile float* v = y; if (i < n) for (int k = 0; k < 2000; ++k) v[i] = 0; "
    for name, source in (("slower", text.replace("if (i < n)", idle + "if (i < n)")), ("same", text)):
        project.write(f"{name}.cu", source)
        result = project.cudaopt("check", "test_scale.py::scale", f"{name}.cu", "--json", "--fuzz-examples=0")
        answer = judged_json(result)

        assert result.ret == YES
        assert answer["latency"]["verdict"] == name
        (gated,) = answer["cases"][1]["gated"]
        assert (gated["against"], gated["verdict"]) == ("start", name)
