"""From inputs to named streams of record batches.

An input is an SMF file, or a dataset that `convert` made: a folder with one folder per table and a
manifest, which was written last. Both give the same tables. Small SMF files are decoded together,
which saves the fixed cost per chunk.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from typing import TYPE_CHECKING, NamedTuple, Protocol

import pyarrow as pa

from smfparse.decoding.arrow import Batch, Wanted, coded_schema, plain_schema, schema
from smfparse.decoding.decoder import Decoder, Gathered
from smfparse.decoding.dictionary import DAMAGE, DAMAGE_COLUMNS
from smfparse.decoding.duplicates import Duplicates, Turn
from smfparse.decoding.selected_rows import (
    KeysBySource,
    Lookup,
    keys_by_source,
    needed_columns,
    row_mask,
)
from smfparse.decoding.selection import ALL_RECORDS, Selection
from smfparse.errors import Damage, DamageLog
from smfparse.inputs.options import DEFAULTS, ReadOptions
from smfparse.inputs.others import Others
from smfparse.inputs.range import Batches, Log, Range
from smfparse.progress import PROGRESS
from smfparse.reading.chunks import Chunk, Joined
from smfparse.reading.places import Place, size_at
from smfparse.reading.reader import Input, size_of

if TYPE_CHECKING:
    from smfparse.inputs.stored import KnownRecords
    from smfparse.store.manifest import Manifest

_SMALL = 4
"""Ratio of the size of a chunk to the maximum size of a small file."""
_MOST = 256
"""Maximum number of files that are decoded together."""


class Arrival(NamedTuple):
    """Compressions of an input (outermost first), its framing, and the evidence for the framing."""

    packing: tuple[str, ...]
    framing: str | None
    why: str


class Source(Protocol):
    """One input."""

    @property
    def path(self) -> Place:
        """Place from which the input is read."""

    @property
    def name(self) -> str:
        """The input as the user named it."""

    @property
    def arrival(self) -> Arrival:
        """Compression and framing of the input."""

    @property
    def lost(self) -> DamageLog:
        """The damage found when a dataset was made; empty for an SMF file."""

    def batches(
        self,
        wanted: Wanted,
        log: Log,
        options: ReadOptions = DEFAULTS,
        gathered: Gathered | None = None,
    ) -> Batches:
        """Yield the wanted tables and columns of the selected records, in record order.

        gathered  buffer that joins rows of SMF files with rows of other files; None: all rows are
                  yielded
        """


@dataclass(frozen=True)
class SmfFile:
    """A file of SMF records, compressed or not; `duplicates`, if given, are omitted.

    turn    state of the sequential read of all files; None: files are not read in sequence
    others  all inputs that are read with the file; None: no other inputs
    """

    input: Input
    duplicates: Duplicates | None = field(default=None, compare=False)
    turn: Turn | None = field(default=None, compare=False)
    others: Others | None = field(default=None, compare=False)

    @property
    def path(self) -> Place:
        """The file that is read; a copy if the input can be read only once."""
        return self.input.path

    @property
    def name(self) -> str:
        return self.input.name

    @property
    def arrival(self) -> Arrival:
        assert self.input.framing is not None  # `look` found it when the file was opened
        return Arrival(self.input.packing, self.input.framing.name, self.input.framing.why)

    @property
    def lost(self) -> DamageLog:
        return DamageLog()

    def batches(
        self,
        wanted: Wanted,
        log: Log,
        options: ReadOptions = DEFAULTS,
        gathered: Gathered | None = None,
    ) -> Batches:
        yield from self.range(wanted, options).batches(log, gathered)

    def chunks(self, damage: DamageLog) -> Iterator[Chunk]:
        """Yield all records, including duplicates of an earlier dump."""
        with being_read([self]):
            yield from PROGRESS.follow(self.input.chunks(damage))

    def range(self, wanted: Wanted, options: ReadOptions) -> Range:
        """Return the whole file as a range."""
        found = Range(self.input, wanted, options=options, duplicates=self.duplicates)
        return replace(found, turn=self.turn, others=self.others)


@dataclass(frozen=True)
class Dataset:
    """A folder that `convert` made. Files that are added after it was opened are not read.

    selection  the requested rows: files without requested rows are not read
    called     {`source` in the rows: name that replaces it}, for names that other inputs have too
    checked    tables whose files were checked
    """

    path: Place
    selection: Selection = field(default=ALL_RECORDS, compare=False)
    called: Mapping[str, str] = field(default_factory=dict, compare=False)
    checked: set[str] = field(default_factory=set, compare=False)

    @property
    def name(self) -> str:
        return str(self.path)

    @property
    def arrival(self) -> Arrival:
        return Arrival((), None, "a dataset")

    @cached_property
    def manifest(self) -> Manifest:
        """The manifest of the dataset. Raises InputError."""
        from smfparse.inputs.stored import manifest_for

        return manifest_for(self.path, self.selection)

    @cached_property
    def inputs(self) -> list[Manifest]:
        """The inputs from which the dataset was made. Raises InputError."""
        from smfparse.store.manifest import read_inputs

        return read_inputs(self.path)

    @property
    def has_fingerprints(self) -> bool:
        """Whether the rows contain the fingerprints of their records."""
        from smfparse.store.manifest import has_fingerprints

        return has_fingerprints(self.manifest)

    @property
    def smf_files(self) -> list[str]:
        """The values of `source` in the rows, before `called` replaces them."""
        from smfparse.store.manifest import smf_files

        return list(smf_files(self.inputs))

    @property
    def sources(self) -> list[str]:
        """The values of `source` in the rows."""
        return [self.called.get(each, each) for each in self.smf_files]

    def files(self, table: str) -> list[Place]:
        """Return the Parquet files of a table: all files exist, but may be damaged."""
        from smfparse.inputs.stored import there

        return there(self.path, self.manifest, table)

    def check(self, table: str) -> None:
        """Raise InputError if the files of a table were changed since they were written.

        Further calls do not read the files again.
        """
        from smfparse.inputs.stored import check_rows

        if table not in self.checked:
            check_rows(self.path, self.manifest, table)
            self.checked.add(table)

    def read_through(self, table: str) -> None:
        """Read a table to its end. Raises InputError if this fails."""
        for _ in self._rows(table, schema(table).names):
            pass

    def sound_files(self, table: str) -> list[Place]:
        """Return the Parquet files of a table after a check that they are unchanged."""
        self.check(table)
        return self.files(table)

    @property
    def known(self) -> KnownRecords | None:
        """The fingerprints of the records; None: the dataset was made from datasets."""
        from smfparse.inputs.stored import KnownRecords

        return KnownRecords(self.path) if self.manifest["has_records"] else None

    def knows_all_of(self, selection: Selection) -> bool:
        """Whether the dataset contains all selected rows of its records."""
        return self.manifest["selection"] in (None, str(selection) or None)

    @cached_property
    def lost(self) -> DamageLog:
        names = [each.name for each in DAMAGE_COLUMNS]
        rows = (row.values() for each in self._rows(DAMAGE, names) for row in each.to_pylist())
        return DamageLog(
            details=[
                Damage(
                    source or "", offset or 0, length, reason or "", record_no, smf_type, subtype
                )
                for source, record_no, offset, smf_type, subtype, length, reason in rows
            ],
            count=self.manifest["damage_count"],
        )

    def batches(
        self,
        wanted: Wanted,
        log: Log,
        options: ReadOptions = DEFAULTS,
        gathered: Gathered | None = None,  # noqa: ARG002 - Parquet files have batches
    ) -> Batches:
        selection = options.selection
        if log.count_unknown and selection.everything:
            log.unknown.update(self.manifest["unknown_bytes"])

        @cache
        def keys(lookup: Lookup) -> KeysBySource:
            names = list(dict.fromkeys(["source", *lookup.key.value]))
            return keys_by_source(
                self._selected(lookup.table, names, lookup.asked, keys), lookup.key
            )

        for table, columns in wanted.items():
            names = plain_schema(table, columns).names
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
        if selection.on(table).holds(table) is False:
            return
        needed = list(dict.fromkeys([*names, *needed_columns(selection, table)]))
        for batch in self._rows(table, needed):
            chosen = batch.filter(pa.array(row_mask(selection, table, batch, keys)))
            if chosen.num_rows:
                yield chosen.select(names)

    def _rows(self, table: str, names: list[str]) -> Iterator[Batch]:
        from smfparse.inputs.stored import parquet_rows
        from smfparse.store.manifest import wanted_in

        types, wanted = self.manifest["types"], wanted_in(self.manifest, table)
        for file in self.sound_files(table):
            for batch in parquet_rows(file, table, names, wanted, types):
                yield _renamed(batch, self.called)


def with_others(sources: Sequence[Source], *more: Dataset) -> list[Source]:
    """Return sources in which each SMF file refers to all sources, and to `more`."""
    files = tuple(each.input for each in sources if isinstance(each, SmfFile))
    found = (each for each in sources if isinstance(each, Dataset))
    datasets = (*more, *(replace(each, selection=ALL_RECORDS) for each in found))
    if not files or len(files) + len(datasets) < 2:
        return [*sources]
    others = Others(files, datasets)
    return [replace(each, others=others) if isinstance(each, SmfFile) else each for each in sources]


def _renamed(batch: Batch, called: Mapping[str, str]) -> Batch:
    """Return rows in which the names of SMF files are replaced by `called`."""
    for column in {"source", "task_source"}.intersection(batch.schema.names if called else ()):
        coded = batch[column].dictionary_encode()
        words = [called.get(each, each) for each in coded.dictionary.to_pylist()]
        names = pa.array(words, pa.string()).take(coded.indices)
        batch = batch.set_column(batch.schema.names.index(column), column, names)
    return batch


def batches_of(
    sources: Iterable[Source], wanted: Wanted, log: Log, options: ReadOptions, gathered: Gathered
) -> Batches:
    """Yield the batches of all sources, in order; small files are decoded together."""
    joined = Joined(options.limits.chunk_bytes)
    for some in _groups(sources, options):
        files = [each for each in some if isinstance(each, SmfFile)]
        if len(files) > 1:
            yield from _together(files, wanted, log, options, gathered, joined)
        else:
            yield from some[0].batches(wanted, log, options, gathered)


def _groups(sources: Iterable[Source], options: ReadOptions) -> Iterator[list[Source]]:
    """Yield groups of sources, in order: small files that fit into one chunk; single other sources.

    With `strict` or with a selection, files are not combined, because their damage must be found
    file by file.
    """
    most = options.limits.chunk_bytes
    may_join = options.selection.everything and not options.strict
    held: list[Source] = []
    held_bytes = 0
    for each in sources:
        size = size_of(each.path) if isinstance(each, SmfFile) and not each.input.packing else most
        if held and (held_bytes + size > most or len(held) == _MOST):
            yield held
            held, held_bytes = [], 0
        held.append(each)
        held_bytes += size if may_join and _SMALL * size <= most else most
    if held:
        yield held


def _together(
    files: Sequence[SmfFile],
    wanted: Wanted,
    log: Log,
    options: ReadOptions,
    gathered: Gathered,
    joined: Joined,
) -> Batches:
    """Decode small files as one chunk; log the damage of each file as if each was read alone."""
    needs, found = gathered.needs, list[tuple[str, DamageLog]]()
    for file in files:
        damage = DamageLog(sys.maxsize)
        for chunk in file.range(wanted, options).read(damage, needs, log):
            joined.add(chunk)
        found.append((file.name, damage))
    in_blocks = DamageLog(sys.maxsize)
    decoder = Decoder(
        needs,
        in_blocks,
        unknown=log.unknown,
        limits=options.limits,
        gathered=gathered,
        elsewhere=files[0].others,
    )
    made = list(decoder.decode(joined.take()))
    for name, damage in found:
        log.damage.extend(damage)
        for each in in_blocks.details:
            if each.source == name:
                log.damage.add(each)
    yield from made


def being_read(files: Iterable[Source]) -> AbstractContextManager[None]:
    """Return a context in which the progress display counts the bytes read of SMF files."""
    try:
        total = sum(size_at(each.path) for each in files)
    except OSError:  # the reader reports the error
        total = 0
    return PROGRESS.of("reading", total)


def damage_rows(log: DamageLog, names: frozenset[str] | None = None) -> Batch:
    """Return the table `damage` as one RecordBatch, with the columns `names`; None: all columns."""
    found, wanted = log.details, coded_schema(DAMAGE, names)
    if not found:  # arrays from cells load pandas, if it is installed
        nothing = [pa.nulls(0, each.type) for each in wanted]
        return pa.RecordBatch.from_arrays(nothing, schema=wanted)
    cells = {
        "source": [each.source for each in found],
        "record_no": [each.record_no for each in found],
        "record_offset": [each.offset for each in found],
        "type": [each.type for each in found],
        "subtype": [each.subtype for each in found],
        "bytes": [each.length for each in found],
        "reason": [each.reason for each in found],
    }
    return pa.RecordBatch.from_pydict(cells, coded_schema(DAMAGE)).select(wanted.names)
