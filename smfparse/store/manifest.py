"""The manifest of a dataset: its files, and their properties.

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
from smfparse.store.plain import plain_file
from smfparse.store.shapes import PART_KEYS, Manifest, is_index, is_part, is_sound, own_files
from smfparse.tables import TableColumn, columns, meaning, table_names, with_fingerprints

MANIFEST = "smfparse.json"
VIEWS = "views.sql"
MEANINGS = "columns.json"
GIVEN = (VIEWS, MEANINGS)
"""Files that the manifest gives; they follow it."""
RECORDS = ".records"
EARLIER = ".manifest"
FORMAT = 1
_NUMBER = re.compile(r"(?:part|keys|index)-(\d+)[^/]*$")
"""Number of the part in the path of a file."""


def read_head(folder: Place) -> Manifest:
    """Return what `smfparse.json` has: the sums, and of files and inputs those that came last.

    `earlier` lists the parts with the others. Raises InputError where it cannot be understood.
    """
    found = _parsed(folder, MANIFEST)
    if not isinstance(found, dict) or found.get("format") != FORMAT:
        raise InputError(
            f"{folder}: written by another version of smfparse; use that one, or convert again "
            "from the SMF files"
        )
    if not is_sound(found):
        raise InputError(f"{folder}: {MANIFEST} is damaged; convert again")
    return found


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


def _columns(fingerprints: bool) -> dict[str, tuple[TableColumn, ...]]:
    """Return the columns of each table of a dataset, with fingerprints or without."""
    return {
        table: columns(table, with_fingerprints(table, asked=fingerprints))
        for table in table_names()
    }


def has_fingerprints(manifest: Manifest) -> bool:
    """Whether the table `record` of a dataset has fingerprints of its records."""
    return bool(manifest["fingerprints"])


def wanted_in(manifest: Manifest, table: str) -> frozenset[str] | None:
    """Return the columns that a table of a dataset has; None: all but those to be asked for."""
    return with_fingerprints(table, asked=has_fingerprints(manifest))


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
