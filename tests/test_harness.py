"""The long-lived process, against programs that speak the protocol and then misbehave."""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pytest_cudaopt import harness, serving
from pytest_cudaopt.answers import AnswerStatus
from pytest_cudaopt.errors import EnvironmentFault, HarnessError
from pytest_cudaopt.finding import FindingKind
from pytest_cudaopt.harness import Harness, locate
from pytest_cudaopt.protocol import AskLimits, Fill, Request

# What it does is the id of the request.
SPEAKER = """
import json, os, signal, sys
fd = int(sys.argv[sys.argv.index("--result-fd") + 1])
def say(text):
    os.write(fd, text.encode())
def answer(request, **changes):
    whole = {"protocol": 1, "id": request["id"], "nonce": request["nonce"], "status": "ok",
             "device": f"process {os.getpid()}", "steps": [], **changes}
    say(json.dumps(whole) + "\\n")
def fault(kind):
    return {"status": "fault", "fault": {"kind": kind, "message": kind, "step": 0}}
say(GREETING)
for line in sys.stdin:
    request = json.loads(line)
    what = request["id"]
    if what == "ok":
        answer(request)
    elif what == "chatter":
        print('{"protocol": 1}', flush=True)
        answer(request)
    elif what == "exit":
        print("last words", file=sys.stderr, flush=True)
        os._exit(7)
    elif what == "killed":
        os.kill(os.getpid(), signal.SIGKILL)
    elif what == "silent":
        signal.pause()
    elif what == "closed":
        os.close(fd)
        signal.pause()
    elif what == "half an answer":
        say('{"protocol": 1, "id"')
        os._exit(0)
    elif what == "watchdog":
        answer(request, **fault("timeout"))
        signal.pause()
    elif what == "trap":
        answer(request, **fault("trap"))
    elif what == "ending":
        answer(request, **fault("illegal_address"), ending=True)
        signal.pause()
    elif what == "arguments":
        answer(request, device=" ".join(sys.argv[1:]))
    elif what == "deaf":
        # Ends while nothing of the next request has come.
        os.close(0)
        answer(request)
        os.close(fd)
        signal.pause()
    elif what == "other nonce":
        answer(request, nonce="0")
    elif what == "garbage":
        say("segmentation\\n")
    elif what == "invalid":
        answer(request, status="invalid", fault={"kind": "invalid_request", "message": "request.id: no"})
    elif what == "long":
        answer(request, device="x" * 3_000_000)
"""
GREETING = {"protocol": 1, "harness": "0.1.0", "isa": "x86-64"}


def program(folder: Path, greeting: str = json.dumps(GREETING) + "\n", text: str = SPEAKER) -> Path:
    path = folder / "speaker"
    path.write_text(f"#!{sys.executable}\nGREETING = {greeting!r}\n{text}")
    path.chmod(0o755)
    return path


def request(id: str, timeout_s: float = 0.0, **changes: Any) -> Request:
    return Request(id, "5", "sim", changes.pop("steps", (AskLimits(),)), timeout_s=timeout_s, **changes)


@pytest.fixture
def speaker(tmp_path: Path) -> Iterator[Harness]:
    with Harness(program(tmp_path)) as started:
        yield started


def test_one_process_answers_one_request_after_the_other(speaker: Harness) -> None:
    first, second = speaker.ask(request("ok")), speaker.ask(request("ok"))
    assert first.status is AnswerStatus.OK
    assert first.device == second.device
    assert speaker.version.isa == "x86-64"


def test_what_is_printed_never_reaches_the_answers(speaker: Harness) -> None:
    assert speaker.ask(request("chatter")).status is AnswerStatus.OK
    assert speaker.ask(request("ok")).status is AnswerStatus.OK


def test_requests_and_answers_may_be_larger_than_a_pipe(speaker: Harness) -> None:
    steps = tuple(Fill("x", "00" * 1000) for _ in range(2000))
    assert len(speaker.ask(request("long", steps=steps)).device) == 3_000_000


@pytest.mark.parametrize(
    ("behaviour", "said"),
    [
        ("exit", "ended with exit code 7"),
        ("exit", "it wrote: last words"),
        ("killed", "was ended by signal 9 (SIGKILL)"),
        ("half an answer", "ended with exit code 0"),
    ],
)
def test_a_process_that_dies_is_a_fault_and_is_replaced(speaker: Harness, behaviour: str, said: str) -> None:
    before = speaker.ask(request("ok")).device
    answer = speaker.ask(request(behaviour))
    assert answer.status is AnswerStatus.FAULT
    assert answer.fault is not None
    assert answer.fault.kind is FindingKind.HARNESS_CRASH
    assert said in answer.fault.message
    assert speaker.ask(request("ok")).device != before


def test_silence_is_a_timeout_and_the_process_is_replaced(
    speaker: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(harness, "GRACE_S", 0.0)
    answer = speaker.ask(request("silent", timeout_s=0.01))
    assert answer.fault is not None
    assert answer.fault.kind is FindingKind.TIMEOUT
    assert answer.fault.message == "no answer within 0.01 s"
    assert speaker.ask(request("ok")).status is AnswerStatus.OK


def test_closed_results_of_a_living_process_are_a_crash(
    speaker: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(serving, "_END_TIMEOUT_S", 0.01)
    answer = speaker.ask(request("closed"))
    assert answer.fault is not None
    assert answer.fault.message == "the harness closed its results without an answer"
    assert speaker.ask(request("ok")).status is AnswerStatus.OK


def test_a_watchdogs_answer_does_not_harm_the_next_request(speaker: Harness) -> None:
    answer = speaker.ask(request("watchdog"))
    assert answer.fault is not None
    assert answer.fault.kind is FindingKind.TIMEOUT
    assert speaker.ask(request("ok")).status is AnswerStatus.OK


def test_an_answer_that_ends_the_process_is_kept_and_the_next_one_is_anothers(speaker: Harness) -> None:
    before = speaker.ask(request("ok")).device
    answer = speaker.ask(request("ending"))
    assert answer.fault is not None
    assert answer.fault.kind is FindingKind.ILLEGAL_ADDRESS
    assert speaker.pid is None
    after = speaker.ask(request("ok"))
    assert after.status is AnswerStatus.OK
    assert after.device != before


def test_a_process_that_died_between_requests_is_replaced_without_a_word(speaker: Harness) -> None:
    before = speaker.ask(request("ok")).device
    assert speaker.pid is not None
    os.kill(speaker.pid, signal.SIGKILL)
    os.waitid(os.P_PID, speaker.pid, os.WEXITED | os.WNOWAIT)
    after = speaker.ask(request("ok"))
    assert after.status is AnswerStatus.OK
    assert after.device != before


def test_a_request_that_reached_nobody_is_asked_again_and_not_blamed(speaker: Harness) -> None:
    before = speaker.ask(request("deaf")).device
    after = speaker.ask(request("ok"))
    assert after.status is AnswerStatus.OK
    assert after.device != before


def test_libraries_are_handed_on(tmp_path: Path) -> None:
    with Harness(program(tmp_path), Path("/n.so"), "libmade_up.so") as started:
        answered = started.ask(request("arguments")).device
    assert answered.startswith("serve --nvrtc /n.so --driver libmade_up.so --result-fd")


def test_the_process_id_is_that_of_the_running_process(speaker: Harness) -> None:
    assert speaker.pid is None
    assert speaker.ask(request("ok")).device == f"process {speaker.pid}"


def test_another_fault_keeps_the_process(speaker: Harness) -> None:
    before = speaker.ask(request("ok")).device
    assert speaker.ask(request("trap")).status is AnswerStatus.FAULT
    assert speaker.ask(request("ok")).device == before


@pytest.mark.parametrize(
    ("behaviour", "complaint"),
    [
        ("other nonce", "answer to 'other nonce': expected nonce 5, got 0"),
        ("garbage", "answer to 'garbage': expected one line of JSON, got b'segmentation'"),
        ("invalid", "got request.id: no. Please report this as a bug"),
    ],
)
def test_what_cannot_be_believed_raises(speaker: Harness, behaviour: str, complaint: str) -> None:
    with pytest.raises(HarnessError) as caught:
        speaker.ask(request(behaviour))
    assert complaint in str(caught.value)
    assert speaker.ask(request("ok")).status is AnswerStatus.OK


def test_an_interrupted_request_leaves_no_late_answer(
    speaker: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = speaker.ask(request("ok")).device

    def interrupt(*arguments: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(serving.Serving, "exchange", interrupt)
        with pytest.raises(KeyboardInterrupt):
            speaker.ask(request("silent"))
    assert speaker.ask(request("ok")).device != before


def test_another_protocol_version_names_both_and_the_remedy(tmp_path: Path) -> None:
    greeting = json.dumps({**GREETING, "protocol": 7}) + "\n"
    with Harness(program(tmp_path, greeting)) as old, pytest.raises(HarnessError) as caught:
        old.ask(request("ok"))
    text = str(caught.value)
    assert "expected protocol version 1, as this package speaks, got protocol version 7" in text
    assert "pip install --force-reinstall" in text


@pytest.mark.parametrize(
    ("greeting", "text", "complaint"),
    [
        ("hello\n", SPEAKER, "expected one line of JSON, got b'hello'"),
        ("[]\n", SPEAKER, "got protocol version []"),
        ("", "import sys; sys.exit('no libstdc++')", "ended with exit code 1 (it wrote: no libstdc++)"),
    ],
)
def test_a_program_that_is_no_harness_is_refused(
    tmp_path: Path, greeting: str, text: str, complaint: str
) -> None:
    with Harness(program(tmp_path, greeting, text)) as other, pytest.raises(HarnessError) as caught:
        other.ask(request("ok"))
    assert complaint in str(caught.value)


def test_a_file_that_cannot_be_executed_is_the_environments_fault(tmp_path: Path) -> None:
    path = tmp_path / "cudaopt-harness"
    path.write_bytes(b"\x00\x01\x02")
    path.chmod(0o755)
    with Harness(path) as broken, pytest.raises(EnvironmentFault, match="Exec format error"):
        broken.ask(request("ok"))


SEES = """
import os, sys
fd = int(sys.argv[sys.argv.index("--result-fd") + 1])
open(SEEN, "w").write("\\n".join(os.environ))
os.write(fd, GREETING.encode())
sys.stdin.read()
"""


def test_what_runs_kernels_gets_no_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "ANOTHER_API_KEY", "NOT_SECRET"):
        monkeypatch.setenv(name, "sk-marker")
    seen = tmp_path / "seen"
    greeting = json.dumps(GREETING) + "\n"
    with Harness(program(tmp_path, greeting, f"SEEN = {str(seen)!r}{SEES}")) as started:
        assert started.version
    names = set(seen.read_text().splitlines())
    assert "NOT_SECRET" in names
    assert names & {"OPENAI_API_KEY", "OPENAI_BASE_URL", "ANOTHER_API_KEY"} == set()


def test_closing_ends_the_process_and_its_descriptors(tmp_path: Path) -> None:
    before = set(Path("/proc/self/fd").iterdir())
    started = Harness(program(tmp_path))
    started.ask(request("ok"))
    started.close()
    started.close()
    assert set(Path("/proc/self/fd").iterdir()) == before


def test_the_environment_names_the_harness(tmp_path: Path) -> None:
    path = program(tmp_path)
    assert locate({"CUDAOPT_HARNESS": str(path)}) == path


def test_a_wrong_name_in_the_environment_is_refused(tmp_path: Path) -> None:
    with pytest.raises(EnvironmentFault, match="CUDAOPT_HARNESS: expected the path of an executable harness"):
        locate({"CUDAOPT_HARNESS": str(tmp_path / "absent")})


def test_a_missing_harness_says_where_and_how_to_get_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(harness, "__file__", str(tmp_path / "harness.py"))
    monkeypatch.setattr(harness, "NAME", "cudaopt-harness-absent")
    with pytest.raises(EnvironmentFault) as caught:
        locate({})
    assert str(tmp_path / "bin" / "cudaopt-harness-absent") in str(caught.value)
    assert "its build needs a C++17 compiler" in str(caught.value)
