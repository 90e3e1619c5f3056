"""An average leaves out a time that is not known, and with it what the time is of."""

from __future__ import annotations

import re
from pathlib import Path

import smfparse.reports
from smfparse.layout import Duration
from smfparse.tables import TABLES, columns

FOLDER = Path(smfparse.reports.__file__).parent
SQL = [FOLDER / "macros.sql", *sorted((FOLDER / "definitions").glob("*.sql"))]
COUNTED = {
    (table, column.name): column.field.kind.counter
    for table in TABLES
    for column in TABLES[table].columns
    if isinstance(column.field.kind, Duration) and column.field.kind.counter is not None
}
"""What counts each time that is divided by a count, by table and time."""


def test_no_report_divides_a_time_by_all_that_was_counted() -> None:
    """That is by `getn`; `getet_n` are those whose time is known."""
    assert len(COUNTED) > 60
    for (table, _), counter in COUNTED.items():
        assert counter in {each.name for each in columns(table)}
    pairs = {(time, counter) for (_, time), counter in COUNTED.items()}
    for path in SQL:
        text = path.read_text("utf-8")
        assert pairs.isdisjoint(re.findall(r"\b(\w+)\)? / nullif\((?:sum\()?(\w+)", text)), path
