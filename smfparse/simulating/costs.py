"""The cost of calls and storage: constants, each from a value published by IBM.

Times are microseconds that class 3 accounting shows for a queue manager of MQ 9.3 on a z16 (IBM MQ
for z/OS Performance Report, MQ 9.3). docs/simulated-site.md lists the sources.
"""

from __future__ import annotations

import numpy as np

from smfparse.simulating.draws import Bools, Floats, Ints

_SIZES = np.array([0, 2, 4, 8, 16, 32, 64, 128]) * 1024.0
_PRIVATE_PUT = np.array([4.0, 4.5, 5.0, 6.0, 8.0, 13.0, 21.0, 36.0])
_SHARED_PUT = np.array([7.0, 7.3, 9.0, 11.0, 15.4, 23.4, 25.4, 36.9])
_MORE_BYTE = 0.00023
"""Cost in microseconds per byte above the largest size in _SIZES."""
GET_SHARE = 0.85
"""Ratio of the cost of a get to the cost of a put of the same size."""
PUT1_FACTOR = 1.7
"""Cost of an MQPUT1, which also opens and closes the queue, divided by the cost of an MQPUT."""
EMPTY_GET, SKIPPED, OPEN, CLOSE = 1.5, 0.8, 9.0, 5.0
SHARED_OPEN_HELD = 5.5
COMMIT, PREPARE, BACKOUT = 7.0, 12.0, 18.0
LOG_WRITE = 2.25
"""Cost in microseconds of a log record in the buffer, without a wait for the write."""
STREAMED = 1.05
"""Ratio of the additional cost of a streamed put to the cost of the original put."""

RECORD_BYTES = {"put": 500, "get": 110, "unit": 360}
"""Bytes of log records, without the message: per put, per get and per unit of work."""
USED_OF_CI = 4057
MOST_PAGES = 128
"""Maximum number of pages of one write to the log."""

ZHYPERWRITE_PAGES, ZHYPERWRITE_SMALL, ZHYPERWRITE_LARGE = 24, 0.6, 0.88
"""Maximum pages of a small write; ratio of the write time with zHyperWrite to the write time
without zHyperWrite, for small and for large writes.
"""

FIRST_PAGE, NEXT_PAGES = 3596, 4049
DEFERRED, WRITTEN_DOWN_TO, IMMEDIATE = 0.85, 0.75, 0.95
"""Shares of used buffers at which deferred writes start, deferred writes stop, and immediate writes
start.
"""
PAGES_A_WRITE = 16

DISPATCH, DISPATCH_BYTE = 15.0, 0.0012
COMPRESS_BYTE = 0.0085
TLS, TLS_BYTE, TLS_START, TLS_REKEY = 12.0, 0.0036, 3400.0, 3900.0
"""Microseconds of TLS in the channel initiator per message, per byte, per channel start, and per
negotiation of a new key.
"""
TLS_CALLS, CONNECT_CALLS, CONNECT_MOVER = 6, 8, 0.9
CONNECT = 590.0
"""CPU microseconds per connect of a client, CONNECT_MOVER of them in the channel initiator."""

LIST_ENTRIES, CF_SYNC, CF_ASYNC = 60, 8.0, 45.0
"""List entries per read request; microseconds of a synchronous and of an asynchronous request."""


def put_cpu(size: Ints | Floats, shared: Bools) -> Floats:
    """Return the CPU microseconds of an MQPUT of a message, by size."""
    size = np.asarray(size, np.float64)
    private = np.interp(size, _SIZES, _PRIVATE_PUT)
    cost = np.where(shared, np.interp(size, _SIZES, _SHARED_PUT), private)
    whole: Floats = cost + np.maximum(size - _SIZES[-1], 0) * _MORE_BYTE
    return whole


def pages(size: Ints | Floats) -> Ints:
    """Return the number of pages of a message, by size; no page contains two messages."""
    size = np.asarray(size, np.float64)
    more = 1 + np.ceil(size / NEXT_PAGES)
    taken: Ints = np.where(size <= FIRST_PAGE, 1, more).astype(np.int64)
    return taken
