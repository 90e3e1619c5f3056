"""Student's t, digamma and trigamma against scipy, which is another implementation."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy import special

from smfparse.comparing.distributions import digamma, student, trigamma, trigamma_inverse
from tests.support.searching import search

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


def test_students_t_of_many_rows_is_that_of_each() -> None:
    freedom, t = np.array([1.0, 2.5, 80.0, 1e6]), np.array([-3.0, 0.1, 2.0, -1.0])
    alone = [student(freedom[[n]], t[[n]])[0] for n in range(4)]
    np.testing.assert_allclose(student(freedom, t), alone, rtol=1e-14)


def test_no_number_gives_none_and_ends() -> None:
    found = student(np.array([2.0, np.nan]), np.array([1.0, 1.0]))
    assert found[0] == pytest.approx(special.stdtr(2, 1))
    assert np.isnan(found[1])


@search(50)
@given(st.floats(1e-3, MOST))
def test_the_inverse_of_trigamma(x: float) -> None:
    value = float(special.polygamma(1, x))
    assert trigamma_inverse(value, MOST) == pytest.approx(x, rel=1e-9)


@pytest.mark.parametrize("value", [0.0, -1.0, 1 / (2 * MOST)])
def test_the_inverse_of_little_is_the_most(value: float) -> None:
    assert trigamma_inverse(value, MOST) == MOST
