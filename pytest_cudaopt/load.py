"""Find a declared kernel by `MODULE::KERNEL`, without pytest."""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import sys
import traceback
from pathlib import Path
from types import ModuleType

from pytest_cudaopt.declared import Kernel
from pytest_cudaopt.errors import CudaoptError, DeclarationError


def load_kernel(target: str) -> Kernel:
    """Import the module and return its kernel.

    Raises DeclarationError for a malformed target, a missing file, a module that cannot be imported, and an
    unknown name, listing the kernels there are.
    """
    file, separator, name = target.partition("::")
    if not separator or not file or not name:
        raise DeclarationError(
            "kernel to check", expected="MODULE::KERNEL, such as test_softmax.py::softmax", got=f"'{target}'"
        )
    path = Path(file).resolve()
    if not path.is_file():
        near = sorted(found.name for found in path.parent.glob("test_*.py"))
        raise DeclarationError(
            f"module {file}",
            expected="a Python file",
            got="no such file",
            next_step=f"Test modules there: {', '.join(near) or 'none'}",
        )
    kernels = kernels_in(path)
    if name not in kernels:
        raise DeclarationError(
            f"module {file}",
            expected=f"a kernel '{name}'",
            got=f"kernels {', '.join(kernels)}" if kernels else "no kernel",
        )
    return kernels[name]


def kernels_in(path: Path) -> dict[str, Kernel]:
    """Import the module at `path` and return its kernels; raise DeclarationError if it cannot be imported."""
    return {key: value for key, value in vars(module_at(path)).items() if type(value) is Kernel}


def module_at(path: Path, alias: str | None = None) -> ModuleType:
    """Import the file at `path`, by the name of `alias` unless it is in a package.

    Raises DeclarationError if it cannot be imported.
    """
    folder, name = _package_root(path)
    if alias is not None and "." not in name:
        name = alias
    sys.path.insert(0, str(folder))
    try:
        # What a module prints must not end up in the middle of this command's output.
        with contextlib.redirect_stdout(sys.stderr):
            return _execute(path, name)
    except CudaoptError:
        raise
    except (Exception, SystemExit) as error:
        # A user's module may raise anything, or try to leave; the frames of the import system say nothing.
        frames = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename == str(path)]
        shown = "".join(traceback.format_list(frames)).rstrip()
        raise DeclarationError(
            f"module {path.name}",
            expected="to be imported",
            got=f"{type(error).__name__}: {error}" + (f"\n{shown}" if shown else ""),
        ) from error
    finally:
        sys.path.remove(str(folder))


def _execute(path: Path, name: str) -> ModuleType:
    if "." in name:
        return importlib.import_module(name)
    # Not import_module: an installed module of the same name would win over the file that was named.
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise ImportError(f"{path} is not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def _package_root(path: Path) -> tuple[Path, str]:
    """Return the folder to import from and the dotted name, as pytest's default import mode does."""
    folder, parts = path.parent, [path.stem]
    while (folder / "__init__.py").is_file():
        parts.insert(0, folder.name)
        folder = folder.parent
    return folder, ".".join(parts)
