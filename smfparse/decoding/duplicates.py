"""Records that are in several dumps, so that they are counted once.

A dump begins at each SMF type 2 record, the dump header; what stands before the first is one too,
and a file begins one. A record is a duplicate when an earlier dump, of the same file or of one that
is named before it, has a record with the same bytes behind the RDW. Records of one dump are all
kept, however alike they are.

They are looked for in two passes over the files. The first looks at nothing but SMF headers: a
record that has header and length of no record in another dump cannot be a duplicate. So where dumps
do not overlap the second pass, which compares whole records by their fingerprint, is not needed.

What a dataset keeps of its records is their fingerprints, in files that ascend: runs. They are an
earlier dump to files that are added to it.
"""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from smfparse.errors import DamageLog
from smfparse.limits import LIMITS
from smfparse.reading import RDW_SIZE, SUBTYPE_END, Chunk, Input, begins_dump
from smfparse.vectors import Bools, Bytes, Ints, gather

RecordHashes: TypeAlias = NDArray[np.uint64]
"""Numbers made of SMF header and length: those of equal records are equal."""
Fingerprints: TypeAlias = NDArray[np.bytes_]
"""Hash, its highest byte first, and digest of records: dtype S16; they ascend as the hashes do."""

DIGEST_BYTES = 8
"""Bytes of the SHA-256 of a record that are used: two that differ, but neither in header nor in
length, have the same with a chance of 1 in 10**19."""
FINGERPRINT = np.dtype(f"S{8 + DIGEST_BYTES}")
_NO_KINDS = np.zeros(0, np.int64)
_MIX, _FOLD = np.uint64(0x9E3779B97F4A7C15), np.uint64(32)
_BLOCK = 1 << 16
"""RecordHashes that are looked at at once."""


class Duplicates:
    """The duplicates in SMF files, looked for once, when it turns out that there may be any.

    files  in the order in which they are read
    runs   files with the fingerprints of records that were read before these
    """

    def __init__(self, files: Sequence[Input], runs: Sequence[Path] = ()) -> None:
        self.files = tuple(files)
        self.runs = tuple(runs)
        self._found: dict[Path, Ints] | None = None

    def find(self) -> None:
        """Look for duplicates in all files, unless that is done."""
        if self._found is None:
            self._found = find_duplicates(self.files, [read_run(each) for each in self.runs])

    @property
    def at_once(self) -> bool:
        """Whether there may be any from the first record on."""
        return len(self.files) > 1 or bool(self.runs)

    def count(self, path: Path) -> int:
        """Return how many records of a file are duplicates, as far as that is known."""
        return 0 if self._found is None else len(self._found[path])

    def left_out(self, path: Path, found: Iterable[Chunk]) -> Iterator[Chunk]:
        """Leave the duplicates out of chunks of a file.

        Nothing is looked for before the second dump: the first cannot have a duplicate.
        """
        first = path == self.files[0].path
        for chunk in found:
            later = bool(self.runs) or not first or chunk.goes_on_with_a_dump
            if self._found is None and later:
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


class Recorder:
    """Takes the fingerprints of records as they are read.

    hand_on  takes many of them, ascending; None: all are held
    most     how many are held before they are handed on
    """

    def __init__(
        self,
        hand_on: Callable[[Fingerprints], None] | None = None,
        most: int = LIMITS.fingerprints,
    ) -> None:
        self.held: list[Fingerprints] = []
        self._hand_on = hand_on
        self._most = most

    def add(self, some: Fingerprints) -> None:
        """Take some, in any order."""
        self.held.append(some)
        if self._hand_on is not None and sum(map(len, self.held)) >= self._most:
            self._hand_on(self.take())

    def take(self) -> Fingerprints:
        """Return those that are held, ascending, and start anew."""
        found = np.concatenate([np.zeros(0, FINGERPRINT), *self.held])
        self.held.clear()
        found.sort()
        return found


def read_run(path: Path) -> Fingerprints:
    """Return the fingerprints in a file, which stay there until they are looked at."""
    if not path.stat().st_size:
        return np.zeros(0, FINGERPRINT)
    return np.memmap(path, FINGERPRINT, "r")


def find_duplicates(files: Sequence[Input], runs: Sequence[Fingerprints] = ()) -> dict[Path, Ints]:
    """Return the numbers of the duplicates in each of some SMF files: int64, ascending.

    runs  fingerprints, ascending, of records that were read before

    Up to 24 bytes are kept a record. Raises InputError where a file cannot be read.
    """
    several, suspects = _candidates(files, runs)
    hashes = several.copy()
    del several  # it holds the memory of all hashes
    found = {each.path: np.zeros(0, np.int64) for each in files}
    if len(hashes):
        earlier = _Earlier(runs)
        for file in suspects:
            found[file.path] = _duplicates(file, hashes, earlier)
    return found


def _candidates(
    files: Sequence[Input], runs: Sequence[Fingerprints]
) -> tuple[RecordHashes, list[Input]]:
    """Return hashes that are in several dumps, ascending, and the files that have any of them."""
    hashes = [_hashes_of_dumps(each) for each in files]
    several = _several(np.concatenate(hashes))
    before = [own[_hashes_in(own, run)] for own in hashes for run in runs]
    if any(map(len, before)):
        several = np.union1d(several, np.concatenate(before))
    having = [each for each, own in zip(files, hashes, strict=True) if _any_of(own, several)]
    return several, having


def _hashes_of_dumps(file: Input) -> RecordHashes:
    """Return the hashes of the records of a file, each once a dump."""
    dumps: list[RecordHashes] = []
    own: list[RecordHashes] = []
    for begins, chunk in _by_dump(file, _NO_KINDS):
        if begins and own:
            dumps.append(_once(own))
        own.append(_hashes(chunk))
    return np.concatenate([*dumps, _once(own)])


def _once(parts: list[RecordHashes]) -> RecordHashes:
    """Take hashes out of a list; return each once."""
    hashes = np.concatenate([np.zeros(0, np.uint64), *parts])
    parts.clear()
    hashes.sort()
    new = np.ones(len(hashes), np.bool_)
    new[1:] = hashes[1:] != hashes[:-1]
    return hashes[new]


def _several(hashes: RecordHashes) -> RecordHashes:
    """Return the hashes that are there more than once, ascending, in the memory of `hashes`."""
    hashes.sort()
    count = 0
    for at in range(0, len(hashes), _BLOCK):
        block = hashes[at : at + _BLOCK + 1]
        found = np.unique(block[1:][block[1:] == block[:-1]])
        hashes[count : count + len(found)] = found
        count += len(found)
    return hashes[:count]


def _hashes_in(hashes: RecordHashes, run: Fingerprints) -> Bools:
    """Return which hashes some of the ascending fingerprints begin with."""
    found = np.zeros(len(hashes), np.bool_)
    for at in range(0, len(hashes) if len(run) else 0, _BLOCK):
        block = hashes[at : at + _BLOCK]
        least = np.zeros((len(block), 2), ">u8")
        least[:, 0] = block
        place = np.searchsorted(run, least.view(FINGERPRINT)[:, 0])
        there = run[np.minimum(place, len(run) - 1)]
        found[at : at + _BLOCK] = there.view(">u8")[::2] == block
    return found


def _any_of(hashes: RecordHashes, wanted: RecordHashes) -> bool:
    """Whether any of `hashes` is among those that are wanted."""
    blocks = (hashes[at : at + _BLOCK] for at in range(0, len(hashes), _BLOCK))
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


def _hashes(chunk: Chunk) -> RecordHashes:
    """Return the hash of each record: the bytes behind the RDW up to the subtype, and the length.

    These are in one piece, also where the rest of a record is not.
    """
    header = gather(chunk.buffer, chunk.start + RDW_SIZE, SUBTYPE_END - RDW_SIZE)
    short = np.flatnonzero(chunk.length < SUBTYPE_END)
    header[short] *= np.arange(RDW_SIZE, SUBTYPE_END) < chunk.length[short, None]
    hashes = chunk.length.astype(np.uint64)
    for word in header.view("<u4").T:
        hashes = (hashes ^ word) * _MIX
        hashes ^= hashes >> _FOLD
    return hashes


class _Earlier:
    """Fingerprints of records of earlier dumps, in runs that ascend.

    Each run that was added is much longer than the next.
    """

    def __init__(self, runs: Sequence[Fingerprints]) -> None:
        self._runs = list(runs)

    def add(self, parts: list[Fingerprints]) -> None:
        """Take the fingerprints of a dump out of a list."""
        run = np.concatenate([np.zeros(0, FINGERPRINT), *parts])
        parts.clear()
        if not len(run):
            return
        while self._runs and len(self._runs[-1]) < 2 * len(run):
            run = np.concatenate([self._runs.pop(), run])
        run.sort()
        self._runs.append(run)

    def have(self, some: Fingerprints) -> Bools:
        """Return which of some fingerprints are here."""
        found = np.zeros(len(some), np.bool_)
        for run in self._runs:
            found |= _among(some, run)
        return found


def _duplicates(file: Input, hashes: RecordHashes, earlier: _Earlier) -> Ints:
    """Return the numbers of the duplicates of a file; add its other records to the earlier ones.

    hashes  those, ascending, of records that may be duplicates, or the records that these repeat
    """
    numbers: list[Ints] = []
    own: list[Fingerprints] = []
    for begins, chunk in _by_dump(file):
        if begins:
            earlier.add(own)
        candidates = chunk.where(_among(_hashes(chunk), hashes))
        some = fingerprints(candidates)
        again = earlier.have(some)
        numbers.append(candidates.record_no[again])
        own.append(some[~again])
    earlier.add(own)
    return np.concatenate(numbers)


def fingerprints(chunk: Chunk) -> Fingerprints:
    """Return the fingerprint of each record of a chunk."""
    found = np.zeros((len(chunk.start), FINGERPRINT.itemsize), np.uint8)
    found[:, :-DIGEST_BYTES] = _hashes(chunk).astype(">u8").view(np.uint8).reshape(-1, 8)
    found[:, -DIGEST_BYTES:] = _digests(chunk)
    return found.view(FINGERPRINT)[:, 0]


def _digests(chunk: Chunk) -> Bytes:
    """Return digests, uint8 (records, DIGEST_BYTES): of all bytes of a record behind the RDW."""
    data: Bytes = chunk.buffer
    view = memoryview(data.data)
    ends = (chunk.start + chunk.length).tolist()
    places = zip((chunk.start + RDW_SIZE).tolist(), ends, strict=True)
    made = [hashlib.sha256(view[start:end]).digest()[:DIGEST_BYTES] for start, end in places]
    return np.frombuffer(b"".join(made), np.uint8).reshape(-1, DIGEST_BYTES)
