"""What is usual, and what grows by more than chance."""

from __future__ import annotations

import random

import pytest

from smfparse.trending.statistics import CHANCE, growth, usual_range


def test_the_usual_range_is_about_the_median_and_one_outlier_does_not_move_it() -> None:
    low, high = usual_range([100, 102, 98, 101, 99, 5000])
    assert 80 < low < 98
    assert 102 < high < 125


def test_equal_values_leave_a_tenth_on_both_sides() -> None:
    assert usual_range([50.0] * 8) == (45, 55)
    assert usual_range([50.0] * 8, least=10) == (40, 60)
    assert usual_range([0.0] * 8, least=2) == (0, 2)


def test_few_values_give_a_wider_range() -> None:
    few, many = usual_range([8, 10, 12]), usual_range([8, 10, 12] * 10)
    assert few[1] - few[0] > many[1] - many[0]


def test_growth_is_that_of_each_season_and_the_step_between_them_is_none() -> None:
    workdays = {day: 100.0 + day for day in range(0, 28, 2)}
    weekends = {day: 10.0 + day for day in range(1, 28, 2)}
    found = growth([workdays, weekends])
    assert found is not None
    per_day, chance = found
    assert per_day == 1
    assert chance < CHANCE / 100


@pytest.mark.parametrize("seasons", [[], [{}], [{3: 1.0}], [{3: 1.0}, {4: 2.0}]])
def test_a_day_of_each_season_does_not_grow(seasons: list[dict[int, float]]) -> None:
    assert growth(seasons) is None


def test_equal_days_do_not_grow() -> None:
    found = growth([dict.fromkeys(range(10), 5.0)])
    assert found == (0, pytest.approx(1))


def test_chance_is_taken_for_growth_as_seldom_as_is_said() -> None:
    drawn = random.Random(1)
    taken = 0
    for _ in range(400):
        found = growth([{day: drawn.gauss(100, 10) for day in range(15)}])
        assert found is not None
        taken += found[1] < CHANCE
    assert taken <= 0.08 * 400
