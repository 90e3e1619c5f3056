"""Numbers that distinguish records and files, computed from their bytes.

Two records are equal if they have the same SMF header and length, and the same digest of all bytes
after the RDW. Two files are equal if they have the same length and the same records in the same
order. The identity of a file is computed from the fingerprints of its records.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import NamedTuple, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from smfparse.errors import DamageLog
from smfparse.reading.chunks import Chunk
from smfparse.reading.headers import DATE_END, SUBTYPE_END, packed_dates
from smfparse.reading.places import Place, size_at
from smfparse.reading.reader import Input
from smfparse.reading.segments import RDW_SIZE
from smfparse.vectors import Bools, Bytes, gather

RecordHashes: TypeAlias = NDArray[np.uint64]
"""Hashes of SMF header and length, which are the same for equal records."""
Fingerprints: TypeAlias = NDArray[np.bytes_]
"""Hash (highest byte first) and digest of each record, dtype S16: in the order of the hashes."""

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
    kept  whether the record is kept; otherwise it is omitted as a duplicate
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
        """Return at least the fingerprints of records with these dates, in ascending runs."""


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
