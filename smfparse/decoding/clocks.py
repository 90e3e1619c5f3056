"""The UTC offset of each z/OS system: what turns local times into UTC."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np

from smfparse.layout import Values
from smfparse.vectors import Bools, Ints

LookAhead: TypeAlias = Callable[[frozenset[bytes]], tuple[dict[bytes, int], bool]]


@dataclass
class Clocks:
    """The UTC offset of each system, carried from chunk to chunk of a source.

    offsets     the last one seen
    first       the first one seen
    look_back   finds the last offsets before the part of the source that is read
    look_ahead  finds first offsets in the whole source until those of some systems are known;
                returns them, and whether it went to the end
    """

    offsets: dict[bytes, int] = field(default_factory=dict)
    first: dict[bytes, int] = field(default_factory=dict)
    look_ahead: LookAhead | None = None
    look_back: Callable[[], dict[bytes, int]] | None = None

    def fill(
        self, system: Values, offset: Ints, known: Bools, without: Bools
    ) -> tuple[Ints, Bools]:
        """Give the records `without` UTC the offset of the nearest earlier one of their system.

        Else that of the nearest later one, else none.

        system  uint32 (records,): the bytes of its id as a number
        """
        offset, filled = offset.copy(), known.copy()
        every, which = _systems(system)
        asking = without & ~known
        for row, name in enumerate(every):
            own = which == row
            places, needing = np.flatnonzero(own & known), np.flatnonzero(own & asking)
            if needing.size and not (places.size and places[0] < needing[0]):
                self._ask(name, ahead=not places.size)
            if places.size:
                self.first.setdefault(name, int(offset[places[0]]))
            self._fill_system(needing, places, self.offsets.get(name), offset, filled)
            if places.size:
                self.offsets[name] = int(offset[places[-1]])
        return offset, filled

    def _ask(self, system: bytes, *, ahead: bool) -> None:
        """Look for an offset of a system, if none is known yet: back, and ahead if asked to."""
        if system not in self.offsets and self.look_back is not None:
            self.offsets = self.look_back() | self.offsets
            self.look_back = None
        if ahead and system not in self.offsets and self.look_ahead is not None:
            first, whole = self.look_ahead(frozenset({system}))
            self.offsets = first | self.offsets
            self.look_ahead = None if whole else self.look_ahead

    @staticmethod
    def _fill_system(
        needing: Ints, places: Ints, earlier: int | None, offset: Ints, filled: Bools
    ) -> None:
        """Fill the rows `needing` one of a system; `places` are its rows that have their own."""
        if earlier is None and not places.size:
            return
        before = np.searchsorted(places, needing) - 1
        early = before < 0
        if early.any():
            offset[needing[early]] = offset[places[0]] if earlier is None else earlier
        offset[needing[~early]] = offset[places[before[~early]]]
        filled[needing] = True


def _systems(system: Values) -> tuple[list[bytes], Ints]:
    """Return the ids of the systems of records, and for each record which one it is of."""
    if (system == system[:1]).all():  # as in most chunks
        every, which = system[:1], np.zeros(len(system), np.int64)
    else:
        every, which = np.unique(system, return_inverse=True)
    return [each.tobytes() for each in every], which
