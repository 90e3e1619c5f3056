"""Student's t, digamma and trigamma against scipy; whether a change is more than chance."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy import special
from scipy.stats import ttest_ind_from_stats

from smfparse.summarizing.changes import (
    LEVEL,
    Spread,
    changed,
    digamma,
    holm,
    student,
    trigamma,
    trigamma_inverse,
)
from smfparse.vectors import Floats
from tests.support.searching import search

ROWS = 4000


def spread(draws: Floats) -> Spread:
    """The spread of rows of draws, each an interval of the same weight."""
    count = np.full(len(draws), float(draws.shape[1]))
    return Spread(draws.var(axis=1, ddof=1) / draws.mean(axis=1) ** 2, count)


def chances(
    before: Floats, after: Floats, tolerance: float = 0.06, *, steady: bool = True
) -> Floats:
    change = np.log(after.mean(axis=1) / before.mean(axis=1))
    return changed(change, spread(before), spread(after), np.zeros(len(change)), tolerance, steady)


def normal(seed: int, rows: int, intervals: int, sd: float, mean: float = 1.0) -> Floats:
    return mean + sd * np.random.default_rng(seed).standard_normal((rows, intervals))


def test_one_row_without_tolerance_is_the_t_test_of_two_samples() -> None:
    before, after = normal(1, 1, 6, 0.01), normal(2, 1, 6, 0.01, 1.02)
    (chance,) = chances(before, after, tolerance=0)
    stats = [(each.mean(), each.std(ddof=1), 6) for each in (before, after)]
    expected = ttest_ind_from_stats(*stats[0], *stats[1]).pvalue
    assert chance == pytest.approx(expected, rel=0.1)  # of logarithms here, of values there


def test_without_a_change_chances_are_spread_evenly() -> None:
    found = chances(normal(3, ROWS, 4, 0.05), normal(4, ROWS, 4, 0.05), tolerance=0)
    for level in (0.001, 0.01, 0.1, 0.5):
        assert (found <= level).mean() == pytest.approx(level, abs=4 * np.sqrt(level / ROWS))


def test_a_change_of_just_the_tolerance_is_rarely_more() -> None:
    found = chances(normal(5, ROWS, 4, 0.02), normal(6, ROWS, 4, 0.02, 1.06))
    assert (found <= 0.01).mean() <= 0.02
    assert (found >= 0.5).mean() == pytest.approx(0.5, abs=0.05)


def test_a_row_of_few_intervals_borrows_from_rows_like_it() -> None:
    before, after = normal(7, 200, 2, 0.05), normal(8, 200, 2, 0.05)
    after[17] *= 2
    together = chances(before, after)
    assert together[17] < 1e-6 < chances(before[17:18], after[17:18])[0]
    assert np.flatnonzero(holm(together)).tolist() == [17]


def test_rows_that_vary_much_do_not_hide_behind_quiet_ones() -> None:
    sd = np.repeat([0.02, 0.6], [150, 50])[:, None]
    draws = np.exp(sd * np.random.default_rng(9).standard_normal((200, 8)))
    assert not holm(chances(draws[:, :4], draws[:, 4:])).any()


@pytest.mark.parametrize("steady", [True, False])
def test_one_interval_on_both_sides_tells_nothing(steady: bool) -> None:
    before, after = normal(10, 20, 2, 0.01)[:, :1], normal(11, 20, 2, 0.01, 2)[:, :1]
    single = Spread(np.zeros(20), np.ones(20))
    change = np.log(after / before)[:, 0]
    assert np.isnan(changed(change, single, single, np.zeros(20), 0.06, steady)).all()


def test_what_the_load_makes_needs_more_than_several_intervals_of_it() -> None:
    before, after = normal(12, 40, 6, 0.15), normal(13, 40, 6, 0.15, 1.5)
    assert holm(chances(before, after, steady=True)).mean() > 0.5
    assert not holm(chances(before, after, steady=False)).any()
    assert holm(chances(before, 20 * after, steady=False)).all()


def test_costs_that_never_vary_are_significant_beyond_the_tolerance() -> None:
    before, after = np.ones((3, 3)), np.array([[1.636] * 3, [1.189] * 3, [1.25] * 3])
    assert holm(chances(before, after)).tolist() == [True, True, True]
    assert holm(chances(before, after, tolerance=0.2)).tolist() == [True, False, True]


def test_what_is_nothing_on_one_side_is_not_judged() -> None:
    change = np.array([np.inf, -np.inf, np.nan, 0.0])
    known = Spread(np.full(4, 0.01), np.full(4, 4.0))
    found = changed(change, known, known, np.zeros(4), 0.06, True)
    assert np.isnan(found[:3]).all()
    assert found[3] == pytest.approx(1, abs=0.5)


def test_holm_goes_up_the_chances_and_stops_at_the_first_that_is_too_great() -> None:
    chance = np.array([0.01, 0.04, 0.03, 0.005, np.nan])
    assert holm(chance, 0.05).tolist() == [True, False, False, True, False]
    assert holm(np.array([np.nan]), 0.05).tolist() == [False]
    assert holm(np.array([LEVEL]), LEVEL).tolist() == [True]


# Distributions

POSITIVE = st.floats(1e-3, 1e7)
MOST = 5e5


@search(50)
@given(POSITIVE)
@example(12.0)
@example(1.4616321449683622)
def test_digamma_and_trigamma_are_those_of_scipy(x: float) -> None:
    assert digamma(np.array(x)) == pytest.approx(special.digamma(x), rel=1e-13, abs=1e-13)
    assert trigamma(np.array(x)) == pytest.approx(special.polygamma(1, x), rel=1e-13)


@search(50)
@given(st.floats(1, 2e6), st.floats(-40, 40))
@example(1.0, 0.0)
@example(2e6, 2.5)
@example(3.0, -1e-9)
def test_students_t_is_that_of_scipy(freedom: float, t: float) -> None:
    found = student(np.array([freedom]), np.array([t]))
    assert found[0] == pytest.approx(special.stdtr(freedom, t), rel=1e-7, abs=1e-280)


def test_no_number_gives_none_and_ends() -> None:
    found = student(np.array([2.0, np.nan]), np.array([1.0, 1.0]))
    assert found[0] == pytest.approx(special.stdtr(2, 1))
    assert np.isnan(found[1])


@search(50)
@given(st.floats(1e-3, MOST))
def test_the_inverse_of_trigamma(x: float) -> None:
    assert trigamma_inverse(float(special.polygamma(1, x)), MOST) == pytest.approx(x, rel=1e-9)


@pytest.mark.parametrize("value", [0.0, -1.0, 1 / (2 * MOST)])
def test_the_inverse_of_little_is_the_most(value: float) -> None:
    assert trigamma_inverse(value, MOST) == MOST
