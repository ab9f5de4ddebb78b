"""A bare client of the harness for tests: dictionaries in, dictionaries out, nothing between."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from types import TracebackType
from typing import Any

from pytest_cudaopt.harness import locate
from pytest_cudaopt.toolchain import find_toolchain

Json = dict[str, Any]

NO_END_S = 60.0


def request(*steps: Json, **members: Any) -> Json:
    """Return a request for `sim` with these steps; `members` add to it or replace parts of it."""
    whole = {"protocol": 1, "id": "test", "nonce": "n0", "device": "sim", "timeout_s": NO_END_S}
    return whole | {"steps": list(steps)} | members


def module(source: str, *entries: str, **members: Any) -> Json:
    """Return a module `m` in the file `k.cu`."""
    listed = [{"name": entry} for entry in entries]
    return {"name": "m", "file": "k.cu", "source": source, "entries": listed} | members


def launch(entry: str, *arguments: Json, grid: int = 1, block: int = 32) -> Json:
    """Return a one-dimensional launch of a kernel of `m`."""
    return {
        "do": "launch",
        "module": "m",
        "entry": entry,
        "grid": [grid, 1, 1],
        "block": [block, 1, 1],
        "arguments": list(arguments),
    }


COMPILE: Json = {"do": "compile", "module": "m"}
LOAD: Json = {"do": "load", "module": "m"}


def nvrtc() -> str:
    """Return the path of the NVRTC the package would use."""
    return find_toolchain().nvrtc


def run(folder: Path, asked: Json | str, *options: str) -> subprocess.CompletedProcess[str]:
    """Run `cudaopt-harness run` on a request file in `folder`."""
    file = folder / "request.json"
    file.write_text(asked if isinstance(asked, str) else json.dumps(asked))
    command = [locate(), "run", file, "--nvrtc", nvrtc(), *options]
    return subprocess.run(command, capture_output=True, text=True, timeout=NO_END_S, check=False)


class Served:
    """A serving harness whose answers come over a descriptor of their own."""

    def __init__(self, *options: str, folder: Path | None = None) -> None:
        reading, writing = os.pipe()
        self.process = subprocess.Popen(
            [locate(), "serve", "--result-fd", str(writing), *(options or ("--nvrtc", nvrtc()))],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            pass_fds=[writing],
            cwd=folder,
        )
        os.close(writing)
        self._answers = os.fdopen(reading, "rb")
        self.version: Json = json.loads(self._answers.readline())

    def ask_line(self, line: str) -> str:
        """Send one line and return the line that answers it."""
        assert self.process.stdin is not None
        self.process.stdin.write(line.encode() + b"\n")
        self.process.stdin.flush()
        return self._answers.readline().decode()

    def ask(self, asked: Json) -> Json:
        """Send a request and return its answer."""
        answer: Json = json.loads(self.ask_line(json.dumps(asked)))
        return answer

    def end(self) -> int:
        """Close standard input and return the exit code."""
        self.process.communicate(timeout=NO_END_S)
        return self.process.returncode

    def __enter__(self) -> Served:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._answers.close()
        self.process.kill()
        self.process.communicate()
