"""Commands that show the evidence of findings, for the records that the user selected."""

from __future__ import annotations

import datetime as dt
import shlex
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cache
from typing import NamedTuple

from smfparse.advice.findings import Finding
from smfparse.decoding.selection import BY_NAME, Selection
from smfparse.decoding.zones import Zone
from smfparse.inputs.options import DEFAULTS, ReadOptions
from smfparse.planning.plans import option
from smfparse.reports.declaration import report

_KINDS = {"queue": "--queue", "channel": "--channel"}
"""Option that selects an object, by kind of object."""
_WITHOUT_JOB = ("channel", "pool", "page set")
"""Kinds of object whose reports cannot select a job."""
_QUERY = "sql:"
"""Prefix of the key `report` of a rule, if its value is a query for `smfparse sql`."""
_MOST_OF_INPUTS = 120
"""Maximum number of characters of the inputs in a command."""
_NAMES = frozenset(f"--{each}" for each in BY_NAME)
_SECOND, _MINUTE = dt.timedelta(seconds=1), dt.timedelta(minutes=1)
_DATE = len("2026-03-04T")


class Commands(NamedTuple):
    """Makes commands that select the same records as the current command.

    inputs   names of inputs given by the user
    options  options with which the inputs were read; a command gets only options that it accepts
    """

    inputs: Sequence[str] = ()
    options: ReadOptions = DEFAULTS

    def called(self, name: str) -> str:
        """Return the command `name` for all records that were read."""
        return self._made(name, _names(self._selection), _times(self._selection))

    def show(self, finding: Finding) -> str:
        """Return the command that shows the evidence of a finding; '': no such command."""
        name = finding.cause.report or next(
            (each.cause.report for each in finding.explains if each.cause.report), ""
        )
        if name.startswith(_QUERY):
            return f"{self.called('sql')} {shlex.quote(name.removeprefix(_QUERY))}"
        if not name:
            return ""
        takes = _names_in(name)
        return self._narrowed(f"report {name}", finding, takes, takes)

    def plan(self, finding: Finding) -> str:
        """Return the command that calculates the effect of a change; '': no planner."""
        if not finding.cause.plan:
            return ""
        called = self._narrowed(f"capacity {finding.cause.plan}", finding, _NAMES, {"--channel"})
        set_by_rule = (
            f"{option(name)} {_shortest(value) if isinstance(value, float) else value}"
            for name, value in finding.inputs.items()
            if value is not None
        )
        return " ".join([called, *set_by_rule])

    @property
    def _selection(self) -> Selection:
        return self.options.selection

    def _narrowed(
        self, name: str, finding: Finding, takes: Collection[str], narrows: Collection[str]
    ) -> str:
        """Return the command `name` for the object and time of a finding.

        takes    options of the command that select rows by name
        narrows  options that are set to the object or job of the finding
        """
        given = _names(self._selection)
        own = {"--qmgr": finding.qmgr}
        if given["--system"] or finding.has_namesake:
            own["--system"] = finding.system
        if (kind := _KINDS.get(finding.kind, "")) in narrows:
            own[kind] = finding.object
        if "--job" in narrows and finding.kind not in _WITHOUT_JOB:
            own["--job"] = finding.job
        names = {
            each: own.get(each) or text
            for each, text in given.items()
            if each in takes or each not in _NAMES
        }
        return self._made(name, names, _times_of(finding, self._selection))

    def _made(self, name: str, names: Mapping[str, str], times: Iterable[str]) -> str:
        parts = [f"smfparse {name} {inputs_text(self.inputs)}"]
        parts += (f"{each} {shlex.quote(text)}" for each, text in names.items() if text)
        parts += times
        if self.options.keep_duplicates:
            parts.append("--keep-duplicates")
        if self.options.framing:
            parts.append(f"--framing {self.options.framing}")
        return " ".join(parts)


ANY_INPUT = Commands()


def _shortest(value: float) -> str:
    """Return a number with six significant digits; a number of more digits as a whole number."""
    return f"{value:.0f}" if abs(value) >= 1e6 else f"{value:.6g}"


def inputs_text(inputs: Sequence[str]) -> str:
    """Return inputs as arguments of a command, or `INPUT...` if they are too long."""
    joined = shlex.join(inputs)
    return joined if 0 < len(joined) <= _MOST_OF_INPUTS else "INPUT..."


@cache
def _names_in(name: str) -> frozenset[str]:
    """Return the options that select rows of a report by name."""
    every = Selection.of(job="*", transaction="*", queue="*", channel="*")
    unknown = every.unknown_to(report(name).main)
    return frozenset(f"--{each}" for each in every.by_name if each not in unknown)


def _names(selection: Selection) -> dict[str, str]:
    """Return the selected names and types, by option; '': all."""
    several = {"qmgr": selection.qmgrs, "system": selection.systems}
    several |= {each: getattr(selection, field) for each, field in BY_NAME.items()}
    found = {f"--{each}": ",".join(sorted(patterns)) for each, patterns in several.items()}
    return found | {"--type": ",".join(map(str, selection.types))}


def _times_of(finding: Finding, selection: Selection) -> list[str]:
    """Return the options for the time of a finding within the selected time."""
    start, end, zone = finding.start, finding.end, finding.clock
    if end < start:  # clocks went back, so local times occur twice
        if selection.time_column:
            return _times(selection)
        zone = Zone("utc", (), (0,))
        start, end = zone.local(finding.main.start), zone.local(finding.main.end)
    after = end + (_SECOND if end.second and not selection.smf_time else _MINUTE)
    if selection.smf_time:  # of an interval, it is a little after the end
        start += _SECOND
    within = selection._replace(
        start=max(start, selection.start or start),
        end=min(after, selection.end or after),
        zone=zone,
    )
    return _times(within)


def _times(selection: Selection) -> list[str]:
    """Return the options for the selected time."""
    found = []
    if selection.start:
        found.append(f"--from {_first(selection.start)}")
    if selection.end:
        found.append(f"--until {_last(selection.end)}")
    if selection.daily:
        opens, closes = (dt.datetime.min + dt.timedelta(seconds=each) for each in selection.daily)
        found.append(f"--from {_first(opens)[_DATE:]} --until {_last(closes)[_DATE:]}")
    if selection.smf_time:
        found.append("--smf-time")
    if selection.zone and selection.zone.name:
        found.append(f"--tz {selection.zone.name}")
    return found


def _first(start: dt.datetime) -> str:
    """Return a time as text, without seconds if they are 0."""
    return start.isoformat(timespec="seconds" if start.second else "minutes")


def _last(end: dt.datetime) -> str:
    """Return the last minute or second before a time as text, because `--until` includes it."""
    last = end - _SECOND
    return last.isoformat(timespec="minutes" if last.second == 59 else "seconds")
