"""What is in the folder of a dataset: its manifest, and which files belong to it.

    smfparse.json              the manifest, written last: it names every other file
    views.sql                  the tables for DuckDB
    <table>/part-*.parquet     rows; partitioned: <table>/date=.../queue_manager=.../
    .records/part-*.bin        fingerprints of the records, for what is added later
    .partial/                  the same while it is written: a folder that readers pass over
    .lock                      while somebody writes

A file that the manifest does not name is left from a run that was killed.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from types import UnionType
from typing import Any, TypeAlias

from smfparse.errors import InputError
from smfparse.places import Place, Url
from smfparse.selecting import COUNTED_AT
from smfparse.store.hive import EARLIER_FOLDERS, FOLDERS
from smfparse.store.locking import LOCK
from smfparse.store.plain import plain_file
from smfparse.store.targets import PARTIAL
from smfparse.tables import columns, table_names

Manifest: TypeAlias = dict[str, Any]
"""What `smfparse.json` holds: docs/dataset.md."""

MANIFEST = "smfparse.json"
VIEWS = "views.sql"
RECORDS = ".records"
FORMAT = 7
_BEFORE_COLUMNS, _BEFORE_CHECKSUMS, _BEFORE_IDENTITIES = 4, 5, 6
"""Formats whose manifests do not name columns, checksums, or identities of inputs; datasets of
these are read."""
_LATER = frozenset({COUNTED_AT, "task_record_offset", "task_started_tod", "task_thread"})
"""Columns that no dataset of that format has."""
_FOLDERS = ("", f"{FOLDERS}/", f"{EARLIER_FOLDERS}/")
"""Folders of rows below that of a table: whole, partitioned, partitioned in format 4."""
_NUMBER = re.compile(r"part-(\d+)[^/]*$")
"""Number of the part in the path of a file."""
_FOLDER = r"(date=[\w.~%-]+/(queue_manager|qmgr)=[\w.~%-]+/)?"
_ROWS = re.compile(rf"(?P<table>\w+)/{_FOLDER}part-\d{{1,9}}(-\d{{1,9}})?\.parquet", re.ASCII)
_RUN = re.compile(r"\.records/part-\d{1,9}\.bin", re.ASCII)
"""Paths that files of a dataset can have, and no others: none leads out of it."""
_MOST_NESTED = 50
"""Datasets that were made of datasets, and so on: more often than anybody does that."""
_Shape: TypeAlias = Mapping[str, type | UnionType]
_SHAPE: _Shape = {
    "smfparse": str,
    "inputs": list,
    "selection": str | None,
    "partitioned": bool,
    "tables": dict,
    "duplicates": int,
    "unknown_bytes": dict,
    "damage_count": int,
    "files": dict,
    "columns": dict,
    "records": dict | None,
    "checksums": dict,
}
"""What a manifest has besides its format."""
_FILE: _Shape = {"name": str, "bytes": int, "identity": str}
_EARLIER_FILE: _Shape = {"name": str, "bytes": int, "sha256": str}
_DATASET: _Shape = {"name": str, "inputs": list}


def read_manifest(folder: Place) -> Manifest:
    """Return the manifest of a dataset. Raises InputError where it cannot be understood."""
    found = _parsed(folder)
    if isinstance(found, dict) and found.get("format") == _BEFORE_COLUMNS:
        found |= {"format": _BEFORE_CHECKSUMS, "columns": named_columns(_LATER)}
    if isinstance(found, dict) and found.get("format") == _BEFORE_CHECKSUMS:
        found |= {"format": _BEFORE_IDENTITIES, "checksums": {}}
    if isinstance(found, dict) and found.get("format") == _BEFORE_IDENTITIES:
        found |= {"format": FORMAT}
    if not isinstance(found, dict) or found.get("format") != FORMAT:
        raise InputError(
            f"{folder}: written by another version of smfparse; convert again from the SMF files"
        )
    if not _is_sound(found):
        raise InputError(f"{folder}: {MANIFEST} is damaged; convert again")
    return found


def _parsed(folder: Place) -> Any:
    """Return what is in the file of a manifest: JSON in UTF-8, each text of it too."""
    place = plain_file(folder, MANIFEST)
    try:
        found = json.loads(place.read_text(encoding="utf-8"))
        json.dumps(found, ensure_ascii=False).encode()
    except (OSError, ValueError, RecursionError) as error:
        raise InputError(f"{folder}: {MANIFEST} cannot be read: {error}") from error
    return found


def _is_sound(found: Manifest) -> bool:
    """Whether a manifest has everything, each of its type, and names no file twice."""
    return (
        _has(found, _SHAPE)
        and _has(found["tables"], dict.fromkeys(table_names(), int))
        and _has(found["files"], dict.fromkeys([*table_names(), *found["files"]], list))
        and _has(found["unknown_bytes"], dict.fromkeys(found["unknown_bytes"], int))
        and _has(found["records"] or {}, dict.fromkeys(found["records"] or (), int))
        and all(_is_file(table, each) for table, names in found["files"].items() for each in names)
        and all(map(_RUN.fullmatch, found["records"] or ()))
        and _has(found["checksums"], dict.fromkeys(found["checksums"], str))
        and not any(count > 1 for count in Counter(dataset_files(found)).values())
        and _has(found["columns"], dict.fromkeys(table_names(), dict))
        and all(_has(each, dict.fromkeys(each, int)) for each in found["columns"].values())
        and all(map(_is_input, found["inputs"]))
    )


def _has(found: Any, shape: _Shape) -> bool:
    return isinstance(found, dict) and all(
        name in found and isinstance(found[name], kind) for name, kind in shape.items()
    )


def _is_file(table: str, found: Any) -> bool:
    path = _ROWS.fullmatch(found) if isinstance(found, str) else None
    return path is not None and path["table"] == table


def _is_input(found: Any, nested: int = 0) -> bool:
    if nested == _MOST_NESTED or not _has(found, {"name": str}):
        return False
    if "inputs" not in found:
        return _has(found, _FILE) or _has(found, _EARLIER_FILE)
    return _has(found, _DATASET) and all(_is_input(each, nested + 1) for each in found["inputs"])


def part_number(name: str) -> int:
    """Return the number of the part that a file of rows or fingerprints is of, by its path."""
    found = _NUMBER.search(name)
    assert found is not None
    return int(found[1])


def named_columns(less: frozenset[str] = frozenset()) -> dict[str, dict[str, int]]:
    """Return the `columns` of a new manifest: table to name to the first part that has it, 0.

    less  columns that it does not name
    """
    return {
        table: {each.name: 0 for each in columns(table) if each.name not in less}
        for table in table_names()
    }


def added_columns(old: Manifest, first: int) -> dict[str, dict[str, int]]:
    """Return the `columns` of a manifest to which parts from the number `first` on are added."""
    return {
        table: dict.fromkeys(names, first) | old["columns"][table]
        for table, names in named_columns().items()
    }


def lacking(manifest: Manifest, table: str, name: str) -> frozenset[str]:
    """Return the columns of a table that a file of it lacks: it was written before they came."""
    number, first = part_number(name), manifest["columns"][table]
    return frozenset(
        each.name for each in columns(table) if first.get(each.name, number + 1) > number
    )


def smf_files(inputs: Iterable[Manifest]) -> Iterator[str]:
    """Yield the names of SMF files, as rows have them, among the inputs of a manifest."""
    for each in inputs:
        if "inputs" in each:
            yield from smf_files(each["inputs"])
        else:
            yield each["name"]


def called_otherwise(inputs: Iterable[Manifest], called: Mapping[str, str]) -> list[Manifest]:
    """Return the inputs of a manifest with other names for SMF files."""
    return [
        each | {"inputs": called_otherwise(each["inputs"], called)}
        if "inputs" in each
        else each | {"name": called.get(each["name"], each["name"])}
        for each in inputs
    ]


def manifest_text(manifest: Manifest) -> str:
    """Return what the file of a manifest has."""
    return json.dumps(manifest, indent=2) + "\n"


def dataset_files(manifest: Manifest) -> Iterator[str]:
    """Yield the path of every file of a dataset, from its folder: all but manifest and views."""
    for names in manifest["files"].values():
        yield from names
    yield from manifest["records"] or ()


def ours(folder: Place) -> list[Place]:
    """Return the files of rows and fingerprints in a folder: only these are ours."""
    if isinstance(folder, Url):
        return _listed(folder)
    found = [
        each
        for table in table_names()
        if (folder / table).is_dir()
        for below in _FOLDERS
        for each in sorted((folder / table).glob(f"{below}part-*.parquet"))
    ]
    return [*found, *sorted((folder / RECORDS).glob("part-*.bin"))]


def _listed(folder: Url) -> list[Place]:
    """Return what `ours` does, of one list of all that is there: to ask for each takes long."""
    return [
        each
        for each in folder.rglob("part-*")
        if not each.was_folder and _is_ours(each.relative_to(folder).as_posix())
    ]


def _is_ours(name: str) -> bool:
    return _is_file(name.split("/")[0], name) or _RUN.fullmatch(name) is not None


def unfinished(folder: Place) -> list[Place]:
    """Return the files that are not in their places yet, the manifest last."""
    single = (folder / PARTIAL / each for each in (VIEWS, MANIFEST))
    return [*ours(folder / PARTIAL), *(each for each in single if each.exists())]


def strays(folder: Place) -> list[Place]:
    """Return the files that a run which was killed left: those that the manifest does not name."""
    if not (folder / MANIFEST).exists():
        return [*ours(folder), *unfinished(folder)]
    try:
        belong = {folder / each for each in dataset_files(read_manifest(folder))}
    except InputError:
        return unfinished(folder)
    return [*(each for each in ours(folder) if each not in belong), *unfinished(folder)]


def own_names() -> frozenset[str]:
    """Return the names of all that a dataset has in its folder, and while it is written."""
    return frozenset([*table_names(), RECORDS, PARTIAL, MANIFEST, VIEWS, LOCK])


def contents(folder: Place) -> set[str]:
    """Return the names of what is in a folder, less the lock of its writer."""
    return {each.name for each in folder.iterdir()} - {LOCK}


def interrupted(folder: Place) -> bool:
    """Whether there is what writing leaves when it is interrupted, and nothing else."""
    found = contents(folder)
    if not found or not found <= own_names():
        return False
    files = (each for each in folder.rglob("*") if each.is_file() and each.name != LOCK)
    return bool(unfinished(folder)) or not any(files)


def is_dataset(folder: Place) -> bool:
    """Whether a folder is a dataset, or one that was not finished."""
    try:
        return (folder / MANIFEST).is_file() or interrupted(folder)
    except OSError:
        return False


def own_folders(folder: Path, files: Iterable[Path]) -> list[Path]:
    """Return the folders of files, of all tables and of what is written, inner ones first."""
    found = {folder / each for each in (*table_names(), RECORDS, PARTIAL)}
    found.update(each for each in (folder / PARTIAL).rglob("*") if each.is_dir())
    for file in files:
        found.update(each for each in file.parents if each.is_relative_to(folder))
    return sorted(found - {folder}, key=lambda each: (-len(each.parts), each))
