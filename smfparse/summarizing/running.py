"""From a catalog to a summary: one scan for the rules and all lines."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from smfparse.advice.findings import Finding
from smfparse.advice.running import run_rules
from smfparse.advice.wording import losses_of
from smfparse.metrics.calendar import COVERAGE, Coverage, coverage_of, coverage_query
from smfparse.summarizing.declaration import Line, lines
from smfparse.summarizing.figures import (
    Figures,
    Times,
    figures_of,
    held_lines,
    held_times,
    line_queries,
)

if TYPE_CHECKING:
    from smfparse.query.catalog import Catalog


@dataclass(frozen=True)
class Day:
    """The results for a queue manager.

    findings  findings, the most serious first
    coverage  completeness of the data; None: names are selected
    missing   lines without data, by the trace that would write the data
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
