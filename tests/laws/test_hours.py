"""Hours of class 3 are the hours of statistics of the same work."""

from __future__ import annotations

import datetime as dt
from collections import Counter, defaultdict
from pathlib import Path

from hypothesis import given

from tests.laws.asking import hour_of, opened, rows
from tests.support.clocks import HOUR, Clock, Site, Span
from tests.support.drawing_clocks import sites
from tests.support.searching import search


@search(3)
@given(site=sites())
def test_hours_of_class_3_are_hours_of_statistics(site: Site, tmp_path: Path) -> None:
    """But for the intervals that cross an hour, and those of which the other kind has none."""
    data = opened(site.write(tmp_path))
    found: dict[tuple[str, dt.datetime], Counter[str]] = defaultdict(Counter)
    for kind, reports in (("class 3", ("qputs", "qgets")), ("statistics", ("msgm",))):
        for row in (each for name in reports for each in rows(data, name, interval="1h")):
            counts = (row.get(each) or 0 for each in ("putn", "getn", "qmstput", "qmstget"))
            found[row["qmgr"], row["bucket"]][kind] += sum(counts)
    crossing = {
        (clock.qmgr, *each): n for clock in site.clocks for each, n in spread(clock).items()
    }
    for (qmgr, hour), calls in found.items():
        apart = abs(calls["class 3"] - calls["statistics"])
        most = crossing.get((qmgr, hour), 0)
        assert apart <= most, (qmgr, hour, calls, most, site.clock(qmgr))


def spread(clock: Clock) -> Counter[tuple[dt.datetime]]:
    """Return how many calls of each hour are in intervals that may count elsewhere.

    These are intervals that have a part in several hours, or of whose time there is no interval
    of the other kind.
    """
    found: Counter[tuple[dt.datetime]] = Counter()
    kinds = (clock.statistics, clock.class_3)
    for own, other in (kinds, kinds[::-1]):
        for span in own:
            hours = hours_of(clock, span)
            if len(hours) > 1 or span.odd or not is_covered(span, other):
                found.update(dict.fromkeys(((each,) for each in hours), span.calls))
    return found


def is_covered(span: Span, others: list[Span]) -> bool:
    """Return whether intervals of the other kind leave nothing of it out.

    Of class 3 those of each task do it on their own.
    """
    jobs = {each.task for each in others}
    if span.task is not None and None in jobs:
        return _is_full(span, others)
    return all(_is_full(span, [each for each in others if each.task is job]) for job in jobs)


def _is_full(span: Span, others: list[Span]) -> bool:
    at = span.begun
    for each in sorted(others, key=lambda each: each.begun):
        if each.begun <= at < each.ended:
            at = each.ended
    return at >= span.ended


def hours_of(clock: Clock, span: Span) -> set[dt.datetime]:
    """Return all local hours that an interval has a part in; its SMF time is in one, too.

    What lies over an edge by no more than the lag, or the time until SMF took the record, is no
    part. Where clocks are changed, the hours are those of both offsets.
    """
    edge = abs(clock.lag) + clock.late
    start = min(span.begun + edge, span.ended)
    end = max(span.ended - edge, span.begun)
    used = {clock.offset(each) for each in (span.begun, span.end + clock.late)}
    found = set()
    for offset in used:
        first, last = (hour_of((each + offset).replace(tzinfo=None)) for each in (start, end))
        found |= {first + number * HOUR for number in range((last - first) // HOUR + 1)}
    return found | ({hour_of(clock.smf_time(span))} if span.odd else set())
