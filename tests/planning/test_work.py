"""Planners of log, CPU, SMF, batches and clusters give the published numbers."""

from __future__ import annotations

import re

import pytest

from smfparse import planning
from smfparse.errors import RequestError
from smfparse.planning import planned, published
from tests.support.paths import PROJECT


@pytest.mark.claim(76)
def test_rates_by_pages_an_io_of_two_published_points() -> None:
    line = planning.io_line((11, 184.88), (128, 128 / 256 / 380 * 1e6))
    assert (round(line.b, 3), round(line.a, 2)) == (9.666, 78.56)
    rates = {1: 44, 4: 133, 11: 232, 32: 322, 64: 359, 128: 380}
    assert {pages: round(line.mb_s(pages)) for pages in rates} == rates
    assert round(1e6 / 256 / line.b) == 404
    assert round(line.mb_s(11, 0.9466)) == 220
    with pytest.raises(RequestError, match="one number of pages"):
        planning.io_line((1, 100), (1, 100))


MEASURED = {
    "mb_s": 0.324, "pages": 1.17, "io_busy": 9.18, "busy": 9.27, "one_page_us": 1084.45,
    "more_pages": 3.8639, "more_pages_us": 1417.12,
}  # fmt: skip


def test_the_ceiling_of_a_real_log_is_rough() -> None:
    line = planning.io_line((1, 1084.45), (3.8639, 1417.12))
    assert (round(line.b, 2), round(line.a, 2)) == (116.16, pytest.approx(968.29, abs=0.02))
    assert round(line.mb_s(128), 1) == 31.6
    found = planned("log", **MEASURED)
    assert round(found["ceiling_mb_s"], 1) == 31.3
    (ceiling,) = (each for each in found.figures if each.name == "ceiling_mb_s")
    assert ceiling.rough
    assert int(planning.rate_at_full(0.324, 0.0927) * 100) / 100 == 3.49


STRIPED = {"one_page_us": 600, "more_pages": 6, "more_pages_us": 2200, "pages": 5}


def test_stripes_share_the_pages_of_an_io_but_not_its_start() -> None:
    found = planned("log", mb_s=10, io_busy=80, busy=100, stripes=4, **STRIPED)
    assert planning.io_line((1, 600), (6, 2200)) == (280, 320)
    io = (280 + 320 / 4 * 5) / (280 + 320 * 5)
    assert found["striped_mb_s"] == pytest.approx(10 / (1 - 0.8 + 0.8 * io))
    most = 128 / 256 / ((280 + 80 * 128) / 0.8 / 1e6)
    assert found["striped_ceiling_mb_s"] == pytest.approx(most)
    rough = {each.name for each in found.figures if each.rough}
    assert rough == {"ceiling_mb_s", "striped_mb_s", "striped_ceiling_mb_s"}


def test_io_takes_no_more_than_all_of_the_cycle_of_a_log_task() -> None:
    found = planned("log", io_busy=60, busy=50, **STRIPED)
    assert found["ceiling_mb_s"] == pytest.approx(128 / 256 / ((280 + 320 * 128) / 1e6))


@pytest.mark.claim(67)
def test_the_effect_of_streaming_on_a_full_log_is_shown() -> None:
    for kb, words in ((2, "up to 70 %"), (1024, "2 to 6 %")):
        found = planned("log", streaming=100, message_kb=kb)
        (busy,) = (each for each in found.figures if each.name == "streaming_busy")
        assert busy.value == 100
        assert words in busy.formula


def test_mirrors_by_the_published_rates() -> None:
    rows = {row["config"]: row for row in published("zhyperwrite_912_4MB")}
    assert [rows[name]["mb_s"] for name in ("baseline", "PPRC", "zHyperWrite")] == [580, 391, 445]
    now = planned("log", mb_s=391, busy=100, io_busy=100, mirror="pprc", message_kb=4096)
    assert round(now["unmirrored_mb_s"]) == 580
    assert round(now["zhyperwrite_mb_s"]) == 444  # the paper measured 445
    small = planned("log", mb_s=60, busy=100, mirror="pprc", message_kb=96)
    assert small["zhyperwrite_mb_s"] == pytest.approx(100)


def test_copies_and_io_time_of_the_log() -> None:
    (single,) = (each for each in planned("log", busy=100).figures if each.name == "single_mb_s")
    assert single.interval == pytest.approx((242, 286))
    found = planned("log", busy=99.9, log_io_time=92)
    assert found["then_busy"] == pytest.approx(99.9 - 94.66 + 94.66 * 92 / 184.8828, rel=1e-4)
    assert round(found["then_times"], 1) == 1.9


SAID = {
    "log": ("0.89", "12.9 %", "259 us instead of 343", "45 to 82 %", "40 MB/s", "1,451"),
    "mft": (
        *("138 us with 16 KB", "2,561", "18.9", "21.0"),
        *("20 to 25 MB/s", "52 at most", "512 KB 20 %", "40 25 % faster"),
    ),
    "cluster": ("PH63443",),
    "concentrator": ("700 us with 32 KB",),
    "cpu": ("Only CPU scales, not what waits for disks.",),
    "streaming": ("20 % with 64 KB", "18 % cheaper"),
    "smf": (
        "some ten us for 1,000 queues, less than PCF commands from 4 queues on",
        "2 to 4 CPU seconds a minute, 0.6",
    ),
    "batches": (
        *("33 % less", "4.8 x", "11.75 x", "1.17 x", "3.6 x", "22.4 x", "72.25 x"),
        "2.25 x, where 50 / 34 is 1.47 x",
        *("0.57", "2.19", "6.7", "11.56", "0.81", "5.56", "58.77", "61.66"),
    ),
}
"""Published values that a planner shows, and does not calculate with."""


@pytest.mark.claim(34, 63, 68, 101, 117, 118, 120, 122, 124, 160, 175, 182)
@pytest.mark.parametrize("name", SAID)
def test_other_published_values_are_shown(name: str) -> None:
    which = planned(name).planner
    said = " ".join((*which.stands_on, *which.unknown, which.holds))
    assert [each for each in SAID[name] if each not in said] == []


LSPR = {
    "z14-z15": {"3": (11, 13, 15), "16": (12, 14, 16), "32": (12, 13, 16)},
    "z15-z16": {"3": (9, 10, 12), "16": (9, 11, 14), "32": (10, 12, 14)},
}


@pytest.mark.claim(179)
def test_newer_machines() -> None:
    for generation, by_cps in LSPR.items():
        for cps, percents in by_cps.items():
            found = [
                planning.improvement(generation, cps, each) for each in ("LOW", "AVERAGE", "HIGH")
            ]
            assert tuple(found) == percents, (generation, cps)


@pytest.mark.claim(23)
def test_the_report_and_the_planner_have_the_same_costs_of_accounting() -> None:
    sql = (PROJECT / "smfparse" / "reports" / "definitions" / "smf-volume.sql").read_text("utf-8")
    (costs,) = re.findall(r"cost\(call_us, .*\(VALUES \((.*)\)\)", sql)
    planned_costs = [
        planning.gathering_us(1),
        planning.writing_us(1),
        planning.writing_us(1, "many"),
    ]
    assert [float(each) for each in costs.split(",")] == planned_costs
