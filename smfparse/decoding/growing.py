"""Arrays that grow, and use their memory again."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from smfparse.layout import Values

_LEAST_ROWS = 256
_PROBE = [np.empty(0)]
_OURS = sys.getrefcount(_PROBE[0])
"""What `sys.getrefcount` returns for an array that is in a list and nowhere else."""


class Growing:
    """A numpy array that grows along its last axis; what it holds is taken out as a whole.

    Memory that was taken out is used again once nobody refers to it: to ask the system for new
    pages, and to have them zeroed, costs more than to fill them.
    """

    def __init__(self, dtype: Any, *shape: int) -> None:
        self._dtype = np.dtype(dtype)
        self._shape = shape
        self._array = self._empty(0)
        self._taken: list[Values] = []
        self.rows = 0

    def more(self, rows: int) -> Values:
        """Make room for `rows` more and return it, to be filled."""
        start, self.rows = self.rows, self.rows + rows
        if self.rows > self._array.shape[-1]:
            grown = self._room()
            grown[..., :start] = self._array[..., :start]
            self._array = grown
        return self._array[..., start : self.rows]

    def take(self) -> Values:
        """Return what is held and start anew."""
        taken = self._array[..., : self.rows]
        if self._array.shape[-1]:
            self._taken.append(self._array)
            self._array = self._empty(0)
        self.rows = 0
        return taken

    def _room(self) -> Values:
        """Return an array for at least `rows`: one that nobody else refers to, or a new one."""
        for number in range(len(self._taken)):
            if sys.getrefcount(self._taken[number]) == _OURS:
                found = self._taken.pop(number)
                if found.shape[-1] >= self.rows:
                    return found
                break
        return self._empty(max(_LEAST_ROWS, self.rows * 2))

    def _empty(self, rows: int) -> Values:
        return np.empty((*self._shape, rows), self._dtype)
