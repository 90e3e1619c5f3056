"""Generated dumps whose tasks go on in 116/2 records, which come any number of records later."""

from __future__ import annotations

import io
import random
import struct
from collections.abc import Sequence
from typing import Any

from tests.support.generated import generate_dump
from tests.support.variants import read_rdw

_TASK = (116, 1)
_TRIPLET = struct.Struct(">IHH")
_RDW = 4
_TRIPLETS_AT = 28
_SUBTYPE_AT = 22


def scattered_dump(seed: int = 1, later: int = 200, held: int = 1, **changes: Any) -> list[bytes]:
    """Return the bodies of a generated dump in which 116/2 records go on from the 116/1 records.

    later  records up to which they come behind the 116/1 that they belong to
    held   queues that a record has
    """
    dump = generate_dump(io.BytesIO(), seed=seed, **changes).getvalue()
    chance = random.Random(seed)
    placed: list[tuple[float, bytes]] = []
    for place, body in enumerate(read_rdw(dump)):
        if (body[1], _number(body, _SUBTYPE_AT)) != _TASK:
            placed.append((place, body))
            continue
        first, *more = _divided(body, held)
        placed.append((place, first))
        placed += [(place + chance.uniform(0.5, later), each) for each in more]
    return [body for _, body in sorted(placed, key=lambda each: each[0])]


def _number(body: bytes, at: int) -> int:
    return int.from_bytes(body[at - _RDW : at - _RDW + 2], "big")


def _divided(body: bytes, held: int) -> list[bytes]:
    """Return a 116/1 record as one with some queues, and as many 116/2 as the others fill."""
    triplets = [_TRIPLET.unpack_from(body, _TRIPLETS_AT - _RDW + 8 * number) for number in range(4)]
    if triplets[1][0] < _TRIPLETS_AT + 8 * 4:  # a task without queues has no fourth triplet
        return [body]
    (area,), wtid, wtas, queues = (
        [
            body[at - _RDW + length * number : at - _RDW + length * (number + 1)]
            for number in range(count)
        ]
        for at, length, count in triplets
    )
    groups = [queues[at : at + held] for at in range(0, len(queues), held)]
    first, *more = groups
    header = body[: _TRIPLETS_AT - _RDW]
    return [
        _record(header, 1, area, [wtid, wtas, first]),
        *(_record(header, 2, area, [wtid, each]) for each in more),
    ]


def _record(header: bytes, subtype: int, area: bytes, sections: Sequence[list[bytes]]) -> bytes:
    """Write a record: header, triplets, sections, and the QWHS area as its last."""
    at = _TRIPLETS_AT + 8 * (len(sections) + 1)
    triplets, blocks = b"", b""
    for section in sections:
        length = len(section[0]) if section else 0
        triplets += _TRIPLET.pack(at + len(blocks) if section else 0, length, len(section))
        blocks += b"".join(section)
    whole = _TRIPLET.pack(at + len(blocks), len(area), 1) + triplets + blocks + area
    place = _SUBTYPE_AT - _RDW
    return header[:place] + struct.pack(">H", subtype) + header[place + 2 :] + whole
