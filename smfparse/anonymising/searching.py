"""Search for many names in one pass over bytes, at any position; short names are only counted."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import numpy as np

from smfparse.anonymising.pseudonyms import LEAST
from smfparse.layout.texts import ENCODING
from smfparse.vectors import Bools, Bytes, Ints, each_of, gather

_ASCII = "latin-1"


class Finder:
    """Finds texts, in EBCDIC and in ASCII, and their replacements of the same length.

    The texts must have at least LEAST characters, because the first search compares LEAST bytes.
    """

    def __init__(self, replaced: Mapping[str, str]) -> None:
        pairs = {
            old.encode(encoding): new.encode(encoding)
            for encoding in (_ASCII, ENCODING)
            for old, new in replaced.items()
        }
        self._by_length: dict[int, tuple[Bytes, Bytes]] = {}
        for length in sorted({len(old) for old in pairs}, reverse=True):
            some = sorted((old, new) for old, new in pairs.items() if len(old) == length)
            old, new = (np.frombuffer(b"".join(each), np.uint8) for each in zip(*some, strict=True))
            self._by_length[length] = old.reshape(-1, length), new.reshape(-1, length)
        self._keys = np.unique(np.frombuffer(b"".join(old[:LEAST] for old in pairs), "u4"))
        self._first = np.zeros(1 << 16, np.bool_)
        self._first[self._keys.view("u2")[::2]] = True

    def found(self, buffer: Bytes, start: int, end: int) -> Iterator[tuple[Ints, Bytes]]:
        """Yield, for each length, the places of texts in buffer[start:end] and their replacements.

        Of overlapping texts, the longest is found. Shapes: int64 (found,), uint8 (found, length).
        """
        at = self._candidates(buffer, start, end)
        used = np.zeros(0, np.int64)
        for length, (old, new) in self._by_length.items():
            some = at[at + length <= end]
            which = _which(gather(buffer, some, length), old) if some.size else some
            some, which = some[which >= 0], which[which >= 0]
            clear = ~_overlap(some, length, used)
            some, which = some[clear], which[clear]
            used = np.union1d(used, each_of(some, length).ravel())
            if some.size:
                yield some, new[which]

    def _candidates(self, buffer: Bytes, start: int, end: int) -> Ints:
        if end - start < LEAST or not self._keys.size:
            return np.zeros(0, np.int64)
        pairs = np.ndarray((end - start - 1,), "u2", buffer, offset=start, strides=(1,))
        at = np.flatnonzero(self._first[pairs])
        at = at[at + LEAST <= end - start] + start
        keys = gather(buffer, at, LEAST).view("u4")[:, 0] if at.size else at
        place = np.minimum(np.searchsorted(self._keys, keys), self._keys.size - 1)
        found: Ints = at[self._keys[place] == keys]
        return found


class ShortNames:
    """Counts texts of fewer than LEAST characters, in EBCDIC and in ASCII.

    Such short texts are only counted, not replaced, because they also occur by chance.
    """

    def __init__(self, texts: Iterable[str]) -> None:
        encoded = {each.encode(encoding) for encoding in (_ASCII, ENCODING) for each in texts}
        self._known = {
            length: np.sort([int.from_bytes(each) for each in encoded if len(each) == length])
            for length in sorted({len(each) for each in encoded})
        }

    def count(self, buffer: Bytes, start: int, end: int, fields: Bools | None = None) -> int:
        """Return the number of texts in buffer[start:end] that are outside `fields`."""
        return sum(
            self._count(buffer, start, end, fields, length)
            for length in self._known
            if end - start >= length
        )

    def _count(self, buffer: Bytes, start: int, end: int, fields: Bools | None, length: int) -> int:
        known = self._known[length]
        begins = np.isin(np.arange(256), known >> 8 * (length - 1))
        at = np.flatnonzero(begins[buffer[start : end - length + 1]]) + start
        keys = buffer[at].astype(np.int64)
        for behind in range(1, length):
            keys = keys << 8 | buffer[at + behind]
        at = at[np.isin(keys, known)]
        if fields is not None:
            at = at[~fields[each_of(at, length)].any(axis=1)]
        return int(at.size)


def _which(rows: Bytes, among: Bytes) -> Ints:
    """Return the index of each row in the sorted rows `among`; -1: not found."""
    kind = f"S{rows.shape[1]}"
    known = np.frombuffer(among.tobytes(), kind)
    seen = np.frombuffer(rows.tobytes(), kind)
    place = np.minimum(np.searchsorted(known, seen), known.size - 1)
    same = (among[place] == rows).all(axis=1)
    return np.where(same, place, -1)


def _overlap(at: Ints, length: int, used: Ints) -> Bools:
    """Return which texts of a length overlap bytes in `used`, or the previous text."""
    first, behind = np.searchsorted(used, at), np.searchsorted(used, at + length)
    near = np.zeros(at.size, np.bool_)
    near[1:] = np.diff(at) < length
    return (behind > first) | near
