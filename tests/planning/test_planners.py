"""What holds of every planner: inputs with bounds, formulas, sources; tables that are published."""

from __future__ import annotations

import math
from decimal import Decimal

import pytest

from smfparse.errors import RequestError
from smfparse.planning import (
    between,
    plan_of_measured,
    planned,
    planner,
    planner_names,
    published,
    published_names,
    source,
    wanted,
)

every_planner = pytest.mark.parametrize("name", planner_names())
INPUTS = [(name, each) for name in planner_names() for each in wanted(planner(name).asked)]
BOUNDED = [
    pytest.param(name, each, value, id=f"{name} {each.name} {value:g}")
    for name, each in INPUTS
    if each.kind in (int, float)
    for value in (each.ask.low - 1, each.ask.high + 1)
    if not math.isinf(value)
]


@every_planner
def test_a_planner_answers_by_published_values_alone(name: str) -> None:
    found = planned(name)
    assert found.figures
    assert len({each.name for each in found.figures}) == len(found.figures)
    for each in found.figures:
        assert found[each.name] == each.value
        assert math.isfinite(each.value)
        assert each.label


@every_planner
def test_a_planner_says_what_it_stands_on_and_what_it_cannot_know(name: str) -> None:
    which = planner(name)
    assert which.name == name
    assert which.title
    assert which.stands_on
    assert which.unknown
    assert which.holds.endswith(".")
    assert "START TRACE" in which.trace


@pytest.mark.parametrize(("name", "each", "value"), BOUNDED)
def test_a_value_outside_its_range_is_refused(name: str, each: object, value: float) -> None:
    which = each.name  # type: ignore[attr-defined]
    with pytest.raises(RequestError, match=f"{which}=.*: outside of .*") as error:
        planned(name, **{which: value})
    assert error.value.parameters == (which,)


@pytest.mark.parametrize(
    ("name", "which"),
    [(name, each.name) for name, each in INPUTS if each.ask.among],
)
def test_a_word_that_is_not_known_is_refused(name: str, which: str) -> None:
    with pytest.raises(RequestError, match=f"{which}='nothing': not one of "):
        planned(name, **{which: "nothing"})


def test_an_input_that_has_to_be_there() -> None:
    with pytest.raises(RequestError, match="there has to be a value"):
        planned("channels", message_kb=None)


def test_what_was_measured_is_planned_by_alone() -> None:
    values = {"used_mb": Decimal(120), "current": 7.4, "kb_each": None, "sharecnv": "1"}
    plan = plan_of_measured("channels", values)
    assert plan is not None
    assert plan["channels"] == 4643 + 7
    assert plan.get("memlimit_mb") is None


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("channels", {"used_mb": None}),
        ("channels", {"used_mb": math.nan}),
        ("channels", {"current": math.inf}),
        ("channels", {"maxchl": 0}),
        ("streaming", {"message_kb": 129}),
        ("channels", {"message_kb": 65, "sharecnv": "1"}),
    ],
)
def test_without_a_value_that_fits_nothing_is_planned(name: str, values: dict[str, float]) -> None:
    assert plan_of_measured(name, values) is None


def test_an_input_that_there_is_not() -> None:
    with pytest.raises(RequestError, match=r"planner channels: .*colour"):
        planned("channels", colour="red")


def test_a_planner_that_there_is_not() -> None:
    with pytest.raises(RequestError, match=r"no planner 'weather'; there are channels, "):
        planned("weather")


def test_every_published_table_has_a_source() -> None:
    assert len(published_names()) == 17
    for name in published_names():
        assert published(name)
        assert "MQ" in source(name) or "Managed File Transfer" in source(name)


def test_between_published_points() -> None:
    points = {1.0: 10.0, 3.0: 30.0, 4.0: 0.0}
    assert [between(points, at, "x") for at in (1, 2, 3, 3.5, 4)] == [10, 20, 30, 15, 0]
    for at in (0.9, 4.1):
        with pytest.raises(RequestError, match="published values are there for 1 to 4 KB only"):
            between(points, at, "x", "KB")
