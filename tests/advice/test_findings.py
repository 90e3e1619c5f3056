"""Findings over intervals: share, runs, persistence, what is left out, and how they are ranked."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import accumulate
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from smfparse.advice.commands import ANY_INPUT, Commands
from smfparse.advice.findings import Figure, Finding
from smfparse.advice.judging import episodes, runs
from smfparse.advice.policy import Policy
from smfparse.advice.printing import CheckDocument
from smfparse.advice.running import Checked
from smfparse.advice.wording import evidence, finding_lines, frequency, in_short, shown
from smfparse.metrics.calendar import SECOND_US
from smfparse.rendering.formats import lines
from tests.support.advised import ABSENT, START, Rows, checked
from tests.support.searching import search

MINUTE = 60.0


def waits(
    values: Sequence[int], seconds: Sequence[float] = (), starts: Sequence[float | None] = ()
) -> Mapping[str, Any]:
    """Return intervals of the log, usually one after the other, with waits for log buffers."""
    lengths = seconds or [MINUTE] * len(values)
    rows = [
        {"interval_seconds": float(length), "record_no": number + 1, "qjstwtb": value}
        | {"interval_start": ABSENT if at is None else START + dt.timedelta(seconds=at)}
        for number, (value, length, at) in enumerate(
            zip(values, lengths, starts or [0, *accumulate(lengths[:-1])], strict=True)
        )
    ]
    return {"qjst": rows}


def the(found: Checked, rule: str) -> Finding:
    """Return the one finding of a rule, also under a diagnosis."""
    (one,) = (each for top in found.findings for each in top.whole() if each.rule == rule)
    return one


def at(count: int, *crossed: int) -> list[int]:
    return [int(number in crossed) for number in range(count)]


SIX = [0, 5, 6, 0, 0, 7]
STUB, BEHIND, TIMELESS = [600, 600, 600, 100, 600, 600], [60] * 10 + [480, 60], [60] * 3
WAITS: Mapping[str, Sequence[Any]] = {
    "SIX": [SIX],
    "FIRST": [SIX, [150, *[MINUTE] * 5]],
    "BEFORE": [[9, *SIX], [300, *[MINUTE] * 6]],
    "MAIN": [[1, 0, 0, 0, 1, 1, 0, 1, 0, 0]],
    # How long it lasts
    "ONCE": [at(4, 2)],
    "DAYS": [at(48, 3, 27), [3600.0] * 48],
    "TWICE": [at(40, 3, 20)],
    "LONG": [at(40, 3, 4, 5), [300.0] * 40],
    "SHORT": [at(40, 3, 4, 5)],
    # All intervals wait, as often as they are seconds long: of a stub behind a gap, of a long one
    # behind another, and without a time
    "STUB": [STUB, STUB, [0, 600, 1200, 2000, 2100, 2700]],
    "BEHIND": [BEHIND, BEHIND, [*range(0, 600, 60), 600, 1080]],
    "TIMELESS": [TIMELESS, TIMELESS, [0, None, 120]],
}
"""By system: how often intervals wait for log buffers, how long they are, and their starts."""


@pytest.fixture(scope="module")
def log_waits() -> Mapping[str, Finding]:
    rows = [
        {"system": system, "source": system} | row
        for system, case in WAITS.items()
        for row in waits(*case)["qjst"]
    ]
    findings = checked({"qjst": rows}).findings
    found = [each for top in findings for each in top.whole() if each.rule == "LOG-WTB"]
    return {each.system: each for each in found}


Found = Mapping[str, Finding]


def test_over_the_change_of_clocks_a_command_has_utc(log_waits: Found) -> None:
    found = log_waits["SIX"]
    back = replace(found, end=found.start - dt.timedelta(minutes=10))
    first, last = (f"2026-03-04T09:{each:02}" for each in (1, 3))
    assert f"--from {first} --until {last} --tz utc" in ANY_INPUT.show(back)
    assert " (clocks go back), " in dict(finding_lines(back, ANY_INPUT))["when"]


def test_the_published_vector_and_a_longer_first_interval(log_waits: Found) -> None:
    """That counts by its seconds, up to three medians."""
    found = log_waits["SIX"]
    assert (found.evaluated, found.crossed, found.share) == (6, 3, 0.5)
    assert found.longest is not None
    assert found.longest.intervals == 2
    assert (found.peak, found.typical, found.total) == (7, 6, 18)
    assert found.peak_at == dt.datetime(2026, 3, 4, 9, 5)
    assert found.persistence == "sustained"
    found = log_waits["FIRST"]
    assert (found.share, found.persistence) == (180 / 450, "repeated")
    found = log_waits["BEFORE"]
    assert (found.evaluated, found.peak) == (6, 7)


def test_the_deepest_depth_is_the_highest_within_an_interval() -> None:
    queue = {"qqstqnam": "A", "qqstputs": 100, "qqstexpr": 6, "qqstdpth": 90, "qqstdphi": 91}
    assert evidence(the(checked({"qqst": [queue]}), "Q-EXPIRED")).endswith("deepest 91")


def test_a_data_set_fills_by_blocks_not_by_percent() -> None:
    blocks = [810 + 10 * number + (number % 2) for number in range(12)]
    rows = [
        {"interval_no": number, "qesdstr": "APP1", "qesdsmbd": 2000, "qesdsmbu": used}
        | {"record_no": number + 1, "qesdsmmu": 1700}
        for number, used in enumerate(blocks)
    ]
    found = the(checked({"qesd": rows}), "SMDS-FULL")

    assert found.move is not None
    assert found.move.unit == "blocks"
    assert found.move.per_hour == pytest.approx(60, rel=0.02)
    assert found.move.hours == pytest.approx((2000 - blocks[-1]) / 60, rel=0.02)


def test_a_finding_of_jobs_at_different_hours_counts_the_intervals_of_all() -> None:
    """Its time, its figures and its command are of one of them, which runs at that time."""
    rows: dict[str, list[Any]] = {"wtid": [], "wtas": [], "wqst": []}
    times = [*(("EARLY", each) for each in range(6)), *(("LATE", each) for each in (30, 31))]
    for number, (job, interval) in enumerate(times, 1):
        own = {"interval_no": interval, "record_no": number, "block_no": 1}
        rows["wtid"].append(own | {"wtidccn": job})
        wait = 9 if job == "LATE" else 1
        rows["wtas"].append(own | {"wtasjcn": 1000, "wtascmn": 1000, "wtasjcet": wait * 10**6})
        rows["wqst"].append(own | {"getpmsg": 1000})
    found = the(checked(rows), "LOG-FORCE-PER-MSG")

    assert frequency(found).startswith("sustained: 8 of 8 evaluated intervals, 100% of their time")
    assert (found.jobs, found.share) == (["LATE", "EARLY"], 1)
    assert (f"{found.start:%H:%M}", f"{found.end:%H:%M}") == ("14:00", "14:20")
    asked = "--job LATE --from 2026-03-04T14:00 --until 2026-03-04T14:20"
    assert Commands(["day.smf"]).show(found).endswith(asked)


def test_persistence_is_by_runs_days_and_length(log_waits: Found) -> None:
    names = {"ONCE": "once", "DAYS": "recurring", "TWICE": "peak", "SHORT": "peak"}
    names["LONG"] = "sustained"
    assert {each: log_waits[each].persistence for each in names} == names


def test_how_often_is_said_without_contradiction(log_waits: Found) -> None:
    """Three of forty intervals are a small share, and sustained as they follow one another."""
    assert frequency(log_waits["LONG"]).startswith("sustained: 3 consecutive of 40 evaluated")
    assert frequency(log_waits["ONCE"]) == "once: 1 of 4 evaluated intervals, 25% of their time"
    assert frequency(replace(log_waits["ONCE"], evaluated=1)) == "the period as a whole"
    assert frequency(log_waits["TWICE"]) == (
        "peak: 2 of 40 evaluated intervals, 5% of their time, "
        "longest run 1 (2026/03/04 09:03 to 09:04)"
    )


def test_a_finding_begins_and_ends_with_its_main_episode(log_waits: Found) -> None:
    found = log_waits["MAIN"]
    assert (f"{found.start:%H:%M}", f"{found.end:%H:%M}") == ("09:04", "09:08")


def test_stubs_and_records_without_a_time_are_no_intervals(log_waits: Found) -> None:
    for system, counted, left_out in (("STUB", 5, 100), ("BEHIND", 12, 0), ("TIMELESS", 2, 60)):
        found = log_waits[system]
        assert (found.evaluated, found.crossed) == (counted, counted)
        assert sum(WAITS[system][0]) - found.total == left_out


def test_a_value_that_no_interval_has_is_none_and_no_number() -> None:
    """A queue that is opened, and neither put to nor got from, has no opens per message."""
    rows: Rows = {"wtid": [{"wtidccn": "JOBA"}], "wqst": [{"openn": 1000}]}
    found = checked(rows)
    finding = the(found, "QUEUE-OPENS")
    assert (finding.peak, finding.typical) == (None, None)
    assert "NaN" not in "\n".join(lines(CheckDocument(found), "json"))
    assert in_short(finding).endswith(": the queue is opened for each message: once")


def test_the_policy_asks_for_a_run_and_silences() -> None:
    rows = waits(SIX)
    assert checked(rows, Policy(runs={"LOG-WTB": 3})).findings == []
    assert the(checked(rows, Policy(runs={"LOG-WTB": 2})), "LOG-WTB")
    assert checked(rows, Policy(limits={"LOG-WTB": 7})).findings == []
    assert the(checked(rows, Policy(limits={"LOG-WTB": 6})), "LOG-WTB").changed == {"waits": 6}


def test_without_records_nothing_is_found_and_the_traces_are_named() -> None:
    found = checked({})
    assert (found.findings, found.managers) == ([], [])
    assert any("CLASS(1)" in trace for trace, _ in found.not_evaluated)
    assert ": ," not in "\n".join(lines(CheckDocument(found), "text"))


def test_without_intervals_of_statistics_a_manager_has_the_time_of_all_records() -> None:
    early, late = ([{"interval_start": START + dt.timedelta(minutes=at)}] for at in (0, 5))
    [known] = checked({"qpst": early, "qist": late}).managers
    assert (known.start.minute, known.end.minute) == (0, 15)


@search(100)
@given(st.lists(st.tuples(st.booleans(), st.integers(1, 900), st.booleans()), max_size=40))
def test_runs_hold_what_crossed_and_break_where_time_does(some: list[tuple[bool, int, bool]]):
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
    assert sum(each.intervals for each in episodes(found, 60)) == crossed.sum()


def test_the_size_of_a_log_is_what_fills_it_though_the_archive_is_behind() -> None:
    row = {"qjstalw": 4, "qjstcp1n": 4, "qjstbffl": 4 << 18, "qjstciof": 1 << 18}
    found = evidence(the(checked({"qjst": [row]}), "LOG-SWITCH"))
    assert found.endswith("4 switches; average log size 1,024 MB")


def test_a_pool_is_too_small_for_messages_that_are_got_within_two_checkpoints() -> None:
    """It may be too small where nothing is known of its messages."""
    pool = {"qpstpool": 3, "qpstnbuf": 1000, "qpstcbsl": 500, "qpstsos": 1}
    rows: dict[str, list[Any]] = {"qpst": [pool | {"qpstrio": 601}], "qjst": [], "wqst": []}
    for seconds_on_queue in (599, 600):
        own = {"system": f"S{seconds_on_queue}", "source": f"{seconds_on_queue}"}
        got = {"validget": 10, "getpsn": 1, "totlatnt": seconds_on_queue * 1e7}
        rows["qpst"].append(pool | own)
        rows["qjst"].append({"qjstllcp": 2} | own)
        rows["wqst"].append({"nbuffpool": 3, "task_source": own["source"]} | got | own)
    found = checked(rows).findings
    for system, rule in (("SYSA", "D4"), ("S599", "D4"), ("S600", "BUFF-SOS")):
        first = next(each for each in found if each.system == system)
        assert (first.rule, first.object) == (rule, "3")
        assert system != "SYSA" or "; of " not in evidence(first)


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
    wanted = Policy(objects={"CF-SLOW": ("X*", "B")})
    of_wanted = the(checked({"qest": [*usual, *interval(9, "AB")]}, wanted), "D14")

    assert (of_all.object, sorted(each.object for each in of_all.explains)) == ("", ["A", "B"])
    assert (of_one.object, [each.object for each in of_one.explains]) == ("B", ["B"])
    assert [each.object for each in of_wanted.explains] == ["B"]
    (sentence,) = [text for word, text in finding_lines(of_all, ANY_INPUT) if word == "explains"]
    assert "CF-SLOW" in sentence
    assert " A, B: " in sentence


@pytest.mark.parametrize(
    ("text", "value", "style", "shows"),
    [
        ("copy 1 {} us", 1064.4, "rounded", "copy 1 1,064 us"),
        ("copy 1 {} us", 999.6, "rounded", "copy 1 1,000 us"),
        ("{} ms", 1272.67, "percent", "1,273 ms"),
        ("{} times full", 3051, "count", "3,051 times full"),
        ("{} times full", 1, "count", "1 time full"),
        ("{} times as much fits then", 1.0, "percent", "1 times as much fits then"),
        ("{} messages when it began", 1, "grouped", "1 message when it began"),
        ("at most {} entries", 1, "grouped", "at most 1 entry"),
        ("{} switches", 1, "count", "1 switch"),
        ("{} intervals are missing", 1.0, "rounded", "1 interval is missing"),
        ("{} us each", 1, "rounded", "1 us each"),
        ("{} % of gets", None, "percent", "- % of gets"),
    ],
)
def test_a_value_in_its_words(text: str, value: float | None, style: str, shows: str) -> None:
    assert shown(Figure(text, value, style)) == shows


def test_a_time_of_a_record_or_day_counts_all_intervals_of_the_queue_manager() -> None:
    """One record of six intervals has a negative time, and SMF lost records in another of them."""
    ticks = {"qmst": [{"interval_no": number, "record_no": number + 1} for number in range(6)]}
    wrong = {"interval_no": 2, "record_no": 3, "getn": 1, "getet": ABSENT}
    wrong["interval_seconds"] = 600.00024  # class 3 ends later
    records = [{"interval_no": number, "type": 115, "subtype": 2} for number in range(6)]
    lost = {"smf7stm": dt.datetime(2026, 3, 4, 9, 33), "smf_time": dt.datetime(2026, 3, 4, 9, 34)}
    others = {"wqst": [wrong], "smf7": [lost], "wtid": [{"wtidatyp": 6}]}
    found = checked({**ticks, "record": records, **others})
    for rule in ("SMF-WRAPPED", "SMF-LOST"):
        assert frequency(the(found, rule)).startswith("once: 1 of 6 evaluated intervals, 17%"), rule
    of_all = the(found, "SMF-NO-CLASS4")  # from the first record to the last
    assert (f"{of_all.start:%H:%M}", f"{of_all.end:%H:%M}") == ("09:10", "10:00")
