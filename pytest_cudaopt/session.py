"""What the items of one pytest process share: settings, the opened device, and what was already explained."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pytest_cudaopt.errors import CudaoptError, EnvironmentFault
from pytest_cudaopt.settings import Settings

if TYPE_CHECKING:
    from pytest_cudaopt.device import Device


class KernelSession:
    """One per process (pytest-xdist: per worker). The device opens with the first item that needs it."""

    _key = pytest.StashKey["KernelSession"]()

    def __init__(self, settings: Settings, root: Path) -> None:
        self.settings = settings
        self.root = root
        self._device: Device | None = None
        self._fault: CudaoptError | None = None
        self._explained: set[str] = set()

    @classmethod
    def begin(cls, config: pytest.Config, settings: Settings) -> None:
        """Attach a session to `config`."""
        config.stash[cls._key] = cls(settings, config.rootpath)

    @classmethod
    def of(cls, config: pytest.Config) -> KernelSession:
        return config.stash[cls._key]

    @classmethod
    def end(cls, config: pytest.Config) -> None:
        """Close the device, if a session was begun and one was opened."""
        session = config.stash.get(cls._key, None)
        if session is not None:
            session.close()

    @property
    def results(self) -> Path:
        """The folder runs are recorded in."""
        return self.root / self.settings.results

    def device(self) -> Device:
        """Return the device; a device that cannot be opened is asked for only once."""
        if self._fault is not None:
            raise self._fault
        if self._device is None:
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


def open_required(settings: Settings) -> Device:
    """Open the device `settings` asks for; raise EnvironmentFault if it is not the required kind."""
    from pytest_cudaopt.device import open_device

    device = open_device(settings.device, threads=settings.threads)
    if "gpu" in settings.require and not device.selector.startswith("cuda"):
        description = device.description
        device.close()
        raise EnvironmentFault(
            "--cudaopt-require=gpu",
            expected="kernels to run on a GPU",
            got=f"{description}, chosen by --cudaopt-device={settings.device}",
            next_step="Run where there is a GPU, or leave the requirement out",
        )
    return device
