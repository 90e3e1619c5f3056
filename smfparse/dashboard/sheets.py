"""Tables of a page: objects, with shaded figures of several panels, and a sparkline."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import NamedTuple

import numpy as np

from smfparse.dashboard.courses import Course
from smfparse.dashboard.declaration import TableOf
from smfparse.dashboard.gathering import Day
from smfparse.rendering.figures import decimals_of, with_decimals
from smfparse.rendering.html import escaped
from smfparse.vectors import Floats

_MOST_ROWS = 200
_SHADES = 5
_SPARK = 60, 16
"""Number of steps of a sparkline, and height of a sparkline in pixels."""
_CENTS = 100


class _Column(NamedTuple):
    """A column of figures (NaN: none), its highest figure, and its number of decimals."""

    heading: str
    figures: Sequence[float]
    most: float
    decimals: int

    @classmethod
    def of(cls, heading: str, figures: Sequence[float]) -> _Column:
        return cls(heading, figures, max(map(_ordered, figures)), decimals_of(figures))

    def cell(self, row: int) -> str:
        value = self.figures[row]
        shade = math.ceil(_SHADES * value / self.most) if self.most > 0 and value > 0 else 0
        exact = f"{value:.10g}" if math.isfinite(value) else ""
        text = escaped(with_decimals(value, self.decimals))
        return f'<td class="n h{shade}" data-v="{exact}">{text}</td>'


def table_lines(table: TableOf, day: Day) -> Iterator[str]:
    """Yield a table of a queue manager; no lines if its panels have no data."""
    rows = [(name, _cells(table, day, name)) for name in _objects(table, day)]
    if not rows:
        return
    rows.sort(key=lambda row: (-_ordered(row[1][0]), row[0]))
    shown = rows[:_MOST_ROWS]
    columns = [
        _Column.of(heading, [cells[at] for _, cells in shown])
        for at, (panel, _, heading) in enumerate(table.columns)
        if panel in day.courses
    ]
    yield f'<div class="sheet" data-name="{table.name}"><h4>{table.title}</h4>'
    yield f'<div class="wide" tabindex="0" role="region" aria-label="{table.title}">'
    yield '<table class="data"><thead><tr>'
    yield f'<th scope="col">{table.object}</th><th scope="col" class="drawn">Over time</th>'
    yield from (f'<th scope="col" class="n">{each.heading}</th>' for each in columns)
    yield "</tr></thead><tbody>"
    for row, (name, _) in enumerate(shown):
        yield f'<tr><th scope="row"><bdi>{escaped(name)}</bdi></th>'
        course = _course(day, table.spark, name)
        yield f"<td>{spark(course.values) if course else ''}</td>"
        yield from (each.cell(row) for each in columns)
        yield "</tr>"
    yield "</tbody></table></div>"
    if len(rows) > len(shown):
        yield f"<p>The first {len(shown)} of {len(rows)}.</p>"
    yield "</div>"


def _objects(table: TableOf, day: Day) -> list[str]:
    names = {panel: None for panel, *_ in table.columns}
    several = (day.courses[each].by_object for each in names if each in day.courses)
    return list(dict.fromkeys(chain.from_iterable(several)))


def _cells(table: TableOf, day: Day, name: str) -> list[float]:
    found = []
    for panel, kind, _ in table.columns:
        course = _course(day, panel, name)
        found.append(_figure(kind, course) if course else math.nan)
    return found


def _course(day: Day, panel: str, name: str) -> Course | None:
    courses = day.courses.get(panel)
    return courses.by_object.get(name) if courses else None


def _figure(kind: str, course: Course) -> float:
    if kind == "average":
        return course.average
    if kind in ("sum", "seconds"):
        return course.whole / (_CENTS if kind == "seconds" else 1)
    known = course.values[~np.isnan(course.values)]
    share = _SHARES[kind]
    return float(np.quantile(known, share)) if len(known) else math.nan


_SHARES: Mapping[str, float] = {"highest": 1.0, "half": 0.5, "most": 0.99}


def _ordered(value: float) -> float:
    return value if math.isfinite(value) else -1.0


def spark(values: Floats) -> str:
    """Return values as a small SVG, from 0 to the highest value, with gaps for missing values."""
    steps, height = _SPARK
    size = min(steps, len(values))
    step = np.arange(len(values)) * size // len(values)
    known = ~np.isnan(values)
    counts = np.bincount(step, known, size)
    sums = np.bincount(step, np.where(known, values, 0), size)
    means = np.where(counts > 0, sums / np.maximum(counts, 1), math.nan).tolist()
    most = max((each for each in means if math.isfinite(each)), default=0.0) or 1.0
    path, pen = "", "M"
    for at, mean in enumerate(means):
        if math.isfinite(mean):
            path += f"{pen}{at},{height - max(mean, 0) / most * (height - 1):.1f}"
        pen = "L" if math.isfinite(mean) else "M"
    return (
        f'<svg class="spark" viewBox="0 0 {len(means)} {height}" width="{steps * 2}" '
        f'height="{height}" preserveAspectRatio="none" aria-hidden="true"><path d="{path}"/></svg>'
    )
