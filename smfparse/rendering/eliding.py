"""Tables of text that are wider than the terminal: columns in the middle are left out."""

from __future__ import annotations

from itertools import accumulate

_LEFT_OUT = "..."
"""What stands where columns are left out."""
_BESIDE = 3
"""Characters between the cells of two columns."""


class Elider:
    """Leaves out columns of a table, which comes in parts: the same ones of all parts.

    width    characters that a line may have; None: any number
    columns  columns that are shown; None: as many as there is room for; 0: all
    """

    def __init__(self, width: int | None, columns: int | None = None) -> None:
        self._width = width
        self._columns = columns
        self._kept: tuple[int, int] | None = None
        self.count = 0

    def elided(self, lines: list[str]) -> list[str]:
        """Return a part of a table, which has a heading and a rule, with fewer columns."""
        widths = [len(each) for each in lines[1].split("|")[1:-1]]
        if any(len(line) != len(lines[1]) for line in lines):  # wide characters, or none to cut at
            return lines
        if self._kept is None:
            self._kept, self.count = self._fitting(widths), len(widths)
        left, right = self._kept
        if left + right >= len(widths):
            return lines
        ends = [0, *accumulate(each + 1 for each in widths)]
        first, last = ends[left], ends[len(widths) - right]
        gap = ("-" * (len(_LEFT_OUT) + 2), f" {_LEFT_OUT} ")
        return [
            f"{line[: first + 1]}{gap[number != 1]}{line[last:]}"
            for number, line in enumerate(lines)
        ]

    @property
    def count_line(self) -> list[str]:
        """A line that says how many columns are shown; none where all are."""
        if self._kept is None or sum(self._kept) >= self.count:
            return []
        return [f"{self.count} columns, {sum(self._kept)} shown"]

    def _fitting(self, widths: list[int]) -> tuple[int, int]:
        """Return how many columns are kept at the left and at the right."""
        count = len(widths)
        if self._columns is not None:
            most = min(self._columns or count, count)
        elif self._width is None or sum(widths) + count + 1 <= self._width:
            most = count
        else:
            room = self._width - len(_LEFT_OUT) - _BESIDE - 1
            most = next(
                (most for most in range(count - 1, 2, -1) if _size(widths, most) <= room), 2
            )
        left = most - most // 2
        return left, most - left


def _size(widths: list[int], most: int) -> int:
    """Return the characters of so many columns, from both sides."""
    left = most - most // 2
    kept = [*widths[:left], *widths[len(widths) - (most - left) :]]
    return sum(kept) + len(kept)
