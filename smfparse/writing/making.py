"""The state of a run that writes a dataset, or adds files to a dataset."""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from smfparse.decoding.fingerprinting import (
    NO_RECORDS,
    Days,
    Fingerprints,
    Identity,
    Recorder,
    Seen,
    read_run,
)
from smfparse.errors import Damage, DamageLog
from smfparse.limits import Limits
from smfparse.places.kinds import Place
from smfparse.store.hive import Layout, day_name
from smfparse.store.manifest import RECORDS, Manifest, NamedRun
from smfparse.store.objects import AnyFolder
from smfparse.store.parquet import Form
from smfparse.store.writer import DamageKey
from smfparse.writing.originals import Original

if TYPE_CHECKING:
    from concurrent.futures import Executor

_MOST_DAYS = 1000
"""Maximum number of days in a file with day counts: a dump rarely contains more."""


class Run(NamedTuple):
    """Fingerprints of records: day after day, and ascending within each day.

    days  {day: number of fingerprints}; None: the fingerprints ascend over all days
    """

    fingerprints: Fingerprints
    days: dict[str, int] | None


def by_day(found: Fingerprints, days: Days) -> Run:
    """Return the run of fingerprints; `days` contains the date of each record."""
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
    """Return the key that identifies a damage in a manifest."""
    return damage.source, damage.offset, damage.reason


def _merged(one: Run, other: Run) -> Run:
    both = (one.days or {}), (other.days or {})
    days = [np.repeat([int(day, 16) for day in each], [*each.values()]) for each in both if each]
    some = np.concatenate([one.fingerprints, other.fingerprints])
    return by_day(some, np.concatenate(days).astype(np.int32))


class Runs(Recorder):
    """Collects the fingerprints of records for a dataset, and the identities of the records' files.

    hand_on  function that gets the collected fingerprints, without duplicates
    most     number of collected fingerprints from which `hand_on` is called
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
    read          SMF files that are read, by path
    limits        limits of buffered bytes and of open files
    form          form of the written columns
    executor      decodes and writes; None: processes of this run
    old           properties of the dataset to which files are added; None: a new dataset, with at
                  least one file per table
    kept          existing files of fingerprints
    is_known      returns whether the dataset already contains a damage
    runs          written files of fingerprints
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
        """Write the remaining fingerprints.

        They are merged with short existing files, so the number of files does not grow with each
        run.
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
        """Return the damage that the dataset does not contain yet."""
        new = [each for each in met.details if not self.is_known(damage_key(each))]
        return DamageLog(details=new, count=met.count - len(met.details) + len(new))
