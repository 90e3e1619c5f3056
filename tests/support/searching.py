"""How long hypothesis searches: short and the same every time, or long and anew (`make fuzz`)."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

LONG = int(os.environ.get("SMFPARSE_EXAMPLES", "0"))
"""Examples of each search in a long run; 0: a short run."""


def search(examples: int) -> Callable[[Any], Any]:
    """Decorate a property test: so many examples in a short run, LONG ones in a long run."""
    chosen = settings(
        max_examples=LONG or examples,
        deadline=None,
        derandomize=not LONG,
        suppress_health_check=[
            HealthCheck.too_slow,
            HealthCheck.data_too_large,
            HealthCheck.function_scoped_fixture,
        ],
    )
    return lambda test: pytest.mark.slow(pytest.mark.fuzz(chosen(test)))
