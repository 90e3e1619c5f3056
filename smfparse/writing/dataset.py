"""Write record batches to a Parquet dataset.

A part is the output of one unit of the inputs: files by table, and by day and queue manager if the
dataset is partitioned. A file belongs to the dataset when the manifest lists it (`store.writer`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from smfparse.decoding.arrow import Batch, Wanted
from smfparse.decoding.dictionary import DAMAGE, decoded_tables, table_names
from smfparse.decoding.zones import COUNTED_AT
from smfparse.errors import RequestError
from smfparse.inputs.opening import Inputs
from smfparse.inputs.sources import SmfFile, being_read, damage_rows
from smfparse.limits import LIMITS, Limits
from smfparse.reading.places import Place, Url
from smfparse.store.database import take_back
from smfparse.store.folder import AnyFolder
from smfparse.store.hive import DATE, NO_DATE, NO_QMGR, QMGR, Layout, qmgr_value
from smfparse.store.manifest import (
    EXACT,
    SIGNED,
    Manifest,
    NamedFile,
    contents,
    has_manifest,
    interrupted,
    ours,
    own_names,
    part_number,
)
from smfparse.store.parquet import Form, TableWriter
from smfparse.store.targets import check_folder, check_plain, in_folder
from smfparse.store.writer import Writer, only_writer
from smfparse.writing.making import Making, are_files, news_of, originals, rows_of

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from smfparse.store.parquet import WritingThread

_COLUMN_BYTES = 256
"""Number of bytes of memory per column of a batch, in addition to its values."""


def named(writer: TableWriter, name: str) -> NamedFile:
    """Return the manifest entry for a file that `writer` has closed."""
    return NamedFile(name, writer.rows, writer.days, writer.sha256)


def file_name(folder: AnyFolder, table: str, place: str, number: int, again: int) -> str:
    """Return the path of a Parquet file, relative to the dataset.

    place   folder of the file, relative to the folder of the table
    number  number of the part
    again   number of earlier files of this part in this folder
    """
    more = (f"-{again:05}" if again else "") + folder.mark
    return PurePosixPath(table, place, f"part-{number:05}{more}.parquet").as_posix()


@dataclass
class PartFiles:
    """The files of one part of a dataset; only a few files are open at a time.

    A file is opened when its first rows are written to disk. If a file is closed because too many
    files are open, further rows go to a new file. Keys of dicts: (table, folder).

    folder     folder of the dataset
    number     number of the part
    most_held  maximum of `held`
    form       form of the written columns
    thread     thread that writes; None: the caller writes
    written    manifest entries of closed files
    closed     number of closed files
    held       number of buffered bytes of all writers
    opened     writers with an open file, the last used writer at the end
    names      path of the file of each writer, relative to the dataset
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
                self._flush_largest()

    def finish(self, every: Iterable[str]) -> list[NamedFile]:
        """Close all files, with an empty file per table of `every` without rows; return entries."""
        with_rows = {table for table, _ in self.writers} | {each.table for each in self.written}
        for table in every:
            if table not in with_rows:
                self._writer(table, self.layout.no_rows(table))
        for key in list(self.writers):
            self._close(key)
        order = {table: number for number, table in enumerate(table_names())}
        return sorted(self.written, key=lambda each: (order[each.table], each.name))

    def give_up(self) -> None:
        """Close the files, and discard the buffered rows."""
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
        """Yield the writer of a table and folder; after its use, update `held` and `opened`."""
        key, writer = (table, place), self._writer(table, place)
        self.held -= writer.held_bytes
        yield writer
        self.held += writer.held_bytes
        self.opened.pop(key, None)
        if writer.is_open:
            self.opened[key] = writer
        if len(self.opened) > self.limits.open_files:
            self._close(next(iter(self.opened)))

    def _flush_largest(self) -> None:
        """Write buffered rows, the largest buffer first, until `held` is half of `most_held`."""
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


_ALREADY = "a dataset already exists; append=True adds to it, force=True replaces it"
_ONCE = (
    "a dataset at a URL is written once; append to a dataset on a disk, and convert it to "
    "delta:URL or iceberg:CATALOG.NAMESPACE"
)


def write_dataset(
    inputs: Inputs,
    folder: Place,
    *,
    force: bool = False,
    partition: bool = False,
    types: str = EXACT,
    executor: Executor | None = None,
) -> Manifest:
    """Write every table of `inputs` to a dataset in `folder`; return the dataset's properties.

    force      whether an existing dataset is replaced
    partition  whether rows are divided into folders by day (local time of the system), and in
               tables that grow with the workload also by queue manager
    types      types of numbers: EXACT, or SIGNED (types that Iceberg, Delta, Trino and Spark
               support)
    executor   executor that decodes and writes large SMF files; its processes use the same paths
               of inputs and `folder`; None: processes of this run, one per job

    Raises RequestError if `folder` already contains a dataset (unless `force`) or other files,
    OutputError if the dataset cannot be written or another process writes to it, and InputError if
    an input changes while it is read.
    """
    if force:
        refuse_url(folder)
    check_free(folder, force)
    with alone_in(folder, limits=inputs.options.limits, anew=force) as writer:
        if not force:  # another run may have written a dataset since the first check
            check_free(folder, force)
        return write_whole(inputs, writer, partition, types, executor)


def form_of(types: str, *, fingerprints: bool) -> Form:
    """Return the form of a dataset's columns; only `columns.json` contains their descriptions."""
    return Form(False, is_signed=types == SIGNED, has_fingerprints=fingerprints)


def write_whole(
    inputs: Inputs, writer: Writer, partition: bool, types: str, executor: Executor | None
) -> Manifest:
    """Write a new dataset, or replace an existing dataset."""
    writer.clear()
    read = originals(each for each in inputs.sources if isinstance(each, SmfFile))
    limits = inputs.options.limits
    first = _next_number(writer.folder.path)
    form = form_of(types, fingerprints=inputs.options.fingerprints)
    making = Making(writer.folder, Layout(partition), first, read, limits, form, executor)
    manifest, _ = make(inputs, writer, making)
    return manifest


def make(inputs: Inputs, writer: Writer, made: Making) -> tuple[Manifest, dict[str, int]]:
    """Write all files of a run; return the dataset's properties, and {table: number of rows}."""
    written = _write_all(inputs, made)
    news = news_of(inputs, made, written)
    writer.publish(news)
    return news.head, rows_of(written)


@contextmanager
def alone_in(
    folder: Place,
    deep: Callable[[str], bool] = bool,
    limits: Limits = LIMITS,
    *,
    waits: bool = False,
    anew: bool = False,
) -> Iterator[Writer]:
    """Yield the only writer of a folder; create the folder if necessary, and remove it if empty.

    deep         function that returns whether to search a named subfolder for links; default: all
    waits, anew  as in `only_writer`

    Raises OutputError if another process writes to the folder, or a link leads out of it.
    """
    with in_folder(folder), only_writer(folder, limits, waits=waits, anew=anew) as writer:
        check_plain(folder, own_names(), deep)
        yield writer


def refuse_url(folder: Place) -> None:
    """Raise RequestError if `folder` is a URL: a dataset there cannot be changed."""
    if isinstance(folder, Url):
        raise RequestError(f"{folder}: {_ONCE}")


def check_free(folder: Place, force: bool) -> None:
    """Raise RequestError if `folder` has a dataset (unless `force`), or cannot have a dataset."""
    if isinstance(folder, Path):
        take_back(folder)  # an interrupted first run may have left only a journal
    already = f"already exists; {_ONCE}" if isinstance(folder, Url) else _ALREADY
    check_folder(folder, _has_dataset, already, force)


def _has_dataset(folder: Place) -> bool | None:
    """Whether a folder contains a dataset; None: an empty folder, or only files of a killed run."""
    if has_manifest(folder):
        return True
    if not contents(folder) or interrupted(folder):
        return None
    return has_manifest(folder)  # another run may have ended just now


def _write_all(inputs: Inputs, made: Making) -> list[NamedFile]:
    log = inputs.log
    log.count_unknown = True
    log.records = made.recorder if are_files(inputs.sources) else None
    try:
        written = [each for some in _written(inputs, made) for each in some]
    finally:
        log.records = None
    log.damage.arrange()
    return [*written, *_write_damage(inputs, made)]


def _written(inputs: Inputs, made: Making) -> Iterator[list[NamedFile]]:
    """Write the rows of `inputs`, by one process or several; yield the files of each unit."""
    wanted = {table: made.form.names(table) for table in decoded_tables()}
    is_new = made.old is None
    write = partial(_write, made.folder, made.layout, made.form, made.first, is_new)
    jobs, limits, sources = inputs.options.jobs, made.limits, inputs.sources
    if jobs == 2 and made.executor is None and inputs.are_large(sources):
        yield _write_in_thread(inputs, wanted, partial(write, limits.held_bytes, limits, 0))
        return
    workers = inputs.workers(sources, wanted, made.executor)
    if workers is None:
        yield write(limits.held_bytes, limits, 0, inputs.batches(wanted))
        return
    with workers:
        found = inputs.units(sources, wanted, workers, ahead=False)
        if len(found) > 1 or not workers.are_ours:
            from smfparse.inputs.parallel import in_order  # several processes are slow to load

            held = limits.held_bytes // (jobs if workers.are_ours else 1)
            outcomes = in_order(found, partial(write, held, limits), workers, inputs.log)
            with being_read(sources), closing(outcomes):
                for outcome in outcomes:
                    inputs.log.add(outcome.log)
                    yield outcome.made or []
            return
    yield write(limits.held_bytes, limits, 0, inputs.by_one_process().batches(wanted))


def _write_in_thread(
    inputs: Inputs, wanted: Wanted, write: Callable[..., list[NamedFile]]
) -> list[NamedFile]:
    """Decode `inputs` in one thread, and write the rows in another thread.

    Two threads use less CPU time and memory than two processes.
    """
    from smfparse.store.parquet import WritingThread  # threads are slow to load

    thread = WritingThread(inputs.options.limits.held_bytes)
    try:
        return write(inputs.by_one_process().batches(wanted), thread)
    finally:
        thread.stop()


def _write(
    folder: AnyFolder,
    layout: Layout,
    form: Form,
    first: int,
    is_new: bool,
    held: int,
    limits: Limits,
    number: int,
    found: Iterator[tuple[str, Batch]],
    thread: WritingThread | None = None,
) -> list[NamedFile]:
    """Write batches as Parquet files; part 0 of a new dataset has a file for every table.

    number  number of the part, relative to the part `first`
    held    maximum number of buffered bytes
    thread  thread that compresses and writes; None: the calling thread
    """
    files = PartFiles(folder, first + number, layout, held, limits, form, thread)
    try:
        for table, batch in found:
            files.add(table, batch)
        return files.finish(decoded_tables() if is_new and not number else ())
    except BaseException:
        files.give_up()
        raise


def _write_damage(inputs: Inputs, made: Making) -> list[NamedFile]:
    rows = damage_rows(made.not_known(inputs.met))
    if made.old is not None and not rows.num_rows:
        return []
    limits = made.limits
    files = PartFiles(made.folder, made.first, made.layout, limits.held_bytes, limits, made.form)
    files.add(DAMAGE, rows)
    return files.finish([DAMAGE])


def _next_number(folder: Place) -> int:
    return 1 + max((part_number(each.name) for each in ours(folder)), default=-1)
