"""The manifest entries of a run: its inputs, and totals over its inputs and earlier inputs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from smfparse import __version__
from smfparse.inputs.opening import Inputs
from smfparse.inputs.sources import Dataset, SmfFile, Source
from smfparse.store.manifest import (
    EXACT,
    SIGNED,
    Manifest,
    NamedFile,
    called_otherwise,
    part_number,
)
from smfparse.store.writer import News
from smfparse.tables.dictionary import table_names
from smfparse.writing.making import Making, damage_key


def rows_of(written: Iterable[NamedFile]) -> dict[str, int]:
    """Return the number of rows of each table."""
    rows = dict.fromkeys(table_names(), 0)
    for each in written:
        rows[each.table] += each.rows
    return rows


def are_files(sources: Iterable[Source]) -> bool:
    """Whether all inputs are SMF files."""
    return all(isinstance(each, SmfFile) for each in sources)


def news_of(inputs: Inputs, made: Making, written: Sequence[NamedFile]) -> News:
    """Return the changes to the manifest, for the commit after the files of a run are written.

    Raises InputError if an input was changed during the run.
    """
    has_records = are_files(inputs.sources)
    if has_records:
        made.finish_fingerprints()
    names = [*(each.name for each in written), *(each.name for each in made.runs)]
    new = made.not_known(inputs.met)
    head = {
        "smfparse": __version__,
        "selection": inputs.selected,
        "partitioned": made.layout.by_day,
        "types": SIGNED if made.form.is_signed else EXACT,
        "tables": rows_of(written),
        "duplicates": inputs.duplicates,
        "unknown_bytes": dict(inputs.log.unknown),
        "damage_count": new.count,
        "fingerprints": made.form.has_fingerprints,
        "has_records": has_records,
        "next": 1 + max([made.first, *map(part_number, names)]),
    }
    return News(
        head if made.old is None else _summed(made.old, head),
        inputs=[_described(each, inputs, made) for each in inputs.sources],
        files=written,
        runs=made.runs,
        damage=map(damage_key, new.details),
        gone=None if made.old is None else frozenset(made.gone),
    )


def _described(source: Source, inputs: Inputs, made: Making) -> dict[str, Any]:
    if not isinstance(source, SmfFile):
        assert isinstance(source, Dataset)
        return {"name": source.name, "inputs": called_otherwise(source.inputs, source.called)}
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


def _summed(old: Manifest, new: Manifest) -> Manifest:
    return new | {
        "tables": {table: old["tables"][table] + new["tables"][table] for table in table_names()},
        "duplicates": old["duplicates"] + new["duplicates"],
        "unknown_bytes": dict(Counter(old["unknown_bytes"]) + Counter(new["unknown_bytes"])),
        "damage_count": old["damage_count"] + new["damage_count"],
    }
