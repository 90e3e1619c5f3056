"""Readers that take only files in which nothing is wrong."""

from __future__ import annotations

from corruption.samples import HEADER, implied, recognised
from tests.support.variants import Found, read_at


def strictly(framing: str, data: bytes) -> Found | None:
    """Return the records of a file, and where they start; None if anything in it is wrong.

    So is a record of MQ that is not as long as what is in it says.
    """
    try:
        found = _by_triplets(data) if framing == "none" else read_at(framing, data)
    except ValueError:
        return None
    sound = all(recognised(body) and implied(body) in (0, len(body)) for _, body in found)
    return found if sound else None


def _by_triplets(data: bytes) -> Found:
    found, at = [], 0
    while at < len(data):
        length = implied(data[at:])
        if not HEADER <= length <= len(data) - at:
            raise ValueError(f"no record at {at}")
        found.append((at, data[at : at + length]))
        at += length
    return found
