"""One panel as an SVG, written without a graphics library."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Iterator, Sequence

import numpy as np

from smfparse.dashboard.courses import MOST_POINTS, Course, Courses, Thinned
from smfparse.dashboard.declaration import HEAT, Panel, panels
from smfparse.dashboard.gathering import Day
from smfparse.metrics.calendar import SECOND_US
from smfparse.rendering.figures import in_digits
from smfparse.rendering.html import escaped
from smfparse.summarizing.spreading import Axis
from smfparse.vectors import Floats

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#8a7d00", "#7f7f7f")
"""Colours that colour-blind people can distinguish, the same as on the page."""
_WIDTH, _HEIGHT, _LEFT, _TOP, _NAMES = 760, 180, 64, 34, 230
"""Pixels: width and height of a chart, space left of and above the chart, width of names."""
_BELOW = 34
_ROW = 18
"""Height in pixels of a row of a heat map."""
_MOST_ROWS = 24
_FAINTEST = 0.08
"""Opacity of a cell with the smallest value above 0."""
_TICKS = (60, 300, 600, 1800, 3600, 7200, 10800, 21600, 43200, 86400, 604800)
"""Possible distances of marks on the time axis, seconds."""
_MOST_TICKS = 13
_MARKS = 4
"""Approximate number of marks on the axis of values."""
_INK, _DIM, _EDGE, _BAD = "#1b1f24", "#57606a", "#d5d9de", "#b3261e"


def plot_lines(panel: Panel, days: Sequence[Day]) -> Iterator[str]:
    """Yield the lines of an SVG of a panel: one chart per queue manager with data."""
    drawn = [each for each in days if panel.name in each.courses]
    heights = [_chart_height(each.courses[panel.name]) + _TOP + _BELOW for each in drawn]
    width, height = _LEFT + _WIDTH + _NAMES, max(sum(heights), _TOP)
    yield (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}" role="img" font-family="system-ui, sans-serif" '
        f'font-size="12"><title>{escaped(panel.title)}</title>'
        f'<rect width="{width}" height="{height}" fill="#fff"/>'
    )
    if not drawn:
        yield _words(_LEFT, 20, f"No data. {panel.trace} writes this data.")
    chart, top = (_heat if panel.shape == HEAT else _lines), _TOP
    for day, own in zip(drawn, heights, strict=True):
        yield f'<g transform="translate({_LEFT},{top})">'
        yield from chart(day, day.courses[panel.name])
        yield "</g>"
        top += own
    yield "</svg>"


def panel_list() -> Iterator[str]:
    """Yield the names of all panels, each with its title and unit."""
    longest = max(map(len, panels()))
    for each in panels().values():
        yield f"{each.name:{longest}}  {each.title}, {each.unit}"


def _chart_height(courses: Courses) -> int:
    if courses.panel.shape == HEAT:
        return _ROW * len(courses.several[:_MOST_ROWS])
    return _HEIGHT


def _heat(day: Day, courses: Courses) -> Iterator[str]:
    """Yield a row of cells per object; darker cells have higher values, on a logarithmic scale."""
    thin, several = Thinned.of(day.axis, MOST_POINTS), courses.several[:_MOST_ROWS]
    means = [thin.means(each.values, day.axis.seconds) for each in several]
    most = max(float(np.nanmax(each)) for each in means)
    yield _title(day, courses.panel, f"; the highest is {in_digits(most)}")
    scale = _WIDTH / int(thin.axis.ends[-1] - thin.axis.starts[0])
    begins = ((thin.axis.starts - thin.axis.starts[0]) * scale).tolist()
    ends = ((thin.axis.ends - thin.axis.starts[0]) * scale).tolist()
    for row, (course, values) in enumerate(zip(several, means, strict=True)):
        y = row * _ROW
        for begin, end, value in zip(begins, ends, values.tolist(), strict=True):
            if not value > 0:
                continue
            share = math.log1p(value) / math.log1p(most)
            yield (
                f'<rect x="{begin:.1f}" y="{y + 1}" width="{max(end - begin, 0.5):.1f}" '
                f'height="{_ROW - 2}" fill="{COLOURS[0]}" '
                f'fill-opacity="{_FAINTEST + (1 - _FAINTEST) * share:.2f}"/>'
            )
        yield _words(_WIDTH + 12, y + 13, f"{course.object}: mean {in_digits(course.average)}")
    yield from _times(day, _ROW * len(several))


def _lines(day: Day, courses: Courses) -> Iterator[str]:
    panel, thin = courses.panel, Thinned.of(day.axis, MOST_POINTS)
    several = courses.several[: len(COLOURS)]
    means = [thin.means(each.values, day.axis.seconds) for each in several]
    highest = max(float(np.nanmax(each)) for each in means)
    limit = panel.limit_value
    highest = max(highest, panel.whole or 0)
    near = limit if limit is not None and limit < 4 * highest else 0  # a far limit is not drawn
    step = _round_step(max(highest, near, 0) or 1)
    top = step * math.ceil(max(highest, step) / step)
    yield _title(day, panel)
    yield from _grid(top, step)
    yield from _times(day, _HEIGHT)
    for number, (course, values) in enumerate(zip(several, means, strict=True)):
        yield from _course(thin.axis, course, values, number, top)
    if limit is not None and limit <= top:
        y = _height(limit, top)
        yield f'<path d="M0,{y:.1f}H{_WIDTH}" stroke="{_BAD}" stroke-dasharray="6 4"/>'
        yield _words(4, y - 3, f"{in_digits(limit)} {panel.limit}", f"fill='{_BAD}' font-size='10'")


def _title(day: Day, panel: Panel, more: str = "") -> str:
    return _words(
        0, -14, f"{panel.title}, {panel.unit}: {day.times.name}{more}", "font-weight='600'"
    )


def _grid(top: float, step: float) -> Iterator[str]:
    for number in range(round(top / step) + 1):
        y = _height(number * step, top)
        yield f'<path d="M0,{y:.1f}H{_WIDTH}" stroke="{_EDGE}"/>'
        yield _words(-6, y + 4, in_digits(number * step), f"text-anchor='end' fill='{_DIM}'")


def _times(day: Day, height: float) -> Iterator[str]:
    begin, end = (int(each) for each in (day.axis.starts[0], day.axis.ends[-1]))
    apart = next(
        (each for each in _TICKS if (end - begin) / SECOND_US / each <= _MOST_TICKS), _TICKS[-1]
    )
    first = day.times.local(begin)
    midnight = first.replace(hour=0, minute=0, second=0, microsecond=0)
    first_mark = -(-(first - midnight).total_seconds() // apart) * apart
    moment = midnight + dt.timedelta(seconds=first_mark)
    while moment <= day.times.local(end):
        x = (moment - first).total_seconds() * SECOND_US / (end - begin) * _WIDTH
        words = (
            f"{moment:%m/%d}" if moment == moment.replace(hour=0, minute=0) else f"{moment:%H:%M}"
        )
        yield f'<path d="M{x:.1f},0V{height}" stroke="{_EDGE}"/>'
        yield _words(x, height + 16, words, f"text-anchor='middle' fill='{_DIM}'")
        moment += dt.timedelta(seconds=apart)


def _course(axis: Axis, course: Course, values: Floats, number: int, top: float) -> Iterator[str]:
    """Yield the line of a course, with one step per interval, and its name."""
    scale = _WIDTH / int(axis.ends[-1] - axis.starts[0])
    path, pen = "", "M"
    gaps = axis.after_gap.tolist()
    spans = zip(axis.starts - axis.starts[0], axis.ends - axis.starts[0], values, gaps, strict=True)
    for begin, end, value, is_apart in spans:
        if np.isnan(value):
            pen = "M"
            continue
        y = _height(float(value), top)
        path += f"{'M' if is_apart else pen}{begin * scale:.1f},{y:.1f}H{end * scale:.1f}"
        pen = "L"
    colour = COLOURS[number]
    yield f'<path d="{path}" fill="none" stroke="{colour}" stroke-width="1.4"/>'
    x, y = _WIDTH + 12, 8 + number * 18
    yield f'<rect x="{x}" y="{y - 6}" width="14" height="4" fill="{colour}"/>'
    name = course.object or "all"
    yield _words(x + 20, y, f"{name}: mean {in_digits(course.average)}")


def _height(value: float, top: float) -> float:
    return _HEIGHT * (1 - min(max(value / top, 0), 1))


def _round_step(most: float) -> float:
    """Return a round distance of marks, such that about _MARKS marks reach `most`."""
    size = 10.0 ** math.floor(math.log10(most / _MARKS))
    return next(each * size for each in (1, 2, 5, 10) if each * size * _MARKS >= most)


def _words(x: float, y: float, text: str, more: str = "") -> str:
    fill = "" if "fill=" in more else f' fill="{_INK}"'
    return f'<text x="{x:.1f}" y="{y:.1f}"{fill} {more}>{escaped(text)}</text>'
