"""The command compare: its arguments and forms, and its figures against sums of the raw tables."""

from __future__ import annotations

import csv
import datetime as dt
import gzip
import io
import json
import math
import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from click.testing import CliRunner, Result

from smfparse.cli import main
from smfparse.comparing import COLUMNS, MEASURES, NAMES, Rename, Side, Split, compared, measured
from smfparse.errors import RequestError
from smfparse.inputs import ReadOptions, open_inputs
from smfparse.reports import TOTAL
from tests.support import command
from tests.support.builders import rdw
from tests.support.generated import generate_dump
from tests.support.paths import FIXTURES
from tests.support.real import REAL_DATA, needs_real_data
from tests.support.report_runs import report_rows
from tests.support.searching import of_many, some
from tests.support.smf import (
    ENDED,
    MINUTE,
    block,
    connection_record,
    more_queues,
    queue,
    task,
    task_record,
    task_token,
    who,
)
from tests.support.smf import record as statistics_record

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("worked_out_once")]

FIXTURE = FIXTURES / "qm01-930.smf"
NOON = dt.datetime(2026, 3, 4, 10)
"""Local time in the middle of the fixture, where an interval ends."""
MIDST = NOON + MINUTE
"""When it is split: records of tasks that end with the interval are from a moment after NOON."""
US = pytest.approx
EVERY_BY = [
    [name for place, name in enumerate(NAMES) if number >> place & 1]
    for number in range(1, 1 << len(NAMES))
]


def run(*arguments: object) -> Result:
    return command.run("compare", *arguments)


def rows_of(*arguments: object) -> list[dict[str, Any]]:
    """The rows of JSON."""
    found = json.loads(run(*arguments, "--format", "json").stdout)
    assert list(found) == ["report", "before", "after", "rows"]
    assert found["report"] == "compare"
    rows: list[dict[str, Any]] = found["rows"]
    return rows


@cache
def side(*paths: Path, split: Split | None = None, interval: int | None = None) -> Side:
    """What is measured of files, which no test changes."""
    return measured(open_inputs(paths, ReadOptions(jobs=1)), split, interval)


def figures(rows: pl.DataFrame, of: str = "after") -> dict[tuple[Any, ...], float]:
    """The values of one side by names and figure."""
    keys = rows.select(*NAMES, "figure").rows()
    return dict(zip(keys, rows[of].to_list(), strict=True))


# Figures against the raw tables ---------------------------------------------------------------

OF_QUEUES = {
    verb: (f"{verb}n", f"{verb}ct", f"{verb}et")
    for verb in ("open", "close", "get", "put", "put1", "inq", "set", "cb")
}
OF_TASKS = {
    "commit": ("wtascmn", "wtascmct", "wtascmet"),
    "backout": ("wtasban", "wtasbact", "wtasbaet"),
    "prepare": ("wtasprn", "wtasprct", "wtaspret"),
    "sub": ("wtassun", "wtassuct", "wtassuet"),
    "subrq": ("wtassqn", "wtassqct", "wtassqet"),
    "ctl": ("wtasctn", "wtasctct", "wtasctet"),
    "stat": ("wtasstn", "wtasstct", "wtasstet"),
    "topic": (None, "wtastpct", "wtastpet"),
    "other": ("wtasotn", "wtasotct", "wtasotet"),
}
WAITS = {
    "log_wait": {verb: (f"{verb}jwet", f"{verb}jcet") for verb in ("get", "put", "put1", "set")},
    "page_set_wait": {verb: (f"{verb}pset",) for verb in ("get", "put", "put1")},
    "suspended": {"open": ("opensuet",), "close": ("closesuet",)}
    | {verb: (f"{verb}suset",) for verb in ("get", "put", "put1")},
}


@cache
def raw_calls(path: Path) -> list[dict[str, Any]]:
    """Every call count of every block, with the names it is about and when its record counts."""
    inputs = open_inputs([path], ReadOptions(jobs=1))
    tables = {name: inputs.arrow(name).to_pylist() for name in ("wtid", "wtas", "wqst")}
    jobs = {row["record_no"]: row["wtidccn"] for row in tables["wtid"]}
    found = []
    for table in ("wtas", "wqst"):
        for row in tables[table]:
            length = dt.timedelta(seconds=row["interval_seconds"])
            moment = row["interval_start"] + max(length / 2, length - dt.timedelta(minutes=30))
            local = moment.replace(tzinfo=None) + dt.timedelta(seconds=row["utc_offset"])
            names: dict[str, Any] = {
                "qmgr": row["qmgr"],
                "job": jobs[row.get("task_record_no") or row["record_no"]],
                "queue": None,
                "counted": local,
            }
            if table == "wqst":
                names["queue"] = resolved(row["objname"], row["basename"])
            verbs = OF_TASKS if table == "wtas" else OF_QUEUES
            for verb, columns in verbs.items():
                calls, cpu, elapsed = (row[name] if name else None for name in columns)
                waits = {
                    name: sum(row[each] or 0 for each in of_verbs.get(verb, ()))
                    for name, of_verbs in WAITS.items()
                }
                if calls or cpu or elapsed:
                    costs = {"calls": calls or 0, "cpu": cpu, "elapsed": elapsed, **waits}
                    found.append({**names, "verb": verb, **costs})
    return found


def resolved(opened: str, base: str) -> str:
    if base != opened and re.fullmatch(r".*[0-9A-F]{16}", base):
        return base[:-16] + "*"
    return base or opened


def expected(calls: list[dict[str, Any]], by: Sequence[str], seconds: float | None) -> Any:
    """Figures of calls by names and figure; those a second where `seconds` are told."""
    sums: dict[tuple[Any, ...], dict[str, float]] = {}
    commits: dict[tuple[Any, ...], float] = {}
    of_job = [name for name in by if name in ("qmgr", "job")]
    for row in calls:
        key = tuple(row[name] if name in by else None for name in NAMES)
        of_key = sums.setdefault(key, dict.fromkeys(("calls", "cpu", "elapsed", *WAITS), 0.0))
        for name in of_key:
            of_key[name] += row[name]
        if row["verb"] == "commit":
            job = tuple(row[name] for name in of_job)
            commits[job] = commits.get(job, 0) + row["calls"]
    found = {}
    for key, each in sums.items():
        job = tuple(key[NAMES.index(name)] for name in of_job)
        ratios = {
            "cpu_per_call": (each["cpu"], each["calls"]),
            "elapsed_per_call": (each["elapsed"], each["calls"]),
            "cpu_per_commit": (each["cpu"], commits.get(job, 0)),
            **{f"{name}_per_call": (each[name], each["calls"]) for name in WAITS},
        }
        if seconds is not None:
            ratios["cpu_per_second"] = (each["cpu"], seconds)
            ratios["calls_per_second"] = (each["calls"], seconds)
        for figure, (amount, per) in ratios.items():
            if per and amount:
                found[*key, figure] = amount / per
    return found


def of_calls(rows: pl.DataFrame, which: str, rates: bool = True) -> dict[tuple[Any, ...], float]:
    """The figures of calls that are not nothing."""
    names = [each.name for each in MEASURES if each.kind == "calls"]
    chosen = rows.filter(pl.col("figure").is_in(names))
    if not rates:
        chosen = chosen.filter(~pl.col("figure").str.ends_with("_per_second"))
    return {key: value for key, value in figures(chosen, which).items() if value}


@pytest.fixture(scope="module")
def halves() -> tuple[Side, Side]:
    first, second = (side(FIXTURE, split=Split(MIDST, after)) for after in (False, True))
    return first, second


@of_many("by", some(EVERY_BY, 6), ids=",".join)
def test_figures_of_calls_are_sums_over_sums_of_the_raw_tables(
    by: list[str], halves: tuple[Side, Side]
) -> None:
    rows = compared(*halves, by)
    calls = raw_calls(FIXTURE)
    for which, later in (("before", False), ("after", True)):
        part = [row for row in calls if (row["counted"] >= MIDST) == later]
        wanted = expected(part, by, 3600.0)
        assert len(wanted) > 3
        assert of_calls(rows, which) == US(wanted, rel=1e-5)


@pytest.mark.parametrize("name", ["qm60.smf", "qm80.smf", "qm100.smf"])
def test_releases_are_told_by_what_they_wrote(name: str) -> None:
    rows = compared(side(FIXTURE), side(FIXTURES / name))
    wanted = expected(raw_calls(FIXTURES / name), NAMES, None)
    assert of_calls(rows, "after", rates=False) == US(wanted)
    assert rows["significant"].null_count() == rows.height  # no name is on both sides


@needs_real_data
@pytest.mark.parametrize("by", [list(NAMES), ["job"], ["verb"]], ids=",".join)
def test_figures_of_real_calls_are_those_of_the_raw_tables(by: list[str]) -> None:
    assert REAL_DATA
    before, after = REAL_DATA / "TEST116.dat", REAL_DATA / "TESTCHL.dat"
    rows = compared(side(before), side(after), by)
    for which, path in (("before", before), ("after", after)):
        wanted = expected(raw_calls(path), by, None)
        assert of_calls(rows, which, rates=False) == US(wanted)
    moment = dt.datetime(2016, 2, 27, 18, 8)
    rows = compared(*(side(after, split=Split(moment, later)) for later in (False, True)), by)
    for which, later in (("before", False), ("after", True)):
        part = [row for row in raw_calls(after) if (row["counted"] >= moment) == later]
        assert of_calls(rows, which, rates=False) == US(expected(part, by, None))


@needs_real_data
def test_a_real_task_that_was_written_after_hours_does_not_dilute_rates() -> None:
    assert REAL_DATA
    found = side(REAL_DATA / "TESTCHL.dat")
    assert found.total("messages") == US(956.3, abs=0.1)
    assert 956 < found.total("calls") < 956 + 4 * 60  # two tasks of four hours, two minutes each


STATISTICS = sorted(FIXTURES.glob("*.smf"))
if REAL_DATA:
    STATISTICS += [REAL_DATA / name for name in ("TEST115.dat", "TESTCHL.dat")]


@pytest.mark.parametrize("path", STATISTICS, ids=lambda path: path.name)
def test_figures_of_queue_managers_are_those_of_the_reports(path: Path) -> None:
    rows = compared(side(path), side(path), ["qmgr"])
    assert rows["before"].equals(rows["after"])
    found = {(row["qmgr"], row["figure"]): row["after"] for row in rows.to_dicts()}

    def check(qmgr: str, figure: str, value: float | None) -> None:
        assert found.get((qmgr, figure), 0) == US(value or 0), figure

    for row in report_rows("log", path, sections=TOTAL):
        if row["pages_per_copy"] is not None:
            check(row["qmgr"], "log_mb_per_second", row["mb_per_second"])
            check(row["qmgr"], "log_pages_per_io", row["pages_per_write"])
            check(row["qmgr"], "log_io_busy", row["io_busy"])
    pools = report_rows("buff", path, sections=TOTAL)
    assert pools
    for row in pools:
        pool, seconds = f"pool_{row['qpstpool']}", row["interval_seconds"]
        check(row["qmgr"], f"{pool}_gets_per_second", row["qpstgetp"] / seconds)
        check(row["qmgr"], f"{pool}_reads_per_second", row["qpstrio"] / seconds)
        check(row["qmgr"], f"{pool}_writes_per_second", row["qpstwio"] / seconds)
        if row["qpstwio"]:
            check(row["qmgr"], f"{pool}_pages_per_write", row["qpsttpw"] / row["qpstwio"])
        if row["qpstgetp"]:
            check(row["qmgr"], f"{pool}_reads_per_get", 100 * row["qpstrio"] / row["qpstgetp"])
    for row in report_rows("cf", path, sections=TOTAL):
        structure, seconds = f"cf_{row['qeststr'].strip()}", row["interval_seconds"]
        check(row["qmgr"], f"{structure}_single_per_second", row["qestcsec"] / seconds)
        check(row["qmgr"], f"{structure}_single_elapsed", row["single_average"])
        check(row["qmgr"], f"{structure}_multiple_per_second", row["qestcmec"] / seconds)
        check(row["qmgr"], f"{structure}_multiple_elapsed", row["multiple_average"])


def test_how_full_a_pool_was_is_that_of_its_intervals(halves: tuple[Side, Side]) -> None:
    found = figures(compared(*halves))
    blocks = pl.DataFrame(open_inputs([FIXTURE]).arrow("qpst"))
    late = pl.col("interval_start") >= NOON.replace(tzinfo=dt.UTC)
    chosen = blocks.filter(late, qmgr="QM01", qpstpool=3)
    used = 100 * (1 - chosen["qpstcbsl"].sum() / chosen["qpstnbuf"].sum())
    assert found["QM01", None, None, None, "pool_3_used"] == US(used)


def test_figures_of_tasks_are_sums_of_wtas(halves: tuple[Side, Side]) -> None:
    found = figures(compared(*halves))
    inputs = open_inputs([FIXTURE])
    names = pl.DataFrame(inputs.arrow("wtid")).select("record_no", job="wtidccn")
    tasks = pl.DataFrame(inputs.arrow("wtas")).join(names, on="record_no")
    length = pl.duration(microseconds=pl.col("interval_seconds") * 1e6)
    tasks = tasks.filter(pl.col("interval_start") + length > MIDST.replace(tzinfo=dt.UTC))
    columns = {"pages_old": "wtasgpo", "pages_new": "wtasgpn", "log_bytes": "wtasjwb"}
    for (qmgr, job), part in tasks.group_by("qmgr", "job"):
        for name, column in columns.items():
            value = part[column].cast(pl.Float64).sum() / 3600
            key = (qmgr, job, None, None, f"{name}_per_second")
            assert found.get(key, 0) == US(value, rel=1e-5)
        forces = part["wtasjcn"].sum()
        if forces:
            key = (qmgr, job, None, None, "log_force_wait")
            assert found[key] == US(part["wtasjcet"].sum() / forces)


# Time -----------------------------------------------------------------------------------------


def written(path: Path, *records: bytes) -> Path:
    path.write_bytes(rdw(records))
    return path


def putting(
    minute: int,
    puts: int = 10,
    cpu: int = 50,
    name: str = "LQ1",
    job: str = "R001",
    late: dt.timedelta = dt.timedelta(0),
    **of_task: Any,
) -> bytes:
    """A minute of a task that puts; it ends so many minutes after ENDED, and a moment late."""
    token, ended = task_token(1), ENDED + minute * MINUTE + late
    calls = {"putn": puts, "putct": cpu * puts, "putet": 2 * cpu * puts}
    return task_record(
        task(token, ended=ended, **of_task), queue(name, token, **calls), by=who(job), ended=ended
    )


WEST = dt.timedelta(hours=-4)
SPLIT = (ENDED + WEST).replace(tzinfo=None)
LATE = dt.timedelta(milliseconds=20)


def minutes(path: Path, numbers: Sequence[int], **more: Any) -> Path:
    return written(path, *(putting(number, **more) for number in numbers))


def test_statistics_and_tasks_are_on_the_side_of_their_middle(
    tmp_path: Path,
) -> None:
    start = SPLIT - dt.timedelta(minutes=1)
    path = written(
        tmp_path / "a.smf",
        putting(0),
        putting(0, late=LATE, puts=30),
        *(
            statistics_record(
                block("QMST", qmstput=puts), start=start + later * MINUTE + LATE, seconds=60
            )
            for later, puts in ((0, 60), (1, 120))
        ),
    )
    asked = ("--split-at", f"{SPLIT:%Y-%m-%dT%H:%M:%S}", "--by", "job")
    rows = rows_of(path, *asked)
    found = {(row["job"], row["figure"]): (row["before"], row["after"]) for row in rows}
    before, after = found["R001", "calls_per_second"]
    assert (before, after) == (pytest.approx(40 / 60, rel=1e-3), None)
    assert found[None, "puts_per_second"] == US((60 / 60, 120 / 60))
    assert "began before the split" not in run(path, *asked).stderr
    assert "before the split" not in run(path, path).stderr
    written(path, putting(0), putting(0, late=MINUTE * 3 / 4))
    told = "1 of the records of tasks began before the split and count after it"
    assert told in run(path, *asked).stderr


def test_seconds_are_those_of_intervals_without_the_gaps(tmp_path: Path) -> None:
    found = side(minutes(tmp_path / "a.smf", [0, 1, 60, 61]))
    assert (found.intervals, found.total("calls")) == (4, US(240))


def test_tasks_that_end_within_a_second_of_an_interval_do_not_shorten_it(tmp_path: Path) -> None:
    ended = ENDED - dt.timedelta(seconds=30)
    short = {"wtasints": ended, "wtasinte": ended + dt.timedelta(seconds=1), "wtasflag": "WTASAEOT"}
    path = written(tmp_path / "a.smf", *(putting(n) for n in range(3)), putting(0, **short))
    found = side(path)
    assert (found.intervals, found.total("calls")) == (3, US(180))


def test_intervals_are_longer_if_asked_but_never_shorter_than_recorded(tmp_path: Path) -> None:
    path = minutes(tmp_path / "a.smf", range(8))
    assert side(path, interval=120).intervals == 4
    assert side(path, interval=1).intervals == 8
    assert side(path, interval=1).total("calls") == US(480)
    assert "Intervals                    4" in run(path, path, "--interval", "2m").stdout


@pytest.mark.parametrize("length", [dt.timedelta(0), MINUTE])
def test_intervals_of_no_length_have_no_rates(tmp_path: Path, length: dt.timedelta) -> None:
    path = written(tmp_path / "a.smf", putting(0, wtasints=ENDED - length, wtasinte=ENDED))
    found = {row["figure"]: row for row in rows_of(path, path, "--by", "verb")}
    assert ("calls_per_second" in found) == bool(length)
    assert found["cpu_per_call"]["before"] == 50
    assert all(row["significant"] is None for row in found.values())


# Names ----------------------------------------------------------------------------------------


def test_queues_of_a_continuation_record_belong_to_the_job_and_interval(tmp_path: Path) -> None:
    token = task_token(1)
    block_ = task(token, wtaswqct=2, wtascmn=4)
    more = more_queues(queue("LQ2", token, getn=8, getct=80), by=who("OTHER"))
    first = task_record(block_, queue("LQ1", token, putn=1, putct=3), by=who("R001"))
    path = written(tmp_path / "a.smf", first, more)
    for paths in ((path, path), (path, "--split-at", f"{SPLIT:%Y-%m-%dT%H:%M:%S}")):
        rows = rows_of(*paths)
        got = {row["figure"]: row["before"] for row in rows if row["queue"] == "LQ2"}
        assert {row["job"] for row in rows} == {"R001"}
        assert got["cpu_per_call"] == 10
        assert got["cpu_per_commit"] == 20
        assert got["calls_per_second"] == US(8 / 60)


def test_commits_are_all_of_the_job_also_where_a_queue_was_not_used(tmp_path: Path) -> None:
    path = written(
        tmp_path / "a.smf",
        putting(0, wtascmn=5),
        putting(1, wtascmn=0),
        putting(2, wtascmn=15, name="LQ2"),
    )
    rows = rows_of(path, path, "--by", "job,queue")
    found = {row["queue"]: row["after"] for row in rows if row["figure"] == "cpu_per_commit"}
    assert found == {"LQ1": US(1000 / 20), "LQ2": US(500 / 20)}


def test_what_is_new_and_what_is_gone(tmp_path: Path) -> None:
    before = minutes(tmp_path / "a.smf", range(3), name="OLD")
    after = minutes(tmp_path / "b.smf", range(3), name="NEW", job="R002")
    rows = rows_of(before, after)
    assert {row["significant"] for row in rows} == {None}
    assert {(row["queue"], row["after"]) for row in rows if row["before"]} == {("OLD", None)}
    assert {(row["queue"], row["before"]) for row in rows if row["after"]} == {("NEW", None)}
    assert all(row["difference"] is None and row["ratio"] is None for row in rows)
    text = run(before, after).stdout
    blocks = re.split(r"\n\n", text)
    (gone,) = [each for each in blocks if each.startswith("Only before: 1")]
    (new,) = [each for each in blocks if each.startswith("Only after: 1")]
    assert ("OLD" in gone, "NEW" in gone) == (True, False)
    assert ("OLD" in new, "NEW" in new) == (False, True)
    assert "too few intervals" not in text


@pytest.mark.parametrize(
    "renames",
    [["LQ%=SQ%"], ["LQ*=SQ*"], ["lq%=SQ%"], ["LQ1=SQ1"], ["LQ1=SQ1", "SQ1=XX"], ["%1=SQ1"]],
    ids=str,
)
def test_what_is_called_otherwise_is_matched(tmp_path: Path, renames: list[str]) -> None:
    before = minutes(tmp_path / "a.smf", range(3))
    after = minutes(tmp_path / "b.smf", range(3), name="SQ1")
    options = [each for text in renames for each in ("--rename", text)]
    job = {"R001", "SQ1"} if renames == ["%1=SQ1"] else {"R001"}
    rows = rows_of(before, after, *options)
    assert {row["job"] for row in rows} == job
    of_puts = [row for row in rows if row["figure"] == "cpu_per_call"]
    assert {row["queue"] for row in of_puts} == {"SQ1"}
    if len(job) == 1:
        assert [row["ratio"] for row in of_puts] == [1.0]


def test_names_are_exchanged_and_keep_their_case_and_odd_characters() -> None:
    names = pl.DataFrame({name: ["A.B", "AXB", "B$", "Mixed"] for name in ("qmgr", "job", "queue")})
    found = Side(names, names).renamed(map(Rename.of, ["A.B=B$", "B$=A.B", "mixed = Other"])).rows
    assert found["queue"].to_list() == ["B$", "AXB", "A.B", "Other"]


def test_two_names_that_become_one_are_added_up(tmp_path: Path) -> None:
    before = written(
        tmp_path / "a.smf",
        *(putting(n, name=name) for n in range(2) for name in ("LQ1", "LQ2")),
        putting(0, name="LQ3", cpu=110),
    )
    after = minutes(tmp_path / "b.smf", range(2), name="ALL")
    rows = rows_of(before, after, "--rename", "LQ%=ALL")
    found = {row["figure"]: row["before"] for row in rows if row["queue"] == "ALL"}
    assert found["calls_per_second"] == US(50 / 120)
    assert found["cpu_per_call"] == US((40 * 50 + 10 * 110) / 50)


@pytest.mark.parametrize("text", ["", "A", "=B", "A=", "A%%=B", "A=%", "A%=B%%"])
def test_what_is_no_rename_is_said(text: str) -> None:
    with pytest.raises(RequestError, match=r"renames=.*(LQ%=SQ%|write one in OLD)"):
        Rename.of(text)
    result = run(FIXTURE, FIXTURE, "--rename", text)
    assert (result.exit_code, result.stdout) == (2, "")


def test_queue_managers_are_added_up_or_told_apart() -> None:
    whole = side(FIXTURE)
    assert whole.qmgrs == ["QM01", "QM02"]
    rows = compared(whole, whole, ["qmgr"])
    apart = figures(rows)
    (together,) = figures(compared(whole, whole, []).filter(figure="cpu_per_second")).values()
    of_each = [apart[qmgr, None, None, None, "cpu_per_second"] for qmgr in whole.qmgrs]
    assert sum(of_each) == US(together, rel=1e-5)
    assert whole.cpu_per_second == US(together)
    assert whole.total("messages") == 7200


# Forms ----------------------------------------------------------------------------------------


def test_csv_and_json_are_one_flat_table() -> None:
    result = run(FIXTURE, "--split-at", "2026-03-04T10:00", "--format", "csv")
    lines = result.stdout.splitlines()
    assert lines[0] == (
        "qmgr,job,queue,verb,figure,before,after,difference,ratio,significant,"
        "before_seconds,after_seconds"
    )
    rows = rows_of(FIXTURE, "--split-at", "2026-03-04 10:00")
    told = list(csv.DictReader(io.StringIO(result.stdout)))
    assert len(told) == len(rows) > 300
    for text, row in zip(told, rows, strict=True):
        assert list(row) == list(COLUMNS)
        shown = [row[name] for name in (*NAMES, "figure")]
        assert [text[name] or None for name in (*NAMES, "figure")] == shown
        numbers = [row[name] for name in ("before", "after", "difference", "ratio")]
        assert [float(text[name]) if text[name] else None for name in COLUMNS[5:9]] == numbers
        assert text["significant"] == {None: "", True: "true", False: "false"}[row["significant"]]
        assert all(value is None or math.isfinite(value) for value in numbers)


def test_significant_rows_come_first(tmp_path: Path) -> None:
    """Behind them stand those that move the total most."""

    def site(path: Path, costs: dict[str, int]) -> Path:
        records = [
            putting(n, puts=100 + n, cpu=cpu, name=name)
            for n in range(6)
            for name, cpu in costs.items()
        ]
        return written(path, *records)

    costs = {f"Q{number:02}": 10 + number for number in range(20)}
    before = site(tmp_path / "a.smf", costs)
    after = site(tmp_path / "b.smf", costs | {"Q05": 30, "Q07": 22})
    rows = rows_of(before, after)
    ranks = [row["significant"] is not True for row in rows]
    assert ranks == sorted(ranks)
    assert [row["queue"] for row in rows if row["significant"]] == ["Q05", "Q07"]
    assert {row["figure"] for row in rows if row["significant"]} == {"cpu_per_call"}
    moved = {
        tuple(row[name] for name in NAMES): abs((row["after"] or 0) - (row["before"] or 0))
        for row in rows
        if row["figure"] == "cpu_per_second"
    }
    effects = [moved.get(tuple(row[name] for name in NAMES), -1.0) for row in rows]
    for found in (True, False):
        part = [effect for effect, rank in zip(effects, ranks, strict=True) if rank is not found]
        assert part == sorted(part, reverse=True)
    text = run(before, after, "--top", "3").stdout
    assert "Changed by more than 6 % and more than intervals vary: 2\n" in text
    assert re.search(r"Other figures, by change in CPU time: 3 of \d+, see --top", text)
    none = run(before, after, "--tolerance", "200", "--top", "0").stdout
    sentence = "Nothing changed by more than 200 % and by more than intervals vary by themselves."
    assert f"\n{sentence}\n" in none
    page = run(before, after, "--tolerance", "200", "--top", "0", "--format", "html").stdout
    assert f"<p>{sentence}</p>" in page
    assert "vary: none" not in page


def test_pools_come_in_the_order_of_their_numbers() -> None:
    found = [row["figure"] for row in rows_of(FIXTURE, FIXTURE) if row["qmgr"] == "QM01"]
    used = [name for name in found if re.fullmatch(r"pool_\d+_used", name)]
    assert used == [f"pool_{number}_used" for number in range(12)]


def test_one_interval_a_side_tells_nothing_from_chance(tmp_path: Path) -> None:
    before, after = (minutes(tmp_path / name, [0], cpu=cpu) for name, cpu in (("a", 5), ("b", 50)))
    assert {row["significant"] for row in rows_of(before, after)} == {None}
    assert (
        "\nToo few intervals to judge a change: each side needs two. " in run(before, after).stdout
    )


def test_what_was_recorded_without_intervals_is_cut_into_some_if_asked(tmp_path: Path) -> None:
    paths = [
        minutes(tmp_path / name, range(6), cpu=cpu, wtasflag="WTASAEOT")
        for name, cpu in (("a", 50), ("b", 150))
    ]
    assert side(paths[0]).intervals == 1
    assert "Try --interval 15m." in run(*paths).stdout
    assert side(paths[0], interval=60).intervals == 6
    rows = rows_of(*paths, "--interval", "1m")
    assert [row["significant"] for row in rows if row["figure"] == "cpu_per_call"] == [True]


def test_two_columns_like_a_task_report(tmp_path: Path) -> None:
    before = minutes(tmp_path / "a.smf", range(2), wtasgpo=3, wtascmn=2, wtascmct=24)
    after = minutes(tmp_path / "b.smf", range(2), cpu=75, name="SQ1", wtasgpo=6)
    result = run(before, after, "--side-by-side", "--rename", "LQ%=SQ%")
    lines = [" ".join(line.split()) for line in result.stdout.splitlines()]
    assert lines[0] == "VTS1 Jobname:R001 Before After Ratio"
    assert "Pages old 6 12 2.00" in lines
    assert "Commit count 4 - -" in lines
    assert "Commit avg CPU time uS 12 - -" in lines
    place = lines.index("Queue name SQ1")
    assert lines[place + 1 : place + 4] == [
        "Put count 20 20 1.00",
        "Put avg elapsed time uS 100 150 1.50",
        "Put avg CPU time uS 50 75 1.50",
    ]
    assert "Total job CPU time uS 1048 1500 1.43" in lines


def test_figures_are_explained_without_input() -> None:
    result = run("--explain")
    assert (result.exit_code, result.stderr) == (0, "")
    said = result.stdout.splitlines()
    assert len(said) == len(MEASURES)
    assert "log_force_wait [us] = WTASJCET / WTASJCN" in said


# Inputs ---------------------------------------------------------------------------------------


def test_raw_parquet_and_packed_give_the_same(tmp_path: Path) -> None:
    packed, folder = tmp_path / "a.smf.gz", tmp_path / "tables"
    packed.write_bytes(gzip.compress(FIXTURE.read_bytes()))
    CliRunner().invoke(main, ["convert", str(FIXTURE), "--to", str(folder)])
    other = FIXTURES / "qm100.smf"
    whole = run(FIXTURE, other, "--format", "csv").stdout
    assert run(folder, other, "--format", "csv").stdout == whole
    assert run(packed, other, "--format", "csv").stdout == whole
    by = ["--format", "csv", "--by", "queue,verb"]
    assert run(other, folder, *by).stdout == run(other, FIXTURE, *by).stdout
    split = ["--split-at", "2026-03-04T10:00", "--format", "csv"]
    assert run(folder, *split).stdout == run(FIXTURE, *split).stdout


def test_a_folder_is_the_union_of_its_files(tmp_path: Path) -> None:
    folder = tmp_path / "dumps"
    folder.mkdir()
    first, second = minutes(folder / "a.smf", [0, 1]), minutes(folder / "b.smf", [2, 3], cpu=70)
    whole = tmp_path / "whole.smf"
    whole.write_bytes(first.read_bytes() + second.read_bytes())
    assert rows_of(folder, FIXTURE) == rows_of(whole, FIXTURE)
    at = ["--split-at", f"{SPLIT + dt.timedelta(minutes=1):%Y-%m-%dT%H:%M:%S}"]
    assert rows_of(first, second, *at) == rows_of(first, second) == rows_of(folder, *at)


def test_damage_of_both_inputs_is_told(tmp_path: Path) -> None:
    cut = [tmp_path / name for name in ("before.smf", "after.smf")]
    for path in cut:
        path.write_bytes(rdw([putting(0), putting(1)])[:-5])
    result = run(*cut)
    assert result.exit_code == 4
    assert [line.count("the file is cut") for line in result.stderr.splitlines()[:2]] == [1, 1]
    assert all(
        str(path) in line for path, line in zip(cut, result.stderr.splitlines(), strict=False)
    )
    assert run(cut[0], FIXTURE).exit_code == run(FIXTURE, cut[1]).exit_code == 4
    strict = run(FIXTURE, cut[1], "--strict")
    assert (strict.exit_code, strict.stdout) == (8, "")
    same = run(cut[0], cut[0])
    assert same.stderr.count("the file is cut") == 1


def test_without_class_3_the_trace_is_named(tmp_path: Path) -> None:
    none = written(tmp_path / "a.smf", connection_record(cpu_us=5))
    trace = (
        "so no calls to compare (116 subtype 1: WTAS, WQST): START TRACE(ACCTG) CLASS(3) writes "
        "the data\n"
    )
    for paths, lacking in (
        ((none, none), "before and after"),
        ((none, FIXTURE), "before"),
        ((FIXTURE, none), "after"),
    ):
        result = run(*paths)
        assert result.exit_code == 0
        assert result.stderr == f"smfparse: no class 3 accounting {lacking}, {trace}"
    assert not rows_of(none, none)
    assert run(none, none, "--side-by-side").stdout == ""
    shown = run(none, FIXTURE).stdout
    assert "Queue managers               -       QM01, QM02" in shown
    assert "Only after: 20 of " in shown
    chosen = run(FIXTURE, FIXTURE, "--type", "115")
    assert (chosen.exit_code, chosen.stderr.count("\n")) == (0, 2)
    assert chosen.stderr.endswith("only records with these were read: type 115\n")
    chosen = run(FIXTURE, FIXTURE, "--job", "NONE")
    assert chosen.exit_code == 0
    assert "the selection matches no record" in chosen.stderr
    assert "START TRACE" not in chosen.stderr


@pytest.mark.parametrize(
    ("arguments", "way_out"),
    [
        ([], "BEFORE and AFTER; or cut some by --split-at TIME"),
        (["FILE"], "BEFORE and AFTER; or cut some by --split-at TIME"),
        (["FILE", "FILE", "FILE"], "BEFORE and AFTER; or cut some by --split-at TIME"),
        (["--split-at", "2026-03-04"], "INPUT"),
        (["FILE", "--split-at", "1000"], "has no day; write it like 2026-03-04, 2026-03-04T09:00"),
        (["FILE", "--split-at", "noon"], "2026-03-04T09:00"),
        (["FILE", "FILE", "--by", "user"], "--by user: unknown name; it takes qmgr, job"),
        (["FILE", "FILE", "--by", ""], "it takes qmgr, job, queue, verb"),
        (["FILE", "FILE", "--interval", "7m"], "30s, 15m, 1h"),
        (["FILE", "FILE", "--tolerance", "-1"], "x>=0"),
        (["FILE", "FILE", "--top", "-1"], "x>=0"),
        (["FILE", "FILE", "--side-by-side", "--format", "csv"], "--side-by-side prints text"),
        (["FILE", "FILE", "--side-by-side", "--format", "json"], "--side-by-side prints text"),
        (["FILE", "FILE", "--output", __file__], "--force replaces it"),
        (["FILE", "FILE", "--output", "FILE", "--force"], "name another output"),
    ],
    ids=str,
)
def test_a_wrong_call_says_the_way_out(arguments: list[str], way_out: str, tmp_path: Path) -> None:
    content = FIXTURE.read_bytes()
    dump = tmp_path / "dump"
    dump.write_bytes(content)
    result = run(*[dump if each == "FILE" else each for each in arguments])
    assert (result.exit_code, result.stdout) == (2, "")
    assert way_out in result.stderr
    assert dump.read_bytes() == content


def test_what_to_tell_apart_may_be_said_in_any_order_and_case() -> None:
    assert rows_of(FIXTURE, FIXTURE, "--by", "Verb, qmgr,verb") == rows_of(
        FIXTURE, FIXTURE, "--by", "qmgr,verb"
    )


# Hostile --------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def dense(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Two files in which every field has whatever value it can hold."""
    folder = tmp_path_factory.mktemp("dense")
    paths = [folder / f"{seed}.smf" for seed in (1, 2)]
    for seed, path in enumerate(paths):
        generate_dump(path, seed=seed, tasks=5, count=4, dense=True)
    return paths


@pytest.mark.parametrize("by", [list(NAMES), ["qmgr"], ["verb"], []], ids=str)
def test_whatever_fields_hold_there_are_figures(dense: list[Path], by: list[str]) -> None:
    first, second = (side(path) for path in dense)
    for pair in ((first, first), (first, second)):
        rows = compared(*pair, by)
        assert rows.height
        values = rows.select("before", "after", "difference", "ratio").to_numpy().ravel()
        assert not any(math.isinf(value) for value in values)


def test_whatever_fields_hold_there_is_text(dense: list[Path]) -> None:
    for options in ([], ["--side-by-side"], ["--format", "csv"], ["--format", "json"]):
        result = run(*dense, *options)
        assert (result.exit_code, result.stderr) == (0, "")
        assert result.stdout
    result = run(dense[0], "--split-at", "2026-03-04T10:00")
    assert (result.exit_code, result.stderr) == (0, "")
