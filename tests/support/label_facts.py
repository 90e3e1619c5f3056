"""The lines of texts that each show one field: facts/lines.csv, written by hand.

of     task, queue or qstat
label  of the line
field  whose number it shows
over   an average: the field is divided by this one
"""

from __future__ import annotations

import csv
from functools import cache
from typing import NamedTuple

from tests.support.paths import FACTS


class Numbered(NamedTuple):
    """Fields with a number of their own each, and the numbers that lines have to show."""

    fields: dict[str, int]
    shown: dict[str, str]


@cache
def numbered(of: str) -> Numbered:
    """Number the fields of a kind of lines; a time is so many times what it is divided by."""
    with (FACTS / "lines.csv").open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["of"] == of]
    numbers = {row["label"]: 101 + at for at, row in enumerate(rows)}
    fields = {row["field"]: numbers[row["label"]] for row in rows if not row["over"]}
    for row in rows:
        if row["over"] and row["field"] not in fields:
            fields[row["field"]] = numbers[row["label"]] * fields[row["over"]]
    shown = {row["label"]: str(fields[row["field"]] // fields.get(row["over"], 1)) for row in rows}
    return Numbered(fields, shown)
