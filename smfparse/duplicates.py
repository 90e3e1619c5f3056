"""Records that are in several dumps, so that they are counted once.

A dump begins at each SMF type 2 record, the dump header; what stands before the first is one too,
and a file begins one. A record is a duplicate when an earlier dump, of the same file or of one that
is named before it, has a record with the same bytes behind the RDW. Records of one dump are all
kept, however alike they are.

They are looked for in two passes over the files. The first looks at nothing but SMF headers: a
record that has header and length of no record in another dump is no duplicate. So where dumps do
not overlap the second pass, which compares whole records by their digest, is not needed.
"""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from smfparse.arrays import Bools, Bytes, Ints, gather
from smfparse.errors import DamageLog
from smfparse.framing import Chunk
from smfparse.headers import SUBTYPE_END, begins_dump
from smfparse.inputs import Input
from smfparse.walks import RDW_SIZE

Keys: TypeAlias = NDArray[np.uint64]
"""Numbers made of SMF header and length: those of equal records are equal."""
Digests: TypeAlias = NDArray[np.bytes_]
"""SHA-256 of whole records, cut to DIGEST_BYTES; dtype S12."""

DIGEST_BYTES = 12
"""Of ten million different records two have the same digest with a chance of 1 in 10**15."""
_DIGEST = f"S{DIGEST_BYTES}"
_NO_KINDS = np.zeros(0, np.int64)
_MIX, _FOLD = np.uint64(0x9E3779B97F4A7C15), np.uint64(32)
_BLOCK = 1 << 16
"""Keys that are looked at at once."""


class Duplicates:
    """The duplicates in SMF files, looked for once, when it turns out that there may be any.

    files  in the order in which they are read
    """

    def __init__(self, files: Sequence[Input]) -> None:
        self.files = tuple(files)
        self._found: dict[Path, Ints] | None = None

    def find(self) -> None:
        """Look for duplicates in all files, unless that is done."""
        if self._found is None:
            self._found = find(self.files)

    def count(self, path: Path) -> int:
        """Return how many records of a file are duplicates, as far as that is known."""
        return 0 if self._found is None else len(self._found[path])

    def left_out(self, path: Path, found: Iterable[Chunk]) -> Iterator[Chunk]:
        """Leave the duplicates out of chunks of a file.

        Nothing is looked for before the second dump: what was in the first is no duplicate.
        """
        first = path == self.files[0].path
        for chunk in found:
            if self._found is None and (not first or chunk.goes_on_with_a_dump):
                self.find()
            left = chunk if self._found is None else _without(chunk, self._found[path])
            if len(left.start):
                yield left


def _without(chunk: Chunk, numbers: Ints) -> Chunk:
    """Leave out of a chunk the records with these numbers, that ascend."""
    first, last = np.searchsorted(numbers, chunk.record_no[[0, -1]] + [0, 1])
    if first == last:
        return chunk
    return chunk.where(~np.isin(chunk.record_no, numbers[first:last]))


def find(files: Sequence[Input]) -> dict[Path, Ints]:
    """Return the numbers of the duplicates in each of some SMF files: int64, ascending.

    Up to 16 bytes are kept a record. Raises InputError where a file cannot be read.
    """
    several, suspects = _candidates(files)
    keys = several.copy()
    del several  # it holds the memory of all keys
    found = {each.path: np.zeros(0, np.int64) for each in files}
    if len(keys):
        earlier = _Earlier()
        for file in suspects:
            found[file.path] = _duplicates(file, keys, earlier)
    return found


def _candidates(files: Sequence[Input]) -> tuple[Keys, list[Input]]:
    """Return keys that are in several dumps, ascending, and the files that have any of them."""
    keys = [_keys_of_dumps(each) for each in files]
    several = _several(np.concatenate(keys))
    having = [each for each, own in zip(files, keys, strict=True) if _any_of(own, several)]
    return several, having


def _keys_of_dumps(file: Input) -> Keys:
    """Return the keys of the records of a file, each once a dump."""
    dumps: list[Keys] = []
    own: list[Keys] = []
    for begins, chunk in _by_dump(file, _NO_KINDS):
        if begins and own:
            dumps.append(_once(own))
        own.append(_keys(chunk))
    return np.concatenate([*dumps, _once(own)])


def _once(parts: list[Keys]) -> Keys:
    """Take keys out of a list; return each once."""
    keys = np.concatenate([np.zeros(0, np.uint64), *parts])
    parts.clear()
    keys.sort()
    new = np.ones(len(keys), np.bool_)
    new[1:] = keys[1:] != keys[:-1]
    return keys[new]


def _several(keys: Keys) -> Keys:
    """Return the keys that are there more than once, ascending, in the memory of `keys`."""
    keys.sort()
    count = 0
    for at in range(0, len(keys), _BLOCK):
        block = keys[at : at + _BLOCK + 1]
        found = np.unique(block[1:][block[1:] == block[:-1]])
        keys[count : count + len(found)] = found
        count += len(found)
    return keys[:count]


def _any_of(keys: Keys, wanted: Keys) -> bool:
    """Whether any of `keys` is among those that are wanted."""
    blocks = (keys[at : at + _BLOCK] for at in range(0, len(keys), _BLOCK))
    return any(_among(each, wanted).any() for each in blocks)


def _among(values: NDArray[np.generic], ascending: NDArray[np.generic]) -> Bools:
    """Return which values are among those that ascend."""
    if not len(ascending):
        return np.zeros(len(values), np.bool_)
    place = np.minimum(np.searchsorted(ascending, values), len(ascending) - 1)
    found: Bools = ascending[place] == values
    return found


def _by_dump(file: Input, kinds: Ints | None = None) -> Iterator[tuple[bool, Chunk]]:
    """Yield the records of a file, cut where a dump begins, and whether one does there.

    kinds  as in `chunks`
    """
    first = True
    for chunk in file.chunks(DamageLog(), kinds=kinds):
        headers = np.flatnonzero(begins_dump(chunk.buffer, chunk.start))
        edges = [0, *headers[headers > 0].tolist(), len(chunk.start)]
        for start, end in itertools.pairwise(edges):
            yield first or start in headers, chunk.where(slice(start, end))
            first = False


def _keys(chunk: Chunk) -> Keys:
    """Return the key of each record: the bytes behind the RDW up to the subtype, and the length.

    These are in one piece, also where the rest of a record is not.
    """
    header = gather(chunk.buffer, chunk.start + RDW_SIZE, SUBTYPE_END - RDW_SIZE)
    short = np.flatnonzero(chunk.length < SUBTYPE_END)
    header[short] *= np.arange(RDW_SIZE, SUBTYPE_END) < chunk.length[short, None]
    keys = chunk.length.astype(np.uint64)
    for word in header.view(np.uint32).T:
        keys = (keys ^ word) * _MIX
        keys ^= keys >> _FOLD
    return keys


class _Earlier:
    """Digests of records of earlier dumps, in runs that ascend, each much longer than the next."""

    def __init__(self) -> None:
        self._runs: list[Digests] = []

    def add(self, parts: list[Digests]) -> None:
        """Take the digests of a dump out of a list."""
        run = np.concatenate([np.zeros(0, _DIGEST), *parts])
        parts.clear()
        if not len(run):
            return
        while self._runs and len(self._runs[-1]) < 2 * len(run):
            run = np.concatenate([self._runs.pop(), run])
        run.sort()
        self._runs.append(run)

    def have(self, digests: Digests) -> Bools:
        """Return which of some digests are here."""
        found = np.zeros(len(digests), np.bool_)
        for run in self._runs:
            found |= _among(digests, run)
        return found


def _duplicates(file: Input, keys: Keys, earlier: _Earlier) -> Ints:
    """Return the numbers of the duplicates of a file; add its other records to the earlier ones.

    keys  those, ascending, of records that may be duplicates, or the records that these repeat
    """
    numbers: list[Ints] = []
    own: list[Digests] = []
    for begins, chunk in _by_dump(file):
        if begins:
            earlier.add(own)
        candidates = chunk.where(_among(_keys(chunk), keys))
        digests = _digests(candidates)
        again = earlier.have(digests)
        numbers.append(candidates.record_no[again])
        own.append(digests[~again])
    earlier.add(own)
    return np.concatenate(numbers)


def _digests(chunk: Chunk) -> Digests:
    """Return the digest of each record of a chunk: of all its bytes behind the RDW."""
    data: Bytes = chunk.buffer
    view = memoryview(data.data)
    ends = (chunk.start + chunk.length).tolist()
    places = zip((chunk.start + RDW_SIZE).tolist(), ends, strict=True)
    made = [hashlib.sha256(view[start:end]).digest()[:DIGEST_BYTES] for start, end in places]
    return np.array(made, _DIGEST)
