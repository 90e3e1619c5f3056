"""The page: one self-contained HTML file, with a content policy that blocks external content.

Status, findings and tables of a queue manager are shown also without scripts. A table has a row per
object, with shaded figures of several panels, and a sparkline.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import NamedTuple

import numpy as np

from smfparse.advice.wording import lost_text, nothing_to, span_text
from smfparse.dashboard.courses import Course
from smfparse.dashboard.declaration import Panel, Part, TableOf, panels, part_of, parts, tables
from smfparse.dashboard.findings import MARKS, WASTE, finding_rows, incident_cards
from smfparse.dashboard.gathering import Day, Earlier, Gathered
from smfparse.dashboard.payload import packed, payload
from smfparse.planning.plans import planner
from smfparse.rendering.document import Cells, Column, Section, Table
from smfparse.rendering.figures import decimals_of, in_digits, plural, with_decimals
from smfparse.rendering.html import BASE, TABLES, escaped, head_lines, joined, section_lines
from smfparse.reports.graph import svg_lines
from smfparse.vectors import Floats

_MOST_ROWS = 200
_SHADES = 5
_SPARK = 60, 16
"""Number of steps of a sparkline, and height of a sparkline in pixels."""
_CENTS = 100


class _Column(NamedTuple):
    """A column of figures (NaN: no value), its highest figure, and its number of decimals."""

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
    """Yield the lines of a table for a queue manager; no lines if its panels have no data."""
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


CLEAR, NO_DATA = 6, 7
"""Values of `Verdict.order` above all severities: no finding, and no data."""


def manager_lines(
    day: Day, number: int, found: Gathered, before: Day | None = None
) -> Iterator[str]:
    """Yield the section of a queue manager.

    number  index of the queue manager on the page, which is part of element ids
    before  an earlier period of the same queue manager; None: no comparison
    """
    yield f'<section class="manager" id="m{number}" data-number="{number}">'
    yield from _heading(day)
    if before is not None:
        yield (
            f"<p>Dashed lines show the earlier period, {_span(before)}: "
            '<a href="#changes">what changed</a>.</p>'
        )
    yield '<ul class="tiles">'
    yield from (tile(part, number, verdict(part, day)) for part in parts().values())
    yield "</ul>"
    yield from incident_cards(day, number)
    yield from finding_rows(day, found.commands)
    for part in parts().values():
        yield from _part(part, day, number, before)
    yield "</section>"


def missing_lines(found: Gathered) -> Iterator[str]:
    """Yield the section of the traces that panels and rules without data require."""
    absent: dict[str, list[str]] = {}
    for day in found.days:
        for panel in panels().values():
            if panel.name not in day.courses and not panel.optional:
                newer = f" (MQ {panel.versions} or newer)" if panel.versions else ""
                absent.setdefault(panel.trace, []).append(f"{panel.title}{newer}")
    yield '<section class="part" id="missing"><h2>Missing traces</h2><ul>'
    for trace, titles in absent.items():
        names = ", ".join(dict.fromkeys(titles))
        yield f"<li><code>{escaped(trace)}</code> is required for: {escaped(names)}</li>"
    for trace, rules in found.checked.not_evaluated:
        several = plural(len(rules), "more rule")
        yield f"<li><code>{escaped(trace)}</code> is required for {several}</li>"
    if not absent and not found.checked.not_evaluated:
        yield "<li>None: all charts and rules have their data.</li>"
    yield "</ul></section>"


def _heading(day: Day) -> Iterator[str]:
    times = day.times
    hours, minutes = divmod(abs(times.offset) // 60, 60)
    offset = f"UTC{'-' if times.offset < 0 else '+'}{hours:02}:{minutes:02}"
    facts = [f"MQ {times.mq_version}"] if times.mq_version else []
    facts += [_span(day), f"{times.clock.name or 'local time of the system'}, {offset}"]
    known = times.calendar.facts
    if known["intervals"]:
        facts.append(
            f"{known['intervals']:,} intervals of {known['interval_seconds']:,.0f} seconds"
        )
        facts.append(f"gaps: {known['gaps']}, restarts: {known['restarts']}")
    else:
        facts.append("no statistics intervals: the times are those of accounting records")
    yield f"<h2><bdi>{escaped(day.times.name)}</bdi></h2><p>{escaped(' · '.join(facts))}</p>"
    if lost := lost_text(day.findings):
        yield f"<p>{escaped(lost)}</p>"


def _span(day: Day) -> str:
    calendar = day.times.calendar
    return span_text(day.times.local(calendar.first), day.times.local(calendar.last))


class Verdict(NamedTuple):
    """The status of a part: the severity of its worst finding, no finding, or no data.

    order   severity, CLEAR or NO_DATA; the lowest value is the worst status
    state   CSS class of the tile
    symbol  symbol of the status
    words   description of the status
    more    the worst finding, or the required trace
    """

    order: int
    state: str
    symbol: str
    words: str
    more: str = ""


def verdict(part: Part, day: Day) -> Verdict:
    """Return the status of a part of a queue manager."""
    every = (each for top in day.findings for each in top.whole())
    own = [each for each in every if part_of(each.rule) is part]
    its = [each for each in panels().values() if each.section == part.name]
    if own:
        worst = min(own, key=lambda each: each.severity)
        return Verdict(worst.severity, f"c{worst.severity}", *MARKS[worst.severity], worst.name)
    if its and not any(each.name in day.courses for each in its):
        more = its[0].trace if _is_used(its) else "optional: not every site uses it"
        return Verdict(NO_DATA, "none", "-", "No data", more)
    return Verdict(CLEAR, "clear", "✔", "No finding")


def _is_used(its: Sequence[Panel]) -> bool:
    """Whether at least one panel is not optional, so that missing data is shown."""
    return any(not each.optional for each in its)


def worst_verdict(day: Day) -> Verdict:
    """Return the worst status of the parts of a queue manager."""
    return min((verdict(part, day) for part in parts().values()), key=lambda each: each.order)


def tile(part: Part, number: int, found: Verdict) -> str:
    """Return a tile with a link to the part of a queue manager."""
    return (
        f'<li class="tile {found.state}"><a href="#m{number}-{part.name}"><b>{part.title}</b>'
        f'<span><span aria-hidden="true">{found.symbol}</span> {found.words}</span>'
        f"<small>{escaped(found.more)}</small></a></li>"
    )


def _part(part: Part, day: Day, number: int, before: Day | None) -> Iterator[str]:
    its = [each for each in panels().values() if each.section == part.name]
    yield f'<section class="part" id="m{number}-{part.name}"><h3>{part.title}</h3>'
    yield from _charts([each for each in its if each.name in day.courses], day, number, before)
    for table in tables().values():
        if table.section == part.name:
            yield from table_lines(table, day)
    if part.name == "queues":
        yield from _flow(day)
    yield from _plan(part, day)
    if its and not any(each.name in day.courses for each in its):
        some = "" if _is_used(its) else ", if the site uses it"
        yield f"<p>No data. <code>{escaped(its[0].trace)}</code> writes this data{some}.</p>"
    if not its:
        held, missing = (
            '<a href="#held">Records in the input</a>',
            '<a href="#missing">missing traces</a>',
        )
        yield f"<p>{held}, and {missing}.</p>"
    yield "</section>"


def _charts(there: Sequence[Panel], day: Day, number: int, before: Day | None) -> Iterator[str]:
    """Yield empty elements for the charts of panels, and the names of panels with only zeros."""
    quiet = [each for each in there if _is_quiet(each.name, day, before)]
    for panel in there:
        if panel not in quiet:
            yield (
                f'<figure class="chart scripted" data-panel="{panel.name}" '
                f'id="m{number}-chart-{panel.name}"></figure>'
            )
    if quiet:
        titles = ", ".join(each.title for each in quiet)
        yield f'<p class="quiet">0 all the time: {escaped(titles)}.</p>'


def _is_quiet(name: str, *days: Day | None) -> bool:
    """Whether all values of a panel are 0 in all `days` with data for the panel."""
    return all(day is None or name not in day.courses or day.courses[name].all_zero for day in days)


def _plan(part: Part, day: Day) -> Iterator[str]:
    if part.name in day.plans:
        yield f'<details class="plan"><summary>{escaped(planner(part.planner).title)}</summary>'
        for section in day.plans[part.name]:
            yield from section_lines(section, 4)
        yield "</details>"


def _flow(day: Day) -> Iterator[str]:
    drawing = list(svg_lines(day.flows))
    if drawing:
        yield '<div class="flow"><h4>Putters and getters of each queue</h4>'
        yield '<div class="wide" tabindex="0" role="region" aria-label="Flow of messages">'
        yield from drawing
        yield "</div></div>"


def group_lines(found: Gathered) -> Iterator[str]:
    """Yield a section for each queue-sharing group."""
    groups: dict[str, list[tuple[int, Day]]] = {}
    for number, day in enumerate(found.days):
        if day.group:
            groups.setdefault(day.group, []).append((number, day))
    for name, members in sorted(groups.items()):
        names = ", ".join(f"<bdi>{escaped(day.times.qmgr)}</bdi>" for _, day in members)
        yield f'<section class="group"><h2>Queue-sharing group <bdi>{escaped(name)}</bdi></h2>'
        yield f"<p>{names}</p>"
        yield '<ul class="tiles">'
        yield from (_group_tile(part, members) for part in parts().values())
        yield "</ul></section>"


def _group_tile(part: Part, members: Sequence[tuple[int, Day]]) -> str:
    several = [(verdict(part, day), number, day.times.qmgr) for number, day in members]
    worst, number, name = min(several, key=lambda each: (each[0].order, each[1]))
    return tile(part, number, worst._replace(more=_more(worst, name, several)))


def _more(worst: Verdict, name: str, several: Sequence[tuple[Verdict, int, str]]) -> str:
    """Return the second line of a group's tile: the worst finding, or members without data."""
    if worst.order < CLEAR:
        return f"{name}: {worst.more}"
    if worst.order == NO_DATA:
        return worst.more
    unknown = [each for found, _, each in several if found.order == NO_DATA]
    return f"no data for {', '.join(unknown)}" if unknown else ""


_ASSETS = Path(__file__).with_name("assets")
_SCRIPTS = (_ASSETS / "uplot.js", _ASSETS / "inflate.js", TABLES, _ASSETS / "page.js")
_STYLES = (_ASSETS / "uplot.css", BASE, _ASSETS / "page.css")
_HELD = (
    *map(Column, ("System", "Queue manager", "Type")),
    *(Column(each, right=True) for each in ("Records", "Bytes")),
    *map(Column, ("From", "To")),
)
_KEYS = (
    ("0", "show the whole period"),
    ("+ -", "zoom in and out"),
    ("← →", "move to earlier and later times"),
    ("[ ]", "previous and next finding"),
    ("q", "next queue manager"),
    ("/", "go to the filter of a table"),
    ("t", "light or dark colours"),
    ("?", "show these keys"),
)


def page_lines(found: Gathered, before: Earlier | None = None) -> Iterator[str]:
    """Yield the lines of a page.

    before  an earlier period for comparison; None: no comparison
    """
    script, style = joined(_SCRIPTS), joined(_STYLES)
    title = ", ".join(each.times.name for each in found.days) or "no data"
    yield from head_lines(f"IBM MQ for z/OS: {title}", script, style)
    yield from _bar(found)
    yield "<main>"
    if found.days:
        yield '<p class="undrawn">Charts are not drawn: scripts did not run.</p>'
    yield from group_lines(found)
    earlier = {each.times.key: each for each in before.days} if before else {}
    for number, day in enumerate(found.days):
        yield from manager_lines(day, number, found, earlier.get(day.times.key))
    if not found.days:
        yield f"<p>{nothing_to('show')}</p>"
    if before is not None:
        yield from _changes(before)
    yield from missing_lines(found)
    yield from _held(found)
    yield "</main>"
    yield from _help()
    if found.days:
        data = packed(payload(found, before.days if before else ()))
        yield f'<script type="application/gzip;base64" id="data">{data}</script>'
        yield f"<script>{script}</script>"
    yield from ("</body>", "</html>")


def _bar(found: Gathered) -> Iterator[str]:
    """Yield the bar: queue managers and, if scripts run, the shown time and buttons."""
    yield '<header class="bar"><h1>IBM MQ for z/OS</h1><nav aria-label="Queue managers">'
    for number, day in enumerate(found.days):
        worst = worst_verdict(day)
        mark = f' <span title="{worst.words}">{worst.symbol}</span>' if worst.order <= WASTE else ""
        name = f"<bdi>{escaped(day.times.qmgr or day.times.name)}</bdi>"
        yield f'<a class="button manager-link" href="#m{number}">{name}{mark}</a>'
    yield "</nav>"
    yield (
        '<span id="span" role="status"></span><span class="tools scripted">'
        '<button id="whole" type="button">Whole time</button>'
        '<button id="print" type="button">Print</button>'
        '<button id="theme" type="button" aria-label="Light or dark">◐</button>'
        '<button id="keys" type="button" aria-label="Keys">?</button></span>'
        '<div id="brush" class="scripted"></div></header>'
    )


def _changes(before: Earlier) -> Iterator[str]:
    """Yield the cost of calls before and after, as shown by the command `compare`."""
    yield '<section class="part" id="changes"><h2>Changes since the earlier period</h2>'
    for section in before.changes.sections():
        yield from section_lines(section, 3)
    yield "</section>"


def _held(found: Gathered) -> Iterator[str]:
    yield '<section class="part" id="held"><h2>Records in the input</h2>'
    yield from section_lines(Section("", [Table(_HELD, _held_rows(found), "Records by type")]))
    if found.damage:
        yield "<h3>Damage</h3><ul>"
        yield from (f"<li>{escaped(each)}</li>" for each in found.damage[:100])
        yield "</ul>"
    else:
        yield "<p>No damage: every byte was used.</p>"
    yield "</section>"


def _held_rows(found: Gathered) -> Iterator[Cells]:
    for each in found.held:
        subtype = "" if each["subtype"] is None else f"/{each['subtype']}"
        counts = (in_digits(each[key]) for key in ("records", "bytes"))
        moments = (each[key] for key in ("earliest", "latest"))
        times = (f"{moment:%Y/%m/%d %H:%M}" if moment else "-" for moment in moments)
        yield [each["system"], each["qmgr"], f"{each['type']}{subtype}", *counts, *times]


def _help() -> Iterator[str]:
    yield '<dialog id="help" aria-label="Keys"><h2>Keys</h2><dl>'
    for key, what in _KEYS:
        yield f"<dt><kbd>{key}</kbd></dt><dd>{what}</dd>"
    yield '</dl><form method="dialog"><button>Close</button></form></dialog>'
