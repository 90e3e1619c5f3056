"""The time until active logs are full without archiving."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

from smfparse.planning.asking import said
from smfparse.planning.plans import Figure

HALF_DAY = 12
"""Minimum hours that active logs should last; the preferred number is 24."""
MOST_LOGS = 310
"""Maximum number of active logs of each copy."""


class LogSpace(NamedTuple):
    """Log space of one copy, GB. None: space unknown.

    hourly      average per hour
    hour        space written in the busiest hour
    half_day    space written in the busiest 12 hours
    unarchived  space written minus space archived in the same time
    """

    hourly: float | None
    hour: float | None
    half_day: float | None
    unarchived: float | None


def active_logs(
    used: LogSpace, size: float | None, logs: int | None, copies: int, outage_hours: float
) -> Iterator[Figure]:
    """Yield the time until active logs are full, and the number of logs for an archiving outage.

    size  GB of one log
    logs  number of active logs of each copy
    """
    if used.hourly is not None:
        yield Figure("used_gb_h", "Log space used per copy", used.hourly, "GB/hour", "", 3)
    if size is None:
        return
    yield from _archiving(used, size, logs)
    yield from _time_of_log(used, size)
    if logs is not None:
        yield from _until_full(used, size, logs, copies)
    yield from _needed(used, size, outage_hours)


def _archiving(used: LogSpace, size: float, logs: int | None) -> Iterator[Figure]:
    if used.unarchived is None:
        return
    behind = used.unarchived / size
    if logs is not None and behind > logs:
        words = f"not possible with {logs} logs: check --log-size and --logs"
    elif behind > 1:
        words = "archiving is too slow, or --log-size is too small"
    else:
        words = "archiving keeps up"
    yield Figure(
        *("behind_logs", "Created but not archived", behind, "logs"),
        *(f"{said(used.unarchived)} GB / {said(size)} GB: {words}", 2),
    )


def _time_of_log(used: LogSpace, size: float) -> Iterator[Figure]:
    if used.hour:
        yield Figure(
            *("log_minutes", "Time to fill one log in the busiest hour", 60 * size / used.hour),
            *("minutes", f"60 x {said(size)} / {said(used.hour)}"),
        )


def _until_full(used: LogSpace, size: float, logs: int, copies: int) -> Iterator[Figure]:
    space = size * logs
    yield Figure(
        *("active_gb", "Active logs on disk", space * copies, "GB"),
        *(f"{copies} x {logs} x {said(size)}", 1),
    )
    for name, label, rate, how in (
        ("full_h", "All logs full at the average rate", used.hourly, ""),
        ("full_peak_h", "All logs full in the busiest hour", used.hour, ""),
        ("full_half_day_h", "All logs full in the busiest 12 hours", used.half_day, " x 12"),
    ):
        if rate:
            hours = space / rate * (HALF_DAY if how else 1)
            formula = f"{logs} x {said(size)} / {said(rate)}{how}, if all are empty now"
            yield Figure(name, label, hours, "hours", formula, 1)


def _needed(used: LogSpace, size: float, hours: float) -> Iterator[Figure]:
    if not used.half_day or not used.hour:
        return
    gb = used.half_day * hours / HALF_DAY
    formula = f"{said(used.half_day)} x {said(hours)} / 12"
    if hours < HALF_DAY:
        gb = min(used.half_day, used.hour * hours)
        formula = f"lesser of {said(used.half_day)} and {said(used.hour)} x {said(hours)}"
    logs = math.ceil(gb / size)
    too_many = f"; the maximum is {MOST_LOGS}: use larger logs" if logs > MOST_LOGS else ""
    yield Figure(
        *("logs_needed", f"Logs per copy for {said(hours)} hours without archiving", logs, ""),
        f"ceil(({formula}) / {said(size)}){too_many}",
    )
