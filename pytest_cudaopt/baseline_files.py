"""Baseline files beside the test module: found, read, and written case by case by any number of workers.

`__baselines__/MODULE.KERNEL.cu` is the source, `MODULE.KERNEL.DEVICE.json` all else. Devices whose sources
differ have one each, `MODULE.KERNEL.DEVICE.cu`. Nothing is written over what cannot be read.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from pathlib import Path

from pytest_cudaopt import baseline_text
from pytest_cudaopt.baseline import Baseline, Held, digest
from pytest_cudaopt.baseline_place import Place
from pytest_cudaopt.baseline_update import Mode, Seen, updated, with_properties
from pytest_cudaopt.cache import cache_folder, remember
from pytest_cudaopt.durable import write_atomically
from pytest_cudaopt.errors import BaselineError, EnvironmentFault, why_unreadable
from pytest_cudaopt.file_lock import lock_folder, locked


def read(module: Path, kernel: str, device: str) -> Baseline | None:
    """Return a kernel's baseline on a device, None if there is none.

    `device` is its name without its number, as in `Machine`. Raises BaselineError for files that are not
    what was recorded there, and leaves them alone.
    """
    place = Place.of(module, kernel, device)
    if not place.document.exists():
        return None
    with _lock(place.folder, alone=False):
        return read_at(place)


def record(module: Path, kernel: str, seen: Seen, mode: Mode, accept_slower: bool = False) -> str:
    """Write what `updated` makes of the kernel's baseline on the machine `seen` was seen on.

    Returns one line about what was written, left or refused; an empty one where nothing was asked for. Raises
    BaselineError as `read` does, and EnvironmentFault where files cannot be written.
    """
    if not mode.writes:
        return ""
    place = Place.of(module, kernel, seen.record.machine.device)
    with _lock(place.folder, alone=True):
        named = Baseline(place.module, place.kernel, place.device, ())
        change = updated(read_at(place), seen, mode, accept_slower, named)
        if change.baseline is not None:
            write(place, change.baseline)
            _keep_samples(place, seen)
    return change.note


def record_properties(
    module: Path,
    kernel: str,
    device: str,
    probed: Mapping[str, Held],
    mode: Mode,
    accept_slower: bool = False,
) -> str:
    """Write what a kernel can do beyond its cases into its baseline, as `with_properties` says.

    Returns and raises as `record` does.
    """
    if not mode.writes:
        return ""
    place = Place.of(module, kernel, device)
    with _lock(place.folder, alone=True):
        named = Baseline(place.module, place.kernel, place.device, ())
        change = with_properties(read_at(place), probed, mode, accept_slower, named)
        if change.baseline is not None:
            write(place, change.baseline)
    return change.note


def read_document(path: Path) -> Baseline:
    """Return the baseline that a JSON file holds; raise BaselineError as `read` does."""
    text = _text(path)
    names = set(baseline_text.source_digests(text, str(path)))
    # A name that leads elsewhere is no file of this folder.
    sources = {
        name: _text(path.with_name(name))
        for name in names
        if Path(name).name == name and path.with_name(name).is_file()
    }
    return baseline_text.from_files(text, sources, str(path))


def write(place: Place, baseline: Baseline) -> None:
    """Replace the kernel's files on this device; the caller holds the lock.

    The document last: it names what belongs to it. Sources nobody refers to any longer are removed after it.
    """
    before = _own_sources(place)
    taken = _taken(place)
    hashes = [digest(baseline_text.stored_source(version.source)) for version in baseline.versions[:1]]
    sources = [place.source_name(sha256, taken) for sha256 in hashes]
    sources += [place.anchor_name(number) for number in range(1, len(baseline.versions))]
    texts = baseline_text.to_files(baseline, place.document.name, sources)
    try:
        place.folder.mkdir(exist_ok=True)
        for name, text in texts.items():
            path = place.folder / name
            if not path.is_file() or path.read_bytes() != text.encode():
                write_atomically(path, text)
        for name in before - set(texts) - set(taken):
            (place.folder / name).unlink(missing_ok=True)
    except OSError as error:
        raise EnvironmentFault(
            f"baseline {place.document}",
            expected="files that can be written",
            got=error.strerror or str(error),
        ) from error


@contextmanager
def folder_locked(folder: Path) -> Iterator[None]:
    """Keep every other process of this user from reading or writing the baselines in `folder`."""
    with _lock(folder, alone=True):
        yield


def read_at(place: Place) -> Baseline | None:
    """Return the baseline at a place, as `read` does; the caller holds the lock."""
    if not place.document.exists():
        return None
    found = read_document(place.document)
    for what, wanted, got in (
        ("module", place.module, found.module),
        ("kernel", place.kernel, found.kernel),
        ("device", place.device, found.device),
    ):
        if wanted != got:
            raise _foreign(place.document, what, wanted, got)
    for version in found.versions:
        for case_id, one in version.cases.items():
            if one.machine.device != place.device:
                raise _foreign(place.document, f"device of {case_id}", place.device, one.machine.device)
    return found


def _foreign(path: Path, what: str, wanted: str, got: str) -> BaselineError:
    return BaselineError(
        f"{what} in {path}",
        expected=f"'{wanted}'",
        got=f"'{got}': another's numbers",
        next_step="Remove it, and record anew with --cudaopt-baseline update",
    )


def _text(path: Path) -> str:
    try:
        return path.read_bytes().decode()
    except (OSError, UnicodeDecodeError) as error:
        raise BaselineError(
            str(path),
            expected="a readable text file",
            got=why_unreadable(error),
            next_step="Restore it from version control",
        ) from error


def _own_sources(place: Place) -> set[str]:
    if not place.document.exists():
        return set()
    return set(baseline_text.source_digests(_text(place.document), str(place.document)))


def _taken(place: Place) -> dict[str, str | None]:
    """Return the digests of the sources that other documents of the kernel refer to.

    None for one that cannot be read: it may refer to any text.
    """
    taken: dict[str, str | None] = {}
    for path in sorted(place.folder.glob(f"{place.stem}.*.json")):
        if path == place.document:
            continue
        try:
            taken |= baseline_text.source_digests(_text(path), str(path))
        except BaselineError:
            taken[f"{place.stem}.cu"] = None
    return taken


@contextmanager
def _lock(folder: Path, *, alone: bool) -> Iterator[None]:
    locks = lock_folder("baselines")
    # By where it really is, whatever it was called by.
    name = hashlib.sha256(str(folder.resolve()).encode()).hexdigest()[:32]
    with nullcontext() if locks is None else locked(locks / name, alone=alone):
        yield


def _keep_samples(place: Place, seen: Seen) -> None:
    """Keep the samples in the cache folder: too many to review, and of interest to a few."""
    if not seen.samples_ns:
        return
    folder = hashlib.sha256(str(place.folder.resolve()).encode()).hexdigest()[:12]
    case = hashlib.sha256(seen.case_id.encode()).hexdigest()[:12]
    kept = {"case": seen.case_id, "on": seen.record.on, "samples_ns": list(seen.samples_ns)}
    path = cache_folder() / "samples" / folder / f"{place.on_device}.{case}.json"
    remember(path, json.dumps(kept).encode())
