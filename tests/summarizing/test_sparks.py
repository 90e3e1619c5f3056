"""Figures over time in one line of characters."""

from __future__ import annotations

import pytest

from smfparse.summarizing import BLOCKS, sparkline


@pytest.mark.parametrize(
    ("values", "drawn"),
    [
        ([0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0], "▁▂▃▄▅▆▇██"),
        ([5.0, None, 10.0], "▅ █"),
        ([0.0, 0.0], "▁▁"),
        ([None, None], "  "),
        ([-1.0, 1.0], "▁█"),
        ([], ""),
    ],
)
def test_a_block_is_as_high_as_its_share_of_the_greatest(
    values: list[float | None], drawn: str
) -> None:
    assert sparkline(values) == drawn


def test_there_are_eight_heights() -> None:
    assert len(BLOCKS) == 8
