"""The two styles of mq-smf-csv. --help loads this module, so it imports nothing slow."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple


class Style(NamedTuple):
    """How files are written: for spreadsheets (`-f CSV -r` there), or for a database (`-f SQL`).

    headings  whether a file starts with the names of its columns
    split     whether a length of time is seconds and microseconds; otherwise microseconds only
    guarded   whether no cell starts a formula of a spreadsheet
    date      of `strftime`
    no_time   date and time of a missing moment
    most      greatest whole number that is written, others are left empty; None: no limit
    """

    headings: bool
    split: bool
    guarded: bool
    date: str
    no_time: str
    most: int | None


STYLES: Mapping[str, Style] = {
    "mq-smf-csv": Style(True, True, True, "%Y/%m/%d", '""', None),
    "mq-smf-sql": Style(False, False, False, "%Y-%m-%d", "", (1 << 63) - 1),
}
"""Each style by the name of its format. A BIGINT of Db2 has 63 bits."""
