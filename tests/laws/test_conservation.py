"""However time is cut, nothing is lost or counted twice, whatever the clocks."""

from __future__ import annotations

import datetime as dt
from collections import Counter
from collections.abc import Callable, Iterable
from operator import attrgetter
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

import smfparse
from smfparse import Selection
from tests.laws import asking
from tests.laws.asking import class_3_calls, opened, rows, statistics_calls
from tests.support.clocks import SECOND, Clock, Site, Span
from tests.support.drawing_clocks import sites
from tests.support.searching import search

SECTIONS = ("1m", "15m", "30m", "1h", "24h")
class_3: Callable[[Clock], list[Span]] = attrgetter("class_3")
statistics: Callable[[Clock], list[Span]] = attrgetter("statistics")
NEAR = dt.timedelta(milliseconds=1)
NEAR_LEAP = dt.timedelta(milliseconds=100)
"""How well a clock is known: where it is ahead, by the hundredths of a second of SMF times."""


@search(8)
@given(site=sites())
def test_a_record_counts_at_the_middle_of_its_interval(site: Site, tmp_path: Path) -> None:
    """One longer than an hour: half an hour before its end; without interval: at its SMF time."""
    found = opened(site.write(tmp_path)).sql("SELECT record_no, counted_at FROM record ORDER BY 1")
    counted = found["counted_at"].to_pylist()
    for number, (_, _, clock, span) in enumerate(site.records):
        near = NEAR_LEAP if clock.leap else NEAR
        expected = clock.counted(span)
        at = counted[number]
        as_expected = any(abs(at - each) <= near for each in expected)
        assert as_expected, (number + 1, at, expected, span, clock)


@search(3)
@given(site=sites())
def test_hours_have_the_records_that_count_in_them(site: Site, tmp_path: Path) -> None:
    """So hours of class 3 are hours of statistics. A 116/2 counts with its 116/1."""
    data, found, expected = opened(site.write(tmp_path)), Counter[Any](), Counter[Any]()
    counted = data.sql("SELECT counted_at FROM record ORDER BY record_no")["counted_at"]
    each_of = zip(site.records, counted.to_pylist(), strict=True)
    hours = {id(span): each for (*_, span), each in each_of}
    for clock in site.clocks:
        for kind in (class_3, statistics):
            for span in kind(clock):
                expected[clock.qmgr, kind, asking.hour_of(hours[id(span)])] += span.calls
    for kind, name, *columns in (
        *((class_3, "qputs", "putn"), (class_3, "qgets", "getn")),
        (statistics, "msgm", "qmstput", "qmstget"),
    ):
        for row in rows(data, name, interval="1h"):
            found[row["qmgr"], kind, row["bucket"]] += sum(row[each] or 0 for each in columns)
    assert +found == +expected, site


@search(2)
@given(site=sites(), length=st.sampled_from(SECTIONS))
def test_sections_and_hours_of_api_cost_add_up_to_the_total(
    site: Site, length: str, tmp_path: Path
) -> None:
    data = opened(site.write(tmp_path))
    for of_kind, spans in ((class_3_calls, class_3), (statistics_calls, statistics)):
        expected = asking.true_calls(site, spans)
        assert of_kind(data, interval=length) == expected, (length, spans, site)
        assert of_kind(data, total=True) == expected, ("total", spans, site)
    verbs = rows(data, "api-cost", by="hour,qmgr")
    calls = [row for row in verbs if row["verb"] in ("put", "get") and row["calls"]]
    assert asking.tallied(calls, "calls") == asking.true_calls(site, class_3), site


@search(3)
@given(site=sites(interrupted=False, faults=False), shares=st.sets(st.integers(1, 99), max_size=3))
def test_pieces_of_time_add_up_to_the_whole(site: Site, shares: set[int], tmp_path: Path) -> None:
    path = site.write(tmp_path)
    clock = site.clocks[0]
    cuts = [clock.local(clock.begin + clock.length * each / 100) for each in sorted(shares)]
    cuts = sorted({each.replace(microsecond=0) for each in cuts})
    pieces = []
    for since, until in zip([None, *cuts], [*cuts, None], strict=True):
        times: dict[str, Any] = {
            "since": since and f"{since:%Y-%m-%dT%H:%M:%S}",
            "until": until and f"{until - SECOND:%Y-%m-%dT%H:%M:%S}",
        }
        pieces.append(opened(path, Selection.of(**{key: at for key, at in times.items() if at})))
    check_sums(pieces, site, cuts)


def check_sums(pieces: Iterable[smfparse.SmfData], site: Site, context: object = None) -> None:
    """Hold that pieces of a site have all of its calls, each once."""
    for of_kind, spans in ((class_3_calls, class_3), (statistics_calls, statistics)):
        found: Counter[str] = sum((of_kind(each, total=True) for each in pieces), Counter())
        assert found == asking.true_calls(site, spans), (context, site)


@search(2)
@given(site=sites(most=4))
def test_two_files_and_a_dataset_of_both_say_what_one_says(site: Site, tmp_path: Path) -> None:
    """The second one goes on after any record: between a 116/1 and its 116/2 as well.

    `task_record_no` is NULL there, as it counts in one source; the offset has a `task_source`.
    """
    one, paths, folder = opened(site.write(tmp_path)), site.write_two(tmp_path), tmp_path / "tables"
    smfparse.convert(paths[0], folder, force=True)
    appended, two = smfparse.convert(paths[1], folder, append=True), opened(paths)
    for name in ("qputs", "tasksum", "msgm"):
        expected, *others = (rows(each, name, interval="1h") for each in (one, two, appended))
        for found in others:
            assert asking.without_places(found) == asking.without_places(expected), (name, site)
    unjoined = "SELECT count(*) AS n FROM wqst WHERE task_record_offset IS NULL"
    assert two.sql(unjoined)["n"].to_pylist() == [0], site


@search(1)
@given(site=sites(most=4))
def test_days_of_a_dataset_add_up_to_the_whole(site: Site, tmp_path: Path) -> None:
    folder = tmp_path / "tables"
    data = smfparse.convert(site.write(tmp_path), folder, partition=True, force=True)
    assert class_3_calls(data, total=True) == asking.true_calls(site, class_3), site
    days = {
        asking.hour_of(each).replace(hour=0)
        for each in data.arrow("record")["counted_at"].to_pylist()
    }
    check_sums(
        [
            opened(folder, Selection.of(since=f"{day:%Y-%m-%d}", until=f"{day:%Y-%m-%d}"))
            for day in sorted(days)
        ],
        site,
    )
