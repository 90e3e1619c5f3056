"""Planners of structures, TLS, compression, transfers, clients and streams."""

from __future__ import annotations

import pytest

from smfparse import planning
from smfparse.planning import planned, published
from tests.support.published import PUTS

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
