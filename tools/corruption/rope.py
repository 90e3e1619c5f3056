"""Bytes that know where they come from, while a file is being damaged."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray


class Rope:
    """Bytes of a file, and for each of them its place in the file as it was; -1: it is new."""

    def __init__(self, data: bytes | bytearray) -> None:
        self.data = bytearray(data)
        self.origin: NDArray[np.int64] = np.arange(len(data))

    def __len__(self) -> int:
        return len(self.data)

    def set(self, at: int, new: bytes) -> None:
        """Overwrite bytes; those that stay as they were are untouched."""
        for place, byte in enumerate(new[: max(len(self) - at, 0)], at):
            if self.data[place] != byte:
                self.data[place] = byte
                self.origin[place] = -1

    def replace(self, start: int, end: int, new: Piece) -> None:
        """Put other bytes in the place of a range."""
        self.data[start:end] = new.data
        self.origin = np.concatenate([self.origin[:start], new.origin, self.origin[end:]])

    def piece(self, start: int, end: int) -> Piece:
        """Return a copy of a range."""
        return Piece(bytes(self.data[start:end]), self.origin[start:end].copy())

    def places(self, starts: Iterable[int]) -> dict[int, list[int]]:
        """Return where the bytes are now that were at `starts`; some are there more than once."""
        wanted = np.array(sorted(starts), np.int64)
        found: dict[int, list[int]] = {}
        if wanted.size:
            here = np.flatnonzero(np.isin(self.origin, wanted))
            for place, start in zip(here.tolist(), self.origin[here].tolist(), strict=True):
                found.setdefault(start, []).append(place)
        return found

    def whole(self) -> NDArray[np.int64]:
        """Return, for each byte, behind which one the untouched bytes end that go on from it."""
        ends = np.append(np.diff(self.origin) != 1, True)[-len(self) or 1 :]
        behind = np.flatnonzero(ends) + 1
        found: NDArray[np.int64] = behind[np.searchsorted(behind, np.arange(len(self)), "right")]
        return found


class Piece:
    """A range of a rope, or new bytes."""

    def __init__(self, data: bytes, origin: NDArray[np.int64] | None = None) -> None:
        self.data = data
        self.origin = np.full(len(data), -1, np.int64) if origin is None else origin
