"""How fast construct parses the blocks of a file, one by one: bytes a second, on a sample.

scalar.py SMF prints JSON, a number for each way: our declarations, which decode each field; the
same blocks as a plain construct Struct, which only reads numbers and bytes; and that, compiled.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeAlias

from construct import Adapter, Array, Construct, Renamed, Struct

from smfparse.errors import DamageLog
from smfparse.layout.blocks import Block
from smfparse.reading.reader import read_chunks
from smfparse.schemas import QWST, REGISTRY, TRIPLET

_SAMPLE_BYTES = 1_000_000
_TYPE, _SUBTYPE = QWST.field("sm115rty").offset, QWST.field("sm115stf")

Sample: TypeAlias = list[tuple[Block, bytes]]
Parse: TypeAlias = Callable[[bytes], Any]


def sample(path: Path) -> Sample:
    """Return the first blocks of a file, of all kinds."""
    found: Sample = []
    size = 0
    chunk = next(read_chunks(path, DamageLog()))
    for start, length in zip(chunk.start.tolist(), chunk.length.tolist(), strict=True):
        for block, data in _blocks(chunk.buffer[start : start + length].tobytes()):
            found.append((block, data))
            size += len(data)
        if size > _SAMPLE_BYTES:
            break
    return found


def _blocks(record: bytes) -> Iterator[tuple[Block, bytes]]:
    place = record[_TYPE], int.from_bytes(record[_SUBTYPE.offset : _SUBTYPE.end])
    end = len(record)
    for number in range(max(REGISTRY.get(place, {0: None})) + 1):
        at = QWST.size + number * TRIPLET.size
        if at + TRIPLET.size > end:
            return
        triplet = TRIPLET.parse(record[at : at + TRIPLET.size])
        offset, length = triplet["offset"], triplet["length"]
        end = min(end, offset or end)
        for which in range(triplet["count"] if number else 0):
            data = record[offset + which * length : offset + (which + 1) * length]
            if number in REGISTRY[place]:
                yield REGISTRY[place][number], data


def plain(block: Block, length: int) -> Construct:
    """Return a block as a Struct of wire types, as far as `length` bytes hold it."""
    members = [
        name / _wire(subcon)
        for name, (offset, subcon) in block.members.items()
        if offset + subcon.sizeof() <= length
    ]
    return Struct(*members)


def _wire(subcon: Construct) -> Construct:
    if isinstance(subcon, Renamed | Adapter):
        return _wire(subcon.subcon)
    if isinstance(subcon, Array):
        return Array(subcon.count, _wire(subcon.subcon))
    if isinstance(subcon, Struct):
        return Struct(*(each.name / _wire(each) for each in subcon.subcons))
    return subcon


def speed(blocks: Sample, maker: Callable[[Block, int], Construct]) -> float:
    """Return the bytes a second at which what `maker` makes parses the blocks."""
    parsers: dict[tuple[str, int], Parse] = {}
    for block, data in blocks:
        key = block.name, len(data)
        if key not in parsers:
            parsers[key] = maker(block, len(data)).parse
    calls = [(parsers[block.name, len(data)], data) for block, data in blocks]
    start = time.perf_counter()
    for parse, data in calls:
        parse(data)
    return sum(len(data) for _, data in calls) / (time.perf_counter() - start)


def main() -> None:
    """Measure the three ways."""
    blocks = sample(Path(sys.argv[1]))
    found = {
        "construct, as declared": speed(blocks, lambda block, _: block),
        "construct, plain": speed(blocks, plain),
        "construct, plain, compiled": speed(blocks, lambda *of: plain(*of).compile()),
    }
    print(json.dumps(found))


if __name__ == "__main__":
    main()
