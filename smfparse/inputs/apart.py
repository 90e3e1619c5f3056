"""Names of SMF files that several inputs have: rows of each need one of their own."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol


class Names(Protocol):
    """Names that are taken."""

    def __contains__(self, name: object, /) -> bool: ...

    def add(self, name: str, /) -> None:
        """Take one more."""


def called_apart(names: Iterable[str], taken: Names) -> dict[str, str]:
    """Return other names for those that are taken already: `DUMP.smf#2`. All are taken then."""
    found = {}
    for name in names:
        new = _free(name, taken)
        taken.add(new)
        if new != name:
            found[name] = new
    return found


def _free(name: str, taken: Names) -> str:
    """Return a name that is not taken: the next number, found in few steps however many are."""
    if name not in taken:
        return name
    low, high = 1, 2
    while f"{name}#{high}" in taken:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if f"{name}#{middle}" in taken else (low, middle)
    return f"{name}#{high}"
