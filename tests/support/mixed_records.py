"""Short records of all sorts that know of each other: clocks, stubs, tasks and their queues."""

from __future__ import annotations

import datetime as dt
import random
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from tests.support import builders, smf
from tests.support.builders import UTC_NOON

TABLES = ("record", "qist", "qsph", "wtid", "wtas", "wqst")
"""The tables that have rows of such records."""
KINDS = ("clock", "clock", "stub", "foreign", "task", "queues", "queues", "wrong", "unknown")
_NOON = UTC_NOON.replace(tzinfo=None)


@dataclass(frozen=True)
class Each:
    """One record.

    kind    of KINDS
    system  number of its system, to which belong its queue managers
    token   of its task
    hours   that the clock of the system is ahead
    cuts    bytes at which it is split into segments
    """

    kind: str
    system: int
    token: int
    hours: int
    cuts: tuple[int, ...] = ()

    def pieces(self) -> list[bytes]:
        data = self._data()
        cuts = sorted({cut for cut in self.cuts if cut < len(data) - 4})
        return builders.segments(data, cuts) if cuts else [data]

    def body(self) -> bytes:
        return self._data()[4:]

    def _data(self) -> bytes:
        system, local = f"SYS{self.system}", _NOON + dt.timedelta(hours=self.hours)
        if self.kind == "foreign":
            return builders.foreign_record(30, local, system)
        smf_type, subtype, area, *blocks = self._content()
        keys: dict[str, Any] = {"local": local, "system": system, "qmgr": f"QM{self.token % 2}"}
        sections = map(builders.Section, blocks)
        return builders.smf_record(smf_type, subtype, *sections, area=area, **keys)

    def _content(self) -> tuple[Any, ...]:
        """Return type, subtype, the QWHS, and the blocks of each triplet."""
        qist, area = builders.named_block("QIST", 80), builders.qwhs_long(triplets=3)
        match self.kind:
            case "clock":
                return 115, 2, area, [], [qist]
            case "stub":
                return 115, 5, builders.stub(), [builders.named_block("QSPH", 88)]
            case "wrong":
                return 115, 2, area, [], [builders.named_block("NONE", 80), qist]
            case "unknown":
                return 115, 99, bytes(8), [qist]
        token, who = self.token.to_bytes(16, "big"), [builders.named_block("WTID", 208)]
        queue = smf.queue(f"Q{self.hours % 3}", token, version=1)
        if self.kind == "queues":
            return 116, 2, builders.qwhs_short(triplets=3), who, [queue] * 2
        ended = UTC_NOON + dt.timedelta(minutes=self.hours)
        task = smf.task(token, wtasints=UTC_NOON, wtasinte=ended, length=712)
        return 116, 1, builders.qwhs_short(triplets=4), who, [task], [queue]


def several(most: int, *kinds: str) -> st.SearchStrategy[list[Each]]:
    """Return the strategy for some records, a few of which are spanned."""
    each = st.builds(
        Each,
        st.sampled_from(kinds or KINDS),
        st.integers(0, 2),
        st.integers(0, 3),
        st.integers(-5, 5),
        st.one_of(st.just(()), st.just(()), st.lists(st.integers(30, 600), max_size=4).map(tuple)),
    )
    return st.lists(each, min_size=1, max_size=most)


def many(count: int, seed: int) -> list[Each]:
    """Return some records, the same ones for the same seed."""
    chance, found = random.Random(seed), []
    for _ in range(count):
        kind, system, token = chance.choice(KINDS), chance.randrange(3), chance.randrange(4)
        hours, pieces = chance.randrange(-5, 6), chance.choice([0, 0, 1, 4])
        found.append(Each(kind, system, token, hours, tuple(chance.sample(range(30, 600), pieces))))
    return found


def overlapping(folder: Path, count: int, seed: int, shared: range) -> list[Path]:
    """Write two dumps of `many` records, one.smf and two.smf, which both have those of `shared`."""
    records = [b"".join(each.pieces()) for each in many(count, seed)]
    begin, found = builders.foreign_record(2, _NOON), []
    for name, some in (("one", records[: shared.stop]), ("two", records[shared.start :])):
        found.append(builders.put(folder / f"{name}.smf", begin, *some))
    return found


def written(records: Sequence[Each]) -> tuple[bytes, list[int]]:
    """Return the bytes of a file of records, and where each starts."""
    data = [b"".join(each.pieces()) for each in records]
    return b"".join(data), [0, *accumulate(map(len, data[:-1]))]
