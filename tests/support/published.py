"""Samples that IBM published: texts of reports, and the channel of one."""

from __future__ import annotations

import datetime as dt
from typing import Any

from tests.support import smf
from tests.support.paths import GOLDEN

EAST = dt.timedelta(hours=-5)
"""Local time minus UTC."""
STARTED = dt.datetime(2014, 4, 8, 19, 41, 48) - EAST
SENDER: dict[str, Any] = {
    "qcstchnm": "MQ89_1",
    "qcstcnnm": "127.0.0.1",
    "qcstrqmn": "MQ89",
    "qcstchdp": 4,
    "qcstchty": 1,
    "qcstchst": 3,
    "qcststcl": 65,
    "qcststrt": STARTED.replace(tzinfo=dt.UTC),
    "qcstcltm": (dt.datetime(2014, 4, 8, 19, 43, 57) - EAST).replace(tzinfo=dt.UTC),
    "qcstcbsz": 50,
    "qcstnmsg": 2998,
    "qcstnpmg": 1506,
    "qcstbatc": 77,
    "qcstfuba": 42,
    "qcstbfst": 3319,
    "qcstbfrc": 109,
    "qcstqetc": 13,
    "qcstnbyt": 17_198_653,
    "qcstnpby": 4_251_780,
    "qcstbyst": 17_200_221,
    "qcstbyrc": 3_052,
    "qcstntav": 312,
    "qcstntmn": 43,
    "qcstntmx": 4998,
    "qcstntdt": (dt.datetime(2014, 4, 8, 19, 43, 52) - EAST).replace(tzinfo=dt.UTC),
}
CHANNEL_INTERVAL = dt.datetime(2014, 4, 8, 19, 41, 54, 984_681)


def channels(*blocks: dict[str, Any], **keys: Any) -> bytes:
    """A 116/10 record of the published sample's interval with these channels."""
    usual = {"start": CHANNEL_INTERVAL, "seconds": 122.253258, "east": EAST, "release": "800"}
    usual |= {"system": "MV45", "qmgr": "MQ20"}
    return smf.record(*[smf.block("QCST", 324, **each) for each in blocks], **(usual | keys))


def published(name: str) -> list[str]:
    """Return the lines of a published text, but for names that tests give: golden/published-*."""
    return (GOLDEN / f"published-{name}.txt").read_text("utf-8").splitlines()
