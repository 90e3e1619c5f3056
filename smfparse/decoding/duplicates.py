"""Duplicates: records that occur in several dumps. Only the first copy is kept.

A dump begins at each SMF type 2 record, the dump header, and at the start of each file. So the
records before the first dump header are a dump too. A record is a duplicate if an earlier dump, in
the same file or in an earlier file, contains a record with the same bytes after the RDW. Equal
records within one dump are not duplicates. Records are compared by their fingerprints: a hash of
SMF header and length, and a digest of all bytes. The identity of a file is computed from the
fingerprints of its records, in order.

Duplicates are searched in two passes over the files. The first pass reads only SMF headers: a
record cannot be a duplicate if no record of another dump has the same header and length. The second
pass compares whole records by their fingerprints, and is omitted if dumps do not overlap. If all
files are read one after another, the first pass is omitted too: a `Turn` compares each chunk with
the chunks before it, until a record repeats the header and length of a record in an earlier dump.

A dataset contains the fingerprints of its records, in ascending runs by day. Its records count as a
dump before the added files. Only fingerprints for the days in the added files are read.
"""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from smfparse.errors import DamageLog
from smfparse.reading.chunks import WHOLE_SOURCE, Chunk, Part
from smfparse.reading.headers import DATE_END, SUBTYPE_END, begins_dump, packed_dates
from smfparse.reading.places import Place, size_at
from smfparse.reading.reader import Input
from smfparse.reading.segments import RDW_SIZE
from smfparse.vectors import Bools, Bytes, Ints, gather

RecordHashes: TypeAlias = NDArray[np.uint64]
"""Hashes of SMF header and length, which are the same for equal records."""
Fingerprints: TypeAlias = NDArray[np.bytes_]
"""Hash (big-endian) and digest of each record, dtype S16. Sorted, they are in order of the hash."""

Days: TypeAlias = NDArray[np.int32]
"""Packed dates of records without their sign: 0x0126063 is day 63 of 2026."""

DIGEST_BYTES = 8
"""Number of used bytes of the SHA-256 of a record: two different records with the same header and
length have the same digest with a probability of 1 in 10**19.
"""
FINGERPRINT = np.dtype(f"S{8 + DIGEST_BYTES}")
NO_RECORDS: Fingerprints = np.zeros(0, FINGERPRINT)
_MIX, _FOLD = np.uint64(0x9E3779B97F4A7C15), np.uint64(32)


class Seen(NamedTuple):
    """Fingerprints of consecutive records of a file.

    days  dates of the records, as returned by `days_of`
    kept  bool (records,): whether the record is kept; otherwise it is omitted as a duplicate
    """

    path: Place
    fingerprints: Fingerprints
    days: Days
    kept: Bools


class Recorder:
    """Collects the fingerprints of records when they are read, in order for each file."""

    def __init__(self) -> None:
        self.seen: list[Seen] = []

    def add(self, some: Seen) -> None:
        """Add the fingerprints of the next records of a file."""
        self.seen.append(some)


class Identity:
    """Computes the identity of a file from its records, in order."""

    def __init__(self) -> None:
        self._sum = hashlib.sha256()

    def add(self, some: Fingerprints) -> None:
        """Add the fingerprints of the next records."""
        self._sum.update(some.tobytes())

    def __str__(self) -> str:
        return self._sum.hexdigest()


def identity(file: Input) -> str:
    """Return the identity of a file: a SHA-256 over the fingerprints of all its records.

    Raises InputError if the file cannot be read.
    """
    found = Identity()
    for chunk in file.chunks(DamageLog()):
        found.add(fingerprints(chunk))
    return str(found)


class Known(Protocol):
    """The fingerprints of the records in a dataset."""

    def of_days(self, days: frozenset[int]) -> list[Fingerprints]:
        """Return ascending runs of fingerprints that include all records with these dates."""


def read_run(path: Place) -> Fingerprints:
    """Return the fingerprints in a file; parts of a local file are read on access."""
    if not size_at(path):
        return NO_RECORDS
    if isinstance(path, Path):
        return np.memmap(path, FINGERPRINT, "r")
    with path.open() as file:
        return np.frombuffer(file.read(), FINGERPRINT)


def fingerprints(chunk: Chunk) -> Fingerprints:
    """Return the fingerprint of each record of a chunk; `chunk.prints` if it contains them."""
    if chunk.prints.size:
        return chunk.prints
    found = np.zeros((len(chunk.start), FINGERPRINT.itemsize), np.uint8)
    found[:, :-DIGEST_BYTES] = record_hashes(chunk).astype(">u8").view(np.uint8).reshape(-1, 8)
    found[:, -DIGEST_BYTES:] = digests(chunk)
    return found.view(FINGERPRINT)[:, 0]


def days_of(chunk: Chunk) -> Days:
    """Return the date in the SMF header of each record, int32; 0: the header is too short.

    Dates are not checked, so invalid dates also give a number.
    """
    days = packed_dates(chunk.buffer, chunk.start).astype(np.int32)
    days[chunk.length < DATE_END] = 0
    return days


def record_hashes(chunk: Chunk) -> RecordHashes:
    """Return the hash of each record: of the bytes from the RDW to the subtype, and the length.

    These bytes are contiguous even if the rest of the record is in pieces.
    """
    header = gather(chunk.buffer, chunk.start + RDW_SIZE, SUBTYPE_END - RDW_SIZE)
    short = np.flatnonzero(chunk.length < SUBTYPE_END)
    header[short] *= np.arange(RDW_SIZE, SUBTYPE_END) < chunk.length[short, None]
    hashes = chunk.length.astype(np.uint64)
    for word in header.view("<u4").T:
        hashes = (hashes ^ word) * _MIX
        hashes ^= hashes >> _FOLD
    return hashes


def digests(chunk: Chunk) -> Bytes:
    """Return digests of all bytes of each record after the RDW, uint8 (records, DIGEST_BYTES)."""
    data: Bytes = chunk.buffer
    view = memoryview(data.data)
    ends = (chunk.start + chunk.length).tolist()
    places = zip((chunk.start + RDW_SIZE).tolist(), ends, strict=True)
    made = [hashlib.sha256(view[start:end]).digest()[:DIGEST_BYTES] for start, end in places]
    return np.frombuffer(b"".join(made), np.uint8).reshape(-1, DIGEST_BYTES)


Group: TypeAlias = Sequence[tuple[Input, Part]]
"""Parts of files that one process searches, one after another."""
Each: TypeAlias = Callable[[Callable[[Any], Iterable[Any]], Iterable[Any]], Iterable[Iterable[Any]]]
"""A function like `map`, which can use other processes."""
_Dump: TypeAlias = tuple[bool, RecordHashes, frozenset[int]]
"""A dump, or a piece of a dump: whether the dump begins here, hashes and days of its records."""
_NO_KINDS = np.zeros(0, np.int64)
_BLOCK = 1 << 16
"""Number of record hashes processed in one step."""


class _Suspect(NamedTuple):
    """A part of a file that is read again.

    hashes  ascending hashes that occur in this part and in other dumps
    fresh   whether a dump begins with this part, or began after the previous suspect part
    """

    file: Input
    part: Part
    hashes: RecordHashes
    fresh: bool


class Duplicates:
    """The duplicates in SMF files, searched once, when the first possible duplicate is read.

    files  files in the order in which they are read
    known  fingerprints of the records in a dataset, which precede these files; None: no dataset
    """

    def __init__(self, files: Sequence[Input], known: Known | None = None) -> None:
        self.files = tuple(files)
        self.known = known
        self._found: dict[Place, Ints] | None = None

    def find(self, groups: Sequence[Group] = (), each: Each = map) -> None:
        """Search for duplicates in all files, unless this was done before.

        groups  parts of the files, in order; (): each file is one group
        each    maps a function over the groups, possibly in other processes
        """
        if self._found is None:
            whole = [[(file, WHOLE_SOURCE)] for file in self.files]
            self._found = find_duplicates(groups or whole, self.known, each)

    def of(self, path: Place) -> Duplicates:
        """Return the known duplicates in one file, for another process."""
        if self._found is None:
            return self
        only = Duplicates([each for each in self.files if each.path == path])
        only._found = {path: self._found[path]}
        return only

    @property
    def at_once(self) -> bool:
        """Whether a file with only one dump can contain duplicates: several files, or a dataset."""
        return len(self.files) > 1 or self.known is not None

    def count(self, path: Place) -> int:
        """Return the number of known duplicates in a file."""
        return 0 if self._found is None else len(self._found[path])

    def kept(
        self, path: Place, found: Iterable[Chunk], turn: Turn | None = None
    ) -> Iterator[Chunk]:
        """Yield the chunks of a file, with the duplicates removed.

        The search begins with the second dump: the first dump contains no duplicates.

        turn  as in `without`
        """
        for chunk in found:
            left = self.without(path, chunk, turn)
            if len(left.start):
                yield left

    def without(self, path: Place, chunk: Chunk, turn: Turn | None = None) -> Chunk:
        """Return the next chunk of a file without duplicates; it may be empty.

        turn  pass that has received all earlier chunks of all files; None: files not read in order
        """
        if self._found is None and self._may_repeat(path, chunk, turn):
            self.find()
        return chunk if self._found is None else _without(chunk, self._found[path])

    def _may_repeat(self, path: Place, chunk: Chunk, turn: Turn | None) -> bool:
        if turn is None or self.known is not None or not self.at_once:
            is_later = self.known is not None or path != self.files[0].path
            return is_later or chunk.goes_on_with_a_dump
        return turn.repeats(path, chunk)


class Turn:
    """A pass over all files, one after another, each from its start to its end."""

    def __init__(self, before: _Earlier | None = None) -> None:
        self._path: Place | None = None
        self._begin(before or _Earlier([]))

    def _begin(self, before: _Earlier) -> None:
        """Begin the pass after files with the hashes `before`."""
        self._before, self._earlier = before, before.copy()
        self._own: list[RecordHashes] = []

    def again(self) -> Turn:
        """Return a pass that reads the current file again, from its start."""
        return Turn(self._before)

    def repeats(self, path: Place, chunk: Chunk) -> bool:
        """Add the next chunk; return whether a record repeats header and length of an earlier dump.

        If so, the rest of the chunk is not added.
        """
        if path != self._path:
            self._earlier.add(self._own)
            self._path, self._before = path, self._earlier.copy()
        for begins, some in _dumps_in(chunk):
            if begins:
                self._earlier.add(self._own)
            hashes = record_hashes(some)
            if self._earlier.have(hashes).any():
                self._begin(_Earlier([]))
                return True
            self._own.append(hashes)
        return False


def _without(chunk: Chunk, numbers: Ints) -> Chunk:
    first, last = np.searchsorted(numbers, chunk.record_no[[0, -1]] + [0, 1])
    if first == last:
        return chunk
    return chunk.where(~np.isin(chunk.record_no, numbers[first:last]))


def find_duplicates(
    groups: Sequence[Group], known: Known | None = None, each: Each = map
) -> dict[Place, Ints]:
    """Return the record numbers of the duplicates in each file: int64, ascending.

    groups  parts of all files, in order
    known   as in `Duplicates`
    each    as in `Duplicates.find`

    The search uses up to 24 bytes of memory per record. Raises InputError if a file cannot be read.
    """
    pieces = [list(found) for found in each(_hash, groups)]
    runs = [] if known is None else known.of_days(_days(pieces))
    suspects = _suspects(groups, pieces, runs)
    found = {file.path: [np.zeros(0, np.int64)] for group in groups for file, _ in group}
    earlier, own = _Earlier(runs), list[Fingerprints]()
    for path, begins, numbers, some in itertools.chain.from_iterable(each(_read, suspects)):
        if begins:
            earlier.add(own)
        again = earlier.have(some)
        found[path].append(numbers[again])
        own.append(some[~again])
    return {path: np.concatenate(numbers) for path, numbers in found.items()}


def _days(pieces: Sequence[Sequence[Sequence[_Dump]]]) -> frozenset[int]:
    some = (days for group in pieces for piece in group for _, _, days in piece)
    return frozenset[int]().union(*some)


def _suspects(
    groups: Sequence[Group],
    pieces: Sequence[Sequence[list[_Dump]]],
    runs: Sequence[Fingerprints],
) -> list[list[_Suspect]]:
    """Return the parts that contain hashes found in several dumps, group by group.

    pieces  the dumps in each part of each group; emptied as they are processed
    """
    several = _several(np.concatenate(_by_whole_dumps(pieces)))
    every = [own for group in pieces for piece in group for _, own, _ in piece]
    before = [own[_hashes_in(own, run)] for own in every for run in runs]
    if any(map(len, before)):
        several = np.union1d(several, np.concatenate(before))
    del every
    suspects: list[list[_Suspect]] = []
    dump, read_to = 0, -1
    for group, hashed in zip(groups, pieces, strict=True):
        suspects.append([])
        for (file, part), dumps in zip(group, hashed, strict=True):
            begins = dump + (len(dumps) > 0 and dumps[0][0]) > read_to
            dump += sum(begun for begun, _, _ in dumps)
            found = _once([own[_among(own, several)] for _, own, _ in dumps])
            dumps.clear()
            if len(found):
                suspects[-1].append(_Suspect(file, part, found, begins))
                read_to = dump
    return [group for group in suspects if group]


def _by_whole_dumps(pieces: Sequence[Sequence[Sequence[_Dump]]]) -> list[RecordHashes]:
    """Return the distinct hashes of each dump, whose pieces are joined."""
    found: list[list[RecordHashes]] = [[]]
    for begins, own, _ in (some for group in pieces for piece in group for some in piece):
        if begins:
            found.append([])
        found[-1].append(own)
    return [each[0] if len(each) == 1 else _once(each) for each in found]


def _hash(group: Group) -> Iterator[list[_Dump]]:
    """Yield the dumps in each part, with the distinct hashes and the days of their records."""
    for file, part in group:
        dumps: list[tuple[bool, list[RecordHashes], set[int]]] = []
        for begins, chunk in _by_dump(file, part, _NO_KINDS):
            if begins or not dumps:
                dumps.append((begins, [], set()))
            dumps[-1][1].append(record_hashes(chunk))
            dumps[-1][2].update(np.unique(days_of(chunk)).tolist())
        yield [(begins, _once(own), frozenset(days)) for begins, own, days in dumps]


def _once(parts: list[RecordHashes]) -> RecordHashes:
    hashes = np.concatenate([np.zeros(0, np.uint64), *parts])
    parts.clear()
    hashes.sort()
    new = np.ones(len(hashes), np.bool_)
    new[1:] = hashes[1:] != hashes[:-1]
    return hashes[new]


def _several(hashes: RecordHashes) -> RecordHashes:
    """Return the hashes that occur more than once, ascending; `hashes` is overwritten."""
    hashes.sort()
    count = 0
    for at in range(0, len(hashes), _BLOCK):
        block = hashes[at : at + _BLOCK + 1]
        found = np.unique(block[1:][block[1:] == block[:-1]])
        hashes[count : count + len(found)] = found
        count += len(found)
    return hashes[:count]


def _hashes_in(hashes: RecordHashes, run: Fingerprints) -> Bools:
    """Return for each hash whether a fingerprint in the ascending `run` begins with it."""
    found = np.zeros(len(hashes), np.bool_)
    for at in range(0, len(hashes) if len(run) else 0, _BLOCK):
        block = hashes[at : at + _BLOCK]
        least = np.zeros((len(block), 2), ">u8")
        least[:, 0] = block
        place = np.searchsorted(run, least.view(FINGERPRINT)[:, 0])
        there = run[np.minimum(place, len(run) - 1)]
        found[at : at + _BLOCK] = there.view(">u8")[::2] == block
    return found


def _among(values: NDArray[np.generic], ascending: NDArray[np.generic]) -> Bools:
    if not len(ascending):
        return np.zeros(len(values), np.bool_)
    place = np.minimum(np.searchsorted(ascending, values), len(ascending) - 1)
    found: Bools = ascending[place] == values
    return found


def _by_dump(file: Input, part: Part, kinds: Ints | None = None) -> Iterator[tuple[bool, Chunk]]:
    """Yield the pieces of a part: whether a dump begins with the piece, and its records.

    kinds  as in `Input.chunks`
    """
    first = part.start == 0
    for chunk in file.chunks(DamageLog(), part, kinds):
        for begins, some in _dumps_in(chunk):
            yield first or begins, some
            first = False


def _dumps_in(chunk: Chunk) -> Iterator[tuple[bool, Chunk]]:
    """Yield the dumps in a chunk: whether the first record is a dump header, and the records."""
    headers = np.flatnonzero(begins_dump(chunk.buffer, chunk.start))
    edges = [0, *headers[headers > 0].tolist(), len(chunk.start)]
    for start, end in itertools.pairwise(edges):
        yield start in headers, chunk.where(slice(start, end))


class _Earlier:
    """Fingerprints, or hashes, of records of earlier dumps, in ascending runs.

    Added runs are merged so that each run is at least twice as long as the next.
    """

    def __init__(self, runs: Sequence[NDArray[Any]]) -> None:
        self._runs = list(runs)

    def add(self, parts: list[NDArray[Any]]) -> None:
        """Add the fingerprints or hashes of a dump, and clear the list."""
        if not any(map(len, parts)):
            return
        run = np.concatenate(parts)
        parts.clear()
        while self._runs and len(self._runs[-1]) < 2 * len(run):
            run = np.concatenate([self._runs.pop(), run])
        run.sort()
        self._runs.append(run)

    def copy(self) -> _Earlier:
        """Return a copy: dumps added to the copy are not added to the original."""
        return _Earlier(self._runs)

    def have(self, some: NDArray[Any]) -> Bools:
        """Return for each of `some` whether a run contains it."""
        found = np.zeros(len(some), np.bool_)
        for run in self._runs:
            found |= _among(some, run)
        return found


def _read(
    suspects: Iterable[_Suspect],
) -> Iterator[tuple[Place, bool, Ints, Fingerprints]]:
    """Yield suspect records: path, whether a dump begins with them, numbers, fingerprints."""
    for file, part, hashes, fresh in suspects:
        begun = fresh
        for begins, chunk in _by_dump(file, part):
            candidates = chunk.where(_among(record_hashes(chunk), hashes))
            yield file.path, begins or begun, candidates.record_no, fingerprints(candidates)
            begun = False
