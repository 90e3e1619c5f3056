"""Rules for all planners: inputs with ranges, results with formulas, sources, published tables."""

from __future__ import annotations

import math
from collections.abc import Iterator
from decimal import Decimal

import numpy as np
import pytest
from scipy import stats

from smfparse.errors import RequestError
from smfparse.planning.plans import (
    between,
    plan_of_measured,
    plan_within,
    planned,
    planner,
    planner_names,
    published,
    published_names,
    slope,
    source,
    wanted,
)


def test_a_planner_answers_with_published_values_and_names_its_sources_and_limits() -> None:
    for name in planner_names():
        found, which = planned(name), planner(name)
        assert len({each.name for each in found.figures}) == len(found.figures) > 0
        for each in found.figures:
            assert found[each.name] == each.value
            assert math.isfinite(each.value)
            assert each.label
        assert which.name == name
        assert all((which.title, which.sources, which.limitations))
        assert which.valid_range.endswith(".")
        assert "START TRACE" in which.trace


def not_allowed() -> Iterator[tuple[str, str, object, str]]:
    """Yield planner, input, a value just outside its range, and the reason."""
    for name in planner_names():
        for each in wanted(planner(name).asked):
            if each.ask.among:
                yield name, each.name, "nothing", f"{each.name}='nothing': must be one of "
            elif each.kind in (int, float):
                for value in (each.ask.low - 1, each.ask.high + 1):
                    if not math.isinf(value):
                        yield name, each.name, value, f"{each.name}=.*: must be .*"


def test_a_value_outside_its_range_and_an_unknown_word_are_refused() -> None:
    cases = list(not_allowed())
    assert len(cases) > 100
    for name, which, value, reason in cases:
        with pytest.raises(RequestError, match=reason) as error:
            planned(name, **{which: value})
        assert error.value.parameters == (which,), name


def test_missing_and_unknown_inputs_and_planners_are_refused() -> None:
    with pytest.raises(RequestError, match="a value is required"):
        planned("channels", message_kb=None)
    with pytest.raises(RequestError, match=r"planner channels: .*colour"):
        planned("channels", colour="red")
    with pytest.raises(KeyError):
        _ = planned("channels")["memlimit_mb"]
    with pytest.raises(RequestError, match=r"unknown planner 'weather'; planners: channels, "):
        planned("weather")


def test_measured_values_give_a_plan_if_they_fit() -> None:
    values = {"used_mb": Decimal(120), "current": 7.4, "kb_each": None, "sharecnv": "1"}
    plan = plan_of_measured("channels", values)
    assert plan is not None
    assert plan["channels"] == 4643 + 7
    assert plan.get("memlimit_mb") is None

    for name, wrong in (
        *(("channels", {"used_mb": each}) for each in (None, math.nan)),
        *(("channels", {"current": math.inf}), ("channels", {"maxchl": 0})),
        ("streaming", {"message_kb": 129}),
        ("channels", {"message_kb": 65, "sharecnv": "1"}),
    ):
        assert plan_of_measured(name, wrong) is None, (name, wrong)


def test_every_published_table_has_a_source() -> None:
    assert len(published_names()) == 17
    for name in published_names():
        assert published(name)
        assert "MQ" in source(name) or "Managed File Transfer" in source(name)


def test_between_published_points() -> None:
    points = {1.0: 10.0, 3.0: 30.0, 4.0: 0.0}
    assert [between(points, at, "x") for at in (1, 2, 3, 3.5, 4)] == [10, 20, 30, 15, 0]
    for at in (0.9, 4.1):
        with pytest.raises(RequestError, match="published values exist for 1 to 4 KB only"):
            between(points, at, "x", "KB")


# Slopes of measured values


def points(count: int, seed: int) -> list[list[float]]:
    random = np.random.default_rng(seed)
    xs = random.integers(100, 200, count)
    return [[float(x), 232.0 * x + 500 + float(random.normal(0, 40))] for x in xs]


@pytest.mark.parametrize("count", [10, 11, 30, 500])
def test_a_slope_and_its_interval_are_those_of_scipy(count: int) -> None:
    some = points(count, seed=count)
    found = slope(some)
    assert found is not None
    assert slope(some[::-1]) == found
    fit = stats.linregress(*zip(*some, strict=True))
    around = stats.t.ppf(0.95, count - 2) * fit.stderr
    assert found.value == pytest.approx(fit.slope)
    assert found.high - found.value == pytest.approx(around, rel=2e-3)
    assert found.value - found.low == pytest.approx(around, rel=2e-3)
    assert found.low < 232 < found.high
    assert slope([[float(x), 3.0 * x + 1] for x in range(20)]) == pytest.approx((3, 3, 3))


def test_points_without_a_slope() -> None:
    for why, some in {
        "too few": points(9, seed=1),
        "x hardly changes": [[1000.0 + x, 5.0 * x] for x in range(100)],
        "chance": [[float(x), float(x % 2)] for x in range(30)],
        "no slope": [[float(x), 7.0] for x in range(30)],
    }.items():
        assert slope(some) is None, why


def test_results_have_the_interval_of_their_inputs_within_the_range_of_the_input() -> None:
    plan = planned("channels", kb_each=232)
    found = plan_within(plan.planner, plan.asked, {"kb_each": (200, 300)})
    intervals = {each.name: each.interval for each in found.figures}
    assert intervals["more"] == (1052 * 1024 // 300, 1052 * 1024 // 200)
    assert intervals["room_mb"] is None
    assert found["more"] == 4643
    plan = planned("connections", kb_each=16)
    found = plan_within(plan.planner, plan.asked, {"kb_each": (-5, 20)})
    (storage,) = (each for each in found.figures if each.name == "storage_mb")
    assert storage.interval == pytest.approx((8000 * 0.1 / 1024, 8000 * 20 / 1024))
