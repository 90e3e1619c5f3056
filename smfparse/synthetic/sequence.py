"""The records of several kinds in the order in which they were written."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from smfparse.synthetic.draws import Ints
from smfparse.synthetic.records import Envelope, RecordParts

PIECE = 1000
"""Records that are put together at a time."""


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
