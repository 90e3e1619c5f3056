"""The page of what changes: each line by its own planner's numbers."""

from __future__ import annotations

import pytest

from smfparse.planning import Plan, planned

SITE = {
    "mb_s": 2.0,
    "pages": 4.0,
    "io_busy": 20.0,
    "busy": 25.0,
    "message_kb": 2.0,
    "put_cost": 9.0,
    "puts_s": 100.0,
    "adapter_busy": 10.0,
    "pages_s": 100.0,
    "tasks": 10,
    "interval": 60.0,
    "record_bytes": 5000.0,
    "calls_a_second": 100.0,
}


def of(found: Plan, name: str) -> tuple[float | None, float]:
    (figure,) = (each for each in found.figures if each.name == name)
    return figure.before, figure.value


def test_nothing_changes_where_nothing_is_asked() -> None:
    found = planned("whatif", **SITE)
    for each in found.figures:
        if each.name != "log_load":
            assert each.value == pytest.approx(each.before), each.name
    assert of(found, "log_load") == (4, 4)


def test_three_times_the_load() -> None:
    found = planned("whatif", load=3, **SITE)
    assert of(found, "log_mb_s") == (2, 6)
    assert of(found, "log_busy") == (25, 75)
    assert of(found, "log_load") == (4, 4)
    assert of(found, "put_us") == (9, 9)
    assert of(found, "put_ms_s") == pytest.approx((0.9, 2.7))
    assert of(found, "adapters") == (10, 30)
    assert of(found, "pages_s") == (100, 300)
    day = 10 * 1440 * 5000 / 2**20
    assert of(found, "smf_mb_day") == pytest.approx((day, day))
    assert of(found, "smf_us_minute") == (3000 + 40, 9000 + 40)


def test_a_log_that_cannot_take_the_load() -> None:
    found = planned("whatif", load=8, **SITE)
    assert of(found, "log_busy") == (25, 200)
    assert of(found, "log_load")[1] == 4


def test_half_the_time_of_a_log_io() -> None:
    us = 0.2 / (2.0 * 256 / 4) * 1e6
    found = planned("whatif", log_io_time=us / 2, **SITE)
    assert of(found, "log_busy") == pytest.approx((25, 15))
    assert of(found, "log_load") == pytest.approx((4, 100 / 15))
    same = planned(
        "log",
        log_io_time=us / 2,
        **{key: SITE[key] for key in ("mb_s", "pages")},
        io_busy=20,
        busy=25,
    )
    assert same["then_busy"] == pytest.approx(15)


def test_half_of_all_puts_streamed() -> None:
    found = planned("whatif", share=50, **SITE)
    ratio = 1 + 0.5 * (9.5 / 4.5 - 1)
    assert of(found, "put_us") == pytest.approx((9, 9 * ratio))
    assert of(found, "adapters") == pytest.approx((10, 10 * ratio))
    assert of(found, "log_mb_s") == pytest.approx((2, 3))
    assert of(found, "pages_s") == pytest.approx((100, 150))


def test_messages_of_another_size() -> None:
    found = planned("whatif", message_size=32, **SITE)
    assert of(found, "put_us") == pytest.approx((9, 9 * 13 / 4.5))
    assert of(found, "pages_s") == pytest.approx((100, 1000))
    assert of(found, "log_mb_s") == pytest.approx((2, 2 * (32768 + 860) / (2048 + 860)))


def test_accounting_every_15_seconds() -> None:
    found = planned("whatif", acctime=15, **SITE)
    day = 10 * 1440 * 5000 / 2**20
    assert of(found, "smf_mb_day") == pytest.approx((day, 4 * day))
    assert of(found, "smf_us_minute") == (3040, 3160)


def test_what_is_not_known_has_no_line() -> None:
    names = {each.name for each in planned("whatif", load=2).figures}
    assert names.isdisjoint({"adapters", "pages_s"})
