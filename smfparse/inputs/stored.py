"""Files of a dataset to rows: all there, through no link, and as they were written."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa

from smfparse.errors import InputError, SmfError
from smfparse.places import Place, Url
from smfparse.store import EXACT, Manifest, checksum, plain_file, wanted_in
from smfparse.tables import Batch, coded_schema, plain_schema, schema, signed, whole_schema


def there(folder: Place, manifest: Manifest, table: str) -> list[Place]:
    """Return the Parquet files of a table. Raises InputError where one is not there, or a link."""
    return [plain_file(folder, each) for each in manifest["files"][table]]


def check_rows(folder: Place, manifest: Manifest, table: str) -> None:
    """Raise InputError where the Parquet files of a table are not as they were written.

    Their bytes are read once for that, and what they say of their columns and rows. Of files that
    are elsewhere, only the latter: to read them would transfer all of them.
    """
    rows = 0
    for name in manifest["files"][table]:
        file, (expected, *_) = plain_file(folder, name), manifest["rows"][name]
        if isinstance(file, Path):
            check_bytes(file, manifest["checksums"][name])
        with _named(file):
            wanted = wanted_in(manifest, table)
            found = _opened(file, table, wanted, manifest["types"]).metadata.num_rows
        if found != expected:
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
    wanted = wanted_in(manifest, table)
    whole = coded_schema(table, wanted)
    for batch in parquet_rows(
        plain_file(folder, name), table, whole.names, wanted, manifest["types"]
    ):
        yield batch.cast(whole)


def check_bytes(file: Place, expected: str) -> None:
    """Raise InputError where a file has not the checksum with which it was written."""
    if checksum(file) != expected:
        raise InputError(f"{file}: not as it was written: damaged or replaced; convert again")


def parquet_rows(
    file: Place, table: str, names: list[str], wanted: frozenset[str] | None, types: str
) -> Iterator[Batch]:
    """Yield the columns `names` of a file of a table; fingerprints that it has not are NULL.

    wanted  the columns of the file; None: all but those that have to be asked for
    types   those of the numbers in it
    """
    with _named(file):
        opened = _opened(file, table, wanted, types)
        read = [each for each in names if wanted is not None or each in schema(table).names]
        for found in opened.iter_batches(columns=read):
            batch = found if types == EXACT else _exact(found, table)
            yield batch if read == names else _completed(batch, table, names)


def _exact(batch: Batch, table: str) -> Batch:
    """Return rows with the types that their columns have themselves."""
    whole = whole_schema(table)
    return batch.cast(pa.schema([whole.field(each) for each in batch.schema.names]))


def _opened(file: Place, table: str, wanted: frozenset[str] | None, types: str) -> Any:
    """Return a ParquetFile, which has the wanted columns of a table, each of its type."""
    from pyarrow.parquet import ParquetFile  # slow to load, and for datasets alone

    where: dict[str, Any] = {"source": file}
    if isinstance(file, Url):
        system, path = file.where
        where = {"source": path, "filesystem": system}
    opened = ParquetFile(**where, page_checksum_verification=True)
    whole = plain_schema(table, wanted)
    expected = [(each.name, each.type) for each in (whole if types == EXACT else signed(whole))]
    if [(each.name, each.type) for each in opened.schema_arrow] != expected:
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
    """Return rows with the columns `names`: those that they have not are NULL."""
    found = [
        batch.column(each.name)
        if each.name in batch.schema.names
        else pa.nulls(batch.num_rows, each.type)
        for each in map(whole_schema(table).field, names)
    ]
    return pa.RecordBatch.from_arrays(found, names)
