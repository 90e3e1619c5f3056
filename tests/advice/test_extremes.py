"""Damaged records hold any number: no rule fails by one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from smfparse.advice import rules, subjects
from smfparse.advice.judging import subject_query
from smfparse.calendar import calendar_macros
from smfparse.tables import named_macros, schema, view_macros
from tests.support.advised import Bench

KEYS = {"input_no", "utc_offset", "record_no", "block_no", "task_record_no", "record_offset"}
LONGEST_US = 2.0**52
"""The clock of a record counts no further."""


@pytest.mark.parametrize("name", subjects())
def test_no_number_is_too_large_for_a_rule(name: str) -> None:
    subject = subjects()[name]
    rows = {table: [*_rows(table)] for table in subject.tables}
    some = [each for each in rules().values() if each.subject == name and each.complete]
    query = subject_query(subject, some)
    bench = Bench(rows, subject.tables)
    bench.define(named_macros(query, view_macros() + calendar_macros()))
    assert "start" in bench.arrow(query).column_names


def _rows(table: str) -> Iterator[dict[str, Any]]:
    """Yield rows of intervals with all numbers the smallest, and the largest, there are."""
    for number, smallest in enumerate((True, False, False)):
        fields = {
            each.name: _extreme(each.type, smallest=smallest)
            for each in schema(table)
            if _is_figure(each)
        }
        yield fields | {"interval_no": number, "interval_seconds": 600.0 if smallest else 1e-6}


def _is_figure(column: Any) -> bool:
    kind = column.type
    return (pa.types.is_integer(kind) or pa.types.is_floating(kind)) and column.name not in KEYS


def _extreme(kind: Any, *, smallest: bool) -> float:
    if pa.types.is_floating(kind):
        return -LONGEST_US if smallest else LONGEST_US
    limits = np.iinfo(kind.to_pandas_dtype())
    return int(limits.min if smallest else limits.max)
