"""Files of a dataset to rows: all there, through no link, and as they were written."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa

from smfparse.errors import InputError, SmfError
from smfparse.places import Place, Url
from smfparse.selecting import (
    COUNTED_AT,
    COUNTED_FROM,
    TASK_NUMBER,
    TASK_OFFSET,
    counted_rows,
    task_offsets,
)
from smfparse.store import (
    EXACT,
    Manifest,
    checksum,
    lacking,
    part_number,
    plain_file,
    wanted_in,
)
from smfparse.tables import WIDENED, Batch, coded_schema, signed, whole_schema


def there(folder: Place, manifest: Manifest, table: str) -> list[Place]:
    """Return the Parquet files of a table. Raises InputError where one is not there, or a link."""
    return [plain_file(folder, each) for each in manifest["files"][table]]


def check_rows(folder: Place, manifest: Manifest, table: str) -> None:
    """Raise InputError where the Parquet files of a table are not as they were written.

    Their bytes are read once for that, and what they say of their columns and rows. Files that
    were written before checksums came are only looked at; so are those elsewhere, as that would
    transfer all of them.
    """
    rows = 0
    for name in manifest["files"][table]:
        file, (expected, *_) = plain_file(folder, name), manifest["rows"].get(name, [None])
        if isinstance(file, Path):
            check_bytes(file, manifest["checksums"].get(name))
        with _named(file):
            less = lacking(manifest, table, part_number(name))
            found = _opened(file, table, less, manifest["types"]).metadata.num_rows
        if expected not in (None, found):
            raise InputError(f"{file}: {found:,} rows, not {expected:,}; convert again")
        rows += found
    if manifest["is_whole"] and rows != manifest["tables"][table]:
        raise InputError(
            f"{folder}: the files of the table {table} have {rows:,} rows, where "
            f"{manifest['tables'][table]:,} were written; convert again"
        )


def file_rows(folder: Place, manifest: Manifest, table: str, name: str) -> Iterator[Batch]:
    """Yield the rows of one file of a table, with all columns; raise InputError as `check_rows`."""
    check_rows(folder, manifest | {"files": {table: [name]}, "is_whole": False}, table)
    less = lacking(manifest, table, part_number(name))
    whole = coded_schema(table, wanted_in(manifest, table))
    for batch in parquet_rows(
        plain_file(folder, name), table, whole.names, less, manifest["types"]
    ):
        yield batch.cast(whole)


def check_bytes(file: Place, expected: str | None) -> None:
    """Raise InputError where a file has not the checksum with which it was written (None: any)."""
    if expected is not None and checksum(file) != expected:
        raise InputError(f"{file}: not as it was written: damaged or replaced; convert again")


def parquet_rows(
    file: Place, table: str, names: list[str], less: frozenset[str], types: str
) -> Iterator[Batch]:
    """Yield the columns `names` of a file of a table, also the columns `less`, which it lacks.

    types  those of the numbers in the file
    """
    with _named(file):
        opened = _opened(file, table, less, types)
        widened = less.intersection(WIDENED.get(table, ()))
        read = [each for each in names if each not in less - widened]
        made_of = {COUNTED_AT: COUNTED_FROM, TASK_OFFSET: (TASK_NUMBER,)}
        for each in less.intersection(names):
            read += made_of.get(each, ())
        read = list(dict.fromkeys(read))
        for found in opened.iter_batches(columns=read):
            batch = found if types == EXACT and not widened else _exact(found, table)
            yield _completed(batch, table, names) if less.intersection(names) else batch


def _exact(batch: Batch, table: str) -> Batch:
    """Return rows with the types that their columns have themselves."""
    whole = whole_schema(table)
    return batch.cast(pa.schema([whole.field(each) for each in batch.schema.names]))


def _opened(file: Place, table: str, less: frozenset[str], types: str) -> Any:
    """Return a ParquetFile, which has the columns of a table but `less`, each of its type."""
    from pyarrow.parquet import ParquetFile  # slow to load, and for datasets alone

    where: dict[str, Any] = {"source": file}
    if isinstance(file, Url):
        system, path = file.where
        where = {"source": path, "filesystem": system}
    opened = ParquetFile(**where, page_checksum_verification=True)
    whole = whole_schema(table) if types == EXACT else signed(whole_schema(table))
    expected = [(each.name, each.type) for each in whole if each.name not in less]
    found = [(each.name, each.type) for each in opened.schema_arrow if each.name not in less]
    if found != expected:
        raise InputError(f"{file}: not a file of the table {table}; convert again")
    return opened


@contextmanager
def _named(file: Place) -> Iterator[None]:
    """Raise InputError, which names the file, whatever Arrow makes of one that is damaged."""
    try:
        yield
    except SmfError:
        raise
    except Exception as error:
        raise InputError(f"{file}: cannot be read as Parquet: {error}; convert again") from error


def _completed(batch: Batch, table: str, names: list[str]) -> Batch:
    """Return rows with the columns `names`; those that they lack are made of others, else NULL."""
    found = []
    for each in map(whole_schema(table).field, names):
        if each.name in batch.schema.names:
            found.append(batch.column(each.name))
        elif each.name == COUNTED_AT:
            found.append(counted_rows(batch))
        elif each.name == TASK_OFFSET:
            found.append(task_offsets(batch))
        else:
            found.append(pa.nulls(batch.num_rows, each.type))
    return pa.RecordBatch.from_arrays(found, names)
