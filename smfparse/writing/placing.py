"""How a dataset gets its files: all at once, when they are complete and the disk has them.

The manifest takes the place of the old one in one step, when all other files have theirs. Then
views.sql and columns.json follow, which the manifest gives, and the files go that it does not name.
A run that is ended before this step changes nothing; what it left goes at once, or with the next
run if it was killed. One that is killed after this step is finished by the next.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import PurePosixPath
from typing import Any

from smfparse.errors import OutputError
from smfparse.places import Place
from smfparse.store import (
    GIVEN,
    MANIFEST,
    MEANINGS,
    PARTIAL,
    VIEWS,
    AnyFolder,
    Layout,
    Manifest,
    dataset_files,
    has_fingerprints,
    manifest_text,
    meanings_text,
    ours,
    own_folders,
    partials,
    strays,
    unfinished,
    view_statements,
)

_MOST_KEPT = 16
"""Files that the disk is asked for at a time."""


def clear(folder: AnyFolder) -> None:
    """Remove what an unfinished run left, and folders that are empty then.

    One whose manifest has its place already is finished. Every run has PARTIAL until it has ended,
    so where that is not there nothing is looked for. Raises OSError where anything stays.
    """
    if _is_there(folder, PARTIAL):
        _clear(folder, strays)


def _clear(folder: AnyFolder, find: Callable[[Place], list[Place]]) -> None:
    """Finish a run, and remove the files that `find` returns then; PARTIAL last, if none stays."""
    failed: list[OSError] = []
    new = _given(folder)
    for name in new:
        _try(failed, folder.move, name, PurePosixPath(name).name)
    kept = {folder.path / name for name in new}  # to be moved by the next run
    left: list[Any] = [each for each in find(folder.path) if each not in kept]
    for each in left:
        _try(failed, folder.remove, each.relative_to(folder.path).as_posix())
    names = [each.relative_to(folder.path).as_posix() for each in left]
    folder.remove_emptied([*own_folders(), *names], PARTIAL)
    if failed:
        raise failed[0]
    folder.remove_empty(PARTIAL)


def _given(folder: AnyFolder) -> list[str]:
    """Return what has no place yet of runs whose manifest has one."""
    runs = [each for each in partials(folder.path) if not _is_there(folder, f"{each}/{MANIFEST}")]
    found = [f"{run}/{name}" for run in runs for name in GIVEN]
    return [each for each in found if _is_there(folder, each)]


def _try(failed: list[OSError], step: Callable[..., None], *names: str) -> None:
    """Do a step; what is to be done besides is done, even if this fails."""
    try:
        step(*names)
    except OSError as error:
        failed.append(error)


def _is_there(folder: AnyFolder, name: str) -> bool:
    return (folder.path / name).exists()


def placed(
    folder: AnyFolder,
    make: Callable[[], tuple[Manifest, frozenset[str] | None]],
    *,
    all_new: bool = False,
) -> Manifest:
    """Have new files and the manifest that names them made, and give them their places.

    Where anything fails, what was written goes, unless another one writes there by now: then
    OutputError is raised, and the next run clears up.

    make     returns the manifest, which is returned here, and what it replaces: see `put_in_place`
    all_new  as there
    """
    try:
        manifest, replaced = make()
        write_last(folder, manifest)
        folder.check()
        put_in_place(folder, manifest, replaced, all_new=all_new)
    except BaseException:
        with suppress(OSError, OutputError):
            folder.check()
            clear(folder)
        raise
    return manifest


def write_last(folder: AnyFolder, manifest: Manifest) -> None:
    """Write what has no rows: the manifest, then the views and meanings that it gives.

    In this order: where these are there without it, it has its place already: see `clear`.
    """
    views = view_statements(
        layout=Layout.of(manifest),
        types=manifest["types"],
        fingerprints=has_fingerprints(manifest),
    )
    texts = {MANIFEST: manifest_text(manifest), VIEWS: views, MEANINGS: meanings_text(manifest)}
    for name, text in texts.items():
        write_new(folder, f"{folder.partial}/{name}", text.encode())


def write_new(folder: AnyFolder, name: str, data: bytes) -> str:
    """Write a new file at once; return its SHA-256."""
    file = folder.new(name)
    try:
        file.write(data)
        file.close()
    finally:
        file.give_up()
    return file.sha256


def put_in_place(
    folder: AnyFolder,
    manifest: Manifest,
    replaced: frozenset[str] | None = None,
    *,
    all_new: bool = False,
) -> None:
    """Give the new files their places, the manifest last; remove those that it does not name.

    replaced  those that are looked at; None: all that are there
    all_new   whether all new files belong to it, as earlier parts that are new name them
    """
    partial: Any = folder.path / folder.partial
    belong = set(dataset_files(manifest))
    waiting = {each.relative_to(partial).as_posix() for each in ours(partial)}
    belong |= waiting if all_new else set()
    new = sorted(waiting & belong)
    places = {PurePosixPath(each).parent.as_posix() for each in new}
    for place in places:
        folder.make(place)
    _have_kept(folder.keep, (f"{folder.partial}/{each}" for each in (*new, *GIVEN, MANIFEST)))
    folder.move_all((f"{folder.partial}/{name}", name) for name in new)
    _have_kept(folder.keep_names, places)
    folder.publish(f"{folder.partial}/{MANIFEST}", MANIFEST)
    folder.keep_names()
    if replaced is None:
        clear(folder)
        return
    gone = [folder.path / each for each in sorted(replaced - belong)]
    _clear(folder, lambda path: [*gone, *unfinished(path)])


def _have_kept(keep: Callable[[str], None], names: Iterable[str]) -> None:
    """Wait until the disk has files, or the names in folders: all at once is much faster."""
    with ThreadPoolExecutor(_MOST_KEPT) as threads:
        for _ in threads.map(keep, names):
            pass
