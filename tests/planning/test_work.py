"""Planners of log, CPU, SMF, batches and clusters give the published numbers."""

from __future__ import annotations

import re
from typing import Any

import pytest

from smfparse.errors import RequestError
from smfparse.planning import (
    batch_rate,
    busy_percent,
    client_flows,
    cost_after,
    disk_mb,
    drain_s,
    engine_ratio,
    estimated_bytes,
    gathering_us,
    improvement,
    io_line,
    io_rate,
    least_gain,
    mb_of_pages,
    message_us,
    messages_a_second,
    mips,
    most_in_a_batch,
    msu_hours,
    planned,
    published,
    queue_records,
    rate_at_full,
    writing_us,
)
from tests.support.paths import PROJECT


@pytest.mark.claim(64, 65)
def test_ibms_log_example() -> None:
    assert estimated_bytes(713) == 1573
    assert messages_a_second(220, 2231) == 103_400
    assert planned("log", streaming=100)["streaming_mb_s"] == 440
    assert int(mb_of_pages(579_460, 57) * 10) / 10 == 39.7
    assert io_rate(220, 11) == 5120
    assert round(planned("log", mb_s=220, pages=11, io_busy=94.66)["io_us"], 1) == 184.9


@pytest.mark.claim(76)
def test_rates_by_pages_an_io_of_two_published_points() -> None:
    line = io_line((11, 184.88), (128, 128 / 256 / 380 * 1e6))
    assert (round(line.b, 3), round(line.a, 2)) == (9.666, 78.56)
    rates = {1: 44, 4: 133, 11: 232, 32: 322, 64: 359, 128: 380}
    assert {pages: round(line.mb_s(pages)) for pages in rates} == rates
    assert round(1e6 / 256 / line.b) == 404
    assert round(line.mb_s(11, 0.9466)) == 220
    with pytest.raises(RequestError, match="one number of pages"):
        io_line((1, 100), (1, 100))


MEASURED = {
    "mb_s": 0.324, "pages": 1.17, "io_busy": 9.18, "busy": 9.27, "one_page_us": 1084.45,
    "more_pages": 3.8639, "more_pages_us": 1417.12,
}  # fmt: skip


def test_the_ceiling_of_a_real_log_is_rough() -> None:
    line = io_line((1, 1084.45), (3.8639, 1417.12))
    assert (round(line.b, 2), round(line.a, 2)) == (116.16, pytest.approx(968.29, abs=0.02))
    assert round(line.mb_s(128), 1) == 31.6
    found = planned("log", **MEASURED)
    assert round(found["ceiling_mb_s"], 1) == 31.3
    (ceiling,) = (each for each in found.figures if each.name == "ceiling_mb_s")
    assert ceiling.rough
    assert int(rate_at_full(0.324, 0.0927) * 100) / 100 == 3.49


STRIPED = {"one_page_us": 600, "more_pages": 6, "more_pages_us": 2200, "pages": 5}


def test_stripes_share_the_pages_of_an_io_but_not_its_start() -> None:
    found = planned("log", mb_s=10, io_busy=80, busy=100, stripes=4, **STRIPED)
    assert io_line((1, 600), (6, 2200)) == (280, 320)
    io = (280 + 320 / 4 * 5) / (280 + 320 * 5)
    assert found["striped_mb_s"] == pytest.approx(10 / (1 - 0.8 + 0.8 * io))
    most = 128 / 256 / ((280 + 80 * 128) / 0.8 / 1e6)
    assert found["striped_ceiling_mb_s"] == pytest.approx(most)
    rough = {each.name for each in found.figures if each.rough}
    assert rough == {"ceiling_mb_s", "striped_mb_s", "striped_ceiling_mb_s"}


def test_io_takes_no_more_than_all_of_the_cycle_of_a_log_task() -> None:
    found = planned("log", io_busy=60, busy=50, **STRIPED)
    assert found["ceiling_mb_s"] == pytest.approx(128 / 256 / ((280 + 320 * 128) / 1e6))


@pytest.mark.parametrize(
    "missing", [{"more_pages_us": 500}, {"one_page_us": None}, {"more_pages": None}]
)
def test_stripes_of_a_log_whose_time_by_pages_is_not_known(missing: dict[str, Any]) -> None:
    found = planned("log", stripes=4, **STRIPED | missing)
    assert found.get("ceiling_mb_s") is found.get("striped_mb_s") is None


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
    mb = {(1, False): 500, (1, True): 750, (2, False): 1000, (2, True): 1500}
    assert {each: disk_mb(250, *each) for each in mb} == mb
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


@pytest.mark.claim(178)
def test_ibms_example_of_another_machine() -> None:
    ratio = engine_ratio(4.15, 3, 2.72, 3)
    assert int(ratio * 1000) / 1000 == 0.655
    assert round(ratio, 4) == 0.6554
    assert round(busy_percent(640, 3), 2) == 21.33
    found = planned("cpu")
    assert (round(found["cost_us"], 1), round(found["busy_percent"], 2)) == (152.6, 21.33)


LSPR = {
    "z14-z15": {"3": (11, 13, 15), "16": (12, 14, 16), "32": (12, 13, 16)},
    "z15-z16": {"3": (9, 10, 12), "16": (9, 11, 14), "32": (10, 12, 14)},
}


@pytest.mark.claim(179)
def test_newer_machines() -> None:
    for generation, by_cps in LSPR.items():
        for cps, percents in by_cps.items():
            found = [improvement(generation, cps, each) for each in ("LOW", "AVERAGE", "HIGH")]
            assert tuple(found) == percents, (generation, cps)
    assert round(cost_after(14.7, 10), 2) == 13.36
    assert round(planned("cpu", generation="z15-z16", cost_us=14.7)["cost_us"], 2) == 13.36


def test_msu_hours_and_mips() -> None:
    assert round(msu_hours(1, 3313, 25), 4) == 0.0368
    assert round(mips(100, 60, 217, 1), 2) == 361.67
    found = planned("cpu", msu=3313, mips=5425, source_cps=25, cpu_ms_a_second=1000)
    assert found["msu_hours"] == pytest.approx(3313 / 25)
    assert found["mips"] == 217


@pytest.mark.claim(24)
def test_ibms_example_of_acctime() -> None:
    found = planned("smf")
    names = ("now_us_a_minute", "new_us_a_minute", "more_records")
    assert [found[name] for name in names] == [3004, 3016, 4]
    assert round(found["more_cpu_percent"], 3) == 0.399
    assert (gathering_us(6000), writing_us(1), writing_us(4)) == (3000, 4, 16)
    assert writing_us(1, "many") == 36


@pytest.mark.claim(27, 33)
def test_where_smf_records_go_and_queues_of_class_5() -> None:
    speeds = {"data-set": 1, "logstream": 2, "compressed-logstream": 7.6}
    assert {each: planned("smf", destination=each)["speed"] for each in speeds} == speeds
    found = planned("smf", queues=341)
    assert (found["queue_records"], found["queue_bytes"]) == (1, 28_644)
    assert [queue_records(each) for each in (0, 1, 341, 342, 1000)] == [0, 1, 1, 2, 3]
    found = planned("smf", queues=1000, statime=900, bytes_a_queue=120)
    assert queue_records(1000, 120) == 5
    assert found["queue_records_a_day"] == 5 * 96
    assert found["queue_mb_a_day"] == pytest.approx(1000 * 120 * 96 / 2**20)


def test_smf_data_that_is_kept() -> None:
    found = planned("smf", tasks=1000, retention_days=30, msu=1000, cps=10)
    assert found["new_records_a_day"] == 1000 * 4 * 1440
    assert found["new_mb_a_day"] == pytest.approx(1000 * 4 * 1440 * 5120 / 2**20)
    assert found["kept_gb"] == pytest.approx(found["new_mb_a_day"] * 30 / 1024)
    assert found["msu_hours_a_day"] == pytest.approx(found["new_cpu_s_a_day"] / 36)


@pytest.mark.claim(122, 123)
def test_batches_of_channels() -> None:
    assert round(least_gain(34, 50), 2) == round(planned("batches")["times"], 2) == 1.47
    assert most_in_a_batch(5000, 32 * 1024, 200) == 157
    assert most_in_a_batch(0, 32 * 1024, 200) == 200
    assert most_in_a_batch(5000, 2 * 1024, 50) == 50
    assert planned("batches")["pages"] == 50 * 10
    assert message_us(10, 100, 20_000, 3400) == pytest.approx(8e6 / 3400)
    assert batch_rate(8e6 / 3400, 20_000, 34) == pytest.approx(340)


def test_clients_feel_every_flow() -> None:
    client = published("qrep_latency_mb_s")["client"]
    rates = [int(client[latency][0] * 2**20 / 2048) for latency in ("0 us", "30 us")]
    assert rates == [2718, 1464]
    assert round(client_flows(2719, 1464, 30), 1) == 10.5


@pytest.mark.claim(112, 113)
def test_definitions_of_a_cluster() -> None:
    assert drain_s(50_000, 600, 100) == 100
    found = planned("cluster", unknown=1000)
    assert (found["unknown_s"], found["known_s"]) == (1000, 2)
    with pytest.raises(RequestError, match="the queue grows while 20 per second are put"):
        planned("cluster", gets_s=10, puts_s=20)


@pytest.mark.claim(23)
def test_the_report_and_the_planner_have_the_same_costs_of_accounting() -> None:
    sql = (PROJECT / "smfparse" / "reports" / "definitions" / "smf-volume.sql").read_text("utf-8")
    (costs,) = re.findall(r"cost\(call_us, .*\(VALUES \((.*)\)\)", sql)
    assert [float(each) for each in costs.split(",")] == [
        gathering_us(1),
        writing_us(1),
        writing_us(1, "many"),
    ]
