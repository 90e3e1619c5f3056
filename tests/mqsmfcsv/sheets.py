"""Files of mq-smf-csv, cell by cell as they stand: with quotes and blanks."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

_CELL = re.compile(r'("(?:[^"]|"")*"|[^",]*),')


@dataclass(frozen=True)
class Written:
    """A file: its headings, and the cells of its rows."""

    headings: list[str]
    rows: list[list[str]]

    def column(self, heading: str) -> list[str]:
        at = self.headings.index(heading)
        return [each[at] for each in self.rows]


def read_lines(path: Path) -> list[list[str]]:
    """Return the cells of each line; every one has a comma behind it."""
    text = path.read_text("utf-8")
    assert text.endswith("\n")
    assert "\r" not in text
    lines = text.splitlines()
    assert not [line for line in lines if _CELL.sub("", line)]
    return [_CELL.findall(line) for line in lines]


def read_file(path: Path) -> Written:
    """Return a file that starts with headings."""
    headings, *rows = read_lines(path)
    assert {len(each) for each in rows} <= {len(headings)}
    return Written(headings, rows)
