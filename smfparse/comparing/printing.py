"""A comparison as text, CSV and JSON; and as MP1B's TASK report with two columns."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import polars as pl

from smfparse.comparing.changes import NAMES
from smfparse.comparing.measures import MEASURES
from smfparse.comparing.sides import Rename, Side
from smfparse.rendering import rows as frames
from smfparse.rendering.figures import ABSENT, STYLES

TOP = 20
"""Rows of text that are not significant, unless told otherwise."""
_WIDTHS = {"qmgr": 4, "job": 8, "queue": 48, "verb": 7}
_VERBS = (
    *("open", "close", "get", "put", "put1", "inq", "set", "cb"),
    *("commit", "backout", "prepare", "sub", "subrq", "ctl", "stat", "topic", "other"),
)
_OF_TASK = {
    "Pages old": "pages_old",
    "Pages new": "pages_new",
    "Log write bytes": "log_bytes",
    "Log force count": "log_forces",
}
_OF_QMGR = [each.name for each in MEASURES if each.kind in ("log", "messages")]
_LABEL = 28


def lines(
    rows: pl.DataFrame, before: Side, after: Side, form: str, tolerance: float, top: int = TOP
) -> Iterator[str]:
    """Yield the lines of a comparison in the form text, csv or json.

    rows  as `comparison.compared` gives them
    top   rows of text that are not significant
    """
    if form == "text":
        yield from _text(rows, before, after, tolerance, top)
    elif form == "csv":
        yield from frames.lines([rows.to_arrow()], "csv")
    else:
        yield json.dumps({"report": "compare", "rows": rows.to_dicts()})


def explain() -> Iterator[str]:
    """Yield the lines that say how each figure comes about."""
    for each in MEASURES:
        unit = f" [{each.unit}]" if each.unit else ""
        yield f"{each.name}{unit} = {each.formula}"


def _text(
    rows: pl.DataFrame, before: Side, after: Side, tolerance: float, top: int
) -> Iterator[str]:
    yield from _heading(before, after)
    found = pl.col("significant").fill_null(value=False)
    first, second = pl.col("before").is_null(), pl.col("after").is_null()
    of_qmgr = pl.col("figure").is_in(_OF_QMGR) | pl.col("figure").str.contains("^(pool|cf)_")
    effect = pl.col("figure") == "cpu_per_second"
    blocks = [
        (f"Changed by more than {100 * tolerance:g} %, and more than intervals vary", found),
        ("Others, those first that change the CPU time most", ~(found | of_qmgr | first | second)),
        ("Others of queue managers", of_qmgr & ~found),
        ("Only before", second & effect),
        ("Only after", first & effect),
    ]
    for number, (title, which) in enumerate(blocks):
        part = rows.filter(which)
        most = part.height if number == 0 else min(top, part.height)
        count = f"{part.height}" if most == part.height else f"{most} of {part.height}, see --top"
        yield ""
        yield f"{title}: {count if part.height else 'none'}"
        if most:
            yield from _table(part.head(most))
    both = rows.filter(~first & ~second)
    if both.height and both["significant"].null_count() == both.height:
        yield ""
        yield (
            "There are too few intervals to tell a change from chance: it takes two a side. "
            "--interval 15m makes some of what was recorded without any."
        )


def _heading(before: Side, after: Side) -> Iterator[str]:
    sides = (before, after)
    shown = [
        ("", ["Before", "After"]),
        ("From", [_moment(side.first) for side in sides]),
        ("To", [_moment(side.last) for side in sides]),
        ("Intervals", [str(side.intervals) for side in sides]),
        ("Queue managers", [", ".join(side.qmgrs) or ABSENT for side in sides]),
        ("Seconds of class 3", [_number(side.total("calls")) for side in sides]),
        ("Seconds of statistics", [_number(side.total("messages")) for side in sides]),
        ("CPU of calls, uS a second", [_number(side.cpu_per_second) for side in sides]),
    ]
    width = max(len(cells[0]) for _, cells in shown)
    for label, cells in shown:
        yield f"{label:<{_LABEL}} {cells[0]:<{width}}  {cells[1]}".rstrip()


def _moment(value: Any) -> str:
    return ABSENT if value is None else STYLES["second"][0](value)


def _table(rows: pl.DataFrame) -> Iterator[str]:
    """Yield a heading and a line a row; names that no row has are left out."""
    names = [name for name in NAMES if rows[name].null_count() < rows.height]
    width = max(len("Figure"), *map(len, rows["figure"].to_list()))
    heading = [f"{name.capitalize():<{_WIDTHS[name]}}" for name in names]
    numbers = [f"{text:>14}" for text in ("Before", "After", "Difference", "Ratio")]
    yield "  ".join([*heading, f"{'Figure':<{width}}", *numbers])
    for row in rows.iter_rows(named=True):
        cells = [f"{row[name] or ABSENT!s:<{_WIDTHS[name]}}" for name in names]
        figures = ("before", "after", "difference", "ratio")
        values = [f"{_number(row[name]):>14}" for name in figures]
        yield "  ".join([*cells, f"{row['figure']!s:<{width}}", *values])


def _number(value: float | None) -> str:
    return ABSENT if value is None else STYLES["decimal"][0](value)


def side_by_side(before: Side, after: Side, renames: Iterable[Rename]) -> Iterator[str]:
    """Yield what each job did before and after, as MP1B's TASK report has it: counts and averages.

    Jobs come in the order of their names, queues in the order of theirs.
    """
    sides = (before.renamed(renames), after)
    calls = _both(sides, "calls", ["qmgr", "job", "queue", "verb"])
    tasks = _both(sides, "task", ["qmgr", "job"])
    for names, of_job in calls.group_by("qmgr", "job", maintain_order=True):
        qmgr, job = (name or ABSENT for name in names)
        title = f"{qmgr} Jobname:{job}"
        yield f"{title:<{_LABEL}} {'Before':>12} {'After':>12} {'Ratio':>8}"
        same = [
            pl.col(each).eq_missing(name) for each, name in zip(("qmgr", "job"), names, strict=True)
        ]
        for task in tasks.filter(same).to_dicts():
            for label, name in _OF_TASK.items():
                yield from _pair(label, task[name], task[f"{name}_after"])
        for (queue,), of_queue in of_job.group_by("queue", maintain_order=True):
            if queue is not None:
                yield f"Queue name               {queue}"
            yield from _verbs(of_queue)
            yield from _totals(of_queue, "Total task" if queue is None else "Total queue")
        yield from _totals(of_job, "Total job")
        yield ""


def _both(sides: Sequence[Side], kind: str, names: list[str]) -> pl.DataFrame:
    """Return the sums of both sides, those of the second with _after behind their names."""
    amount = pl.col(pl.Float64)
    first, second = (
        side.rows.filter(kind=kind)
        .group_by(names)
        .agg(pl.when(amount.is_not_null().any()).then(amount.sum()))
        for side in sides
    )
    joined = first.join(
        second, on=names, how="full", coalesce=True, nulls_equal=True, suffix="_after"
    )
    return joined.sort(names, nulls_last=False)


def _verbs(rows: pl.DataFrame) -> Iterator[str]:
    found = {row["verb"]: row for row in rows.to_dicts()}
    for verb in _VERBS:
        if verb in found:
            row, label = found[verb], verb.capitalize()
            yield from _pair(f"{label} count", row["calls"], row["calls_after"])
            for what, name in (("elapsed", "elapsed"), ("CPU", "cpu")):
                averages = [
                    row[f"{name}{side}"] / row[f"calls{side}"] if row[f"calls{side}"] else None
                    for side in ("", "_after")
                ]
                yield from _pair(f"{label} avg {what} time uS", *averages)


def _totals(rows: pl.DataFrame, what: str) -> Iterator[str]:
    totals = {"requests": "calls", "elapsed time uS": "elapsed", "CPU time uS": "cpu"}
    for label, name in totals.items():
        before, after = (
            float(rows[column].sum()) if rows[column].count() else None
            for column in (name, f"{name}_after")
        )
        yield from _pair(f"{what} {label}", before, after)


def _pair(label: str, before: float | None, after: float | None) -> Iterator[str]:
    """Yield a line of two figures, where there is one."""
    if before is None and after is None:
        return
    cells = [ABSENT if value is None else f"{value:.0f}" for value in (before, after)]
    ratio = f"{after / before:.2f}" if before and after is not None else ABSENT
    yield f"{label:<{_LABEL}} {cells[0]:>12} {cells[1]:>12} {ratio:>8}"
