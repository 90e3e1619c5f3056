"""Files of mq-smf-csv, cell by cell as they stand: with quotes and blanks; and our tables."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from smfparse.inputs import open_inputs
from smfparse.tables import table_names, wanted_tables

Row: TypeAlias = Mapping[str, Any]
_CELL = re.compile(r'("(?:[^"]|"")*"|[^",]*),')


@dataclass(frozen=True)
class Written:
    """A file: its headings, and the cells of its rows."""

    headings: list[str]
    rows: list[list[str]]

    def column(self, heading: str) -> list[str]:
        """Return the cells of a column."""
        at = self.headings.index(heading)
        return [each[at] for each in self.rows]


def read_lines(path: Path) -> list[list[str]]:
    """Return the cells of each line; every one has a comma behind it."""
    text = path.read_text("utf-8")
    assert text.endswith("\n")
    assert "\r" not in text
    return [_cells(line) for line in text.splitlines()]


def read_file(path: Path) -> Written:
    """Return a file that starts with headings."""
    headings, *rows = read_lines(path)
    assert {len(each) for each in rows} <= {len(headings)}
    return Written(headings, rows)


def _cells(line: str) -> list[str]:
    assert _CELL.sub("", line) == "", line
    return _CELL.findall(line)


def plain(cell: str) -> str:
    """Return a text without quotes, and without the blanks that fill it up."""
    return cell.removeprefix('"').removesuffix('"').replace('""', '"').rstrip()


INDEX = {
    "qjst_io": ("copy", "io_type"),
    "wtas_latch": ("latch",),
    "wtas_cf": ("phase", "request"),
    "wqst_cf": ("verb", "request"),
}
"""Index columns of the child tables whose rows are columns of their block."""


class Decoded:
    """All our tables of one SMF file: `rows` of each; child rows by block and index too."""

    def __init__(self, path: Path) -> None:
        self.rows: dict[str, list[Row]] = {table: [] for table in table_names()}
        for table, batch in open_inputs([path]).batches(wanted_tables(table_names())):
            self.rows[table] += batch.to_pylist()
        self._entries = {
            (table, row["record_no"], row["block_no"], tuple(row[name] for name in index)): row
            for table, index in INDEX.items()
            for row in self.rows[table]
        }

    def entry(self, owner: Row, table: str, index: tuple[Any, ...]) -> Row | None:
        """Return one entry of a repeated group of the block that `owner` is the row of."""
        return self._entries.get((table, owner["record_no"], owner["block_no"], index))
