"""The records of several kinds in the order in which they were written."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from smfparse.synthetic.draws import Ints, numbered
from smfparse.synthetic.records import Envelope, RecordParts, Writers

PIECE = 1000
"""Records that are put together at a time."""
_FIRST_COUNT = 1_390_000

Before = Callable[[tuple[int, int] | None, Ints], Ints]
"""How many records writers wrote before these: of a kind, None: of all; and how many these are."""


def first_count(qmgrs: int) -> Ints:
    """Return how many records queue managers wrote before a file starts."""
    count: Ints = _FIRST_COUNT * (1 + np.arange(qmgrs))
    return count


def with_counts(
    kinds: Sequence[RecordParts],
    writers: int,
    before: Before,
    writer: Callable[[Writers], Ints] = lambda of: of.qmgr,
) -> list[RecordParts]:
    """Give each record its number among those of its kind, and among all of its writer.

    writers  how many writers there are
    writer   the number of the writer of each record: its queue manager, or one of its runs
    """

    def numbers(record: tuple[int, int] | None, own: Ints, when: Ints) -> Ints:
        every = np.bincount(own, minlength=writers)
        number = np.empty(len(own), np.int64)
        number[np.lexsort((when, own))] = numbered(every)
        found: Ints = number + before(record, every)[own]
        return found

    owners = [writer(kind.writers) for kind in kinds]
    when = np.concatenate([kind.writers.when for kind in kinds])
    ends = np.cumsum([len(each) for each in owners])[:-1]
    total = np.split(numbers(None, np.concatenate(owners), when), ends)
    return [
        replace(
            kind,
            writers=replace(
                kind.writers, count=(numbers(kind.record, own, kind.writers.when), each)
            ),
        )
        for kind, own, each in zip(kinds, owners, total, strict=True)
    ]


def in_order(envelope: Envelope, kinds: Sequence[RecordParts]) -> Iterator[memoryview]:
    """Give records by the time at which they were written, each with its RDW.

    They are put together piece by piece, for a whole interval of many tasks is large.
    """
    which = np.repeat(np.arange(len(kinds)), [len(kind.writers.when) for kind in kinds])
    rows = np.concatenate([np.arange(len(kind.writers.when)) for kind in kinds])
    order = np.argsort(np.concatenate([kind.writers.when for kind in kinds]), kind="stable")
    for at in range(0, len(order), PIECE):
        piece = order[at : at + PIECE]
        yield from _piece(envelope, kinds, which[piece], rows[piece])


def _piece(
    envelope: Envelope, kinds: Sequence[RecordParts], which: Ints, rows: Ints
) -> list[memoryview]:
    records = [memoryview(b"")] * len(rows)
    for number, kind in enumerate(kinds):
        mine = np.flatnonzero(which == number)
        if not len(mine):
            continue
        for group in envelope.records(kind, rows[mine]):
            data, length = group.raw.reshape(-1).data, group.raw.shape[1]
            for nth, place in enumerate(mine[group.place].tolist()):
                records[place] = data[nth * length : (nth + 1) * length]
    return records
