"""A comparison as a document, or as MP1B's TASK report with two columns."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

import polars as pl

from smfparse.advice.policy import NEW, WORSE
from smfparse.advice.wording import in_short
from smfparse.metrics.measures import metric_subject
from smfparse.rendering.document import Column, Document, Facts, Frames, Section, Table
from smfparse.rendering.figures import ABSENT, plural, styled, visible
from smfparse.rendering.text import aligned
from smfparse.summarizing.changes import HARDLY, NAMES
from smfparse.summarizing.compare_figures import MEASURES
from smfparse.summarizing.sides import (
    HOUR_COLUMNS,
    Rename,
    Side,
    facts_of,
    hours,
    ordered_sum,
    shown_left_out,
    summed,
)

if TYPE_CHECKING:
    from smfparse.advice.findings import Finding
    from smfparse.advice.running import Checked

TOP = 20
"""Maximum number of rows per part of the text, except the part of the significant rows."""
_WIDTHS = {"qmgr": 4, "job": 8, "queue": 48, "verb": 7}
_TASK_FIGURES = {
    "Pages old": "pages_old_per_second",
    "Pages new": "pages_new_per_second",
    "Log write bytes": "log_bytes_per_second",
    "Log force count": "log_force_wait_per",
}
_OF_QMGR = [each.name for each in MEASURES if each.kind in ("log", "message_manager")]
_OF_FINDING = ("severity", "rule", "qmgr", "object", "name")
_TITLES = {
    "new_findings": "New findings",
    "worse_findings": "Worse findings",
    "gone_findings": "Cleared findings",
}
_VALUES = ("before", "after", "difference", "ratio")
_LABEL = 28
_TASK_SECONDS = "Seconds covered by tasks"
_LEFT_OUT = "Excluded intervals"
_OTHERS = (
    "Other metrics, by change: names with at least 1% of the CPU or elapsed time of all calls "
    "come first"
)
_SMALL = 0.01
"""A name has little work below this share of the CPU and of the elapsed time of all calls."""
_ONLY_BEFORE, _ONLY_AFTER = "Only before, or hardly after", "Only after, or hardly before"
_HOURS = "Hours that changed most: calls per second, CPU and elapsed time per call"
_MOST_HOURS = 6
_FEW = "Too few intervals to judge a change: each side requires two. Compare a longer time"
_DIVIDE = ", or divide it with --interval"
_SOME_FEW = (
    "{} changed by more than {:g}%, but too few intervals exist to judge the change. Compare a "
    "longer time."
)


class ComparisonDocument(Document):
    """The changes from one side to the other.

    rows       result of `compared`
    tolerance  minimum relative change that counts: 0.06 is 6%
    top        maximum number of rows per part of the text, except the part of significant rows
    checked    findings of the second side, compared with findings of the first; None: unknown
    """

    title = "Before and after"

    def __init__(
        self,
        rows: pl.DataFrame,
        before: Side,
        after: Side,
        tolerance: float,
        top: int = TOP,
        checked: Checked | None = None,
    ) -> None:
        self._rows = rows
        self._checked = checked
        self._hours = hours(before, after)
        self._sides = (before, after)
        self._tolerance = tolerance
        self._top = top

    def sections(self) -> Iterator[Section]:
        """Yield the two sides, then significant changes and other rows."""
        columns = (Column(""), Column("Before"), Column("After"))
        yield Section("", [Table(columns, [(label, *cells) for label, *cells in self._heading()])])
        for title, lines in self._findings():
            yield Section(title, notes=lines)
        for title, part in self._parts():
            if part.height:
                yield Section(title, [_table_of(part)])
            elif title.endswith("."):  # a sentence
                yield Section("", notes=[title])
        if (changed := self._changed_hours()).height:
            yield Section(_HOURS, [_hour_table(changed)])

    def tables(self) -> Iterator[Frames]:
        """Yield all rows."""
        yield Frames(iter([self._rows]))

    def facts(self) -> Iterator[Facts]:
        """Yield facts about both sides, and all rows."""
        before, after = (side.facts for side in self._sides)
        head = {"report": "compare", "before": before, "after": after}
        found = {
            kind: [{name: getattr(each, name) for name in _OF_FINDING} for each in several]
            for kind, several in _changed_findings(self._checked).items()
        }
        yield Facts(head | found | {"hours": facts_of(self._hours), "rows": self._rows.to_dicts()})

    def printed(self) -> Iterator[str]:
        """Yield the lines of the text."""
        shown = [("", "Before", "After"), *self._heading()]
        width = max(len(before) for _, before, _ in shown)
        for label, before, after in shown:
            yield f"{label:<{_LABEL}} {before:<{width}}  {after}".rstrip()
        for title, lines in self._findings():
            yield from ("", title, *(f"  {each}" for each in lines))
        for title, part in self._parts():
            yield from ("", title)
            if part.height:
                yield from _table(part)
        if (changed := self._changed_hours()).height:
            table = _hour_table(changed)
            yield from ("", _HOURS, *aligned(table.columns, [*table.rows]))

    def _changed_hours(self) -> pl.DataFrame:
        """Return the hours that changed most; empty if only one hour has data, or none changed."""
        low, high = 1 / (1 + self._tolerance), 1 + self._tolerance
        found = self._hours.filter(~pl.col("ratio").is_between(low, high))
        return found.head(_MOST_HOURS if self._hours.height > 1 else 0)

    def _findings(self) -> Iterator[tuple[str, list[str]]]:
        """Yield the titles for new, worse and gone findings, each with a line per finding."""
        found = _changed_findings(self._checked)
        for name, several in found.items():
            if several:
                yield f"{_TITLES[name]}: {len(several)}", [in_short(each) for each in several]
        if found and not any(found.values()):
            yield "Findings: the same before and after", []

    def _heading(self) -> Iterator[tuple[str, str, str]]:
        """Yield label, value before and value after of each fact: time, intervals, ..."""
        facts: dict[str, Callable[[Side], str]] = {
            "From": lambda side: styled(side.first, "second"),
            "To": lambda side: styled(side.last, "second"),
            "Intervals": lambda side: str(side.intervals),
            "Queue managers": lambda side: visible(", ".join(side.qmgrs)) or ABSENT,
            "Seconds of class 3": lambda side: styled(side.total("calls"), "decimal"),
            _TASK_SECONDS: lambda side: styled(side.total("tasks"), "decimal"),
            "Seconds of statistics": lambda side: styled(side.total("message_manager"), "decimal"),
            _LEFT_OUT: lambda side: shown_left_out(side) or ABSENT,
            "CPU of calls, uS per second": lambda side: styled(side.cpu_per_second, "decimal"),
        }
        found = {label: tuple(map(fact, self._sides)) for label, fact in facts.items()}
        if all(abs(side.total("tasks") - side.total("calls")) < 1 for side in self._sides):
            del found[_TASK_SECONDS]
        if not any(side.left_out for side in self._sides):
            del found[_LEFT_OUT]
        for label, (before, after) in found.items():
            yield label, before, after

    def _parts(self) -> Iterator[tuple[str, pl.DataFrame]]:
        """Yield the title and the rows of each part of the text; a sentence has no rows."""
        found = pl.col("significant").fill_null(value=False)
        figure, ratio = pl.col("figure"), pl.col("ratio").fill_null(1)
        of_qmgr = figure.is_in(_OF_QMGR) | figure.str.contains("^(pool|cf|channel)_")
        effect = figure == "cpu_per_second"
        first = pl.col("before").is_null() | (effect & (ratio >= HARDLY))
        second = pl.col("after").is_null() | (effect & (ratio <= 1 / HARDLY))
        one_sided = (first | second) & effect
        changed = (
            f"Changed by more than {100 * self._tolerance:g}% and the variation between intervals"
        )
        others = ~(found | of_qmgr | first | second | one_sided.any().over(NAMES))
        parts = {
            changed: found,
            _ONLY_BEFORE: second & effect & ~found,
            _ONLY_AFTER: first & effect & ~found,
            _OTHERS: others,
            "Other metrics of queue managers, by change": of_qmgr & ~found,
        }
        few, judged = self._too_few(), self._is_judged()
        for title, which in parts.items():
            part = self._rows.filter(which)
            if title not in (changed, _ONLY_BEFORE, _ONLY_AFTER):
                part = _by_change(part, self._shares())
            shown = part if title == changed else part.head(self._top)
            cut = shown.height < part.height
            count = f"{shown.height} of {part.height}, see --top" if cut else f"{part.height}"
            if title != changed or part.height:
                yield f"{title}: {count if part.height else 'none'}", shown
            elif judged:
                some = self._rows.filter(one_sided).height > 0
                yield self._unchanged(one_sided=some, some=bool(few)), shown
            if title == changed and few:
                yield few, part.clear()

    def _shares(self) -> pl.DataFrame:
        """Return the share of each name in all calls: the larger of CPU share and elapsed share."""
        figures = ("cpu_per_second", "elapsed_per_call", "calls_per_second")
        amounts: dict[str, pl.Expr] = {}
        for side in ("before", "after"):
            cpu, elapsed, calls = (
                pl.col(side).filter(pl.col("figure") == each).first() for each in figures
            )
            amounts |= {f"{side}_cpu": cpu, f"{side}_elapsed": elapsed * calls}
        shares = [
            (each / ordered_sum(each.fill_null(0))).fill_nan(0).fill_null(0)
            for each in map(pl.col, amounts)
        ]
        of_calls = self._rows.filter(pl.col("figure").is_in(figures))
        by_names = of_calls.group_by(NAMES).agg(**amounts)
        return by_names.select(*NAMES, share=pl.max_horizontal(*shares))

    def _unchanged(self, *, one_sided: bool, some: bool) -> str:
        names = [name for name in NAMES if self._rows[name].null_count() < self._rows.height]
        of = f" by {', '.join(names)}" if names else ""
        coarser = "; --by job also shows jobs that make other calls" if "verb" in names else ""
        return (
            f"No change{of} is significant{' among the judged metrics' * some}: each is within "
            f"{100 * self._tolerance:g}%, or within the variation between intervals{coarser}."
            + one_sided
            * " Names on one side only, or hardly on the other, are below."
        )

    def _is_judged(self) -> bool:
        """Whether any change has enough intervals to be judged, or no metric is on both sides."""
        known = self._rows.drop_nulls(["before", "after"])["significant"]
        return known.is_empty() or known.null_count() < len(known)

    def _too_few(self) -> str:
        """Return a sentence if changes have too few intervals to be judged; '': all are judged."""
        if not self._is_judged():
            return _FEW + _DIVIDE * all(each.intervals == 1 for each in self._sides) + "."
        both = self._rows.drop_nulls(["before", "after"])
        size = pl.col("ratio").log().abs()
        limits = math.log1p(self._tolerance), math.log(HARDLY)
        unknown = pl.col("significant").is_null() & size.is_between(*limits, closed="none")
        count = both.filter(unknown).height
        return _SOME_FEW.format(plural(count, "metric"), 100 * self._tolerance) if count else ""


def _by_change(part: pl.DataFrame, shares: pl.DataFrame) -> pl.DataFrame:
    """Return rows ordered by the size of the change; names with little work come last."""
    change = pl.when((pl.col("before") > 0) & (pl.col("after") > 0)).then(
        (pl.col("after") / pl.col("before")).log().abs()
    )
    is_small = (pl.col("share") < _SMALL).fill_null(value=False)
    return (
        part.join(shares, on=NAMES, how="left", nulls_equal=True, maintain_order="left")
        .sort(is_small, -change, nulls_last=True, maintain_order=True)
        .drop("share")
    )


def _hour_table(found: pl.DataFrame) -> Table:
    headings = ("Hour", "Calls/s", "after", "CPU us", "after", "Elapsed us", "after", "Ratio")
    cells = (
        [f"{row['hour']:02}:00", *(styled(row[name], "decimal") for name in HOUR_COLUMNS[1:])]
        for row in found.iter_rows(named=True)
    )
    return Table([Column(each, right=bool(at)) for at, each in enumerate(headings)], cells)


def _changed_findings(checked: Checked | None) -> dict[str, Sequence[Finding]]:
    """Return new, worse and gone findings, by their keys in JSON; empty: findings are unknown."""
    if checked is None:
        return {}
    return {
        "new_findings": [each for each in checked.findings if each.since == NEW],
        "worse_findings": [each for each in checked.findings if each.since == WORSE],
        "gone_findings": checked.gone,
    }


def explain() -> Iterator[str]:
    """Yield the lines with the formula of each figure."""
    for each in MEASURES:
        unit = f" [{each.unit}]" if each.unit else ""
        yield f"{each.name}{unit} = {each.formula}"


def _named(rows: pl.DataFrame) -> list[str]:
    """Return the columns of NAMES that are not null in all rows."""
    return [name for name in NAMES if rows[name].null_count() < rows.height]


def _table_of(rows: pl.DataFrame) -> Table:
    names = _named(rows)
    texts = [Column(name.capitalize()) for name in (*names, "figure")]
    numbers = [Column(name.capitalize(), right=True) for name in _VALUES]
    cells = (
        [
            *(str(row[name] or ABSENT) for name in (*names, "figure")),
            *(styled(row[name], "decimal") for name in _VALUES),
        ]
        for row in rows.iter_rows(named=True)
    )
    return Table([*texts, *numbers], cells)


def _table(rows: pl.DataFrame) -> Iterator[str]:
    table = _table_of(rows)
    width = max(len("Figure"), *map(len, rows["figure"].to_list()))
    hows = [*(f"<{_WIDTHS[name]}" for name in _named(rows)), f"<{width}", *[">14"] * len(_VALUES)]
    for cells in ([column.heading for column in table.columns], *table.rows):
        yield "  ".join(map(format, map(visible, cells), hows))


def side_by_side(before: Side, after: Side, renames: Iterable[Rename]) -> Iterator[str]:
    """Yield counts and averages of each job before and after, in the layout of MP1B's TASK report.

    Jobs, and the queues of each job, are sorted by name.
    """
    sides = (before.renamed(renames), after)
    calls = _both(sides, "calls", ["qmgr", "job", "queue", "verb"])
    tasks = _both(sides, "task", ["qmgr", "job"])
    for names, of_job in calls.group_by("qmgr", "job", maintain_order=True):
        qmgr, job = (visible(name or ABSENT) for name in names)
        title = f"{qmgr} Jobname:{job}"
        yield f"{title:<{_LABEL}} {'Before':>12} {'After':>12} {'Ratio':>8}"
        same = [
            pl.col(each).eq_missing(name) for each, name in zip(("qmgr", "job"), names, strict=True)
        ]
        for task in tasks.filter(same).to_dicts():
            for label, name in _TASK_FIGURES.items():
                yield from _pair(label, task[name], task[f"{name}_after"])
        for (queue,), of_queue in of_job.group_by("queue", maintain_order=True):
            if queue is not None:
                yield f"Queue name               {queue}"
            yield from _verbs(of_queue)
            yield from _totals(of_queue, "Total task" if queue is None else "Total queue")
        yield from _totals(of_job, "Total job")
        yield ""


def _both(sides: Sequence[Side], kind: str, names: list[str]) -> pl.DataFrame:
    """Return the sums of both sides; columns of the second side end in _after."""
    first, second = (summed(side.rows.filter(kind=kind), names) for side in sides)
    joined = first.join(
        second, on=names, how="full", coalesce=True, nulls_equal=True, suffix="_after"
    )
    return joined.sort(names, nulls_last=False)


def _verbs(rows: pl.DataFrame) -> Iterator[str]:
    found = {row["verb"]: row for row in rows.to_dicts()}
    for verb in (*metric_subject("queue_use").verbs, *metric_subject("task").verbs):
        if verb in found:
            row, label = found[verb], verb.capitalize()
            yield from _pair(f"{label} count", row["calls"], row["calls_after"])
            for what, name in (("elapsed", "elapsed"), ("CPU", "cpu")):
                averages = [
                    row[f"{name}{side}"] / row[f"calls{side}"]
                    if row[f"calls{side}"] and row[f"{name}{side}"] is not None
                    else None
                    for side in ("", "_after")
                ]
                yield from _pair(f"{label} avg {what} time uS", *averages)


def _totals(rows: pl.DataFrame, what: str) -> Iterator[str]:
    totals = {"requests": "calls", "elapsed time uS": "elapsed", "CPU time uS": "cpu"}
    for label, name in totals.items():
        before, after = (
            rows.select(ordered_sum(pl.col(column))).item() if rows[column].count() else None
            for column in (name, f"{name}_after")
        )
        yield from _pair(f"{what} {label}", before, after)


def _pair(label: str, before: float | None, after: float | None) -> Iterator[str]:
    if before is None and after is None:
        return
    cells = [styled(value, "rounded") for value in (before, after)]
    ratio = f"{after / before:.2f}" if before and after is not None else ABSENT
    yield f"{label:<{_LABEL}} {cells[0]:>12} {cells[1]:>12} {ratio:>8}"
