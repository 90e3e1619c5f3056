"""Slopes of what was measured: their interval, and when there is none."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from smfparse.planning import plan_within, planned, slope


def points(count: int, seed: int) -> list[list[float]]:
    random = np.random.default_rng(seed)
    xs = random.integers(100, 200, count)
    return [[float(x), 232.0 * x + 500 + float(random.normal(0, 40))] for x in xs]


@pytest.mark.parametrize("count", [10, 11, 30, 500])
def test_a_slope_and_its_interval_are_those_of_scipy(count: int) -> None:
    found = slope(points(count, seed=count))
    assert found is not None
    fit = stats.linregress(*zip(*points(count, seed=count), strict=True))
    around = stats.t.ppf(0.95, count - 2) * fit.stderr
    assert found.value == pytest.approx(fit.slope)
    assert found.high - found.value == pytest.approx(around, rel=2e-3)
    assert found.value - found.low == pytest.approx(around, rel=2e-3)
    assert found.low < 232 < found.high


def test_the_order_of_points_does_not_matter() -> None:
    some = points(50, seed=1)
    assert slope(some) == slope(some[::-1])


@pytest.mark.parametrize(
    "some",
    [
        points(9, seed=1),
        [[1000.0 + x, 5.0 * x] for x in range(100)],
        [[float(x), float(x % 2)] for x in range(30)],
        [[float(x), 7.0] for x in range(30)],
    ],
    ids=["too few", "x hardly changes", "chance", "no slope"],
)
def test_points_without_a_slope(some: list[list[float]]) -> None:
    assert slope(some) is None


def test_points_on_a_line_have_a_slope_without_doubt() -> None:
    found = slope([[float(x), 3.0 * x + 1] for x in range(20)])
    assert found == pytest.approx((3, 3, 3))


def test_figures_have_the_interval_of_their_inputs() -> None:
    plan = planned("channels", kb_each=232)
    found = plan_within(plan.planner, plan.asked, {"kb_each": (200, 300)})
    intervals = {each.name: each.interval for each in found.figures}
    assert intervals["more"] == (1052 * 1024 // 300, 1052 * 1024 // 200)
    assert intervals["room_mb"] is None
    assert found["more"] == 4643


def test_an_interval_ends_where_the_range_of_an_input_does() -> None:
    plan = planned("connections", kb_each=16)
    found = plan_within(plan.planner, plan.asked, {"kb_each": (-5, 20)})
    (storage,) = (each for each in found.figures if each.name == "storage_mb")
    assert storage.interval == pytest.approx((8000 * 0.1 / 1024, 8000 * 20 / 1024))
