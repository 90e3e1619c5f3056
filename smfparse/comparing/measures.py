"""The figures that compare has: `measures.toml`, checked when it is loaded."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Annotated, Any

from smfparse.declarations import Key, Where, as_type, entries, read_table

ROW_KINDS: Mapping[str, str] = {
    "calls": "calls of a name",
    "task": "tasks of a job",
    "log": "log",
    "messages": "messages",
    "pool": "buffer pool",
    "structure": "coupling facility structure",
    "channel": "channel",
}
"""Kinds of rows of `compare.sql`: calls and tasks are grouped by the names that are asked for, all
others by queue manager."""
SECONDS, COMMITS = "seconds", "commits"
EFFECT = "cpu_per_second"
"""The figure by whose change rows are ordered."""
_FOLDER = Path(__file__).parent
_FILE = "measures.toml"
_COLUMN = re.compile(r"\bAS (\w+)")


@cache
def _columns() -> tuple[str, ...]:
    """Return the names of columns in `compare.sql`."""
    return (*dict.fromkeys(_COLUMN.findall(compare_sql())), SECONDS, COMMITS)


@dataclass(frozen=True)
class Measure:
    """A figure: a sum over a sum of rows of a kind of `compare.sql`, times a factor.

    name  as rows have it; {part}: a buffer pool, structure or channel
    kind  of the rows that it is made of
    """

    name: str
    kind: str
    amount: Annotated[str, Key("the column that is added")]
    formula: Annotated[str, Key("how it comes about, in IBM's field names")]
    per: Annotated[
        str,
        Key(
            "the column that it is divided by; `commits` of the job",
            "seconds of all intervals of the queue manager",
        ),
    ] = SECONDS
    unit: Annotated[str, Key("its unit", "none")] = ""
    factor: Annotated[float, Key("what the ratio is multiplied by")] = 1.0
    steady: Annotated[
        bool, Key("whether intervals measure it independently: see `significance.changed`")
    ] = False


def load_measures(folder: Path = _FOLDER) -> tuple[Measure, ...]:
    """Return the figures that `measures.toml` declares, in `folder`.

    Raises RequestError that names the file, the key and the way out where one is declared wrongly.
    """
    file, found = folder / _FILE, []
    where = Where(str(file))
    for kind, declared, place in entries(file):
        where.check("kind", kind, ROW_KINDS)
        for name, spec in as_type(Mapping[str, Any], declared, place).items():
            found.append(_measure(kind, name, spec, place.at(name)))
    where.check("figure", EFFECT, [each.name for each in found])
    return tuple(found)


def _measure(kind: str, name: str, spec: Any, place: Where) -> Measure:
    measure = Measure(name, kind, **read_table(Measure, spec, place))
    place.at("amount").check("column of compare.sql", measure.amount, _columns())
    place.at("per").check("column of compare.sql", measure.per, _columns())
    return measure


def compare_sql() -> str:
    """Return the SQL that sums up a side."""
    return (_FOLDER / "compare.sql").read_text("utf-8")


MEASURES = load_measures()
"""In the order in which they stand for a name."""
