"""From names of inputs to open inputs, and from open inputs to streams of record batches.

Files with equal names get distinct names, and local times in rows are in the requested zone.
"""

from __future__ import annotations

import datetime as dt
import itertools
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import pyarrow as pa

from smfparse.decoding.arrow import (
    Batch,
    Wanted,
    coded_schema,
    every_block,
    schema,
    wanted_columns,
    wanted_tables,
)
from smfparse.decoding.criteria import texts
from smfparse.decoding.dictionary import DAMAGE, RECORD, decoded_tables, with_fingerprints
from smfparse.decoding.duplicates import Duplicates, Known, Turn
from smfparse.decoding.selection import ALL_RECORDS, Selection, queue_criteria, without_names
from smfparse.decoding.zones import Zone, read_for, shown_in_zone
from smfparse.errors import DamageLog, InputError
from smfparse.inputs.named import resolve
from smfparse.inputs.options import DEFAULTS, ReadOptions
from smfparse.inputs.range import Batches, Log, Range, UnsoundError, gathered_for
from smfparse.inputs.sources import (
    Dataset,
    SmfFile,
    Source,
    batches_of,
    being_read,
    damage_rows,
    with_others,
)
from smfparse.limits import LIMITS, Limits
from smfparse.reading.chunks import WHOLE_SOURCE, Part
from smfparse.reading.places import Place, Url
from smfparse.reading.reader import Input, size_of

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from smfparse.inputs.parallel import Unit
    from smfparse.inputs.workers import Workers


class Names(Protocol):
    """A collection of used names."""

    def __contains__(self, name: object, /) -> bool: ...

    def add(self, name: str, /) -> None:
        """Add a used name."""


def called_apart(names: Iterable[str], taken: Names) -> dict[str, str]:
    """Return {name: new name} for names already in `taken`, as `DUMP.smf#2`; add all to `taken`."""
    found = {}
    for name in names:
        new = _free(name, taken)
        taken.add(new)
        if new != name:
            found[name] = new
    return found


def _free(name: str, taken: Names) -> str:
    """Return a name that is not in `taken`, if necessary with a number, found by bisection."""
    if name not in taken:
        return name
    low, high = 1, 2
    while f"{name}#{high}" in taken:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if f"{name}#{middle}" in taken else (low, middle)
    return f"{name}#{high}"


def shown(
    zone: Zone | None, wanted: Wanted, rows: Callable[[Wanted], Iterator[tuple[str, Batch]]]
) -> Iterator[tuple[str, Batch]]:
    """Yield the wanted rows with local times in a zone; None: local times as recorded."""
    if zone is None:
        yield from rows(wanted)
        return
    read: Wanted = {
        table: None if names is None else read_for(coded_schema(table, names))
        for table, names in wanted.items()
    }
    for table, batch in rows(read):
        yield table, shown_in_zone(zone, batch, coded_schema(table, wanted[table]))


class _Shared:
    """Sources that several processes may decode together.

    options  options for reading the sources
    """

    options: ReadOptions

    def workers(
        self, sources: Sequence[Source], wanted: Wanted, executor: Executor | None = None
    ) -> Workers | None:
        """Return the workers that decode sources together; None: one process is enough.

        executor  executor of the caller for the work; None: one own process per job
        """
        jobs = self.options.jobs
        if (jobs == 1 and executor is None) or not self.are_large(sources):
            return None
        from smfparse.inputs.parallel import worth_sharing
        from smfparse.inputs.workers import Workers

        if not worth_sharing(wanted):
            return None
        most = _bytes_of(sources) // self.options.limits.least_unit
        return Workers(min(jobs, most), executor, most_units=2 * most)

    def units(
        self, sources: Sequence[Source], wanted: Wanted, workers: Workers, *, ahead: bool
    ) -> list[Unit]:
        """Divide one or more SMF files into units for workers.

        ahead  whether results of a unit are stored until the results of earlier units are used
        """
        from smfparse.inputs.parallel import units

        files = [each for each in sources if isinstance(each, SmfFile)]
        found = [each.input for each in files]
        once, others = files[0].duplicates, files[0].others
        return units(found, wanted, self.options, workers, once, others, ahead=ahead)

    def are_large(self, sources: Sequence[Source]) -> bool:
        """Whether sources are SMF files for which several processes are faster."""
        are_files = all(map(_is_file, sources))
        return are_files and _bytes_of(sources) >= 2 * self.options.limits.least_unit


@dataclass
class Inputs(_Shared):
    """All inputs of one command, and the options for reading; `log` collects damage and counts.

    zone  time zone of local times in rows; None: local time of each z/OS system, as recorded
    """

    sources: Sequence[Source]
    log: Log = field(default_factory=Log)
    options: ReadOptions = DEFAULTS
    zone: Zone | None = None

    @property
    def selection(self) -> Selection:
        """The criteria for the requested records."""
        return self.options.selection

    @property
    def of_queues(self) -> bool:
        """Whether rows are selected by queue: by this selection, or when a dataset was made.

        If so, rows of tasks are about whole tasks, but the data contains only some of their queues.
        """
        return bool(self.selection.queues or self._queues_of_datasets())

    @property
    def selected(self) -> str | None:
        """The selection as text, with the selections by queue of datasets; None: all records."""
        own = filter(None, str(self.selection).split("; "))
        return "; ".join(dict.fromkeys([*own, *self._queues_of_datasets()])) or None

    def _queues_of_datasets(self) -> list[str]:
        """Return the selections by queue with which datasets among the inputs were made."""
        datasets = (each for each in self.sources if isinstance(each, Dataset))
        texts = (each.manifest["selection"] for each in datasets)
        return [found for text in texts for found in queue_criteria(text)]

    @property
    def damage(self) -> DamageLog:
        """The damage that was found in the inputs."""
        return self.log.damage

    @property
    def duplicates(self) -> int:
        """Number of omitted duplicates, in files that were read to their end."""
        return sum(self.log.duplicates.values())

    @property
    def lost(self) -> DamageLog:
        """The damage found when the datasets among the inputs were made."""
        found = DamageLog()
        for source in self.sources:
            found.extend(source.lost)
        return found

    @property
    def met(self) -> DamageLog:
        """The damage in `lost` and in `damage`."""
        found = self.lost
        found.extend(self.damage)
        return found

    def batches(
        self, wanted: Wanted, *, prompt: bool = False
    ) -> Generator[tuple[str, Batch], None, None]:
        """Yield (table, RecordBatch) for the wanted tables of every input, in order.

        For the table `damage`, SMF files are read to their end without a selection. This is a
        second read, unless all tables and all records are requested.

        prompt  whether a single process yields rows as soon as possible, in more batches
        """
        rows = {table: names for table, names in wanted.items() if table != DAMAGE}
        if rows:
            yield from shown(self.zone, rows, lambda read: self._rows(read, prompt))
            self.damage.arrange()
        if DAMAGE in wanted:
            if not self.selection.everything or every_block().keys() - rows.keys():
                self._find_damage()
            yield DAMAGE, damage_rows(self.met, wanted[DAMAGE])

    def _find_damage(self) -> None:
        everything = replace(self.options, selection=ALL_RECORDS)
        files = Inputs([*filter(_is_file, self.sources)], self.log.anew(), everything)
        for _ in files.batches(every_block()):
            pass
        self.damage.extend(files.damage)
        self.damage.arrange()

    def names(self, table: str) -> frozenset[str] | None:
        """Return the columns of a table; None: all except columns on request."""
        return with_fingerprints(table, asked=self.options.fingerprints)

    def as_recorded(self) -> Inputs:
        """Return the same inputs, whose rows have local times of each z/OS system."""
        return replace(self, zone=None)

    def _rows(self, wanted: Wanted, prompt: bool) -> Iterator[tuple[str, Batch]]:
        for are_files, group in itertools.groupby(_in_turn(self.sources), _is_file):
            sources = list(group)
            with being_read(sources) if are_files else nullcontext():
                yield from self._of_kind(sources, wanted, prompt, are_files=are_files)

    def _of_kind(
        self, sources: Sequence[Source], wanted: Wanted, prompt: bool, *, are_files: bool
    ) -> Iterator[tuple[str, Batch]]:
        """Yield the rows of sources that are all files or all datasets."""
        workers = self.workers(sources, wanted) if are_files else None
        if workers is not None:
            with workers:
                found = self.units(sources, wanted, workers, ahead=True)
                if len(found) > 1:
                    from smfparse.inputs.parallel import together

                    yield from together(found, workers, self.log)
                    return
        yield from self._one_by_one(sources, wanted, prompt)

    def by_one_process(self) -> Inputs:
        """Return the same inputs, with the same log, to be decoded by one process."""
        return replace(self, options=replace(self.options, jobs=1))

    def _one_by_one(
        self, sources: Sequence[Source], wanted: Wanted, prompt: bool
    ) -> Iterator[tuple[str, Batch]]:
        gathered = None
        if any(map(_is_file, sources)):
            gathered = gathered_for(wanted, self.options, self.log, prompt=prompt)
        if gathered is not None and not prompt:
            yield from batches_of(sources, wanted, self.log, self.options, gathered)
        else:
            for source in sources:
                yield from source.batches(wanted, self.log, self.options, gathered)
        if gathered is not None:
            yield from gathered.flush()

    def any_rows(self, tables: Iterable[str] = (RECORD,)) -> bool:
        """Whether any of these tables has a selected row; inputs are read up to the first row."""
        wanted = dict.fromkeys(tables, frozenset(["record_no"]))
        found = self._one_by_one(_in_turn(self.sources), wanted, prompt=True)
        return any(batch.num_rows for _, batch in found)

    def arrow(self, table: str) -> Any:
        """Return a whole table as a pyarrow.Table."""
        found = [batch for _, batch in self.batches(wanted_tables([table]))]
        return pa.Table.from_batches(found, schema=coded_schema(table)).cast(schema(table))


def _bytes_of(files: Iterable[Source]) -> int:
    return sum(size_of(each.path) for each in files)


def _is_dataset(folder: Place) -> bool:
    """Whether a folder is a dataset; the code is loaded on first use."""
    from smfparse.store.manifest import is_dataset

    return is_dataset(folder)


def _is_file(source: Source) -> bool:
    return isinstance(source, SmfFile)


def _in_turn(sources: Iterable[Source]) -> list[Source]:
    """Return the sources for one sequential read of all of them."""
    turn = Turn()
    return [replace(each, turn=turn) if isinstance(each, SmfFile) else each for each in sources]


def open_inputs(
    paths: Iterable[str | Path | Url],
    options: ReadOptions = DEFAULTS,
    target: Place | None = None,
) -> Inputs:
    """Open SMF files and datasets.

    paths   texts as on the command line: files, folders, patterns, `-`, URLs; or Paths and Urls,
            each of which is one place
    target  output folder, which is skipped if it is below an input folder

    Raises InputError, before records are decoded, if no input is found, or an input is missing,
    unreadable, or neither an SMF file nor a dataset; RequestError if an input is named twice.
    """
    paths = list(paths)
    if not paths:
        raise InputError("no input is named; name a file, a folder or a dataset")
    log = Log(DamageLog(strict=options.strict))
    found = resolve(paths, _is_dataset, log.damage, target, options)
    sources = _named_apart([_source(each, options.selection) for each in found])
    files = [each.input for each in sources if isinstance(each, SmfFile)]
    if files and not options.keep_duplicates:
        duplicates = Duplicates(files, _known_records(sources, options.selection))
        sources = [
            replace(each, duplicates=duplicates) if isinstance(each, SmfFile) else each
            for each in sources
        ]
    sources = with_others(sources)
    if any(each.has_fingerprints for each in sources if isinstance(each, Dataset)):
        options = replace(options, fingerprints=True)
    return Inputs(sources, log, options, options.selection.zone)


def _named_apart(sources: Sequence[Source]) -> list[Source]:
    """Return the sources, with SMF files in datasets renamed if other inputs have the same names.

    Otherwise rows of different files would have the same `source` and record number.
    """
    taken = {each.name for each in sources if isinstance(each, SmfFile)}
    found: list[Source] = []
    for each in sources:
        if isinstance(each, Dataset) and (called := called_apart(each.smf_files, taken)):
            found.append(replace(each, called=called))
        else:
            found.append(each)
    return found


def _known_records(sources: Iterable[Source], selection: Selection) -> Known | None:
    """Return the fingerprints of the records in the datasets among the inputs."""
    datasets = (each for each in sources if isinstance(each, Dataset))
    found = [each.known for each in datasets if each.knows_all_of(selection)]
    known = [each for each in found if each is not None]
    if not known:
        return None
    from smfparse.inputs.stored import KnownOfSeveral

    return KnownOfSeveral(known)


def decode_part(
    path: str | Path | Url,
    part: Part = WHOLE_SOURCE,
    tables: Mapping[str, str | Iterable[str] | None] | None = None,
    damage: DamageLog | None = None,
    framing: str | None = None,
    limits: Limits = LIMITS,
) -> Batches:
    """Decode a part of an SMF file: yield (table, RecordBatch), for each table in record order.

    part     a part that `plan` returned; or `Part(start, end, None)`, a blind part: the records
             that start at or after byte `start` and before byte `end`, which can be any bytes. In
             rows of a blind part, record_no is NULL, but record_offset is known
    tables   wanted columns by table (None: all columns); None: all tables
    damage   log to which the damage is added; None: none
    framing  as in `ReadOptions`
    limits   as in the call of `plan`

    The parts of a plan together give the rows of the whole file, in order. Blind parts without gaps
    between them give the same rows without record numbers. Raises the errors of `open_inputs`; at
    the end of a part, InputError if the part is not as planned, because the file was changed or is
    damaged.
    """
    options = ReadOptions(framing=framing, limits=limits)
    file = open_file(path, options)
    wanted: dict[str, frozenset[str] | None] = dict.fromkeys(decoded_tables())
    if tables is not None:
        wanted = {
            known: None if names is None else frozenset(wanted_columns(known, texts(names)))
            for known, names in zip(wanted_tables(tables), tables.values(), strict=True)
        }
    log = Log(DamageLog() if damage is None else damage)
    try:
        yield from Range(file.input, wanted, part, options).batches(log)
    except UnsoundError as error:
        raise InputError(
            f"{file.name}: bytes {part.start} to {part.end} are not as planned; the "
            "file is damaged or was changed. Decode the file from there to its end"
        ) from error


def with_all_names(inputs: Inputs) -> Inputs:
    """Return the same inputs without a selection by names, and with a separate log."""
    return _with_selection(inputs, without_names(inputs.selection, inputs.selection.by_name))


def with_all_records(inputs: Inputs) -> Inputs:
    """Return the same inputs without a selection, and with a separate log."""
    return _with_selection(inputs, ALL_RECORDS._replace(zone=inputs.zone))


def with_times(inputs: Inputs, start: dt.datetime | None, end: dt.datetime | None) -> Inputs:
    """Return the same inputs, limited to records between two local times."""
    chosen = inputs.selection
    starts = [each for each in (chosen.start, start) if each is not None]
    ends = [each for each in (chosen.end, end) if each is not None]
    return _with_selection(
        inputs, chosen._replace(start=max(starts, default=None), end=min(ends, default=None))
    )


def _with_selection(inputs: Inputs, selection: Selection) -> Inputs:
    sources = [
        replace(each, selection=selection) if isinstance(each, Dataset) else each
        for each in inputs.sources
    ]
    options = replace(inputs.options, selection=selection, strict=False)
    return replace(inputs, sources=sources, log=Log(), options=options)


def open_file(path: str | Path | Url, options: ReadOptions = DEFAULTS) -> SmfFile:
    """Open an input that must be one SMF file. Raises the errors of `open_inputs`."""
    sources = open_inputs([path], options).sources
    if len(sources) > 1 or not isinstance(sources[0], SmfFile):
        raise InputError(f"{path}: a dataset or several files; name one SMF file")
    return sources[0]


def _source(found: Input, selection: Selection) -> Source:
    if not found.path.is_dir():
        return SmfFile(replace(found, path=found.path.absolute()))
    from smfparse.store.database import interrupted_in
    from smfparse.store.manifest import has_manifest

    if not has_manifest(found.path):
        raise interrupted_in(found.path)
    dataset = Dataset(found.path, selection=selection)
    _ = dataset.manifest  # raises an error for an unreadable manifest
    return dataset
