"""A mutant: one small change of one file."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple


class Change(NamedTuple):
    """Bytes `start` to `end` of a source become `after`.

    lines  first and last line of the statement, by which the tests that run it are found
    unit   in a file of several macros, the one that is changed
    """

    start: int
    end: int
    after: str
    lines: tuple[int, int] = (0, 0)
    unit: str = ""


@dataclass(frozen=True)
class Mutant:
    """A change of a file.

    path    of the file in the project, with slashes
    line    its number; `text` is what stands there
    number  from 1, among the changes that have the same path, text, before and after
    """

    path: str
    change: Change
    line: int
    text: str
    before: str
    number: int

    @property
    def key(self) -> tuple[str, str, str, str, int]:
        """What it is known by: its text and not its place, which every edit above it moves."""
        return (self.path, self.text, self.before, self.change.after, self.number)

    @property
    def language(self) -> str:
        """Return the language of its file: sql or python."""
        return language_of(self.path)

    def applied(self, source: bytes) -> bytes:
        """Return the source of its file with the change."""
        start, end, after, *_ = self.change
        return source[:start] + after.encode() + source[end:]

    def __str__(self) -> str:
        before, after = (" ".join(each.split()) for each in (self.before, self.change.after))
        return f"{self.path}:{self.line}: {before or 'nothing'} -> {after or 'nothing'}"


def becoming(text: str) -> Mapping[str, Sequence[str]]:
    """Return what each word becomes, of a text as `a -> b, c; b -> a`."""
    parts = (each.split(" -> ") for each in text.split("; "))
    return {before: after.split(", ") for before, after in parts}


def swapped(text: str) -> dict[str, str]:
    """Return words that become each other, of a text as `a b, c d`."""
    pairs = [each.split() for each in text.split(", ")]
    return {one: other for pair in pairs for one, other in (pair, pair[::-1])}


def language_of(path: str) -> str:
    """Return what a file is written in."""
    return "sql" if path.endswith(".sql") else "python"


def mutants_of(path: str, source: bytes, changes: Iterable[Change]) -> Iterator[Mutant]:
    """Yield the changes of a source as mutants, in the order of the file."""
    seen: Counter[tuple[str, str, str, str]] = Counter()
    for each in sorted(changes):
        line = source.count(b"\n", 0, each.start) + 1
        text = source.split(b"\n")[line - 1].decode().strip()
        before = source[each.start : each.end].decode()
        seen[alike := (path, text, before, each.after)] += 1
        yield Mutant(path, each, line, text, before, seen[alike])


def shuffled(mutants: Iterable[Mutant], seed: int) -> list[Mutant]:
    """Return mutants in an order that a seed makes, and that an edit elsewhere leaves alone."""
    return sorted(mutants, key=lambda each: hashlib.sha256(f"{seed} {each.key}".encode()).digest())
