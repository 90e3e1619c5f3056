"""SMF dumps of `generate`, of which a test says only what matters to it."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import Any, BinaryIO, TypeVar

from smfparse.simulating.every_kind import generate

DUMP: dict[str, Any] = {
    "qmgrs": ["QM01", "QM02"], "system": "SYSA", "version": "9.3.0", "seed": 1,
    "start": dt.datetime(2026, 3, 4, 9), "utc_offset": dt.timedelta(0),
    "interval": dt.timedelta(minutes=30), "count": 3, "tasks": 8, "queues": 3,
}  # fmt: skip
"""Three intervals of two queue managers."""
Target = TypeVar("Target", Path, BinaryIO)


def generate_dump(target: Target, **changes: Any) -> Target:
    """Write DUMP with some changes; return where it was written to."""
    generate(target, **(DUMP | changes))
    return target


def generate_midnight(target: Target, *qmgrs: str, **changes: Any) -> Target:
    """Write queue managers over midnight, with records of SMF's own that are of none."""
    start, east = dt.datetime(2026, 3, 4, 23), dt.timedelta(hours=2)
    given: dict[str, Any] = {"start": start, "utc_offset": east, "version": "10.0.0", "count": 4}
    return generate_dump(target, qmgrs=qmgrs, **(given | changes))
