"""Datasets: their rows, their files, and what is done to these."""

from __future__ import annotations

import hashlib
import sqlite3
import struct
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import Result

from smfparse.decoding.arrow import plain_schema, wanted_tables
from smfparse.decoding.dictionary import table_names
from smfparse.inputs.opening import Inputs, open_inputs
from smfparse.reading.places import place_of
from smfparse.store.database import MANIFEST
from smfparse.store.manifest import VIEWS, read_files, read_inputs, read_runs
from smfparse.store.targets import checksum
from tests.support.command import run


def convert(*arguments: object, code: int = 0, stdin: bytes = b"") -> Result:
    """Call convert, which prints nothing but messages."""
    done = run("convert", *arguments, stdin=stdin)
    assert (done.exit_code, done.stdout) == (code, ""), done.output
    return done


def rows_of(folder: Path) -> dict[str, Any]:
    """Return every table, in the order of its rows' places and values."""
    found = every_table(open_inputs([folder]))
    for table, whole in found.items():
        order = [(name, "ascending") for name in whole.column_names]
        found[table] = whole.sort_by(order) if whole.num_rows else whole
    return found


def every_table(inputs: Inputs, names: Sequence[str] = ()) -> dict[str, Any]:
    """Return all tables of inputs, or those of some names; the inputs are read once."""
    wanted = wanted_tables(names or table_names())
    parts: dict[str, list[Any]] = {table: [] for table in wanted}
    for table, batch in inputs.batches(wanted):
        parts[table].append(batch.cast(plain_schema(table)))
    return {
        table: pa.Table.from_batches(batches, plain_schema(table))
        for table, batches in parts.items()
    }


def with_views(folder: Path, patch: pytest.MonkeyPatch, *names: str) -> Any:
    """Open a dataset with nothing but its views.sql, or some of it, from inside its folder."""
    patch.chdir(folder)
    database, begin = duckdb.connect(), "CREATE OR REPLACE VIEW "
    head, *made = Path(VIEWS).read_text(encoding="utf-8").split(begin)
    chosen = [each for each in made if not names or each.split()[0] in names]
    database.execute(begin.join([head, *chosen]))
    return database


def read_manifest(folder: Path | str) -> dict[str, Any]:
    place = place_of(folder)
    found, runs = read_files(place), read_runs(place)
    found["inputs"] = read_inputs(place)
    found["checksums"] |= {each.name: each.sha256 for each in runs}
    found["records"] = {each.name: each.records for each in runs} if found["has_records"] else None
    found["record_days"] = {each.name: each.days for each in runs if each.days is not None}
    return found


def dataset_files(manifest: dict[str, Any]) -> list[str]:
    """Return the path of every file that a manifest names: all but itself and what it gives."""
    return [*(each for names in manifest["files"].values() for each in names), *manifest["records"]]


def files_below(folder: Path) -> dict[str, bytes]:
    """Return the files below a folder, through no link."""
    found = (each for each in folder.rglob("*") if each.is_file() and not each.is_symlink())
    return {each.relative_to(folder).as_posix(): each.read_bytes() for each in found}


def edit(folder: Path, statement: str, *values: object) -> None:
    """Change the manifest of a dataset by SQL."""
    with closing(sqlite3.connect(folder / MANIFEST)) as database, database:
        database.execute(statement, values)


def dumped(manifest: bytes) -> bytes:
    """Return what is in a manifest as SQL: its pages depend on how it came about."""
    with closing(sqlite3.connect(":memory:")) as database:
        database.deserialize(manifest)
        return "\n".join(database.iterdump()).encode()


def note_checksums(folder: Path) -> None:
    """Let the manifest have the checksums that the files have now, as one who forges them does."""

    for table in ("file", "fingerprints"):
        with closing(sqlite3.connect(folder / MANIFEST)) as database, database:
            for (name,) in database.execute(f"SELECT name FROM {table}").fetchall():
                change = f"UPDATE {table} SET sha256 = ? WHERE name = ?"
                database.execute(change, (checksum(folder / name), name))


def drop(file: Path, *names: str) -> None:
    """Write a file of a table again without some of its columns."""
    pq.write_table(pq.ParquetFile(file).read().drop_columns(list(names)), file)


def identity_of(dump: Path) -> str:
    """The identity of a dump, worked out record by record without smfparse."""
    data, found = dump.read_bytes(), hashlib.sha256()
    at, record = 0, b""
    while at < len(data):
        length = int.from_bytes(data[at : at + 2])
        record += data[at + 4 : at + length]
        goes_on = data[at + 2] & 3 in (1, 3)
        at += length
        if not goes_on:
            number = header_hash(record, len(record) + 4)
            found.update(number.to_bytes(8) + hashlib.sha256(record).digest()[:8])
            record = b""
    return found.hexdigest()


def header_hash(record: bytes, length: int) -> int:
    """The hash of the SMF header of a record behind its RDW, up to the subtype, and its length."""
    words = struct.unpack("<5I", record[:20].ljust(20, b"\0"))
    made = length
    for word in words:
        made = (made ^ word) * 0x9E3779B97F4A7C15 % 2**64
        made ^= made >> 32
    return made
