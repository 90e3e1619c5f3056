"""Declarations of a page in `definitions/*.toml`: its parts, panels and tables.

The dataclasses here declare the keys: a file is checked against them when it is loaded.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import Annotated, Any

from smfparse.advice.declaration import rules
from smfparse.declarations import Key, Where, entries, expected, read_table
from smfparse.errors import RequestError
from smfparse.metrics.measures import measure_of, metrics_of
from smfparse.reports.declaration import report_names
from smfparse.summarizing.figures import MEASURES, Shown, lines, with_metrics

TROUGH = "trough"
"""Measure of figures whose lowest value is the worst."""
_MEASURES = {**MEASURES, TROUGH: "least `amount`; lowest first"}
_OF_LINES = ("sql", "metric", "measure", "report", "versions", "optional")
"""Keys of a panel whose defaults come from the panel's line."""
_PERCENT = 100.0
HEAT = "heat"
"""Shape of a panel that is a heat map."""
_SHAPES = ("lines", HEAT)
COLUMN_KINDS = {
    "sum": "the sum of the amounts",
    "seconds": "the sum in seconds, of amounts in hundredths of a second",
    "average": "the average over the time",
    "highest": "the highest of an interval",
    "half": "the median of the intervals",
    "most": "the 99th percentile of the intervals",
}
"""Ways to make a cell of a table from the course of an object, with descriptions."""
_FOLDER = Path(__file__).with_name("definitions")


@dataclass(frozen=True)
class Part:
    """A part of a page, with a status tile."""

    name: str
    title: Annotated[str, Key("title of the component")]
    rules: Annotated[tuple[str, ...], Key("its rules and diagnoses, as patterns")]
    planner: Annotated[str, Key("the planner that it shows", "none")] = ""

    def is_about(self, rule: str) -> bool:
        """Whether the findings of a rule or diagnosis belong to this part."""
        return any(fnmatchcase(rule, each) for each in self.rules)


@dataclass(frozen=True)
class Panel(Shown):
    """A figure over time, for the objects with the worst or highest values.

    A panel can name a line of the summary, and then has its rows, measure, report and versions.
    """

    name: str
    section: Annotated[str, Key("part of the page")]
    title: Annotated[str, Key("name of the figure")]
    unit: Annotated[str, Key("its unit", "that of the only metric")]
    formula: Annotated[str, Key("formula in IBM's field names", "that of the only metric")]
    line: Annotated[str, Key("the line of the summary that supplies the rows", "`sql`")] = ""
    measure: Annotated[
        str,
        Key(
            "how rows are combined",
            "as `line` or `metric` defines; for `sql`, total",
            among=_MEASURES,
        ),
    ] = field(default="total", kw_only=True)
    limit: Annotated[str, Key("the limit of a rule, drawn as a line: LOG-BUSY.busy", "none")] = ""
    rules: Annotated[tuple[str, ...], Key("rules that it shows, as patterns", "none")] = ()
    shape: Annotated[str, Key("how it is drawn", among=_SHAPES)] = "lines"
    is_work: Annotated[
        bool, Key("whether it shows completed work, so that a decrease is also a problem")
    ] = False

    @property
    def limit_value(self) -> float | None:
        """The value of the limit; None: no limit."""
        if not self.limit:
            return None
        rule, _, name = self.limit.partition(".")
        value = rules()[rule].limits[name].value
        return None if math.isnan(value) else value

    @property
    def whole(self) -> float | None:
        """The upper end of the axis: 100 for percentages; None: the highest value.

        CPU time as a percentage of one processor can exceed 100%.
        """
        is_share = self.unit.startswith("%") and not self.unit.endswith("of a CP")
        return _PERCENT if is_share else None


@dataclass(frozen=True)
class TableOf:
    """A table of objects, ordered by the first column."""

    name: str
    section: Annotated[str, Key("part of the page")]
    title: Annotated[str, Key("title")]
    object: Annotated[str, Key("kind of object in a row")]
    spark: Annotated[str, Key("the panel drawn as a sparkline in each row")]
    columns: Annotated[
        tuple[tuple[str, str, str], ...],
        Key("for each column: a panel, the way its rows are combined, and a heading"),
    ]


@cache
def parts() -> Mapping[str, Part]:
    """Return the parts of a page by name, in their order."""
    return {
        name: Part(name, **read_table(Part, spec, where))
        for name, spec, where in entries(_FOLDER / "sections.toml")
    }


@cache
def panels() -> Mapping[str, Panel]:
    """Return all panels by name, in their order. Raises RequestError for a wrong declaration."""
    return {name: _panel(name, *each) for name, *each in entries(_FOLDER / "panels.toml")}


def _panel(name: str, spec: Any, where: Where) -> Panel:
    given = expected(dict, spec, "a table", where)
    if line := given.get("line"):
        where.at("line").check("line", line, lines())
        of_line = lines()[line]
        given = {key: getattr(of_line, key) for key in _OF_LINES} | given
    given = _of_metric(with_metrics(given))
    panel = Panel(name, **read_table(Panel, given, where))
    where.at("section").check("section", panel.section, parts())
    where.at("report").check("report", panel.report, report_names())
    if not panel.sql:
        raise where.wrong("no rows; give line, metric or sql")
    return panel


def _of_metric(given: dict[str, Any]) -> dict[str, Any]:
    """Return a declaration; if it has only one metric, with the metric's unit and formula.

    For a total, these are unit and formula of the rate per second.
    """
    metrics = metrics_of(given.get("metric", ""))
    if len(metrics) != 1:
        return given
    _, measure = measure_of(metrics[0])
    if given["measure"] == "total":
        measure = measure.a_second()
    return {"unit": measure.short_unit, "formula": measure.formula} | given


@cache
def tables() -> Mapping[str, TableOf]:
    """Return all tables by name, in their order. Raises RequestError for a wrong declaration."""
    found = {}
    for name, spec, where in entries(_FOLDER / "tables.toml"):
        table = TableOf(name, **read_table(TableOf, spec, where))
        for panel, kind, _ in table.columns:
            where.check("panel", panel, panels())
            where.check("kind of column", kind, COLUMN_KINDS)
        found[name] = table
    return found


def panel_named(name: str) -> Panel:
    """Return the panel with this name. Raises RequestError with similar names."""
    if name not in panels():
        raise RequestError(str(Where("").unknown("panel", name, panels())))
    return panels()[name]


def part_of(rule: str) -> Part | None:
    """Return the first part that names a rule or diagnosis; None: no part does."""
    return next((each for each in parts().values() if each.is_about(rule)), None)


def panel_of(names: Sequence[str]) -> str:
    """Return the name of the panel for the first rule in `names` that a panel shows; '': none.

    A panel with the name of the rule has priority over a panel with a pattern.
    """
    for rule in names:
        showing = [
            each
            for each in panels().values()
            if any(fnmatchcase(rule, pattern) for pattern in each.rules)
        ]
        if showing:
            return min(showing, key=lambda each: rule not in each.rules).name
    return ""


def definition(name: str) -> str:
    """Return the text of a file of definitions."""
    return (_FOLDER / name).read_text("utf-8")
