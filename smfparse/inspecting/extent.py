"""The extent of inputs, for the message about a selection without records; completeness."""

from __future__ import annotations

import datetime as dt
from collections.abc import Collection, Iterable, Iterator
from difflib import get_close_matches

import pyarrow as pa

from smfparse.calendar.coverage import Coverage, coverage_of, coverage_query
from smfparse.calendar.intervals import calendar_macros, calendar_query, calendars_of
from smfparse.errors import did_you_mean
from smfparse.inputs.opening import Inputs, with_all_records
from smfparse.inspecting.groups import Inventory
from smfparse.inspecting.losses import lost_records
from smfparse.metrics.views import named_macros
from smfparse.rendering.figures import few
from smfparse.selecting.counting import COUNTED_AT
from smfparse.selecting.selection import Selection
from smfparse.selecting.subjects import NAMED
from smfparse.tables.dictionary import RECORD

_NEAR = 3
_HALF = dt.timedelta(minutes=30)
"""Maximum time between the end of an interval and the moment at which the interval counts."""
_COUNTING = "where an interval counts at its middle; select a longer time"
_COLUMNS = frozenset({"system", "qmgr", "type", "counted_at"})


def extent_text(inputs: Inputs) -> str:
    """Return the extent of inputs without a selection: queue managers, times, types, near names."""
    selection, every = inputs.selection, with_all_records(inputs)
    managers: set[str] = set()
    types: set[int] = set()
    times: list[dt.datetime] = []
    for _, batch in every.batches({RECORD: _COLUMNS}):
        whose = pa.Table.from_batches([batch]).select(["system", "qmgr", "type"])
        for row in whose.group_by(whose.column_names).aggregate([]).to_pylist():
            types.add(row["type"])
            if row["qmgr"]:
                managers.add(f"{row['qmgr']} on {row['system']}")
        if counted := [*filter(None, batch["counted_at"].unique().to_pylist())]:
            times += [min(counted), max(counted)]
    parts = [few(sorted(managers)) or "no queue manager"]
    if times:
        parts.append(f"{min(times):%Y/%m/%d %H:%M} to {max(times):%Y/%m/%d %H:%M}")
    if selection.types:
        parts.append(f"types {few([str(each) for each in sorted(types)])}")
    if times and selection.time_column == COUNTED_AT and _meet(times, selection):
        parts.append(_COUNTING)
    near = [_near(every, option, names) for option, names in selection.by_name.items()]
    return "; ".join([f"the input covers {', '.join(parts)}", *filter(None, near)])


def _meet(times: Collection[dt.datetime], selection: Selection) -> bool:
    """Whether intervals that count at `times` may contain the selected time."""
    start, end = selection.start or min(times), selection.end or max(times)
    return start - _HALF <= max(times) and min(times) <= end + _HALF


def _near(every: Inputs, option: str, asked: Iterable[str]) -> str:
    """Return a question with names similar to the selected names; '': no similar names."""
    known = {*_names(every, option)}
    near = dict.fromkeys(
        name
        for each in sorted(asked)
        if each.upper() not in known
        for name in get_close_matches(each.strip("*").upper(), sorted(known), _NEAR)
    )
    return did_you_mean(near, "", option)


def _names(every: Inputs, option: str) -> Iterator[str]:
    wanted = {table: frozenset(columns) for table, columns in NAMED[option].items()}
    for table, batch in every.batches(wanted):
        for column in NAMED[option][table]:
            yield from filter(None, batch[column].unique().to_pylist())


def coverage_in(inputs: Inputs, found: Inventory) -> list[Coverage]:
    """Return the completeness of the data of each queue manager; empty if names are selected.

    Gaps cannot be found in records of only some jobs, queues or channels.
    """
    from smfparse.query.catalog import Catalog

    selection = inputs.selection
    if selection.by_name:
        return []
    queries = [calendar_query(), coverage_query()]
    with Catalog(inputs) as catalog:
        catalog.define(named_macros(" ".join(queries), calendar_macros(selection)))
        intervals, figures = catalog.arrows(queries)
    return coverage_of(
        calendars_of(intervals, inputs.zone),
        figures,
        lost_records(found.losses),
        lambda *record: not selection.types or selection.has_type(*record),
        inputs.met.count,
    )
