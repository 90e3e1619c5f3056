"""The space of messages in a coupling facility structure and its data sets."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from smfparse.planning.plans import Ask, Asked, Figure, Planner, between, published, said, source

_STRUCTURE = 2**32
_TABLE = "z16_cf_messages_in_4GB"
SMALLEST, LARGEST = 1164, 64_512
"""Minimum and maximum message size in the table, bytes."""
OFFLOAD = ((90, 0), (80, 4), (70, 32))
"""Default offload rules: (used share of the structure in %, minimum KB of offloaded messages)."""
ALWAYS_KB = 63
_PAGE = 4096
_BUFFER = 256 * 1024
"""Bytes per buffer of a shared message data set (DSBUFS: number of buffers)."""
_MORE_MB = 8


def bytes_in_structure(size: float) -> float:
    """Return the bytes that a message uses in a structure; size: bytes, with headers.

    Raises RequestError above 63 KB: for larger messages, the structure contains only pointers.
    """
    points = {
        float(name.removeprefix("<=")): _STRUCTURE / count
        for name, count in published(_TABLE).items()
    }
    return between(points, max(size, SMALLEST), "size", "bytes")


def structure_mb(messages: float, size: float) -> float:
    """Return the MB of a structure for messages of `size` bytes (CFLEVEL 25 and later)."""
    return messages * bytes_in_structure(size) / 2**20 + _MORE_MB


def offload_kb(full_percent: float) -> float | None:
    """Return the minimum KB of messages that are offloaded to a data set; None: above 63 KB."""
    return next((size for percent, size in OFFLOAD if full_percent >= percent), None)


def smds_pages(size: float) -> int:
    """Return the minimum number of 4 KB pages for a message of `size` bytes in a data set."""
    return math.ceil(size / _PAGE)


def data_set_buffers(messages: float, size: float) -> int:
    """Return the number of buffers (DSBUFS) for messages of `size` bytes."""
    return math.ceil(messages * smds_pages(size) * _PAGE / _BUFFER)


@dataclass(frozen=True)
class Cf(Asked):
    """Inputs; the defaults are values of IBM's table."""

    message_bytes: Annotated[
        float,
        Ask(
            "Size of messages, with headers except MQMD",
            "bytes",
            high=LARGEST,
            measured="putbytes over validput of shared queues (wqst)",
        ),
    ] = 2048
    depth: Annotated[float | None, Ask("Messages to store in the structure")] = None
    arrivals: Annotated[
        float, Ask("Messages put per second", measured="validput of shared queues (wqst)")
    ] = 1000
    outage_min: Annotated[float, Ask("Consumer outage", "minutes")] = 10
    full_percent: Annotated[float, Ask("Current use of the structure", "%", high=100)] = 0


def _figures(asked: Cf) -> Sequence[Figure]:
    depth = asked.depth or asked.arrivals * asked.outage_min * 60
    each = bytes_in_structure(asked.message_bytes)
    full = structure_mb(depth, asked.message_bytes)
    pages = smds_pages(asked.message_bytes)
    kb = offload_kb(asked.full_percent)
    of_depth = f"{said(asked.arrivals)} x {said(asked.outage_min)} x 60"
    return [
        Figure("depth", "Messages", depth, "", "given" if asked.depth else of_depth),
        Figure(
            *("bytes_each", "Structure space per message", each, "bytes"),
            f"2^32 / messages in 4 GB, at {said(asked.message_bytes)} bytes",
        ),
        Figure("in_4gb", "Messages in 4 GB", _STRUCTURE / each, "", f"2^32 / {said(each)}"),
        Figure(
            *("structure_mb", "Structure size, nothing offloaded", full, "MB"),
            f"{said(depth)} x {said(each)} / 2^20 + {_MORE_MB}",
        ),
        Figure(
            *("smds_gb", "Size of data sets, all offloaded", depth * pages * _PAGE / 2**30, "GB"),
            *(f"{said(depth)} x {pages} pages of 4096 bytes, at least", 1),
            rough=True,
        ),
        Figure(
            *("dsbufs", "Buffers for all messages, if all are offloaded (DSBUFS)"),
            *(data_set_buffers(depth, asked.message_bytes), ""),
            f"{said(depth)} x {pages} x 4096 / {_BUFFER}; 100 by default",
        ),
        Figure(
            *("offload_kb", "Smallest messages that are offloaded now"),
            *(ALWAYS_KB if kb is None else kb, "KB"),
            f"{asked.full_percent:g}% full; at 70% from 32 KB, at 80% from 4 KB, at 90% "
            "all; above 63 KB always",
        ),
    ]


PLANNER = Planner(
    "cf",
    "Size of a coupling facility structure",
    Cf,
    _figures,
    (
        f"{source(_TABLE)}: 1,150,000 messages of 2 KB, 45,000 of 63 KB",
        "MQ 9.3 performance report, chapter 6: a put to a shared queue takes 7.3 us for 2 KB, "
        "36.9 us for 128 KB",
        "Q Replication from z/OS to Linux with MQ: messages of 2 KB captured per second, by where "
        "they are stored: structure 6,824; data sets 11,910 by the default rules, 4,908 with all "
        "offloaded; storage class memory 57,253; Db2 7,009, or 830 with all offloaded",
    ),
    "ALLOWAUTOALT(NO), no offloading. From CFLEVEL 25, CSQ_ADMIN needs 8 MB more. "
    "CSQSYSAPPL needs at least 41 MB.",
    (
        "the size of structures: SMF contains only the entries in use (qestmnus, qestmlus)",
        "rules of CFSTRUCT (OFFLDnTH, OFFLDnSZ), DSBUFS",
        "storage class memory of the structure",
    ),
    "START TRACE(STAT) CLASS(1), START TRACE(ACCTG) CLASS(3)",
)
