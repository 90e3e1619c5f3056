"""Fields that contain names, with their kind, and the bytes of a block that contain numbers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache

import numpy as np
from construct import Array, Struct

from smfparse.layout.blocks import Block
from smfparse.layout.columns import Field
from smfparse.layout.members import Repeat
from smfparse.schemas import QWHC, QWHS, QWHX, QWST, REGISTRY
from smfparse.vectors import Bools

SYSTEM = "system"
QMGR = "qmgr"
KINDS: Mapping[str, tuple[str, ...]] = {
    SYSTEM: (),
    QMGR: ("qwhsssid", "qcstrqmn"),
    "group": ("qwhxqsg", "qqstqsgn", "qcctqsgn"),
    "job": ("qwhccn", "wtidccn", "qcctjobn"),
    "user": ("qwhcaid", "qwhcopid", "wtidopid", "wtidtran"),
    "queue": ("objname", "basename", "qqstqnam"),
    "channel": ("wtidchl", "qcstchnm"),
    "address": ("wtidchlc", "qcstcnnm"),
    "certificate": ("qcstslcn", "qcstslsn"),
}
"""Kinds of names and their fields; systems and queue managers stand in the SMF header as well."""
OF_HEADER = {SYSTEM: QWST.field("sm115sid"), QMGR: QWST.field("sm115SSI")}
"""Names in the SMF header, one behind the other; that of a queue manager in MQ's records alone."""
BINARY = ("qcstslsn",)
"""Fields that are no text."""
AREA = (QWHS, QWHC, QWHX)
"""Blocks in the area that every record of MQ begins with."""
_KIND_OF = {field: kind for kind, fields in KINDS.items() for field in fields}
_OPEN = ("ebcdic", "bytes", "pad")
"""Facts of fields that are no numbers: in what a record has of these, names may stand anywhere."""
_EYE = "eye"
_TOKENS = ("correl",)
"""Tokens of tasks, which begin with the time when the task did."""


@cache
def blocks() -> Mapping[str, Block]:
    """Return all blocks that records have, by name."""
    found = {block.name: block for each in REGISTRY.values() for block in each.values()}
    return found | {block.name: block for block in AREA}


@cache
def named_fields(block: Block) -> tuple[tuple[str, Field], ...]:
    """Return the fields of a block that hold names, each behind its kind."""
    return tuple((_KIND_OF[each.name], each) for each in block.own if each.name in _KIND_OF)


@cache
def clocks(block: Block) -> tuple[Field, ...]:
    """Return the fields of a block that begin with a TOD clock."""
    return tuple(
        each for each in block.own if each.kind.fact == "stck_timestamp" or each.name in _TOKENS
    )


@cache
def numbers(block: Block) -> Bools:
    """Return which bytes of a block hold numbers, times or its eye-catchers: bool (bytes,)."""
    found: Bools = np.ones(block.size, np.bool_)
    for start, width in _texts(block):
        found[start : start + width] = False
    if block.eyecatcher is not None:
        start, eye = block.eyecatcher
        found[start : start + len(eye)] = True
    return found


def _texts(block: Block) -> Iterator[tuple[int, int]]:
    """Yield where a block has what is no number, and how many bytes."""
    for name, (offset, member) in block.members.items():
        if isinstance(member, Repeat):
            yield from _entries(block, member)
            continue
        field = block.field(name)
        if field.kind.fact in _OPEN and _EYE not in name:
            count = member.count if isinstance(member, Array) else 1
            yield offset, field.kind.width * count


def _entries(block: Block, member: Repeat) -> Iterator[tuple[int, int]]:
    if not isinstance(member.subcon, Struct):
        return
    width = member.subcon.sizeof()
    for each in member.subcon.subcons:
        field = block.field(each.name)
        if field.kind.fact in _OPEN:
            for number in range(len(member.cells)):
                yield field.offset + number * width, field.kind.width
