"""A summary as a document: one screen of text per queue manager, a table of figures, facts.

A catalog is read in one scan, for the rules and all lines.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from smfparse.advice.commands import ANY_INPUT, Commands
from smfparse.advice.findings import Finding
from smfparse.advice.running import run_rules
from smfparse.advice.wording import (
    in_short,
    losses_of,
    lost_text,
    nothing_to,
    span_text,
)
from smfparse.layout.columns import version_key
from smfparse.metrics.calendar import (
    COVERAGE,
    Coverage,
    coverage_of,
    coverage_query,
    length_text,
    lengths_text,
)
from smfparse.rendering.document import Cells, Column, Document, Facts, Section, Table, Values
from smfparse.rendering.figures import legible, plural
from smfparse.rendering.text import FAINT, FINDINGS, HEAD, HEADLINE, Mark, aligned
from smfparse.summarizing.figures import (
    Figures,
    Line,
    Times,
    figures_of,
    held_lines,
    held_times,
    line_queries,
    lines,
)

if TYPE_CHECKING:
    from smfparse.query.catalog import Catalog


@dataclass(frozen=True)
class Day:
    """The summary of a queue manager.

    findings  findings, the most serious first
    coverage  completeness of the data; None: names are selected
    missing   each required trace that is missing, with the lines that need it
    """

    times: Times
    findings: Sequence[Finding]
    figures: Sequence[Figures]
    missing: Sequence[tuple[str, Sequence[Line]]]
    coverage: Coverage | None = None


def summarized(catalog: Catalog) -> list[Day]:
    """Return one `Day` per queue manager, ordered by system and name; SMF files are read once."""
    checked = run_rules(catalog, also=line_queries(catalog) | {COVERAGE: coverage_query()})
    times = held_times(catalog)
    figures = figures_of(held_lines(catalog), times)
    coverage = _coverage(catalog, times, checked.findings)
    return [
        _day(
            each,
            [found for found in checked.findings if found.concerns(*each.key)],
            figures.get(each.key, []),
            coverage.get(each.key),
        )
        for each in times
    ]


def _coverage(
    catalog: Catalog, times: Sequence[Times], findings: Sequence[Finding]
) -> dict[tuple[str, str], Coverage]:
    """Return the completeness of each queue manager's data, from rows held by the catalog."""
    selection = catalog.inputs.selection
    if selection.by_name:
        return {}
    lost: dict[str, int | None] = {}
    for each in losses_of(findings):
        lost[each.system] = (
            None if each.total is None else int(each.total) + (lost.get(each.system) or 0)
        )
    found = coverage_of(
        {each.key: each.calendar for each in times},
        catalog.held[COVERAGE],
        lost,
        lambda *record: not selection.types or selection.has_type(*record),
        catalog.inputs.met.count,
    )
    return {(each.system, each.qmgr): each for each in found}


def _day(
    times: Times,
    findings: Sequence[Finding],
    figures: Sequence[Figures],
    coverage: Coverage | None,
) -> Day:
    there = {each.line.name for each in figures}
    absent = [each for each in lines().values() if each.name not in there and not each.optional]
    missing: dict[str, list[Line]] = {}
    for line in absent:
        missing.setdefault(line.trace, []).append(line)
    return Day(times, findings, figures, list(missing.items()), coverage)


BLOCKS = "▁▂▃▄▅▆▇█"
_NO_DATA = " "


def sparkline(values: Sequence[float | None], full: float = 0.0) -> str:
    """Return one block character per value, with a height in proportion to the value.

    values  None: no data, shown as a blank
    full    value of a full block; 0: the greatest of the values
    """
    full = full or max((each for each in values if each is not None), default=0.0)
    return "".join(_block(each, full) for each in values)


def _block(value: float | None, full: float) -> str:
    if value is None:
        return _NO_DATA
    share = max(value, 0.0) / full if full > 0 else 0.0
    return BLOCKS[min(int(share * len(BLOCKS)), len(BLOCKS) - 1)]


_WORST = 3
"""Maximum number of findings shown."""
_STEPS = 32, 48
"""Minimum and maximum number of characters of a sparkline."""
_STEPS_OF_FACTS = 288
_LEAST_NAME = 12
"""Minimum number of characters to which a name is shortened."""
_NOTHING = nothing_to("summarize")
_CSV = ("system", "qmgr", "name", "figure", "object", "mean", "highest", "at", "report")


class SummaryDocument(Document):
    """The metrics and worst findings of each queue manager.

    commands  makes the commands that show more detail
    drawn     whether the output supports the block characters of sparklines
    """

    title = "Summary"
    marks = (HEADLINE, *FINDINGS, Mark("Figure +Of .*", HEAD), Mark("  what to do:", FAINT))

    def __init__(
        self, days: Sequence[Day], commands: Commands = ANY_INPUT, *, drawn: bool = True
    ) -> None:
        self._days = days
        self._commands = commands
        self._drawn = drawn

    def printed(self) -> Iterator[str]:
        """Yield the lines of text: period, worst findings and figures of each queue manager."""
        for number, day in enumerate(self._days):
            if number:
                yield ""
            title, *notes = self._notes(day)
            yield from (title, *(_shortened(each, self.room) for each in notes))
            if day.figures:
                yield ""
                yield from aligned(*self._table(day, cut=True))
            for each in ("", *_missing(day)) if day.missing else ():
                yield from textwrap.wrap(each, self.room, subsequent_indent="  ") or [""]
        if not self._days:
            yield _NOTHING

    def sections(self) -> Iterator[Section]:
        """Yield a section for each queue manager: sentences, then its figures."""
        for day in self._days:
            title, *notes = self._notes(day)
            tables = [Table(*self._table(day, cut=False))] if day.figures else []
            yield Section(title, tables, [*notes, *_missing(day)])
        if not self._days:
            yield Section("", notes=[_NOTHING])

    def tables(self) -> Iterator[Values]:
        """Yield one table: the figures of all queue managers."""
        yield Values.of(self.title, _CSV, self._rows())

    def facts(self) -> Iterator[Facts]:
        """Yield the facts of each queue manager, with all steps of its metrics over time."""
        yield Facts({"managers": [_fact(each) for each in self._days]}, indent=2)

    def _rows(self) -> Iterator[dict[str, Any]]:
        for day in self._days:
            for each in day.figures:
                manager = {"system": day.times.system, "qmgr": day.times.qmgr}
                yield manager | _fact_of_line(each) | {"at": each.at}

    def _notes(self, day: Day) -> Iterator[str]:
        """Yield name and period, then completeness of the data, then the worst findings."""
        times = day.times
        zone = times.clock.name
        span = span_text(times.local(times.calendar.first), times.local(times.calendar.last), zone)
        release = f"MQ {times.mq_version}" if times.mq_version else ""
        yield ", ".join(filter(None, (times.name, release, span)))
        yield _complete(day)
        if lost := lost_text(day.findings):
            yield lost
        for each in day.findings[:_WORST]:
            yield f"  {in_short(each)}"
        yield self._more(day)

    def _more(self, day: Day) -> str:
        more = len(day.findings) - _WORST
        if not day.findings:
            return "smfparse check finds nothing."
        text = plural(more, "more finding") if more > 0 else "what to do"
        return f"  {text}: {self._commands.called('check')}"

    def _table(self, day: Day, *, cut: bool) -> tuple[list[Column], list[Cells]]:
        """Return columns and rows of the figures, with sparklines if they fit.

        cut  whether names are shortened so that lines fit
        """
        times = day.times
        start, end = times.local(times.first), times.local(times.last - 1)
        clock = "%H:%M" if start.date() == end.date() else "%m/%d %H:%M"
        columns = [
            *(Column("Figure"), Column("Of"), Column("Mean", right=True)),
            *(Column("Highest", right=True), Column("At"), Column("Report")),
        ]
        rows: list[Cells] = [_cells(each, clock) for each in day.figures]
        room, course = self.room - _width(columns, rows), f"From {start:{clock}}"
        least, most = min(_STEPS[0], room - _LEAST_NAME), _STEPS[1]
        longest, steps = max(len(row[1]) for row in rows), 0
        drawn = self._drawn and least >= len(course)
        if drawn:
            steps = min(max(room - longest, least), most, max(times.slots, len(clock)))
        if cut:
            rows = [_cut(row, max(room - steps, _LEAST_NAME)) for row in rows]
        if drawn:
            columns.insert(-1, Column(course))
            rows = [
                [*row[:-1], sparkline(each.over_time(times.slots, steps), each.line.full), row[-1]]
                for row, each in zip(rows, day.figures, strict=True)
            ]
        return columns, rows


def _shortened(note: str, room: int) -> str:
    """Return a sentence cut to `room` characters, unless it contains a command to copy."""
    if len(note) <= room or "smfparse check" in note:
        return note
    return f"{note[: room - 3].rstrip()}..."


def _cells(each: Figures, clock: str) -> Cells:
    numbers = (legible(value, each.line.style) for value in (each.mean, each.highest))
    return [each.line.label, each.object, *numbers, each.at.strftime(clock), each.line.report]


def _width(columns: Sequence[Column], rows: Sequence[Cells]) -> int:
    """Return the width of a table without the names, and with an added empty column."""
    cells = zip([each.heading for each in columns], *rows, strict=True)
    widths = [max(map(len, each)) for each in cells]
    return sum(widths) - widths[1] + 2 * len(widths)


def _cut(row: Cells, room: int) -> Cells:
    label, name, *rest = row
    if len(name) > room:
        half = (room - 2) // 2
        name = f"{name[: room - 2 - half]}..{name[-half:]}"
    return [label, name, *rest]


def _complete(day: Day) -> str:
    """Return a sentence about completeness, intervals, losses, and traces that are off."""
    if day.coverage is None:
        return _intervals(day.times)
    facts = [_intervals(day.times), *day.coverage.lost, *day.coverage.switched_off]
    return f"{day.coverage.answer.capitalize()}: {'; '.join(facts)}"


def _intervals(times: Times) -> str:
    facts, lengths = times.calendar.facts, lengths_text(times.calendar)
    if not facts["intervals"]:
        return "no intervals of statistics, times are those of accounting records"
    several, gaps = plural(facts["intervals"], "interval"), "no gap"
    if facts["gaps"]:
        gaps = f"{plural(facts['gaps'], 'gap')} ({length_text(facts['gap_seconds'])} in all)"
    restarts = plural(facts["restarts"], "restart") if facts["restarts"] else "no restart"
    phrases = [f"{several} of {lengths}", gaps, restarts]
    if facts["missing_intervals"]:
        phrases.append(f"{facts['missing_intervals']:,} intervals missing by QWHSISEQ")
    if facts["derived"]:
        phrases.append("by SMF time: the records contain no intervals")
    return ", ".join(phrases)


def _missing(day: Day) -> Iterator[str]:
    """Yield sentences about lines without data, each with the required trace or release."""
    version = day.times.mq_version
    newer: list[Line] = []
    for trace, absent in day.missing:
        there = [each for each in absent if not _is_newer(each, version)]
        newer += [each for each in absent if _is_newer(each, version)]
        if there:
            yield f"No data of {trace}: {', '.join(map(_needed, there))}"
    if newer:
        yield f"Not written by MQ {version}: {', '.join(map(_needed, newer))}"


def _is_newer(line: Line, version: str) -> bool:
    """Whether only releases after `version` write the data of a line."""
    return bool(version) and version_key(line.versions or "0") > version_key(version)


def _needed(line: Line) -> str:
    label, _, _ = line.label.partition(",")
    return f"{label} (MQ {line.versions} or newer)" if line.versions else label


def _fact_of_line(figures: Figures) -> dict[str, Any]:
    return {
        "name": figures.line.name,
        "figure": figures.line.label,
        "object": figures.object,
        "mean": figures.mean,
        "highest": figures.highest,
        "at": figures.at.isoformat(),
        "report": figures.line.report,
    }


def _fact(day: Day) -> dict[str, Any]:
    times = day.times
    return {
        "system": times.system,
        "qmgr": times.qmgr,
        "mq_version": times.mq_version,
        "start": times.local(times.first).isoformat(),
        "end": times.local(times.calendar.last).isoformat(),
        **times.calendar.facts,
        "coverage": day.coverage.facts if day.coverage else None,
        "lost": [
            {
                "start": each.start.isoformat(),
                "end": each.end.isoformat(),
                "records": None if each.total is None else int(each.total),
            }
            for each in losses_of(day.findings)
        ],
        "findings": [
            {"severity": each.severity, "rule": each.rule, "object": each.object, "name": each.name}
            for each in day.findings
        ],
        "figures": [
            _fact_of_line(each) | {"over_time": each.over_time(times.slots, _STEPS_OF_FACTS)}
            for each in day.figures
        ],
        "missing": [
            {"trace": trace, "figures": [each.name for each in absent]}
            for trace, absent in day.missing
        ],
    }
