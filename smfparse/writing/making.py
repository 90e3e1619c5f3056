"""A dataset, or files that are added to one, while it is written."""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

from smfparse.decoding import NO_RECORDS, Days, Fingerprints, Identity, Recorder, Seen, read_run
from smfparse.errors import Damage, DamageLog
from smfparse.limits import Limits
from smfparse.places import Place
from smfparse.store import RECORDS, AnyFolder, Form, Layout, Manifest, day_name
from smfparse.writing.originals import Original
from smfparse.writing.placing import write_new

if TYPE_CHECKING:
    from concurrent.futures import Executor

DamageKey: TypeAlias = tuple[str, int, str]
"""Source, byte and reason of what could not be used."""
_MOST_DAYS = 1000
"""Days of the records of a file of fingerprints: no system works so long without a dump."""


class Run(NamedTuple):
    """Fingerprints of records: day after day, and ascending in each.

    days  how many there are of each day, by its name; None: they ascend over all days
    """

    fingerprints: Fingerprints
    days: dict[str, int] | None


def by_day(found: Fingerprints, days: Days) -> Run:
    """Return fingerprints of records with these dates as they are written."""
    order = np.argsort(days, kind="stable")
    names, starts = np.unique(days[order], return_index=True)
    if len(names) > _MOST_DAYS:
        return Run(np.sort(found), None)
    ordered = found[order]
    for start, end in itertools.pairwise([*starts.tolist(), len(ordered)]):
        ordered[start:end].sort()
    counts = np.diff([*starts, len(ordered)]).tolist()
    return Run(ordered, dict(zip(map(day_name, names.tolist()), counts, strict=True)))


@dataclass(frozen=True)
class KnownDamage:
    """What could not be used of the inputs of a dataset.

    recent   what is in the files that the head of its manifest names
    earlier  whether something is in others
    """

    recent: frozenset[DamageKey]
    earlier: Callable[[DamageKey], bool] = lambda _key: False

    def __contains__(self, key: DamageKey) -> bool:
        return key in self.recent or self.earlier(key)


def damage_keys(damage: DamageLog) -> frozenset[DamageKey]:
    """Return the keys of what could not be used, as far as it has details."""
    return frozenset(map(_key, damage.details))


def _key(damage: Damage) -> DamageKey:
    return damage.source, damage.offset, damage.reason


def _put_together(one: Run, other: Run) -> Run:
    """Return the fingerprints of two runs of which the days are known."""
    both = (one.days or {}), (other.days or {})
    days = [np.repeat([int(day, 16) for day in each], [*each.values()]) for each in both if each]
    some = np.concatenate([one.fingerprints, other.fingerprints])
    return by_day(some, np.concatenate(days).astype(np.int32))


class Runs(Recorder):
    """Fingerprints of records as a dataset keeps them, and the identities of their files.

    hand_on  takes many fingerprints of records that are not left out
    most     how many are held before they are handed on
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
        """Return those that are held, and start anew."""
        found = np.concatenate([NO_RECORDS, *(each.fingerprints[each.kept] for each in self.seen)])
        days = np.concatenate(
            [np.zeros(0, np.int32), *(each.days[each.kept] for each in self.seen)]
        )
        self.seen.clear()
        self._held = 0
        return by_day(found, days)


@dataclass
class Making:
    """A dataset, or files that are added to one, while it is written.

    layout        its folders
    first         number of the first part: no file has it yet
    read          the SMF files that are read
    limits        how much is held and open
    form          how columns are written
    old           head of the manifest that is added to; None: a new one, with one file per table
    damage        what could not be used of the inputs of that dataset
    replaced      files that go when the manifest is there, if it does not name them; None: all that
                  it does not name
    executor      decodes and writes; None: processes of ours
    fingerprints  files of fingerprints that were written: name to how many it has
    days          how many of each day these have
    sums          their checksums
    """

    folder: AnyFolder
    layout: Layout
    first: int
    read: Mapping[Place, Original]
    limits: Limits
    form: Form
    old: Manifest | None = None
    damage: KnownDamage = field(default_factory=lambda: KnownDamage(frozenset()))
    executor: Executor | None = None
    fingerprints: dict[str, int] = field(default_factory=dict)
    days: dict[str, dict[str, int]] = field(default_factory=dict)
    sums: dict[str, str] = field(default_factory=dict)
    replaced: frozenset[str] | None = field(default=None, init=False)
    recorder: Runs = field(init=False)

    def __post_init__(self) -> None:
        self.recorder = Runs(self.write_fingerprints, self.limits.fingerprints)

    def write_fingerprints(self, run: Run) -> None:
        """Write fingerprints as a file."""
        name = f"{RECORDS}/part-{self.first + len(self.fingerprints):05}.bin"
        data = run.fingerprints.tobytes()
        self.sums[name] = write_new(self.folder, f"{self.folder.partial}/{name}", data)
        self.fingerprints[name] = len(run.fingerprints)
        if run.days is not None:
            self.days[name] = run.days

    def finish_fingerprints(self) -> dict[str, int]:
        """Write what is left; return all files of fingerprints and how many each has.

        Short files are put together, so there are few, however often files are added.
        """
        kept: dict[str, int] = {} if self.old is None else dict(self.old["records"])
        run = self.recorder.take()
        while run.fingerprints.size and kept:
            name, length = kept.popitem()
            together = length + len(run.fingerprints)
            days = self.old and self.old["record_days"].get(name)
            is_long = length > 2 * len(run.fingerprints) or together > self.limits.merged
            if is_long or days is None or run.days is None:
                kept[name] = length
                break
            run = _put_together(Run(read_run(self.folder.path / name), days), run)
        if run.fingerprints.size:
            self.write_fingerprints(run)
        return kept | self.fingerprints

    def not_known(self, met: DamageLog) -> DamageLog:
        """Return what could not be used, less what is noted in the dataset that is added to."""
        new = [each for each in met.details if _key(each) not in self.damage]
        return DamageLog(details=new, count=met.count - len(met.details) + len(new))
