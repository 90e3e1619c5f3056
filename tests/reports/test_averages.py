"""An average leaves out a time that is not known, and with it what the time is of."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import smfparse.reports
from smfparse.layout import Duration
from smfparse.tables import TABLES, columns

FOLDER = Path(smfparse.reports.__file__).parent
SQL = [FOLDER / "macros.sql", *sorted((FOLDER / "definitions").glob("*.sql"))]


def _counted() -> Iterator[tuple[str, str, str]]:
    """Yield table, time and counter of each time that is divided by a count."""
    for table in TABLES:
        for column in TABLES[table].columns:
            kind = column.field.kind
            if isinstance(kind, Duration) and kind.counter is not None:
                yield table, column.name, kind.counter


COUNTED = {time: counter for _, time, counter in _counted()}


def test_what_counts_is_a_column_of_the_same_table() -> None:
    assert len(COUNTED) > 60
    for table, time, counter in _counted():
        assert counter in {each.name for each in columns(table)}, (table, time)


@pytest.mark.parametrize("path", SQL, ids=lambda path: path.name)
def test_no_report_divides_a_time_by_all_that_was_counted(path: Path) -> None:
    """That is by `getn`; `getet_n` are those whose time is known."""
    divided = re.findall(r"\b(\w+)\)? / nullif\((?:sum\()?(\w+)", path.read_text(encoding="utf-8"))

    assert not [(time, by) for time, by in divided if COUNTED.get(time) == by]
