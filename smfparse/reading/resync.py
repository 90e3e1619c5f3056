"""The search for the next record after damage; each gap is noted once, with its reason.

Reasons are the texts in the table `damage`. A run is the `Segments` that one walk found.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from smfparse.reading.chunks import Losses, Window
from smfparse.reading.evidence import Heads, are_heads, hides_record, holds_records, next_record
from smfparse.reading.headers import SMF_HEADER, implied_length
from smfparse.reading.overlong import first_overlong
from smfparse.reading.segments import (
    ALL,
    FIRST,
    RDW_SIZE,
    Segments,
    Walk,
    last_begun,
    last_record,
    line_end,
)
from smfparse.vectors import Bools, Bytes

NO_TIME = "the SMF header has no time or date; the record is skipped"
NO_RECORD = "no SMF record starts here"
ZEROS = "zero bytes where a record should start"
WRONG_LENGTH = "the record that starts here has a length that leads to no other record"
NO_BLOCK = "a block descriptor word with a wrong block length"
COVERS_NEXT = "the length of this record covers the next record too; the two are separated"
HIDDEN = "a record may start here, inside a record with a damaged header or damaged triplets"
ESCAPED = (
    "the record may contain escapes of FTP record structure, which shift its bytes; "
    "use --framing ftp-record or --framing none"
)
NO_MARK = "a record starts here, but the previous record has no end mark"
LINE_END = "a line end after a record, as added by a transfer in text mode"
LINE_ENDS = "line ends, one after each record, as added by a transfer in text mode"
CUT_RECORD = (
    "the file is truncated in this record, or its triplets are damaged: they point beyond the end"
)


def cut_before_end(size: int) -> str:
    """Return the reason for the bytes of a record that ends after the end of the file."""
    return f"the file is truncated: only {size} bytes of its last record are left"


def cut_in_block(size: int) -> str:
    """Return the reason for a block of which `size` bytes are missing at the end of the file."""
    return f"the file is truncated: {size} bytes of its last block are missing"


def seen_in(buffer: Bytes, start: int, end: int) -> str:
    """Return the reason why buffer[start:end] is outside records, by its contents."""
    if start == end:
        return NO_MARK
    if not buffer[start:end].any():
        return ZEROS
    if end - start == line_end(buffer, start, end):
        return LINE_END
    return NO_RECORD


_TAIL = 4 * RDW_SIZE + SMF_HEADER
"""Number of bytes at the end of the buffer that are searched again when more data is available."""
_FEW, _MORE = 1 << 9, 4
"""Number of bytes of the first walk after damage, and its growth factor for each next walk that
finds no damage.
"""
_NOTHING = np.zeros(0, np.int64)


@dataclass
class Gap:
    """Skipped bytes between two records of a source, or after its last record.

    start    offset of the first skipped byte in the source
    zero     whether all skipped bytes are zero
    cut      whether the skipped bytes may be the rest of a truncated record, because no damage
             before `start` is known
    headed   whether the skipped bytes start with an SMF header, as a record does
    foreign  whether the skipped bytes start before this range: the reader of the previous range
             notes them
    """

    start: int
    zero: bool = False
    cut: bool = False
    headed: bool = False
    foreign: bool = False

    def reason(self, size: int, sure: bool, seen: str) -> str:
        """Return the reason why the `size` bytes are skipped.

        sure  whether a record follows the gap; otherwise the file ends
        seen  the reason that `seen_in` gives for the bytes of the gap
        """
        if self.zero:
            return ZEROS
        if self.headed and sure:
            return WRONG_LENGTH
        if self.cut and not sure and seen != LINE_END:
            return cut_before_end(size)
        return seen


class Tracker:
    """Calls a walk for the data of a window, notes damage, and continues after the damage.

    gap  the gap that has not ended yet; None: a record is expected at the start of the window
    """

    def __init__(self, walk: Walk, window: Window, losses: Losses, gap: Gap | None) -> None:
        self.gap = gap
        self._walk = walk
        self._window = window
        self._losses = losses
        self._heads = Heads(window.buffer)

    def follow(self, end: int, last: bool, stuck: bool) -> Segments:
        """Return the segments up to `end` of the buffer; continue after damage.

        stuck  whether the data at the start of the window is longer than the buffer, so that it is
               not a record

        If the last segments are not certain, they are omitted, and read again when the buffer
        contains more data.
        """
        self._heads = Heads(self._window.buffer)
        if not self._walk.chained:
            return self._recognised(end, last or stuck)
        at, runs, most = self._after_gap(end, last), list[Segments](), ALL
        while self.gap is None:
            stop = min(end, at + most)
            walked, apart = _segments_to(self._walk, self._window.buffer, at, stop, end, last)
            found = self._accepted(walked, apart, end, last)
            if found is None:
                most *= _MORE
                continue
            run, sure = found
            if sure or (run.end < end and not run.broken and at + most < end):
                runs.append(run)
                at, most = run.end, _FEW if sure else most * _MORE
                continue
            if not run.broken and not stuck and (not last or run.end == end):
                run = run if last else _confirmed(self._walk, self._window, run, end)
                runs.append(run)
                at = run.end
                _note_cut(self._window, self._losses, at, walked, cut_in_block(walked.short))
                break
            run, at = _with_previous(runs, run, at)
            run, place = self._after_damage(
                run, at, end, last, walked.end if walked.broken else None
            )
            runs.append(run)
            at = run.end if place is None else place
            if place is None:
                break
            stuck, most = False, _FEW
        return _joined(runs, at)

    def _after_gap(self, end: int, last: bool) -> int:
        """Return where a walk can start after the gap, if any; note the gap if it ends there."""
        start = self._window.low
        if self.gap is None:
            return start
        place, sure = _next(self._walk, self._window, self._heads, start, end, last)
        self._skip(self.gap, start, place, sure, last)
        return place

    def _recognised(self, end: int, last: bool) -> Segments:
        buffer, low = self._window.buffer, self._window.low
        plain = buffer[:end].copy()  # a walk may move bytes
        run = self._walk.segments(buffer, low, end, last)
        good, stop = are_heads(buffer, run), end if last else run.end
        for place, size in _in_no_record(run, good, stop):
            if self.gap is None or place > low:
                self._losses.note(place, size, seen_in(plain, place, place + size))
        good &= ~_shifted(self._walk, self._losses, buffer, run, (low, end, last))
        if good[-1:].any():
            _note_cut(self._window, self._losses, int(run.place[-1]), run, CUT_RECORD)
        self.gap = None if good.any() else self.gap
        return replace(run.where(good), end=stop)

    def _accepted(
        self, run: Segments, apart: bool, end: int, last: bool
    ) -> tuple[Segments, bool] | None:
        """Return the segments of records that start correctly, and if a covered record follows.

        apart  whether a walk can continue after `run`

        Return None if the run has no damage but is not `apart`: a longer walk is required.
        """
        walk, buffer = self._walk, self._window.buffer
        good = are_heads(buffer, run)
        over, hidden = first_overlong(walk, self._heads, run, good, end, last)
        run = over.parted(run) if over else run
        found, wrong = _without_wrong(walk, self._heads, run, good[: run.code.size])
        if not (apart or over or found.broken):
            return None
        for place, size in wrong:
            self._losses.note(place, size, NO_TIME)
        self._losses.note_once([each for each in hidden if each < found.end], HIDDEN)
        _note_gaps(self._window, self._losses, found)
        if over is None or found.broken:
            return found, False
        return _without_covering(self._losses, found, over.is_whole(run)), True

    def _after_damage(
        self, run: Segments, at: int, end: int, last: bool, wrong: int | None
    ) -> tuple[Segments, int | None]:
        """Return the certain segments of a run, and the start of the next record.

        at     start of the run, which ends at damage
        wrong  place where the walk found damage; None: it found none

        The length of the last record of the run may be wrong. The record is dropped if another
        record begins in it, or if its contents imply a longer record. If more data is required to
        decide, the segments end before the last record, and the start is None.
        """
        walk, window, heads = self._walk, self._window, self._heads
        head, count = last_begun(run.code)
        behind = run.end if count == len(run.code) else int(run.place[count])
        ended = int(run.at[count - 1] + run.length[count - 1]) if count else at
        begin = int(run.place[head]) if count else at
        place, sure = _next(walk, window, heads, begin + 1, end, last)
        if place == wrong and sure:
            place, sure = _next(walk, window, heads, place + 1, end, last)
        if place < behind <= place + RDW_SIZE:  # the words at `place` may end the last record
            later = _next(walk, window, heads, behind, end, last)
            place, sure = later if later[0] <= place + RDW_SIZE else (place, sure)
        if not sure and not last and window.low < begin < place < behind:
            return walk.in_front(heads.buffer, run, head, window.low), None
        dropped = (sure and place < ended) or _is_cut(heads.buffer, run, head, count)
        behind = ended if sure and place < behind else behind
        place = place if sure else max(place, behind)
        start = begin if dropped else behind
        self.gap = Gap(
            window.offset(start),
            zero=True,
            cut=start == run.end and not run.broken,
            headed=walk.begins(heads.buffer, start, end),
        )
        self._skip(self.gap, start, place, sure, last)
        gaps = [*(gap for gap in run.gaps if gap[0] < start), (start, max(place - start, 0))]
        return replace(run.where(slice(head if dropped else count)), gaps=gaps), place

    def _skip(self, gap: Gap, start: int, place: int, sure: bool, last: bool) -> None:
        """Add buffer[start:place] to the gap; note the gap if it ends at `place`."""
        buffer = self._window.buffer
        gap.zero = gap.zero and not buffer[start:place].any()
        if not sure and not last:
            return
        size = self._window.offset(place) - gap.start
        if size and not gap.foreign:
            whole = gap.start == self._window.offset(start)
            seen = seen_in(buffer, start, place) if whole else NO_RECORD
            why = gap.reason(size, sure, seen)
            self._losses.note_at(gap.start, size, why)
        gap.foreign = False
        if sure:
            self.gap = None


def _in_no_record(run: Segments, good: Bools, end: int) -> list[tuple[int, int]]:
    """Return place and size of the bytes outside records up to `end`.

    good  bool (segments,): whether the segment is a record
    """
    rest = [(run.end, end - run.end)] if run.end < end else []
    return sorted([*run.gaps, *run.sizes(~good), *rest])


def _shifted(
    walk: Walk, losses: Losses, buffer: Bytes, run: Segments, where: tuple[int, int, bool]
) -> Bools:
    """Return the segments whose bytes FTP escapes may have shifted; note them as damage.

    where  start and end of the data in the buffer, and whether the file ends there
    """
    found = walk.are_shifted(buffer, run, *where)
    for place, size in run.sizes(found):
        losses.note(place, size, ESCAPED)
    return found


def _segments_to(
    walk: Walk, buffer: Bytes, at: int, stop: int, end: int, last: bool
) -> tuple[Segments, bool]:
    """Return the segments up to `stop`, and whether the next walk can continue after them.

    Segments that the next walk must read again are omitted. If these are all, none is omitted.
    """
    run = walk.segments(buffer, at, stop, last and stop == end)
    if stop == end or run.broken:
        return run, True
    count = walk.rest(run)
    return (walk.in_front(buffer, run, count, at), True) if count else (run, False)


def _note_cut(window: Window, losses: Losses, place: int, run: Segments, reason: str) -> None:
    """Note `reason` if the last block or record of a run is longer than the rest of the file."""
    if run.short and window.ends_with_source:
        losses.note(place, 0, reason)


def _confirmed(walk: Walk, window: Window, run: Segments, end: int) -> Segments:
    """Return the segments, without the last record if no header follows it.

    The length of the last record may be wrong; more data shows if it is. If the last record is the
    first of a block, the run ends before the block descriptor word, so that a part can end there.
    """
    head, count = last_record(run.code)
    if count < len(run.code) or not count or run.place[head] == window.low:
        return run
    if walk.begins(window.buffer, run.end, end):
        return run
    return walk.in_front(window.buffer, run, head, window.low)


def _next(
    walk: Walk, window: Window, heads: Heads, low: int, end: int, last: bool
) -> tuple[int, bool]:
    """Return the start of the next record, and whether it is certain.

    If no record is found, return the place where the search must continue, and False.
    """
    place, sure = next_record(walk, heads, low, end, last)
    if place is None:
        return (end if last else max(low, end - _TAIL)), False
    return place, sure or (place == window.low and end - place >= window.capacity)


def _with_previous(runs: list[Segments], run: Segments, at: int) -> tuple[Segments, int]:
    """Return a run and its start, where `at` is the start of the given run.

    If the run has no complete record, the last record in `runs` is moved to its front.
    """
    head, count = last_record(runs[-1].code) if runs else (0, 0)
    if not count or last_record(run.code)[1] or runs[-1].end != at:
        return run, at
    before = runs.pop()
    runs.append(before.where(slice(head)))
    both = _joined([replace(before.where(slice(head, None)), gaps=()), run], run.end)
    return replace(both, broken=run.broken, short=run.short), int(before.place[head])


def _without_covering(losses: Losses, run: Segments, is_whole: bool) -> Segments:
    """Note that the last record of a run covers the next; omit that record unless `is_whole`."""
    head, _ = last_record(run.code)
    place = int(run.place[head])
    if is_whole:
        losses.note(place, 0, COVERS_NEXT)
        return run
    gap = (place, run.end - place)
    losses.note(*gap, WRONG_LENGTH)
    return replace(run.where(slice(head)), gaps=[*run.gaps, gap])


def _note_gaps(window: Window, losses: Losses, run: Segments) -> None:
    """Note bytes between segments; consecutive line ends of the same size are noted once."""
    seen = (gap for gap in run.gaps if gap[0] < run.end)
    gaps = [gap for gap in seen if window.owns(window.offset(gap[0]))]
    for size, found in itertools.groupby(gaps, key=lambda gap: gap[1]):
        places = [place for place, _ in found]
        if size == RDW_SIZE:
            for place in places:
                losses.note(place, size, NO_BLOCK)
        elif len(places) == 1:
            losses.note(places[0], size, LINE_END)
        else:
            losses.note(places[0], size * len(places), f"{len(places)} {LINE_ENDS}")


def _without_wrong(
    walk: Walk, heads: Heads, run: Segments, good: Bools
) -> tuple[Segments, list[tuple[int, int]]]:
    """Return the segments of records that start correctly; place and size of each other record.

    good  bool (segments,): whether the segment can start a record

    A record that starts wrongly is skipped if a complete and correct record follows in the chain.
    Otherwise, or if it may be a block, the run ends before it.
    """
    starting = run.code <= FIRST
    bad = starting & ~good
    if not bad.any():
        return run, []
    hides = next(_hiding(walk, heads, run, bad), len(good))
    whole = np.flatnonzero(good[: min(hides, last_record(run.code)[0] + 1)])
    last = int(whole[-1]) if whole.size else -1
    behind = np.flatnonzero(bad[last + 1 :])
    if behind.size:
        index = last + 1 + int(behind[0])
        run = replace(run.where(slice(index)), end=int(run.place[index]), broken=True)
        starting, bad = starting[:index], bad[:index]
    starts = np.append(np.flatnonzero(starting), len(starting))
    sizes = run.range_of(starts[:-1], starts[1:])
    wrong = [
        (int(run.place[index]), size)
        for index, size in zip(starts.tolist(), sizes.tolist(), strict=False)
        if bad[index]
    ]
    owner = np.maximum.accumulate(np.where(starting, np.arange(len(starting)), 0))
    return run.where(~bad[owner]), wrong


def _hiding(walk: Walk, heads: Heads, run: Segments, bad: Bools) -> Iterator[int]:
    """Yield indexes of `bad` segments that are a block, or whose record contains other records."""
    blocks = holds_records(heads.buffer, run.at, run.length)
    starts = np.flatnonzero(run.code <= FIRST)
    behind = np.append(run.place[starts[1:]], run.end)
    for index, end in zip(starts[bad[starts]].tolist(), behind[bad[starts]].tolist(), strict=True):
        place = int(run.place[index])
        is_block = blocks[index] or walk.hides_block(heads.buffer, place)
        if is_block or hides_record(walk, heads, place, end, run.end):
            yield index


def _is_cut(buffer: Bytes, run: Segments, head: int, count: int) -> bool:
    """Whether a record is one segment, and shorter than its contents imply."""
    if count - head != 1:
        return False
    return bool(implied_length(buffer, run.at[head:count])[0] > run.length[head])


def _joined(runs: list[Segments], end: int) -> Segments:
    if len(runs) == 1:
        return replace(runs[0], end=end)
    return Segments(
        np.concatenate([_NOTHING, *(each.at for each in runs)]),
        np.concatenate([_NOTHING, *(each.length for each in runs)]),
        np.concatenate([_NOTHING.astype(np.uint8), *(each.code for each in runs)]),
        np.concatenate([_NOTHING, *(each.place for each in runs)]),
        end,
        gaps=[gap for each in runs for gap in each.gaps],
    )
