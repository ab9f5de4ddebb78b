"""Options of the `cudaopt` command: its flags, the environment, and what pytest would find in an ini file."""

from __future__ import annotations

import argparse
import os
from collections.abc import Collection
from dataclasses import dataclass
from operator import attrgetter
from pathlib import Path
from typing import Any

from pytest_cudaopt.declared import Kernel
from pytest_cudaopt.ini_file import read_ini
from pytest_cudaopt.project import within_project
from pytest_cudaopt.settings import NO_CONFIG, OPTIONS, ConfigFile, Settings, resolve


@dataclass(frozen=True)
class ProjectSettings:
    """What holds for the modules of a folder; paths of `settings` are relative to `root`."""

    settings: Settings
    root: Path

    def place(self, kernel: Kernel) -> Kernel:
        """Return `kernel` as the project compiles it; raise SettingsError as `within_project` does."""
        return within_project(kernel, self.settings, self.root)


def add_options(parser: argparse.ArgumentParser, fields: Collection[str]) -> None:
    """Give `parser` the options of these fields; pytest's own spelling, which messages use, is taken too."""
    for option in OPTIONS:
        if option.field not in fields:
            continue
        how: dict[str, Any] = {"metavar": option.metavar}
        if option.is_switch:
            how = {"action": "store_true", "default": None}
        parser.add_argument(option.cli_flag, dest=option.field, help=option.help, **how)
        if option.flag != option.cli_flag:
            parser.add_argument(option.flag, dest=option.field, help=argparse.SUPPRESS, **how)


def settings_for(
    given: argparse.Namespace,
    folder: Path,
    config: ConfigFile = NO_CONFIG,
) -> ProjectSettings:
    """Return the settings for `folder`, whose root is that of its ini file, else the current folder.

    Raises SettingsError as `resolve` and `read_ini` do.
    """
    ini = read_ini(folder)
    command_line = {option.field: getattr(given, option.field, None) for option in OPTIONS}
    values = {option.field: ini.values.get(option.ini) for option in OPTIONS}
    settings = resolve(command_line, os.environ, values, config=config, flag_of=attrgetter("cli_flag"))
    return ProjectSettings(settings, ini.root or Path.cwd())
