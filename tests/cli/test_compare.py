"""The command compare: its arguments, forms, times and names."""

from __future__ import annotations

import csv
import datetime as dt
import json
import math
import re
from collections.abc import Sequence
from functools import cache, partial
from itertools import product
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from smfparse.decoding.selection import Selection
from smfparse.errors import RequestError
from smfparse.inputs.opening import open_inputs
from smfparse.inputs.options import ReadOptions
from smfparse.rendering.formats import lines
from smfparse.simulating.reading_toml import load_estate
from smfparse.simulating.run import simulate
from smfparse.summarizing.changes import COLUMNS, NAMES, compared
from smfparse.summarizing.compare_figures import MEASURES
from smfparse.summarizing.compare_printing import ComparisonDocument, side_by_side
from smfparse.summarizing.sides import Rename, Side, absent, measured
from tests.support import command, smf
from tests.support.builders import put
from tests.support.generated import generate_dump
from tests.support.real import case
from tests.support.smf import ENDED, MINUTE, WEST

pytestmark = pytest.mark.slow
without_rules = pytest.mark.usefixtures("unjudged")

US = pytest.approx
run = partial(command.run, "compare")
document = partial(command.in_json, "compare")


@cache
def side(path: Path, interval: int | None = None) -> Side:
    """What is measured of a file, which no test changes."""
    return measured(open_inputs([path], ReadOptions(jobs=1)), interval)


def shown(before: Path, after: Path, top: int = 20, form: str = "text") -> str:
    """The document of a comparison without rules."""
    sides = side(before), side(after)
    document = ComparisonDocument(compared(*sides), *sides, 0.06, top, None)
    return "".join(f"{line}\n" for line in lines(document, form))


def words(text: str) -> list[str]:
    return [" ".join(line.split()) for line in text.splitlines()]


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
    token, ended = smf.task_token(1), ENDED + minute * MINUTE + late
    calls = {"putn": puts, "putct": cpu * puts, "putet": 2 * cpu * puts}
    task = smf.task(token, ended=ended, **of_task)
    return smf.task_record(task, smf.queue(name, token, **calls), by=smf.who(job), ended=ended)


SPLIT = (ENDED + WEST).replace(tzinfo=None)
LATE = dt.timedelta(milliseconds=20)


def minutes(path: Path, numbers: Sequence[int], **more: Any) -> Path:
    return put(path, *(putting(number, **more) for number in numbers))


@without_rules
def test_statistics_and_tasks_are_on_the_side_of_their_middle(tmp_path: Path) -> None:
    counted = (
        smf.record(smf.block("QMST", qmstput=puts), start=SPLIT + later * MINUTE + LATE, seconds=60)
        for later, puts in ((-1, 60), (0, 120))
    )
    path = put(tmp_path / "a.smf", putting(0), putting(0, late=LATE, puts=30), *counted)
    asked = ("--split-at", f"{SPLIT:%Y-%m-%dT%H:%M:%S}", "--by", "job")
    rows = document(path, *asked)["rows"]
    found = {(row["job"], row["figure"]): (row["before"], row["after"]) for row in rows}
    assert found["R001", "calls_per_second"] == (US(40 / 60, rel=1e-3), None)
    assert found[None, "puts_per_second"] == US((60 / 60, 120 / 60))
    put(path, putting(0), putting(0, late=MINUTE * 3 / 4))
    assert "1 task record began before the split and count after it" in run(path, *asked).stderr


def test_intervals_are_longer_if_asked_but_never_shorter_than_recorded(tmp_path: Path) -> None:
    path = minutes(tmp_path / "a.smf", range(8))
    for asked, intervals in ((120, 4), (1, 8)):
        found = side(path, asked)
        assert (found.intervals, found.total("calls")) == (intervals, US(480))


def test_intervals_of_no_length_have_no_rates(tmp_path: Path) -> None:
    for length in (dt.timedelta(0), MINUTE):
        path = tmp_path / f"{length.seconds}.smf"
        whole = side(put(path, putting(0, wtasints=ENDED - length, wtasinte=ENDED)))
        found = {row["figure"]: row for row in compared(whole, whole, ["verb"]).to_dicts()}
        assert ("calls_per_second" in found) == bool(length)
        assert found["cpu_per_call"]["before"] == 50


def test_what_is_new_and_what_is_gone(tmp_path: Path) -> None:
    before = minutes(tmp_path / "a.smf", range(3), name="OLD")
    after = minutes(tmp_path / "b.smf", range(3), name="NEW", job="R002")
    rows = compared(side(before), side(after)).to_dicts()
    assert {row["queue"] for row in rows if row["before"] and row["after"] is None} == {"OLD"}
    assert {row["queue"] for row in rows if row["after"] and row["before"] is None} == {"NEW"}
    text = shown(before, after)
    assert {"Queue managers VTS1 VTS1", "CPU of calls, uS per second 8.333 8.333"} <= {*words(text)}
    (gone,) = [
        each for each in text.split("\n\n") if each.startswith("Only before, or hardly after: 1")
    ]
    (new,) = [
        each for each in text.split("\n\n") if each.startswith("Only after, or hardly before: 1")
    ]
    assert ("OLD" in gone, "NEW" in gone) == (True, False)
    assert ("OLD" in new, "NEW" in new) == (False, True)
    assert "too few intervals" not in text


def test_a_name_with_hardly_a_call_on_one_side_is_new_or_gone(tmp_path: Path) -> None:
    paths = [
        put(tmp_path / f"{puts}.smf", putting(0), putting(0, name="GROWS", puts=puts, job="R002"))
        for puts in (1, 2000)
    ]
    for sides, title in ((paths, "Only after, or"), (paths[::-1], "Only before, or")):
        (found,) = [each for each in shown(*sides).split("\n\n") if each.startswith(title)]
        assert "hardly" in found
        assert found.count("cpu_per_second") == found.count("GROWS") == 1
        others = shown(*sides).partition("Other metrics")[2]
        assert "GROWS" not in others.partition("\n\n")[0]
        rows = compared(*map(side, sides)).to_dicts()
        asked = ("GROWS", "cpu_per_second")
        assert {row["significant"] for row in rows if (row["queue"], row["figure"]) == asked} == {
            None
        }


NAMED = ["A.B", "AXB", "B$", "LQ1", "Mixed"]
STREAMED = [*NAMED[:3], "SQ1", "Mixed"]
RENAMED = {
    "A.B=B$ B$=A.B mixed=Other": ["B$", "AXB", "A.B", "LQ1", "Other"],
    **dict.fromkeys(("LQ%=SQ%", "LQ*=SQ*", "lq%=SQ%", "LQ1=SQ1 SQ1=XX", "%1=SQ1"), STREAMED),
}


def test_names_that_differ_are_matched_once_in_any_case_with_odd_characters() -> None:
    names = pl.DataFrame(dict.fromkeys(("qmgr", "job", "queue"), NAMED))
    for renames, expected in RENAMED.items():
        found = Side(names, names).renamed(map(Rename.of, renames.split()))
        for name in ("qmgr", "job", "queue"):
            assert found.rows[name].to_list() == expected, renames
        assert found.seconds["qmgr"].to_list() == expected, renames
    assert Rename.of("mixed = Other") == Rename.of("mixed=Other")
    for text in ("", "A", "=B", "A=", "A%%=B", "A=%", "A%=B%%"):
        with pytest.raises(RequestError, match=r"renames=.*(LQ%=SQ%|write one in OLD)"):
            Rename.of(text)


@without_rules
def test_significant_rows_come_first(tmp_path: Path) -> None:
    def site(name: str, costs: dict[str, int]) -> Path:
        cases = product(range(6), costs.items())
        records = [putting(n, puts=100 + n, cpu=cpu, name=queue) for n, (queue, cpu) in cases]
        return put(tmp_path / name, *records)

    costs = {f"Q{number:02}": 10 + number for number in range(20)}
    before, after = site("a.smf", costs), site("b.smf", costs | {"Q05": 30, "Q07": 22})
    rows = compared(side(before), side(after)).to_dicts()
    ranks = [row["significant"] is not True for row in rows]
    assert ranks == sorted(ranks)
    assert [row["queue"] for row in rows if row["significant"]] == ["Q05", "Q07"]
    assert {row["figure"] for row in rows if row["significant"]} == {"cpu_per_call"}
    text = shown(before, after, top=3)
    assert "Changed by more than 6% and the variation between intervals: 2\n" in text
    assert re.search(r"Other metrics, by change: .* come first: 3 of \d+, see --top", text)
    table = csv.DictReader(shown(before, after, form="csv").splitlines())
    told = json.loads(shown(before, after, form="json"))
    for cells, row in zip(table, told["rows"], strict=True):
        assert [*cells] == [*row] == [*COLUMNS]
        values = {name: json.loads(cells[name] or "null") for name in COLUMNS[5:]}
        assert {name: cells[name] or None for name in COLUMNS[:5]} | values == row
    asked = ("--tolerance", "200", "--top", "0", "--by", "Queue, verb,queue", "--format", "html")
    none = run(before, after, *asked).stdout
    assert (
        "<p>No change by queue, verb is significant: each is within 200%, or within the variation "
        "between intervals; --by job also shows jobs that make other calls.</p>"
    ) in none
    assert "intervals: none" not in none


@without_rules
def test_what_was_recorded_without_intervals_is_cut_into_some_if_asked(tmp_path: Path) -> None:
    paths = [
        minutes(tmp_path / name, range(6), cpu=cpu, wtasflag="WTASAEOT")
        for name, cpu in (("a", 50), ("b", 150))
    ]
    text = shown(*paths)
    assert "\nToo few intervals to judge a change: each side requires two. " in text
    assert "Compare a longer time, or divide it with --interval." in text
    assert "No change" not in text
    found = document(*paths, "--interval", "1m")
    judged = [each["significant"] for each in found["rows"] if each["figure"] == "cpu_per_call"]
    assert judged == [True]
    assert [(each["hour"], each["ratio"]) for each in found["hours"]] == [(10, US(3))]


def test_two_columns_like_a_task_report(tmp_path: Path) -> None:
    before = minutes(tmp_path / "a.smf", range(2), wtascmn=2, wtascmct=24)
    after = minutes(tmp_path / "b.smf", range(2), cpu=75, name="SQ1")
    shown = words(run(before, after, "--side-by-side", "--rename", "LQ%=SQ%").stdout)
    assert shown[0] == "VTS1 Jobname:R001 Before After Ratio"
    assert "Commit avg CPU time uS 12 - -" in shown
    assert shown[shown.index("Queue name SQ1") + 1] == "Put count 20 20 1.00"
    assert "Total job CPU time uS 1048 1500 1.43" in shown


def test_figures_are_explained_without_input() -> None:
    result = run("--explain", code=0)
    said = result.stdout.splitlines()
    assert (result.stderr, len(said)) == ("", len(MEASURES))
    assert "log_force_wait [us] = WTASJCET / WTASJCN" in said


@without_rules
def test_damage_of_both_inputs_is_told(tmp_path: Path) -> None:
    cut = [tmp_path / name for name in ("before.smf", "after.smf")]
    for path in cut:
        put(path, putting(0), putting(1)[:-5])
    for path, line in zip(cut, run(*cut, code=4).stderr.splitlines(), strict=False):
        assert (str(path) in line, line.count("the file is truncated")) == (True, 1)


@without_rules
def test_without_class_3_the_trace_is_named(tmp_path: Path) -> None:
    none = put(tmp_path / "a.smf", smf.connection_record(cpu_us=5))
    some = minutes(tmp_path / "b.smf", [0])
    trace = (
        "so no calls to compare (116 subtype 1: WTAS, WQST): START TRACE(ACCTG) CLASS(3) writes "
        "the data\n"
    )
    assert absent(side(none), side(none)).startswith("no class 3 accounting before and after, ")
    assert run(some, none, code=0).stderr == f"smfparse: no class 3 accounting after, {trace}"


INPUTS = "BEFORE and AFTER; or split inputs with --split-at TIME"
WRONG = {
    "": INPUTS,
    "FILE": INPUTS,
    "FILE FILE FILE": INPUTS,
    "--split-at 2026-03-04": "INPUT",
    "FILE --split-at 1000": "has no day; write it like 2026-03-04, 2026-03-04T09:00",
    "FILE --split-at noon": "2026-03-04T09:00",
    "FILE FILE --rename A": "--rename",
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
        result = run(*[dump if each == "FILE" else each for each in call.split()], code=2)
        assert (result.stdout, way_out in result.stderr) == ("", True), call
        assert dump.read_bytes() == content


def test_whatever_fields_hold_there_are_figures_and_text(tmp_path: Path) -> None:
    first, second = (
        side(generate_dump(tmp_path / f"{seed}.smf", seed=seed, tasks=2, count=2, dense=True))
        for seed in (1, 2)
    )
    for by in (list(NAMES), []):
        rows = compared(first, second, by)
        assert rows.height
        values = rows.select("before", "after", "difference", "ratio").to_numpy().ravel()
        assert not any(math.isinf(value) for value in values)
    assert [*side_by_side(first, second, ())]


def test_calls_are_divided_by_all_of_the_time_that_their_records_cover() -> None:
    """Statistics of a minute, class 3 of 30 minutes, 1.667 gets per second."""
    halves = {"since": "09:30", "until": "10:29"}, {"since": "10:20", "until": "10:49"}
    for chosen in ({}, *halves):
        asked = ReadOptions(Selection.of(**chosen), jobs=1)
        whole = measured(open_inputs([case("stat1_acct30")], asked))
        rates = [
            row["before"]
            for row in compared(whole, whole).to_dicts()
            if (row["figure"], row["verb"]) == ("calls_per_second", "get")
        ]
        assert rates == [US(1000 / 600, rel=1e-3)], chosen


def test_findings_stand_first_then_what_changed_most_then_its_hour(tmp_path: Path) -> None:
    """A day whose log is slow from 14:00 to 15:00: against one without, and cut in two."""
    usual, slow = tmp_path / "usual.smf", tmp_path / "slow.smf"
    for path, incidents in ((usual, []), (slow, ["log-slow@14:00/1h"])):
        simulate(path, load_estate("payments", incidents, interval=dt.timedelta(hours=1)))
    short = run(usual, slow, "--from", "14:00", "--until", "15:59").stdout
    assert re.search(r"\n\d+ metrics changed by more than 6%, but too few intervals exist", short)
    told = run(usual, slow, "--top", "12").stdout.splitlines()
    titles = [each.partition(":")[0] for each in told]
    parts = (
        "New findings",
        "No change by qmgr, job, queue, verb is significant",
        "Hours that changed most",
    )
    places = [titles.index(each) for each in parts]
    assert places == sorted(places)
    assert any("D2 QM01: the log is slow" in each for each in told[places[0] : places[1]])
    first = told.index(next(each for each in told if each.startswith("Other metrics"))) + 2
    ratios = [float(each.split()[-1]) for each in told[first : first + 12]]
    assert ratios == sorted(ratios, reverse=True)
    assert ratios[0] > 1.3
    assert any("elapsed_per_call" in each for each in told[first : first + 12])
    assert [each.split()[0] for each in told[places[2] + 2 :]] == ["14:00"]

    found = document(slow, "--split-at", "2026-03-04T12:00", "--type", "115")
    findings = ["new_findings", "worse_findings", "gone_findings"]
    assert [*found] == ["report", "before", "after", *findings, "hours", "rows"]
    assert "D2" in {each["rule"] for each in found["new_findings"]}
    assert "D2" not in {each["rule"] for each in found["gone_findings"]}
    assert found["hours"] == []
