"""Declarations of advice: the contents of `definitions/*.toml` and `*.sql`.

Each subsystem has a TOML file. Its subjects are queries, each in `<subject>.sql`, with one row per
object and interval. `[rules.<subject>.<id>]` is a condition over the columns of a subject.
`[signs.<subject>.<id>]` is a condition that only diagnoses use. `diagnoses.toml` combines rules.
The dataclasses here declare the keys of these files, and docs/extending.md lists them. A family
contains keys that several rules of a subject share. A rule joins it with a key of the same name:

    [families.task_use.latch]          condition = "100 * latch_{latch}_us > ..."
    [rules.task_use.LATCH-12]          latch = "12"
"""

import difflib
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Annotated, Any

from smfparse.declarations import Key, Where, as_type, entries, expected, filled, read_table, toml
from smfparse.decoding.dictionary import decoded_tables
from smfparse.errors import RequestError, did_you_mean
from smfparse.metrics.figures import Phrase, phrase, phrases, with_figures
from smfparse.metrics.measures import subjects as metric_subjects
from smfparse.metrics.measures import with_overall
from smfparse.planning.plans import planner, planner_names, wanted

TAGS = {
    "P": "published value",
    "D": "derived from published facts",
    "O": "our choice",
    "R": "seen in real data",
}
SEVERITIES = {
    1: "loss or outage near",
    2: "constraint",
    3: "waste",
    4: "information",
    5: "data quality",
}
"""Severities of findings, the most serious first."""
CONSTRAINT = 2
"""Least serious severity of objects that are at their limit, or soon will be."""
_LAST_OF_FEW = 3
"""Least serious severity of conditions that are also shown for samples below the minimum."""
HOURS = "hours"
IMPACTS = {
    "waiting": ("waiting seconds per second", "sum({}) / 1e6 / sum(seconds)"),
    "messages": (
        "messages waiting, averaged over the ends of intervals",
        "sum({} * seconds) / sum(seconds)",
    ),
    "cpu": ("CPU seconds per hour", "3600 * sum({}) / 1e6 / sum(seconds)"),
    HOURS: ("hours to the limit", "min({})"),
}
"""By kind of impact: its unit, and its SQL aggregate over the crossed intervals."""
UNITS = dict.fromkeys(("us", "slow", "stall", "longest"), "us") | {
    "ms": "ms",
    "seconds": "s",
    "hours": "hours",
    "kb": "KB",
    "mb": "MB",
    "bytes": "bytes",
}
"""Units of limits, by name of the limit; other limits are percentages, counts or ratios."""
CROSSED = "{crossed}"
"""Placeholder in a condition; it stands for `the figure is beyond the first limit`."""
_FOLDER = Path(__file__).with_name("definitions")
_DIAGNOSES = _FOLDER / "diagnoses.toml"
_ROWS = "FROM rows"
"""SQL of a subject without an SQL file."""
_BY_SUBJECT = Mapping[str, Mapping[str, Mapping[str, Any]]]


@dataclass(frozen=True)
class Limit:
    """A number with which a condition compares a value; `--limit` and a policy can change it."""

    value: Annotated[float, Key("the number", "the rule requires a value from the site")] = math.nan
    tag: Annotated[str, Key("kind of source", among=TAGS)] = "O"
    source: Annotated[str, Key("the publication", "none")] = ""

    @property
    def known(self) -> bool:
        """Whether the limit has a number."""
        return not math.isnan(self.value)


@dataclass(frozen=True)
class Trend:
    """The change of a figure over time, and its limit."""

    value: Annotated[str, Key("the metric: a column of the subject or SQL over one")]
    unit: Annotated[str, Key("unit of the metric in the output")]
    limit: Annotated[
        str, Key("limit of the metric: SQL over the row, `{name}` for limits", "no limit")
    ] = "NULL"


@dataclass(frozen=True)
class Planned:
    """The values of a planner that a finding shows."""

    says: Annotated[
        tuple[Phrase, ...],
        Key(
            "phrases: figures of the planner in braces",
            read=phrases,
            written="a list of strings",
        ),
    ]
    inputs: Annotated[
        Mapping[str, str],
        Key("planner inputs that override those of the subject: aggregates", "none"),
    ] = field(default_factory=dict)


def _impact(value: Any, where: Where, _before: Mapping[str, Any]) -> tuple[str, str]:
    impact = as_type(Mapping[str, str], value, where)
    for kind in impact:
        where.check("impact", kind, IMPACTS)
    if len(impact) != 1:
        raise where.wrong("expected one impact; leave the others out")
    ((kind, amount),) = impact.items()
    return kind, amount


def _limits(value: Any, where: Where, _before: Mapping[str, Any]) -> Mapping[str, Limit]:
    table = expected(dict, value, "a table", where)
    of_tables = {
        name: {"value": each, "source": "ours"} if isinstance(each, int | float) else each
        for name, each in table.items()
    }
    limits: Mapping[str, Limit] = as_type(Mapping[str, Limit], of_tables, where)
    return limits


def _severity(value: Any, where: Where, _before: Mapping[str, Any]) -> int:
    number: int = expected(int, value, "a severity of 1 to 5", where)
    if number not in SEVERITIES:
        raise where.wrong(f"no severity {number}; write 1 to 5")
    return number


@dataclass(frozen=True, kw_only=True)
class _Advice:
    """The texts that rules and diagnoses have in common."""

    name: Annotated[str, Key("the condition in a few words")]
    means: Annotated[str, Key("effect of the condition")]
    do: Annotated[str, Key("recommended action, beginning with a verb; not for a sign")]
    expect: Annotated[str, Key("result of the action", "not known")] = ""
    plan: Annotated[
        str,
        Key("the planner that calculates the effect of the action", "none", among=planner_names()),
    ] = ""
    not_if: Annotated[str, Key("other causes of the condition, and false alarms", "not known")] = ""


@dataclass(frozen=True, kw_only=True)
class Rule(_Advice):
    """A condition over the rows of a subject, with its meaning and the recommended action."""

    id: str
    subject: str
    severity: Annotated[
        int,
        Key("severity of its findings, 1 to 5; not for a sign", read=_severity, written="a number"),
    ]
    figure: Annotated[
        Phrase,
        Key(
            "phrase with the figure that is compared with the limit",
            read=phrase,
            written="a string",
        ),
    ]
    condition: Annotated[
        str,
        Key(
            "SQL over a row, `{name}` for limits; NULL: not evaluated. `{crossed}`: the figure is "
            "above the first limit, or below it",
            "`{crossed}`",
        ),
    ] = CROSSED
    source: Annotated[str, Key("source of the rule", "that of its first limit")] = ""
    minimum: Annotated[str, Key("SQL: whether the sample of a row is large enough", "always")] = (
        "TRUE"
    )
    limits: Annotated[
        Mapping[str, Limit],
        Key(
            "the limits in the condition; the first is the main limit of the rule. A plain "
            "number is our own choice",
            "none",
            read=_limits,
            written="a table of tables, or numbers",
        ),
    ] = field(default_factory=dict)
    severity_sql: Annotated[
        str, Key("aggregate: the severity, over the intervals that crossed", "`severity`")
    ] = ""
    lowest: Annotated[bool, Key("whether the lowest value is the worst")] = False
    least_share: Annotated[float, Key("minimum share of the time for a finding")] = 0.0
    total: Annotated[
        str,
        Key(
            "aggregate: the figure over all intervals that crossed",
            "as the form of the figure defines, otherwise the worst value",
        ),
    ] = ""
    impact: Annotated[
        tuple[str, str],
        Key(
            "the cost: `waiting` or `cpu` with microseconds of a row, `messages` that wait, "
            "`hours` to a limit",
            "not measured",
            read=_impact,
            written="a table of strings",
        ),
    ] = ("", "")
    trend: Annotated[Trend | None, Key("how the value changes over time", "no trend")] = None
    evidence: Annotated[
        tuple[Phrase, ...],
        Key(
            "phrases: figures of the intervals that crossed",
            read=phrases,
            written="a list of strings",
        ),
    ] = ()
    planned: Annotated[
        Planned | None, Key("the plan for the figures of a finding", "not calculated")
    ] = None
    doubt: Annotated[str, Key("differences from the publication, with reasons", "none")] = ""
    versions: Annotated[str, Key("the first MQ version with its fields", "that of the subject")] = (
        ""
    )
    apars: Annotated[tuple[str, ...], Key("APARs that fit the symptom", "none")] = ()
    report: Annotated[
        str,
        Key(
            "the report that shows the evidence, or `sql:` and a query",
            "that of the subject; a sign has none",
        ),
    ] = ""
    who: Annotated[
        str,
        Key(
            "the responsible job: it `puts` to or `gets` from the queue, or `fills` a pool",
            "as the subject defines",
        ),
    ] = ""
    mp1b: Annotated[
        str, Key("MP1B's message, with `{:.0f}` in place of the figure", "MP1B has none")
    ] = ""
    is_good: Annotated[bool, Key("whether it is a good state, shown in a line at the end")] = False
    together: Annotated[bool, Key("whether a queue manager has one finding for all objects")] = (
        False
    )
    where: Annotated[
        str, Key("kind of object that jobs use and a finding names: queue, pool, page set", "none")
    ] = ""
    is_sign: bool = False

    def aggregates(self) -> dict[str, str]:
        """Return the SQL of the rule's figures over the crossed intervals, by name."""
        kind, amount = self.impact
        return {f"e{number}": each.of_evidence for number, each in enumerate(self.evidence)} | {
            "impact": IMPACTS[kind][1].format(amount) if kind else "NULL",
            "total": with_overall(self.total) or self.figure.of_rows or "NULL",
            "severity": self.severity_sql or str(self.severity),
        }

    @property
    def complete(self) -> bool:
        """Whether all limits are known."""
        return all(each.known for each in self.limits.values())

    @property
    def shows_few(self) -> bool:
        """Whether the condition is also shown for samples below the minimum."""
        return self.severity <= _LAST_OF_FEW and not self.is_sign


@dataclass(frozen=True)
class Subject:
    """A query with one row per object and interval.

    Columns: system, qmgr, object, job, start (UTC), seconds, utc_offset, and figures.
    """

    name: str
    sql: str
    tables: Annotated[
        tuple[str, ...],
        Key("tables of the query, in addition to those of `of`", among=decoded_tables()),
    ]
    trace: Annotated[str, Key("the command that starts the trace with these tables")]
    report: Annotated[
        str, Key("the report of rules that name no report", "that of the subject in `of`")
    ] = ""
    versions: Annotated[str, Key("the first MQ version with the fields of its rules", "all")] = ""
    of: Annotated[
        str,
        Key(
            "metric subject: the SQL reads its rows as `rows`, with all measures that rules name; "
            "without an SQL file, they are used unchanged",
            "the SQL reads tables",
            among=metric_subjects(),
        ),
    ] = ""
    object: Annotated[str, Key("kind of object: pool, queue, channel", "the queue manager")] = ""
    of_all: Annotated[
        tuple[str, ...], Key("columns that are kept of all rows, not only of crossed ones", "none")
    ] = ()
    plans: Annotated[
        Mapping[str, Mapping[str, str]],
        Key("planners, and their inputs: aggregates over the intervals that crossed", "none"),
    ] = field(default_factory=dict)
    proves_trace: Annotated[bool, Key("whether rows show that the trace is on")] = True
    is_whole: Annotated[
        bool, Key("whether a row covers the whole period; such rows are always evaluated")
    ] = False
    names_work: Annotated[
        bool,
        Key(
            "whether its findings can name a job, channel or queue, or affect which other "
            "findings are explained"
        ),
    ] = True
    has_intervals: Annotated[
        bool,
        Key("whether its rows are intervals; if not, intervals that overlap rows are counted"),
    ] = True
    of_system: Annotated[
        bool, Key("whether its rows describe a system, and so all its queue managers")
    ] = False


@dataclass(frozen=True, kw_only=True)
class Diagnosis(_Advice):
    """Rules that are true at the same time and have one cause."""

    id: str
    core: Annotated[tuple[str, ...], Key("rules: a finding of any of them defines object and time")]
    explains: Annotated[tuple[str, ...], Key("consequences: rules, diagnoses, or patterns")]
    source: Annotated[str, Key("source of the diagnosis")]
    needs: Annotated[
        tuple[tuple[str, ...], ...],
        Key(
            "lists of rules: one rule of each list must be true at that time; a rule with `?` "
            "may have no data"
        ),
    ] = ()
    without: Annotated[tuple[str, ...], Key("rules that must be false at that time", "none")] = ()
    severity: Annotated[
        int,
        Key(
            "severity, unless a finding that it explains is more serious",
            read=_severity,
            written="a number",
        ),
    ] = 5
    is_last: Annotated[
        bool, Key("whether it requires that the queue manager has no finding of severity 1 or 2")
    ] = False
    by_design: Annotated[
        bool, Key("whether it is normal; if so, it does not explain more serious findings")
    ] = False
    of_all: Annotated[
        str,
        Key(
            "a rule: while its condition is true, one finding covers all objects",
            "each object has its own finding",
        ),
    ] = ""
    name_of_all: Annotated[str, Key("name of the finding for all objects together", "`name`")] = ""
    whose: Annotated[
        str, Key("the rule that defines the job of the finding", "the rule in `core`")
    ] = ""
    waiting: Annotated[str, Key("the rule that defines the waiting jobs", "none")] = ""
    where: Annotated[
        tuple[str, ...],
        Key(
            "kinds of objects that the waiting jobs use, each part of the previous one",
            "none",
        ),
    ] = ()
    report: Annotated[
        str, Key("the report that shows the evidence", "that of the rule in `core`")
    ] = ""


def sql_of(name: str) -> str:
    """Return the query in the file `<name>.sql`, with its placeholders replaced."""
    return with_figures((_FOLDER / f"{name}.sql").read_text("utf-8"))


@cache
def subjects() -> Mapping[str, Subject]:
    """Return all subjects by name. Raises RequestError for a wrong declaration."""
    found = {}
    for content, where in _subsystems():
        for name, spec in content.get("subjects", {}).items():
            file, sql = _FOLDER / f"{name}.sql", _ROWS
            if of := metric_subjects().get(spec.get("of")):
                spec = {"tables": [*of.tables], "report": of.report} | spec
            if of is None or file.exists():
                sql = file.read_text("utf-8")
            own = read_table(Subject, spec, where.at("subjects").at(name))
            found[name] = Subject(name, sql, **own)
    return found


@cache
def rules() -> Mapping[str, Rule]:
    """Return all rules by id. Raises RequestError for a wrong declaration."""
    found: dict[str, Rule] = {}
    for rule, where in _each_rule():
        if rule.id in found:
            raise where.wrong("declared twice; leave one out")
        _check_planned(rule, where.at("planned"))
        found[rule.id] = rule
    return found


@cache
def diagnoses() -> Mapping[str, Diagnosis]:
    """Return all diagnoses by id. Raises RequestError for a wrong declaration."""
    return {
        name: Diagnosis(id=name, **read_table(Diagnosis, spec, where))
        for name, spec, where in entries(_DIAGNOSES)
    }


def planner_inputs(rule: Rule) -> Mapping[str, str]:
    """Return the SQL aggregates for the inputs of a rule's planner; empty: no planner."""
    if rule.planned is None:
        return {}
    found = {**subjects()[rule.subject].plans.get(rule.plan, {}), **rule.planned.inputs}
    return {name: with_overall(sql) for name, sql in found.items()}


def number_text(limit: str, value: float) -> str:
    """Return the number of a limit with its unit, if UNITS contains one: `40,000 us`."""
    return f"{value:,.10g} {UNITS.get(limit, '')}".rstrip()


def unknown_rule(name: str, option: str, known: Iterable[str]) -> RequestError:
    """Return the error for an unknown rule or diagnosis, with similar names."""
    near = difflib.get_close_matches(name.upper(), list(known), 3)
    way_out = did_you_mean(near, "check --explain lists the rules")
    return RequestError(f"{option}={name}: unknown rule; {way_out}", option)


@cache
def _subsystems() -> Sequence[tuple[dict[str, Any], Where]]:
    files = [each for each in sorted(_FOLDER.glob("*.toml")) if each != _DIAGNOSES]
    return [(toml(each, Where(str(each))), Where(str(each))) for each in files]


def _each_rule() -> Iterator[tuple[Rule, Where]]:
    for content, where in _subsystems():
        for kind in ("rules", "signs"):
            by_subject = as_type(_BY_SUBJECT, content.get(kind, {}), where.at(kind))
            for subject, some in by_subject.items():
                where.at(kind).check("subject", subject, subjects())
                usual = _usual(subjects()[subject], is_sign=kind == "signs")
                families = content.get("families", {}).get(subject, {})
                for name, spec in some.items():
                    place = where.at(kind).at(subject).at(name)
                    own = read_table(Rule, usual | _with_families(spec, families), place)
                    rule = Rule(id=name, subject=subject, is_sign=kind == "signs", **own)
                    yield _with_first_limit(rule, place), place


def _usual(subject: Subject, *, is_sign: bool) -> dict[str, Any]:
    own = {"severity": 5, "do": "nothing"} if is_sign else {"report": subject.report}
    return {"versions": subject.versions, **own}


def _with_families(spec: Mapping[str, Any], families: Mapping[str, Any]) -> dict[str, Any]:
    """Return the declaration of a rule with the keys of its families, with placeholders filled."""
    found = {name: value for name, value in spec.items() if name not in families}
    for family in families.keys() & spec.keys():
        found = filled(families[family], {family: spec[family]}) | found
    return found


def _with_first_limit(rule: Rule, where: Where) -> Rule:
    """Return a rule with `{crossed}` replaced, and with the source of its first limit."""
    first, limit = next(iter(rule.limits.items()), ("", Limit()))
    if CROSSED in rule.condition and not first:
        raise where.at("condition").wrong("missing; add the key, or a limit")
    if not (source := rule.source or limit.source):
        raise where.at("source").wrong("missing; add the key with the source of the rule")
    crossed = rule.figure.crossing(f"{{{first}}}", lowest=rule.lowest)
    return replace(rule, condition=rule.condition.replace(CROSSED, crossed), source=source)


def _check_planned(rule: Rule, where: Where) -> None:
    """Raise RequestError if a rule names unknown inputs of its planner."""
    if rule.planned is None:
        return
    if not rule.plan:
        raise where.wrong("without a planner; name it with the key plan")
    there = [each.name for each in wanted(planner(rule.plan).asked)]
    for name in planner_inputs(rule):
        where.at("inputs").check(f"input of the planner {rule.plan}", name, there)
