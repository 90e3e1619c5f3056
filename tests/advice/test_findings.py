"""Findings over intervals: share, runs, persistence, what is left out, and how they are ranked."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from smfparse.advice import CheckDocument, Checked, Finding, Policy
from smfparse.advice.episodes import episodes, runs
from smfparse.calendar import SECOND_US
from smfparse.rendering import lines
from tests.support.advised import START, Rows, checked

MINUTE = 60.0


def waits(values: Sequence[int], seconds: Sequence[float] = ()) -> Mapping[str, Any]:
    """Return intervals of the log, one after the other, with waits for log buffers."""
    lengths = seconds or [MINUTE] * len(values)
    at, rows = START, []
    for number, (value, length) in enumerate(zip(values, lengths, strict=True)):
        rows.append(
            {
                "interval_start": at,
                "interval_seconds": length,
                "record_no": number + 1,
                "qjstwtb": value,
            }
        )
        at += dt.timedelta(seconds=length)
    return {"qjst": rows}


def the(found: Checked, rule: str) -> Finding:
    """Return the one finding of a rule, also under a diagnosis."""
    every = [each for top in found.findings for each in (top, *top.explains)]
    (one,) = [each for each in every if each.rule == rule]
    return one


def test_the_published_vector() -> None:
    found = the(checked(waits([0, 5, 6, 0, 0, 7])), "LOG-WTB")

    assert (found.evaluated, found.crossed, found.share) == (6, 3, 0.5)
    assert found.longest is not None
    assert found.longest.intervals == 2
    assert (found.peak, found.typical, found.total) == (7, 6, 18)
    assert found.peak_at == dt.datetime(2026, 3, 4, 9, 5)
    assert found.persistence == "persistent"


def test_a_longer_first_interval_counts_by_its_seconds() -> None:
    lengths = [150, *[MINUTE] * 5]

    found = the(checked(waits([0, 5, 6, 0, 0, 7], lengths)), "LOG-WTB")

    assert found.share == 180 / 450
    assert found.persistence == "repeated"


def test_a_first_interval_of_more_than_three_medians_is_left_out() -> None:
    found = the(checked(waits([9, 0, 5, 6, 0, 0, 7], [300, *[MINUTE] * 6])), "LOG-WTB")

    assert (found.evaluated, found.peak) == (6, 7)


def test_a_figure_that_no_interval_has_is_none_and_no_number() -> None:
    """A queue that is opened, and neither put to nor got from, has no opens a message."""
    rows: Rows = {"wtid": [{"wtidccn": "JOBA"}], "wqst": [{"openn": 1000}]}
    found = checked(rows)
    finding = the(found, "QUEUE-OPENS")
    assert (finding.peak, finding.typical) == (None, None)
    text = "\n".join(lines(CheckDocument(found), "json"))
    assert "NaN" not in text


def test_one_interval_is_once() -> None:
    assert the(checked(waits([0, 0, 4, 0])), "LOG-WTB").persistence == "once"


def test_a_condition_of_the_same_hour_on_two_days_recurs() -> None:
    values = [0] * 48
    values[3] = values[27] = 1

    found = the(checked(waits(values, [3600.0] * 48)), "LOG-WTB")

    assert found.persistence == "recurring"


def test_a_short_one_is_a_peak() -> None:
    values = [0] * 40
    values[3] = values[20] = 1

    assert the(checked(waits(values)), "LOG-WTB").persistence == "peak"


def test_a_run_of_a_quarter_of_an_hour_is_persistent() -> None:
    values = [0] * 40
    values[3:6] = [1, 1, 1]

    assert the(checked(waits(values, [300.0] * 40)), "LOG-WTB").persistence == "persistent"
    assert the(checked(waits(values)), "LOG-WTB").persistence == "peak"


def test_a_finding_begins_and_ends_with_its_main_episode() -> None:
    values = [1, 0, 0, 0, 1, 1, 0, 1, 0, 0]

    found = the(checked(waits(values)), "LOG-WTB")

    assert found.start == dt.datetime(2026, 3, 4, 9, 4)
    assert found.end == dt.datetime(2026, 3, 4, 9, 8)


def test_the_policy_asks_for_a_run_and_silences() -> None:
    rows = waits([0, 5, 6, 0, 0, 7])

    assert checked(rows, Policy(runs={"LOG-WTB": 3})).findings == []
    assert the(checked(rows, Policy(runs={"LOG-WTB": 2})), "LOG-WTB")
    assert checked(rows, Policy(limits={"LOG-WTB": 7})).findings == []
    assert the(checked(rows, Policy(limits={"LOG-WTB": 6})), "LOG-WTB").changed == {"waits": 6}


def test_without_records_nothing_is_found_and_the_traces_are_named() -> None:
    found = checked({})

    assert (found.findings, found.managers) == ([], [])
    assert any("CLASS(1)" in trace for trace, _ in found.not_evaluated)


@given(st.lists(st.tuples(st.booleans(), st.integers(1, 900), st.booleans()), max_size=40))
def test_runs_hold_what_crossed_and_break_where_time_does(
    some: list[tuple[bool, int, bool]],
) -> None:
    at, starts = 0, []
    for _, seconds, gap in some:
        at += 10_000 * SECOND_US * gap
        starts.append(at)
        at += seconds * SECOND_US
    crossed = np.array([each for each, _, _ in some], bool)
    lengths = np.array([each for _, each, _ in some], float)

    found = runs(np.array(starts, np.int64), lengths, crossed)

    expected: list[list[int]] = []
    for number, (held, _, gap) in enumerate(some):
        if held and (gap or not number or not some[number - 1][0]):
            expected.append([])
        if held:
            expected[-1].append(number)
    assert [each.intervals for each in found] == [len(each) for each in expected]
    assert [each.start for each in found] == [starts[each[0]] for each in expected]
    assert sum(each.seconds for each in found) == pytest.approx(lengths[crossed].sum())
    joined = episodes(found, 60)
    assert sum(each.intervals for each in joined) == crossed.sum()


def waiting(starts: Sequence[int], seconds: Sequence[int]) -> Rows:
    """Return intervals that all wait for log buffers, as often as they are seconds long."""
    rows = [
        {
            "interval_start": START + dt.timedelta(seconds=start),
            "interval_seconds": float(length),
            "record_no": number + 1,
            "qjstwtb": length,
        }
        for number, (start, length) in enumerate(zip(starts, seconds, strict=True))
    ]
    return {"qjst": rows}


def test_a_restart_leaves_out_the_stub_behind_the_gap() -> None:
    rows = waiting([0, 600, 1200, 2000, 2100, 2700], [600, 600, 600, 100, 600, 600])

    found = the(checked(rows), "LOG-WTB")

    assert (found.evaluated, found.crossed, found.total) == (5, 5, 3000)


def test_a_long_interval_that_follows_another_counts() -> None:
    rows = waiting([*range(0, 600, 60), 600, 1080], [60] * 10 + [480, 60])

    found = the(checked(rows), "LOG-WTB")

    assert (found.evaluated, found.crossed, found.total) == (12, 12, 1140)


def test_a_record_without_a_time_is_no_interval() -> None:
    rows = waiting([0, 60, 120], [60, 60, 60])
    rows["qjst"][1]["interval_start"] = "NULL"  # type: ignore[index]

    found = the(checked(rows), "LOG-WTB")

    assert (found.evaluated, found.total) == (2, 120)


@pytest.mark.parametrize(("seconds_on_queue", "rule"), [(599, "D4"), (600, "BUFF-SOS")])
def test_a_pool_is_too_small_for_messages_that_are_got_within_two_checkpoints(
    seconds_on_queue: int, rule: str
) -> None:
    rows: Rows = {
        "qpst": [{"qpstpool": 3, "qpstnbuf": 1000, "qpstcbsl": 500, "qpstsos": 1}],
        "qjst": [{"qjstllcp": 2}],
        "wqst": [{"nbuffpool": 3, "validget": 10, "getpsn": 1, "totlatnt": seconds_on_queue * 1e7}],
    }

    (first, *_) = checked(rows).findings

    assert (first.rule, first.object) == (rule, "3")


def test_a_pool_may_be_too_small_where_nothing_is_known_of_its_messages() -> None:
    pool = {"qpstpool": 3, "qpstnbuf": 1000, "qpstcbsl": 500, "qpstsos": 1, "qpstrio": 601}

    (first, *_) = checked({"qpst": [pool]}).findings

    assert (first.rule, first.object) == ("D4", "3")


def test_a_slow_coupling_facility_is_one_finding_and_a_slow_structure_another() -> None:
    def interval(number: int, slow: str) -> list[dict[str, Any]]:
        return [
            {"interval_no": number, "qeststr": each, "qestcsec": 10_000,
             "qestsstc": 8e4 * (10 if each in slow else 1)}
            for each in "AB"
        ]  # fmt: skip

    usual = [row for number in range(9) for row in interval(number, "")]
    of_all = the(checked({"qest": [*usual, *interval(9, "AB")]}), "D14")
    of_one = the(checked({"qest": [*usual, *interval(9, "B")]}), "D14")

    assert (of_all.object, sorted(each.object for each in of_all.explains)) == ("", ["A", "B"])
    assert (of_one.object, [each.object for each in of_one.explains]) == ("B", ["B"])
