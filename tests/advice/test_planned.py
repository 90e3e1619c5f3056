"""What planners make of findings: the same as the planner gives for figures worked out by hand."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import replace
from statistics import linear_regression
from typing import Any

import pytest

from smfparse.advice.commands import ANY_INPUT
from smfparse.advice.declaration import planner_inputs, rules
from smfparse.advice.findings import Finding
from smfparse.advice.policy import Policy
from smfparse.advice.printing import CheckDocument
from smfparse.advice.running import Checked
from smfparse.planning.plans import planned, planner, wanted
from smfparse.rendering.formats import lines
from tests.support.advised import Rows, checked


def io(kind: int, count: int, pages: int, took: int, suspended: int) -> Mapping[str, Any]:
    """Return I/Os of the first copy of the log: 1, of one page; 2, of several."""
    times = {"qjstiototio": took, "qjstiototsus": suspended}
    return {"copy": 1, "io_type": kind, "qjstiocount": count, "qjstioci": pages, **times}


IOS = [io(1, 60_000, 60_000, 36_000_000, 6_000_000)]
IOS += [io(2, 240_000, 1_440_000, 528_000_000, 480_000_000)]
BUSY_LOG: Rows = {"qjst": [{"qjstslptu": 12_000_000, "qjsthwc": 1}], "qjst_io": IOS}
"""An I/O of one page takes 600 us, one of six 2,200; the logger is busy 98 % of ten minutes."""
LONG_WRITES = [each | {"qjstioci": 100 * each["qjstiocount"]} for each in IOS]
LOG: dict[str, Any] = {"mb_s": 1_500_000 / 256 / 600, "pages": 5, "io_busy": 81, "busy": 98}
LOG |= {"one_page_us": 600, "more_pages": 6, "more_pages_us": 2200}
IO_US = 0.81 * 600 / 300_000 * 1e6
"""What an I/O of a copy takes: the time in I/O by I/Os."""
HALF = {"log_io_time": IO_US / 2}
BATCHES: dict[str, Any] = {"qcstchnm": "TO.NORD", "qcstchty": 1, "qcstntav": 240_000}
BATCHES |= {"qcstbatc": 1000, "qcstfuba": 1000, "qcstcbsz": 50}
BATCHES |= {"qcstnmsg": 50_000, "qcstnbyt": 50_000 * 8192}
"""A channel that waits 240 of 600 seconds for confirmation of full batches."""
LATE = [BATCHES, BATCHES, BATCHES | {"qcstntav": 480_000, "qcstfuba": 0}]
TLS = {"qcstslcs": 0xC030, "qcstnmsg": 60_000, "qcstnbyt": 60_000 * 8192}
BATCH = {"messages_a_batch": 50, "net_ms": 240, "message_kb": 8}
MB = 1 << 20
SHORT = {"qsrsaval": 150 * MB, "qsrssos": 4 * MB, "qsrscrit": 3 * MB, "qsrsmvs": MB}
GROWS = [{"interval_no": at, "qqstdpth": 400 * at, "qqstputs": 300} for at in range(4)]


def of(table: str, **row: Any) -> Rows:
    return {table: [row]}


CASES: Mapping[str, tuple[Rows, Mapping[str, Any]]] = {
    "LOG-BUSY": (BUSY_LOG, LOG | HALF | {"mirror": "pprc"}),
    "LOG-CEILING": (
        {**BUSY_LOG, "qjst_io": LONG_WRITES},
        LOG | HALF | {"mb_s": 30_000_000 / 256 / 600, "pages": 100, "more_pages": 100},
    ),
    "LOG-NEAR": ({**BUSY_LOG, "qjst": [{"qjstslptu": 60_000_000}]}, LOG | HALF | {"busy": 90}),
    "LOG-RESPONSE": (BUSY_LOG, LOG | {"log_io_time": IO_US * 500 / 600}),
    "LOG-STRIPES": (BUSY_LOG, LOG | {"stripes": 4}),
    "LOG-ZHYPERWRITE": (BUSY_LOG, LOG | {"mirror": "pprc"}),
    "CHINIT-MAXCHL": (
        of("qcct", qcctmxcc=1000, qcctnocc=950, qcctstus=300),
        {"used_mb": 300, "current": 950},
    ),
    "CHINIT-31": (
        of("qcct", qcctmxcc=4000, qcctnocc=3000, qcctstus=1100),
        {"total_mb": 1300, "used_mb": 1100, "current": 3000, "maxchl": 4000},
    ),
    "STG-31": ({"qsrs": [SHORT]}, {"left_mb": 142, "kind": "1"}),
    "CHL-BATCH-FULL": (
        {"qcst": [BATCHES]},
        BATCH | {"message_time": 360e6 / 50_000, "batchsz": 200, "batchlim": 0},
    ),
    "CHL-NETTIME": (
        {"qcst": [each | {"interval_no": number} for number, each in enumerate(LATE)]},
        BATCH | {"message_time": 120e6 / 50_000},
    ),
    "SSL-NEGOTIATE": (
        of("qct_ssl", qctreqn=1000, qctcptm=6e6) | of("qcst", qcstbyst=60_000 * 8192, **TLS),
        {"message_kb": 8, "messages_s": 100, "sslrkeyc": 1 << 20},
    ),
    "BUFF-SOS": (of("qpst", qpstnbuf=1000, qpstsos=1), {"peak_pages": 1000}),
    "BUFF-DMC": (of("qpst", qpstnbuf=1000, qpstdmc=1, qpstcbsl=20), {"peak_pages": 980}),
    "BUFF-FREE": (of("qpst", qpstnbuf=1000, qpstcbsl=40), {"peak_pages": 960}),
    "BUFF-LOW": (of("qpst", qpstnbuf=1000, qpstcbsl=120), {"peak_pages": 880}),
    "Q-EXPIRY-OFF": ({"qqst": GROWS}, {"rate": 0.5}),
}
"""Rows for which a rule has a finding, and what its planner is asked by, worked out by hand."""
LIMITS = {"CHINIT-31": 1300.0}


def the(rule: str, found: Checked) -> Finding:
    """Return the finding of a rule, also under a diagnosis."""
    return next(each for top in found.findings for each in top.whole() if each.rule == rule)


def finding(rule: str, rows: Rows) -> Finding:
    return the(rule, checked(rows))


@pytest.mark.slow
def test_a_finding_shows_what_the_planner_gives() -> None:
    """Each case is of a system of its own."""
    assert {name for name, each in rules().items() if each.planned} == set(CASES)
    tables = defaultdict[str, list[Mapping[str, Any]]](list)
    for rule, (rows, _) in CASES.items():
        for table, some in rows.items():
            tables[table] += [{"system": rule, "source": rule} | each for each in some]
    found = checked(tables, Policy(limits=LIMITS))
    for rule, (_, inputs) in CASES.items():
        which = rules()[rule]
        assert which.planned is not None
        known = {each.name for each in wanted(planner(which.plan).asked)}
        assert planner_inputs(which).keys() <= known, rule
        plan = planned(which.plan, **inputs)
        of_case = [each for each in found.findings if each.system == rule]
        own = the(rule, replace(found, findings=of_case))
        shown = [(each.text, each.style) for each in own.planned]
        assert shown == [(text, style) for text, _, style in which.planned.says], rule
        for each, (_, name, _) in zip(own.planned, which.planned.says, strict=True):
            assert each.value == pytest.approx(plan[name]), (rule, name)
        asked = ANY_INPUT.plan(own)
        assert all(f" --{name.replace('_', '-')} " in asked for name in which.planned.inputs), rule
    assert ANY_INPUT.plan(the("CHL-NETTIME", found)).endswith(" --net-ms 240")
    assert ANY_INPUT.plan(the("LOG-BUSY", found)).endswith(" --mirror pprc")


FULL = of("qpst", qpstpool=3, qpstnbuf=1000, qpstdmc=1, qpstcbsl=20)
DEEP = {"qqstbpid": 3, "qqstdphi": 900, "qqstputs": 10, "qqstputb": 50_000}
SLOW = {"nbuffpool": 3, "totlatnt": 2e9, "validget": 10, "getbytes": 50_000, "validput": 6000}


@pytest.mark.parametrize(
    ("queues", "pages"),
    [
        ({"qqst": [DEEP | {"qqstqnam": "A"}, DEEP | {"qqstqnam": "B", "qqstdpth": 300}]}, 2700),
        ({"qqst": [DEEP | {"qqstqnam": each, "qqstdpth": 600} for each in "AB"]}, 3600),
        ({"qqst": [DEEP | {"qqstdisp": True}]}, 980),
        ({"wtid": [{}], "wqst": [SLOW]}, 6000),
        ({"wtid": [{}], "wqst": [SLOW | {"totlatnt": 2e7}]}, 980),
    ],
    ids=["highest depth", "all depths", "shared", "time on queue", "short time"],
)
def test_a_full_pool_is_sized_by_what_was_on_its_queues(queues: Rows, pages: int) -> None:
    """Of 5,000 bytes, a message is of 3 pages; 10 per second that stay 200 seconds are 2,000."""
    shown = finding("BUFF-DMC", {**FULL, **queues}).planned
    assert shown[0].value == pytest.approx(planned("pages", peak_pages=pages)["buffers_floor"])


def test_what_planners_give_is_said_before_what_is_published() -> None:
    found = checked(BUSY_LOG)
    text = " ".join("\n".join(lines(CheckDocument(found, at_length=True), "text")).split())
    assert (
        "expect 10.0 MB/s per copy is the maximum log rate of this workload; 1.7 times as much "
        "with half the I/O time; 16.6 MB/s with zHyperWrite instead of PPRC, up to 96 KB; with"
        in text
    )
    assert found.table["expect"][0].as_py().startswith("10.0 MB/s per copy")


def test_nothing_is_said_where_the_planner_lacks_a_figure() -> None:
    without = [{**each, "qjstiototsus": 0} for each in IOS]
    assert finding("LOG-BUSY", {**BUSY_LOG, "qjst_io": without}).planned == ()


def test_a_page_set_that_fills_is_full_when_the_planner_says() -> None:
    """Also in intervals of half an hour, one after the other."""
    used = [900, 905, 904, 912, 915, 921, 922, 930, 933, 938, 941, 945]
    rows = [
        {"interval_no": number, "qis1topg": 1000, "qis1unpg": 1000 - each}
        for number, each in enumerate(used)
    ]
    rows += [
        {"interval_no": 3 * number, "interval_seconds": 1800.0, "system": "HALF"}
        | {"qis1topg": 1000, "qis1unpg": 200 - 10 * number, "source": "half"}
        for number in range(14)
    ]
    found = checked({"qis1": rows}).findings
    half, move = (each.move for each in sorted(found, key=lambda each: each.system))
    assert half is not None
    assert move is not None
    assert move.hours is not None
    growth = linear_regression([600.0 * number for number in range(12)], used).slope
    assert move.per_hour == pytest.approx(3600 * growth)
    assert move.hours == pytest.approx((1000 - 945) / growth / 3600)
    pages = planned("pages", growth=growth, pages_each=1, free_pages=55)
    assert move.hours == pytest.approx(pages["full_h"])
    assert move.soonest is not None
    assert move.latest is not None
    assert move.soonest < move.hours < move.latest
    assert (half.per_hour, half.hours) == (pytest.approx(20), pytest.approx(70 / 20))
