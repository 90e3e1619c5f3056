"""Planners give the published numbers, and those of IBM's examples."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any

import pytest

from smfparse.errors import RequestError
from smfparse.planning.channels import channels_in, chin_kb
from smfparse.planning.concentrator import transaction_parts
from smfparse.planning.log import io_line, rate_at_full
from smfparse.planning.mft import transfer_figure, transfer_rows
from smfparse.planning.plans import Plan, planned, published
from smfparse.planning.smf import gathering_us, writing_us
from smfparse.planning.streaming import put_ratio
from tests.support.paths import PROJECT
from tests.support.published import PUTS

Asked = dict[str, Any]
STRIPED = {"one_page_us": 600, "more_pages": 6, "more_pages_us": 2200, "pages": 5}
IDLE: Asked = {"sharecnv": "0", "message_kb": 1, "current": 0}
OUTAGE = {"arrivals": 100, "outage_hours": 2, "message_kb": 4}
GROWING = {"growth": 10, "now": 1000, "maxdepth": 37_000, "free_pages": 18_000}
SHARED: Asked = {"place": "shared", "rate": 150, "capexpry": 0, "expryint": 1500}
STREAM = {"log_mb_s": 3, "puts_s": 100, "share": 50, "message_kb": 4}
QUALITIES = {"BESTEF": 9.5, "MUSTDUP": 11}
MACHINE = {"msu": 3313, "mips": 5425, "source_cps": 25, "cpu_ms_a_second": 1000}
KEPT = {"tasks": 1000, "retention_days": 30, "msu": 1000, "cps": 10}
QUEUES = {"queues": 1000, "statime": 900, "bytes_a_queue": 120}
OF_TRANSFERS = {
    "tls": {"N": 5.57, "TLS 1.2": 8.41, "TLS 1.3": 8.66},
    "ams": {"Integrity": 9.63, "Privacy": 10.83, "Confidentiality": 7.93},
}
COMPRESSED = {"N": 4.73, "RLE": 8.92, "ZLIBFAST": 6.67, "ZLIBHIGH": 41.43}
NETWORK = {
    ("xLinux", "z/OS"): 190.72, ("z/OS", "xLinux"): 251.6, ("USS", "xLinux"): 220.36,
    ("z/OS", "z/OS"): 200.74, ("USS", "USS"): 223.19,
}  # fmt: skip
"""MB/s of 10 Gbit, printed as whole numbers."""
MIRRORED = {"mb_s": 391, "busy": 100, "io_busy": 100, "mirror": "pprc", "message_kb": 4096}
STARTS = {
    "TLS_RSA_WITH_AES_256_CBC_SHA256": (150, 19.7),
    "ECDHE_RSA_AES_256_CBC_SHA384": (95, 34.3),
    "ECDHE_ECDSA_AES_256_CBC_SHA384": (88, 33.9),
}
"""By cipher, the most channel starts a second, and ms of CPU of ten."""
IN_4GB = {
    1164: 1_900_000, 2048: 1_150_000, 4096: 650_000, 8192: 340_000, 16384: 175_000,
    32768: 90_000, 64512: 45_000,
}  # fmt: skip
CONNECTIONS = {("bindings", 8000): 125.0, ("1", 4643): 108.8, ("10", 1000): 16.6}
FIGURES: list[tuple[str, Asked, Asked]] = [
    ("channels", {**IDLE, "maxchl": 9999}, {"more": 12_978, "channels": 9999}),
    ("channels", {**IDLE, "maxchl": 200}, {"more": 12_978, "channels": 200}),
    ("channels", {"release": "9.4", "message_kb": 32}, {"memlimit_mb": None}),
    ("channels", {"release": "9.4", "message_kb": 64}, {"memlimit_mb": 2048 + 4096 * 32 / 1024}),
    *(
        ("channels", {"sharecnv": sharecnv, "message_kb": 32}, {"csa_mb": csa_mb})
        for sharecnv, csa_mb in {"mca": 24.12, "0": 16.14, "1": 22.217, "10": 82.08}.items()
    ),
    *(
        ("connections", {"kind": kind, "connections": count}, {"storage_mb": mb})
        for (kind, count), mb in CONNECTIONS.items()
    ),
    ("connections", {"kind": "1-shared", "connections": 1000}, {"storage_mb": 28.8}),
    ("connections", {"kind": "1", "left_mb": 100}, {"more": 3413}),
    ("connections", {"objects": 32}, {"storage_mb": 125}),
    ("pages", OUTAGE, {"outage_depth": 720_000, "outage_gb": 8.313}),
    ("pages", GROWING, {"maxdepth_h": 1, "full_h": 0.5}),
    ("pages", {**GROWING, "growth": -1}, {"maxdepth_h": None}),
    ("expiry", {"place": "buffers"}, {"expired": 60_000, "cpu_s": 0.24}),
    ("expiry", {"place": "page-set"}, {"expired": 60_000, "cpu_s": 0.42}),
    ("expiry", SHARED, {"scan_s": 0.8775, "expire_s": 1.395, "busy_percent": 0.1515}),
    ("cf", {"message_bytes": 100, "arrivals": 10, "outage_min": 1}, {"structure_mb": 9.293}),
    *(("cf", {"message_bytes": size}, {"in_4gb": count}) for size, count in IN_4GB.items()),
    ("cf", {"depth": 1000, "message_bytes": 20_000}, {"dsbufs": 79}),
    ("compression", {"channel_kind": "tls13-gcm"}, {"break_even_percent": None}),
    ("compression", {"message_kb": 63, "comptime": 9}, {"chunks_us": 36}),
    ("compression", {"message_kb": 64, "messages_s": 160, "compressible": 75}, {"mb_s": 2.5}),
    *(
        ("mft", {option: value}, {"cpu_s": cpu_s})
        for option, costs in OF_TRANSFERS.items()
        for value, cpu_s in costs.items()
    ),
    *(
        ("mft", {"network": "10Gb", "compmsg": compmsg}, {"cpu_s": cpu_s})
        for compmsg, cpu_s in COMPRESSED.items()
    ),
    *(
        ("mft", {"network": "10Gb", "source": source, "target": target}, {"mb_s": mb_s})
        for (source, target), mb_s in NETWORK.items()
    ),
    ("mft", {"network": "10Gb", "compmsg": "ZLIBFAST"}, {"mb_s": 146.29}),
    ("mft", {"gb": 10, "cpu_ratio": 1.1}, {"cpu_s": 50.64}),
    ("mft", {"tls": "TLS 1.2", "ams": "Privacy"}, {"mb_s": None, "cpu_s": None}),
    ("concentrator", {"chin_us": 127.3}, {"chin_us": 48.2}),
    ("concentrator", {"ziip": "no", "connects_s": 2}, {"break_even": 7.61, "connect_ms": 1.18}),
    ("streaming", {"put_cost": 9, "puts_s": 500, "share": 50}, {"then_us": 19, "cpu_ms_s": 2.5}),
    ("streaming", STREAM, {"log_mb_s": 1.5, "pages_s": 150}),
    ("streaming", {"message_kb": 63.25, "puts_s": 1}, {"pages_s": 17}),  # 64,768 bytes of 4,049
    *(
        ("streaming", {"kind": kind, "message_kb": kb}, {"then_us": then_us})
        for kind, by_size in PUTS.items()
        for kb, (_, then_us, _) in by_size.items()
    ),
    *(("streaming", {"quality": each}, {"then_us": us}) for each, us in QUALITIES.items()),
    ("streaming", {"kind": "shared"}, {"open_us": 32}),
    ("log", {"mb_s": 220, "pages": 11, "io_busy": 94.66}, {"io_us": 184.9}),
    ("log", {"mb_s": 0}, {"io_us": 0}),
    ("log", {"io_busy": 60, "busy": 50, **STRIPED}, {"ceiling_mb_s": 12.124}),
    ("log", {"busy": 99.9, "log_io_time": 92}, {"then_busy": 52.344, "then_times": 1.9}),
    ("log", MIRRORED, {"unmirrored_mb_s": 580, "zhyperwrite_mb_s": 444}),  # measured: 445
    ("log", {**MIRRORED, "mb_s": 60, "message_kb": 96}, {"zhyperwrite_mb_s": 100}),
    ("log", {"streaming": 100}, {"streaming_mb_s": 440}),
    *(
        ("log", {"stripes": 4, **STRIPED, **missing}, {"ceiling_mb_s": None, "striped_mb_s": None})
        for missing in ({"more_pages_us": 500}, {"one_page_us": None}, {"more_pages": None})
    ),
    ("cpu", {"generation": "z15-z16", "cost_us": 14.7}, {"cost_us": 13.36}),
    ("cpu", MACHINE, {"msu_hours": 132.52, "mips": 217}),
    *(
        ("tls", {"cipher": cipher, "starts_s": 10}, {"starts_limit": most, "starts_ms_s": ms})
        for cipher, (most, ms) in STARTS.items()
    ),
    ("smf", {"destination": "compressed-logstream"}, {"speed": 7.6}),
    ("smf", {"queues": 341}, {"queue_records": 1, "queue_bytes": 28_644}),
    ("smf", QUEUES, {"queue_records_a_day": 480, "queue_mb_a_day": 10.986}),
    ("smf", KEPT, {"new_records_a_day": 5_760_000, "new_mb_a_day": 28_125, "kept_gb": 823.97}),
    ("cluster", {"unknown": 1000}, {"unknown_s": 1000, "known_s": 2}),
]
"""Inputs of planners, and figures, rounded as they are written here; None: there is none."""


@pytest.mark.claim(8, 12, 13, 16, 23, 24, 27, 33, 44, 45, 46, 47, 53, 58, 59, 60, 61, 64, 65, 81)
@pytest.mark.claim(96, 100, 112, 113, 122, 123, 125, 142, 145, 150, 157, 178, 193)
def test_planners_give_the_published_figures() -> None:
    wrong = []
    for name, inputs, figures in FIGURES:
        found = planned(name, **inputs)
        shown = {each: as_written(found.get(each), value) for each, value in figures.items()}
        wrong += [(name, inputs, shown, figures)] if shown != figures else []
    assert wrong == []


def as_written(value: float | None, like: float | None) -> float | None:
    """Return a value with as many decimals as another."""
    if value is None or like is None:
        return value
    return round(value, len(f"{like}".partition(".")[2]))


SIZE = 1 << 18
LSPR = {
    ("z14-z15", "3"): (11, 13, 15), ("z14-z15", "16"): (12, 14, 16),
    ("z14-z15", "32"): (12, 13, 16), ("z15-z16", "3"): (9, 10, 12), ("z15-z16", "16"): (9, 11, 14),
    ("z15-z16", "32"): (10, 12, 14),
}  # fmt: skip
"""Per cent by generation, CPs and workload."""
KEYS = {
    "TLS_RSA_WITH_AES_256_CBC_SHA256": (0.43, 0.86, 0.64),
    "TLS_RSA_WITH_AES_128_GCM_SHA256": (0.37, 0.88, 0.70),
    "ECDHE_RSA_AES_256_CBC_SHA384": (3.9, 4.37, 3.8),
    "ECDHE_ECDSA_AES_256_CBC_SHA384": (3.0, 4.4, 3.8),
}
"""Milliseconds of a key by cipher and machine."""
EVEN = {
    "none": (None, None, None, None, None, None),
    "tls12-ecdhe-cbc": (None, 34.9, 37.2, 36.1, 22.5, 24.1),
    "tls12-rsa-cbc": (None, None, None, 79.3, 54.8, 62.8),
    "tls13-gcm": (None, None, None, None, None, None),
    "tls13-chacha": (24.0, 0.7, 1.3, 1.2, 0.0, 0.0),
}
"""From which compressibility on ZLIBFAST saves CPU: of 2, 8, 16, 32, 64 and 100 KB."""
COST = "transaction cost, CPU us", "tls12-rsa-cbc"


def by_place(
    table: Mapping[Any, Sequence[Any]], places: Sequence[Any]
) -> dict[tuple[Any, ...], Any]:
    """Return the values of rows by the names of their rows and places."""
    return {
        (*(row if isinstance(row, tuple) else (row,)), place): value
        for row, values in table.items()
        for place, value in zip(places, values, strict=True)
    }


FUNCTIONS: dict[str, Mapping[Any, Any]] = {
    "connections.storage_mb": {(8000, 14.08): 110},
    "connections.connections_in": {(-5, 24): 0},
    "pages.message_pages": {(0,): 1, (3596,): 1, (3597,): 2, (100 << 10,): 27, (1 << 20,): 260}
    | {(4 << 20,): 1037, (8 << 20,): 2 * 1037, ((4 << 20) + 1,): 1037 + 2},
    "cf.bytes_in_structure": {(1164,): 2260.5, (2048,): 3735, (4096,): 6608, (8192,): 12632}
    | {(16384,): 24543, (32768,): 47722, (64512,): 95444},
    "channels.chin_kb": {(1, "mca", "9.3"): 90, (32, "mca", "9.3"): 100, (64, "mca", "9.3"): 109}
    | {(4096, "mca", "9.3"): 1125, (0.2, "1", "9.3"): 156}
    | {(21, "1", "9.3"): 178 + (232 - 178) * 11 / 22},
    "channels.channels_in": {(1052, 90): 11969, (1052, 100): 10772}
    | {(1052, 109): 9883, (1052, 1125): 957},
    "cpu.improvement": by_place(LSPR, ("LOW", "AVERAGE", "HIGH")),
    "tls.key_ms": by_place(KEYS, ("z16", "z15", "z15-paper")),
    "compression.break_even": by_place(EVEN, (2, 8, 16, 32, 64, 100)),
    "compression.compression_figure": {(*COST, "ZLIBFAST", 8, 80): 184.43}
    | {(*COST, "NONE", 8, 80): 182.61}
    | {(*COST, "ZLIBFAST", 16, 80): 295.21, (*COST, "NONE", 16, 80): 288.05},
    "streaming.put_us": {
        (kb, kind, streamed): us
        for kind, by_size in PUTS.items()
        for kb, (without, with_it, _) in by_size.items()
        for streamed, us in ((False, without), (True, with_it))
    },
    "concentrator.printed_total": {("direct",): 180.3, ("concentrator",): 257.8}
    | {("concentrator after zIIP",): 91.6},
    "pages.page_set_pages": {(19_980, 1): 20_157},
    "pages.data_buffers": {(50, 256 * 1024): 3200},
    "pages.pool_floor": {(57_692,): 67_873},
    "pages.seconds_to": {(10, 0, 0): None},
    "cf.smds_pages": {(2048,): 1},
    "cf.offload_kb": {(0,): None, (69,): None, (70,): 32, (80,): 4, (89,): 4, (90,): 0, (100,): 0},
    "tls.key_us_a_message": {(3.9, 1 << 15, 1 << 20): 121.9, (0.43, 1 << 15, 1 << 20): 13.4}
    | {(3.9, 1 << 15, 0): 0},
    "tls.avoided_percent": {(10,): 90},
    "compression.compression_chunks": {(63, True): 4, (33, True): 3}
    | {(100, False): 4, (32, False): 1},
    "compression.compression_us": {(63, True, 116): 464, (100, False, 46): 184},  # 188 is printed
    "mft.checkpoint_mb": {(SIZE, 10, 5, 1): 12.5, (SIZE, 10, 5, 8): 100, (SIZE, 10, 1, 1): 2.5},
    "mft.state_updates": {(100, 10, 5, 2): 1, (100, 10, 10, 1): 1, (4096, 10, 5, 1): 81},
    "mft.unacknowledged": {(10, 5): 50, (10, 10): 100},
    "mft.acknowledgements": {(4096, 10): 409},
    "mft.rate_bound": {(SIZE, 10, 5, 100): 125},
    "concentrator.chin_ratio": {(): 0.379},
    "concentrator.saved_cpu_s": {(8000, True): 0.71, (8000, False): -0.62},
    "concentrator.break_even_messages": {(590, 180.3, 91.6): None},
    "log.estimated_bytes": {(713,): 1573},
    "log.messages_a_second": {(220, 2231): 103_400},
    "log.mb_of_pages": {(579_460, 57): 39.71},
    "log.disk_mb": {(9, 1, False): 18, (9, 1, True): 27, (9, 2, False): 36, (9, 2, True): 54},
    "cpu.engine_ratio": {(4.15, 3, 2.72, 3): 0.6554},
    "cpu.cost_after": {(14.7, 10): 13.36},
    "cpu.mips": {(100, 60, 217, 1): 361.67},
    "smf.writing_us": {(4,): 16, (1, "many"): 36},
    "smf.queue_records": {(0,): 0, (1,): 1, (341,): 1, (342,): 2, (1000,): 3, (1000, 120): 5},
    "batches.most_in_a_batch": {
        (5000, 1 << 15, 200): 157,
        (0, 1 << 15, 200): 200,
        (5000, 2048, 50): 50,
    },
    "batches.message_us": {(10, 100, 20_000, 3400): 2352.94},
    "batches.batch_rate": {(8e6 / 3400, 20_000, 34): 340},
    "batches.client_flows": {(2719, 1464, 30): 10.5},
}
"""Results of functions of smfparse.planning by arguments, rounded as they are written here."""


@pytest.mark.claim(14, 17, 45, 46, 53, 57, 64, 65, 81, 82, 93, 97, 98, 122, 123, 157, 158, 169)
@pytest.mark.claim(174, 178, 179, 185, 193)
def test_functions_give_the_published_numbers() -> None:
    wrong = []
    for name, results in FUNCTIONS.items():
        module, _, function = name.partition(".")
        call = getattr(import_module(f"smfparse.planning.{module}"), function)
        for arguments, expected in results.items():
            found = as_written(call(*arguments), expected)
            wrong += [(name, arguments, found, expected)] if found != expected else []
    assert wrong == []


# Storage of channels

SIZES = (1, 10, 32, 64)
ROOM = {
    ("9.1", "0"): (13137, 10881, 6690, 5760), ("9.1", "1"): (6905, 6086, 4603, 4175),
    ("9.1", "10"): (4414, 4019, 3104, 2919), ("9.2", "0"): (13137, 11105, 6690, 5760),
    ("9.2", "1"): (6861, 6086, 4623, 4080), ("9.2", "10"): (4414, 3989, 3122, 2812),
    ("9.3", "0"): (12978, 10881, 6690, 5730), ("9.3", "1"): (6905, 6051, 4643, 4096),
    ("9.3", "10"): (4396, 4019, 3113, 2888),
}  # fmt: skip
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


@pytest.mark.claim(95)
def test_storage_of_clients_of_the_zcx_test() -> None:
    assert chin_kb(1, "0", "9.3") < 89.6 < chin_kb(10, "0", "9.3")


# `whatif`: each line has the numbers of its own planner

SITE = {
    "mb_s": 2.0, "pages": 4.0, "io_busy": 20.0, "busy": 25.0, "message_kb": 2.0, "put_cost": 9.0,
    "puts_s": 100.0, "adapter_busy": 10.0, "pages_s": 100.0, "tasks": 10, "interval": 60.0,
    "record_bytes": 5000.0, "calls_a_second": 100.0,
}  # fmt: skip
DAY_MB = 10 * 1440 * 5000 / 2**20
IO_US = 0.2 / (2.0 * 256 / 4) * 1e6
STREAMED = 1 + 0.5 * (9.5 / 4.5 - 1)


CHANGES: list[tuple[dict[str, Any], dict[str, tuple[float, float]]]] = [
    ({"load": 3},
     {"log_mb_s": (2, 6), "log_busy": (25, 75), "log_load": (4, 4), "put_us": (9, 9),
      "put_ms_s": (0.9, 2.7), "adapters": (10, 30), "pages_s": (100, 300),
      "smf_mb_day": (DAY_MB, DAY_MB), "smf_us_minute": (3000 + 40, 9000 + 40)}),
    ({"load": 8}, {"log_busy": (25, 200), "log_load": (4, 4)}),
    ({"log_io_time": IO_US / 2}, {"log_busy": (25, 15), "log_load": (4, 100 / 15)}),
    ({"share": 50},
     {"put_us": (9, 9 * STREAMED), "adapters": (10, 10 * STREAMED), "log_mb_s": (2, 3),
      "pages_s": (100, 150)}),
    ({"message_size": 32},
     {"put_us": (9, 9 * 13 / 4.5), "pages_s": (100, 1000),
      "log_mb_s": (2, 2 * (32768 + 860) / (2048 + 860))}),
    ({"acctime": 15}, {"smf_mb_day": (DAY_MB, 4 * DAY_MB), "smf_us_minute": (3040, 3160)}),
]  # fmt: skip
"""What changes, and figures before and after, worked out by hand."""


@pytest.mark.parametrize(("change", "expected"), CHANGES, ids=str)
def test_a_change_gives_values_worked_out_by_hand(
    change: dict[str, Any], expected: dict[str, tuple[float, float]]
) -> None:
    found = {each.name: each for each in planned("whatif", **change, **SITE).figures}
    for name, values in expected.items():
        assert (found[name].before, found[name].value) == pytest.approx(values), name


def test_without_a_change_nothing_changes() -> None:
    for each in planned("whatif", **SITE).figures:
        assert each.value == pytest.approx(4 if each.name == "log_load" else each.before), each.name


def test_without_its_inputs_a_line_is_left_out() -> None:
    names = {each.name for each in planned("whatif", load=2).figures}
    assert names.isdisjoint({"adapters", "pages_s"})


# Texts, and formulas of published values


@pytest.mark.claim(76)
def test_rates_by_pages_an_io_of_two_published_points() -> None:
    line = io_line((11, 184.88), (128, 128 / 256 / 380 * 1e6))
    assert (round(line.b, 3), round(line.a, 2)) == (9.666, 78.56)
    rates = {1: 44, 4: 133, 11: 232, 32: 322, 64: 359, 128: 380}
    assert {pages: round(line.mb_s(pages)) for pages in rates} == rates
    assert round(1e6 / 256 / line.b) == 404
    assert round(line.mb_s(11, 0.9466)) == 220
    with pytest.raises(RequestError, match="the same number of pages"):
        io_line((1, 100), (1, 100))


MEASURED = {
    "mb_s": 0.324, "pages": 1.17, "io_busy": 9.18, "busy": 9.27, "one_page_us": 1084.45,
    "more_pages": 3.8639, "more_pages_us": 1417.12,
}  # fmt: skip


def rough(found: Plan) -> set[str]:
    return {each.name for each in found.figures if each.rough}


def test_the_ceiling_of_a_real_log_is_rough() -> None:
    line = io_line((1, 1084.45), (3.8639, 1417.12))
    assert (round(line.b, 2), round(line.a, 2)) == (116.16, pytest.approx(968.29, abs=0.02))
    assert round(line.mb_s(128), 1) == 31.6
    found = planned("log", **MEASURED)
    assert round(found["ceiling_mb_s"], 1) == 31.3
    assert "ceiling_mb_s" in rough(found)
    assert int(rate_at_full(0.324, 0.0927) * 100) / 100 == 3.49


def test_stripes_share_the_pages_of_an_io_but_not_its_start() -> None:
    found = planned("log", mb_s=10, io_busy=80, busy=100, stripes=4, **STRIPED)
    assert io_line((1, 600), (6, 2200)) == (280, 320)
    io = (280 + 320 / 4 * 5) / (280 + 320 * 5)
    assert found["striped_mb_s"] == pytest.approx(10 / (1 - 0.8 + 0.8 * io))
    most = 128 / 256 / ((280 + 80 * 128) / 0.8 / 1e6)
    assert found["striped_ceiling_mb_s"] == pytest.approx(most)
    assert rough(found) == {"ceiling_mb_s", "striped_mb_s", "striped_ceiling_mb_s"}


SAID = {
    "log": ("0.89", "12.9%", "259 us instead of 343", "45 to 82%", "40 MB/s", "1,451"),
    "mft": (
        *("138 us for 16 KB", "2,561", "18.9", "21.0"),
        *("20 to 25 MB/s", "at most 52", "20% faster with chunks of 512 KB"),
        "25% with a window of 40",
    ),
    "cluster": ("PH63443",),
    "concentrator": ("700 us for 32 KB",),
    "cpu": ("Only CPU time scales, not waits for disks.",),
    "streaming": ("20% with 64 KB", "18% less"),
    "smf": (
        "about ten us for 1,000 queues, less than PCF commands for 4 queues or more",
        "2 to 4 CPU seconds per minute, 0.6",
    ),
    "batches": (
        *("33% lower", "4.8 x", "11.75 x", "1.17 x", "3.6 x", "22.4 x", "72.25 x"),
        "2.25 x, but 50 / 34 is only 1.47 x",
        *("0.57", "2.19", "6.7", "11.56", "0.81", "5.56", "58.77", "61.66"),
    ),
}
"""Published values that a planner shows, and does not calculate with."""


@pytest.mark.claim(34, 63, 68, 101, 117, 118, 120, 122, 124, 160, 175, 182)
@pytest.mark.parametrize("name", SAID)
def test_other_published_values_are_shown(name: str) -> None:
    which = planned(name).planner
    said = " ".join((*which.sources, *which.limitations, which.valid_range))
    assert [each for each in SAID[name] if each not in said] == []


IN_FORMULAS: list[tuple[str, Asked, str, str]] = [
    ("log", {"streaming": 100, "message_kb": 2}, "streaming_busy", "up to 70%"),
    ("log", {"streaming": 100, "message_kb": 1024}, "streaming_busy", "2 to 6%"),
    (
        *("streaming", {"kind": "shared"}, "open_us"),
        "20 if another task has one of them open, 7.5 if both",
    ),
]
INTERVALS: list[tuple[str, Asked, str, tuple[float, float]]] = [
    ("log", {"busy": 100}, "single_mb_s", (242, 286)),
    ("streaming", {}, "slower", (28, 45)),
]


@pytest.mark.claim(44, 47, 50, 67)
def test_formulas_and_intervals_have_published_values() -> None:
    for name, asked, figure, words in IN_FORMULAS:
        (found,) = (each for each in planned(name, **asked).figures if each.name == figure)
        assert words in found.formula
        assert figure != "streaming_busy" or found.value == 100
    for name, asked, figure, interval in INTERVALS:
        (found,) = (each for each in planned(name, **asked).figures if each.name == figure)
        assert found.interval == pytest.approx(interval)
    for kind, by_size in PUTS.items():
        assert all(2 <= put_ratio(kb, kind) <= 2.5 for kb in by_size)


@pytest.mark.claim(23)
def test_the_report_and_the_planner_have_the_same_costs_of_accounting() -> None:
    sql = (PROJECT / "smfparse" / "reports" / "definitions" / "smf-volume.sql").read_text("utf-8")
    (costs,) = re.findall(r"cost\(call_us, .*\(VALUES \((.*)\)\)", sql)
    planned_costs = [gathering_us(1), writing_us(1), writing_us(1, "many")]
    assert [float(each) for each in costs.split(",")] == planned_costs


@pytest.mark.claim(83, 93, 97, 98, 152)
def test_published_tables_say_the_same_as_the_texts() -> None:
    rows = {row["config"]: row for row in published("zhyperwrite_912_4MB")}
    assert [rows[name]["mb_s"] for name in ("baseline", "PPRC", "zHyperWrite")] == [580, 391, 445]
    transfers = {
        (row["protocol"], row["km"]): row["1GB"]
        for row in published("mft_v1.02_appendix_D_latency")
        if row["figure"] == "MB/s"
    }
    assert transfers["TCP", 10_000] == 0.74
    assert any("0.74 MB/s" in each for each in planned("mft").planner.limitations)
    parts = {"direct": 180.3, "concentrator": 258.1, "concentrator after zIIP": 91.6}
    assert parts == {kind: round(sum(transaction_parts(kind).values()), 1) for kind in parts}
    rates = published("qrep_latency_mb_s")["channel BATCHSZ 200"]
    for latency in ("0 us", "30 us", "150 us"):
        assert min(a / b for a, b in zip(rates[latency], rates["0 us"], strict=True)) > 0.87


@pytest.mark.claim(159)
def test_every_published_transfer_is_known() -> None:
    assert len(published("mft_v1.02_appendix_C")) == 92
    uss = {"source": "USS", "target": "USS", "network": "10Gb", "mode": "binary"}
    (row,) = transfer_rows("CPU s per GB", **uss)
    assert [transfer_figure(row, mb) for mb in (1, 10, 100, 1024)] == [18.4, 11.3, 8.44, 7.99]
    assert 11.3 < transfer_figure(row, 4) < 18.4
    assert transfer_figure(row, 5000) == 7.99
