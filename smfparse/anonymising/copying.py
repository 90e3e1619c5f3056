"""Write and verify a copy with other names.

The first pass over the file collects names, the second pass replaces them. `proof` verifies that
the copy has the same numbers as the original, and no name of the original.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import TYPE_CHECKING, BinaryIO, NamedTuple

import numpy as np

from smfparse.anonymising.places import Named, Places, bytes_in_file, shift_times
from smfparse.anonymising.pseudonyms import PART, Finder, Pseudonyms, ShortNames
from smfparse.errors import DamageLog, SmfError
from smfparse.layout.kinds import BLANK, ENCODING
from smfparse.reading.chunks import Chunk
from smfparse.reading.packing import unpacked
from smfparse.reading.places import Place
from smfparse.reading.segments import RDW_SIZE
from smfparse.vectors import Bools, Bytes, Ints, each_of, gather

if TYPE_CHECKING:
    from smfparse.inputs.sources import SmfFile

_AT_ONCE = 1 << 24
"""Number of bytes copied or searched in one step."""
_BLANKS = b"\0" + BLANK


@dataclass
class Replaced:
    """The replaced names, and the number of places that were not changed.

    names      distinct names, by kind
    fields     number of fields in which a name was replaced, by kind
    elsewhere  number of names replaced outside the fields of names
    by_chance  number of places where numbers equal a name by chance; not changed
    short      number of places outside the fields of names that equal a name of fewer than 4
               characters; not changed
    in_kept    number of places where a kept name contains a replaced name; not changed
    """

    names: dict[str, set[str]] = field(default_factory=dict)
    fields: Counter[str] = field(default_factory=Counter)
    elsewhere: int = 0
    by_chance: int = 0
    short: int = 0
    in_kept: int = 0


def anonymise(
    file: SmfFile,
    target: BinaryIO,
    pseudonyms: Pseudonyms,
    damage: DamageLog,
    shift_days: int = 0,
) -> Replaced:
    """Write a copy of a file with other names to `target`, a seekable stream; count replacements.

    The copy is not compressed. In damaged bytes, only names of at least 4 characters are replaced.
    Raises SmfError if the copy does not contain a record at the expected place.

    damage      log that records the damage of the file
    shift_days  number of days by which times are shifted
    """
    done = Replaced()
    _gather(file, damage, done)
    for names in done.names.values():
        pseudonyms.learn(names)
    for kind in sorted(done.names):
        for name in sorted(done.names[kind]):
            pseudonyms.of(kind, name)
    size = _copy(file.path, target)
    patch = _Patch(target, size, pseudonyms, done, shift_days)
    for chunk in file.chunks(DamageLog(keep=0)):
        patch.replace(chunk)
    patch.finish()
    return done


def _gather(file: SmfFile, damage: DamageLog, done: Replaced) -> None:
    for chunk in file.chunks(damage):
        for places in Named(chunk, damage).places():
            held = done.names.setdefault(places.kind, set())
            held.update(filter(None, map(_text, _distinct(chunk.buffer, places)[0])))
        damage.check()
    damage.check()


def _copy(path: Place, target: BinaryIO) -> int:
    buffer, size = memoryview(bytearray(_AT_ONCE)), 0
    with unpacked(path) as data:
        while count := data.fill(buffer):
            target.write(buffer[:count])
            size += count
    return size


def _distinct(buffer: Bytes, places: Places) -> tuple[list[bytes], Ints]:
    """Return the distinct contents of fields, and for each field the index of its content."""
    rows = gather(buffer, places.at, places.width)
    found, which = np.unique(rows.view(f"S{places.width}")[:, 0], return_inverse=True)
    return [each.ljust(places.width, b"\0") for each in found.tolist()], which


def _between(chunk: Chunk, end: int) -> Bools:
    """Return which bytes of a chunk's buffer[:end] are in no record: bool (end,)."""
    steps = np.zeros(end + 1, np.int8)
    np.add.at(steps, chunk.start, 1)
    np.add.at(steps, chunk.start + chunk.length, -1)
    found: Bools = np.cumsum(steps[:end], dtype=np.int8) == 0
    return found


def _text(content: bytes) -> str:
    text = content.rstrip(_BLANKS).decode(ENCODING)
    return text if text.isprintable() and PART.search(text) else ""


class _Patch:
    """Replaces names in a copy, chunk by chunk."""

    def __init__(
        self,
        target: BinaryIO,
        size: int,
        pseudonyms: Pseudonyms,
        done: Replaced,
        shift_days: int,
    ) -> None:
        self._target = target
        self._size = size
        self._pseudonyms = pseudonyms
        self._done = done
        self._shift_days = shift_days
        self._finder = Finder(pseudonyms.replaced())
        self._short = ShortNames(pseudonyms.too_short())
        self._end = 0
        """Place in the file after the last record written."""

    def replace(self, chunk: Chunk) -> None:
        """Replace names in the records of a chunk, and in the bytes between them."""
        low, high = int(chunk.start.min()), int((chunk.start + chunk.length).max())
        made = chunk.buffer.copy()
        named = Named(chunk)
        fields = np.zeros(high, np.bool_)
        for places in named.places():
            self._replace_fields(made, places)
            fields[each_of(places.at, places.width)] = True
        between = _between(chunk, high)
        self._replace_elsewhere(made, low, named, fields, between)
        self._done.short += self._short.count(made, low, high, fields | between)
        shift_times(made, named, self._shift_days)
        self._write(chunk, made)

    def _replace_fields(self, made: Bytes, places: Places) -> None:
        contents, which = _distinct(made, places)
        others = [self._other(places, content) for content in contents]
        rows = np.frombuffer(b"".join(others), np.uint8).reshape(-1, places.width)[which]
        made[each_of(places.at, places.width)] = rows
        changed = np.array([a != b for a, b in zip(contents, others, strict=True)], np.bool_)
        self._done.fields[places.kind] += int(changed[which].sum())

    def _other(self, places: Places, content: bytes) -> bytes:
        if not places.is_text:
            return self._pseudonyms.of_bytes(content)
        name = _text(content)
        if not name:
            return content
        other = self._pseudonyms.of(places.kind, name).encode(ENCODING)
        return other + content[len(other) :]

    def _replace_elsewhere(
        self, made: Bytes, low: int, named: Named, fields: Bools, between: Bools
    ) -> None:
        for found, texts in self._finder.found(made, low, fields.size):
            within = ~between[each_of(found, texts.shape[1])].all(axis=1)
            at, others = found[within], texts[within]
            every = each_of(at, others.shape[1])
            clear = ~fields[every].any(axis=1)
            self._done.in_kept += int((~clear).sum())
            at, others, every = at[clear], others[clear], every[clear]
            numbers = named.are_numbers(every.ravel()).reshape(every.shape).any(axis=1)
            self._done.by_chance += int(numbers.sum())
            self._done.elsewhere += int((~numbers).sum())
            made[every[~numbers]] = others[~numbers]

    def _write(self, chunk: Chunk, made: Bytes) -> None:
        """Write the changed records of a chunk to their places in the copy."""
        low, end = self._end, 0
        places = list(bytes_in_file(chunk))
        raw = self._read(low, places[-1].end - low)
        for start, length, where in zip(
            chunk.start.tolist(), chunk.length.tolist(), places, strict=True
        ):
            at, body = where.shifted(low), slice(start + RDW_SIZE, start + length)
            if not np.array_equal(raw[at], chunk.buffer[body]):
                raise SmfError(f"the record at byte 0x{where.start:X} cannot be copied")
            self._replace_between(raw, end, where.start - low)
            raw[at] = made[body]
            end = where.end - low
        self._target.seek(low)
        self._target.write(raw.tobytes())
        self._end = low + end

    def _replace_between(self, raw: Bytes, start: int, end: int) -> None:
        """Replace names in raw[start:end], bytes that are in no record."""
        for at, others in self._finder.found(raw, start, end):
            raw[each_of(at, others.shape[1])] = others
            self._done.elsewhere += at.size
        self._done.short += self._short.count(raw, start, end)

    def _read(self, at: int, size: int) -> Bytes:
        self._target.seek(at)
        return np.frombuffer(bytearray(self._target.read(size)), np.uint8)

    def finish(self) -> None:
        """Replace names in the bytes after the last record."""
        while self._end < self._size:
            raw = self._read(self._end, _AT_ONCE)
            self._replace_between(raw, 0, raw.size)
            self._target.seek(self._end)
            self._target.write(raw.tobytes())
            self._end += raw.size


_OVERLAP = 64
"""Number of bytes that two consecutive steps both search: the maximum length of a name."""


class Proof(NamedTuple):
    """The result of the verification of a copy.

    records  number of records whose numbers are equal in both files
    other    number of records whose numbers differ
    left     number of places in the copy with an old name of at least 4 characters
    """

    records: int
    other: int
    left: int

    def holds(self, done: Replaced, pseudonyms: Pseudonyms) -> bool:
        """Whether all numbers are equal, and only names that were not changed on purpose remain."""
        kept = done.in_kept if pseudonyms.keeps else 0
        return not self.other and self.left <= done.by_chance + kept


def proof(file: SmfFile, copy: SmfFile, pseudonyms: Pseudonyms, shift_days: int = 0) -> Proof:
    """Compare a file with its copy, number by number, and search the copy for old names.

    shift_days  number of days by which times were shifted
    """
    same = other = 0
    for first, second in zip_longest(
        file.chunks(_ignored_damage()), copy.input.chunks(_ignored_damage())
    ):
        if first is None or second is None or not np.array_equal(first.length, second.length):
            return Proof(same, other + 1, _old_names(copy.path, pseudonyms))
        equal = _are_equal(first, second, shift_days)
        same += int(equal.sum())
        other += int((~equal).sum())
    return Proof(same, other, _old_names(copy.path, pseudonyms))


def _ignored_damage() -> DamageLog:
    """Return a log without entries, for damage that was already reported."""
    return DamageLog(keep=0)


def _are_equal(first: Chunk, second: Chunk, shift_days: int) -> Bools:
    """Return which records have the same numbers in both chunks."""
    low, high = int(first.start.min()), int((first.start + first.length).max())
    shift = int(second.start[0]) - int(first.start[0])
    named, ours = Named(first), first.buffer.copy()
    shift_times(ours, named, shift_days)
    at = np.flatnonzero(ours[low:high] != second.buffer[low + shift : high + shift]) + low
    wrong, _ = named.owner(at[named.are_numbers(at)])
    equal: Bools = np.ones(first.start.size, np.bool_)
    equal[wrong] = False
    return equal


def _old_names(path: Place, pseudonyms: Pseudonyms) -> int:
    """Return the number of old names in a file, at any position."""
    finder, count, held = Finder(pseudonyms.replaced()), 0, 0
    buffer: Bytes = np.zeros(_AT_ONCE + _OVERLAP, np.uint8)
    with unpacked(path) as data:
        while added := data.fill(buffer.data[held:]):
            end = held + added
            border = end - _OVERLAP if end == buffer.size else end
            for at, _ in finder.found(buffer, 0, end):
                count += int((at < border).sum())
            held = end - border
            buffer[:held] = buffer[border:end]
    return count
