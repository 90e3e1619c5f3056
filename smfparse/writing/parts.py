"""The Parquet files of one part of a dataset, divided by table, day and queue manager."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from smfparse.limits import Limits
from smfparse.selecting.counting import COUNTED_AT
from smfparse.store.hive import DATE, NO_DATE, NO_QMGR, QMGR, Layout, qmgr_value
from smfparse.store.manifest import NamedFile
from smfparse.store.objects import AnyFolder
from smfparse.store.parquet import Form, TableWriter
from smfparse.tables.arrow import Batch
from smfparse.tables.dictionary import table_names

if TYPE_CHECKING:
    from smfparse.store.parquet import WritingThread

_COLUMN_BYTES = 256
"""Memory of a column of a batch, without its values, in bytes."""


def named(writer: TableWriter, name: str) -> NamedFile:
    """Return the entry in the manifest for the closed file of a writer."""
    return NamedFile(name, writer.rows, writer.days, writer.sha256)


def file_name(folder: AnyFolder, table: str, place: str, number: int, again: int) -> str:
    """Return the path in the dataset of a file with rows.

    place   folder of the file in the folder of the table
    number  number of the part
    again   number of earlier files of this part in this folder
    """
    more = (f"-{again:05}" if again else "") + folder.mark
    return PurePosixPath(table, place, f"part-{number:05}{more}.parquet").as_posix()


@dataclass
class PartFiles:
    """The files of one part of a dataset, of which only a few are open at a time.

    A file is opened when its first rows are written to disk. If a file is closed because too many
    are open, further rows go to a new file. The keys of dicts are table and folder.

    folder     folder of the dataset
    number     number of the part
    most_held  maximum number of buffered bytes of all writers
    form       form of the written columns
    thread     thread that writes; None: the caller writes
    written    closed files
    closed     number of closed files
    held       number of buffered bytes of all writers
    opened     writers with an open file, the last used writer at the end
    names      paths in the dataset of the files of writers
    """

    folder: AnyFolder
    number: int
    layout: Layout
    most_held: int
    limits: Limits
    form: Form
    thread: WritingThread | None = None
    writers: dict[tuple[str, str], TableWriter] = field(default_factory=dict)
    written: list[NamedFile] = field(default_factory=list)
    closed: Counter[tuple[str, str]] = field(default_factory=Counter)
    held: int = 0
    opened: dict[tuple[str, str], TableWriter] = field(default_factory=dict)
    names: dict[tuple[str, str], str] = field(default_factory=dict)

    def add(self, table: str, batch: Batch) -> None:
        """Add rows of a table."""
        keys = self.layout.keys(table)
        places = _divided(batch, QMGR in keys) if keys else [("", batch)]
        for place, rows in places:
            size = batch.nbytes * rows.num_rows // max(batch.num_rows, 1)
            size += _COLUMN_BYTES * rows.num_columns
            with self._updating(table, place) as writer:
                writer.add(rows, size)
            if self.held > self.most_held:
                self._make_room()

    def finish(self, every: Iterable[str]) -> list[NamedFile]:
        """Close and return all files; a table of `every` without a file gets an empty file."""
        with_rows = {table for table, _ in self.writers} | {each.table for each in self.written}
        for table in every:
            if table not in with_rows:
                self._writer(table, self.layout.no_rows(table))
        for key in list(self.writers):
            self._close(key)
        order = {table: number for number, table in enumerate(table_names())}
        return sorted(self.written, key=lambda each: (order[each.table], each.name))

    def give_up(self) -> None:
        """Close the files without the buffered rows."""
        if self.thread is not None:
            self.thread.stop()
        for writer in self.writers.values():
            writer.give_up()

    def _writer(self, table: str, place: str) -> TableWriter:
        key = table, place
        if key not in self.writers:
            name = file_name(self.folder, table, place, self.number, self.closed[key])
            create = partial(self.folder.new, name)
            names, rows = self.form.names(table), self.limits.group_rows
            self.writers[key] = TableWriter(table, create, rows, names, self.form, self.thread)
            self.names[key] = name
        return self.writers[key]

    @contextmanager
    def _updating(self, table: str, place: str) -> Iterator[TableWriter]:
        """Yield a writer; then update `held` and `opened` for this writer."""
        key, writer = (table, place), self._writer(table, place)
        self.held -= writer.held_bytes
        yield writer
        self.held += writer.held_bytes
        self.opened.pop(key, None)
        if writer.is_open:
            self.opened[key] = writer
        if len(self.opened) > self.limits.open_files:
            self._close(next(iter(self.opened)))

    def _make_room(self) -> None:
        """Write buffered rows, the largest first, until half of the limit remains."""
        size = {key: each.held_bytes for key, each in self.writers.items()}
        for key in sorted(size, key=size.__getitem__, reverse=True):
            if self.held <= self.most_held // 2:
                return
            if key in self.writers:  # not closed in this loop
                with self._updating(*key) as writer:
                    writer.flush()

    def _close(self, key: tuple[str, str]) -> None:
        writer = self.writers[key]
        self.held -= writer.held_bytes
        writer.close()
        del self.writers[key]
        self.opened.pop(key, None)
        self.closed[key] += 1
        self.written.append(named(writer, self.names.pop(key)))


def _divided(batch: Batch, by_qmgr: bool) -> list[tuple[str, Batch]]:
    import pyarrow.compute as pc  # slow to load, and only for partitions

    days = pc.fill_null(batch[COUNTED_AT].cast(pa.date32()).cast(pa.string()), NO_DATE)
    places = pc.binary_join_element_wise(f"{DATE}=", days, "")
    if by_qmgr:
        places = pc.binary_join_element_wise(places, _queue_managers(batch), f"/{QMGR}=")
    places = places.dictionary_encode()
    found = places.dictionary.to_pylist()
    if len(found) == 1:
        return [(found[0], batch)]
    codes = places.indices.to_numpy()
    return [(each, batch.take(np.flatnonzero(codes == code))) for code, each in enumerate(found)]


def _queue_managers(batch: Batch) -> Any:
    import pyarrow.compute as pc

    names = batch["qmgr"].dictionary
    values = pa.array([qmgr_value(each) for each in names.to_pylist()], pa.string())
    return pc.fill_null(values.take(batch["qmgr"].indices), NO_QMGR)
