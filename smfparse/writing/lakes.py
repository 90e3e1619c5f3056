"""Register the files of a dataset in Iceberg or Delta tables; the rows are not read.

One commit per table adds the new files of a dataset, and removes files that the dataset no longer
contains (after a new convert or compact). A commit can be repeated at any time, and completes an
earlier commit that was killed.

If tables are in object storage and the dataset is on a disk, the files are copied. The name of a
copy is derived from its contents, so a file is copied only once, even by concurrent commits.
"""

from __future__ import annotations

import hashlib
import random
import time
from collections.abc import Callable, Sequence
from contextlib import closing, nullcontext
from dataclasses import dataclass
from importlib import import_module
from pathlib import PurePosixPath
from typing import Any, NamedTuple, Protocol

from smfparse.decoding.arrow import plain_schema, signed, wanted_tables
from smfparse.decoding.dictionary import table_names
from smfparse.errors import InputError, OutputError, RequestError, SmfError
from smfparse.inputs.sources import Dataset
from smfparse.reading.places import Place, Url
from smfparse.store.manifest import SIGNED, is_dataset, wanted_in
from smfparse.store.targets import in_folder
from smfparse.store.writer import only_writer
from smfparse.writing.formats import LAKES, is_lake

_TRIES = 8
"""Maximum number of attempts to commit, if other commits are concurrent."""
_COPIED = 1 << 20
"""Number of bytes copied in one step."""
_MOST_PAUSE = 0.5
"""Maximum seconds between two attempts."""


@dataclass(frozen=True)
class Change:
    """Numbers of files of a table that a commit added, removed, and left unchanged."""

    added: int
    removed: int
    stayed: int

    def __add__(self, other: Change) -> Change:
        return Change(
            self.added + other.added, self.removed + other.removed, self.stayed + other.stayed
        )


class LakeFile(NamedTuple):
    """A file with rows of a table.

    name    path of the file, relative to the folder of the table
    sha256  checksum of the file
    """

    place: Place
    name: str
    sha256: str

    @property
    def named_by_content(self) -> str:
        """Path of a copy of the file, relative to the folder of copies; contains the checksum."""
        return PurePosixPath(self.name).with_suffix(f".{self.sha256[:16]}.parquet").as_posix()

    def copy(self, to: Url) -> None:
        """Copy the file to a URL. Raises InputError, without a copy, if the file was changed."""
        found, stream = hashlib.sha256(), to.open_to_write()
        with self.place.open("rb") as file:
            while block := file.read(_COPIED):
                found.update(block)
                stream.write(block)
        if found.hexdigest() != self.sha256:
            raise InputError(f"{self.place}: changed since it was written: damaged or replaced")
        stream.close()


class Lake(Protocol):
    """Lake tables, to which files of a dataset are committed."""

    def commit(self, table: str, schema: Any, files: list[LakeFile]) -> Change:
        """Replace the table's files of this dataset by `files`; create the table if necessary.

        schema  Arrow schema of the table in the dataset
        """

    def close(self) -> None:
        """Close the catalog of the tables."""


def committed(commit: Callable[[], Change], refused: type[Exception]) -> Change:
    """Return the result of `commit`, which is called again after concurrent commits.

    refused  type of the error that `commit` raises after a concurrent commit; after the last
             attempt it is raised
    """
    for _ in range(_TRIES - 1):
        try:
            return commit()
        except refused:
            time.sleep(random.uniform(0, _MOST_PAUSE))
    return commit()


def commit_dataset(folder: Place, target: str, tables: Sequence[str] = ()) -> dict[str, Change]:
    """Commit the files of a dataset to tables of Iceberg or Delta; return the changes by table.

    folder  folder of the dataset, which is locked for other writers
    target  `iceberg:CATALOG.NAMESPACE`, `delta:FOLDER` or `delta:URL` (docs/dataset.md)
    tables  names of the tables to commit; empty: all tables

    Raises RequestError if the target is invalid, the extra of the target is not installed, or the
    dataset has unsigned numbers; InputError if the dataset cannot be read, OutputError if the
    commit fails.
    """
    if not is_lake(target):
        raise RequestError(f"{target}: give iceberg:CATALOG.NAMESPACE or delta:FOLDER")
    kind, _, where = target.partition(":")
    make: Callable[[Place, str], Lake] = getattr(
        import_module(f"smfparse.writing.{kind}"), LAKES[kind]
    )
    if not is_dataset(folder):
        raise RequestError(
            f"{folder}: not a dataset; {LAKES[kind]} uses the files of a dataset; convert SMF "
            "files to a dataset first, with types=signed",
            "types",
        )
    wanted = wanted_tables(tables or table_names())
    is_final = isinstance(folder, Url)
    with in_folder(folder), nullcontext() if is_final else only_writer(folder, waits=True):
        dataset = Dataset(folder)
        if dataset.manifest["types"] != SIGNED:
            raise RequestError(
                f"{folder}: has unsigned numbers, which {LAKES[kind]} does not support; convert "
                "the SMF files again, with types=signed",
                "types",
            )
        try:
            with closing(make(folder, where)) as lake:
                return {table: _commit(lake, dataset, table) for table in wanted}
        except SmfError:
            raise
        except Exception as error:  # the errors of these libraries have no common base class
            reason = next(iter(str(error).splitlines()), "no reason is given")
            raise OutputError(f"{target}: {type(error).__name__}: {reason}") from error


def _commit(lake: Lake, dataset: Dataset, table: str) -> Change:
    schema = signed(plain_schema(table, wanted_in(dataset.manifest, table)))
    return lake.commit(table, schema, _with_rows(dataset, table))


def _with_rows(dataset: Dataset, table: str) -> list[LakeFile]:
    found = dataset.manifest
    named = zip(found["files"][table], dataset.files(table), strict=True)
    return [
        LakeFile(place, name.removeprefix(f"{table}/"), found["checksums"][name])
        for name, place in named
        if found["rows"][name][0]
    ]
