"""Planners of the log, of CPU and of traffic give the published numbers."""

from __future__ import annotations

import re

import pytest

from smfparse import planning
from smfparse.errors import RequestError
from smfparse.planning import planned, published
from tests.support.paths import PROJECT
from tests.support.published import PUTS


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


@pytest.mark.claim(65)
def test_ibms_log_example() -> None:
    assert round(planned("log", mb_s=220, pages=11, io_busy=94.66)["io_us"], 1) == 184.9


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


IN_4GB = {
    1164: (1_900_000, 2260), 2048: (1_150_000, 3735), 4096: (650_000, 6608),
    8192: (340_000, 12632), 16384: (175_000, 24543), 32768: (90_000, 47722),
    64512: (45_000, 95444),
}  # fmt: skip


@pytest.mark.claim(193)
def test_messages_of_a_structure() -> None:
    for size, (count, each) in IN_4GB.items():
        assert planning.message_bytes(size) == pytest.approx(each, abs=1)
        assert round(planned("cf", message_bytes=size)["in_4gb"]) == count


Z16 = {
    "TLS_RSA_WITH_AES_256_CBC_SHA256": (0.43, 0.86, 0.64),
    "TLS_RSA_WITH_AES_128_GCM_SHA256": (0.37, 0.88, 0.70),
    "ECDHE_RSA_AES_256_CBC_SHA384": (3.9, 4.37, 3.8),
    "ECDHE_ECDSA_AES_256_CBC_SHA384": (3.0, 4.4, 3.8),
}
STARTS = {
    "TLS_RSA_WITH_AES_256_CBC_SHA256": (150, 1.97),
    "ECDHE_RSA_AES_256_CBC_SHA384": (95, 3.43),
    "ECDHE_ECDSA_AES_256_CBC_SHA384": (88, 3.39),
}
"""By cipher, the most channel starts a second, and ms of CPU of each."""


@pytest.mark.claim(81)
def test_keys_of_tls() -> None:
    for cipher, ms in Z16.items():
        assert ms == tuple(planning.key_ms(cipher, each) for each in ("z16", "z15", "z15-paper"))
    for cipher, (a_second, each) in STARTS.items():
        found = planned("tls", cipher=cipher, starts_s=10)
        assert found["starts_limit"] == a_second
        assert found["starts_ms_s"] == pytest.approx(10 * each)


EVEN = {
    "none": (None, None, None, None, None, None),
    "tls12-ecdhe-cbc": (None, 34.9, 37.2, 36.1, 22.5, 24.1),
    "tls12-rsa-cbc": (None, None, None, 79.3, 54.8, 62.8),
    "tls13-gcm": (None, None, None, None, None, None),
    "tls13-chacha": (24.0, 0.7, 1.3, 1.2, 0.0, 0.0),
}
"""From which compressibility on ZLIBFAST saves CPU: of 2, 8, 16, 32, 64 and 100 KB."""


@pytest.mark.claim(82, 185)
def test_when_compression_saves_cpu() -> None:
    for channel, expected in EVEN.items():
        found = [planning.break_even(channel, size) for size in (2, 8, 16, 32, 64, 100)]
        assert tuple(None if each is None else round(each, 1) for each in found) == expected
    cost = "transaction cost, CPU us"
    for size, with_it, without in ((8, 184.43, 182.61), (16, 295.21, 288.05)):
        assert planning.compression_figure(cost, "tls12-rsa-cbc", "ZLIBFAST", size, 80) == with_it
        assert planning.compression_figure(cost, "tls12-rsa-cbc", "NONE", size, 80) == without


@pytest.mark.claim(152)
def test_distance_and_loss_of_transfers() -> None:
    rows = {
        (row["protocol"], row["km"]): row["1GB"]
        for row in published("mft_v1.02_appendix_D_latency")
        if row["figure"] == "MB/s"
    }
    assert rows["TCP", 10_000] == 0.74
    assert any("0.74 MB/s" in each for each in planned("mft").planner.unknown)


@pytest.mark.claim(159)
def test_every_published_transfer_is_known() -> None:
    assert len(published("mft_v1.02_appendix_C")) == 92
    (row,) = planning.transfer_rows(
        "CPU s per GB", source="USS", target="USS", network="10Gb", mode="binary"
    )
    assert [planning.transfer_figure(row, mb) for mb in (1, 10, 100, 1024)] == [
        18.4,
        11.3,
        8.44,
        7.99,
    ]
    assert 11.3 < planning.transfer_figure(row, 4) < 18.4
    assert planning.transfer_figure(row, 5000) == 7.99


@pytest.mark.claim(145, 150)
def test_rates_of_a_10_gigabit_network() -> None:
    rates = {
        ("xLinux", "z/OS"): 190, ("z/OS", "xLinux"): 251, ("USS", "xLinux"): 220,
        ("z/OS", "z/OS"): 200, ("USS", "USS"): 223,
    }  # fmt: skip
    for (source, target), mb_s in rates.items():
        found = planned("mft", network="10Gb", source=source, target=target)
        assert int(found["mb_s"]) == mb_s, (source, target)
    assert int(planned("mft", network="10Gb", compmsg="ZLIBFAST")["mb_s"]) == 146


@pytest.mark.claim(93, 97, 98)
def test_a_concentrator_of_clients() -> None:
    sums = {
        kind: (
            round(sum(planning.transaction_parts(kind).values()), 1),
            planning.printed_total(kind),
        )
        for kind in ("direct", "concentrator", "concentrator after zIIP")
    }
    assert sums == {
        "direct": (180.3, 180.3),
        "concentrator": (258.1, 257.8),
        "concentrator after zIIP": (91.6, 91.6),
    }


@pytest.mark.claim(45, 46, 53)
@pytest.mark.parametrize("kind", PUTS)
def test_puts_with_and_without_a_stream(kind: str) -> None:
    for kb, (without, with_it, _) in PUTS[kind].items():
        assert (planning.put_us(kb, kind, False), planning.put_us(kb, kind, True)) == (
            without,
            with_it,
        )
        assert 2 <= planning.put_ratio(kb, kind) <= 2.5
        assert planned("streaming", kind=kind, message_kb=kb)["then_us"] == pytest.approx(with_it)


@pytest.mark.claim(44, 50)
def test_opens_of_shared_queues() -> None:
    (opened,) = (e for e in planned("streaming", kind="shared").figures if e.name == "open_us")
    assert "20 with one of them held open, 7.5 with both" in opened.formula


@pytest.mark.claim(47, 58)
def test_slower_loops_and_mustdup() -> None:
    (slower,) = (each for each in planned("streaming").figures if each.name == "slower")
    assert slower.interval == pytest.approx((28, 45))
    best, strict = (planned("streaming", quality=each)["then_us"] for each in ("BESTEF", "MUSTDUP"))
    assert 1 <= strict - best <= 2


@pytest.mark.claim(83)
def test_batches_of_200_keep_their_rate() -> None:
    rates = published("qrep_latency_mb_s")["channel BATCHSZ 200"]
    for latency in ("0 us", "30 us", "150 us"):
        shares = [a / b for a, b in zip(rates[latency], rates["0 us"], strict=True)]
        assert min(shares) > 0.87
