"""The report smf-volume in another way: plain Python, every record on its own, then added.

It is written from IBM's definitions of the fields and from what docs/reports.md promises, not from
the SQL. It has found a fault that no golden shows: a total of records, some of which have none.
"""

from __future__ import annotations

import datetime as dt
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from statistics import median
from types import SimpleNamespace as Record
from typing import Any, TypeAlias

import polars as pl

from smfparse.reports import Sections
from tests.support.oracle import counted

Row: TypeAlias = dict[str, Any]
Lines: TypeAlias = tuple[str, Sequence[str], Mapping[tuple[Any, ...], Row]]
"""A kind of line, the columns that tell its rows apart, and its rows by section and these."""
CALL_US, RECORD_US, RECORD_US_AT_WORST = 0.5, 4.0, 36.0
"""What class 3 costs, by the performance report of MQ 9.3: a call, and a record."""
SHORTEST = 0.9
"""Seconds: the shortest setting is one, so what is shorter is no whole interval."""
SECOND, HOUR = dt.timedelta(seconds=1), dt.timedelta(hours=1)
MB, GB, DAY = 1048576, 1073741824, 86400
CALLS = {
    "wqst": ("openn", "closen", "getn", "putn", "put1n", "inqn", "setn", "cbn"),
    "wtas": [f"wtas{two}n" for two in ("cm", "ba", "pr", "su", "sq", "ct", "st", "ot")],
}
SETTINGS = {"class 3 long-running": "ACCTIME", "class 4": "ACCTIME", "statistics": "STATIME"}
SHORT, LONG = CLASS_3 = ("class 3 short-lived", "class 3 long-running")
KINDS = {0: "class 1", 10: "class 4"}
TOD_EPOCH = 2_208_988_800_000_000
"""Microseconds from 1900, where the TOD clock starts, to 1970."""


def added(values: Iterable[float | None]) -> float | None:
    """Return the sum of the known values; None if none is known."""
    there = [each for each in values if each is not None]
    return sum(there) if there else None


def divided(above: float | None, below: float | None) -> float | None:
    return None if above is None or not below else above / below


def times(one: float | None, other: float | None) -> float | None:
    return None if one is None or other is None else one * other


def alike(values: Iterable[float | None]) -> float | None:
    there = {each for each in values if each is not None}
    return there.pop() if len(there) == 1 else None


def grouped(records: Iterable[Record], by: Callable[[Record], Hashable]) -> dict[Any, list[Record]]:
    found: dict[Any, list[Record]] = defaultdict(list)
    for each in records:
        found[by(each)].append(each)
    return found


def seconds_of(text: str | None) -> int | None:
    """Return the seconds of a setting in MMMM.SS; -1 and 0 are themselves."""
    if text in (None, "-1", "0"):
        return None if text is None else int(text)
    minutes, _, rest = str(text).partition(".")
    return 60 * int(minutes) + int(rest or 0)


def smf_volume(
    frames: Mapping[str, pl.DataFrame],
    sections: Sections,
    of_queues: bool,
    by: Sequence[str] = ("qmgr",),
    acctime: str | None = None,
    statime: str | None = None,
    smf_interval: str | None = None,
) -> Iterator[Lines]:
    """Yield records by type, what other intervals would make, and what class 3 costs.

    of_queues  whether there are the calls on some queues only, and so not all that tasks did
    """
    smf = seconds_of(smf_interval)
    asked = {"ACCTIME": seconds_of(acctime), "STATIME": seconds_of(statime)}
    asked = {name: smf if value == 0 else value for name, value in asked.items()}
    records = list(_records(frames, sections))
    _time(records)
    for each in records:
        _rate(each, asked, by)
    length = {
        section: sum(each.length for each in mine)
        for section, mine in grouped(records, lambda each: each.section).items()
    }

    def lines(
        line: str,
        names: Sequence[str],
        figures: Callable[[list[Record]], Row],
        some: Sequence[Record] = records,
    ) -> Lines:
        rows = grouped(some, lambda each: (each.section, *(getattr(each, name) for name in names)))
        return line, names, {key: figures(mine) for key, mine in rows.items()}

    def of_type(mine: list[Record]) -> Row:
        found = _volume(mine, "over")
        return found | {"share": 100 * found["bytes"] / length[mine[0].section]}

    class_3 = [each for each in records if each.kind in CLASS_3]
    whole = [Record(**{**vars(each), "kind": "total", "setting": None}) for each in records]
    longer = [*(name for name in by if name != "hour"), "kind"]
    yield lines("type", [*by, "type", "subtype"], of_type)
    yield lines("projection", longer, _projection, [*records, *whole])
    yield lines("cost", by, _cost, [] if of_queues else class_3)


# --- records ------------------------------------------------------------------------------------


def _place(row: Row) -> tuple[str, int]:
    return row["source"], row["record_no"]


def _rows(frames: Mapping[str, pl.DataFrame], table: str, first: bool = True) -> list[Row]:
    """Return the rows of a table, of blocks of a kind the first ones of records."""
    frame = frames[table]
    return (frame.filter(pl.col("block_no") == 1) if first else frame).to_dicts()


def _records(frames: Mapping[str, pl.DataFrame], sections: Sections) -> Iterator[Record]:
    """Yield records with the jobs, tokens and calls of their blocks."""
    jobs = {_place(row): row["qwhccn"] for row in _rows(frames, "qmac")}
    begun = {}
    for row in _rows(frames, "wtid"):
        jobs[_place(row)] = row["wtidccn"]
        begun[_place(row)] = row["source"], row["task_record_no"] or row["record_no"]
    calls: dict[Hashable, int] = defaultdict(int)
    tokens: dict[Hashable, str] = {}
    for table, names in CALLS.items():
        for row in _rows(frames, table, first=False):
            calls[_place(row)] += sum(row[name] or 0 for name in names)
            tokens[_place(row)] = _token(row)
    lives = _lives(_rows(frames, "wtas"))
    for row in _rows(frames, "record", first=False):
        place = _place(row)
        made = Record(**row, job=jobs.get(place), token=tokens.get(place), calls=calls.get(place))
        made.ended, short_lived = lives.get(begun.get(place), (False, False))
        made.kind = "statistics" if row["type"] == 115 else "others"
        if row["type"] == 116:
            made.kind = KINDS.get(row["subtype"], "others")
            if row["subtype"] in (1, 2):
                made.kind = SHORT if short_lived else LONG
        seconds = row["interval_seconds"]
        made.lasted = seconds if seconds and 0 < seconds <= 1e9 else None
        # Records of MQ 7 hold no interval, so they count at their SMF time.
        old = row["type"] == 115 and int((row["mq_version"] or "9").split(".")[0]) < 8
        made.counted = row["smf_time"] if old else counted(row)
        made.section = not sections.seconds or (
            dt.datetime.min
            + (made.counted - dt.datetime.min) // (each := sections.seconds * SECOND) * each
        )
        made.owner = made.section, made.system, made.qmgr
        made.setting = SETTINGS.get(made.kind)
        yield made


def _lives(rows: Sequence[Row]) -> dict[Any, tuple[bool, bool]]:
    """Return whether 116/1 records end their tasks, and whether they have all of their lives."""
    number: dict[Hashable, int] = defaultdict(int)
    earliest: dict[Hashable, dt.datetime] = {}
    for row in rows:
        owner, ended = (row["system"], row["qmgr"]), row["wtasinte"]
        number[*owner, _token(row)] += 1
        if ended is not None:
            earliest[owner] = min(ended, earliest.get(owner, ended))
    found = {}
    for row in rows:
        owner, started = (row["system"], row["qmgr"]), row["wtasstrt"]
        begins = row["wtasints"] and row["wtasints"] - started <= SECOND
        alone = number[*owner, _token(row)] == 1
        young = owner in earliest and started > earliest[owner]
        ended = bool(row["wtasaeot"])
        found[_place(row)] = ended, ended and bool(begins or (alone and young))
    return found


def _token(row: Row) -> str:
    """Return what identifies a task: 16 bytes, of which WTAS has a moment and two numbers."""
    if correl := row.get("correl"):
        return f"{int(correl[:16], 16) >> 12:013X}-{correl[16:24]}-{correl[24:]}"
    zero = dt.datetime.fromtimestamp(0, dt.UTC)
    since = (row["wtasstrt"] - zero) // dt.timedelta(microseconds=1) if row["wtasstrt"] else None
    moment = 0 if since is None else since + TOD_EPOCH
    words = (row[name] % 2**32 for name in ("wtasmthr", "wtaswtas"))
    return "-".join([f"{moment:013X}", *(f"{word:08X}" for word in words)])


# --- time ---------------------------------------------------------------------------------------


def _present(records: Sequence[Record]) -> float | None:
    """Return how long intervals of a kind are: the median, where each counts by its seconds."""

    def stream(each: Record) -> Hashable:
        return each.type, each.subtype, each.token

    ends = grouped((each for each in records if each.interval_start), stream)
    candidates = [each for each in records if each.lasted and each.lasted > SHORTEST]
    following = [
        each
        for each in candidates
        if any(
            other is not each
            and abs(each.interval_start - other.interval_start - _length(other)) <= SECOND
            for other in ends[stream(each)]
        )
    ]
    lengths, up_to = sorted(each.lasted for each in following or candidates), 0.0
    for length in lengths:
        up_to += length
        if 2 * up_to >= sum(lengths):
            return float(length)
    return None


def _length(record: Record) -> dt.timedelta:
    return dt.timedelta(microseconds=round((record.lasted or 0) * 1e6))


def _before_mq_8(records: Sequence[Record]) -> float | None:
    """Return the plain median of the times between statistics that do not show intervals."""
    of_log = [each for each in records if (each.type, each.subtype) == (115, 1)]
    times = sorted(each.smf_time for each in of_log if each.lasted is None)
    apart = [(other - one).total_seconds() for one, other in pairwise(times)]
    return median(apart) if apart else None


def _time(records: Sequence[Record]) -> None:
    """Set what of each queue manager is present and covered."""
    spans = {}
    owned = grouped(records, lambda each: each.owner)
    for owner, mine in owned.items():
        kinds = grouped(mine, lambda each: each.kind)
        long = [each for each in kinds[LONG] if each.subtype == 1 and not each.ended]
        present = {
            "STATIME": _present(kinds["statistics"]) or _before_mq_8(mine),
            "ACCTIME": _present(long) or _present(kinds["class 4"]),
        }
        known = None
        # Records that show no interval are written behind those that do.
        together = grouped(kinds["statistics"], lambda each: each.smf_time)
        for _, some in sorted(together.items()):
            known = next((each.lasted for each in some if each.lasted), known)
            for each in some:
                each.lasted = each.lasted or known
        for each in mine:
            each.present, each.statistics = present.get(each.setting), present["STATIME"]
        spans[owner] = _span(mine)
    for owner, mine in owned.items():
        alike = [span for other, span in spans.items() if other[:2] == owner[:2]]
        found = alike if owner[2] is None else [spans[owner]]
        for each in mine:
            each.first, each.last = min(one for one, _ in found), max(other for _, other in found)


def _span(records: Sequence[Record]) -> tuple[dt.datetime, dt.datetime]:
    """Return when what the records of a queue manager cover began and ended."""
    times = [each.smf_time for each in records]
    began: dict[str, list[dt.datetime]] = defaultdict(list)
    for each in records:
        known = [length for length in (each.lasted, each.present) if length]
        if each.setting and known:
            length = dt.timedelta(microseconds=round(1e6 * min(known)))
            began[each.setting].append(each.smf_time - length)
    return min([*times, *(began["STATIME"] or began["ACCTIME"])]), max(times)


# --- figures ------------------------------------------------------------------------------------


def _rate(each: Record, asked: Mapping[str, int | None], by: Sequence[str]) -> None:
    """Set the seconds that a record's queue manager covers, and how many records it would be."""
    each.seconds = each.over = (each.last - each.first).total_seconds() or None
    each.hour = each.counted.replace(minute=0, second=0, microsecond=0)
    if "hour" in by:
        over = min(each.last, each.hour + HOUR) - max(each.first, each.hour)
        each.over = max(0.0, over.total_seconds()) or None
    told = asked.get(each.setting)
    each.asked = asked["STATIME"] or each.statistics if told == -1 else told
    each.times = divided(each.present, each.asked)
    if told is None:
        each.times = 1
    elif each.lasted and each.present and each.lasted < each.present / 2 and each.kind != LONG:
        each.times = max(1.0, divided(each.lasted, each.asked) or 1)


def _volume(records: Sequence[Record], over: str) -> Row:
    length = sum(each.length for each in records)
    rate = added(divided(each.length, getattr(each, over)) for each in records)
    return {
        "records": len(records),
        "bytes": length,
        "mb": length / MB,
        "record_bytes": length / len(records),
        "records_rate": added(divided(1, getattr(each, over)) for each in records),
        "mb_rate": divided(rate, MB),
        "gb_day": times(rate, DAY / GB),
    }


def _projection(records: Sequence[Record]) -> Row:
    setting = records[0].setting
    return _volume(records, "seconds") | _projected(records) | {
        "setting": setting,
        "present_interval": alike(each.present for each in records) if setting else None,
        "asked_interval": alike(each.asked for each in records) if setting else None,
    }  # fmt: skip


def _projected(records: Sequence[Record]) -> Row:
    known = records if all(each.times is not None for each in records) else []
    rate = added(divided(each.times, each.seconds) for each in known)
    size = added(divided(each.times * each.length, each.seconds) for each in known)
    return {
        "projected_records": added(each.times for each in known),
        "projected_rate": rate,
        "projected_mb_rate": divided(size, MB),
        "projected_gb_day": times(size, DAY / GB),
    }


def _cost(records: Sequence[Record]) -> Row:
    calls, projected = (
        added(each.calls for each in records),
        _projected(records)["projected_records"],
    )
    gathering = times(calls, CALL_US)
    figures: Row = {"records": len(records), "calls": calls, "gathering": gathering}
    figures["projected_records"] = projected
    for suffix, each_us in (("", RECORD_US), ("_at_worst", RECORD_US_AT_WORST)):
        for name, count in (("", len(records)), ("projected_", projected)):
            writing = times(count, each_us)
            cpu = None if gathering is None or writing is None else gathering + writing
            figures[f"{name}writing{suffix}"] = writing
            figures[f"{name or 'class_3_'}cpu{suffix}"] = cpu
    change = divided(figures["projected_cpu"], figures["class_3_cpu"])
    figures["cpu_change"] = None if change is None else 100 * (change - 1)
    of_records = ((each.calls or 0) * CALL_US + RECORD_US for each in records)
    shares = (divided(us, each.over) for us, each in zip(of_records, records, strict=True))
    figures["cpu_share"] = divided(added(shares), 1e4)
    return figures
