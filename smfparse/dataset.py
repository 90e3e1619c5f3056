"""Streams of record batches to a Parquet dataset, and SMF files added to one.

Files carry temporary names until all are written, and belong to the dataset once its manifest,
which takes the place of the old one in one step, names them. So a run that is killed changes
nothing, whenever that is, and the same call does it again.
"""

from __future__ import annotations

import hashlib
import itertools
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from smfparse import __version__
from smfparse.columns import DAMAGE, decoded_tables, table_names
from smfparse.ddl import is_divided, views_sql
from smfparse.decode import Batch, wanted_tables
from smfparse.duplicates import Duplicates, Fingerprints, Recorder, read_run
from smfparse.errors import InputError, RequestError, unwritable
from smfparse.manifest import (
    FORMAT,
    MANIFEST,
    PARTIAL,
    RECORDS,
    VIEWS,
    Manifest,
    interrupted,
    named,
    ours,
    own_folders,
    read_manifest,
    strays,
    write_manifest,
)
from smfparse.parquet import TableWriter
from smfparse.ranges import in_order
from smfparse.tables import Dataset, Inputs, SmfFile, Source, damage_rows

_HELD_BYTES = 32 << 20
"""Bytes that all tables together hold back until they are a row group."""
_MOST_OPEN = 64
"""Files that are open at a time, by each process."""
_COLUMN_BYTES = 256
"""What a column of a batch takes in memory besides its values."""
_LONGEST_RUN = 1 << 22
"""Fingerprints beyond which runs are not put together: 64 MB."""
_NO_VALUE = "__HIVE_DEFAULT_PARTITION__"
"""What a folder is called by a value that is not there."""
_READ_BYTES = 1 << 20


class Written(NamedTuple):
    """A file that has rows of a table, under its temporary name."""

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
    and OutputError where it cannot be written.
    """
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
        manifest = _write_whole(inputs, folder, partition)
        return Appended(manifest, manifest["tables"])
    old = read_manifest(folder)
    _check_alike(inputs, folder, old, partition)
    sums = {each["sha256"] for each in old["inputs"]}
    sizes = {each["bytes"] for each in old["inputs"]}
    files = [each for each in inputs.sources if isinstance(each, SmfFile)]
    known = {
        each.path
        for each in files
        if each.path.stat().st_size in sizes and checksum(each.path) in sums
    }
    new = [each for each in files if each.path not in known]
    called, renamed = _called_apart(new, {each["name"] for each in old["inputs"]})
    runs = [folder / each for each in old["records"]]
    with_runs = Duplicates([each.input for each in called], runs)
    sources = [replace(each, duplicates=each.duplicates and with_runs) for each in called]
    passed_over = tuple(each.name for each in files if each.path in known)
    if not sources:
        with _said_as_output(folder):
            _clear(folder)
        return Appended(old, dict.fromkeys(table_names(), 0), passed_over)
    added = Inputs(sources, inputs.log, inputs.selection, inputs.jobs)
    with _said_as_output(folder):
        try:
            _clear(folder)
            made = _Making(folder, old["partitioned"], _next_number(old))
            written = _write_all(added, made)
            manifest = _manifest(added, made, written, old)
            _write_last(folder, manifest)
        except BaseException:
            _clear(folder)
            raise
        _put_in_place(folder, manifest, old)
    return Appended(manifest, _rows(written), passed_over, renamed)


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
    new = [each for each in (folder, *folder.parents) if not each.exists()]
    with _said_as_output(folder):
        folder.mkdir(parents=True, exist_ok=True)
        try:
            _clear(folder)
            made = _Making(folder, partition)
            written = _write_all(inputs, made)
            manifest = _manifest(inputs, made, written, None)
            _write_last(folder, manifest)
        except BaseException:
            _clear(folder, *new)
            raise
        (folder / MANIFEST).unlink(missing_ok=True)
        for old in ours(folder):
            old.unlink()
        _put_in_place(folder, manifest)
    return manifest


@contextmanager
def _said_as_output(folder: Path) -> Iterator[None]:
    """Turn an OSError into an OutputError that names the folder."""
    try:
        yield
    except OSError as error:
        raise unwritable(folder, error) from error


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
    elif any(folder.iterdir()) and not interrupted(folder):
        raise RequestError(f"{folder}: the folder holds something else; name a new one")


def _check_alike(inputs: Inputs, folder: Path, old: Manifest, partition: bool) -> None:
    """Raise RequestError where what is asked for does not go with what is there."""
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


def _called_apart(
    files: Sequence[SmfFile], taken: set[str]
) -> tuple[list[SmfFile], tuple[tuple[str, str], ...]]:
    """Give files names that no input has yet, as rows are told apart by them."""
    found, renamed = [], []
    for each in files:
        names = itertools.chain([each.name], (f"{each.name}#{n}" for n in itertools.count(2)))
        name = next(name for name in names if name not in taken)
        taken = {*taken, name}
        found.append(replace(each, input=replace(each.input, name=name)))
        if name != each.name:
            renamed.append((each.name, name))
    return found, tuple(renamed)


def _clear(folder: Path, *new: Path) -> None:
    """Remove what a run left that did not come to its end, and folders that have nothing else."""
    left = strays(folder)
    for each in left:
        each.unlink(missing_ok=True)
    for empty in (*own_folders(folder, left), *new):
        with suppress(OSError):
            empty.rmdir()


def _write_last(folder: Path, manifest: Manifest) -> None:
    """Write what is not rows, under temporary names."""
    text = views_sql(partitioned=manifest["partitioned"])
    (folder / f"{VIEWS}{PARTIAL}").write_text(text, encoding="utf-8")
    write_manifest(folder, manifest)


def _put_in_place(folder: Path, manifest: Manifest, old: Manifest | None = None) -> None:
    """Give the files that were written their names, the manifest last; what is not needed goes.

    old  the manifest that is replaced
    """
    there = set() if old is None else set(named(old))
    for name in (*(each for each in named(manifest) if each not in there), VIEWS, MANIFEST):
        (folder / f"{name}{PARTIAL}").replace(folder / name)
    _clear(folder)


@dataclass
class _Making:
    """A dataset, or files that are added to one, while it is written.

    first  number of the first part; 0: a new dataset, in which every table has a file
    """

    folder: Path
    partitioned: bool
    first: int = 0
    runs: list[str] = field(default_factory=list)
    recorder: Recorder = field(init=False)

    def __post_init__(self) -> None:
        self.recorder = Recorder(self.write_run)

    def write_run(self, some: Fingerprints) -> None:
        """Write fingerprints, that ascend, as a file."""
        name = f"{RECORDS}/part-{self.first + len(self.runs):05}.bin"
        (self.folder / RECORDS).mkdir(exist_ok=True)
        (self.folder / f"{name}{PARTIAL}").write_bytes(some.tobytes())
        self.runs.append(name)

    def finish_runs(self, old: Sequence[str] = ()) -> list[str]:
        """Write what is left, with short runs put together; return the names of all runs.

        So there are few of them, however often files are added.
        """
        kept, some = list(old), self.recorder.take()
        while some.size and kept:
            last = read_run(self.folder / kept[-1])
            if len(last) > 2 * len(some) or len(last) + len(some) > _LONGEST_RUN:
                break
            some = np.sort(np.concatenate([last, some]))
            kept.pop()
        if some.size:
            self.write_run(some)
        return [*kept, *self.runs]


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
    where = made.folder, made.partitioned, made.first
    if len(found) < 2:
        yield _write(*where, 1, 0, inputs.batches(wanted))
        return
    write = partial(_write, *where, inputs.jobs)
    outcomes = in_order(found, write, inputs.jobs, inputs.log)
    with closing(outcomes):
        for outcome in outcomes:
            inputs.log.add(outcome.log)
            yield outcome.made or []


def _write(
    folder: Path,
    partitioned: bool,
    first: int,
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
        return files.finish(decoded_tables() if not first + number else ())
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
            name = f"part-{self.number:05}{again}.parquet{PARTIAL}"
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
    return quote(name, safe="") or None if name is not None else None


def _no_place(table: str, partitioned: bool) -> str:
    """Return where the file of a table without rows is."""
    return f"date={_NO_VALUE}/qmgr={_NO_VALUE}" if partitioned and is_divided(table) else ""


def _write_damage(inputs: Inputs, made: _Making) -> list[Written]:
    """Write what could not be used of the inputs, and when they were made."""
    rows = damage_rows(inputs.met)
    if made.first and not rows.num_rows:
        return []
    files = _Files(made.folder, made.first, False, _HELD_BYTES)
    files.add(DAMAGE, rows)
    return files.finish([DAMAGE])


def _rows(written: Iterable[Written]) -> dict[str, int]:
    """Return how many rows each table has."""
    rows = dict.fromkeys(table_names(), 0)
    for each in written:
        rows[each.table] += each.rows
    return rows


def _manifest(
    inputs: Inputs, made: _Making, written: Sequence[Written], old: Manifest | None
) -> Manifest:
    """Return the manifest of what was written, and of what was there."""
    files: dict[str, list[str]] = {table: [] for table in table_names()}
    for table, path, _ in written:
        files[table].append(path.relative_to(made.folder).as_posix().removesuffix(PARTIAL))
    are_files = _are_files(inputs.sources)
    manifest = {
        "format": FORMAT,
        "smfparse": __version__,
        "inputs": [_described(each, inputs) for each in inputs.sources],
        "selection": str(inputs.selection) or None,
        "partitioned": made.partitioned,
        "tables": _rows(written),
        "duplicates": inputs.duplicates,
        "unknown_bytes": dict(inputs.log.unknown),
        "damage_count": inputs.met.count,
        "files": files,
        "records": made.finish_runs(old["records"] if old else ()) if are_files else None,
    }
    return manifest if old is None else _sum(old, manifest)


def _described(source: Source, inputs: Inputs) -> dict[str, Any]:
    """Return what the manifest says of an input."""
    if not isinstance(source, SmfFile):
        assert isinstance(source, Dataset)
        return {"name": source.name, "inputs": source.manifest["inputs"]}
    return {
        "name": source.name,
        "bytes": source.path.stat().st_size,
        "sha256": checksum(source.path),
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


def _next_number(manifest: Manifest) -> int:
    """Return the number of the next part: that of no file yet."""
    numbers = (re.search(r"part-(\d+)", name) for name in named(manifest))
    return 1 + max(int(each[1]) for each in numbers if each)
