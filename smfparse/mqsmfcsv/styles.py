"""The two styles of mq-smf-csv. --help loads this module, so it imports nothing slow."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple


class Style(NamedTuple):
    """A style of files: for spreadsheets (`mqsmf -f CSV -r`), or for a database (`mqsmf -f SQL`).

    headings  whether a file starts with the names of its columns
    split     whether a duration is seconds and microseconds; otherwise microseconds only
    guarded   whether cells are changed so that no cell is a formula of a spreadsheet
    date      format of dates, for `strftime`
    no_time   cell for the date, and for the time, of a missing moment
    most      maximum whole number; cells of greater numbers are empty; None: no maximum
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
"""Styles by the name of the format. The maximum is that of a BIGINT in Db2."""
