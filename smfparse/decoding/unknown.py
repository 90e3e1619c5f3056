"""Bytes of MQ records that no column knows."""

from __future__ import annotations

from collections import Counter

import numpy as np

from smfparse.decoding.index import KNOWN_RECORDS
from smfparse.decoding.records import Records
from smfparse.reading import MOST_TRIPLETS
from smfparse.schemas import REGISTRY
from smfparse.vectors import Ints


def unknown_bytes(records: Records) -> Counter[str]:
    """Return how many bytes of which block or section of MQ records are not known to any column.

    That is the tail of blocks longer than their map, blocks of a length whose map is not known, and
    sections that are IBM-internal.
    """
    found = records.sections()
    known, whole = _KNOWN[records.kind[found.row], found.number].T
    tail = np.maximum(found.length - known, 0)
    size = np.where(whole & (found.length != known), found.length, tail) * found.fits
    place = records.kind[found.row] * MOST_TRIPLETS + found.number
    sums = np.bincount(place, size, len(_KNOWN) * MOST_TRIPLETS)
    names: Counter[str] = Counter()
    for index in np.flatnonzero(sums):
        names[_section(*divmod(int(index), MOST_TRIPLETS))] += int(sums[index])
    return names


def _section(kind: int, number: int) -> str:
    record = KNOWN_RECORDS[kind]
    block = REGISTRY[record].get(number)
    return f"{record[0]}/{record[1]} triplet {number}" if block is None else block.name


def _known() -> Ints:
    """Return how long a block is known to be, and whether (1) only if it is that long.

    int64 (kinds of record, triplets, 2): zero and 0 where no block is known
    """
    found = np.zeros((len(KNOWN_RECORDS), MOST_TRIPLETS, 2), np.int64)
    for kind, record in enumerate(KNOWN_RECORDS):
        for number, block in REGISTRY[record].items():
            whole = block.only_whole or block.kept_length is not None
            found[kind, number] = block.kept_length or block.size, whole
    return found


_KNOWN = _known()
