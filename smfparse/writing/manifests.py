"""The manifest of written files and earlier parts: small, whatever the size of the dataset."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from smfparse import __version__
from smfparse.decoding import Fingerprints, read_run
from smfparse.inputs import Dataset, Inputs, SmfFile, Source
from smfparse.store import (
    EARLIER,
    EXACT,
    FORMAT,
    SIGNED,
    AnyFolder,
    Manifest,
    as_run,
    called_otherwise,
    dataset_files,
    key_of,
    part_number,
    part_of,
    part_text,
    smf_files,
    span_of,
)
from smfparse.tables import DAMAGE, table_names
from smfparse.writing.making import DamageKey, Making
from smfparse.writing.parts import Written
from smfparse.writing.placing import write_new

NAME, SIZE, INPUT, DAMAGED = "name", "bytes", "input", "damage"
"""Kinds of keys: what `source` is in rows; bytes of an input; an input by its bytes and identity;
what could not be used, by source, byte and reason."""
_MOST_LISTED = 16
"""Parts, or indexes of them, that are listed before they become an index."""


def rows_of(written: Iterable[Written]) -> dict[str, int]:
    """Return how many rows each table has."""
    rows = dict.fromkeys(table_names(), 0)
    for each in written:
        rows[each.table] += each.rows
    return rows


def are_files(sources: Iterable[Source]) -> bool:
    """Whether all inputs are SMF files."""
    return all(isinstance(each, SmfFile) for each in sources)


def manifest_of(inputs: Inputs, made: Making, written: Sequence[Written]) -> Manifest:
    """Return the manifest of what was written, and of what was there.

    Raises InputError where an input was changed meanwhile.
    """
    files: dict[str, list[str]] = {table: [] for table in table_names()}
    for each in written:
        files[each.table].append(each.name)
    manifest = {
        "format": FORMAT,
        "smfparse": __version__,
        "inputs": [_described(each, inputs, made) for each in inputs.sources],
        "selection": inputs.selected,
        "partitioned": made.layout.by_day,
        "types": SIGNED if made.form.is_signed else EXACT,
        "tables": rows_of(written),
        "duplicates": inputs.duplicates,
        "unknown_bytes": dict(inputs.log.unknown),
        "damage_count": made.not_known(inputs.met).count,
        "files": files,
        "rows": {each.name: [each.rows, *each.days] for each in written},
        "fingerprints": made.form.has_fingerprints,
        "records": made.finish_fingerprints() if are_files(inputs.sources) else None,
        "record_days": made.days,
        "checksums": {each.name: each.sha256 for each in written} | made.sums,
        "earlier": [],
        "keys": {},
        "next": made.first,
    }
    whole = manifest if made.old is None else summed(made.old, manifest)
    return whole | {"next": 1 + max([made.first, *map(part_number, dataset_files(whole))])}


def _described(source: Source, inputs: Inputs, made: Making) -> dict[str, Any]:
    """Return the entry of an input in the manifest. Raises InputError where it was changed."""
    if not isinstance(source, SmfFile):
        assert isinstance(source, Dataset)
        names = called_otherwise(source.manifest["inputs"], source.called)
        return {"name": source.name, "inputs": names}
    before = made.read[source.path]
    if are_files(inputs.sources):
        found = str(made.recorder.identities[source.path])
    else:
        found = before.identity
    before.check()
    return {
        "name": source.name,
        "bytes": before.stamp.size,
        "identity": found,
        "smfparse": __version__,
        "duplicates": inputs.log.duplicates.get(source.path, 0),
    }


def summed(old: Manifest, new: Manifest) -> Manifest:
    """Return the head of a manifest with what was added."""
    unknown: Counter[str] = Counter(old["unknown_bytes"]) + Counter(new["unknown_bytes"])
    whole = new | {
        "inputs": [*old["inputs"], *new["inputs"]],
        "tables": {table: old["tables"][table] + new["tables"][table] for table in table_names()},
        "duplicates": old["duplicates"] + new["duplicates"],
        "unknown_bytes": dict(unknown),
        "damage_count": old["damage_count"] + new["damage_count"],
        "files": {table: [*old["files"][table], *new["files"][table]] for table in table_names()},
        "earlier": old["earlier"],
        "keys": old["keys"],
    }
    here = set(dataset_files(whole))
    for key in ("checksums", "rows", "record_days"):
        both = old[key] | new[key]
        whole[key] = {name: value for name, value in both.items() if name in here}
    return whole


def set_apart(
    folder: AnyFolder, head: Manifest, number: int, damage: Iterable[DamageKey], most: int
) -> Manifest:
    """Write what the head of a manifest names itself as an earlier part; return a head without.

    number  that of the part
    damage  what could not be used of the inputs that are named there
    most    keys beyond which files of them are not put together
    """
    part = part_of(head)
    keys = as_run([*input_keys(part), *(key_of(DAMAGED, *each) for each in damage)])
    empty = {key: type(value)() for key, value in part.items()}
    return (
        head
        | empty
        | {
            "files": {table: [] for table in head["files"]},
            "earlier": _with_part(folder, head["earlier"], part, number),
            "keys": _with_keys(folder, head["keys"], keys, number, most),
        }
    )


def listed_with(
    folder: AnyFolder, listed: Iterable[Manifest], parts: Iterable[Manifest], first: int
) -> tuple[list[Manifest], int]:
    """Write earlier parts; return what lists these behind others, and the next number.

    listed  what names the others: no indexes
    first   a number that no file has
    """
    found: list[Manifest] = []
    number = first
    for each in listed:
        found = [*_indexed(folder, found, number), each]
        number += 1
    for part in parts:
        found = _with_part(folder, found, part, number)
        number += 1
    return found, number


def _with_part(
    folder: AnyFolder, listed: list[Manifest], part: Manifest, number: int
) -> list[Manifest]:
    """Write an earlier part; return what lists it behind others."""
    name = f"{EARLIER}/part-{number:05}.json"
    written = write_new(folder, f"{folder.partial}/{name}", part_text(part).encode())
    days = [day for _, *span in part["rows"].values() for day in span]
    record_days = [day for each in part["record_days"].values() for day in each]
    is_known = part["records"].keys() == part["record_days"].keys()
    earlier = {
        "name": name,
        "sha256": written,
        "files": sum(map(len, part["files"].values())),
        "days": span_of(days),
        "record_days": span_of(record_days) if is_known else None,
        "level": 0,
        "damaged": any(part["rows"][each][0] for each in part["files"].get(DAMAGE, ())),
    }
    return [*_indexed(folder, listed, number), earlier]


def _indexed(folder: AnyFolder, listed: list[Manifest], number: int) -> list[Manifest]:
    """Return what names earlier parts, of which those of a level become an index if they are many.

    Indexes become one as well: so few are listed, however many parts there are.
    """
    counts = Counter(each["level"] for each in listed)
    level = next((each for each in sorted(counts) if counts[each] >= _MOST_LISTED), None)
    if level is None:
        return listed
    parts = [each for each in listed if each["level"] == level]  # they follow those above it
    name = f"{EARLIER}/index-{number:05}.json"
    written = write_new(folder, f"{folder.partial}/{name}", part_text({"parts": parts}).encode())
    index = {
        "name": name,
        "sha256": written,
        "files": sum(each["files"] for each in parts),
        "days": span_of(day for each in parts for day in each["days"]),
        "record_days": _joined(each["record_days"] for each in parts),
        "level": 1 + level,
        "damaged": any(each["damaged"] for each in parts),
    }
    above, below = (
        [each for each in listed if each["level"] > level],
        [each for each in listed if each["level"] < level],
    )
    return [*above, index, *below]


def _joined(spans: Iterable[list[str] | None]) -> list[str] | None:
    """Return the span of several; None: one of them is not known."""
    found = [*spans]
    known = [each for each in found if each is not None]
    return span_of(day for each in known for day in each) if len(known) == len(found) else None


def input_keys(part: Manifest) -> Iterator[bytes]:
    """Yield the keys of the inputs of a part: what it is asked for when files are added."""
    yield from (key_of(NAME, each) for each in smf_files(part["inputs"]))
    for each in part["inputs"]:
        yield key_of(SIZE, each["bytes"])
        yield key_of(INPUT, each["bytes"], each["identity"])


def _with_keys(
    folder: AnyFolder, files: dict[str, int], keys: Fingerprints, number: int, most: int
) -> dict[str, int]:
    """Write keys, together with those of files that are short; return all files of keys."""
    kept = dict(files)
    while kept:
        name, length = kept.popitem()
        if length > 2 * len(keys) or length + len(keys) > most:
            kept[name] = length
            break
        keys = np.unique(np.concatenate([read_run(folder.path / name), keys]))
    name = f"{EARLIER}/keys-{number:05}.bin"
    write_new(folder, f"{folder.partial}/{name}", keys.tobytes())
    return kept | {name: len(keys)}


def is_long(head: Manifest, most: int) -> bool:
    """Whether the head of a manifest names so many files or inputs that they are set apart."""
    return len(head["inputs"]) + sum(map(len, head["files"].values())) > most
