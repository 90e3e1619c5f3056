"""The planner `whatif`: each line has the numbers of its own planner."""

from __future__ import annotations

from typing import Any

import pytest

from smfparse.planning import planned

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
