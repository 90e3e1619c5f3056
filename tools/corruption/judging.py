"""What must be true of a damaged file, whatever was done to it.

sound      a file in which nothing is wrong any more is read as what it is, without damage
there      a record whose bytes are untouched is there, with its values
reported   one whose header is left is there, or damage is reported where it is
accounted  every byte is in one record, frames one, or is reported
true       a row shows what is in the file where it says
fast       the processor is busy for a time that the bytes are worth

Some cannot be known from the bytes that are left, and are not asked for. They are named where they
are left out: see `_is_inside` and `_is_loose`.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import NamedTuple

from corruption.cases import Case, Manner
from corruption.coverage import extent, framing_only
from corruption.framings import PREFIX, Placed
from corruption.reading import Reading, Row
from corruption.samples import HEADER, RDW, implied, recognised, triplets_end
from smfparse.errors import Damage
from tests.support.variants import Found, block_length, read_at

_LINE_ENDS = (b"\r\n", b"\n")
"""They are reported once where the first one is."""
_NOTHING = (b"\0\4\0\0", b"\0\4\x80\0")
"""RDWs of segments without data."""


class Finding(NamedTuple):
    """Something that must not be; `what` groups findings, `detail` is of this one."""

    what: str
    detail: str


class Left(NamedTuple):
    """A record of which something is left: where it starts now, with all that frames it.

    whole  whether all of its bytes are untouched; else its header is
    """

    placed: Placed
    start: int
    whole: bool

    @property
    def behind(self) -> int:
        """Where it ends, with all that frames it, if it is as long as it was."""
        return self.start + self.placed.end - self.placed.start

    def __str__(self) -> str:
        return f"type {self.placed.sample.body[1]} at {self.start}"


class Judge:
    """Judges what was read of one case."""

    def __init__(self, case: Case, manner: Manner, reading: Reading) -> None:
        self._case, self._manner, self._reading = case, manner, reading
        self._data = bytes(case.rope.data)
        self._rows = {each.offset: each for each in reading.rows}
        self.left = [] if case.many else list(_left(case))

    def findings(self) -> Iterator[Finding]:
        """Yield what must not be."""
        failed = self._reading.failed
        if failed:
            yield Finding(f"fails: {failed.partition(':')[0]}", failed)
        elif not self._case.many:
            sound = strictly(self._case.framing, self._data)
            begins = self._case.rope.places(each.start for each in self._case.records)
            if sound and {*itertools.chain(*begins.values())} <= {at for at, _ in sound}:
                yield from self._as_sound(sound)
                return
            yield from self._not_there()
            if not self._reading.refused:
                yield from self._not_reported()
                yield from self._not_accounted()
                yield from self._not_true()

    def _as_sound(self, sound: Found) -> Iterator[Finding]:
        if self._reading.refused:
            yield Finding("a sound file is refused", self._reading.refused)
            return
        found = [(each.offset, each.length - RDW) for each in self._reading.rows]
        if found != [(at, len(body)) for at, body in sound]:
            yield Finding("a sound file is read as another one", f"{len(found)} of {len(sound)}")
        for damage in self._reading.damage[:1]:
            yield Finding("a sound file is said to be damaged", damage.reason)

    def _not_there(self) -> Iterator[Finding]:
        """Yield untouched records that are not there, or with other values."""
        firm = [each for each in self._firm if not self._is_inside(each)]
        shows = bool(self._manner.framing) or len(firm) > 1  # one record shows no framing
        if self._reading.refused:
            if firm and shows:
                yield Finding("an untouched record, but the file is refused", str(firm[0]))
            return
        mistaken = not shows and self._reading.framing != self._case.framing
        for each in firm:
            place = self._head(each) if mistaken else each.start
            row = self._rows.get(place)
            if row is None or not self._is_as_long(row, each, mistaken):
                is_reported = self._is_reported(each)
                if not (mistaken and is_reported):
                    what = "is gone" if row is None else "has another length"
                    how = "but reported" if is_reported else "in silence"
                    yield Finding(f"an untouched record {what}, {how}", str(each))
            elif wrong := self._wrong_values(each, place):
                yield Finding("an untouched record has other values", f"{each}: {wrong}")

    def _is_as_long(self, row: Row, each: Left, mistaken: bool) -> bool:
        length = len(each.placed.sample.body) + RDW
        framing = self._framing if mistaken else self._case.framing
        if framing == "none" and not each.placed.sample.exact:
            return row.length >= length  # its end is where the next record starts
        return row.length == length

    def _wrong_values(self, each: Left, place: int) -> str:
        if self._manner.tables == "none" or not each.placed.sample.values:
            return ""
        table, column, numbers = each.placed.sample.values
        found = tuple(value for at, value in self._reading.values.get(table, []) if at == place)
        return "" if found == numbers else f"{table}.{column} is {found}, not {numbers}"

    def _not_reported(self) -> Iterator[Finding]:
        """Yield records whose header is left, but that are neither there nor reported."""
        for each in self.left:
            if each.whole or self._is_inside(each):
                continue
            if not self._is_row(each) and not self._is_reported(each):
                yield Finding("a damaged record is gone in silence", str(each))

    def _is_row(self, each: Left) -> bool:
        """Whether a row starts where a record does, or has its header.

        In another framing than the file had, for one, what is in front of the header is not of the
        record: a file of one record without its first length is one of framing `none`.
        """
        near = range(each.start - 1, each.start + 2)
        return any(at in self._rows for at in (*near, self._head(each)))

    @property
    def _framing(self) -> str:
        return self._reading.framing or self._case.framing

    def _head(self, each: Left) -> int:
        """Return where the row of a record starts, in the framing that the file was read as."""
        return each.start + each.placed.head[0] - each.placed.start - PREFIX[self._framing]

    def _is_reported(self, left: Left) -> bool:
        end = min(left.behind, len(self._data))
        start = self._from(left.start)
        return any(
            each.offset <= end and (each.length is None or each.offset + each.length >= start)
            for each in self._reading.damage
        )

    def _from(self, start: int) -> int:
        """Return where what leads to a record starts: a block descriptor word may be in front."""
        return start - RDW if self._is_word(start - RDW) else start

    def _is_word(self, at: int) -> bool:
        word = self._data[max(at, 0) : max(at + RDW, 0)]
        return self._case.framing == "bdw" and block_length(word) > 0

    def _is_inside(self, each: Left) -> bool:
        """Whether a record stands inside of another one whose frame is as it was.

        Such is what a record may have in it, however strange: nobody can know better. Nor does
        anybody where the header of the outer one was hit, and makes it one of another product, or
        leaves it as long as it says: its frame leads on. Or where it is read as long as it says.
        """
        read = (self._rows[at] for at, size in self._shown.items() if size and at < each.start)
        spans = (extent(self._framing, self._data, row) for row in read)
        if any(span and each.behind <= span[1] for span in spans):
            return True
        return any(
            other.start < each.start < other.behind
            and (other in self._turned or self._frames(other))
            and (
                not each.whole
                or other.behind == len(self._data)
                or self._starts(other.behind)
                or self._tells(other)
            )
            for other in [*self.left, *self._turned]
        )

    def _tells(self, each: Left) -> bool:
        """Whether what is in a record says how long it is, as it did."""
        sample, size = each.placed.sample, each.placed.head[0] - each.placed.start
        stated = implied(self._data[each.start + size :])
        return sample.exact and each.placed.pieces == 1 and stated == len(sample.body)

    @cached_property
    def _turned(self) -> list[Left]:
        """Records in one frame, which is untouched, that have another header by now.

        They are of another product, or what is in them still says how long they are.
        """
        origin, found = self._case.rope.origin, []
        starts = self._case.rope.places(each.start for each in self._case.records)
        for placed in self._case.records:
            size = placed.head[0] - placed.start
            for at in starts.get(placed.start, []) if placed.pieces == 1 else []:
                each, body = Left(placed, at, whole=False), self._data[at + size :]
                is_framed = [*origin[at : at + size]] == [*range(placed.start, placed.head[0])]
                is_other = bool(size) and not implied(body)
                if is_framed and recognised(body) and (is_other or self._tells(each)):
                    found.append(each)
        return found

    def _frames(self, each: Left) -> bool:
        """Whether what says how long a record is, in front of it or in it, is as it was.

        Bytes from elsewhere that are the same as those that were there make no difference.
        """
        start, end = each.placed.start, each.placed.head[1]
        if self._case.framing == "none":
            end = start + triplets_end(each.placed.sample.body)
        here = slice(each.start, each.start + end - start)
        if end <= len(self._case.sound) and self._data[here] == self._case.sound[start:end]:
            return True
        origin = self._case.rope.origin[here]
        return len(origin) == end - start and bool((origin == range(start, end)).all())

    def _starts(self, at: int) -> bool:
        """Whether a record starts at a place, perhaps behind a line end or descriptor word."""
        return any(each.start in self._over(at) for each in self.left)

    def _over(self, at: int) -> list[int]:
        """Return where a record may start that follows what ends at a place.

        Line ends may be between, descriptor words, and segments of nothing.
        """
        ends = [at + len(each) for each in _LINE_ENDS if self._data.startswith(each, at)]
        nothing = self._data.startswith(_NOTHING, at) and self._case.framing == "rdw"
        return [at, *ends, *([at + RDW] if nothing or self._is_word(at) else [])]

    @cached_property
    def _firm(self) -> list[Left]:
        """Whole records that something shows to be records, in the order of the file."""
        firm: list[Left] = []
        for each in self.left:
            if each.whole and not self._is_loose(each, {other.behind for other in firm}):
                firm.append(each)
        return firm

    def _is_loose(self, each: Left, ends: set[int]) -> bool:
        """Whether a record of another product stands alone: nothing shows that it is one.

        It does not say how long it is, and neither does a record follow, nor the end of the file.
        So is any record in pieces, as what is in one piece of it is not as long as it says. If even
        its header is in pieces, it has to be behind another record. Nor is it known what ends where
        the last bytes may just as well be the first ones of another record.

        ends  where records end that are in front of it
        """
        start, end = each.placed.head
        before = {each.start, self._from(each.start)}
        if start == end and each.start and not ends & before:
            return True
        others = {other.start for other in self.left} | {*self._shown}
        if any(at in others for at in range(each.behind - RDW + 1, each.behind)):
            return True
        if each.behind == len(self._data):
            return False
        if each.placed.sample.exact and each.placed.pieces == 1:
            return False
        is_behind = not each.start or any(each.start in self._over(end) for end in ends)
        followers = self._over(each.behind) if is_behind else [each.behind]
        return not any(
            other.whole and other.start in followers and other.placed.head[0] < other.placed.head[1]
            for other in self.left
        )

    @cached_property
    def _shown(self) -> dict[int, int]:
        """Where rows start that have a header, and are as long as what is in them says, if it does.

        And how long that is.
        """
        bodies = {at: self._data[at + PREFIX[self._framing] :] for at in self._rows}
        stated = {at: implied(body) for at, body in bodies.items() if recognised(body)}
        return {at: size for at, size in stated.items() if size in (0, self._rows[at].length - RDW)}

    def _not_accounted(self) -> Iterator[Finding]:
        """Yield bytes that are in two records, or in none and not reported."""
        framing, damage = self._framing, self._reading.damage
        spans = [extent(framing, self._data, each) for each in self._reading.rows]
        rows = [each for each in spans if each]
        if len(rows) < len(spans):
            return
        reported = [(each.offset, self._reported_up_to(each)) for each in damage]
        for (start, end), (later, _) in itertools.pairwise(rows):
            if later < end:
                yield Finding("bytes are in two records", f"{later} in {start} to {end}")
        in_lines = any("line end" in each.reason for each in damage)
        for start, end in _uncovered(sorted([*rows, *reported]), len(self._data)):
            gap = self._data[start:end]
            line = _line_end(gap) if in_lines else 0
            starts = [start + line, *range(start, max(start - RDW, -1), -1)]  # some may be reported
            if not any(framing_only(framing, self._data[each:end]) for each in starts):
                yield Finding("bytes are in no record and not reported", f"{start} to {end}")
                return

    def _reported_up_to(self, damage: Damage) -> int:
        """Return where reported bytes end; of line ends, the first: others are behind records."""
        if damage.length is None:
            return len(self._data)
        if "line ends," in damage.reason:
            return damage.offset + _line_end(self._data[damage.offset :])
        return damage.offset + damage.length

    def _not_true(self) -> Iterator[Finding]:
        """Yield rows that show what is not in the file."""
        framing, is_escaped = self._framing, self._framing == "ftp-record"
        for row in self._reading.rows:
            head = self._data[row.offset + PREFIX[framing] :][:HEADER]
            head = head.replace(b"\xff\xff", b"\xff") if is_escaped else head
            span = extent(framing, self._data, row)
            size = row.length - RDW + PREFIX[framing]
            in_pieces = span is None or (not is_escaped and span[1] - span[0] != size)
            if head[:2] != bytes((row.flags, row.type)) and not in_pieces:
                yield Finding("a row shows what is not there", f"{row}")


def _left(case: Case) -> Iterator[Left]:
    """Yield the records of which all, or the header, is untouched, in the order of the file."""
    behind = case.rope.whole() if len(case.rope) else ()
    heads = case.rope.places(each.head[0] for each in case.records)
    starts = case.rope.places(each.start for each in case.records)
    found: list[Left] = []
    for placed in case.records:
        size, (start, end) = placed.end - placed.start, placed.head
        whole = {at for at in starts.get(placed.start, []) if behind[at] - at >= size}
        firsts = heads.get(start, []) if end > start else []
        hit = {at - start + placed.start for at in firsts if behind[at] - at >= end - start} - whole
        found += [Left(placed, at, True) for at in whole] + [Left(placed, at, False) for at in hit]
    yield from sorted(found, key=lambda each: each.start)


def _line_end(data: bytes) -> int:
    return next((len(each) for each in _LINE_ENDS if data.startswith(each)), 0)


def strictly(framing: str, data: bytes) -> Found | None:
    """Return the records of a file, and where they start; None if anything in it is wrong.

    So is a record of MQ that is not as long as what is in it says.
    """
    try:
        found = _by_triplets(data) if framing == "none" else read_at(framing, data)
    except ValueError:
        return None
    sound = all(recognised(body) and implied(body) in (0, len(body)) for _, body in found)
    return found if sound else None


def _by_triplets(data: bytes) -> Found:
    found, at = [], 0
    while at < len(data):
        length = implied(data[at:])
        if not HEADER <= length <= len(data) - at:
            raise ValueError(f"no record at {at}")
        found.append((at, data[at : at + length]))
        at += length
    return found


def _uncovered(spans: Iterable[tuple[int, int]], size: int) -> Iterator[tuple[int, int]]:
    at = 0
    for start, end in spans:
        if start > at:
            yield at, start
        at = max(at, end)
    if at < size:
        yield at, size
