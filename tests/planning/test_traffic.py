"""Planners of structures, TLS, compression, transfers, clients and streams."""

from __future__ import annotations

import math

import pytest

from smfparse.errors import RequestError
from smfparse.planning import (
    acknowledgements,
    avoided_percent,
    break_even,
    break_even_messages,
    checkpoint_mb,
    chin_ratio,
    compression_chunks,
    compression_figure,
    compression_us,
    key_ms,
    key_us_a_message,
    message_bytes,
    offload_kb,
    planned,
    printed_total,
    published,
    put_ratio,
    put_us,
    rate_bound,
    saved_cpu_s,
    smds_pages,
    state_updates,
    structure_mb,
    transaction_parts,
    transfer_figure,
    transfer_rows,
    unacknowledged,
)
from tests.support.published import PUTS

# Structures of a coupling facility

IN_4GB = {
    1164: (1_900_000, 2260), 2048: (1_150_000, 3735), 4096: (650_000, 6608),
    8192: (340_000, 12632), 16384: (175_000, 24543), 32768: (90_000, 47722),
    64512: (45_000, 95444),
}  # fmt: skip


@pytest.mark.claim(193)
def test_messages_of_a_structure() -> None:
    for size, (count, each) in IN_4GB.items():
        assert message_bytes(size) == pytest.approx(each, abs=1)
        assert round(planned("cf", message_bytes=size)["in_4gb"]) == count
    found = planned("cf", message_bytes=100, arrivals=10, outage_min=1)
    assert found["depth"] == 600
    assert found["structure_mb"] == pytest.approx(600 * 2**32 / 1.9e6 / 2**20 + 8)
    assert structure_mb(600, 100) == found["structure_mb"]
    with pytest.raises(RequestError, match="message_bytes=70000: outside of 0 to 64,512 bytes"):
        planned("cf", message_bytes=70_000)


@pytest.mark.claim(157)
def test_messages_that_are_offloaded() -> None:
    found = planned("cf", depth=1000, message_bytes=20_000)
    assert found["dsbufs"] == math.ceil(1000 * 5 * 4096 / 262_144) == 79
    assert smds_pages(2048) == 1
    full = {0: None, 69: None, 70: 32, 80: 4, 89: 4, 90: 0, 100: 0}
    assert {each: offload_kb(each) for each in full} == full


# TLS and AMS

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
        assert ms == tuple(key_ms(cipher, each) for each in ("z16", "z15", "z15-paper"))
    assert round(key_us_a_message(3.9, 32 * 1024, 2**20), 1) == 121.9
    assert round(key_us_a_message(0.43, 32 * 1024, 2**20), 1) == 13.4
    assert key_us_a_message(3.9, 32 * 1024, 0) == 0
    for cipher, (a_second, each) in STARTS.items():
        found = planned("tls", cipher=cipher, starts_s=10)
        assert found["starts_limit"] == a_second
        assert found["starts_ms_s"] == pytest.approx(10 * each)
    assert avoided_percent(10) == pytest.approx(90)


# Compression

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
        found = [break_even(channel, size) for size in (2, 8, 16, 32, 64, 100)]
        assert tuple(None if each is None else round(each, 1) for each in found) == expected
    cost = "transaction cost, CPU us"
    for size, with_it, without in ((8, 184.43, 182.61), (16, 295.21, 288.05)):
        assert compression_figure(cost, "tls12-rsa-cbc", "ZLIBFAST", size, 80) == with_it
        assert compression_figure(cost, "tls12-rsa-cbc", "NONE", size, 80) == without
    assert planned("compression", channel_kind="tls13-gcm").get("break_even_percent") is None


def test_chunks_of_a_message() -> None:
    chunks = {(63, True): 4, (33, True): 3, (100, False): 4, (32, False): 1}
    assert {each: compression_chunks(*each) for each in chunks} == chunks
    assert compression_us(63, True, 9) == 36
    assert compression_us(63, True, 116) == 464
    assert compression_us(100, False, 46) == 184  # 188 is printed
    assert planned("compression", message_kb=63, comptime=9)["chunks_us"] == 36
    assert any("188" in each for each in planned("compression").planner.stands_on)


@pytest.mark.claim(125)
def test_bytes_of_the_network() -> None:
    found = planned("compression", message_kb=64, messages_s=160, compressible=75)
    assert found["mb_s"] == 2.5
    with pytest.raises(RequestError, match="message_kb=101: outside of 2 to 100 KB"):
        planned("compression", message_kb=101)


# Transfers of files


@pytest.mark.claim(158, 174)
def test_checkpoints_of_transfers() -> None:
    assert checkpoint_mb(262_144, 10, 5, 1) == 12.5
    assert checkpoint_mb(262_144, 10, 5, 8) == 100
    assert checkpoint_mb(262_144, 10, 1, 1) == 2.5
    for frame, interval, pending in ((5, 2, 50), (10, 1, 100)):
        assert state_updates(100, 10, frame, interval) == 1
        assert unacknowledged(10, frame) == pending
    assert (acknowledgements(4096, 10), state_updates(4096, 10, 5, 1)) == (409, 81)


@pytest.mark.claim(152)
def test_distance_and_loss_of_transfers() -> None:
    assert rate_bound(262_144, 10, 5, 100) == 125
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
    (row,) = transfer_rows(
        "CPU s per GB", source="USS", target="USS", network="10Gb", mode="binary"
    )
    assert [transfer_figure(row, mb) for mb in (1, 10, 100, 1024)] == [18.4, 11.3, 8.44, 7.99]
    assert 11.3 < transfer_figure(row, 4) < 18.4
    assert transfer_figure(row, 5000) == 7.99


@pytest.mark.claim(142, 145)
def test_cpu_of_transfers() -> None:
    for option, seconds in {
        "tls": {"N": 5.57, "TLS 1.2": 8.41, "TLS 1.3": 8.66},
        "ams": {"Integrity": 9.63, "Privacy": 10.83, "Confidentiality": 7.93},
    }.items():
        for value, cpu_s in seconds.items():
            assert planned("mft", **{option: value})["cpu_s"] == pytest.approx(cpu_s), value
    for compmsg, cpu_s in {"N": 4.73, "RLE": 8.92, "ZLIBFAST": 6.67, "ZLIBHIGH": 41.43}.items():
        found = planned("mft", network="10Gb", compmsg=compmsg)
        assert found["cpu_s"] == pytest.approx(cpu_s), compmsg
    assert planned("mft", gb=10, cpu_ratio=1.1)["cpu_s"] == pytest.approx(55.7 / 1.1)


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
    unknown = planned("mft", tls="TLS 1.2", ams="Privacy")
    assert (unknown.get("mb_s"), unknown.get("cpu_s")) == (None, None)


# Clients and their concentrator


@pytest.mark.claim(93, 97, 98)
def test_a_concentrator_of_clients() -> None:
    sums = {
        kind: (round(sum(transaction_parts(kind).values()), 1), printed_total(kind))
        for kind in ("direct", "concentrator", "concentrator after zIIP")
    }
    assert sums == {
        "direct": (180.3, 180.3),
        "concentrator": (258.1, 257.8),
        "concentrator after zIIP": (91.6, 91.6),
    }
    assert round(chin_ratio(), 3) == 0.379
    assert round(saved_cpu_s(8000, True), 2) == 0.71
    assert round(saved_cpu_s(8000, False), 2) == -0.62
    assert round(planned("concentrator", chin_us=127.3)["chin_us"], 1) == 48.2
    assert break_even_messages(590, 180.3, 91.6) is None
    assert planned("concentrator", ziip="no")["break_even"] == pytest.approx(590 / (257.8 - 180.3))


# Streams


@pytest.mark.claim(45, 46, 53)
@pytest.mark.parametrize("kind", PUTS)
def test_puts_with_and_without_a_stream(kind: str) -> None:
    for kb, (without, with_it, _) in PUTS[kind].items():
        assert (put_us(kb, kind, False), put_us(kb, kind, True)) == (without, with_it)
        assert 2 <= put_ratio(kb, kind) <= 2.5
        assert planned("streaming", kind=kind, message_kb=kb)["then_us"] == pytest.approx(with_it)
    found = planned("streaming", put_cost=9, puts_s=500, share=50)
    assert found["then_us"] == pytest.approx(19)
    assert found["cpu_ms_s"] == pytest.approx(2.5)


@pytest.mark.claim(44, 50)
def test_opens_of_shared_queues() -> None:
    found = planned("streaming", kind="shared")
    assert found["open_us"] == 32
    (opened,) = (each for each in found.figures if each.name == "open_us")
    assert "20 with one of them held open, 7.5 with both" in opened.formula


@pytest.mark.claim(47, 58)
def test_slower_loops_and_mustdup() -> None:
    (slower,) = (each for each in planned("streaming").figures if each.name == "slower")
    assert slower.interval == pytest.approx((28, 45))
    best, strict = (planned("streaming", quality=each)["then_us"] for each in ("BESTEF", "MUSTDUP"))
    assert 1 <= strict - best <= 2


@pytest.mark.claim(64)
def test_log_and_pages_of_streams() -> None:
    found = planned("streaming", log_mb_s=3, puts_s=100, share=50, message_kb=4)
    assert (found["log_mb_s"], found["pages_s"]) == (1.5, 150)
    assert planned("streaming").get("log_mb_s") is None


@pytest.mark.claim(83)
def test_batches_of_200_keep_their_rate() -> None:
    rates = published("qrep_latency_mb_s")["channel BATCHSZ 200"]
    for latency in ("0 us", "30 us", "150 us"):
        shares = [a / b for a, b in zip(rates[latency], rates["0 us"], strict=True)]
        assert min(shares) > 0.87
