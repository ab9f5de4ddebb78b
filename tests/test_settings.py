"""Options: one declaration each, read alike from every source, wrong values named with their source."""

import dataclasses

import pytest

from pytest_cudaopt.errors import SettingsError
from pytest_cudaopt.settings import OPTIONS, ConfigFile, Settings, resolve

BY_FIELD = {option.field: option for option in OPTIONS}


def test_nothing_given_means_defaults():
    settings = resolve({}, {}, {})

    assert settings == Settings(**{option.field: option.default for option in OPTIONS})
    assert not settings.optimize
    assert settings.device == "auto"


def test_every_setting_has_exactly_one_option():
    assert [option.field for option in OPTIONS] == [field.name for field in dataclasses.fields(Settings)]


@pytest.mark.parametrize("spelling", ["flag", "ini", "env", "cli_flag"])
def test_no_two_options_share_a_spelling(spelling):
    spelt = [getattr(option, spelling) for option in OPTIONS]

    assert len(set(spelt)) == len(spelt)


def test_help_texts_hold_no_percent_sign_which_argparse_would_expand():
    assert [option.flag for option in OPTIONS if "%" in option.help] == []


def test_pytest_options_cannot_collide_with_other_plugins():
    assert [o.flag for o in OPTIONS if not o.flag.startswith(("--optimize", "--cudaopt-"))] == []


@pytest.mark.parametrize(
    ("field", "flag", "ini", "env", "cli_flag"),
    [
        ("device", "--cudaopt-device", "cudaopt_device", "CUDAOPT_DEVICE", "--device"),
        (
            "max_iterations",
            "--optimize-max-iterations",
            "optimize_max_iterations",
            "CUDAOPT_OPTIMIZE_MAX_ITERATIONS",
            "--max-iterations",
        ),
        ("timeout_s", "--cudaopt-timeout", "cudaopt_timeout", "CUDAOPT_TIMEOUT", "--timeout"),
    ],
)
def test_spellings_follow_from_the_flag(field, flag, ini, env, cli_flag):
    option = BY_FIELD[field]

    assert (option.flag, option.ini, option.env, option.cli_flag) == (flag, ini, env, cli_flag)


def test_command_line_wins_over_environment_over_ini():
    command_line, environ, ini = {"threads": "1"}, {"CUDAOPT_THREADS": "2"}, {"threads": "3"}

    assert resolve(command_line, environ, ini).threads == 1
    assert resolve({}, environ, ini).threads == 2
    assert resolve({}, {}, ini).threads == 3


@pytest.mark.parametrize(
    ("field", "text", "value"),
    [
        ("optimize", "yes", True),
        ("optimize", "Off", False),
        ("optimize", True, True),
        ("max_iterations", " 12 ", 12),
        ("model", "offline", "offline"),
        ("model", "replay:run.jsonl", "replay:run.jsonl"),
        ("model", "any/name:7b", "any/name:7b"),
        ("effort", "high", "high"),
        ("api", "chat", "chat"),
        ("strategy", "loop", "loop"),
        ("strategy", "single", "single"),
        ("search", "greedy", (1, 1)),
        ("search", "beam", (2, 2)),
        ("search", "beam:3x1", (3, 1)),
        ("max_tokens", "0", None),
        ("max_tokens", "90000", 90_000),
        ("max_seconds", "0", None),
        ("max_seconds", "90s", 90.0),
        ("until", "7:05", "7:05"),
        ("until", "", ""),
        ("patience", "3", 3),
        ("floor_share", "90", 0.9),
        ("record", "runs/r.jsonl", "runs/r.jsonl"),
        ("sandbox", "landlock", "landlock"),
        ("docs", "notes/cuda", "notes/cuda"),
        ("device", "cuda:11", "cuda:11"),
        ("require", "gpu, ", frozenset({"gpu"})),
        ("require", "", frozenset()),
        ("require", "gpu,baseline,verdict", frozenset({"gpu", "baseline", "verdict"})),
        ("budget_s", "300s", 300.0),
        ("budget_s", "5m", 300.0),
        ("budget_s", "1.5", 1.5),
        ("budget_s", "0", None),
        ("report", "out/Kernels.HTML", "out/Kernels.HTML"),
        ("report", "kernels.md", "kernels.md"),
        ("report", "", ""),
        ("include", "csrc, my inc\n lib", ("csrc", "my inc", "lib")),
        ("stub", "", ()),
        ("compdb", " build/compile_commands.json", "build/compile_commands.json"),
        ("timeout_s", "300s", 300.0),
        ("timeout_s", "0.5", 0.5),
        ("results", "out/runs", "out/runs"),
        ("samples", "2", 2),
        ("warmup", "0", 0),
        ("relative_error", "0.5", 0.005),
        ("baseline", "update-new", "update-new"),
        ("accept_slower", True, True),
        ("against", "origin/main", "origin/main"),
        ("changed", "", ""),
        ("fuzz_examples", "0", 0),
        ("fuzz_seed", "7", 7),
        ("sanitize_elements", "0", 0),
    ],
)
def test_values_are_read(field, text, value):
    assert getattr(resolve({field: text}, {}, {}), field) == value


@pytest.mark.parametrize(
    ("field", "text", "expected"),
    [
        ("optimize", "maybe", "true or false"),
        ("max_iterations", "0", "a whole number of at least 1"),
        ("max_iterations", "many", "a whole number of at least 1"),
        ("threads", "-1", "a whole number of at least 0"),
        ("seed", "1.5", "a whole number of at least 0"),
        ("model", "", "auto, offline, replay:FILE, files:FOLDER or a language model's name"),
        ("model", "replay:", "auto, offline, replay:FILE, files:FOLDER or a language model's name"),
        ("model", "files:", "auto, offline, replay:FILE, files:FOLDER or a language model's name"),
        ("effort", "much", "one of none, minimal, low, medium, high, xhigh"),
        ("api", "grpc", "one of auto, responses, chat, plain"),
        ("strategy", "double", "one of loop, single"),
        ("search", "beam:0x2", "greedy, beam or beam:WxB"),
        ("search", "wide", "greedy, beam or beam:WxB"),
        ("max_tokens", "many", "a whole number, 0 for no limit"),
        ("max_seconds", "-1", "seconds, 0 for no limit"),
        ("until", "25:00", "a time of day such as 07:00"),
        ("patience", "1.5", "a whole number, 0 for no limit"),
        ("floor_share", "near", "a percentage of at least 0"),
        ("device", "gpu", "auto, sim or cuda:N"),
        ("device", "cuda", "auto, sim or cuda:N"),
        ("require", "gpu,tpu", "a comma-separated list of gpu, baseline, verdict"),
        ("budget_s", "5h", "seconds or minutes, such as 300s or 5m"),
        ("budget_s", "-1", "seconds or minutes, such as 300s or 5m"),
        ("report", "kernels.txt", "a file name that ends in .md or .html"),
        ("report", "html", "a file name that ends in .md or .html"),
        ("timeout_s", "0", "seconds greater than 0"),
        ("timeout_s", "nan", "seconds greater than 0"),
        ("results", "", "a folder"),
        ("samples", "1", "a whole number of at least 2"),
        ("warmup", "-1", "a whole number of at least 0"),
        ("relative_error", "small", "a percentage of at least 0"),
        ("baseline", "write", "one of check, update, update-new, off"),
        ("fuzz_examples", "-1", "a whole number of at least 0"),
        ("fuzz_seed", "-1", "a whole number, or random"),
        ("sanitize_elements", "small", "a whole number of at least 0"),
        ("sandbox", "none", "one of auto, bubblewrap, landlock, off"),
        ("sim_gate", "loud", "one of off, warn, fail"),
    ],
)
def test_wrong_values_say_what_was_expected(field, text, expected):
    with pytest.raises(SettingsError) as raised:
        resolve({field: text}, {}, {})

    assert expected in str(raised.value)
    assert f"got '{text}'" in str(raised.value)


@pytest.mark.parametrize(
    ("sources", "named"),
    [
        (({"device": "x"}, {}, {}), "--cudaopt-device on the command line"),
        (({}, {"CUDAOPT_DEVICE": "x"}, {}), "CUDAOPT_DEVICE in the environment"),
        (({}, {}, {"device": "x"}), "cudaopt_device in the ini file"),
    ],
)
def test_a_wrong_value_names_where_it_came_from(sources, named):
    with pytest.raises(SettingsError, match=named):
        resolve(*sources)


def test_another_command_line_is_named_by_its_own_flags():
    with pytest.raises(SettingsError, match=r"^--device on the command line"):
        resolve({"device": "x"}, {}, {}, flag_of=lambda option: option.cli_flag)


def test_only_what_changes_a_result_is_needed_to_reproduce_it():
    settings = resolve({"device": "sim", "threads": "3", "results": "elsewhere"}, {}, {})

    assert settings.differing_flags() == ["--cudaopt-device=sim"]
    assert resolve({}, {}, {}).differing_flags() == []


def test_a_latency_is_reproduced_with_how_it_was_measured():
    settings = resolve({"samples": "500", "warmup": "0", "relative_error": "0.3"}, {}, {})

    assert settings.differing_flags() == []
    assert settings.differing_flags(timing=True) == [
        "--cudaopt-samples=500",
        "--cudaopt-warmup=0",
        "--cudaopt-relative-error=0.3",
    ]


def test_a_latency_is_reproduced_with_the_revision_it_was_held_against():
    settings = resolve({"against": "origin/main", "changed": "HEAD"}, {}, {})

    assert settings.differing_flags() == []
    assert settings.differing_flags(timing=True) == ["--cudaopt-against=origin/main"]


def test_drawn_cases_are_reproduced_with_their_number_and_seed():
    settings = resolve({"fuzz_examples": "50", "fuzz_seed": "9"}, {}, {})

    assert settings.differing_flags() == []
    assert settings.differing_flags(fuzzing=True) == ["--cudaopt-fuzz-examples=50", "--cudaopt-fuzz-seed=9"]


def test_a_random_seed_is_another_one_each_time_and_written_as_the_number_it_is():
    first, second = (resolve({"fuzz_seed": "random"}, {}, {}) for _ in range(2))

    assert first.fuzz_seed != second.fuzz_seed
    assert first.differing_flags(fuzzing=True) == [f"--cudaopt-fuzz-seed={first.fuzz_seed}"]


@pytest.mark.parametrize("text", ["3", "0.3", "12.5"])
@pytest.mark.parametrize("field", ["allow_slower", "relative_error"])
def test_a_percentage_is_written_as_it_is_read(field, text):
    assert BY_FIELD[field].write(getattr(resolve({field: text}, {}, {}), field)) == text


@pytest.mark.parametrize(
    ("field", "text"),
    [
        ("search", "beam:3x2"),
        ("search", "greedy"),
        ("max_tokens", "0"),
        ("max_tokens", "9"),
        ("patience", "2"),
        ("max_seconds", "1.5"),
        ("max_seconds", "0"),
        ("floor_share", "90"),
    ],
)
def test_a_bound_of_a_run_is_written_as_it_is_read(field, text):
    assert BY_FIELD[field].write(getattr(resolve({field: text}, {}, {}), field)) == text


def test_a_run_is_reproduced_with_its_own_flags_too():
    settings = resolve({"optimize": "true", "max_iterations": "3", "timeout_s": "9"}, {}, {})

    assert settings.differing_flags() == ["--cudaopt-timeout=9.0"]
    assert settings.differing_flags(optimizing=True) == [
        "--optimize",
        "--optimize-max-iterations=3",
        "--cudaopt-timeout=9.0",
    ]


@pytest.mark.parametrize(("given", "fraction"), [("0", 0.0), ("2", 0.02), ("2.5", 0.025), ("10%", 0.1)])
def test_a_percentage_is_read_with_or_without_its_sign(given, fraction):
    assert resolve({"allow_slower": given}, {}, {}).allow_slower == pytest.approx(fraction)


@pytest.mark.parametrize("given", ["-1", "two", "%", "1e9"])
def test_what_is_no_percentage_is_refused(given):
    with pytest.raises(SettingsError, match="a percentage of at least 0"):
        resolve({"allow_slower": given}, {}, {})


def test_a_sanitized_kernel_is_reproduced_with_what_its_cases_depend_on():
    settings = resolve({"sanitize_elements": "9", "fuzz_seed": "3", "fuzz_examples": "5"}, {}, {})

    assert settings.differing_flags(sanitizing=True) == [
        "--cudaopt-fuzz-seed=3",
        "--cudaopt-sanitize-elements=9",
    ]
    assert settings.differing_flags() == []


def test_no_two_options_share_a_flag_of_the_command():
    assert len({option.cli_flag for option in OPTIONS}) == len(OPTIONS)


def test_a_config_file_wins_over_the_ini_file_alone():
    config = ConfigFile("example.json", {"max_iterations": "2", "seed": "2", "samples": "2"})
    environ = {BY_FIELD["seed"].env: "3", BY_FIELD["samples"].env: "3"}
    ini = dict.fromkeys(("max_iterations", "seed", "samples", "warmup"), "5")
    settings = resolve({"samples": "4"}, environ, ini, config=config)
    found = (settings.samples, settings.seed, settings.max_iterations, settings.warmup)
    assert found == (4, 3, 2, 5)


def test_a_wrong_value_in_a_config_file_is_named_by_its_key():
    config = ConfigFile("example.json", {"max_iterations": "many"})
    with pytest.raises(SettingsError, match=r"max_iterations in example\.json: expected a whole number"):
        resolve({}, {}, {}, config=config)


@pytest.mark.parametrize(
    ("field", "text"),
    [("require", "verdict,gpu"), ("budget_s", "90"), ("budget_s", "2m"), ("report", "k.md")],
)
def test_what_is_given_is_written_as_flags_that_read_the_same(field, text):
    settings = resolve({field: text}, {}, {})
    (flag,) = settings.given_flags()

    assert flag.startswith(BY_FIELD[field].flag)
    assert resolve({field: flag.partition("=")[2]}, {}, {}) == settings
