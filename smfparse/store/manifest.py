"""The manifest of a dataset, which lists its files and their properties; other files in its folder.

The folder of a dataset contains:

    smfparse.db                the manifest: inputs, files and sums (`database`); written after the
                               files with rows and fingerprints
    views.sql                  views of the tables for DuckDB, written after the manifest
    columns.json               meanings and units of columns, written after the manifest
    <table>/part-*.parquet     rows; if partitioned, in <table>/date=.../, and for large tables
                               below this in queue_manager=.../
    .records/part-*.bin        fingerprints of the records, to find duplicates in files added later
    .partial/                  files while they are written: readers ignore this folder

Files that are not in the manifest were left by a killed run. Every value of a manifest is checked
when it is read: it must have the right type, and a path must not lead out of the folder.
"""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import UnionType
from typing import Any, NamedTuple, TypeAlias

from smfparse.decoding.dictionary import columns, meaning, table_names, with_fingerprints
from smfparse.reading.places import Place, Url, size_at
from smfparse.store.database import JOURNALS, MANIFEST, damaged, reading
from smfparse.store.hive import FOLDER, FOLDERS
from smfparse.store.targets import PARTIAL

VIEWS = "views.sql"
MEANINGS = "columns.json"
GIVEN = (VIEWS, MEANINGS)
"""Files that are derived from the manifest, and written after it."""
RECORDS = ".records"
EXACT, SIGNED = "exact", "signed"
TYPES = (EXACT, SIGNED)
"""Types of the numbers in a dataset: exact types, or signed types, which every engine supports."""
Manifest: TypeAlias = dict[str, Any]
"""The properties of a dataset or input, by name: see docs/dataset.md."""
_Kind: TypeAlias = type | UnionType

_RUN = r"(-[0-9a-f]{12})?"
"""Regular expression for the run that wrote a file in object storage."""
_ROWS = re.compile(rf"(?P<table>\w+)/{FOLDER}part-\d{{1,9}}(-\d{{1,9}})?{_RUN}\.parquet", re.ASCII)
_FINGERPRINTS = re.compile(rf"\.records/part-\d{{1,9}}{_RUN}\.bin", re.ASCII)
"""Regular expressions for all valid paths of files in a dataset: none leads out of its folder."""
_NUMBER = re.compile(r"part-(\d+)[^/]*$")
"""Regular expression for the part number in the path of a file."""
_MOST_NESTED = 50
"""Maximum nesting of datasets converted from datasets; deeper nesting can only be damage."""
_HEAD: Mapping[str, _Kind] = {
    "smfparse": str,
    "selection": str | None,
    "partitioned": bool,
    "types": str,
    "tables": dict,
    "duplicates": int,
    "unknown_bytes": dict,
    "damage_count": int,
    "fingerprints": bool,
    "has_records": bool,
    "next": int,
}
"""Types of the properties of a dataset: sums over its inputs, and settings. `has_records`: whether
the dataset has files of fingerprints (.records); `next`: number of the next part.
"""


class NamedFile(NamedTuple):
    """A file with rows of a table.

    name    path of the file in the dataset
    rows    number of rows
    days    first and last day of the rows; []: no row has a time
    sha256  checksum of the file
    """

    name: str
    rows: int
    days: Sequence[str]
    sha256: str

    @property
    def table(self) -> str:
        """The table whose rows the file contains."""
        return self.name.partition("/")[0]


class NamedRun(NamedTuple):
    """A file of fingerprints.

    name     path of the file in the dataset
    records  number of fingerprints
    days     {day: number of fingerprints}; None: fingerprints ascend over all days
    sha256   checksum of the file
    """

    name: str
    records: int
    days: dict[str, int] | None
    sha256: str


def read_inputs(folder: Place) -> list[Manifest]:
    """Return the inputs of a dataset, in order.

    Raises InputError if the manifest is missing or damaged.
    """
    with reading(folder) as database:
        return _inputs_of(folder, database)


def read_runs(folder: Place) -> list[NamedRun]:
    """Return the files of fingerprints of a dataset; raises as `read_inputs`."""
    with reading(folder) as database:
        return runs_of(folder, database)


def read_files(folder: Place, span: Sequence[str] | None = None) -> Manifest:
    """Return the properties of a dataset and its files with rows; raises as `read_inputs`.

    span  the first and the last day of the requested rows; None: all rows

    Besides the properties, the result contains `files`: file names by table; `rows`: number of
    rows, first and last day, by file name; `checksums`: checksums by file name.
    """
    names: dict[str, list[str]] = {table: [] for table in table_names()}
    with reading(folder) as database:
        head, files = head_of(folder, database), _files_of(folder, database, span)
    for each in files:
        names[each.table].append(each.name)
    return head | {
        "files": names,
        "rows": {each.name: [each.rows, *each.days] for each in files},
        "checksums": {each.name: each.sha256 for each in files},
    }


def head_of(folder: Place, database: sqlite3.Connection) -> Manifest:
    """Return the properties of a dataset with an open manifest; raises InputError."""
    found: Manifest = {}
    query = "SELECT value FROM property WHERE name = ?"
    for name in _HEAD:
        for (value,) in _rows(folder, database, query, (str,), [name]):
            found[name] = _parsed(folder, value)
    is_right = (
        _has(found, _HEAD)
        and found["types"] in TYPES
        and _has(found["tables"], dict.fromkeys(table_names(), int))
        and _has(found["unknown_bytes"], dict.fromkeys(found["unknown_bytes"], int))
    )
    if not is_right:
        raise damaged(folder)
    return found


def _inputs_of(folder: Place, database: sqlite3.Connection) -> list[Manifest]:
    query = "SELECT value FROM input ORDER BY number"
    found = [_parsed(folder, value) for (value,) in _rows(folder, database, query, (str,))]
    if not all(map(_is_input, found)):
        raise damaged(folder)
    return found


def _files_of(
    folder: Place, database: sqlite3.Connection, span: Sequence[str] | None
) -> list[NamedFile]:
    wanted = "WHERE first_day <= ? AND last_day >= ?" if span else ""
    query = f"SELECT name, rows, first_day, last_day, sha256 FROM file {wanted} ORDER BY number"
    kinds = (str, int, str | None, str | None, str)
    found: dict[str, NamedFile] = {}
    for name, rows, *days, sha256 in _rows(folder, database, query, kinds, span and span[::-1]):
        known = [each for each in days if each is not None]
        if not _is_rows(name) or name in found or len(known) == 1:
            raise damaged(folder)
        found[name] = NamedFile(name, rows, known, sha256)
    return [*found.values()]


def runs_of(folder: Place, database: sqlite3.Connection) -> list[NamedRun]:
    """Return the files of fingerprints of a dataset with an open manifest; raises InputError."""
    found, query = [], "SELECT name, records, days, sha256 FROM fingerprints ORDER BY number"
    for name, records, text, sha256 in _rows(folder, database, query, (str, int, str, str)):
        days = _parsed(folder, text)
        is_right = days is None or _has(days, dict.fromkeys(days, int))
        if not _FINGERPRINTS.fullmatch(name) or not is_right:
            raise damaged(folder)
        found.append(NamedRun(name, records, days, sha256))
    return found


def _rows(
    folder: Place,
    database: sqlite3.Connection,
    query: str,
    kinds: Sequence[_Kind],
    values: Sequence[object] | None = None,
) -> Iterator[tuple[Any, ...]]:
    for row in database.execute(query, values or ()):
        if not all(map(isinstance, row, kinds)):
            raise damaged(folder)
        yield row


def _parsed(folder: Place, text: str) -> Any:
    """Return the value of a JSON text; raises InputError unless all strings are valid UTF-8."""
    try:
        found = json.loads(text)
        json.dumps(found, ensure_ascii=False).encode()
    except (ValueError, RecursionError) as error:
        raise damaged(folder) from error
    return found


def _has(found: Any, shape: Mapping[str, _Kind]) -> bool:
    return isinstance(found, dict) and all(
        name in found and isinstance(found[name], kind) for name, kind in shape.items()
    )


def _is_input(found: Any, nested: int = 0) -> bool:
    if nested == _MOST_NESTED or not _has(found, {"name": str}):
        return False
    if "inputs" not in found:
        return _has(found, {"bytes": int, "identity": str})
    each = found["inputs"]
    return isinstance(each, list) and all(_is_input(one, nested + 1) for one in each)


def is_own_file(name: str) -> bool:
    """Whether a file of a dataset can have the path `name` in the folder of the dataset."""
    return _is_rows(name) or _FINGERPRINTS.fullmatch(name) is not None


def _is_rows(name: str) -> bool:
    found = _ROWS.fullmatch(name)
    return found is not None and found["table"] in table_names()


def part_number(name: str) -> int:
    """Return the part number in the path of a file."""
    found = _NUMBER.search(name)
    assert found is not None
    return int(found[1])


def has_fingerprints(manifest: Manifest) -> bool:
    """Whether the table `record` of a dataset has the columns `fingerprint` and `dump_start`."""
    return bool(manifest["fingerprints"])


def wanted_in(manifest: Manifest, table: str) -> frozenset[str] | None:
    """Return the columns of a table of a dataset; None: all except columns on request."""
    return with_fingerprints(table, asked=has_fingerprints(manifest))


def smf_files(inputs: Iterable[Manifest]) -> Iterator[str]:
    """Yield the names of the SMF files among the inputs of a manifest, as in `source` of rows."""
    for each in inputs:
        if "inputs" in each:
            yield from smf_files(each["inputs"])
        else:
            yield each["name"]


def called_otherwise(inputs: Iterable[Manifest], called: Mapping[str, str]) -> list[Manifest]:
    """Return the inputs of a manifest, with SMF files renamed: `called` maps old to new names."""
    return [
        each | {"inputs": called_otherwise(each["inputs"], called)}
        if "inputs" in each
        else each | {"name": called.get(each["name"], each["name"])}
        for each in inputs
    ]


def meanings_text(manifest: Manifest) -> str:
    """Return the content of columns.json: by table, the meaning of each column."""
    found = {
        table: {each.name: meaning(each) for each in columns(table, wanted_in(manifest, table))}
        for table in table_names()
    }
    return json.dumps(found, indent=1, ensure_ascii=False) + "\n"


_FOLDERS = ("", *(f"{each}/" for each in FOLDERS))
"""Patterns of the folders of files below the folder of a table: not partitioned, partitioned."""


def ours(folder: Place) -> list[Place]:
    """Return the files with rows or fingerprints in the folder of a dataset."""
    if isinstance(folder, Url):  # one list of all objects: one request per object takes long
        found = [each for each in folder.rglob() if not each.was_folder]
        return [each for each in found if is_own_file(each.relative_to(folder).as_posix())]
    return _files(folder, "")


def _files(folder: Path, end: str) -> list[Place]:
    rows = [
        each
        for table in table_names()
        if (folder / table).is_dir()
        for below in _FOLDERS
        for each in sorted((folder / table).glob(f"{below}part-*.parquet{end}"))
    ]
    return [*rows, *sorted((folder / RECORDS).glob(f"part-*.bin{end}"))]


def unfinished(folder: Place) -> list[Place]:
    """Return the files that are not yet moved to their final places."""
    if isinstance(folder, Url):  # remote files are written in their final places
        return []
    partial = folder / PARTIAL
    given = (each for name in GIVEN for each in sorted(partial.glob(f"{name}*")))
    return [*_files(partial, "*"), *given]


def strays(folder: Place, belong: Container[str]) -> list[Place]:
    """Return the files that a killed run left: files whose path is not in `belong`."""
    path: Any = folder
    files = [each for each in ours(path) if each.relative_to(path).as_posix() not in belong]
    return [*files, *unfinished(folder)]


def own_names() -> frozenset[str]:
    """Return the names of all files and folders of a dataset, temporary files included."""
    return frozenset([*table_names(), RECORDS, PARTIAL, MANIFEST, *JOURNALS, *GIVEN])


def has_manifest(folder: Place) -> bool:
    """Whether a folder has a manifest that is not empty: the first run was completed."""
    manifest = folder / MANIFEST
    return manifest.is_file() and size_at(manifest) > 0


def contents(folder: Place) -> set[str]:
    """Return the names in a folder, except a manifest that is still empty."""
    found = {each.name for each in folder.iterdir()}
    return found if has_manifest(folder) else found - {MANIFEST, *JOURNALS}


def interrupted(folder: Place) -> bool:
    """Whether a folder contains only the remains of an interrupted first run."""
    found = contents(folder)
    if not found or MANIFEST in found or not found <= own_names():
        return False
    if isinstance(folder, Url):
        return True
    files = (each for each in folder.rglob("*") if each.is_file())
    return PARTIAL in found or all(each.name in (MANIFEST, *JOURNALS) for each in files)


def is_dataset(folder: Place) -> bool:
    """Whether a folder is a dataset, or was left by an interrupted first run."""
    try:
        return has_manifest(folder) or interrupted(folder)
    except OSError:
        return False


def own_folders() -> list[str]:
    """Return the names of the folders in a dataset, except PARTIAL."""
    return [*table_names(), RECORDS]
