"""Inputs to named streams of record batches.

An input is an SMF file, or a dataset that `dataset.write_dataset` made: a folder with one folder a
table and a manifest written last. Both give the same tables.
"""

from __future__ import annotations

import itertools
import tempfile
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import cache, cached_property, partial
from pathlib import Path
from typing import Any, Protocol

import pyarrow as pa
import pyarrow.parquet as pq

from smfparse.decoding.duplicates import FINGERPRINT, Duplicates
from smfparse.errors import Damage, DamageLog, InputError, RequestError
from smfparse.inputs.named import Input, find
from smfparse.inputs.parallel import (
    LEAST_BYTES,
    MOST_BYTES,
    Log,
    Range,
    Unit,
    UnsoundError,
    in_order,
    no_room,
    spill,
    spilled,
    units,
    worth_sharing,
)
from smfparse.reading.detection import named as framing_named
from smfparse.reading.reader import WHOLE_SOURCE, Part, size_of
from smfparse.selecting import (
    ALL_RECORDS,
    KeysBySource,
    Lookup,
    Selection,
    keys_of,
    needed_columns,
    row_mask,
    texts,
)
from smfparse.store.manifest import MANIFEST, Manifest, is_dataset, read_manifest, smf_files
from smfparse.tables import (
    DAMAGE,
    DAMAGE_COLUMNS,
    RECORD,
    Batch,
    Wanted,
    coded_schema,
    decoded_tables,
    every_block,
    schema,
    wanted_columns,
    wanted_tables,
)


@dataclass(frozen=True)
class Form:
    """How an input is packed, outermost first, and its records are told apart; and by what."""

    packing: tuple[str, ...]
    framing: str | None
    why: str


class Source(Protocol):
    """One input."""

    @property
    def path(self) -> Path:
        """Where it is read."""

    @property
    def name(self) -> str:
        """The input as the user named it."""

    @property
    def form(self) -> Form:
        """How the input is packed and its records are told apart."""

    @property
    def lost(self) -> DamageLog:
        """What could not be used when the input was made."""

    def batches(
        self, wanted: Wanted, log: Log, selection: Selection = ALL_RECORDS, *, prompt: bool = False
    ) -> Iterator[tuple[str, Batch]]:
        """Yield the wanted tables and columns of the selected records, in record order.

        prompt  whether rows come as soon as there are any, in more batches
        """


@dataclass(frozen=True)
class SmfFile:
    """A file of SMF records, packed or not; `duplicates`, if given, are left out."""

    input: Input
    duplicates: Duplicates | None = field(default=None, compare=False)

    @property
    def path(self) -> Path:
        """Where the records are read; a copy of what can be read only once."""
        return self.input.path

    @property
    def name(self) -> str:
        return self.input.name

    @property
    def form(self) -> Form:
        assert self.input.framing is not None  # the file was looked at when it was opened
        return Form(self.input.packing, self.input.framing.name, self.input.framing.why)

    @property
    def lost(self) -> DamageLog:
        return DamageLog()

    def batches(
        self, wanted: Wanted, log: Log, selection: Selection = ALL_RECORDS, *, prompt: bool = False
    ) -> Iterator[tuple[str, Batch]]:
        whole = Range(
            self.input, wanted, selection=selection, duplicates=self.duplicates, prompt=prompt
        )
        yield from whole.batches(log)


@dataclass(frozen=True)
class Dataset:
    """A folder that `dataset.write_dataset` made; what was added later is not seen.

    called  what `source` is instead in its rows, where another input has that name
    """

    path: Path
    called: Mapping[str, str] = field(default_factory=dict, compare=False)

    @property
    def name(self) -> str:
        return str(self.path)

    @property
    def form(self) -> Form:
        return Form((), None, "a dataset")

    @cached_property
    def manifest(self) -> Manifest:
        """What is written of the dataset. Raises InputError."""
        return read_manifest(self.path)

    @property
    def smf_files(self) -> list[str]:
        """The names that `source` has in its rows, but for `called`."""
        return list(smf_files(self.manifest["inputs"]))

    def files(self, table: str) -> list[Path]:
        """Return the Parquet files of a table, which are all there."""
        found = [self.path / each for each in self.manifest["files"][table]]
        for each in found:
            if not each.is_file():
                raise InputError(f"{each}: a file of the dataset is not there; convert again")
        return found

    def runs(self) -> list[Path]:
        """Return the files with the fingerprints of its records, which are all there and whole.

        There are none where it was made of datasets.
        """
        found = []
        for name, count in (self.manifest["records"] or {}).items():
            path = self.path / name
            if not path.is_file() or path.stat().st_size != count * FINGERPRINT.itemsize:
                raise InputError(
                    f"{path}: a file of the dataset is not there or not whole; its records cannot "
                    "be told from others'; convert again"
                )
            found.append(path)
        return found

    def knows_all_of(self, selection: Selection) -> bool:
        """Whether its rows have all that is selected of the records that it knows."""
        return self.manifest["selection"] in (None, str(selection) or None)

    @cached_property
    def lost(self) -> DamageLog:
        names = [each.name for each in DAMAGE_COLUMNS]
        rows = (row.values() for each in self._rows(DAMAGE, names) for row in each.to_pylist())
        return DamageLog(
            details=[
                Damage(source, offset, length, reason, record_no, smf_type, subtype)
                for source, record_no, offset, smf_type, subtype, length, reason in rows
            ],
            count=self.manifest["damage_count"],
        )

    def batches(
        self,
        wanted: Wanted,
        log: Log,
        selection: Selection = ALL_RECORDS,
        *,
        prompt: bool = False,  # noqa: ARG002 - rows of a dataset always come so
    ) -> Iterator[tuple[str, Batch]]:
        if log.count_unknown and selection.everything:
            log.unknown.update(self.manifest["unknown_bytes"])

        @cache
        def keys(lookup: Lookup) -> KeysBySource:
            names = list(dict.fromkeys(["source", *lookup.key.value]))
            return keys_of(self._selected(lookup.table, names, lookup.asked, keys), lookup.key)

        for table, columns in wanted.items():
            names = [each for each in schema(table).names if columns is None or each in columns]
            if selection.on(table).everything:
                found = self._rows(table, names)
            else:
                found = self._selected(table, names, selection, keys)
            for batch in found:
                yield table, batch.cast(coded_schema(table, columns)) if names else batch

    def _selected(
        self,
        table: str,
        names: list[str],
        selection: Selection,
        keys: Callable[[Lookup], KeysBySource],
    ) -> Iterator[Batch]:
        """Yield the columns `names` of the selected rows of a table."""
        if selection.on(table).holds(table) is False:
            return
        needed = list(dict.fromkeys([*names, *needed_columns(selection, table)]))
        for batch in self._rows(table, needed):
            chosen = batch.filter(pa.array(row_mask(selection, table, batch, keys)))
            if chosen.num_rows:
                yield chosen.select(names)

    def _rows(self, table: str, names: list[str]) -> Iterator[Batch]:
        """Yield the columns `names` of a table."""
        for file in self.files(table):
            try:
                opened = pq.ParquetFile(file)
                if opened.schema.names != schema(table).names:
                    raise InputError(f"{file}: not a file of the table {table}; convert again")
                yield from map(self._told_apart, opened.iter_batches(columns=names))
            except (OSError, pa.ArrowException) as error:
                raise InputError(f"{file}: cannot be read as Parquet: {error}") from error

    def _told_apart(self, batch: Batch) -> Batch:
        """Return rows with the names of their SMF files that no other input has."""
        if not self.called or "source" not in batch.schema.names:
            return batch
        coded = batch["source"].dictionary_encode()
        words = [self.called.get(each, each) for each in coded.dictionary.to_pylist()]
        names = pa.array(words, pa.string()).take(coded.indices)
        return batch.set_column(batch.schema.names.index("source"), "source", names)


@dataclass
class Inputs:
    """All inputs of one command and what is selected of them; what there is to say is in `log`.

    jobs  processes that decode SMF files
    """

    sources: Sequence[Source]
    log: Log = field(default_factory=Log)
    selection: Selection = ALL_RECORDS
    jobs: int = 1

    @property
    def damage(self) -> DamageLog:
        """What could not be used, as far as the inputs were read."""
        return self.log.damage

    @property
    def duplicates(self) -> int:
        """Records left out because an earlier dump has them, in the files read to their end."""
        return sum(self.log.duplicates.values())

    @property
    def lost(self) -> DamageLog:
        """What could not be used when the datasets among the inputs were made."""
        found = DamageLog()
        for source in self.sources:
            found.extend(source.lost)
        return found

    @property
    def met(self) -> DamageLog:
        """What could not be used, now or when datasets were made."""
        found = self.lost
        found.extend(self.damage)
        return found

    def batches(
        self, wanted: Wanted, *, prompt: bool = False
    ) -> Generator[tuple[str, Batch], None, None]:
        """Yield (table, RecordBatch) for the wanted tables of every input, in order.

        For the table `damage`, SMF files are read as a whole, whatever is selected.

        prompt  whether one process gives rows as soon as it has any, in more batches
        """
        rows = {table: names for table, names in wanted.items() if table != DAMAGE}
        if rows:
            yield from self._rows(rows, prompt)
        if DAMAGE in wanted:
            yield DAMAGE, damage_rows(self._all_damage(), wanted[DAMAGE])

    def _all_damage(self) -> DamageLog:
        """Read the SMF files, all records of them, for what cannot be used; return all there is."""
        files = Inputs([*filter(_is_file, self.sources)], self.log.anew(), jobs=self.jobs)
        for _ in files.batches(every_block()):
            pass
        self.damage.extend(files.damage)
        found = self.lost
        found.extend(files.damage)
        return found

    def _rows(self, wanted: Wanted, prompt: bool) -> Iterator[tuple[str, Batch]]:
        for are_files, group in itertools.groupby(self.sources, _is_file):
            sources = list(group)
            found = self.units(sources, wanted, ahead=True) if are_files else []
            if len(found) > 1:
                yield from self._together(found)
            else:
                yield from self._one_by_one(sources, wanted, prompt)

    def units(self, sources: Sequence[Source], wanted: Wanted, *, ahead: bool) -> list[Unit]:
        """Cut SMF files into units for `jobs` processes; none where one process is enough.

        ahead  whether what is made of a unit has to be kept until it is its turn
        """
        files = [each for each in sources if isinstance(each, SmfFile)]
        if self.jobs == 1 or len(files) < len(sources):
            return []
        size = sum(size_of(each.path) for each in files)
        if size < 2 * LEAST_BYTES or not worth_sharing(wanted):
            return []
        share = -(-size // self.jobs)
        unit_bytes = max(min(share // 2, MOST_BYTES) if ahead else share, LEAST_BYTES)
        found = [each.input for each in files]
        return units(found, wanted, self.selection, unit_bytes, files[0].duplicates)

    def _together(self, found: Sequence[Unit]) -> Iterator[tuple[str, Batch]]:
        try:
            temporary = tempfile.TemporaryDirectory(prefix="smfparse-")
        except OSError as error:
            raise no_room(Path(tempfile.gettempdir()), error) from error
        with temporary as folder:
            outcomes = in_order(found, partial(spill, Path(folder)), self.jobs, self.log)
            with closing(outcomes):
                for outcome in outcomes:
                    self.log.add(outcome.log)
                    yield from spilled(outcome.made or [])

    def _one_by_one(
        self, sources: Sequence[Source], wanted: Wanted, prompt: bool
    ) -> Iterator[tuple[str, Batch]]:
        for source in sources:
            yield from source.batches(wanted, self.log, self.selection, prompt=prompt)

    def any_record(self) -> bool:
        """Whether a record is selected. Reads up to the first one."""
        found = self._one_by_one(self.sources, {RECORD: frozenset(["record_no"])}, prompt=True)
        return any(batch.num_rows for _, batch in found)

    def arrow(self, table: str) -> Any:
        """Return a whole table as a pyarrow.Table."""
        found = [batch for _, batch in self.batches(wanted_tables([table]))]
        return pa.Table.from_batches(found, schema=coded_schema(table)).cast(schema(table))


def _is_file(source: Source) -> bool:
    return isinstance(source, SmfFile)


def damage_rows(log: DamageLog, names: frozenset[str] | None = None) -> Batch:
    """Return the table `damage` as one RecordBatch: its columns `names`, None: all."""
    found = log.details
    cells = {
        "source": [each.source for each in found],
        "record_no": [each.record_no for each in found],
        "record_offset": [each.offset for each in found],
        "type": [each.type for each in found],
        "subtype": [each.subtype for each in found],
        "bytes": [each.length for each in found],
        "reason": [each.reason for each in found],
    }
    whole = pa.RecordBatch.from_pydict(cells, schema(DAMAGE)).cast(coded_schema(DAMAGE))
    return whole if names is None else whole.select(coded_schema(DAMAGE, names).names)


def open_inputs(
    paths: Iterable[str | Path],
    selection: Selection = ALL_RECORDS,
    jobs: int = 1,
    *,
    keep_duplicates: bool = False,
    strict: bool = False,
    framing: str | None = None,
    target: Path | None = None,
) -> Inputs:
    """Open SMF files and datasets, of which the records of `selection` are wanted.

    paths            texts as on the command line: files, folders, patterns, `-`; or Paths, each
                     only itself
    jobs             processes that decode SMF files, when these are large: same rows, same order
    keep_duplicates  whether records of an SMF file that an earlier dump has as well are kept
    strict           whether damage of an SMF file ends the reading, by DamageError, before its
                     rows come
    framing          name of the walk that tells the records of SMF files apart; None: that is
                     detected
    target           folder that is written: where it is below one of the folders it is no input

    Raises InputError, before anything is decoded, where there is none, or one is missing,
    unreadable or neither, and RequestError where one is named twice.
    """
    if jobs < 1:
        raise RequestError(f"{jobs} jobs: at least one")
    paths = list(paths)
    if not paths:
        raise InputError("no input is named; name a file, a folder or a dataset")
    log = Log(DamageLog(strict=strict))
    known = None if framing is None else framing_named(framing)
    found = find(paths, is_dataset, log.damage, known, target)
    sources = _told_apart([_source(each) for each in found])
    files = [each.input for each in sources if isinstance(each, SmfFile)]
    if files and not keep_duplicates:
        duplicates = Duplicates(files, _known_records(sources, selection))
        sources = [
            replace(each, duplicates=duplicates) if isinstance(each, SmfFile) else each
            for each in sources
        ]
    return Inputs(sources, log, selection, jobs)


def called_apart(names: Iterable[str], taken: set[str]) -> dict[str, str]:
    """Return other names for those that are taken already: `DUMP.smf#2`. All are taken then."""
    found = {}
    for name in names:
        others = (f"{name}#{number}" for number in itertools.count(2))
        new = next(each for each in itertools.chain([name], others) if each not in taken)
        taken.add(new)
        if new != name:
            found[name] = new
    return found


def _told_apart(sources: Sequence[Source]) -> list[Source]:
    """Give datasets, whose rows name SMF files that are other inputs, other names for these.

    Rows that belong together are told by `source` and the number of their record.
    """
    taken = {each.name for each in sources if isinstance(each, SmfFile)}
    found: list[Source] = []
    for each in sources:
        if isinstance(each, Dataset) and (called := called_apart(each.smf_files, taken)):
            found.append(replace(each, called=called))
        else:
            found.append(each)
    return found


def _known_records(sources: Iterable[Source], selection: Selection) -> list[Path]:
    """Return the fingerprints of the records that the datasets among the inputs have."""
    datasets = (each for each in sources if isinstance(each, Dataset))
    return [run for each in datasets if each.knows_all_of(selection) for run in each.runs()]


def decode_part(
    path: str | Path,
    part: Part = WHOLE_SOURCE,
    tables: Mapping[str, str | Iterable[str] | None] | None = None,
    damage: DamageLog | None = None,
    framing: str | None = None,
) -> Iterator[tuple[str, Batch]]:
    """Decode a part of one SMF file: yield (table, RecordBatch), each table's in record order.

    part     one that `plan` gave; or `Part(start, end, None)`: the records that start from byte
             `start` up to `end`, wherever these are. Their record_no is NULL, record_offset is not
    tables   table to its wanted columns (None: all); None: every table
    damage   takes what could not be used
    framing  as in `open_inputs`

    The parts of a plan give together what the whole file gives, in order; so do blind ones that
    have a border where another begins, but for numbers. Raises what `open_inputs` does; where a
    part is not what the plan says, as the file was changed or is damaged, InputError at its end.
    """
    file = open_file(path, framing)
    wanted: dict[str, frozenset[str] | None] = dict.fromkeys(decoded_tables())
    if tables is not None:
        wanted = {
            known: None if names is None else frozenset(wanted_columns(known, texts(names)))
            for known, names in zip(wanted_tables(tables), tables.values(), strict=True)
        }
    log = Log(DamageLog() if damage is None else damage)
    try:
        yield from Range(file.input, wanted, part).batches(log)
    except UnsoundError as error:
        raise InputError(
            f"{file.name}: bytes {part.start} to {part.end} are not as planned; the "
            "file is damaged or was changed. Decode it from there to its end"
        ) from error


def open_file(path: str | Path, framing: str | None = None) -> SmfFile:
    """Open an input that has to be one SMF file. Raises what `open_inputs` does."""
    sources = open_inputs([path], framing=framing).sources
    if len(sources) > 1 or not isinstance(sources[0], SmfFile):
        raise InputError(f"{path}: a dataset or several files; name one SMF file")
    return sources[0]


def _source(found: Input) -> Source:
    if not found.path.is_dir():
        return SmfFile(found)
    if not (found.path / MANIFEST).is_file():
        raise InputError(
            f"{found.name}: convert was interrupted here, or is still at work; "
            "run the same command again"
        )
    dataset = Dataset(found.path)
    _ = dataset.manifest  # so that one that cannot be read is said at once
    return dataset
