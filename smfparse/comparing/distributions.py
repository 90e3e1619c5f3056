"""What a test of significance needs of mathematics: Student's t, digamma and trigamma.

Formulas: NIST Digital Library of Mathematical Functions, 5.11 (series for large numbers), 5.15
(recurrence), 8.17 (incomplete beta function and its continued fraction).
"""

from __future__ import annotations

from collections.abc import Iterator
from math import lgamma

import numpy as np

from smfparse.vectors import Floats

_LARGE = 12.0
"""From where on the series are exact to the last digits."""
_DIGAMMA = (-1 / 12, 1 / 120, -1 / 252, 1 / 240, -1 / 132, 691 / 32760)
_TRIGAMMA = (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730)
"""Coefficients by powers of 1 / x²."""
_TINY = 1e-300
_EXACT = 1e-15
_MOST_TERMS = 10_000
"""Many more than a million degrees of freedom need; they end where a number is none."""
_lgamma = np.vectorize(lgamma, otypes=[float])


def digamma(x: Floats) -> Floats:
    """Return the derivative of the logarithm of gamma; x > 0."""
    less, x = _shifted(x, 1)
    found: Floats = np.log(x) - 1 / (2 * x) + _series(_DIGAMMA, x) / x**2 - less
    return found


def trigamma(x: Floats) -> Floats:
    """Return the derivative of digamma; x > 0."""
    more, x = _shifted(x, 2)
    found: Floats = 1 / x + 1 / (2 * x**2) + _series(_TRIGAMMA, x) / x**3 + more
    return found


def trigamma_inverse(value: float, most: float) -> float:
    """Return the x, up to `most`, whose trigamma is `value`, by halving between."""
    low, high = 1e-3, most
    if value <= float(trigamma(np.array(high))):
        return most
    while high - low > _EXACT * high:
        middle = (low + high) / 2
        if middle in (low, high):
            break
        if float(trigamma(np.array(middle))) > value:
            low = middle
        else:
            high = middle
    return high


def student(freedom: Floats, t: Floats) -> Floats:
    """Return how probable it is that Student's t of so much freedom, at least 1, is below `t`."""
    whole = freedom + t * t
    half: Floats = np.full_like(freedom, 0.5)
    tail = _beta(freedom / whole, t * t / whole, freedom * half, half) / 2
    found: Floats = np.where(t > 0, 1 - tail, tail)
    return found


def _shifted(x: Floats, power: int) -> tuple[Floats, Floats]:
    """Return the sum of 1 / x^power over x, x + 1 and so on, and the first that is large."""
    x, total = x.copy(), np.zeros(x.shape)
    while (small := x < _LARGE).any():
        total += np.where(small, x ** -float(power), 0)
        x += small
    return total, x


def _series(coefficients: tuple[float, ...], x: Floats) -> Floats:
    return np.asarray(np.polyval(coefficients[::-1], x**-2.0), np.float64)


def _beta(x: Floats, rest: Floats, a: Floats, b: Floats) -> Floats:
    """Return the regularized incomplete beta function of x; `rest` is 1 - x, exactly."""
    other = x > (a + 1) / (a + b + 2)
    with np.errstate(divide="ignore"):
        front = a * np.log(x) + b * np.log(rest) + _lgamma(a + b) - _lgamma(a) - _lgamma(b)
    first, second = np.where(other, b, a), np.where(other, a, b)
    part = np.exp(front) / (first * _fraction(np.where(other, rest, x), first, second))
    found: Floats = np.where(other, 1 - part, part)
    return found


def _fraction(x: Floats, a: Floats, b: Floats) -> Floats:
    """Return the continued fraction of the incomplete beta function (Lentz's method)."""
    value, above, below = np.ones_like(x), np.ones_like(x), np.zeros_like(x)
    for term in _terms(x, a, b):
        below = 1 / _not_zero(1 + term * below)
        above = _not_zero(1 + term / above)
        value = value * above * below
        if (np.abs(above * below - 1) < _EXACT).all():
            break
    return value


def _terms(x: Floats, a: Floats, b: Floats) -> Iterator[Floats]:
    for m in range(_MOST_TERMS):
        yield -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        k = m + 1
        yield k * (b - k) * x / ((a + 2 * k - 1) * (a + 2 * k))


def _not_zero(numbers: Floats) -> Floats:
    found: Floats = np.where(numbers == 0, _TINY, numbers)
    return found
