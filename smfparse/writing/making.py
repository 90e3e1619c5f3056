"""A dataset, or files that are added to one, while it is written."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from smfparse.decoding import NO_RECORDS, Fingerprints, Identity, Recorder, Seen, read_run
from smfparse.errors import Damage, DamageLog
from smfparse.limits import Limits
from smfparse.places import Place
from smfparse.store import PARTIAL, RECORDS, AnyFolder, Manifest
from smfparse.writing.originals import Original
from smfparse.writing.placing import write_new

if TYPE_CHECKING:
    from concurrent.futures import Executor

DamageKey: TypeAlias = tuple[str, int, str]
"""Source, byte and reason of what could not be used."""


def damage_keys(damage: DamageLog) -> frozenset[DamageKey]:
    """Return the keys of what could not be used, as far as it has details."""
    return frozenset(map(_key, damage.details))


def _key(damage: Damage) -> DamageKey:
    return damage.source, damage.offset, damage.reason


class Runs(Recorder):
    """Fingerprints of records as a dataset keeps them, and the identities of their files.

    hand_on  takes many fingerprints, ascending, of records that are not left out
    most     how many are held before they are handed on
    """

    def __init__(self, hand_on: Callable[[Fingerprints], None], most: int) -> None:
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

    def take(self) -> Fingerprints:
        """Return those that are held, ascending, and start anew."""
        found = np.concatenate([NO_RECORDS, *(each.fingerprints[each.kept] for each in self.seen)])
        self.seen.clear()
        self._held = 0
        found.sort()
        return found


@dataclass
class Making:
    """A dataset, or files that are added to one, while it is written.

    first         number of the first part: no file has it yet
    read          the SMF files that are read
    limits        how much is held and open
    old           manifest of the dataset that is added to; None: a new one, with one file per table
    damage        what could not be used of the inputs of that dataset
    executor      decodes and writes; None: processes of ours
    fingerprints  sorted files of fingerprints that were written: name to how many it has
    sums          their checksums
    """

    folder: AnyFolder
    partitioned: bool
    first: int
    read: Mapping[Place, Original]
    limits: Limits
    old: Manifest | None = None
    damage: frozenset[DamageKey] = frozenset()
    executor: Executor | None = None
    fingerprints: dict[str, int] = field(default_factory=dict)
    sums: dict[str, str] = field(default_factory=dict)
    recorder: Runs = field(init=False)

    def __post_init__(self) -> None:
        self.recorder = Runs(self.write_fingerprints, self.limits.fingerprints)

    def write_fingerprints(self, some: Fingerprints) -> None:
        """Write fingerprints, which ascend, as a file."""
        name = f"{RECORDS}/part-{self.first + len(self.fingerprints):05}.bin"
        self.sums[name] = write_new(self.folder, f"{PARTIAL}/{name}", some.tobytes())
        self.fingerprints[name] = len(some)

    def finish_fingerprints(self) -> dict[str, int]:
        """Write what is left; return all files of fingerprints and how many each has.

        Short files are put together, so there are few, however often files are added.
        """
        kept: dict[str, int] = {} if self.old is None else dict(self.old["records"])
        some = self.recorder.take()
        while some.size and kept:
            name, length = kept.popitem()
            if length > 2 * len(some) or length + len(some) > self.limits.merged:
                kept[name] = length
                break
            some = np.sort(np.concatenate([read_run(self.folder.path / name), some]))
        if some.size:
            self.write_fingerprints(some)
        return kept | self.fingerprints

    def not_known(self, met: DamageLog) -> DamageLog:
        """Return what could not be used, less what is noted in the dataset that is added to."""
        new = [each for each in met.details if _key(each) not in self.damage]
        return DamageLog(details=new, count=met.count - len(met.details) + len(new))
