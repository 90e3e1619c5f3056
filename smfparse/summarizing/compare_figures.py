"""The figures of `compare`, from `definitions/compare.toml`, and SQL for the sums of a side."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from itertools import groupby
from pathlib import Path
from typing import Annotated, Any

from smfparse.declarations import Key, Where, as_type, entries, read_table
from smfparse.metrics.measures import Measure as SubjectMeasure
from smfparse.metrics.measures import measure_of, metric_subject

CALLS, TASK = "calls", "task"
ROW_KINDS: Mapping[str, str] = {
    CALLS: "calls of a name",
    TASK: "tasks of a job",
    "log": "log",
    "message_manager": "messages",
    "pool": "buffer pool",
    "structure": "coupling facility structure",
    "channel": "channel",
}
"""Titles by kind of row: calls, or a metric subject. Rows of calls and tasks are grouped by the
requested names, all other rows by queue manager and object.
"""
SECONDS, COMMITS = "seconds", "commits"
EFFECT = "cpu_per_second"
"""Name of the figure whose change orders the rows."""
_FOLDER = Path(__file__).with_name("definitions")
_FILE = "compare.toml"
_COLUMN = re.compile(r"\bAS (\w+)")
_BY_TIME = "interval_seconds"
_OF_JOBS = (
    "LEFT JOIN owners('{side}.wtid') USING (of_source, task_record) "
    "WHERE NOT getvariable('of_queues')"
)


@cache
def _columns() -> tuple[str, ...]:
    return (*dict.fromkeys(_COLUMN.findall(sql_of("compare"))), SECONDS, COMMITS)


@dataclass(frozen=True)
class Measure:
    """A figure: a sum divided by another sum, over the rows of one kind.

    name    name of the figure; `{part}` stands for the buffer pool, structure or channel
    kind    kind of the rows, from ROW_KINDS
    metric  measure of a subject, as `log.task_busy`; '': the figure is computed from calls
    """

    name: str
    kind: str
    amount: Annotated[str, Key("the column to add up")]
    formula: Annotated[str, Key("formula in IBM's field names")]
    per: Annotated[
        str,
        Key(
            "the divisor: a column, or `commits` of the job",
            "seconds of all intervals of the queue manager",
        ),
    ] = SECONDS
    unit: Annotated[str, Key("unit of the figure", "none")] = ""
    steady: Annotated[
        bool, Key("whether each interval is an independent measurement: see `changes.changed`")
    ] = False
    metric: str = ""

    @property
    def of_subject(self) -> SubjectMeasure:
        """The measure of the subject; a sum is converted into an amount per second."""
        _, measure = measure_of(self.metric)
        return measure if measure.per else measure.a_second()

    def sums(self) -> Iterator[str]:
        """Yield the SQL of the figure's columns, over rows of the subject."""
        measure = self.of_subject
        if self.per == SECONDS:
            scale = measure.per.replace(_BY_TIME, "1")
            yield f"total({measure.amount}) / ({scale}) AS {self.amount}"
        else:
            known = f"CASE WHEN ({measure.amount}) IS NOT NULL THEN {measure.per} END"
            yield f"total({measure.amount}) AS {self.amount}"
            yield f"total({known}) AS {self.per}"


def load_measures(folder: Path = _FOLDER) -> tuple[Measure, ...]:
    """Return the figures that `compare.toml` in `folder` declares.

    Raises RequestError with file, key and correction for a wrong declaration.
    """
    file, found = folder / _FILE, []
    where = Where(str(file))
    for kind, declared, place in entries(file):
        where.check("kind", kind, ROW_KINDS)
        for name, spec in as_type(Mapping[str, Any], declared, place).items():
            made = _of_calls(name, spec, place) if kind == CALLS else _of(kind, name, spec, place)
            found.append(made)
    where.check("figure", EFFECT, [each.name for each in found])
    return tuple(found)


def _of_calls(name: str, spec: Any, where: Where) -> Measure:
    place = where.at(name)
    found = Measure(name, CALLS, **read_table(Measure, spec, place))
    place.at("amount").check("column of compare.sql", found.amount, _columns())
    place.at("per").check("column of compare.sql", found.per, _columns())
    return found


def _of(subject: str, name: str, own: str, where: Where) -> Measure:
    where.at(name).check("measure", own, metric_subject(subject).columns())
    column = name.replace("{part}_", "")
    found = Measure(name, subject, column, "", metric=f"{subject}.{own}")
    measure = found.of_subject
    per = SECONDS if _BY_TIME in measure.per else f"{column}_per"
    formula = measure.formula.replace(_BY_TIME, SECONDS)
    return replace(found, per=per, formula=formula, unit=measure.short_unit)


def compare_sql(side: str, bucket_us: int, recorded_us: int) -> str:
    """Return the SQL for the sums of a side.

    side         schema with the tables of the side and the macro `bucket_of`, which returns the
                 compared interval of a row
    bucket_us    length of a compared interval, microseconds
    recorded_us  length of a recorded interval, microseconds
    """
    sums, spans = [], []
    for kind, several in groupby(MEASURES, lambda each: each.kind):
        if kind == CALLS:
            continue
        subject, own = metric_subject(kind), [*several]
        of_side = subject.facts_of(side)
        names, rows = f"({subject.object})::VARCHAR AS part", of_side
        if kind == TASK:
            names, rows = "job", f"{of_side} {_OF_JOBS.format(side=side)}"
        else:
            spans.append(
                f"SELECT DISTINCT '{kind}' AS of_kind, qmgr, interval_start, interval_end "
                f"FROM {of_side} WHERE ({own[0].of_subject.amount}) IS NOT NULL"
            )
        columns = ", ".join(sql for each in own for sql in each.sums())
        sums.append(
            f"SELECT '{kind}' AS kind, qmgr, {names}, "
            f"{side}.bucket_of(interval_start, interval_end) AS bucket, {columns} "
            f"FROM {rows} GROUP BY ALL"
        )
    return sql_of("compare").format(
        side=side,
        bucket_us=bucket_us,
        recorded_us=recorded_us,
        spans=" UNION ALL ".join(spans),
        sums=" UNION ALL BY NAME ".join(sums),
    )


def sql_of(name: str) -> str:
    """Return the text of the file `<name>.sql`."""
    return (_FOLDER / f"{name}.sql").read_text("utf-8")


MEASURES = load_measures()
"""All figures, in the order of their rows for one name."""
