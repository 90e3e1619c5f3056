"""What a page says of a queue manager without scripts: verdict, incidents, findings, tables."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from smfparse.advice import Finding, finding_lines, in_short, span_text
from smfparse.dashboard.declaration import Panel, Part, panels, part_of, parts, tables
from smfparse.dashboard.gathering import Day, Gathered
from smfparse.dashboard.incidents import Incident, Move, incidents
from smfparse.dashboard.payload import finding_panel
from smfparse.dashboard.sheets import short, table_lines
from smfparse.planning import planner
from smfparse.rendering import escaped, section_lines
from smfparse.reports import svg_lines

VERDICTS = {
    1: ("✖", "Loss or outage near"),
    2: ("▲", "Constraint"),
    3: ("◆", "Waste"),
    4: ("●", "To know"),
    5: ("○", "Data quality"),
}
"""The symbol and the words of each class of findings."""
CLEAR, NO_DATA = 6, 7
"""Behind the classes of findings: none, and no data to find one in."""
_STRIP = 240
"""How wide the strip of the time beside a finding is."""
_MOST_FINDINGS = 60
_EPOCH = dt.datetime(1970, 1, 1)


def manager_lines(
    day: Day, number: int, found: Gathered, *, with_zeros: bool = False
) -> Iterator[str]:
    """Yield the section of a queue manager.

    number      tells its parts from those of others
    with_zeros  whether a panel of which all is 0 has its chart, as an earlier time may have more
    """
    yield f'<section class="manager" id="m{number}" data-number="{number}">'
    yield from _heading(day)
    yield from _tiles(day, number)
    for each in incidents(day):
        yield from _incident(each, day)
    yield from _findings(day, found)
    for part in parts().values():
        yield from _part(part, day, number, with_zeros)
    yield "</section>"


def missing_lines(found: Gathered) -> Iterator[str]:
    """Yield which traces would tell more, of rules and of panels."""
    absent: dict[str, list[str]] = {}
    for day in found.days:
        for panel in panels().values():
            if panel.name not in day.courses and not panel.optional:
                newer = f" (MQ {panel.versions} or newer)" if panel.versions else ""
                absent.setdefault(panel.trace, []).append(f"{panel.title}{newer}")
    yield '<section class="part" id="missing"><h2>What is missing</h2><ul>'
    for trace, titles in absent.items():
        names = ", ".join(dict.fromkeys(titles))
        yield f"<li><code>{escaped(trace)}</code> would show: {escaped(names)}</li>"
    for trace, rules in found.checked.not_evaluated:
        yield f"<li><code>{escaped(trace)}</code> would tell about {_rules(len(rules))}</li>"
    if not absent and not found.checked.not_evaluated:
        yield "<li>Nothing: every panel and every rule has its data.</li>"
    yield "</ul></section>"


def _rules(number: int) -> str:
    return "1 more rule" if number == 1 else f"{number} more rules"


def _heading(day: Day) -> Iterator[str]:
    times = day.times
    span = span_text(times.local(times.first), times.local(times.last))
    hours, minutes = divmod(abs(times.offset) // 60, 60)
    offset = f"UTC{'-' if times.offset < 0 else '+'}{hours:02}:{minutes:02}"
    facts = [f"MQ {times.mq_version}"] if times.mq_version else []
    facts += [span, f"{times.clock.name or 'local time of the system'}, {offset}"]
    if times.intervals:
        facts.append(f"{times.intervals:,} intervals of {times.usual:,.0f} seconds")
        facts.append(f"gaps: {times.gaps}, restarts: {times.restarts}")
    else:
        facts.append("no statistics intervals: the times are those of accounting records")
    yield f"<h2><bdi>{escaped(day.name)}</bdi></h2><p>{escaped(' · '.join(facts))}</p>"


class Verdict(NamedTuple):
    """What is said of a part: its worst finding, that there is none, or that there is no data.

    order  the lower, the worse
    more   the finding, or the trace that would tell
    """

    order: int
    state: str
    symbol: str
    words: str
    more: str = ""


def verdict(part: Part, day: Day) -> Verdict:
    """Return what is said of a part of a queue manager."""
    own = [each for each in day.findings if part_of(each.rule) is part]
    its = [each for each in panels().values() if each.section == part.name]
    if own:
        worst = min(own, key=lambda each: each.rank)
        return Verdict(worst.rank, f"c{worst.rank}", *VERDICTS[worst.rank], worst.name)
    if its and not any(each.name in day.courses for each in its):
        is_used = any(not each.optional for each in its)
        return Verdict(NO_DATA, "none", "-", "No data", its[0].trace if is_used else "")
    return Verdict(CLEAR, "clear", "✔", "No finding")


def tile(part: Part, number: int, found: Verdict) -> str:
    """Return a tile, which leads to the part of a queue manager."""
    return (
        f'<li class="tile {found.state}"><a href="#m{number}-{part.name}"><b>{part.title}</b>'
        f'<span><span aria-hidden="true">{found.symbol}</span> {found.words}</span>'
        f"<small>{escaped(found.more)}</small></a></li>"
    )


def _tiles(day: Day, number: int) -> Iterator[str]:
    yield '<ul class="tiles">'
    yield from (tile(part, number, verdict(part, day)) for part in parts().values())
    yield "</ul>"


def _place(finding: Finding) -> str:
    names = (finding.qmgr or finding.system, finding.object, finding.job)
    return " ".join(f"<bdi>{escaped(each)}</bdi>" for each in names if each)


def _zoom(finding: Finding, day: Day, words: str) -> str:
    """Return the button that shows the time of a finding, and goes to the chart that shows it."""
    begin, end = ((each - _EPOCH).total_seconds() for each in (finding.start, finding.end))
    panel = finding_panel(finding, day.courses)
    return (
        f'<button class="zoom scripted" type="button" data-from="{begin:.0f}" '
        f'data-to="{end:.0f}" data-panel="{panel}">{words}</button>'
    )


def _incident(incident: Incident, day: Day) -> Iterator[str]:
    cause = incident.cause
    span = span_text(incident.start, incident.end)
    yield f'<article class="incident c{cause.rank}"><h3>{escaped(span)}: {escaped(cause.name)}</h3>'
    yield f"<p><b>{cause.rule}</b> {_place(cause)} {_zoom(cause, day, 'Show this time')}</p>"
    yield f"<p>{escaped(in_short(cause))}</p>"
    if incident.moves:
        yield '<p>What moved, against the two hours before:</p><ul class="moves">'
        yield from map(_move, incident.moves)
        yield "</ul>"
    several = [*cause.explains, *incident.others]
    if several:
        words = "1 finding" if len(several) == 1 else f"{len(several)} findings"
        yield f"<details><summary>{words} at the same time</summary><ul>"
        yield from (f"<li>{escaped(in_short(each))}</li>" for each in several)
        yield "</ul></details>"
    yield "</article>"


def _move(move: Move) -> str:
    name = f" <bdi>{escaped(move.object)}</bdi>" if move.object else ""
    arrow = "up" if move.during > move.before else "down"
    return (
        f"<li><small>{escaped(move.panel.title)}, {escaped(move.panel.unit)}{name}</small>"
        f'<b class="{arrow}">{escaped(short(move.before))} → {escaped(short(move.during))}</b></li>'
    )


def _findings(day: Day, found: Gathered) -> Iterator[str]:
    yield "<h3>Findings</h3>"
    if not day.findings:
        yield "<p>The rules of <code>smfparse check</code> find nothing in this data.</p>"
        return
    yield '<ol class="findings">'
    for each in day.findings[:_MOST_FINDINGS]:
        yield from _finding(each, day, found.inputs)
    yield "</ol>"
    more = len(day.findings) - _MOST_FINDINGS
    if more > 0:
        yield f"<p>{more} more: <code>smfparse check</code></p>"


def _finding(finding: Finding, day: Day, inputs: Sequence[str]) -> Iterator[str]:
    symbol, words = VERDICTS[finding.rank]
    yield (
        f'<li class="c{finding.rank}"><details><summary><span class="mark" title="{words}">'
        f'<span aria-hidden="true">{symbol}</span><span class="hidden">{words}</span></span> '
        f"<b>{finding.rule}</b> {_place(finding)}: {escaped(finding.name)} "
        f"{_strip(finding, day)}</summary>"
    )
    yield f"<p>{_zoom(finding, day, 'Show in the charts')}</p><dl>"
    for word, sentence in finding_lines(finding, inputs):
        if sentence:
            yield f"<dt>{word}</dt><dd>{escaped(sentence)}</dd>"
    yield "</dl></details></li>"


def _strip(finding: Finding, day: Day) -> str:
    """Return the time as a strip, with where a finding holds."""
    first, length = int(day.axis.starts[0]), int(day.axis.ends[-1] - day.axis.starts[0])
    scale = _STRIP / length
    bars = "".join(
        f'<rect x="{(run.start - first) * scale:.1f}" '
        f'width="{max((run.end - run.start) * scale, 1):.1f}" height="8"/>'
        for run in finding.runs[:200]
    )
    return (
        f'<svg class="strip" viewBox="0 0 {_STRIP} 8" width="{_STRIP}" height="8" '
        f'aria-hidden="true">{bars}</svg>'
    )


def _part(part: Part, day: Day, number: int, with_zeros: bool) -> Iterator[str]:
    """Yield a part: places for its charts, which scripts fill, and its tables."""
    its = [each for each in panels().values() if each.section == part.name]
    yield f'<section class="part" id="m{number}-{part.name}"><h3>{part.title}</h3>'
    yield from _charts([each for each in its if each.name in day.courses], day, number, with_zeros)
    for table in tables().values():
        if table.section == part.name:
            yield from table_lines(table, day)
    if part.name == "queues":
        yield from _flow(day)
    yield from _plan(part, day)
    if its and not any(each.name in day.courses for each in its):
        some = "" if any(not each.optional for each in its) else ", where the site has it"
        yield f"<p>No data. <code>{escaped(its[0].trace)}</code> would show it{some}.</p>"
    if not its:
        held, missing = (
            '<a href="#held">What SMF held</a>',
            '<a href="#missing">what is missing</a>',
        )
        yield f"<p>{held}, and {missing}.</p>"
    yield "</section>"


def _charts(there: Sequence[Panel], day: Day, number: int, with_zeros: bool) -> Iterator[str]:
    """Yield places for the charts of panels, and the names of those of which all is 0."""
    quiet = [each for each in there if not with_zeros and day.courses[each.name].all_zero]
    for panel in there:
        if panel not in quiet:
            yield (
                f'<figure class="chart scripted" data-panel="{panel.name}" '
                f'id="m{number}-chart-{panel.name}"></figure>'
            )
    if quiet:
        titles = ", ".join(each.title for each in quiet)
        yield f'<p class="quiet">0 all the time: {escaped(titles)}.</p>'


def _plan(part: Part, day: Day) -> Iterator[str]:
    """Yield what a planner says, as the command `capacity` does."""
    if part.name in day.plans:
        yield f'<details class="plan"><summary>{escaped(planner(part.planner).title)}</summary>'
        for section in day.plans[part.name]:
            yield from section_lines(section, 4)
        yield "</details>"


def _flow(day: Day) -> Iterator[str]:
    drawing = list(svg_lines(day.flows))
    if drawing:
        yield '<div class="flow"><h4>Who puts to which queue, and who takes from it</h4>'
        yield '<div class="wide" tabindex="0" role="region" aria-label="Flow of messages">'
        yield from drawing
        yield "</div></div>"
