"""Streams of record batches to a Parquet dataset, and SMF files added to one.

Files are written in a folder of their own, get their places when all are there, and belong to the
dataset once its manifest, which takes the place of the old one in one step, names them. Then go
those that it does not name. So a run that is killed changes nothing, whenever that is, and the same
call does it again.
"""

from __future__ import annotations

import hashlib
import os
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias
from urllib.parse import quote

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from smfparse import __version__
from smfparse.decoding.duplicates import Duplicates, Fingerprints, Recorder, read_run
from smfparse.errors import Damage, DamageLog, InputError, RequestError
from smfparse.inputs.opening import Inputs, called_apart
from smfparse.inputs.parallel import in_order
from smfparse.inputs.sources import Dataset, SmfFile, Source, damage_rows
from smfparse.limits import LIMITS, Limits
from smfparse.store.locking import only_writer
from smfparse.store.manifest import (
    FORMAT,
    MANIFEST,
    PARTIAL,
    RECORDS,
    VIEWS,
    Manifest,
    called_otherwise,
    contents,
    in_folder,
    interrupted,
    named,
    ours,
    own_folders,
    strays,
    write_manifest,
)
from smfparse.store.parquet import TableWriter
from smfparse.store.views_sql import is_divided, views_sql
from smfparse.tables import DAMAGE, Batch, decoded_tables, table_names, wanted_tables

_HELD_BYTES = 32 << 20
"""Bytes that all tables together hold back until they are a row group."""
_MOST_OPEN = 64
"""Files that are open at a time, by each process."""
_COLUMN_BYTES = 256
"""What a column of a batch takes in memory besides its values."""
_MOST_KEPT = 16
"""Files that the disk is asked for at a time."""
_LONGEST_RUN = 1 << 22
"""Fingerprints beyond which runs are not put together: 64 MB."""
_NO_VALUE = "__HIVE_DEFAULT_PARTITION__"
"""What a folder is called by a value that is not there."""
_READ_BYTES = 1 << 20


class Written(NamedTuple):
    """A file that has rows of a table, where it is before it gets its place."""

    table: str
    path: Path
    rows: int


@dataclass(frozen=True)
class Appended:
    """What became of files that were to be added to a dataset.

    manifest  that of the dataset, as it is now
    rows      how many were added to each table
    known     inputs that it has already, and are passed over
    renamed   inputs that have a name of another one, and what they are called in the dataset
    """

    manifest: Manifest
    rows: dict[str, int]
    known: tuple[str, ...] = ()
    renamed: tuple[tuple[str, str], ...] = ()


def write_dataset(
    inputs: Inputs, folder: Path, *, force: bool = False, partition: bool = False
) -> Manifest:
    """Write every table of `inputs` below `folder`; return the manifest.

    force      whether a dataset that is there is replaced
    partition  whether rows are divided into folders by day (local time of the system) and queue
               manager

    Raises RequestError where `folder` holds a dataset already (unless `force`) or something else,
    OutputError where it cannot be written, or another one writes there, and InputError where an
    input is changed while it is read.
    """
    _check_free(folder, force)
    with _alone_in(folder):
        _check_free(folder, force)
        return _write_whole(inputs, folder, partition)


def append_dataset(inputs: Inputs, folder: Path, *, partition: bool = False) -> Appended:
    """Add SMF files to the dataset in `folder`, or make it where there is none.

    A file whose bytes it has already is passed over, whatever its name. A record that it has is a
    duplicate, as if the dataset's inputs had been named before these.

    Raises RequestError where a dataset cannot be added to, as it was made of a dataset or of
    another selection, InputError where it cannot be read, and what `write_dataset` raises.
    """
    if not (folder / MANIFEST).exists():
        _check_free(folder, force=False)
    with _alone_in(folder):
        if (folder / MANIFEST).exists():
            return _add(inputs, Dataset(folder), partition)
        _check_free(folder, force=False)
        manifest = _write_whole(inputs, folder, partition)
        return Appended(manifest, manifest["tables"])


def _add(inputs: Inputs, there: Dataset, partition: bool) -> Appended:
    """Add SMF files to a dataset."""
    old = there.manifest
    _check_alike(inputs, there, partition)
    sums = {each["sha256"] for each in old["inputs"]}
    sizes = {each["bytes"] for each in old["inputs"]}
    files = [each for each in inputs.sources if isinstance(each, SmfFile)]
    read = _files_read(files)
    known = {
        each.path
        for each in files
        if read[each.path].stamp.size in sizes and read[each.path].sha256 in sums
    }
    new = [each for each in files if each.path not in known]
    renamed = called_apart([each.name for each in new], set(there.smf_files))
    called = [
        replace(each, input=replace(each.input, name=renamed.get(each.name, each.name)))
        for each in new
    ]
    with_runs = Duplicates([each.input for each in called], there.runs())
    sources = [replace(each, duplicates=each.duplicates and with_runs) for each in called]
    passed_over = tuple(each.name for each in files if each.path in known)
    _clear(there.path)
    if not sources:
        return Appended(old, dict.fromkeys(table_names(), 0), passed_over)
    added = Inputs(sources, inputs.log, inputs.options)
    first = _next_number(there.path)
    lost, limits = _places(there.lost), inputs.options.limits
    made = _Making(there.path, old["partitioned"], first, read, old, lost, limits)
    manifest, rows = _make(added, made)
    return Appended(manifest, rows, passed_over, tuple(renamed.items()))


def checksum(path: Path) -> str:
    """Return the SHA-256 of a file, in hexadecimal. Raises InputError where it cannot be read."""
    found = hashlib.sha256()
    try:
        with path.open("rb", buffering=0) as file:
            while block := file.read(_READ_BYTES):
                found.update(block)
    except OSError as error:
        raise InputError(f"{path}: {error.strerror or error}") from error
    return found.hexdigest()


def _write_whole(inputs: Inputs, folder: Path, partition: bool) -> Manifest:
    """Write a dataset where there is none, or one that is to be replaced."""
    _clear(folder)
    read = _files_read(each for each in inputs.sources if isinstance(each, SmfFile))
    first, limits = _next_number(folder), inputs.options.limits
    made = _Making(folder, partition, first, read, limits=limits)
    manifest, _ = _make(inputs, made)
    return manifest


def _make(inputs: Inputs, made: _Making) -> tuple[Manifest, dict[str, int]]:
    """Write what belongs to a dataset; return its manifest, and how many rows were written."""
    try:
        written = _write_all(inputs, made)
        manifest = _manifest(inputs, made, written)
        _write_last(made.folder / PARTIAL, manifest)
    except BaseException:
        _clear(made.folder)
        raise
    _put_in_place(made.folder, manifest)
    return manifest, _rows(written)


@contextmanager
def _alone_in(folder: Path) -> Iterator[None]:
    """Make a folder, if need be, in which nobody else writes; it goes if nothing is in it then."""
    with in_folder(folder), only_writer(folder):
        yield


def _check_free(folder: Path, force: bool) -> None:
    if not folder.exists():
        return
    if not folder.is_dir():
        raise RequestError(f"{folder}: a file of that name exists; name a folder")
    if (folder / MANIFEST).exists():
        if not force:
            raise RequestError(
                f"{folder}: a dataset is there already; --append adds to it, --force replaces it"
            )
    elif contents(folder) and not interrupted(folder):
        raise RequestError(f"{folder}: the folder holds something else; name a new one")


def _check_alike(inputs: Inputs, there: Dataset, partition: bool) -> None:
    """Raise RequestError where what is asked for does not go with what is there.

    And InputError where not all of that is there.
    """
    folder, old = there.path, there.manifest
    others = [each.name for each in inputs.sources if not isinstance(each, SmfFile)]
    if others or old["records"] is None:
        what = others[0] if others else folder
        raise RequestError(
            f"{what}: a dataset does not tell its records apart from others' once it is made "
            "of datasets; convert all SMF files instead"
        )
    if old["selection"] != (str(inputs.selection) or None):
        raise RequestError(
            f"{folder}: of another selection ({old['selection'] or 'everything'}); "
            "--append wants the same"
        )
    if partition and not old["partitioned"]:
        raise RequestError(f"{folder}: written without --partition; --append goes on as it is")
    for table in table_names():
        there.files(table)


def _clear(folder: Path) -> None:
    """Remove what a run left that did not come to its end, and folders that have nothing else."""
    left = strays(folder)
    for each in left:
        each.unlink(missing_ok=True)
    for empty in own_folders(folder, left):
        with suppress(OSError):
            empty.rmdir()


def _write_last(folder: Path, manifest: Manifest) -> None:
    """Write what is not rows."""
    folder.mkdir(exist_ok=True)  # no rows were written where all are there already
    text = views_sql(partitioned=manifest["partitioned"])
    (folder / VIEWS).write_text(text, encoding="utf-8")
    write_manifest(folder, manifest)


def _put_in_place(folder: Path, manifest: Manifest) -> None:
    """Give the files that were written their places, the manifest last; what is not needed goes."""
    new = [each for each in named(manifest) if (folder / PARTIAL / each).exists()]
    places = {(folder / each).parent for each in new}
    for place in places:
        place.mkdir(parents=True, exist_ok=True)
    _have_kept(folder / PARTIAL / each for each in (*new, VIEWS, MANIFEST))
    for name in (*new, VIEWS):
        (folder / PARTIAL / name).replace(folder / name)
    _have_kept(places)
    (folder / PARTIAL / MANIFEST).replace(folder / MANIFEST)
    _have_kept([folder])
    _clear(folder)


def _have_kept(paths: Iterable[Path]) -> None:
    """Wait until the disk has files, and the names in folders: all at once is much faster."""
    with ThreadPoolExecutor(_MOST_KEPT) as threads:
        for _ in threads.map(_keep, paths):
            pass


def _keep(path: Path) -> None:
    is_folder = path.is_dir()
    if is_folder and sys.platform == "win32":
        return  # it does not tell
    number = os.open(path, os.O_RDONLY if is_folder else os.O_RDWR)
    try:
        os.fsync(number)
    finally:
        os.close(number)


class _Stamp(NamedTuple):
    """What changes when a file is written to: its size, and when that was last done."""

    size: int
    changed: int


@dataclass
class _FileRead:
    """An SMF file that is read, as it was before."""

    file: SmfFile
    stamp: _Stamp

    @cached_property
    def sha256(self) -> str:
        return checksum(self.file.path)

    def check(self) -> None:
        """Raise InputError where the file is not as it was before."""
        if _stamp(self.file) != self.stamp:
            raise InputError(f"{self.file.name}: changed while it was read; run again")


def _files_read(files: Iterable[SmfFile]) -> dict[Path, _FileRead]:
    """Return SMF files by their paths, as they are before they are read."""
    return {each.path: _FileRead(each, _stamp(each)) for each in files}


def _stamp(file: SmfFile) -> _Stamp:
    try:
        found = file.path.stat()
    except OSError as error:
        raise InputError(f"{file.name}: {error.strerror or error}") from error
    return _Stamp(found.st_size, found.st_mtime_ns)


_Place: TypeAlias = tuple[str, int, str]
"""Source, byte and reason of what could not be used."""


def _places(damage: DamageLog) -> frozenset[_Place]:
    return frozenset(map(_place, damage.details))


def _place(damage: Damage) -> _Place:
    return damage.source, damage.offset, damage.reason


@dataclass
class _Making:
    """A dataset, or files that are added to one, while it is written.

    first   number of the first part: that of no file yet
    read    the SMF files that are read
    old     manifest of the dataset that is added to; None: a new one, where every table has a file
    damage  what could not be used of what that was made of
    limits  those of the inputs
    """

    folder: Path
    partitioned: bool
    first: int
    read: Mapping[Path, _FileRead]
    old: Manifest | None = None
    damage: frozenset[_Place] = frozenset()
    limits: Limits = LIMITS
    runs: dict[str, int] = field(default_factory=dict)
    recorder: Recorder = field(init=False)

    def __post_init__(self) -> None:
        self.recorder = Recorder(self.write_run, self.limits.fingerprints)

    def write_run(self, some: Fingerprints) -> None:
        """Write fingerprints, that ascend, as a file."""
        name = f"{RECORDS}/part-{self.first + len(self.runs):05}.bin"
        place = self.folder / PARTIAL / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(some.tobytes())
        self.runs[name] = len(some)

    def finish_runs(self) -> dict[str, int]:
        """Write what is left, with short runs put together; return all runs and their lengths.

        So there are few of them, however often files are added.
        """
        kept: dict[str, int] = {} if self.old is None else dict(self.old["records"])
        some = self.recorder.take()
        while some.size and kept:
            name, length = kept.popitem()
            if length > 2 * len(some) or length + len(some) > _LONGEST_RUN:
                kept[name] = length
                break
            some = np.sort(np.concatenate([read_run(self.folder / name), some]))
        if some.size:
            self.write_run(some)
        return kept | self.runs

    def not_known(self, met: DamageLog) -> DamageLog:
        """Return what could not be used, but for what the dataset that is added to has."""
        new = [each for each in met.details if _place(each) not in self.damage]
        return DamageLog(details=new, count=met.count - len(met.details) + len(new))


def _write_all(inputs: Inputs, made: _Making) -> list[Written]:
    """Write the rows of `inputs` and what could not be used of them."""
    log = inputs.log
    log.count_unknown = True
    log.records = made.recorder if _are_files(inputs.sources) else None
    try:
        written = [each for some in _written(inputs, made) for each in some]
    finally:
        log.records = None
    return [*written, *_write_damage(inputs, made)]


def _are_files(sources: Iterable[Source]) -> bool:
    return all(isinstance(each, SmfFile) for each in sources)


def _written(inputs: Inputs, made: _Making) -> Iterator[list[Written]]:
    """Write the rows of `inputs` by one process or several."""
    wanted = wanted_tables(decoded_tables())
    found = inputs.units(inputs.sources, wanted, ahead=False)
    where = made.folder / PARTIAL, made.partitioned, made.first, made.old is None
    if len(found) < 2:
        yield _write(*where, 1, 0, inputs.batches(wanted))
        return
    write = partial(_write, *where, inputs.options.jobs)
    outcomes = in_order(found, write, inputs.options.jobs, inputs.log)
    with closing(outcomes):
        for outcome in outcomes:
            inputs.log.add(outcome.log)
            yield outcome.made or []


def _write(
    folder: Path,
    partitioned: bool,
    first: int,
    is_new: bool,
    jobs: int,
    number: int,
    found: Iterator[tuple[str, Batch]],
) -> list[Written]:
    """Write batches as Parquet files; number 0 of a new dataset has a file of every table.

    jobs  processes that do so at a time and share the memory
    """
    files = _Files(folder, first + number, partitioned, _HELD_BYTES // jobs)
    try:
        for table, batch in found:
            files.add(table, batch)
        return files.finish(decoded_tables() if is_new and not number else ())
    except BaseException:
        files.give_up()
        raise


@dataclass
class _Files:
    """The files of one part of a dataset, a few of them open at a time.

    A file is open when it has rows on disk; one that is closed to make room has a next one.

    held    bytes that all writers hold back
    opened  those whose file is open; the one used last comes last
    """

    folder: Path
    number: int
    partitioned: bool
    most_held: int
    writers: dict[tuple[str, str], TableWriter] = field(default_factory=dict)
    written: list[Written] = field(default_factory=list)
    closed: Counter[tuple[str, str]] = field(default_factory=Counter)
    held: int = 0
    opened: dict[tuple[str, str], TableWriter] = field(default_factory=dict)

    def add(self, table: str, batch: Batch) -> None:
        """Take rows of a table."""
        places = _divided(batch) if self.partitioned and is_divided(table) else [("", batch)]
        for place, rows in places:
            size = batch.nbytes * rows.num_rows // max(batch.num_rows, 1)
            size += _COLUMN_BYTES * rows.num_columns
            with self._watched(table, place) as writer:
                writer.add(rows, size)
            if self.held > self.most_held:
                self._make_room()

    def finish(self, every: Iterable[str]) -> list[Written]:
        """Close all files; a table of `every` that has none gets one without rows."""
        with_rows = {table for table, _ in self.writers} | {each.table for each in self.written}
        for table in every:
            if table not in with_rows:
                self._writer(table, _no_place(table, self.partitioned))
        for key in list(self.writers):
            self._close(key)
        order = {table: number for number, table in enumerate(table_names())}
        return sorted(self.written, key=lambda each: (order[each.table], each.path))

    def give_up(self) -> None:
        """Leave the files as they are."""
        for writer in self.writers.values():
            writer.give_up()

    def _writer(self, table: str, place: str) -> TableWriter:
        """Return what writes the rows of a table that belong in a folder."""
        key = table, place
        if key not in self.writers:
            again = f"-{self.closed[key]:05}" if self.closed[key] else ""
            name = f"part-{self.number:05}{again}.parquet"
            self.writers[key] = TableWriter(table, self.folder / table / place / name)
        return self.writers[key]

    @contextmanager
    def _watched(self, table: str, place: str) -> Iterator[TableWriter]:
        """Give a writer to use; note what it holds and whether its file is open then."""
        key, writer = (table, place), self._writer(table, place)
        self.held -= writer.held_bytes
        yield writer
        self.held += writer.held_bytes
        self.opened.pop(key, None)
        if writer.is_open:
            self.opened[key] = writer
        if len(self.opened) > _MOST_OPEN:
            self._close(next(iter(self.opened)))

    def _make_room(self) -> None:
        """Write what is held, where it is most first, until half of what may be held is left."""
        size = {key: each.held_bytes for key, each in self.writers.items()}
        for key in sorted(size, key=size.__getitem__, reverse=True):
            if self.held <= self.most_held // 2:
                return
            if key in self.writers:  # not closed by now
                with self._watched(*key) as writer:
                    writer.flush()

    def _close(self, key: tuple[str, str]) -> None:
        writer = self.writers[key]
        self.held -= writer.held_bytes
        writer.close()
        del self.writers[key]
        self.opened.pop(key, None)
        self.closed[key] += 1
        self.written.append(Written(writer.table, writer.path, writer.rows))


def _divided(batch: Batch) -> list[tuple[str, Batch]]:
    """Return the rows of a batch by the folder they belong in: `date=2026-03-04/qmgr=QM01`."""
    days = pc.fill_null(batch["smf_time"].cast(pa.date32()).cast(pa.string()), _NO_VALUE)
    names = batch["qmgr"].dictionary
    folders = pa.array([_folder_of(each) for each in names.to_pylist()], pa.string())
    queue_managers = pc.fill_null(folders.take(batch["qmgr"].indices), _NO_VALUE)
    joined = pc.binary_join_element_wise("date=", days, "/qmgr=", queue_managers, "")
    places = joined.dictionary_encode()
    found = places.dictionary.to_pylist()
    if len(found) == 1:
        return [(found[0], batch)]
    codes = places.indices.to_numpy()
    return [(each, batch.take(np.flatnonzero(codes == code))) for code, each in enumerate(found)]


def _folder_of(name: str | None) -> str | None:
    """Return a name as a part of a path that hive partitioning reads back."""
    if not name:
        return None
    if name.upper() == "NULL":
        return f"%{ord(name[0]):02X}{name[1:]}"  # as it is, DuckDB 1.5 takes it for no name
    return quote(name, safe="")


def _no_place(table: str, partitioned: bool) -> str:
    """Return where the file of a table without rows is."""
    return f"date={_NO_VALUE}/qmgr={_NO_VALUE}" if partitioned and is_divided(table) else ""


def _write_damage(inputs: Inputs, made: _Making) -> list[Written]:
    """Write what could not be used of the inputs, and when they were made."""
    rows = damage_rows(made.not_known(inputs.met))
    if made.old is not None and not rows.num_rows:
        return []
    files = _Files(made.folder / PARTIAL, made.first, False, _HELD_BYTES)
    files.add(DAMAGE, rows)
    return files.finish([DAMAGE])


def _rows(written: Iterable[Written]) -> dict[str, int]:
    """Return how many rows each table has."""
    rows = dict.fromkeys(table_names(), 0)
    for each in written:
        rows[each.table] += each.rows
    return rows


def _manifest(inputs: Inputs, made: _Making, written: Sequence[Written]) -> Manifest:
    """Return the manifest of what was written, and of what was there."""
    files: dict[str, list[str]] = {table: [] for table in table_names()}
    for table, path, _ in written:
        files[table].append(path.relative_to(made.folder / PARTIAL).as_posix())
    are_files = _are_files(inputs.sources)
    manifest = {
        "format": FORMAT,
        "smfparse": __version__,
        "inputs": [_described(each, inputs, made.read) for each in inputs.sources],
        "selection": str(inputs.selection) or None,
        "partitioned": made.partitioned,
        "tables": _rows(written),
        "duplicates": inputs.duplicates,
        "unknown_bytes": dict(inputs.log.unknown),
        "damage_count": made.not_known(inputs.met).count,
        "files": files,
        "records": made.finish_runs() if are_files else None,
    }
    return manifest if made.old is None else _sum(made.old, manifest)


def _described(source: Source, inputs: Inputs, read: Mapping[Path, _FileRead]) -> dict[str, Any]:
    """Return what the manifest says of an input. Raises InputError where it was changed."""
    if not isinstance(source, SmfFile):
        assert isinstance(source, Dataset)
        names = called_otherwise(source.manifest["inputs"], source.called)
        return {"name": source.name, "inputs": names}
    before = read[source.path]
    found = before.sha256
    before.check()
    return {
        "name": source.name,
        "bytes": before.stamp.size,
        "sha256": found,
        "smfparse": __version__,
        "duplicates": inputs.log.duplicates.get(source.path, 0),
    }


def _sum(old: Manifest, new: Manifest) -> Manifest:
    """Return the manifest of a dataset with what was added."""
    unknown: Counter[str] = Counter(old["unknown_bytes"]) + Counter(new["unknown_bytes"])
    return new | {
        "inputs": [*old["inputs"], *new["inputs"]],
        "tables": {table: old["tables"][table] + new["tables"][table] for table in table_names()},
        "duplicates": old["duplicates"] + new["duplicates"],
        "unknown_bytes": dict(unknown),
        "damage_count": old["damage_count"] + new["damage_count"],
        "files": {table: [*old["files"][table], *new["files"][table]] for table in table_names()},
    }


def _next_number(folder: Path) -> int:
    """Return the number of the next part: that of no file yet."""
    numbers = (re.match(r"part-(\d+)", each.name) for each in ours(folder))
    return 1 + max((int(each[1]) for each in numbers if each), default=-1)
