"""Planners give the published numbers, and those of IBM's examples."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from smfparse import planning
from smfparse.planning import planned

Asked = dict[str, Any]
STRIPED = {"one_page_us": 600, "more_pages": 6, "more_pages_us": 2200, "pages": 5}
IDLE: Asked = {"sharecnv": "0", "message_kb": 1, "current": 0}
OUTAGE = {"arrivals": 100, "outage_hours": 2, "message_kb": 4}
GROWING = {"growth": 10, "now": 1000, "maxdepth": 37_000, "free_pages": 18_000}
SHARED: Asked = {"place": "shared", "rate": 150, "capexpry": 0, "expryint": 1500}
STREAM = {"log_mb_s": 3, "puts_s": 100, "share": 50, "message_kb": 4}
MACHINE = {"msu": 3313, "mips": 5425, "source_cps": 25, "cpu_ms_a_second": 1000}
KEPT = {"tasks": 1000, "retention_days": 30, "msu": 1000, "cps": 10}
QUEUES = {"queues": 1000, "statime": 900, "bytes_a_queue": 120}
OF_TRANSFERS = {
    "tls": {"N": 5.57, "TLS 1.2": 8.41, "TLS 1.3": 8.66},
    "ams": {"Integrity": 9.63, "Privacy": 10.83, "Confidentiality": 7.93},
}
COMPRESSED = {"N": 4.73, "RLE": 8.92, "ZLIBFAST": 6.67, "ZLIBHIGH": 41.43}
CONNECTIONS = {("bindings", 8000): 125.0, ("1", 4643): 108.8, ("10", 1000): 16.6}
FIGURES: list[tuple[str, Asked, Asked]] = [
    ("channels", {**IDLE, "maxchl": 9999}, {"more": 12_978, "channels": 9999}),
    ("channels", {**IDLE, "maxchl": 200}, {"more": 12_978, "channels": 200}),
    ("channels", {"release": "9.4", "message_kb": 32}, {"memlimit_mb": None}),
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
    ("mft", {"gb": 10, "cpu_ratio": 1.1}, {"cpu_s": 50.64}),
    ("mft", {"tls": "TLS 1.2", "ams": "Privacy"}, {"mb_s": None, "cpu_s": None}),
    ("concentrator", {"chin_us": 127.3}, {"chin_us": 48.2}),
    ("concentrator", {"ziip": "no"}, {"break_even": 7.61}),
    ("streaming", {"put_cost": 9, "puts_s": 500, "share": 50}, {"then_us": 19, "cpu_ms_s": 2.5}),
    ("streaming", STREAM, {"log_mb_s": 1.5, "pages_s": 150}),
    ("streaming", {"kind": "shared"}, {"open_us": 32}),
    ("log", {"streaming": 100}, {"streaming_mb_s": 440}),
    *(
        ("log", {"stripes": 4, **STRIPED, **missing}, {"ceiling_mb_s": None, "striped_mb_s": None})
        for missing in ({"more_pages_us": 500}, {"one_page_us": None}, {"more_pages": None})
    ),
    ("cpu", {"generation": "z15-z16", "cost_us": 14.7}, {"cost_us": 13.36}),
    ("cpu", MACHINE, {"msu_hours": 132.52, "mips": 217}),
    ("smf", {"destination": "compressed-logstream"}, {"speed": 7.6}),
    ("smf", {"queues": 341}, {"queue_records": 1, "queue_bytes": 28_644}),
    ("smf", QUEUES, {"queue_records_a_day": 480, "queue_mb_a_day": 10.986}),
    ("smf", KEPT, {"new_records_a_day": 5_760_000, "new_mb_a_day": 28_125, "kept_gb": 823.97}),
    ("cluster", {"unknown": 1000}, {"unknown_s": 1000, "known_s": 2}),
]
"""Inputs of planners, and figures, rounded as they are written here; None: there is none."""


@pytest.mark.claim(12, 13, 16, 23, 24, 27, 33, 44, 59, 60, 61, 64, 96, 100, 112, 113, 122, 123)
@pytest.mark.claim(125, 142, 145, 157, 178, 193)
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
FUNCTIONS: dict[str, Mapping[Any, Any]] = {
    "storage_mb": {(8000, 14.08): 110},
    "connections_in": {(-5, 24): 0},
    "message_pages": {(0,): 1, (3596,): 1, (3597,): 2, (100 << 10,): 27, (1 << 20,): 260}
    | {(4 << 20,): 1037, (8 << 20,): 2 * 1037, ((4 << 20) + 1,): 1037 + 2},
    "page_set_pages": {(19_980, 1): 20_157},
    "data_buffers": {(50, 256 * 1024): 3200},
    "pool_floor": {(57_692,): 67_873},
    "seconds_to": {(10, 0, 0): None},
    "smds_pages": {(2048,): 1},
    "offload_kb": {(0,): None, (69,): None, (70,): 32, (80,): 4, (89,): 4, (90,): 0, (100,): 0},
    "key_us_a_message": {(3.9, 1 << 15, 1 << 20): 121.9, (0.43, 1 << 15, 1 << 20): 13.4}
    | {(3.9, 1 << 15, 0): 0},
    "avoided_percent": {(10,): 90},
    "compression_chunks": {(63, True): 4, (33, True): 3, (100, False): 4, (32, False): 1},
    "compression_us": {(63, True, 116): 464, (100, False, 46): 184},  # 188 is printed
    "checkpoint_mb": {(SIZE, 10, 5, 1): 12.5, (SIZE, 10, 5, 8): 100, (SIZE, 10, 1, 1): 2.5},
    "state_updates": {(100, 10, 5, 2): 1, (100, 10, 10, 1): 1, (4096, 10, 5, 1): 81},
    "unacknowledged": {(10, 5): 50, (10, 10): 100},
    "acknowledgements": {(4096, 10): 409},
    "rate_bound": {(SIZE, 10, 5, 100): 125},
    "chin_ratio": {(): 0.379},
    "saved_cpu_s": {(8000, True): 0.71, (8000, False): -0.62},
    "break_even_messages": {(590, 180.3, 91.6): None},
    "estimated_bytes": {(713,): 1573},
    "messages_a_second": {(220, 2231): 103_400},
    "mb_of_pages": {(579_460, 57): 39.71},
    "disk_mb": {(9, 1, False): 18, (9, 1, True): 27, (9, 2, False): 36, (9, 2, True): 54},
    "engine_ratio": {(4.15, 3, 2.72, 3): 0.6554},
    "cost_after": {(14.7, 10): 13.36},
    "mips": {(100, 60, 217, 1): 361.67},
    "writing_us": {(4,): 16, (1, "many"): 36},
    "queue_records": {(0,): 0, (1,): 1, (341,): 1, (342,): 2, (1000,): 3, (1000, 120): 5},
    "most_in_a_batch": {(5000, 1 << 15, 200): 157, (0, 1 << 15, 200): 200, (5000, 2048, 50): 50},
    "message_us": {(10, 100, 20_000, 3400): 2352.94},
    "batch_rate": {(8e6 / 3400, 20_000, 34): 340},
    "client_flows": {(2719, 1464, 30): 10.5},
}
"""Results of functions by arguments, rounded as they are written here."""


@pytest.mark.claim(14, 17, 57, 64, 65, 81, 93, 97, 98, 122, 123, 157, 158, 169, 174, 178, 179)
def test_functions_give_the_published_numbers() -> None:
    wrong = []
    for name, results in FUNCTIONS.items():
        for arguments, expected in results.items():
            found = as_written(getattr(planning, name)(*arguments), expected)
            wrong += [(name, arguments, found, expected)] if found != expected else []
    assert wrong == []


# Storage of channels

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
        found = [
            planning.channels_in(1052, planning.chin_kb(size, sharecnv, release)) for size in SIZES
        ]
        assert tuple(found) == channels
        asked = {"release": release, "sharecnv": sharecnv}
        plans = [planned("channels", message_kb=size, **asked) for size in SIZES]
        if sharecnv == "10":
            assert [each["conversations"] for each in plans] == [10 * each for each in channels]


@pytest.mark.claim(17)
def test_channels_between_queue_managers() -> None:
    room = {1: (90, 11969), 32: (100, 10772), 64: (109, 9883), 4096: (1125, 957)}
    for kb, (each, channels) in room.items():
        assert planning.chin_kb(kb, "mca", "9.3") == each
        assert planning.channels_in(1052, each) == channels


@pytest.mark.claim(8)
def test_common_storage_of_channels() -> None:
    for sharecnv, kb in [("mca", 2.47), ("0", 2.47), ("1", 4.9), ("10", 2.7)]:
        found = planned("channels", sharecnv=sharecnv, message_kb=32)
        assert found["csa_mb"] == pytest.approx(found["channels"] * kb / 1024), sharecnv


def test_sizes_between_published_ones_are_on_a_straight_line() -> None:
    assert planning.chin_kb(21, "1", "9.3") == 178 + (232 - 178) * 11 / 22
    assert planning.chin_kb(0.2, "1", "9.3") == 156


@pytest.mark.claim(95)
def test_storage_of_clients_of_the_zcx_test() -> None:
    assert planning.chin_kb(1, "0", "9.3") < 89.6 < planning.chin_kb(10, "0", "9.3")


def test_memlimit_where_buffers_are_above_the_bar() -> None:
    found = planned("channels", release="9.4", message_kb=64)
    assert found["memlimit_mb"] == 2048 + found["channels"] * 32 / 1024


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
        expected = 4 if each.name == "log_load" else each.before
        assert each.value == pytest.approx(expected), each.name


def test_without_its_inputs_a_line_is_left_out() -> None:
    names = {each.name for each in planned("whatif", load=2).figures}
    assert names.isdisjoint({"adapters", "pages_s"})
