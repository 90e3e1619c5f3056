"""What a diagnosis explains: what follows it in time, and belongs to the same things."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from smfparse.advice.commands import ANY_INPUT
from smfparse.advice.declaration import diagnoses, rules, subjects
from smfparse.advice.diagnosing import diagnosed, merged
from smfparse.advice.findings import Figure, Finding
from smfparse.advice.judging import Intervals, Run, overlapped, runs, together, touches
from smfparse.advice.links import Links, Placed
from smfparse.advice.policy import compared_with
from smfparse.advice.running import Checked
from smfparse.advice.wording import evidence, finding_lines
from smfparse.decoding.zones import fixed_zone
from smfparse.metrics.calendar import SECOND_US
from tests.support.searching import search

HOUR = 3600
MANAGER = "SYSA", "QM01"
THINGS = [
    {"queue": "PAY.IN", "page_set": "4", "pool": "3", "structure": None, "channel": None},
    {"queue": "AUDIT", "page_set": "5", "pool": "1", "structure": None, "channel": None},
    {"queue": "XMIT", "page_set": "4", "pool": "3", "structure": None, "channel": "TO.B"},
    {"queue": "ORDERS", "page_set": None, "pool": None, "structure": "APP1", "channel": None},
]
JOBS = [{"object": "PAY.IN", "job": "PAYBAT"}, {"object": "AUDIT", "job": "AUDITOR"},
        {"object": "ORDERS", "job": "PAYBAT"}]  # fmt: skip


def links() -> Links:
    return Links(THINGS, JOBS)


def finding(rule: str, since: float, until: float, name: str = "", job: str = "") -> Finding:
    """Return a finding that holds from one hour to another, in intervals of ten minutes."""
    start, end = (round(each * HOUR) * SECOND_US for each in (since, until))
    clock, seconds = fixed_zone(0), (end - start) / SECOND_US
    run = Run(start, end, round(seconds / 600), seconds)
    starts = np.arange(0, 24 * HOUR, 600) * SECOND_US
    crossed = (start <= starts) & (starts < end)
    whole = Intervals(starts, np.full(len(starts), 600.0), crossed)
    which, times = rules()[rule], (clock, clock.local(start), clock.local(end))
    kind = subjects()[which.subject].object if name else ""
    found = Finding(which, which.severity, *MANAGER, name, job, kind, *times, [run], 600.0)
    return replace(found, seconds=24 * HOUR, seconds_crossed=seconds, intervals=whole)


def shown(found: Iterable[Finding], known: Sequence[str] = ()) -> Mapping[str, Sequence[str]]:
    """Return the rules of findings, each with the rules and objects that it explains."""
    result = diagnosed(list(found), diagnoses(), {MANAGER: known}, {MANAGER: links()})
    return {
        f"{each.rule} {each.object}".strip(): sorted(
            f"{under.rule} {under.object}".strip() for under in each.explains
        )
        for each in result
    }


STOPPED = [finding("Q-GROW", 9, 11, "PAY.IN"), finding("Q-STUCK", 9, 11, "PAY.IN")]


def test_a_backlog_explains_its_own_pool_and_page_set() -> None:
    rest = [finding("BUFF-DMC", 9.5, 11.5, "3"), finding("PSET-HIGH", 10, 11, "4")]
    found = shown([*STOPPED, *rest])
    assert found == {"D5 PAY.IN": ["BUFF-DMC 3", "PSET-HIGH 4", "Q-GROW PAY.IN", "Q-STUCK PAY.IN"]}


def test_what_is_elsewhere_or_at_another_time_stands_by_itself() -> None:
    for why, other in {
        "other pool": finding("BUFF-DMC", 9.5, 11, "1"),
        "other page set": finding("PSET-HIGH", 9.5, 11, "5"),
        "began before": finding("PSET-HIGH", 0, 11, "4"),
        "goes on after": finding("BUFF-DMC", 10, 15, "3"),
        "other queue": finding("Q-GROW", 9.5, 11, "AUDIT"),
    }.items():
        found = shown([*STOPPED, other])
        assert found["D5 PAY.IN"] == ["Q-GROW PAY.IN", "Q-STUCK PAY.IN"], why
        assert f"{other.rule} {other.object}" in found, why


def test_what_the_data_links_to_nothing_may_belong_to_anything() -> None:
    assert "BUFF-DMC 7" in shown([*STOPPED, finding("BUFF-DMC", 9.5, 11, "7")])["D5 PAY.IN"]


def test_a_diagnosis_is_explained_only_with_all_that_it_explains() -> None:
    """A log at its limit slows a consumer; it is not why one is away."""
    log = [finding(each, 9, 11) for each in ("LOG-BUSY", "LOG-IO-BOUND")]
    slower = [finding(each, 9, 11, "PAY.IN") for each in ("Q-GROW", "Q-TAKEN-LESS")]
    assert "D5 PAY.IN" in shown([*log, *slower])["D1"]
    assert shown([*log, *STOPPED]).keys() == {"D1", "D5 PAY.IN"}


def test_a_slow_log_and_few_log_buffers_are_two_causes_of_the_same_hours() -> None:
    """The jobs that wait for forced writes wait for the slow log, if it is slow."""
    slow = [finding(each, 9, 11) for each in ("LOG-RESPONSE", "LOG-FREE")]
    waits = replace(finding("TASK-LOG-WAIT", 9, 11, job="PAYBAT"), jobs=("PAYBAT",))
    few = [waits, finding("LOG-WTB", 9, 11)]
    assert shown([*slow, *few]) == {"D2": ["LOG-RESPONSE", "TASK-LOG-WAIT"], "D3": ["LOG-WTB"]}
    assert shown(few) == {"D3": ["LOG-WTB", "TASK-LOG-WAIT"]}
    found = diagnosed([*slow, *few], diagnoses(), {MANAGER: ["TASK-LOG-WAIT"]}, {})
    assert [(each.rule, list(each.jobs)) for each in found] == [("D2", ["PAYBAT"]), ("D3", [])]


def test_a_diagnosis_has_the_impact_of_its_own_kind_and_ranks_by_the_largest() -> None:
    """A queue that grows behind a slow log has messages that wait, and no waiting seconds."""
    slow = [finding(each, 9, 11) for each in ("LOG-RESPONSE", "LOG-FREE")]
    jobs = [
        replace(finding("TASK-LOG-WAIT", 9, 11, job=job), impact=("waiting", amount))
        for job, amount in (("PAYBAT", 0.5), ("AUDITOR", 0.3))
    ]
    deep = replace(finding("Q-GROW", 9, 11, "PAY.IN"), impact=("messages", 6201.0))
    (cause,) = diagnosed([*slow, *jobs, deep], diagnoses(), {MANAGER: ["TASK-LOG-WAIT"]}, {})
    assert (cause.rule, cause.impact) == ("D2", ("waiting", pytest.approx(0.8)))
    assert "impact: 0.8 waiting seconds per second" in evidence(cause)
    said = [text.split()[1] for word, text in finding_lines(cause, ANY_INPUT) if word == "explains"]
    assert said == [*dict.fromkeys(each.rule for each in cause.explains)]
    assert "impact: 6,201 messages waiting, averaged over the ends" in evidence(deep)
    (alone,) = diagnosed([*slow, deep], diagnoses(), {}, {})
    assert (alone.rule, alone.impact) == ("D2", None)
    other = replace(finding("LOG-BUSY", 9, 11), impact=("waiting", 100.0))
    assert sorted([other, alone], key=lambda each: each.place)[0] is alone


def test_impacts_are_ranked_in_seconds_per_second() -> None:
    """A CPU second per hour is less than a second that waits in each second."""
    amounts = [("waiting", 0.5), ("cpu", 1000.0), ("hours", 4.0), ("messages", 0.1)]
    some = [replace(finding("LOG-WTB", 9, 11), impact=each) for each in reversed(amounts)]
    assert [each.impact for each in sorted(some, key=lambda each: each.place)] == amounts


def test_data_of_another_queue_manager_tells_nothing_of_this_one() -> None:
    """TASK-LOG-WAIT is needed only where it could be evaluated."""
    log = [finding(each, 9, 11) for each in ("LOG-RESPONSE", "LOG-FREE")]
    assert shown(log).keys() == {"D2"}
    assert shown(log, ["TASK-LOG-WAIT"]).keys() == {"LOG-RESPONSE"}


def test_short_storage_is_one_finding_also_without_pools_below_the_bar() -> None:
    low = [finding(each, 9, 11) for each in ("STG-31", "STG-31-RESERVE", "STG-64")]
    assert shown([*low, finding("STG-SOS", 10, 11)]).keys() == {"D18", "STG-64"}


def test_work_that_waits_for_db2_is_named_with_its_shared_queues() -> None:
    """Not with the private queues of its jobs; without class 3, with the trace that names them."""
    slow = finding("DB2-SLOW", 9, 11)
    jobs = [finding("TASK-DB2", 9, 11, job=each) for each in ("AUDITOR", "PAYBAT")]
    (waits,) = merged(jobs, {MANAGER: links()})
    (cause,) = diagnosed([slow, waits], diagnoses(), {MANAGER: ["TASK-DB2"]}, {MANAGER: links()})
    assert (cause.rule, list(cause.jobs)) == ("D15", ["AUDITOR", "PAYBAT"])
    told = [(each.text, each.value) for each in cause.evidence]
    assert told == [("they use structure {}", "APP1"), ("they use queue {}", "ORDERS")]
    (cause,) = diagnosed([slow], diagnoses(), {}, {MANAGER: links()})
    assert (cause.rule, cause.untold) == ("D15", "START TRACE(ACCTG) CLASS(3)")


def test_a_diagnosis_has_the_figures_of_the_job_that_it_names_first() -> None:
    several = [finding("QUEUE-STREAMED", 9, until, "PAY.IN", f"TO{until}") for until in (10, 20)]
    (found,) = diagnosed(several, diagnoses(), {MANAGER: ()}, {MANAGER: links()})
    assert (found.rule, found.jobs, found.seconds_crossed) == ("D16", ["TO20", "TO10"], 11 * HOUR)


def test_a_finding_is_there_also_where_a_diagnosis_explains_it() -> None:
    """At either time, whichever job class 3 names; a diagnosis is new, or gone, by itself."""
    pool, full = finding("BUFF-DMC", 9.5, 11, "3"), finding("PSET-HIGH", 10, 11, "4")
    longer, other = finding("BUFF-DMC", 9.5, 11.4, "3"), finding("LOG-WTB", 9, 10)
    alone, under, worse = (
        Checked(findings=diagnosed(its, diagnoses(), {}, {MANAGER: links()}))
        for its in (
            [pool, full, other],
            [*STOPPED, replace(pool, job="PAYBAT"), full],
            [*STOPPED, longer, full],
        )
    )
    for now, earlier, since, gone in (
        (under, alone, {"D5": "new", "BUFF-DMC": "as before", "Q-GROW": "new"}, ["D3"]),
        (alone, under, {"D3": "new", "BUFF-DMC": "as before", "PSET-HIGH": "as before"}, ["D5"]),
        (worse, under, {"D5": "as before", "BUFF-DMC": "worse", "PSET-HIGH": "as before"}, []),
        (worse, alone, {"D5": "new", "BUFF-DMC": "worse", "PSET-HIGH": "as before"}, ["D3"]),
    ):
        found = compared_with(now, earlier)
        every = {each.rule: each.since for top in found.findings for each in top.whole()}
        assert since.items() <= every.items()
        assert [each.rule for each in found.gone] == gone


def test_the_time_of_a_diagnosis_is_that_of_all_rules_of_its_core() -> None:
    core = [finding("CHL-BATCH-FULL", 10, 11, "TO.B"), finding("CHL-NETTIME", 9, 11.5, "TO.B")]
    core.append(finding("CHL-CONFIRM", 9, 11.5, "TO.B"))
    (cause,) = diagnosed(core, diagnoses(), {}, {MANAGER: links()})
    assert (cause.start.hour, cause.end.hour, cause.end.minute) == (9, 11, 30)


def test_things_belong_together_by_the_queue_that_uses_them() -> None:
    of_pool = {("pool", "3"), ("page set", "4"), ("queue", "PAY.IN"), ("queue", "XMIT")}
    assert links().of(("pool", "3")) == of_pool | {("job", "PAYBAT"), ("channel", "TO.B")}
    of_queue = {("queue", "AUDIT"), ("page set", "5"), ("pool", "1"), ("job", "AUDITOR")}
    assert links().of(("queue", "AUDIT")) == of_queue


def test_findings_keep_their_order_whatever_they_are_about() -> None:
    some = [*STOPPED, finding("BUFF-DMC", 1, 2, "3"), finding("LOG-WTB", 1, 2)]
    placed = Placed(some, links())
    assert list(placed) == some
    placed.remove(some[:1])
    near = placed.near(some[2], ["LOG-WTB", "BUFF-DMC", "Q-STUCK", "Q-GROW"])
    assert [each.rule for each in near] == ["Q-STUCK", "BUFF-DMC", "LOG-WTB"]


@pytest.mark.parametrize("linked", [True, False])
def test_the_cost_grows_with_the_findings(linked: bool) -> None:
    """Four times as many channels, and their queues where class 3 links them."""

    def steps(count: int) -> int:
        names = [f"TO.{each}" for each in range(count)]
        of_channel = ("CHL-NETTIME", "CHL-CONFIRM", "CHL-NETMAX")
        found = [finding(rule, 9, 11, name) for rule in of_channel for name in names]
        found += [finding("Q-STUCK", 9, 11, name) for name in names if linked]
        things = [{"queue": each, "channel": each} for each in names if linked]
        kinds = ("page_set", "pool", "structure")
        own = Links([dict.fromkeys(kinds) | each for each in things], [])
        calls: Counter[str] = Counter()
        sys.setprofile(lambda _frame, event, _arg: calls.update([event]))
        try:
            result = diagnosed(found, diagnoses(), {}, {MANAGER: own})
        finally:
            sys.setprofile(None)
        assert [each.rule for each in result] == ["D12"] * count
        return calls.total()

    assert steps(120) < 5 * steps(30)


def test_a_latch_is_one_finding_with_all_its_jobs() -> None:
    several = [
        replace(finding("LATCH-12", 9, 10, job="AUDITOR"), impact=("waiting", 0.1)),
        replace(finding("LATCH-12", 9.5, 11, job="PAYBAT"), impact=("waiting", 0.2)),
    ]
    (one,) = merged(several, {MANAGER: links()})

    assert (one.job, one.jobs) == ("PAYBAT", ["PAYBAT", "AUDITOR"])
    assert one.impact == ("waiting", pytest.approx(0.3))
    assert (one.seconds_crossed, one.crossed, one.evaluated) == (2 * HOUR, 12, 144)
    assert list(one.evidence) == [
        Figure("jobs {}", "AUDITOR, PAYBAT", "text"),
        Figure("figures of {}", "PAYBAT", "text"),
        Figure("they use pool {}", "1, 3", "text"),
    ]


SPANS = st.lists(st.tuples(st.integers(1, 9), st.integers(1, 9)), max_size=8)


def spans(some: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return times one after the other: of each, how long after the last, and how long."""
    at, found = 0, []
    for gap, length in some:
        found.append((at + gap, at + gap + length))
        at += gap + length
    return found


def runs_of(some: Sequence[tuple[int, int]]) -> list[Run]:
    return [Run(start, end, end - start, float(end - start)) for start, end in spans(some)]


@search(150)
@given(SPANS, SPANS, st.integers(0, 60), st.integers(1, 20))
def test_runs_touch_and_overlap_a_time(some: Any, others: Any, start: int, length: int) -> None:
    """Seconds in the time of a cause are those of runs that begin in it."""
    found, causes = runs_of(some), spans(others)
    expected = sum(
        min(run.end, end) - run.start
        for run in found
        for begin, end in causes
        if begin <= run.start < end
    )
    assert overlapped(found, causes) == pytest.approx(expected)
    wanted = any(each.start < start + length and start < each.end for each in found)
    assert touches(found, start, start + length) == wanted


@search(150)
@given(st.lists(st.dictionaries(st.integers(0, 30), st.booleans()), min_size=1, max_size=4))
def test_intervals_of_several_count_once(several: Sequence[Mapping[int, bool]]) -> None:
    """One crossed if it did in any; so never more crossed than were evaluated."""
    known = []
    for some in several:
        starts, crossed = np.array(sorted(some), np.int64), [some[each] for each in sorted(some)]
        known += [Intervals(starts * SECOND_US, np.ones(len(some)), np.array(crossed, bool))]
    found = together(known)
    wanted = {at: any(some.get(at) for some in several) for some in several for at in some}
    assert dict(zip(found.starts // SECOND_US, found.crossed, strict=True)) == wanted
    assert found.starts.tolist() == sorted(found.starts)
    assert found.seconds.tolist() == [1.0] * len(wanted)
    assert sum(each.intervals for each in runs(*found)) == sum(wanted.values())
