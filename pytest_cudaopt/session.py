"""What the items of one pytest process share: settings, the opened device, and what was already explained."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pytest_cudaopt.errors import CudaoptError, SettingsError
from pytest_cudaopt.option_text import SANDBOXES
from pytest_cudaopt.session_budget import SessionBudget
from pytest_cudaopt.settings import Settings

if TYPE_CHECKING:
    from pytest_cudaopt.device import Device
    from pytest_cudaopt.git_revision import Revision
    from pytest_cudaopt.optimize.server_model import KnownDialects

# What pytest-benchmark's `machine_info` holds of the device that kernels were timed on.
MACHINE_KEY = "cudaopt"
# What a worker of pytest-xdist tells of kernels that did not change.
CHANGED_KEY = "cudaopt_changed"


class KernelSession:
    """One per process (pytest-xdist: per worker). The device opens with the first item that needs it."""

    _key = pytest.StashKey["KernelSession"]()

    def __init__(self, settings: Settings, root: Path, report_file: Path | None = None) -> None:
        self.settings = settings
        self.root = root
        if settings.sandbox != SANDBOXES[0]:
            # Only where it is asked for: it loads NumPy.
            from pytest_cudaopt.sandbox import shared

            shared.use_level(settings.sandbox)
        # None in workers of pytest-xdist as well: who has all rows writes.
        self.report_file = report_file
        self._device: Device | None = None
        self._fault: CudaoptError | None = None
        self._explained: set[str] = set()
        # Kernel and case of checks that a kernel failed.
        self.failed_checks: set[tuple[str, str]] = set()
        # What somebody who ended the session should know.
        self.parting_lines: list[str] = []
        # Kernel and mistake of findings that an item has shown.
        self.shown_mistakes: set[tuple[str, object]] = set()
        self.budget = SessionBudget(settings.budget_s)
        # What --cudaopt-against and --cudaopt-changed name.
        self.against: Revision | None = None
        self.changed_since: Revision | None = None
        # How many kernels were left out since nothing of them changed, and what is said of that.
        self.unchanged_kernels = 0
        self.changed_lines: list[str] = []
        # What the servers of models were found to understand; None until a run asks one.
        self.dialects: KnownDialects | None = None
        self._dialect_lines: list[str] = []

    @classmethod
    def begin(cls, config: pytest.Config, settings: Settings) -> KernelSession:
        """Attach a session to `config`, and return it."""
        is_worker = hasattr(config, "workerinput")
        written = bool(settings.report) and not is_worker
        file = config.invocation_params.dir / settings.report if written else None
        config.stash[cls._key] = session = cls(settings, config.rootpath, file)
        return session

    @classmethod
    def of(cls, config: pytest.Config) -> KernelSession:
        return config.stash[cls._key]

    @classmethod
    def end(cls, config: pytest.Config) -> None:
        """Close the device, if a session was begun and one was opened."""
        session = config.stash.get(cls._key, None)
        if session is not None:
            session.close()

    def note_dialect(self, line: str) -> None:
        """Have the next run's row say how a model's server was spoken to."""
        self._dialect_lines.append(line)

    def take_dialect_lines(self) -> tuple[str, ...]:
        """Return what no row has said yet of how servers are spoken to."""
        lines, self._dialect_lines = tuple(self._dialect_lines), []
        return lines

    @property
    def results(self) -> Path:
        """The folder runs are recorded in."""
        # Collected paths never hold `..`, and are compared with this one.
        return Path(os.path.normpath(self.root / self.settings.results))

    def make_report_folder(self) -> None:
        """Make sure that a report can be written before minutes are spent on it; OSError says why not."""
        if self.report_file is None:
            return
        self.report_file.parent.mkdir(parents=True, exist_ok=True)
        if self.report_file.is_dir():
            raise IsADirectoryError(f"{self.report_file} is a folder")

    def find_revisions(self) -> None:
        """Resolve the revisions that options name, once; raises as `git_revision.resolve` does."""
        against, changed = self.settings.against, self.settings.changed
        if not (against or changed):
            return
        from pytest_cudaopt.git_revision import resolve

        if against:
            self.against = resolve(self.root, against, "--cudaopt-against")
        if not changed:
            return
        try:
            self.changed_since = resolve(self.root, changed, "--cudaopt-changed")
        except SettingsError as error:
            if Path(changed).exists():
                # What stands behind an option is its value, if it may have one.
                error.next_step = f"For the tests in it write --cudaopt-changed=HEAD {changed}"
            raise

    def device(self) -> Device:
        """Return the device; a device that cannot be opened is asked for only once."""
        if self._fault is not None:
            raise self._fault
        if self._device is None:
            from pytest_cudaopt.device import open_required

            try:
                self._device = open_required(self.settings)
            except CudaoptError as error:
                self._fault = error
                raise
        return self._device

    def close(self) -> None:
        if self._device is not None:
            self._device.close()
            self._device = None

    def explain_once(self, text: str) -> bool:
        """True the first time `text` is asked about."""
        is_new = text not in self._explained
        self._explained.add(text)
        return is_new
