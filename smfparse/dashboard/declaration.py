"""Declarations of a page in `definitions/*.toml`: its parts, panels (charts) and tables.

The dataclasses here declare the keys of these files.
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
"""Value of `measure` for figures whose lowest value is the worst."""
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
    "average": "the average over the whole time",
    "highest": "the highest value of an interval",
    "half": "the median over the intervals",
    "most": "the 99th percentile over the intervals",
}
"""Ways to compute a cell of a table from the course of an object, with descriptions."""
_FOLDER = Path(__file__).with_name("definitions")


@dataclass(frozen=True)
class Part:
    """A part of a page, with a status tile."""

    name: str
    title: Annotated[str, Key("title of the component")]
    rules: Annotated[tuple[str, ...], Key("rules and diagnoses of the part, as patterns")]
    planner: Annotated[str, Key("the planner shown in the part", "none")] = ""

    def is_about(self, rule: str) -> bool:
        """Whether the findings of a rule or diagnosis belong to this part."""
        return any(fnmatchcase(rule, each) for each in self.rules)


@dataclass(frozen=True)
class Panel(Shown):
    """A chart of a figure over time, for the objects with the worst or highest values.

    If a panel names a line of the summary, the keys _OF_LINES have the values of this line.
    """

    name: str
    section: Annotated[str, Key("part of the page")]
    title: Annotated[str, Key("name of the figure")]
    unit: Annotated[str, Key("unit of the figure", "that of the only metric")]
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
    rules: Annotated[tuple[str, ...], Key("rules about the figure, as patterns", "none")] = ()
    shape: Annotated[str, Key("kind of chart", among=_SHAPES)] = "lines"
    is_work: Annotated[
        bool, Key("whether the figure is completed work, so that a decrease is also a problem")
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

        CPU time as a percentage of one processor ("% of a CP") can exceed 100%.
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
        Key("for each column: a panel, the way its values are combined, and a heading"),
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
    """Return a declaration, with the unit and formula of its metric if it has exactly one.

    For a total, unit and formula are those of the rate per second.
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
    """Return the panel with this name. Raises RequestError if it is unknown."""
    if name not in panels():
        raise RequestError(str(Where("").unknown("panel", name, panels())))
    return panels()[name]


def part_of(rule: str) -> Part | None:
    """Return the first part that names a rule or diagnosis; None: no part does."""
    return next((each for each in parts().values() if each.is_about(rule)), None)


def panel_of(names: Sequence[str]) -> str:
    """Return the name of the panel for the first rule in `names` that has a panel; '': none.

    A panel that names the rule itself precedes a panel that names a pattern.
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
    """Return the text of the file `name` in `definitions`."""
    return (_FOLDER / name).read_text("utf-8")
