"""The figures of compare, in plain Python: sums over sums of one side."""

from __future__ import annotations

import datetime as dt
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import polars as pl

from tests.support.oracle import Rows
from tests.support.recomputed.api_cost import calls
from tests.support.recomputed.parts import Tables

NAMES = ("qmgr", "job", "queue", "verb")
Key = tuple[Any, ...]
Seconds = Mapping[str | None, float]
Figures = dict[Key, float]
"""Names and figure to value; what is nothing is left out."""
WAITS = ("log_wait", "page_set_wait", "suspended")


def renamed(value: str | None, renames: Sequence[str]) -> str | None:
    """Return the name that the other side has: OLD=NEW, with a % for whatever is the same."""
    for each in renames:
        old, new = each.split("=")
        begin, _, end = old.partition("%")
        inner = "" if value is None else value[len(begin) : len(value) - len(end)]
        if value is not None and f"{begin}{inner if '%' in old else ''}{end}" == value:
            return new.replace("%", inner)
    return value


SHORTEST = 0.9
"""Seconds: a shorter interval is the stub of a start, as the shortest setting is one second."""


def without_stubs(frames: Mapping[str, pl.DataFrame], tables: Iterable[str]) -> Rows:
    """Return tables without the stubs of starts, and without the tasks that ended in them."""
    stubs = frames["qmst"].with_columns(end=_end()).filter(pl.col("interval_seconds") < SHORTEST)
    found = {}
    for table in tables:
        frame = frames[table].with_columns(end=_end())
        left = pl.lit(False)
        for stub in stubs.iter_rows(named=True):
            own = (pl.col("system") == stub["system"]) & (pl.col("qmgr") == stub["qmgr"])
            last = stub["end"] + dt.timedelta(seconds=0.5)
            in_it = (pl.col("end") > stub["interval_start"]) & (pl.col("end") <= last)
            same = (pl.col("interval_start") == stub["interval_start"]) & (pl.col("end") <= last)
            left |= own & (in_it | same).fill_null(False)
        found[table] = frame.filter(~left).drop("end")
    return found


def figures(tables: Tables, by: Sequence[str], renames: Sequence[str] = ()) -> Figures:
    """Return the figures of a side by names and figure; waits only by verb, which records them."""
    found: Figures = {}
    seconds = _seconds(tables, "qmst", "qjstslptu", accounted=True)
    for names, name, amount, per in _ratios(tables, by, seconds, renames):
        if amount and per:
            found[*names, name] = amount / per
    return found


def _ratios(
    tables: Tables, by: Sequence[str], seconds: Seconds, renames: Sequence[str]
) -> Iterator[tuple[Key, str, float | None, float | None]]:
    """Yield names, figure, and the sums that it is made of."""
    by_name: dict[Key, list[dict[str, Any]]] = defaultdict(list)
    commits: dict[Key, float] = defaultdict(float)
    for row in calls(tables).iter_rows(named=True):
        told = row | {name: renamed(row[name], renames) for name in NAMES[:3]}
        told["of"] = row["qmgr"]
        by_name[tuple(told[name] if name in by else None for name in NAMES)].append(told)
        commits[_of_job(told, by)] += told["calls"] if told["verb"] == "commit" else 0
    for names, rows in by_name.items():
        sums = {name: _sum(row[name] for row in rows) for name in ("calls", "cpu", "elapsed")}
        covered = seconds[rows[0]["of"] if "qmgr" in by else None]
        of_job = commits[_of_job(rows[0], by)]
        yield names, "cpu_per_second", sums["cpu"], covered
        yield names, "calls_per_second", sums["calls"], covered
        yield names, "cpu_per_call", sums["cpu"], sums["calls"]
        yield names, "elapsed_per_call", sums["elapsed"], sums["calls"]
        yield names, "cpu_per_commit", sums["cpu"], of_job
        for wait in WAITS if "verb" in by else ():
            yield names, f"{wait}_per_call", _sum(row[wait] for row in rows), sums["calls"]
    yield from _of_tasks(tables, by, seconds, renames)
    yield from _of_qmgrs(tables, by, renames)


def _sum(values: Iterable[float | None]) -> float:
    return sum(each or 0 for each in values)


def _of_job(row: Mapping[str, Any], by: Sequence[str]) -> Key:
    return tuple(row[name] for name in by if name in ("qmgr", "job"))


def _seconds(
    tables: Tables, table: str, told: str | None = None, *, accounted: bool = False
) -> Seconds:
    """Return what the intervals of a table cover, by queue manager; None: those of all, once.

    accounted  those only while class 3 was on: from the first record of a task to the last
    """
    frame = tables[table].with_columns(end=_end())
    if told in frame.columns:
        frame = frame.filter(pl.col(told).is_not_null())
    if accounted:
        tasks = tables["wtas"].with_columns(end=_end()).group_by("qmgr").agg(
            earliest=pl.col("end").min(), latest=pl.col("end").max()
        )  # fmt: skip
        near = pl.duration(seconds=1)
        frame = frame.join(tasks, on="qmgr").filter(
            pl.col("end") >= pl.col("earliest") - near,
            pl.col("interval_start") <= pl.col("latest") - near,
        )
    spans = frame.select("qmgr", "interval_start", "interval_seconds").unique()
    found = dict(spans.group_by("qmgr").agg(pl.col("interval_seconds").sum()).iter_rows())
    return found | {None: spans.drop("qmgr").unique()["interval_seconds"].sum()}


def _end() -> pl.Expr:
    length = (pl.col("interval_seconds") * 1e6).round().cast(pl.Int64)
    return pl.col("interval_start") + pl.duration(microseconds=length)


def _of_tasks(
    tables: Tables, by: Sequence[str], seconds: Seconds, renames: Sequence[str]
) -> Iterator[tuple[Key, str, float | None, float | None]]:
    if "job" not in by:
        return
    jobs = tables["wtid"].filter(pl.col("record_no") == pl.col("task_record"))
    frame = tables["wtas"].join(jobs.select("source", "task_record", "wtidccn"),
                                on=["source", "task_record"])  # fmt: skip
    of_name: dict[Key, list[dict[str, Any]]] = defaultdict(list)
    for row in frame.iter_rows(named=True):
        told = {"qmgr": row["qmgr"], "job": row["wtidccn"], "queue": None, "verb": None}
        names = {name: renamed(told[name], renames) if name in by else None for name in NAMES}
        of_name[tuple(names.values())].append(row)
    for names, rows in of_name.items():
        covered = seconds[rows[0]["qmgr"] if "qmgr" in by else None]
        for figure, field in (("pages_old", "wtasgpo"), ("pages_new", "wtasgpn"),
                              ("log_bytes", "wtasjwb")):  # fmt: skip
            yield names, f"{figure}_per_second", _sum(row[field] for row in rows), covered
        forces = _sum(row["wtasjcn"] for row in rows)
        yield names, "log_force_wait", _sum(row["wtasjcet"] for row in rows), forces


POOL = {
    "gets_per_second": ("qpstgetp", "seconds"), "reads_per_second": ("qpstrio", "seconds"),
    "writes_per_second": ("qpstwio", "seconds"), "reads_per_get": ("qpstrio", "qpstgetp"),
    "pages_per_write": ("qpsttpw", "qpstwio"), "used": ("used", "qpstnbuf"),
}  # fmt: skip
STRUCTURE = {
    "single_per_second": ("qestcsec", "seconds"), "single_elapsed": ("qestsstc", "qestcsec"),
    "multiple_per_second": ("qestcmec", "seconds"), "multiple_elapsed": ("qestmstc", "qestcmec"),
}  # fmt: skip
MESSAGES = {
    "puts_per_second": ("puts", "seconds"), "gets_per_second": ("qmstget", "seconds"),
    "opens_per_second": ("qmstopen", "seconds"),
}  # fmt: skip
PERCENT = ("reads_per_get", "used")


def _of_qmgrs(
    tables: Tables, by: Sequence[str], renames: Sequence[str]
) -> Iterator[tuple[Key, str, float | None, float | None]]:
    used = (pl.col("qpstnbuf").cast(pl.Int64) - pl.col("qpstcbsl")).alias("used")
    puts = (pl.col("qmstput").cast(pl.Int64) + pl.col("qmstput1")).alias("puts")
    for table, part, prefix, ratios, more in (
        ("qpst", "qpstpool", "pool", POOL, used), ("qest", "qeststr", "cf", STRUCTURE, pl.lit(0)),
        ("qmst", None, "", MESSAGES, puts),
    ):  # fmt: skip
        seconds = _seconds(tables, table)
        frame = tables[table].with_columns(more)
        for (qmgr, own), rows in _grouped(frame, by, part):
            covered = seconds[qmgr]
            for figure, (amount, per) in ratios.items():
                above = rows[amount].cast(pl.Float64).sum() * (100 if figure in PERCENT else 1)
                below = covered if per == "seconds" else rows[per].cast(pl.Float64).sum()
                name = f"{prefix}_{own}_{figure}" if part else figure
                yield (renamed(qmgr, renames), None, None, None), name, above, below
    yield from _of_logs(tables, by, renames)


def _grouped(
    frame: pl.DataFrame, by: Sequence[str], part: str | None
) -> Iterator[tuple[tuple[Any, ...], pl.DataFrame]]:
    own = pl.col(part).cast(pl.String) if part else pl.lit("")
    qmgr = pl.col("qmgr") if "qmgr" in by else pl.lit(None)
    keyed = frame.with_columns(of_qmgr=qmgr, of_part=own)
    yield from keyed.group_by("of_qmgr", "of_part")


def _of_logs(
    tables: Tables, by: Sequence[str], renames: Sequence[str]
) -> Iterator[tuple[Key, str, float | None, float | None]]:
    """Yield the log: of each record the copy that wrote most, with its waits."""
    copies = tables["qjst_io"].group_by("source", "record_no", "qmgr", "copy").agg(
        pages=pl.col("qjstioci").cast(pl.Int64).sum(), ios=pl.col("qjstiocount").sum(),
        suspended=pl.col("qjstiototsus").sum(),
    )  # fmt: skip
    seconds = _seconds(tables, "qjst", "qjstslptu")
    for (qmgr, _), rows in _grouped(copies, by, None):
        covered = seconds[qmgr]
        most = rows.sort("pages", "suspended").group_by("source", "record_no").last()
        names = (renamed(qmgr, renames), None, None, None)
        yield names, "log_mb_per_second", most["pages"].sum() / 256, covered
        yield names, "log_pages_per_io", rows["pages"].sum(), rows["ios"].sum()
        yield names, "log_io_busy", 100 * most["suspended"].sum() / 1e6, covered
