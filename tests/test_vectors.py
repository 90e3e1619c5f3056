"""Rows of bytes numbered by their content, by Python and by Arrow."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from smfparse import vectors
from tests.support.searching import search


@search(30)
@given(st.integers(1, 12), st.lists(st.integers(0, 3), min_size=1, max_size=90))
def test_few_rows_and_many_are_numbered_alike(width: int, values: list[int]) -> None:
    rows = np.repeat(np.array(values, np.uint8)[:, None], width, axis=1)
    first = list(dict.fromkeys(values))
    for which, each in (
        vectors.distinct(rows),
        vectors.distinct(np.tile(rows, (1100, 1))),
        vectors._distinct_few(rows),
    ):
        assert each[:, 0].tolist() == first
        assert [first[number] for number in which[: len(values)]] == values


WITHOUT_PANDAS = """
import sys
import numpy as np
from smfparse import vectors
rows = np.arange(40_000, dtype=np.uint32).view(np.uint8)
for width in (4, 5):
    vectors.distinct(rows.reshape(-1, width))
assert len(rows) // 5 > vectors._DICTIONARY
assert "pandas" not in sys.modules
"""


def test_pandas_is_not_loaded_to_number_many_rows() -> None:
    """It takes longer to load than most files to decode."""
    subprocess.run([sys.executable, "-c", WITHOUT_PANDAS], check=True)
