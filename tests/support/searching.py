"""How much is tried: little (`make test`), or all (`make long`)."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import pytest
from hypothesis import HealthCheck, settings

T = TypeVar("T")
LONG = int(os.environ.get("SMFPARSE_EXAMPLES", "0"))
"""Examples of each search in a long run; 0: a short run."""
ANEW = "SMFPARSE_ANEW" in os.environ
"""Whether searches try other examples each time; else a commit passes its checks, or never does."""


def search(examples: int) -> Callable[[Any], Any]:
    """Decorate a property test: so many examples in a short run, LONG ones in a long run."""
    chosen = settings(
        max_examples=LONG or examples,
        deadline=None,
        derandomize=not ANEW,
        suppress_health_check=[
            HealthCheck.too_slow,
            HealthCheck.data_too_large,
            HealthCheck.function_scoped_fixture,
        ],
    )
    return lambda test: pytest.mark.slow(pytest.mark.fuzz(chosen(test)))


def some(values: Sequence[T], count: int) -> Sequence[T]:
    """Return so many of the values in a short run, evenly spread; all in a long run."""
    return values if LONG else spread(values, count)


def spread(values: Sequence[T], count: int) -> Sequence[T]:
    """Return so many of the values, evenly spread, or all where there are no more."""
    if len(values) <= count:
        return values
    return [values[number * len(values) // count] for number in range(count)]


def pairs(first: Sequence[Any], second: Sequence[Any]) -> list[tuple[Any, Any]]:
    """Return pairs: in a short run each value of both is in one, in a long run there are all."""
    if LONG:
        return [(one, other) for one in first for other in second]
    count = max(len(first), len(second))
    return [(first[each % len(first)], second[each % len(second)]) for each in range(count)]


def of_many(names: str, values: Sequence[Any], **given: Any) -> Callable[[Any], Any]:
    """Parametrize a test with `some` or `pairs` of many values; a long run has all of them."""
    return lambda test: pytest.mark.fuzz(pytest.mark.parametrize(names, values, **given)(test))
