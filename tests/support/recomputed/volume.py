"""The report smf-volume, in plain Python: every record on its own, then added."""

from __future__ import annotations

import datetime as dt
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import polars as pl

from tests.support.recomputed.parts import Lines, Row, Tables

CALL_US, RECORD_US, RECORD_US_AT_WORST = 0.5, 4.0, 36.0
"""What class 3 costs, by the performance report of MQ 9.3: a call, and a record."""
SHORTEST = 0.9
"""Seconds: the shortest setting is one, so what is shorter is no whole interval."""
SECOND = dt.timedelta(seconds=1)
HOUR = dt.timedelta(hours=1)
MB, GB, DAY = 1048576, 1073741824, 86400
CALLS = ("openn", "closen", "getn", "putn", "put1n", "inqn", "setn", "cbn")
TASK_CALLS = [f"wtas{two}n" for two in ("cm", "ba", "pr", "su", "sq", "ct", "st", "ot")]
SETTINGS = {"class 3 long-running": "ACCTIME", "class 4": "ACCTIME", "statistics": "STATIME"}
CLASS_3 = ("class 3 short-lived", "class 3 long-running")


def added(values: Iterable[float | None]) -> float | None:
    """Return the sum of the known values; None if none is known."""
    there = [each for each in values if each is not None]
    return sum(there) if there else None


def divided(above: float | None, below: float | None) -> float | None:
    return None if above is None or not below else above / below


def seconds_of(text: str | None) -> int | None:
    """Return the seconds of a setting in MMMM.SS; -1 and 0 are themselves."""
    if text in (None, "-1", "0"):
        return None if text is None else int(text)
    minutes, _, rest = str(text).partition(".")
    return 60 * int(minutes) + int(rest or 0)


@dataclass
class Record:
    """An SMF record, and what is known of it."""

    row: Row
    section: Any
    job: str | None = None
    token: str | None = None
    calls: int | None = None
    ended: bool = False
    short_lived: bool = False
    figures: Row = field(default_factory=dict)

    @property
    def owner(self) -> Hashable:
        return self.section, self.row["system"], self.row["qmgr"]

    @property
    def seconds(self) -> float | None:
        """Its interval, where it is one."""
        found = self.row["interval_seconds"]
        return found if found is not None and 0 < found <= 1e9 else None

    @property
    def kind(self) -> str:
        match self.row["type"], self.row["subtype"]:
            case 115, _:
                return "statistics"
            case 116, 0:
                return "class 1"
            case 116, 1 | 2:
                return CLASS_3[not self.short_lived]
            case 116, 10:
                return "class 4"
        return "others"

    @property
    def end(self) -> dt.datetime:
        start: dt.datetime = self.row["interval_start"]
        return start + dt.timedelta(microseconds=round((self.seconds or 0) * 1e6))


def smf_volume(
    tables: Tables,
    by: Sequence[str] = ("qmgr",),
    acctime: str | None = None,
    statime: str | None = None,
    smf_interval: str | None = None,
) -> list[Lines]:
    """Return records by type, tasks, what other intervals would make, and what class 3 costs."""
    smf = seconds_of(smf_interval)
    asked = {"ACCTIME": seconds_of(acctime), "STATIME": seconds_of(statime)}
    asked = {name: smf if value == 0 else value for name, value in asked.items()}
    records = list(_records(tables))
    _time(records)
    _rate(records, asked, by)
    return [
        ("type", [*by, "type", "subtype"], _types(records, by)),
        ("all", [], _all(records)),
        ("tasks", [*by, "kind"], _tasks(records, by)),
        ("projection", [*_but_hours(by), "kind"], _projections(records, by)),
        ("cost", list(by), [] if tables.of_queues else _costs(records, by)),
    ]


# --- records ------------------------------------------------------------------------------------


def _records(tables: Tables) -> Iterator[Record]:
    """Yield records with the jobs, tokens and calls of their blocks."""
    jobs = {_place(row): row["qwhccn"] for row in _first_blocks(tables["qmac"])}
    first = {}
    for row in _first_blocks(tables["wtid"]):
        jobs[_place(row)] = row["wtidccn"]
        first[_place(row)] = row["source"], row["task_record"]
    calls: dict[Hashable, int] = defaultdict(int)
    tokens: dict[Hashable, str] = {}
    for table, names in (("wqst", CALLS), ("wtas", TASK_CALLS)):
        for row in with_tokens(tables[table], table).iter_rows(named=True):
            calls[_place(row)] += sum(row[name] or 0 for name in names)
            tokens[_place(row)] = row["token"]
    lives = _lives(tables)
    for row in tables["record"].iter_rows(named=True):
        place = _place(row)
        made = Record(row, row["section"], jobs.get(place), tokens.get(place), calls.get(place))
        made.ended, made.short_lived = lives.get(first.get(place), (False, False))
        yield made


def _place(row: Row) -> tuple[str, int]:
    return row["source"], row["record_no"]


def _first_blocks(frame: pl.DataFrame) -> Iterator[Row]:
    return frame.filter(pl.col("block_no") == 1).iter_rows(named=True)


def _lives(tables: Tables) -> dict[Any, tuple[bool, bool]]:
    """Return whether 116/1 records end their tasks, and whether they have all of their lives."""
    rows = list(_first_blocks(with_tokens(tables["wtas"], "wtas")))
    number: dict[Hashable, int] = defaultdict(int)
    earliest: dict[Hashable, dt.datetime] = {}
    for row in rows:
        owner = row["system"], row["qmgr"]
        number[*owner, row["token"]] += 1
        if row["wtasinte"] is not None:
            earliest[owner] = min(row["wtasinte"], earliest.get(owner, row["wtasinte"]))
    found = {}
    for row in rows:
        owner = row["system"], row["qmgr"]
        begins = row["wtasints"] and row["wtasints"] - row["wtasstrt"] <= SECOND
        alone = number[*owner, row["token"]] == 1
        young = owner in earliest and row["wtasstrt"] > earliest[owner]
        found[_place(row)] = (
            bool(row["wtasaeot"]),
            bool(row["wtasaeot"] and (begins or (alone and young))),
        )
    return found


# --- time ---------------------------------------------------------------------------------------


def _grouped(
    records: Iterable[Record], by: Callable[[Record], Hashable]
) -> dict[Any, list[Record]]:
    found: dict[Any, list[Record]] = defaultdict(list)
    for each in records:
        found[by(each)].append(each)
    return found


def _present(records: Sequence[Record]) -> float | None:
    """Return how long intervals of a kind are: the median, where each counts by its seconds."""
    candidates = [each for each in records if each.seconds and each.seconds > SHORTEST]
    ends = _grouped((each for each in records if each.row["interval_start"]), _stream)
    following = [
        each
        for each in candidates
        if any(
            other is not each and abs(each.row["interval_start"] - other.end) <= SECOND
            for other in ends[_stream(each)]
        )
    ]
    lengths = sorted(each.seconds or 0 for each in following or candidates)
    up_to = 0.0
    for length in lengths:
        up_to += length
        if 2 * up_to >= sum(lengths):
            return length
    return None


def _stream(record: Record) -> Hashable:
    return record.row["type"], record.row["subtype"], record.token


def _before_mq_8(records: Sequence[Record]) -> float | None:
    """Return the plain median of the times between statistics that do not show intervals."""
    times = sorted(
        each.row["smf_time"]
        for each in records
        if (each.row["type"], each.row["subtype"]) == (115, 1) and each.seconds is None
    )
    apart = pl.Series([(b - a).total_seconds() for a, b in pairwise(times)])
    return apart.median() if len(apart) else None  # type: ignore[return-value]


def _time(records: Sequence[Record]) -> None:
    """Set what of each queue manager is present and covered."""
    spans: dict[Any, tuple[dt.datetime, dt.datetime]] = {}
    owned = _grouped(records, lambda each: each.owner)
    for owner, mine in owned.items():
        kinds = _grouped(mine, lambda each: each.kind)
        long = [each for each in kinds["class 3 long-running"] if not each.ended]
        tasks = _present([each for each in long if each.row["subtype"] == 1])
        present = {
            "STATIME": _present(kinds["statistics"]) or _before_mq_8(mine),
            "ACCTIME": tasks or _present(kinds["class 4"]),
        }
        _last(kinds["statistics"])
        for each in mine:
            setting = SETTINGS.get(each.kind)
            each.figures |= {
                "setting": setting,
                "present": present.get(setting or ""),
                "statistics": present["STATIME"],
                "lasted": each.seconds or each.figures.get("lasted"),
            }
        spans[owner] = _span(mine)
    for owner, mine in owned.items():
        first, last = spans[owner]
        if mine[0].row["qmgr"] is None:
            alike = [span for other, span in spans.items() if other[:2] == owner[:2]]
            first, last = min(span[0] for span in alike), max(span[1] for span in alike)
        for each in mine:
            each.figures |= {"first": first, "last": last}


def _last(statistics: list[Record]) -> None:
    """Set the intervals of records that show none: they are written behind those that do."""
    known = None
    for _, together in sorted(_grouped(statistics, lambda each: each.row["smf_time"]).items()):
        known = next((each.seconds for each in together if each.seconds), known)
        for each in together:
            each.figures["lasted"] = known


def _span(records: Sequence[Record]) -> tuple[dt.datetime, dt.datetime]:
    """Return when what the records of a queue manager cover began and ended."""
    times = [each.row["smf_time"] for each in records]
    began: dict[str, list[dt.datetime]] = defaultdict(list)
    for each in records:
        known = [each.figures[name] for name in ("lasted", "present") if each.figures[name]]
        if each.figures["setting"] and known:
            length = dt.timedelta(microseconds=round(1e6 * min(known)))
            began[each.figures["setting"]].append(each.row["smf_time"] - length)
    first = began["STATIME"] or began["ACCTIME"]
    return min([*times, *first]), max(times)


# --- figures ------------------------------------------------------------------------------------


def _rate(records: Sequence[Record], asked: Mapping[str, int | None], by: Sequence[str]) -> None:
    """Set the seconds that each record's queue manager covers, and how many it would be."""
    for each in records:
        figures = each.figures
        figures["seconds"] = (figures["last"] - figures["first"]).total_seconds() or None
        figures["over"] = figures["seconds"]
        hour = each.row["counted"].replace(minute=0, second=0, microsecond=0)
        if "hour" in by:
            over = min(figures["last"], hour + HOUR) - max(figures["first"], hour)
            figures["over"] = max(0.0, over.total_seconds()) or None
        told = asked.get(figures["setting"] or "")
        length: float | None = told
        if told == -1:
            length = asked["STATIME"] or figures["statistics"]
        present, lasted = figures["present"], figures["lasted"]
        times: float | None = divided(present, length)
        if told is None:
            times = 1
        elif lasted and present and lasted < present / 2 and each.kind != CLASS_3[1]:
            times = max(1.0, divided(lasted, length) or 1)
        figures |= {"length": length, "times": times, "hour": hour}
        names = {"system": each.row["system"], "qmgr": each.row["qmgr"], "job": each.job}
        figures["by"] = {name: (names | figures)[name] for name in by}


def _but_hours(by: Sequence[str]) -> list[str]:
    return [each for each in by if each != "hour"]


def _rows(
    records: Iterable[Record], by: Sequence[str], *more: Callable[[Record], Row]
) -> Iterator[tuple[Row, list[Record]]]:
    """Yield what tells rows apart, and the records of each."""

    def key(each: Record) -> Hashable:
        told = {name: each.figures["by"][name] for name in by}
        for one in more:
            told |= one(each)
        return each.section, tuple(told.items())

    for (section, told), mine in _grouped(records, key).items():
        yield {"section": section} | dict(told), mine


def _volume(records: Sequence[Record], over: str = "over") -> Row:
    length = sum(each.row["length"] for each in records)
    rate = added(divided(each.row["length"], each.figures[over]) for each in records)
    return {
        "records": len(records),
        "bytes": length,
        "mb": length / MB,
        "record_bytes": length / len(records),
        "records_rate": added(divided(1, each.figures[over]) for each in records),
        "mb_rate": divided(rate, MB),
        "gb_day": None if rate is None else rate * DAY / GB,
    }


def _types(records: Sequence[Record], by: Sequence[str]) -> list[Row]:
    every = {
        section: sum(each.row["length"] for each in mine)
        for section, mine in _grouped(records, lambda each: each.section).items()
    }

    def kind(each: Record) -> Row:
        return {name: each.row[name] for name in ("type", "subtype")}

    return [
        told | (volume := _volume(mine)) | {"share": 100 * volume["bytes"] / every[told["section"]]}
        for told, mine in _rows(records, by, kind)
    ]


def _all(records: Sequence[Record]) -> list[Row]:
    return [told | _volume(mine, "seconds") for told, mine in _rows(records, ())]


def _kind(each: Record) -> Row:
    return {"kind": each.kind}


def _tasks(records: Sequence[Record], by: Sequence[str]) -> list[Row]:
    found = []
    for told, mine in _rows([each for each in records if each.kind in CLASS_3], by, _kind):
        tasks = len({(each.owner, each.token) for each in mine})
        lengths = [each.seconds for each in mine if each.seconds]
        length = sum(each.row["length"] for each in mine)
        figures = {"tasks": tasks, "records": len(mine), "bytes": length, "mb": length / MB}
        figures |= {"record_bytes": length / len(mine), "longest": max(lengths, default=None)}
        found.append(told | figures | {"task_records": len(mine) / tasks})
    return found


def _projections(records: Sequence[Record], by: Sequence[str]) -> list[Row]:
    by = _but_hours(by)
    found = []
    for more, setting in ((_kind, True), (lambda _: {"kind": "total"}, False)):
        for told, mine in _rows(records, by, more):
            own = [each.figures for each in mine]
            figures = _volume(mine, "seconds") | {
                "setting": own[0]["setting"] if setting else None,
                "present_interval": _alike(each["present"] for each in own) if setting else None,
                "asked_interval": _alike(each["length"] for each in own) if setting else None,
            }
            if figures["setting"] is None:
                figures |= {"present_interval": None, "asked_interval": None}
            found.append(told | figures | _projected(mine))
    return found


def _alike(values: Iterable[float | None]) -> float | None:
    there = {each for each in values if each is not None}
    return there.pop() if len(there) == 1 else None


def _projected(records: Sequence[Record]) -> Row:
    own = [each.figures for each in records]
    known = all(each["times"] is not None for each in own)
    rate, size = None, None
    if known:
        rate = added(divided(each["times"], each["seconds"]) for each in own)
        size = added(
            divided(each.figures["times"] * each.row["length"], each.figures["seconds"])
            for each in records
        )
    return {
        "projected_records": added(each["times"] for each in own) if known else None,
        "projected_rate": rate,
        "projected_mb_rate": divided(size, MB),
        "projected_gb_day": None if size is None else size * DAY / GB,
    }


def _costs(records: Sequence[Record], by: Sequence[str]) -> list[Row]:
    found = []
    for told, mine in _rows([each for each in records if each.kind in CLASS_3], by):
        number = len(mine)
        calls = added(each.calls for each in mine)
        gathering = None if calls is None else calls * CALL_US
        projected = _projected(mine)["projected_records"]
        figures: Row = {"records": number, "calls": calls, "gathering": gathering}
        figures["projected_records"] = projected
        for suffix, each_us in (("", RECORD_US), ("_at_worst", RECORD_US_AT_WORST)):
            writing = number * each_us
            would = None if projected is None else projected * each_us
            whole = None if gathering is None else gathering + writing
            after = None if gathering is None or would is None else gathering + would
            figures |= {f"writing{suffix}": writing, f"class_3_cpu{suffix}": whole}
            figures |= {f"projected_writing{suffix}": would, f"projected_cpu{suffix}": after}
        change = divided(figures["projected_cpu"], figures["class_3_cpu"])
        figures["cpu_change"] = None if change is None else 100 * (change - 1)
        shares = added(
            divided((each.calls or 0) * CALL_US + RECORD_US, each.figures["over"]) for each in mine
        )
        figures["cpu_share"] = divided(shares, 1e4)
        found.append(told | figures)
    return found


# --- tokens -------------------------------------------------------------------------------------


def with_tokens(frame: pl.DataFrame, table: str) -> pl.DataFrame:
    """Add what identifies a task: 16 bytes, of which WTAS has a moment and two numbers."""
    if table == "wqst":
        token = pl.col("correl").map_elements(_of_correl, return_dtype=pl.String)
        return frame.with_columns(token=token)
    moment = pl.col("wtasstrt").dt.epoch("us").cast(pl.Int64).fill_null(-_TOD_EPOCH)
    parts = pl.struct(moment, "wtasmthr", "wtaswtas")
    return frame.with_columns(token=parts.map_elements(_of_parts, return_dtype=pl.String))


_TOD_EPOCH = 2_208_988_800_000_000
"""Microseconds from 1900, where the TOD clock starts, to 1970."""


def _of_correl(correl: str) -> str:
    return f"{int(correl[:16], 16) >> 12:013X}-{correl[16:24]}-{correl[24:]}"


def _of_parts(parts: Mapping[str, int]) -> str:
    words = (parts[name] % 2**32 for name in ("wtasmthr", "wtaswtas"))
    return "-".join([f"{parts['wtasstrt'] + _TOD_EPOCH:013X}", *(f"{word:08X}" for word in words)])
