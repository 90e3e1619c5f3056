"""From a catalog to a summary: one scan for the rules and all lines."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from smfparse.advice import Finding, run_rules
from smfparse.summarizing.declaration import Line, line_macros, lines
from smfparse.summarizing.timing import Times, times_of
from smfparse.tables import named_macros, view_macros

if TYPE_CHECKING:
    from smfparse.query import Catalog

_FOLDER = Path(__file__).with_name("definitions")
_TIMES = "summary_times"
_SLOTS = "summary_slots"
_AMOUNT = {
    "average": "total(amount / spread)",
    "peak": "max(amount)",
    "total": "total(amount / spread)",
}
_PER = {"average": "total(per / spread)", "peak": "1.0", "total": "any_value(slot_us) / 1e6"}
"""By measure, what the rows of a slot become; a figure is amount over per."""
_RANK = {"average": "sum(amount) / sum(per)", "peak": "max(amount)", "total": "sum(amount)"}
_SLOT_COLUMNS = ("system", "qmgr", "first_us", "slot_us", "slots")


@dataclass(frozen=True)
class Figures:
    """A line of a queue manager: what an object was over time.

    usual    over all of the time
    highest  of a slot of time, and the local time at which that begins
    slots    the amount and what it is per, by the number of the slot; those without data are not
             there
    """

    line: Line
    object: str
    usual: float
    highest: float
    at: dt.datetime
    slots: Mapping[int, tuple[float, float]]

    def over_time(self, count: int, most: int) -> list[float | None]:
        """Return the figure over time in at most `most` steps; None: no data.

        count  slots that there are
        """
        steps = min(count, most)
        bounds = [at * count // steps for at in range(steps + 1)]
        return [self._of(range(*each)) for each in pairwise(bounds)]

    def _of(self, some: range) -> float | None:
        found = [self.slots[slot] for slot in some if slot in self.slots]
        if not found:
            return None
        if self.line.measure == "peak":
            return max(amount for amount, _ in found)
        return sum(amount for amount, _ in found) / sum(per for _, per in found)


@dataclass(frozen=True)
class Day:
    """What a queue manager's data shows.

    findings  ranked, the most serious first
    missing   the trace that would make MQ write what is not there, and the lines without data
    """

    times: Times
    findings: Sequence[Finding]
    figures: Sequence[Figures]
    missing: Sequence[tuple[str, Sequence[Line]]]


@dataclass(frozen=True)
class Summary:
    """The days of all queue managers, by system and name."""

    days: Sequence[Day] = ()


def summarized(catalog: Catalog) -> Summary:
    """Summarize the inputs of a catalog; SMF files are read once."""
    queries = {_rows_name(line): line.sql for line in lines().values()}
    queries[_TIMES] = (_FOLDER / "times.sql").read_text("utf-8")
    catalog.define(named_macros(" ".join(queries.values()), view_macros() + line_macros()))
    checked = run_rules(catalog, also=queries)
    found = times_of(catalog.arrow(_times_query()).to_pylist())
    catalog.connection.register(_SLOTS, _slot_table(found))
    figures = [each for line in lines().values() for each in _figures(catalog, line, found)]
    return Summary(
        [
            _day(
                times,
                [each for each in checked.findings if (each.system, each.qmgr) == _key(times)],
                [each for key, each in figures if key == _key(times)],
            )
            for times in found
        ]
    )


def _rows_name(line: Line) -> str:
    return f"summary_{line.name.replace('-', '_')}"


def _times_query() -> str:
    return f"SELECT * REPLACE (epoch_us(start) AS start) FROM {_TIMES} WHERE start IS NOT NULL"


def _key(times: Times) -> tuple[str, str]:
    return times.system, times.qmgr


def _slot_table(found: Sequence[Times]) -> pa.Table:
    """Return how the time of each queue manager is divided, as `placed.sql` reads it."""
    texts = [pa.array([key[at] for key in map(_key, found)], pa.string()) for at in (0, 1)]
    rows = zip(*((each.first, each.slot, each.slots) for each in found), strict=True)
    numbers = [pa.array(each, pa.int64()) for each in rows] or [pa.array([], pa.int64())] * 3
    return pa.table([*texts, *numbers], names=_SLOT_COLUMNS)


def _day(times: Times, findings: Sequence[Finding], figures: Sequence[Figures]) -> Day:
    there = {each.line.name for each in figures}
    absent = [each for each in lines().values() if each.name not in there and not each.optional]
    missing: dict[str, list[Line]] = {}
    for line in absent:
        missing.setdefault(line.trace, []).append(line)
    return Day(times, findings, figures, list(missing.items()))


def _figures(
    catalog: Catalog, line: Line, found: Sequence[Times]
) -> Iterator[tuple[tuple[str, str], Figures]]:
    """Yield the objects of a line that come first, each with its queue manager."""
    times = {_key(each): each for each in found}
    rows = catalog.arrow(_placed_query(line)).to_pylist()
    for (key, name), own in groupby(rows, _key_and_object):
        slots = dict(_slots(line, own, times[key].slot))
        if not slots:
            continue
        start, (amount, per) = max(slots.items(), key=lambda each: each[1][0] / each[1][1])
        usual = sum(each for each, _ in slots.values()) / sum(each for _, each in slots.values())
        at = times[key].local(times[key].first + start * times[key].slot)
        yield key, Figures(line, name, usual, amount / per, at, slots)


def _key_and_object(row: Mapping[str, Any]) -> tuple[tuple[str, str], str]:
    return (row["system"], row["qmgr"]), row["object"]


def _slots(
    line: Line, rows: Iterator[Mapping[str, Any]], slot_us: int
) -> Iterator[tuple[int, tuple[float, float]]]:
    """Yield the slots with data: of a total those without a row have 0."""
    for row in rows:
        if row["amount"] is not None and row["per"]:
            yield row["slot"], (float(row["amount"]), float(row["per"]))
        elif line.measure == "total":
            yield row["slot"], (0.0, slot_us / 1e6)


def _placed_query(line: Line) -> str:
    return (
        (_FOLDER / "placed.sql")
        .read_text("utf-8")
        .format(
            rows=_rows_name(line),
            per="per" if line.measure == "average" else "NULL",
            amount_of_slot=_AMOUNT[line.measure],
            per_of_slot=_PER[line.measure],
            rank=_RANK[line.measure],
            top=line.top,
        )
    )
