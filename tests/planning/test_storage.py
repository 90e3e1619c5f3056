"""Planners of storage: channels, connections, pages and expiry give the published numbers."""

from __future__ import annotations

import pytest

from smfparse.errors import RequestError
from smfparse.planning import (
    channels_in,
    chin_kb,
    connections_in,
    data_buffers,
    depths,
    expire_s,
    message_pages,
    page_set_pages,
    planned,
    pool_floor,
    scan_s,
    seconds_to,
    storage_mb,
)

SIZES = (1, 10, 32, 64)
ROOM = {
    ("9.1", "0"): (13137, 10881, 6690, 5760),
    ("9.1", "1"): (6905, 6086, 4603, 4175),
    ("9.1", "10"): (4414, 4019, 3104, 2919),
    ("9.2", "0"): (13137, 11105, 6690, 5760),
    ("9.2", "1"): (6861, 6086, 4623, 4080),
    ("9.2", "10"): (4414, 3989, 3122, 2812),
    ("9.3", "0"): (12978, 10881, 6690, 5730),
    ("9.3", "1"): (6905, 6051, 4643, 4096),
    ("9.3", "10"): (4396, 4019, 3113, 2888),
}
"""Channels in 1,052 MB by release and SHARECNV, for messages of SIZES in KB."""


@pytest.mark.claim(14)
def test_channels_and_conversations_of_every_release_and_sharing() -> None:
    for (release, sharecnv), channels in ROOM.items():
        found = [channels_in(1052, chin_kb(size, sharecnv, release)) for size in SIZES]
        assert tuple(found) == channels
        asked = {"release": release, "sharecnv": sharecnv}
        plans = [planned("channels", message_kb=size, **asked) for size in SIZES]
        if sharecnv == "10":
            assert [each["conversations"] for each in plans] == [10 * each for each in channels]


@pytest.mark.claim(17)
def test_channels_between_queue_managers() -> None:
    room = {1: (90, 11969), 32: (100, 10772), 64: (109, 9883), 4096: (1125, 957)}
    for kb, (each, channels) in room.items():
        assert chin_kb(kb, "mca", "9.3") == each
        assert channels_in(1052, each) == channels


@pytest.mark.claim(16, 100)
def test_no_more_channels_than_maxchl_allows() -> None:
    for maxchl in (9999, 200):
        found = planned("channels", sharecnv="0", message_kb=1, maxchl=maxchl, current=0)
        assert (found["more"], found["channels"]) == (12978, maxchl)


@pytest.mark.claim(8)
def test_common_storage_of_channels() -> None:
    for sharecnv, kb in [("mca", 2.47), ("0", 2.47), ("1", 4.9), ("10", 2.7)]:
        found = planned("channels", sharecnv=sharecnv, message_kb=32)
        assert found["csa_mb"] == pytest.approx(found["channels"] * kb / 1024), sharecnv
    assert round(planned("channels")["csa_mb"], 1) == 22.2
    (csa,) = (each for each in planned("channels").figures if each.name == "csa_mb")
    assert "6 MB per queue manager" in csa.formula


def test_sizes_between_published_ones_are_on_a_straight_line() -> None:
    assert chin_kb(21, "1", "9.3") == 178 + (232 - 178) * 11 / 22
    assert chin_kb(0.2, "1", "9.3") == 156


@pytest.mark.claim(95)
def test_storage_of_clients_of_the_zcx_test() -> None:
    assert chin_kb(1, "0", "9.3") < 89.6 < chin_kb(10, "0", "9.3")


@pytest.mark.parametrize(("kb", "sharecnv"), [(65, "1"), (100, "0"), (4097, "mca")])
def test_sizes_that_are_not_published_are_refused(kb: float, sharecnv: str) -> None:
    with pytest.raises(RequestError, match=r"message_kb=.*(1 to 64 KB|0 to 4,096 KB)"):
        planned("channels", message_kb=kb, sharecnv=sharecnv)


def test_memlimit_where_buffers_are_above_the_bar() -> None:
    found = planned("channels", release="9.4", message_kb=64)
    assert found["memlimit_mb"] == 2048 + found["channels"] * 32 / 1024
    with pytest.raises(KeyError):
        _ = planned("channels", release="9.4", message_kb=32)["memlimit_mb"]


@pytest.mark.claim(12, 13, 96)
def test_storage_of_connections() -> None:
    storage = {
        ("bindings", 8000): 125.0, ("1", 4643): 108.8, ("10", 1000): 16.6, ("1-shared", 1000): 28.8
    }  # fmt: skip
    for (kind, connections), mb in storage.items():
        found = planned("connections", kind=kind, connections=connections)
        assert round(found["storage_mb"], 1) == mb, kind
    assert storage_mb(8000, 14.08) == 110
    assert planned("connections", left_mb=100, kind="1")["more"] == 3413
    assert connections_in(100, 24) == 3413
    assert connections_in(-5, 24) == 0
    assert planned("connections", objects=32)["storage_mb"] == 125
    with pytest.raises(RequestError, match="objects=33: outside of 0 to 32"):
        planned("connections", objects=33)


def test_pages_of_a_message() -> None:
    kb = {1: 1, 2: 1, 4: 3, 10: 4, 32: 10, 64: 18, 100: 27, 256: 66, 1024: 260}
    assert {each: message_pages(each * 1024) for each in kb} == kb
    assert [message_pages(size) for size in (0, 3596, 3597)] == [1, 1, 2]
    assert message_pages(4 << 20) == 1037
    assert message_pages(8 << 20) == 2 * 1037
    assert message_pages((4 << 20) + 1) == 1037 + 2


@pytest.mark.claim(57)
def test_a_page_set_of_ibms_example() -> None:
    assert page_set_pages(19_980, 1) == 20_157


@pytest.mark.claim(157, 169)
def test_buffers_of_transfers_and_of_a_pool() -> None:
    assert data_buffers(50, 256 * 1024) == 3200
    assert pool_floor(57_692) == 67_873


def test_when_a_page_set_and_a_queue_are_full() -> None:
    found = planned("pages", arrivals=100, outage_hours=2, message_kb=4)
    assert found["outage_depth"] == 720_000
    assert found["outage_gb"] == pytest.approx(720_000 * 3 / 0.991219 * 4096 / 2**30, rel=1e-5)
    found = planned("pages", growth=10, now=1000, maxdepth=37_000, free_pages=18_000)
    assert (found["maxdepth_h"], found["full_h"]) == (1, 0.5)
    assert seconds_to(10, 0, 0) is None
    with pytest.raises(KeyError):
        _ = planned("pages", growth=-1, now=1000, maxdepth=37_000)["maxdepth_h"]


@pytest.mark.claim(59, 60)
def test_depth_and_cpu_of_messages_that_expire() -> None:
    found = planned("expiry")
    assert [found[name] for name in ("low", "high", "oldest_min")] == [240_000, 300_000, 25]
    assert depths(200, 12_000, 300) == (240_000, 300_000)
    assert round(found["cpu_s"], 2) == 0.24
    for place, us in (("buffers", 4), ("page-set", 7)):
        found = planned("expiry", place=place)
        assert found["expired"] == 60_000
        assert found["cpu_s"] == pytest.approx(60_000 * us / 1e6), place


@pytest.mark.claim(61)
def test_shared_messages_that_expire() -> None:
    assert int(scan_s(225_000) * 1000) / 1000 == 0.877
    assert round(expire_s(225_000), 3) == 1.395
    found = planned("expiry", place="shared", rate=150, capexpry=0, expryint=1500)
    assert round(found["scan_s"], 4) == 0.8775
    assert round(found["expire_s"], 1) == 1.4
    assert found["busy_percent"] == pytest.approx((0.8775 + 1.395) / 1500 * 100)
