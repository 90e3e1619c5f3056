"""Declarations of the lines of a summary, from `definitions/lines.toml`.

The dataclasses here declare the keys: the file is checked against them when it is loaded.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Annotated, Any

from smfparse.declarations import Key, Where, entries, expected, read_table
from smfparse.metrics.measures import measure_of, metrics_of, over_time, way_of
from smfparse.rendering.figures import STYLES
from smfparse.reports.declaration import report, report_names

MEASURES = {
    "average": "sum of `amount` over sum of `per`; highest average first",
    "peak": "greatest `amount`; highest peak first",
    "total": "`amount` per second, 0 without data; largest total first",
}
"""Ways to combine rows into one figure, each with its formula and the order of objects."""
_FOLDER = Path(__file__).with_name("definitions")


def _whole(value: Any, where: Where, _before: Mapping[str, Any]) -> int:
    number: int = expected(int, value, "a whole number", where)
    return number


@dataclass(frozen=True, kw_only=True)
class Shown:
    """A figure of a queue manager over time, and the source of its rows.

    A row of `sql` describes an object in an interval. The columns are system, qmgr, object (all
    VARCHAR), start (UTC), seconds, amount and, for an average, per.
    """

    report: Annotated[str, Key("the report with more detail", "that of the metric's subject")] = ""
    metric: Annotated[
        Any,
        Key(
            "the measure that it shows: log.task_busy; or several, by object", "the values of `sql`"
        ),
    ] = ""
    measure: Annotated[
        str,
        Key("how rows are combined", "as the metric defines; for `sql`, total", among=MEASURES),
    ] = "total"
    sql: Annotated[str, Key("query for the rows", "the rows of the metric")] = ""
    versions: Annotated[str, Key("the first MQ version with its fields", "all")] = ""
    optional: Annotated[bool, Key("whether some sites do not have such data")] = False

    @property
    def trace(self) -> str:
        """The MQ commands that start the trace with the data."""
        return report(self.report).trace.rstrip(",")


@dataclass(frozen=True)
class Line(Shown):
    """A line of a summary: the objects where a figure is highest."""

    name: str
    label: Annotated[str, Key("name of the figure, with its unit")]
    style: Annotated[
        str,
        Key("[style](../smfparse/rendering/figures.py) of the figure", among=STYLES),
    ] = "tenths"
    top: Annotated[int, Key("number of objects shown", read=_whole, written="a number")] = 1
    limit: Annotated[float, Key("value that the figure must not reach", "none")] = math.nan
    names: Annotated[
        str, Key("kind of its objects, if new and missing objects are reported", "none")
    ] = ""

    @property
    def full(self) -> float:
        """The value of a full block in a sparkline; 0: the greatest value in the sparkline."""
        return 100 if self.label.endswith(", %") else 0


def with_metrics(given: dict[str, Any]) -> dict[str, Any]:
    """Return a declaration, completed from its metric.

    The metric supplies missing keys: the query, the way to combine rows, and the report.
    """
    metric = given.get("metric")
    if not metric:
        return given
    way = given.get("measure") or way_of(metric)
    subject, _ = measure_of(metrics_of(metric)[0])
    return {"sql": over_time(metric, way), "measure": way, "report": subject.report} | given


@cache
def lines() -> Mapping[str, Line]:
    """Return all lines by name, in their order. Raises RequestError for a wrong declaration."""
    found = {}
    for name, spec, where in entries(_FOLDER / "lines.toml"):
        given = with_metrics(expected(dict, spec, "a table", where))
        line = Line(name, **read_table(Line, given, where))
        where.at("report").check("report", line.report, report_names())
        found[name] = line
    return found
