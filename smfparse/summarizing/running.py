"""From a catalog to a summary: one scan for the rules and all lines."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from smfparse.advice import Finding, run_rules
from smfparse.summarizing.declaration import Line, lines
from smfparse.summarizing.figures import Figures, held_figures, held_times, line_queries
from smfparse.summarizing.timing import Times

if TYPE_CHECKING:
    from smfparse.query import Catalog


@dataclass(frozen=True)
class Day:
    """What a queue manager's data shows.

    findings  ranked, the most serious first
    missing   the trace that would make MQ write what is not there, and the lines without data
    """

    times: Times
    findings: Sequence[Finding]
    figures: Sequence[Figures]
    missing: Sequence[tuple[str, Sequence[Line]]]


@dataclass(frozen=True)
class Summary:
    """The days of all queue managers, by system and name."""

    days: Sequence[Day] = ()


def summarized(catalog: Catalog) -> Summary:
    """Summarize the inputs of a catalog; SMF files are read once."""
    checked = run_rules(catalog, also=line_queries(catalog))
    times = held_times(catalog)
    figures = held_figures(catalog, times)
    return Summary(
        [
            _day(
                each,
                [found for found in checked.findings if found.concerns(*each.key)],
                figures.get(each.key, []),
            )
            for each in times
        ]
    )


def _day(times: Times, findings: Sequence[Finding], figures: Sequence[Figures]) -> Day:
    there = {each.line.name for each in figures}
    absent = [each for each in lines().values() if each.name not in there and not each.optional]
    missing: dict[str, list[Line]] = {}
    for line in absent:
        missing.setdefault(line.trace, []).append(line)
    return Day(times, findings, figures, list(missing.items()))
