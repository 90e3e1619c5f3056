"""Samples that IBM published: texts of reports, and the channel of one."""

from __future__ import annotations

import datetime as dt
from typing import Any

from tests.support import smf
from tests.support.paths import GOLDEN

PUTS: dict[str, dict[int, tuple[float, float, float]]] = {
    "private": {
        2: (4.5, 9.5, 5), 4: (5, 10.6, 5.6), 8: (6, 12.9, 6.9), 16: (8, 16.4, 8.4),
        32: (13, 26.6, 13.3), 64: (21, 42.5, 21.5), 128: (36, 73.4, 37.4),
    },
    "shared": {
        2: (7.3, 15.5, 8.2), 4: (9, 18, 9), 8: (11, 23, 12), 16: (15.4, 32.3, 16.9),
        32: (23.4, 51.9, 28.5), 64: (25.4, 51.9, 26.5), 128: (36.9, 74.6, 37.7),
    },
}  # fmt: skip
"""KB of a message to CPU of an MQPUT: without a stream, with one, overhead (MQ 9.3 report).

That of 32 KB to a private queue is not the difference of the two, which are rounded."""
EAST = dt.timedelta(hours=-5)
"""Local time minus UTC."""


def _utc(hour: int, minute: int, second: int) -> dt.datetime:
    return (dt.datetime(2014, 4, 8, hour, minute, second) - EAST).replace(tzinfo=dt.UTC)


SENDER: dict[str, Any] = {
    "qcstchnm": "MQ89_1", "qcstcnnm": "127.0.0.1", "qcstrqmn": "MQ89", "qcstchdp": 4,
    "qcstchty": 1, "qcstchst": 3, "qcststcl": 65, "qcststrt": _utc(19, 41, 48),
    "qcstcltm": _utc(19, 43, 57), "qcstcbsz": 50, "qcstnmsg": 2998, "qcstnpmg": 1506,
    "qcstbatc": 77, "qcstfuba": 42, "qcstbfst": 3319, "qcstbfrc": 109, "qcstqetc": 13,
    "qcstnbyt": 17_198_653, "qcstnpby": 4_251_780, "qcstbyst": 17_200_221, "qcstbyrc": 3_052,
    "qcstntav": 312, "qcstntmn": 43, "qcstntmx": 4998, "qcstntdt": _utc(19, 43, 52),
}  # fmt: skip
CHANNEL_INTERVAL, SECONDS = dt.datetime(2014, 4, 8, 19, 41, 54, 984_681), 122.253258


def of_chinit(*blocks: bytes, **keys: Any) -> bytes:
    """A record of the channel initiator of the published sample, of its interval."""
    usual = {"start": CHANNEL_INTERVAL, "seconds": SECONDS, "east": EAST, "release": "800"}
    return smf.record(*blocks, **(usual | {"system": "MV45", "qmgr": "MQ20"} | keys))


def channels(*blocks: dict[str, Any], **keys: Any) -> bytes:
    """A 116/10 record of that with these channels."""
    return of_chinit(*(smf.block("QCST", 324, **each) for each in blocks), **keys)


def published(name: str) -> list[str]:
    """Return the lines of a published text, but for names that tests give: golden/published-*."""
    return (GOLDEN / f"published-{name}.txt").read_text("utf-8").splitlines()
