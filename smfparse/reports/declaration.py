"""Declarations of reports: `definitions/<name>.toml` describes `definitions/<name>.sql`.

The SQL computes the numbers, with the `section` of each row. The TOML declares the name, style,
formula and fields of each figure. The dataclasses here declare the keys of the TOML file, and
docs/extending.md lists them.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from typing import Annotated, Any

from smfparse.declarations import Key, Where, as_type, expected, families, read_table, toml
from smfparse.decoding.dictionary import TABLES, decoded_tables
from smfparse.errors import RequestError, did_you_mean
from smfparse.layout.columns import Column
from smfparse.metrics.measures import metric_subject, subject_names, subject_of
from smfparse.planning.plans import planner_names
from smfparse.rendering.figures import ABSENT, NUMBERS, STYLES
from smfparse.reports.options import parsed
from smfparse.reports.sections import DECLARED, ONE_SECTION, RECORDED, Sections
from smfparse.reports.sources import check, origin, report_sql

EVIDENCE = {
    "field": "the field itself",
    "published": "a formula that IBM published, or that published values confirm",
    "inferred": "our reading of the fields; IBM has not published the formula",
}
_FOLDER = Path(__file__).with_name("definitions")
_OWNERS = {"z/OS": "system", "QM": "qmgr"}
"""Keys of the owner of a section or row, by heading."""
KEY_HEADINGS = {**_OWNERS, "Date": "date", "Time": "time"}
"""Keys in front of the figures by default, by heading."""
_NO_SAMPLE = "this report of MP1B is not available: IBM has published no sample"
_ELSEWHERE = {
    "QCPU": "use the report api-cost with by=queue",
    "MQ1150": "use the statistics reports: log, buff, msgm and others; or the report all",
    "MQ1160": "use the report class1",
    "MQ116S": "use the report task",
    "MQCSMF": "use SQL: the command sql",
    "OFIELD": _NO_SAMPLE,
    "EOJ": _NO_SAMPLE,
}
"""Advice by DD name or earlier program that has no report: where the same data is shown."""
_NEAR = 3
"""Maximum number of similar names in a message."""
_DD_CSV = "CSV"
"""Optional end of a DD name, as in MP1B's CSV files."""
_RANGE = ".."
"""Separator of the first and the last figure in a range of figures."""
_LIKE = re.compile(r"\{(\??)([\w.,]+)\}(.*\{value\b.*)")
"""A template line that is repeated for several figures: `?` (absent and zero figures are omitted),
the names of the figures, and the rest of the line.
"""
_PART = re.compile(r"\{(label|words|unit|value)(\w*)(?::([^}]*))?\}")
"""A placeholder in the rest of such a line: part of a figure, suffix, format. With the suffix in
`{value_size}`, the value is that of the figure <name>_size.
"""


@dataclass(frozen=True)
class Figure:
    """One figure of a report; `name` is its column in the SQL and its key in JSON."""

    name: str
    csv: Annotated[
        str,
        Key('CSV header; `""`: not in CSV; default with a `label`: the label without blanks'),
    ]
    style: Annotated[str, Key("the [style](../smfparse/rendering/figures.py)", among=STYLES)]
    formula: Annotated[str, Key("formula in IBM's field names")]
    evidence: Annotated[
        str, Key("where the formula comes from: `field`, `published`, `inferred`", among=EVIDENCE)
    ] = "field"
    suffix: Annotated[str, Key("unit after a value in text", "none")] = ""
    note: Annotated[str, Key("explanation for readers", "none")] = ""
    measure: Annotated[
        str, Key("the measure or field: `putn`, `putet_average`, `task.cpu`", "the name")
    ] = ""
    absent: Annotated[str, Key("text in place of a missing value")] = ABSENT
    label: Annotated[str, Key("name in lines for several figures", "`csv`")] = ""
    unit: Annotated[str, Key("unit in these lines", "none")] = ""
    where: Annotated[
        str,
        Key("these lines require a value of this figure", "the figure itself"),
    ] = ""
    heading: Annotated[str, Key("heading in the tables of `blocks`", "`csv`")] = ""
    width: Annotated[str, Key("format in these tables: `>8`, `<20`", "none")] = ""

    @property
    def headings(self) -> tuple[str, ...]:
        """The names of the figure in CSV, in lines for several figures, and in tables."""
        return self.csv, self.label, self.heading

    def part(self, found: re.Match[str]) -> str:
        """Return the text of this figure for a placeholder _PART."""
        name, behind, how = found.groups("")
        if name == "value":
            return f"{{{self.name}{behind}:{how}}}"
        label = self.label or self.csv
        words = (each.capitalize() if each.islower() else each for each in label.split())
        return format({"label": label, "words": "_".join(words), "unit": self.unit}[name], how)


@dataclass(frozen=True)
class TextTable:
    """The rows of one kind of line as a table in text: lines above the headings, and columns."""

    title: Annotated[str, Key("lines above the headings")]
    columns: Annotated[
        tuple[tuple[str, str, str], ...],
        Key("figures and keys; with another heading: `[name, heading, format]`"),
    ]


@dataclass(frozen=True)
class Planned:
    """The values of a planner for the rows of a kind of line."""

    planner: Annotated[str, Key("the [planner](planning.md)", among=planner_names())]
    inputs: Annotated[Mapping[str, str], Key("inputs of the planner: columns of the SQL")]
    figures: Annotated[
        Mapping[str, str],
        Key("figures of the report (NULL in the SQL), and the figures of the plan for them"),
    ]


def _section(value: Any, where: Where, _before: Mapping[str, Any]) -> str:
    text: str = expected(str, value, "a string", where)
    try:
        Sections.of(text)
    except RequestError as error:
        kinds = ", ".join(DECLARED)
        raise where.wrong(
            f"unknown section {text!r}; use {kinds}, or a length that divides a day: 30s, 15m, 1h"
        ) from error
    return text


def _text(value: Any, where: Where, before: Mapping[str, Any]) -> Mapping[str, str]:
    templates = value if isinstance(value, dict) else {"": value}
    texts: Mapping[str, str] = as_type(Mapping[str, str], templates, where)
    found: dict[str, list[str]] = {}
    for several, text in texts.items():
        place = where.at(several) if several else where
        for line in several.split(", "):
            for template in text.splitlines():
                found.setdefault(line, []).extend(_lines(template, before["figures"], place))
    return {line: "\n".join(each) for line, each in found.items()}


def _lines(template: str, figures: Sequence[Figure], where: Where) -> Iterator[str]:
    found = _LIKE.fullmatch(template)
    if found is None:
        yield template
        return
    is_conditional, names, line = found.groups()
    for several in names.split(","):
        for each in _between(several, figures, where):
            condition = f"{{?{each.where or each.name}}}" if is_conditional else ""
            yield condition + _PART.sub(each.part, line)


def _blocks(value: Any, where: Where, before: Mapping[str, Any]) -> Mapping[str, TextTable]:
    """Return the tables by kind of line; omitted headings and formats come from the figures."""
    columns = {name: (name, heading, "<4") for heading, name in _OWNERS.items()}
    columns |= {
        each.name: (each.name, each.heading or each.csv, each.width) for each in before["figures"]
    }
    found: dict[str, TextTable] = {}
    for line, spec in expected(dict, value, "a table", where).items():
        place = where.at(line)
        table = dict(expected(dict, spec, "a table", place))
        if isinstance(table.get("columns"), list):
            for each in table["columns"]:
                if isinstance(each, str):
                    place.at("columns").check("figure", each, columns)
            table["columns"] = [
                [*columns[each]] if isinstance(each, str) else each for each in table["columns"]
            ]
        found[line] = TextTable(**read_table(TextTable, table, place))
    return found


def _between(names: str, figures: Sequence[Figure], where: Where) -> Sequence[Figure]:
    """Return one figure, or the figures of a range: `openn..closecf0`."""
    first, _, last = names.partition(_RANGE)
    there = [each.name for each in figures]
    for name in filter(None, (first, last)):
        where.check("figure", name, there)
    return figures[there.index(first) : there.index(last or first) + 1]


def _figures(value: Any, where: Where, before: Mapping[str, Any]) -> tuple[Figure, ...]:
    found: list[Figure] = []
    tables = before["tables"]
    known = _known(tables, before.get("subject", ""))
    table = expected(dict, value, "a table", where)
    for key, name, each in families(table, before.get("each", {}), where):
        place = where.at(key)
        if _RANGE in name:
            other = expected(str, each, "the name of a report", place)
            place.check("report", other, report_names())
            found += _between(name, report(other).figures, place)
        else:
            found.append(_figure(name, each, place, tables, known))
    return tuple(found)


def _known(tables: Sequence[str], subject: str) -> Mapping[str, Mapping[str, Any]]:
    """Return, by name of a field or measure, the keys that it supplies to a figure."""
    there = [each for each in tables if each in TABLES]
    known: dict[str, Mapping[str, Any]] = {
        each.name: {"formula": each.field.name.upper(), "note": each.doc, "style": _style(each)}
        for table in there
        for each in TABLES[table].columns
    }
    for of in (
        [metric_subject(subject)] if subject else [subject_of(each, tables) for each in there]
    ):
        for name, measure in of.measures.items():
            known[name] = known[f"{of.name}.{name}"] = {"formula": measure.formula}
    return known


def _figure(
    name: str, spec: Any, where: Where, tables: Sequence[str], known: Mapping[str, Any]
) -> Figure:
    """Return a figure; omitted keys come from its measure or field, if it has one."""
    spec = (
        {"csv": spec}
        if isinstance(spec, str)
        else expected(dict, spec, "a string or a table", where)
    )
    if "label" in spec:
        label: str = expected(str, spec["label"], "a string", where.at("label"))
        spec = {"csv": label.replace(" ", "")} | spec
    if "formula" not in spec:
        measure = spec.get("measure", name)
        if expected(str, measure, "a string", where.at("measure")) not in known:
            error = where.unknown(f"measure or field of {', '.join(tables)}", measure, known)
            raise RequestError(f"{error} Or give a formula and a style.")
        spec = {**known[measure], **spec, "measure": measure}
    return Figure(name, **read_table(Figure, spec, where))


def _style(column: Column) -> str:
    arrow = column.shown.arrow
    if arrow == "bool":
        return "flag"
    if arrow == "string":
        return "text"
    if arrow.startswith("timestamp"):
        return "instant"
    return "rounded" if arrow == "double" else "count"


@dataclass(frozen=True)
class Report:
    """A report: its declaration and its SQL."""

    name: str
    sql: str
    title: Annotated[str, Key("title")]
    dd: Annotated[tuple[str, ...], Key("MP1B's DD names of this report", "not in MP1B")] = field(
        default=(), kw_only=True
    )
    like: Annotated[str, Key("the report that supplies the omitted keys", "none")] = field(
        default="", kw_only=True
    )
    trace: Annotated[
        str,
        Key(
            "the command that starts the trace, for the message about absent data",
            "that of the records of `main`",
        ),
    ] = field(default="", kw_only=True)
    record: Annotated[str, Key("the records that contain the data", "the records of `main`")] = (
        field(default="", kw_only=True)
    )
    tables: Annotated[
        tuple[str, ...],
        Key("the tables that the SQL reads; with a `subject`, its tables", among=decoded_tables()),
    ]
    subject: Annotated[
        str,
        Key(
            "metric subject of the rows; without an SQL file, each figure is one of its measures",
            "the SQL decides",
            among=subject_names(),
        ),
    ] = field(default="", kw_only=True)
    each: Annotated[
        Mapping[str, tuple[Any, ...]],
        Key(
            "values of `{name}` in a declaration of several figures: texts, or lists of texts",
            "none",
        ),
    ] = field(default_factory=dict, kw_only=True)
    figures: Annotated[
        tuple[Figure, ...],
        Key(
            "the figures, in the order of CSV; for a field, the CSV header is enough",
            read=_figures,
            written="a table of strings and tables",
        ),
    ]
    text: Annotated[
        Mapping[str, str],
        Key(
            "template for the lines of a row, or one template per kind of line (the column `line`)",
            "`blocks`",
            read=_text,
            written="a string or a table of strings",
        ),
    ] = field(default_factory=dict)
    blocks: Annotated[
        Mapping[str, TextTable],
        Key(
            "instead of a template: the rows of a kind of line as a table",
            "none",
            read=_blocks,
            written="a table of tables",
        ),
    ] = field(default_factory=dict)
    planned: Annotated[
        Mapping[str, Planned], Key("the plan for the rows of a kind of line", "none")
    ] = field(default_factory=dict)
    main: Annotated[
        tuple[str, ...], Key("the tables that define the sections", "the first of `tables`")
    ] = ()
    rules: Annotated[
        tuple[str, ...],
        Key(
            "rules of the catalogue ([rules](rules.md)) that make the rows, instead of SQL", "none"
        ),
    ] = ()
    section: Annotated[
        str,
        Key(
            "extent of a section: `record`; `span`, an interval in any number of records; "
            "`moment`, the data that SMF took at one time; `total`; `all`, for all queue managers "
            "together; or a length such as `1m`",
            read=_section,
        ),
    ] = RECORDED.by
    order: Annotated[str, Key("SQL of the order of rows in a section", "the order of the SQL")] = ""
    kinds: Annotated[
        str,
        Key(
            "SQL of the order of kinds of line in a section; with it, `top` and `sort` rank the "
            "rows of each kind, and `order` applies within a kind",
            "`order` alone",
        ),
    ] = ""
    ranked: Annotated[
        str,
        Key(
            "the figure that `top` ranks rows by; if given, `sort` takes any number",
            "with `kinds`, rows are ranked by `order`, otherwise not at all",
        ),
    ] = ""
    grouped: Annotated[
        Mapping[str, tuple[str, ...]],
        Key("tables combined by section, with further columns for the grouping", "none"),
    ] = field(default_factory=dict)
    top: Annotated[str, Key("first line of the report", "none")] = ""
    heading: Annotated[str, Key("lines above the rows of a section", "none")] = ""
    header: Annotated[bool, Key("whether a section begins with MP1B's two header lines")] = True
    nothing: Annotated[str, Key("message for an empty report", "the input has no such record")] = ""
    per_task: Annotated[bool, Key("whether a terminal shows at most 1,000 tasks")] = False
    name_mark: Annotated[
        str,
        Key(
            "mark of sections with several queue managers of one name, if `by` lacks system", "none"
        ),
    ] = ""
    queue_mark: Annotated[
        str,
        Key(
            "if queues are selected: a mark about the figures that cover whole tasks or records, "
            "and the omitted figures",
            "all figures are about the selected queues",
        ),
    ] = ""
    text_only: Annotated[
        frozenset[str],
        Key("lines that CSV and JSON omit, because other rows contain their figures", "none"),
    ] = frozenset()
    csv_lines: Annotated[
        frozenset[str],
        Key("the only lines in CSV, as in MP1B", "all but `text_only`"),
    ] = frozenset()
    csv_keys: Annotated[
        Mapping[str, str],
        Key("headers of the keys in front of the figures in CSV", "`z/OS`, `QM`, `Date`, `Time`"),
    ] = field(default_factory=lambda: dict(KEY_HEADINGS))
    options: Annotated[
        Mapping[str, Any],
        Key("the [options](../smfparse/reports/options.py) and their defaults", "none"),
    ] = field(default_factory=dict)
    choices: Annotated[
        Mapping[str, tuple[str, ...]], Key("the names that `by` and `sort` take", "none")
    ] = field(default_factory=dict)
    required: Annotated[tuple[str, ...], Key("options: one of them must be given", "none")] = ()
    busiest: Annotated[
        str,
        Key(
            "SQL of possible values, for the message if a required option is missing: `option`, "
            "`name` and `cpu_seconds`",
            "none",
        ),
    ] = ""
    findings: Annotated[
        tuple[str, ...],
        Key(
            "figures with names of objects: findings about these objects are rows of the "
            "line `finding`, after the rows with the same value of the first figure",
            "none",
        ),
    ] = ()

    def has(self, line: str, format: str) -> bool:  # noqa: A002 - the same name everywhere
        """Whether a format (text, csv, json) contains the rows of a kind of line."""
        if format == "text":
            return True
        if format == "csv" and self.csv_lines:
            return line in self.csv_lines
        return line not in self.text_only

    @property
    def across(self) -> bool:
        """Whether a section covers all queue managers, so that rows need their names."""
        return self.section == ONE_SECTION.by

    @property
    def is_rankable(self) -> bool:
        """Whether `top` and `sort` can rank the rows by the figures that are numbers."""
        return bool(self.ranked or self.kinds)

    def is_called(self, name: str) -> bool:
        """Whether `name` is the name of the report, or an MP1B DD name of the report."""
        own = self.name.upper()
        return _spelled(name) in (own, own + _DD_CSV, *self.dd)

    def left_out(self, asked: Mapping[str, Any]) -> frozenset[str]:
        """Return the columns of `choices` for `by` that are not in `by`; text omits them."""
        by = self.values(asked).get("by", ())
        return frozenset(each.replace("-", "_") for each in self.choices.get("by", ())).difference(
            by
        )

    def values(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        """Return the values of the options. Raises RequestError for unsupported options."""
        if self.is_rankable and asked.get("sort"):
            asked = {**asked, "sort": self._ranked_by(str(asked["sort"]))}
        return parsed(self.name, self.options, self.choices, asked)

    def _ranked_by(self, text: str) -> str:
        """Return the figure with this heading, or the only one whose name begins with `text`_."""
        names, wanted = self.choices["sort"], _plain(text)
        if text in names:
            return text
        headings = {(each.name, heading) for each in self.figures for heading in each.headings}
        headings |= {
            (name, heading) for block in self.blocks.values() for name, heading, _ in block.columns
        }
        called = {name for name, heading in headings if _plain(heading) == wanted}
        begins = [name for name in names if name.startswith(f"{wanted}_")]
        for found in ([name for name in names if name in called], begins):
            if len(found) == 1:
                return found[0]
        return text

    def absent(self) -> str:
        """Return the message for an input without data, with the trace to start."""
        several = ", and " in self.trace
        advice = f"{self.trace} {'write' if several else 'writes'} the data."
        if self.nothing:
            return f"{self.nothing}. {advice}"
        return f"no data for the report {self.name}: the input has no {self.record}. {advice}"


@cache
def report(name: str) -> Report:
    """Return the report with this name or MP1B DD name.

    Raises RequestError for an unknown report, or a wrong declaration.
    """
    own = name.lower().replace("_", "-")
    if own in report_names():
        return load(own)
    good = [each for each in declared().values() if isinstance(each, Report)]
    for each in good:
        if each.is_called(name):
            return each
    if other := _ELSEWHERE.get(_spelled(name).removesuffix(_DD_CSV)):
        raise RequestError(f"{name}: {other}", "by")
    names = {each: each for each in report_names()}
    names |= {dd.lower(): each.name for each in good for dd in each.dd}
    near = dict.fromkeys(names[each] for each in get_close_matches(own, names, _NEAR))
    way_out = did_you_mean(near, f"use {', '.join(report_names())}")
    raise RequestError(f"unknown report {name!r}; {way_out}")


def is_report(name: str) -> bool:
    """Whether a report has this name or MP1B DD name."""
    return _spelled(name).lower() in report_names() or any(
        isinstance(each, Report) and each.is_called(name) for each in declared().values()
    )


def _plain(text: str) -> str:
    return "_".join(re.findall(r"[a-z0-9]+", text.lower()))


def _spelled(name: str) -> str:
    return name.upper().replace("_", "-")


@cache
def report_names() -> tuple[str, ...]:
    """Return the names of all reports."""
    found = (each.name for each in _FOLDER.iterdir())
    return tuple(sorted(each.removesuffix(".toml") for each in found if each.endswith(".toml")))


def declared() -> dict[str, Report | RequestError]:
    """Return all reports by name; for a wrong declaration, the error."""
    found: dict[str, Report | RequestError] = {}
    for name in report_names():
        try:
            found[name] = report(name)
        except RequestError as error:
            found[name] = error
    return found


def load(name: str, folder: Path | None = None) -> Report:
    """Return the report that `<name>.toml` and `<name>.sql` declare.

    folder  folder of these files; None: the built-in definitions

    Raises RequestError with file, key and correction for a wrong declaration.
    """
    folder = folder or _FOLDER
    where = Where(str(folder / f"{name}.toml"))
    spec = _spec(folder, name, where)
    if "subject" in spec:
        place = where.at("subject")
        place.check("subject", expected(str, spec["subject"], "a string", place), subject_names())
        spec = {"tables": [*metric_subject(spec["subject"]).tables]} | spec
    found = read_table(Report, spec, where)
    found.setdefault("main", found["tables"][:1])
    found = origin(found["main"], found["tables"]) | found
    for key in ("trace", "record"):
        if not found.get(key):
            raise where.at(key).wrong("missing; the records of `main` do not show it")
    which = Report(name, report_sql(folder / f"{name}.sql", found), **found)
    check(which, where)
    return _ranking(which) if which.is_rankable else which


def _spec(folder: Path, name: str, where: Where, seen: tuple[str, ...] = ()) -> dict[str, Any]:
    """Return the keys of a report; omitted keys come from the report in `like`.

    seen  names of the reports that inherit from this report, to detect a cycle
    """
    spec = toml(folder / f"{name}.toml", where)
    if "like" not in spec:
        return spec
    other = expected(str, spec["like"], "the name of a report", where.at("like"))
    seen = (*seen, name)
    there = {each.stem for each in folder.glob("*.toml")}
    where.at("like").check("report", other, sorted({*report_names(), *there}.difference(seen)))
    its = folder if other in there else _FOLDER
    inherited = _spec(its, other, Where(str(its / f"{other}.toml")), seen)
    return {key: each for key, each in inherited.items() if key not in ("dd", "like")} | spec


def _ranking(which: Report) -> Report:
    numbers = tuple(each.name for each in which.figures if each.style in NUMBERS)
    options = {**which.options, "top": 0, "sort": which.ranked}
    return replace(which, options=options, choices={**which.choices, "sort": numbers})
