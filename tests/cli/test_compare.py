"""The command compare: its arguments, forms, times and names."""

from __future__ import annotations

import csv
import datetime as dt
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
from click.testing import Result

from smfparse.comparing import COLUMNS, MEASURES, NAMES, Rename, Side, Split, compared, measured
from smfparse.comparing.printing import side_by_side
from smfparse.errors import RequestError
from smfparse.inputs import ReadOptions, open_inputs
from smfparse.simulating import load_estate, simulate
from tests.support import command
from tests.support.builders import rdw
from tests.support.generated import generate_dump
from tests.support.paths import SMF as FIXTURE
from tests.support.real import case
from tests.support.smf import (
    ENDED,
    MINUTE,
    WEST,
    block,
    connection_record,
    queue,
    task,
    task_record,
    task_token,
    who,
)
from tests.support.smf import record as statistics_record

pytestmark = pytest.mark.slow

US = pytest.approx


def run(*arguments: object) -> Result:
    return command.run("compare", *arguments)


def rows_of(*arguments: object) -> list[dict[str, Any]]:
    found = json.loads(run(*arguments, "--format", "json").stdout)
    findings = ["new_findings", "worse_findings", "gone_findings"]
    assert [*found] in (
        ["report", "before", "after", *findings, "hours", "rows"],
        ["report", "before", "after", "hours", "rows"],
    )
    assert found["report"] == "compare"
    rows: list[dict[str, Any]] = found["rows"]
    return rows


@cache
def side(*paths: Path, split: Split | None = None, interval: int | None = None) -> Side:
    """What is measured of files, which no test changes."""
    return measured(open_inputs(paths, ReadOptions(jobs=1)), split, interval)


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


SPLIT = (ENDED + WEST).replace(tzinfo=None)
LATE = dt.timedelta(milliseconds=20)


def minutes(path: Path, numbers: Sequence[int], **more: Any) -> Path:
    return written(path, *(putting(number, **more) for number in numbers))


def test_statistics_and_tasks_are_on_the_side_of_their_middle(tmp_path: Path) -> None:
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
    result = run(path, *asked, "--format", "json")
    assert "before the split" not in result.stderr
    rows = json.loads(result.stdout)["rows"]
    found = {(row["job"], row["figure"]): (row["before"], row["after"]) for row in rows}
    before, after = found["R001", "calls_per_second"]
    assert (before, after) == (pytest.approx(40 / 60, rel=1e-3), None)
    assert found[None, "puts_per_second"] == US((60 / 60, 120 / 60))
    written(path, putting(0), putting(0, late=MINUTE * 3 / 4))
    told = "1 of the records of tasks began before the split and count after it"
    assert told in run(path, *asked).stderr


def test_seconds_are_those_of_intervals_without_the_gaps(tmp_path: Path) -> None:
    """Tasks that end within a second of an interval do not shorten it."""
    found = side(minutes(tmp_path / "a.smf", [0, 1, 60, 61]))
    assert (found.intervals, found.total("calls")) == (4, US(240))
    ended = ENDED - dt.timedelta(seconds=30)
    short = {"wtasints": ended, "wtasinte": ended + dt.timedelta(seconds=1), "wtasflag": "WTASAEOT"}
    records = [*(putting(n) for n in range(3)), putting(0, **short)]
    found = side(written(tmp_path / "b.smf", *records))
    assert (found.intervals, found.total("calls")) == (3, US(180))


def test_intervals_are_longer_if_asked_but_never_shorter_than_recorded(tmp_path: Path) -> None:
    path = minutes(tmp_path / "a.smf", range(8))
    assert side(path, interval=120).intervals == 4
    assert side(path, interval=1).intervals == 8
    assert side(path, interval=1).total("calls") == US(480)


def test_intervals_of_no_length_have_no_rates(tmp_path: Path) -> None:
    for length in (dt.timedelta(0), MINUTE):
        path = tmp_path / f"{length.seconds}.smf"
        whole = side(written(path, putting(0, wtasints=ENDED - length, wtasinte=ENDED)))
        found = {row["figure"]: row for row in compared(whole, whole, ["verb"]).to_dicts()}
        assert ("calls_per_second" in found) == bool(length)
        assert found["cpu_per_call"]["before"] == 50
        assert all(row["significant"] is None for row in found.values())


def test_what_is_new_and_what_is_gone(tmp_path: Path) -> None:
    before = minutes(tmp_path / "a.smf", range(3), name="OLD")
    after = minutes(tmp_path / "b.smf", range(3), name="NEW", job="R002")
    rows = compared(side(before), side(after)).to_dicts()
    assert {(row["queue"], row["after"]) for row in rows if row["before"]} == {("OLD", None)}
    assert {(row["queue"], row["before"]) for row in rows if row["after"]} == {("NEW", None)}
    names = ("significant", "difference", "ratio")
    assert {row[name] for row in rows for name in names} == {None}
    text = run(before, after).stdout
    (gone,) = [each for each in text.split("\n\n") if each.startswith("Only before: 1")]
    (new,) = [each for each in text.split("\n\n") if each.startswith("Only after: 1")]
    assert ("OLD" in gone, "NEW" in gone) == (True, False)
    assert ("OLD" in new, "NEW" in new) == (False, True)
    assert "too few intervals" not in text


def test_what_is_called_otherwise_is_matched(tmp_path: Path) -> None:
    before = side(minutes(tmp_path / "a.smf", range(3)))
    after = side(minutes(tmp_path / "b.smf", range(3), name="SQ1"))
    for renames in (["LQ%=SQ%"], ["LQ*=SQ*"], ["lq%=SQ%"], ["LQ1=SQ1", "SQ1=XX"], ["%1=SQ1"]):
        job = {"R001", "SQ1"} if renames == ["%1=SQ1"] else {"R001"}
        rows = compared(before, after, renames=map(Rename.of, renames))
        of_puts = rows.filter(figure="cpu_per_call")
        assert {*rows["job"]} == job, renames
        assert {*of_puts["queue"]} == {"SQ1"}, renames
        assert len(job) > 1 or of_puts["ratio"].to_list() == [1.0], renames


def test_names_are_exchanged_and_keep_their_case_and_odd_characters() -> None:
    names = pl.DataFrame({name: ["A.B", "AXB", "B$", "Mixed"] for name in ("qmgr", "job", "queue")})
    found = Side(names, names).renamed(map(Rename.of, ["A.B=B$", "B$=A.B", "mixed = Other"])).rows
    assert found["queue"].to_list() == ["B$", "AXB", "A.B", "Other"]


def test_what_is_no_rename_is_said() -> None:
    for text in ("", "A", "=B", "A=", "A%%=B", "A=%", "A%=B%%"):
        with pytest.raises(RequestError, match=r"renames=.*(LQ%=SQ%|write one in OLD)"):
            Rename.of(text)
    result = run(FIXTURE, FIXTURE, "--rename", "A")
    assert (result.exit_code, result.stdout) == (2, "")


def test_queue_managers_are_added_up_if_nothing_is_told_apart() -> None:
    whole = side(FIXTURE)
    assert whole.qmgrs == ["QM01", "QM02"]
    apart, (together,) = (
        compared(whole, whole, by).filter(figure="cpu_per_second")["after"].to_list()
        for by in (["qmgr"], [])
    )
    assert sum(apart) == US(together, rel=1e-5) == whole.cpu_per_second


@pytest.mark.long
def test_csv_and_json_are_one_flat_table() -> None:
    result = run(FIXTURE, "--split-at", "2026-03-04T10:00", "--format", "csv")
    rows = rows_of(FIXTURE, "--split-at", "2026-03-04 10:00")
    told = list(csv.DictReader(io.StringIO(result.stdout)))
    assert result.stdout.splitlines()[0] == ",".join(COLUMNS)
    assert len(told) == len(rows) > 300
    for text, row in zip(told, rows, strict=True):
        assert list(row) == list(COLUMNS)
        shown = [row[name] for name in (*NAMES, "figure")]
        assert [text[name] or None for name in (*NAMES, "figure")] == shown
        numbers = [row[name] for name in ("before", "after", "difference", "ratio")]
        assert [float(text[name]) if text[name] else None for name in COLUMNS[5:9]] == numbers
        assert text["significant"] == {None: "", True: "true", False: "false"}[row["significant"]]


def test_significant_rows_come_first(tmp_path: Path) -> None:
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
    rows = compared(side(before), side(after)).to_dicts()
    severities = [row["significant"] is not True for row in rows]
    assert severities == sorted(severities)
    assert [row["queue"] for row in rows if row["significant"]] == ["Q05", "Q07"]
    assert {row["figure"] for row in rows if row["significant"]} == {"cpu_per_call"}
    text = run(before, after, "--top", "3", "--by", "Queue, verb,queue").stdout
    assert "Changed by more than 6 % and more than intervals vary: 2\n" in text
    assert re.search(r"Other figures, by change; names with .* first: 3 of \d+, see --top", text)
    none = run(before, after, "--tolerance", "200", "--top", "0", "--format", "html").stdout
    sentence = (
        "No figure certainly changed: none by more than 200 % and by more than intervals "
        "vary by themselves."
    )
    assert f"<p>{sentence}</p>" in none
    assert "vary: none" not in none


@pytest.mark.long
def test_what_was_recorded_without_intervals_is_cut_into_some_if_asked(tmp_path: Path) -> None:
    paths = [
        minutes(tmp_path / name, range(6), cpu=cpu, wtasflag="WTASAEOT")
        for name, cpu in (("a", 50), ("b", 150))
    ]
    assert side(paths[0]).intervals == 1
    text = run(*paths).stdout
    assert "\nToo few intervals to judge a change: each side needs two. " in text
    assert "Try --interval 15m." in text
    assert {*compared(side(paths[0]), side(paths[1]))["significant"]} == {None}
    rows = rows_of(*paths, "--interval", "1m")
    assert [row["significant"] for row in rows if row["figure"] == "cpu_per_call"] == [True]


def test_two_columns_like_a_task_report(tmp_path: Path) -> None:
    before = minutes(tmp_path / "a.smf", range(2), wtascmn=2, wtascmct=24)
    after = minutes(tmp_path / "b.smf", range(2), cpu=75, name="SQ1")
    result = run(before, after, "--side-by-side", "--rename", "LQ%=SQ%")
    lines = [" ".join(line.split()) for line in result.stdout.splitlines()]
    assert lines[0] == "VTS1 Jobname:R001 Before After Ratio"
    assert "Commit avg CPU time uS 12 - -" in lines
    place = lines.index("Queue name SQ1")
    assert lines[place + 1] == "Put count 20 20 1.00"
    assert "Total job CPU time uS 1048 1500 1.43" in lines


def test_figures_are_explained_without_input() -> None:
    result = run("--explain")
    assert (result.exit_code, result.stderr) == (0, "")
    said = result.stdout.splitlines()
    assert len(said) == len(MEASURES)
    assert "log_force_wait [us] = WTASJCET / WTASJCN" in said


def test_damage_of_both_inputs_is_told(tmp_path: Path) -> None:
    cut = [tmp_path / name for name in ("before.smf", "after.smf")]
    for path in cut:
        path.write_bytes(rdw([putting(0), putting(1)])[:-5])
    result = run(*cut)
    assert result.exit_code == 4
    for path, line in zip(cut, result.stderr.splitlines(), strict=False):
        assert (str(path) in line, line.count("the file is cut")) == (True, 1)
    assert run(cut[0], cut[0]).stderr.count("the file is cut") == 1


def test_without_class_3_the_trace_is_named(tmp_path: Path) -> None:
    none = written(tmp_path / "a.smf", connection_record(cpu_us=5))
    some = minutes(tmp_path / "b.smf", [0])
    trace = (
        "so no calls to compare (116 subtype 1: WTAS, WQST): START TRACE(ACCTG) CLASS(3) writes "
        "the data\n"
    )
    for paths, lacking in (((none, none), "before and after"), ((some, none), "after")):
        result = run(*paths)
        assert result.exit_code == 0
        assert result.stderr == f"smfparse: no class 3 accounting {lacking}, {trace}"
    chosen = run(some, some, "--keep-duplicates", "--type", "115")
    assert chosen.exit_code == 8
    assert "no records match type 115" in chosen.stderr
    assert "START TRACE" not in chosen.stderr


INPUTS = "BEFORE and AFTER; or cut some by --split-at TIME"
WRONG = {
    "": INPUTS,
    "FILE": INPUTS,
    "FILE FILE FILE": INPUTS,
    "--split-at 2026-03-04": "INPUT",
    "FILE --split-at 1000": "has no day; write it like 2026-03-04, 2026-03-04T09:00",
    "FILE --split-at noon": "2026-03-04T09:00",
    "FILE FILE --by user": "--by user: unknown name; it takes qmgr, job",
    "FILE FILE --by=": "it takes qmgr, job, queue, verb",
    "FILE FILE --interval 7m": "30s, 15m, 1h",
    "FILE FILE --tolerance -1": "x>=0",
    "FILE FILE --top -1": "x>=0",
    "FILE FILE --side-by-side --format csv": "--side-by-side prints text",
    "FILE FILE --output FILE --force": "name another output",
}


def test_a_wrong_call_says_the_way_out(tmp_path: Path) -> None:
    dump = minutes(tmp_path / "dump", [0])
    content = dump.read_bytes()
    for call, way_out in WRONG.items():
        result = run(*[dump if each == "FILE" else each for each in call.split()])
        assert (result.exit_code, result.stdout) == (2, ""), call
        assert way_out in result.stderr
        assert dump.read_bytes() == content


def test_whatever_fields_hold_there_are_figures_and_text(tmp_path: Path) -> None:
    dense = [tmp_path / f"{seed}.smf" for seed in (1, 2)]
    for seed, path in enumerate(dense):
        generate_dump(path, seed=seed, tasks=2, count=3, dense=True)
    first, second = (side(path) for path in dense)
    for by in (list(NAMES), []):
        rows = compared(first, second, by)
        assert rows.height
        values = rows.select("before", "after", "difference", "ratio").to_numpy().ravel()
        assert not any(math.isinf(value) for value in values)
    assert [*side_by_side(first, second, ())]


@pytest.mark.parametrize(
    "chosen", [(), ("--from", "09:30", "--until", "10:29"), ("--from", "10:20", "--until", "10:49")]
)
def test_calls_are_divided_by_all_of_the_time_that_their_records_cover(
    chosen: tuple[str, ...],
) -> None:
    """Statistics of a minute, class 3 of 30 minutes, 1.667 gets per second."""
    path = case("stat1_acct30")
    rows = [
        row
        for row in rows_of(path, path, *chosen)
        if row["figure"] == "calls_per_second" and row["verb"] == "get"
    ]
    assert [row["before"] for row in rows] == [US(1000 / 600, rel=1e-3)]


def test_findings_stand_first_then_what_changed_most_then_its_hour(tmp_path: Path) -> None:
    """A day with a slow log from 14:20 to 14:50, against the same day without."""
    days = []
    for name, incidents in (("usual", []), ("slow", ["log-slow@14:20/30m"])):
        days.append(tmp_path / f"{name}.smf")
        simulate(days[-1], load_estate("payments", incidents))
    found = json.loads(run(*days, "--format", "json").stdout)
    assert "D2" in {each["rule"] for each in found["new_findings"]}
    by_hour = {each["hour"]: each["ratio"] for each in found["hours"]}
    assert [*by_hour] == [*range(24)]
    assert max(by_hour, key=lambda hour: by_hour[hour]) == 14
    assert all(0.98 < ratio < 1.02 for hour, ratio in by_hour.items() if hour not in (14, 15))
    lines = run(*days, "--top", "12").stdout.splitlines()
    titles = [each.partition(":")[0] for each in lines]
    parts = ("New findings", "No figure certainly changed", "Hours that changed most")
    places = [titles.index(each) for each in parts]
    assert places == sorted(places)
    first = lines.index(next(each for each in lines if each.startswith("Other figures"))) + 2
    ratios = [float(each.split()[-1]) for each in lines[first : first + 12]]
    assert ratios == sorted(ratios, reverse=True)
    assert ratios[0] > 1.3
    assert any("elapsed_per_call" in each for each in lines[first : first + 12])


def test_findings_of_both_parts_of_a_file_are_compared(tmp_path: Path) -> None:
    day = tmp_path / "day.smf"
    simulate(day, load_estate("payments", ["log-slow@14:20/30m"]))
    found = json.loads(run(day, "--split-at", "2026-03-04T12:00", "--format", "json").stdout)
    assert "D2" in {each["rule"] for each in found["new_findings"]}
    assert "D2" not in {each["rule"] for each in found["gone_findings"]}
