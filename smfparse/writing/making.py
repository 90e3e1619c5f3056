"""The state of a run that writes a dataset or adds files to it, and the run's manifest entries.

The state of each SMF file is recorded before the file is read, so later changes are detected.
"""

from __future__ import annotations

import itertools
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from smfparse import __version__
from smfparse.decoding.dictionary import table_names
from smfparse.decoding.duplicates import (
    NO_RECORDS,
    Days,
    Fingerprints,
    Identity,
    Recorder,
    Seen,
    identity,
    read_run,
)
from smfparse.errors import Damage, DamageLog, InputError
from smfparse.inputs.opening import Inputs
from smfparse.inputs.sources import Dataset, SmfFile, Source
from smfparse.limits import Limits
from smfparse.reading.places import Place, Stamp, stamp_of
from smfparse.store.folder import AnyFolder
from smfparse.store.hive import Layout, day_name
from smfparse.store.manifest import (
    EXACT,
    RECORDS,
    SIGNED,
    Manifest,
    NamedFile,
    NamedRun,
    called_otherwise,
    part_number,
)
from smfparse.store.parquet import Form
from smfparse.store.writer import DamageKey, News

if TYPE_CHECKING:
    from concurrent.futures import Executor


@dataclass
class Original:
    """The state of an SMF file before it is read."""

    file: SmfFile
    stamp: Stamp

    @cached_property
    def identity(self) -> str:
        """Checksum of the file's records. Raises InputError if the file cannot be read."""
        return identity(self.file.input)

    def check(self) -> None:
        """Raise InputError if the file was changed since its state was recorded."""
        if _stamp(self.file) != self.stamp:
            raise InputError(f"{self.file.name}: changed while it was read; run again")


def originals(files: Iterable[SmfFile]) -> dict[Place, Original]:
    """Return the current state of each SMF file, by path."""
    return {each.path: Original(each, _stamp(each)) for each in files}


def _stamp(file: SmfFile) -> Stamp:
    try:
        return stamp_of(file.path)
    except OSError as error:
        raise InputError(f"{file.name}: {error.strerror or error}") from error


_MOST_DAYS = 1000
"""Maximum number of days for which a `Run` of fingerprints has counts per day.

A dump rarely contains more days.
"""


class Run(NamedTuple):
    """Fingerprints of records: sorted by day, and ascending within each day.

    days  {day: number of fingerprints}; None: ascending only, not by day
    """

    fingerprints: Fingerprints
    days: dict[str, int] | None


def by_day(found: Fingerprints, days: Days) -> Run:
    """Return fingerprints as a run; `days` contains the packed date of each record."""
    order = np.argsort(days, kind="stable")
    names, starts = np.unique(days[order], return_index=True)
    if len(names) > _MOST_DAYS:
        return Run(np.sort(found), None)
    ordered = found[order]
    for start, end in itertools.pairwise([*starts.tolist(), len(ordered)]):
        ordered[start:end].sort()
    counts = np.diff([*starts, len(ordered)]).tolist()
    return Run(ordered, dict(zip(map(day_name, names.tolist()), counts, strict=True)))


def damage_key(damage: Damage) -> DamageKey:
    """Return the key of a damage in a manifest."""
    return damage.source, damage.offset, damage.reason


def _merged(one: Run, other: Run) -> Run:
    both = (one.days or {}), (other.days or {})
    days = [np.repeat([int(day, 16) for day in each], [*each.values()]) for each in both if each]
    some = np.concatenate([one.fingerprints, other.fingerprints])
    return by_day(some, np.concatenate(days).astype(np.int32))


class Runs(Recorder):
    """Collects the fingerprints of records for a dataset, and the identities of the records' files.

    hand_on  function that receives the collected fingerprints, without those of duplicates
    most     number of collected fingerprints at which `hand_on` is called
    """

    def __init__(self, hand_on: Callable[[Run], None], most: int) -> None:
        super().__init__()
        self.identities: defaultdict[Place, Identity] = defaultdict(Identity)
        self._hand_on = hand_on
        self._most = most
        self._held = 0

    def add(self, some: Seen) -> None:
        self.identities[some.path].add(some.fingerprints)
        super().add(some)
        self._held += int(np.count_nonzero(some.kept))
        if self._held >= self._most:
            self._hand_on(self.take())

    def take(self) -> Run:
        """Return the collected fingerprints, and remove them from the collection."""
        found = np.concatenate([NO_RECORDS, *(each.fingerprints[each.kept] for each in self.seen)])
        days = np.concatenate(
            [np.zeros(0, np.int32), *(each.days[each.kept] for each in self.seen)]
        )
        self.seen.clear()
        self._held = 0
        return by_day(found, days)


@dataclass
class Making:
    """The state of a run that writes a dataset, or adds files to a dataset.

    folder        folder of the dataset
    layout        division of the dataset into folders
    first         number of the first part, greater than the numbers of existing parts
    read          states of the SMF files that are read, by path
    limits        limits of buffered bytes and of open files
    form          form of the written columns
    executor      executor that decodes and writes; None: processes of this run
    old           properties of the dataset to which files are added; None: a new dataset, with at
                  least one file per table
    kept          files of fingerprints that exist before the run
    is_known      function that returns whether the dataset already contains a damage
    runs          files of fingerprints that have been written
    gone          names of the files in `kept` that were merged into a file in `runs`
    recorder      collector of the fingerprints
    """

    folder: AnyFolder
    layout: Layout
    first: int
    read: Mapping[Place, Original]
    limits: Limits
    form: Form
    executor: Executor | None = None
    old: Manifest | None = None
    kept: list[NamedRun] = field(default_factory=list)
    is_known: Callable[[DamageKey], bool] = lambda _key: False
    runs: list[NamedRun] = field(default_factory=list)
    gone: set[str] = field(default_factory=set)
    recorder: Runs = field(init=False)

    def __post_init__(self) -> None:
        self.recorder = Runs(self.write_fingerprints, self.limits.fingerprints)

    def write_fingerprints(self, run: Run) -> None:
        """Write fingerprints to a new file."""
        number = self.first + len(self.runs)
        name = f"{RECORDS}/part-{number:05}{self.folder.mark}.bin"
        file = self.folder.new(name)
        try:
            file.write(run.fingerprints.tobytes())
            file.close()
        finally:
            file.give_up()
        self.runs.append(NamedRun(name, len(run.fingerprints), run.days, file.sha256))

    def finish_fingerprints(self) -> None:
        """Write the remaining fingerprints, merged with short existing files.

        Without merging, the number of files would grow with each run.
        """
        run, kept = self.recorder.take(), [*self.kept]
        while run.fingerprints.size and kept:
            last = kept.pop()
            together = last.records + len(run.fingerprints)
            is_long = last.records > 2 * len(run.fingerprints) or together > self.limits.merged
            if is_long or last.days is None or run.days is None:
                break
            run = _merged(Run(read_run(self.folder.path / last.name), last.days), run)
            self.gone.add(last.name)
        if run.fingerprints.size:
            self.write_fingerprints(run)

    def not_known(self, met: DamageLog) -> DamageLog:
        """Return the part of `met` that the dataset does not contain yet."""
        new = [each for each in met.details if not self.is_known(damage_key(each))]
        return DamageLog(details=new, count=met.count - len(met.details) + len(new))


def rows_of(written: Iterable[NamedFile]) -> dict[str, int]:
    """Return the number of rows of each table."""
    rows = dict.fromkeys(table_names(), 0)
    for each in written:
        rows[each.table] += each.rows
    return rows


def are_files(sources: Iterable[Source]) -> bool:
    """Whether all inputs are SMF files."""
    return all(isinstance(each, SmfFile) for each in sources)


def news_of(inputs: Inputs, made: Making, written: Sequence[NamedFile]) -> News:
    """Return the changes to the manifest, to be committed when all files of a run are written.

    Raises InputError if an input was changed during the run.
    """
    has_records = are_files(inputs.sources)
    if has_records:
        made.finish_fingerprints()
    names = [*(each.name for each in written), *(each.name for each in made.runs)]
    new = made.not_known(inputs.met)
    head = {
        "smfparse": __version__,
        "selection": inputs.selected,
        "partitioned": made.layout.by_day,
        "types": SIGNED if made.form.is_signed else EXACT,
        "tables": rows_of(written),
        "duplicates": inputs.duplicates,
        "unknown_bytes": dict(inputs.log.unknown),
        "damage_count": new.count,
        "fingerprints": made.form.has_fingerprints,
        "has_records": has_records,
        "next": 1 + max([made.first, *map(part_number, names)]),
    }
    return News(
        head if made.old is None else _summed(made.old, head),
        inputs=[_described(each, inputs, made) for each in inputs.sources],
        files=written,
        runs=made.runs,
        damage=map(damage_key, new.details),
        gone=None if made.old is None else frozenset(made.gone),
    )


def _described(source: Source, inputs: Inputs, made: Making) -> dict[str, Any]:
    if not isinstance(source, SmfFile):
        assert isinstance(source, Dataset)
        return {"name": source.name, "inputs": called_otherwise(source.inputs, source.called)}
    before = made.read[source.path]
    if are_files(inputs.sources):
        found = str(made.recorder.identities[source.path])
    else:
        found = before.identity
    before.check()
    return {
        "name": source.name,
        "bytes": before.stamp.size,
        "identity": found,
        "smfparse": __version__,
        "duplicates": inputs.log.duplicates.get(source.path, 0),
    }


def _summed(old: Manifest, new: Manifest) -> Manifest:
    return new | {
        "tables": {table: old["tables"][table] + new["tables"][table] for table in table_names()},
        "duplicates": old["duplicates"] + new["duplicates"],
        "unknown_bytes": dict(Counter(old["unknown_bytes"]) + Counter(new["unknown_bytes"])),
        "damage_count": old["damage_count"] + new["damage_count"],
    }
