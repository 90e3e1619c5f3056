"""The manifest of a dataset: which files belong to it, and what is known of them.

    smfparse.json              written last: the sums, and what was added last
    .manifest/part-*.json      what was added before; written once
    .manifest/index-*.json     lists of such parts, or of such lists
    .manifest/keys-*.bin       names, sizes and identities of the inputs in these (`keys`)
    views.sql                  the tables for DuckDB
    columns.json               what columns mean, and their units
    <table>/part-*.parquet     rows; partitioned: <table>/date=.../, large tables below that
                               queue_manager=.../ as well
    .records/part-*.bin        fingerprints of the records, for what is added later
    .partial/                  the same while it is written: a folder that readers pass over
    .lock                      while somebody writes

A file that the manifest does not name is left from a run that was killed. What is added rewrites
`smfparse.json` alone, which stays small: once it names many files, these become a part, and once it
lists many parts, these become an index.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from smfparse.errors import InputError
from smfparse.places import Place
from smfparse.selecting import COUNTED_AT
from smfparse.store.hive import divided_before
from smfparse.store.plain import plain_file
from smfparse.store.shapes import EXACT, PART_KEYS, Manifest, is_index, is_part, is_sound, own_files
from smfparse.tables import (
    RECORD,
    WIDENED,
    TableColumn,
    columns,
    meaning,
    table_names,
    with_fingerprints,
)

MANIFEST = "smfparse.json"
VIEWS = "views.sql"
MEANINGS = "columns.json"
GIVEN = (VIEWS, MEANINGS)
"""Files that the manifest gives; they follow it."""
RECORDS = ".records"
EARLIER = ".manifest"
FORMAT = 10
_BEFORE_COLUMNS, _BEFORE_CHECKSUMS, _BEFORE_IDENTITIES, _BEFORE_PARTS = 4, 5, 6, 7
_BEFORE_LAYOUT, _BEFORE_WIDE_TYPES = 8, 9
"""Formats whose manifests do not name columns, checksums, or identities of inputs, have no parts,
do not say which tables are divided by queue manager, or whose files have the type of a record as
one byte; datasets of these are read."""
_LATER = frozenset(
    f"{COUNTED_AT} task_source task_record_offset task_started_tod task_thread "
    "sequence_no seconds_ahead".split()
)
"""Columns that no dataset of that format has."""
_NUMBER = re.compile(r"(?:part|keys|index)-(\d+)[^/]*$")
"""Number of the part in the path of a file."""


def read_head(folder: Place) -> Manifest:
    """Return what `smfparse.json` has: the sums, and of files and inputs those that came last.

    `earlier` lists the parts with the others. Raises InputError where it cannot be understood.
    """
    found = _parsed(folder, MANIFEST)
    if isinstance(found, dict):
        _renew(found)
    if not isinstance(found, dict) or found.get("format") != FORMAT:
        raise InputError(_other_version(folder, found))
    if not is_sound(found):
        raise InputError(f"{folder}: {MANIFEST} is damaged; convert again")
    return found


def _renew(found: Manifest) -> None:
    """Make of a manifest of an earlier format one of today."""
    if found.get("format") == _BEFORE_COLUMNS:
        found |= {"format": _BEFORE_CHECKSUMS, "columns": named_columns(_LATER)}
    if found.get("format") == _BEFORE_CHECKSUMS:
        found |= {"format": _BEFORE_IDENTITIES, "checksums": {}}
    if found.get("format") == _BEFORE_IDENTITIES:
        found |= {"format": _BEFORE_PARTS}
    if found.get("format") == _BEFORE_PARTS:
        found |= {
            "format": _BEFORE_LAYOUT,
            "types": EXACT,
            "rows": {},
            "record_days": {},
            "earlier": [],
            "keys": {},
        }
        found["numbers"] = numbers_of(found.get("files"))
        last = (number for _, number in found["numbers"].values())
        found["next"] = 1 + max([*last, *_of_names(found.get("records"))], default=-1)
    if found.get("format") == _BEFORE_LAYOUT:
        divided = divided_before(table_names()) if found.get("partitioned") else []
        found |= {"format": _BEFORE_WIDE_TYPES, "by_queue_manager": divided}
    if found.get("format") == _BEFORE_WIDE_TYPES:
        found |= {"format": FORMAT, "columns": _without_widened(found.get("columns"))}
    _add_tables(found)


def _add_tables(found: Manifest) -> None:
    """Name the tables that came after a dataset in its manifest."""
    parts = [found.get(each) for each in ("tables", "files", "columns")]
    for table in table_names():  # one that came later has no files
        if all(isinstance(each, dict) and each and table not in each for each in parts):
            found["tables"][table], found["files"][table], found["columns"][table] = 0, [], {}


def _without_widened(named: Any) -> Any:
    """Return the `columns` of a manifest without those that have a wider type now.

    The files count as if they lacked them, so that nobody takes these as they are.
    """
    if not isinstance(named, dict) or not all(isinstance(each, dict) for each in named.values()):
        return named
    return {
        table: {name: first for name, first in names.items() if name not in WIDENED.get(table, ())}
        for table, names in named.items()
    }


def numbers_of(files: Any) -> dict[str, list[int]]:
    """Return the least and the greatest number of the parts that have files of a table.

    files  table to the names of its files; anything else, as in a damaged manifest, has none
    """
    every = files if isinstance(files, dict) else {}
    found = {table: list(_of_names(names)) for table, names in every.items()}
    return {table: [min(some), max(some)] for table, some in found.items() if some}


def _of_names(names: Any) -> Iterator[int]:
    """Yield the numbers in names of files; what is none, as in a damaged manifest, has none."""
    some = names if isinstance(names, (list, dict)) else ()
    found = (_NUMBER.search(each) for each in some if isinstance(each, str))
    yield from (int(each[1]) for each in found if each)


def _other_version(folder: Place, found: Any) -> str:
    """Return the message for a manifest of a format that is not read."""
    number = found.get("format") if isinstance(found, dict) else None
    if isinstance(number, int) and number > FORMAT:
        return f"{folder}: written by a later version of smfparse; use that one, or a later one"
    return f"{folder}: written by another version of smfparse; convert again from the SMF files"


def read_manifest(folder: Place, wanted: Callable[[Manifest], bool] = bool) -> Manifest:
    """Return the manifest of a dataset in one piece, as if it had no parts.

    wanted  which of the `earlier` parts are read; all by default

    Raises InputError where it cannot be understood.
    """
    head = read_head(folder)
    parts = list(read_parts(folder, head["earlier"], wanted))
    every = [*parts, head]
    found = head | {"earlier": []}
    if parts:
        found["inputs"] = [each for part in every for each in part["inputs"]]
        found["files"] = {
            table: [name for part in every for name in part["files"].get(table, ())]
            for table in head["files"]
        }
        for key in ("checksums", "rows", "records", "record_days"):
            found[key] = {name: each for part in every for name, each in part[key].items()}
    return found


def read_parts(
    folder: Place, listed: Iterable[Manifest], wanted: Callable[[Manifest], bool] = bool
) -> Iterator[Manifest]:
    """Yield earlier parts of a manifest, in order.

    listed  what names them: parts, or indexes of parts
    wanted  which of these are read

    Raises InputError where one is not as it was written.
    """
    for each in named_parts(folder, listed, wanted):
        if not each["level"]:
            yield _checked(folder, each, is_part)


def named_parts(
    folder: Place, listed: Iterable[Manifest], wanted: Callable[[Manifest], bool] = bool
) -> Iterator[Manifest]:
    """Yield what names earlier parts and indexes, those in indexes as well; as `read_parts`."""
    for each in filter(wanted, listed):
        yield each
        if each["level"]:
            yield from named_parts(folder, _checked(folder, each, is_index)["parts"], wanted)


def _checked(folder: Place, named: Manifest, is_right: Callable[[Any], bool]) -> Manifest:
    """Return a part or an index. Raises InputError where it is not as it was written."""
    name = named["name"]
    found = _parsed(folder, name, named["sha256"])
    if not is_right(found):
        raise InputError(f"{folder}: {name} is damaged; convert again")
    return dict(found)


def part_of(manifest: Manifest) -> Manifest:
    """Return what a manifest says of the files that it names itself, as an earlier part."""
    found = {key: manifest[key] for key in PART_KEYS}
    return found | {"files": {table: names for table, names in found["files"].items() if names}}


def _parsed(folder: Place, name: str, expected: str | None = None) -> Any:
    """Return what is in a file of a manifest: JSON in UTF-8, each text of it too.

    expected  its SHA-256; None: any
    """
    place = plain_file(folder, name)
    try:
        data = place.read_bytes()
        found = json.loads(data.decode())
        json.dumps(found, ensure_ascii=False).encode()
    except (OSError, ValueError, RecursionError) as error:
        raise InputError(f"{folder}: {name} cannot be read: {error}") from error
    if expected is not None and hashlib.sha256(data).hexdigest() != expected:
        raise InputError(f"{folder}: {name} is not as it was written; convert again")
    return found


def part_number(name: str) -> int:
    """Return the number of the part that a file is of, by its path."""
    found = _NUMBER.search(name)
    assert found is not None
    return int(found[1])


def named_columns(
    less: frozenset[str] = frozenset(), *, fingerprints: bool = False
) -> dict[str, dict[str, int]]:
    """Return the `columns` of a new manifest: table to name to the first part that has it, 0.

    less          columns that it does not name
    fingerprints  whether the dataset has them
    """
    return {
        table: {each.name: 0 for each in found if each.name not in less}
        for table, found in _columns(fingerprints).items()
    }


def _columns(fingerprints: bool) -> dict[str, tuple[TableColumn, ...]]:
    """Return the columns of each table of a dataset, with fingerprints or without."""
    return {
        table: columns(table, with_fingerprints(table, asked=fingerprints))
        for table in table_names()
    }


def has_fingerprints(manifest: Manifest) -> bool:
    """Whether the table `record` of a dataset has fingerprints of its records."""
    return "fingerprint" in manifest["columns"][RECORD]


def wanted_in(manifest: Manifest, table: str) -> frozenset[str] | None:
    """Return the columns that a table of a dataset has; None: all but those to be asked for."""
    return with_fingerprints(table, asked=has_fingerprints(manifest))


def added_columns(old: Manifest, first: int) -> dict[str, dict[str, int]]:
    """Return the `columns` of a manifest to which parts from the number `first` on are added."""
    return {
        table: dict.fromkeys(names, first) | old["columns"][table]
        for table, names in named_columns(fingerprints=has_fingerprints(old)).items()
    }


def lacking(manifest: Manifest, table: str, number: int) -> frozenset[str]:
    """Return the columns of a table that files of a part lack.

    It was written before they came, or they were not asked for.
    """
    first = manifest["columns"][table]
    every = columns(table, with_fingerprints(table))
    return frozenset(each.name for each in every if first.get(each.name, number + 1) > number)


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
    """Return what the file of a manifest has: a line for each key, which is fast to make."""
    lines = (f" {json.dumps(key)}: {json.dumps(value)}" for key, value in manifest.items())
    return "{\n" + ",\n".join(lines) + "\n}\n"


def meanings_text(manifest: Manifest) -> str:
    """Return what the file has that says what columns mean: table to column to its meaning."""
    found = {
        table: {each.name: meaning(each) for each in some}
        for table, some in _columns(has_fingerprints(manifest)).items()
    }
    return json.dumps(found, indent=1, ensure_ascii=False) + "\n"


def part_text(part: Manifest) -> str:
    """Return what the file of an earlier part has."""
    return json.dumps(part, separators=(",", ":")) + "\n"


def dataset_files(manifest: Manifest) -> Iterator[str]:
    """Yield the path of every file that a manifest names: all but itself and views."""
    yield from own_files(manifest)
    yield from (each["name"] for each in manifest["earlier"])
    yield from manifest["keys"]


def every_file(folder: Place) -> Iterator[str]:
    """Yield the path of every file of a dataset, those that earlier parts name as well."""
    head = read_head(folder)
    yield from own_files(head)
    yield from head["keys"]
    yield from (each["name"] for each in named_parts(folder, head["earlier"]))
    for part in read_parts(folder, head["earlier"]):
        yield from own_files(part)
