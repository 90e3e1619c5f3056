"""Reports where queues or jobs are selected: every figure is of these, or is marked, or is absent.

Rows of a task that used a queue are of the whole task, but of its queues only the selected ones are
there.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from functools import cache
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from smfparse import reports
from smfparse.advice import answered_rows
from smfparse.inputs import Inputs, ReadOptions, open_inputs
from smfparse.query import Catalog
from smfparse.schemas import enums
from smfparse.selecting import Selection
from smfparse.tables import RECORD, TABLES
from smfparse.writing import write_dataset
from tests.support.builders import Write, rdw
from tests.support.command import run
from tests.support.generated import generate_dump
from tests.support.oracle import NAMED, Oracle
from tests.support.real import every_file
from tests.support.report_runs import anyone, printed
from tests.support.searching import some
from tests.support.smf import (
    block,
    more_queues,
    queue,
    record,
    task,
    task_record,
    task_token,
    who,
)
from tests.support.traffic import got, put, using

pytestmark = pytest.mark.slow

Rows = list[dict[str, Any]]
US = pytest.approx
MARKED = {
    *(
        "api-cost",
        "application",
        "clients",
        "cluster",
        "flow",
        "shared",
        "smf-volume",
        "streaming",
        "task",
    ),
    "tasksum",
}
"""Reports that have, or leave out, what is of whole tasks, records or queue managers."""
OF_QUEUES = [
    name
    for name in reports.report_names()
    if not Selection.of(queue="Q").unknown_to(reports.report(name).tables)
    and not reports.report(name).rules
]
"""Reports that queues can be selected for."""
QUEUES = {
    "cluster": "SYSTEM.CLUSTER.TRANSMIT.QUEUE",
    "mft": "SYSTEM.FTE.DATA.AGENT1",
    "requests": "PAY.A*",
}
"""The queues that a report is about; others are about PAY.IN."""
VERBS = ("open", "close", "get", "put", "put1", "inq", "set", "cb")
OTHERS = ("ba", "pr", "su", "sq", "ct", "st", "ot")
"""Calls in WTAS, but for commits."""


def opened(path: Path, **selected: Any) -> Inputs:
    return open_inputs([path], ReadOptions(Selection.of(**selected)))


@pytest.fixture(scope="module")
def catalogs() -> Iterator[Callable[..., Catalog]]:
    """Catalogs of what is selected of files, each opened once for all reports."""
    with ExitStack() as opening:
        yield cache(
            lambda path, **selected: opening.enter_context(Catalog(opened(path, **selected)))
        )


def rows_by(catalog: Catalog, name: str, **asked: Any) -> Rows:
    """Return the rows of a report; asked: its options."""
    which = reports.report(name)
    return list(answered_rows(which, catalog, **(asked or anyone(which))))


rows_once = cache(rows_by)
"""The same, worked out once."""


def rows_of(name: str, path: Path, asked: dict[str, Any], **selected: Any) -> Rows:
    """Return the rows of a report; asked: its options."""
    with Catalog(opened(path, **selected)) as catalog:
        return rows_by(catalog, name, **asked)


def selections(path: Path) -> Iterator[dict[str, Any]]:
    """Yield what to select: everything, the queue with most rows, the job with most rows."""
    yield {}
    for option, table, column in (("queue", "wqst", "objname"), ("job", "wtid", "wtidccn")):
        names = frames(path)[table].filter(pl.col(column) != "")[column]
        if names.len():
            yield {option: names.mode().sort()[0]}


@cache
def frames(path: Path) -> dict[str, pl.DataFrame]:
    """Return all rows of the tables that a name can select."""
    inputs = open_inputs([path])
    return {name: pl.DataFrame(inputs.arrow(name)) for name in NAMED if name in {*TABLES, RECORD}}


def selected_frames(path: Path, selected: dict[str, str]) -> dict[str, pl.DataFrame]:
    """Return the rows that are selected, by the task record that they are of."""
    asked = {option: [name] for option, name in selected.items()}
    return {
        name: frame.with_columns(
            task=pl.coalesce("task_record_no", "record_no")
            if "task_record_no" in frame.columns
            else pl.col("record_no")
        )
        for name, frame in Oracle(frames(path)).rows(**asked).items()  # type: ignore[arg-type]
    }


def total(prefix: str, kinds: Sequence[str], suffix: str) -> pl.Expr:
    """Return the sum of fields of a row; what an old release does not have counts as nothing."""
    each = (pl.col(f"{prefix}{kind}{suffix}").cast(pl.Float64).fill_null(0) for kind in kinds)
    return pl.sum_horizontal(each)


@pytest.fixture(scope="module", params=["9.3.0", "10.0.0", "6.0.0"])
def site(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path: Path = tmp_path_factory.mktemp("site") / "site.smf"
    return generate_dump(path, version=request.param, tasks=12, queues=5, count=4, seed=7)


# -- tasksum: what is divided is of the calls that it is divided by


def assert_tasksum_agrees(path: Path) -> None:
    for selected in selections(path):
        found = {
            (row["qmgr"], row["connection"], row["wtidccn"], row["wtidopid"]): row
            for row in rows_of("tasksum", path, {}, **selected)
        }
        wanted = sums_of_tasks(path, selected)
        assert len(found) == len(wanted)
        for row in wanted.iter_rows(named=True):
            word = enums.CONNECTION_TYPE[row["wtidatyp"]].mp1b
            mine = found[row["qmgr"], word, row["wtidccn"], row["wtidopid"]]
            assert_costs(mine, row, whole="queue" not in selected)


def sums_of_tasks(path: Path, selected: dict[str, str]) -> pl.DataFrame:
    tables = selected_frames(path, selected)
    by = ("qmgr", "wtidatyp", "wtidccn", "wtidopid")
    names = tables["wtid"].filter(pl.col("task") == pl.col("record_no")).select("task", *by)
    queues = tables["wqst"].group_by("task").agg(
        requests=total("", VERBS, "n").sum(),
        queue_cpu=total("", VERBS, "ct").sum(),
        queue_elapsed=total("", VERBS, "et").sum(),
    )  # fmt: skip
    own = tables["wtas"].with_columns(
        others=total("wtas", OTHERS, "n"),
        other_cpu=total("wtas", OTHERS, "ct"),
        other_elapsed=total("wtas", OTHERS, "et"),
    )
    joined = names.join(own.drop("qmgr"), on="task", how="left")
    sums = ("requests", "queue_cpu", "queue_elapsed", "others", "other_cpu", "other_elapsed",
            "wtascmn", "wtascmct", "wtascmet", "wtastpct", "wtasjwb")  # fmt: skip
    return joined.join(queues, on="task", how="left").group_by(by).agg(
        *(pl.col(name).cast(pl.Float64).sum() for name in sums), intervals=pl.len()
    )  # fmt: skip


def assert_costs(mine: dict[str, Any], row: dict[str, Any], *, whole: bool) -> None:
    """Fail unless a row of the report has the sums; whole: whether those of whole tasks as well."""

    def over(part: str, count: str) -> Any:
        return US(row[part] / row[count]) if row[count] else None

    assert (mine["task_intervals"], mine["requests"]) == (row["intervals"], row["requests"])
    assert mine["request_cpu"] == over("queue_cpu", "requests")
    assert mine["request_elapsed"] == over("queue_elapsed", "requests")
    if whole:
        assert (mine["wtascmn"], mine["other_calls"]) == (row["wtascmn"], row["others"])
        assert mine["commit_cpu"] == over("wtascmct", "wtascmn")
        assert mine["commit_elapsed"] == over("wtascmet", "wtascmn")
        assert mine["other_call_cpu"] == over("other_cpu", "others")
        assert mine["other_call_elapsed"] == over("other_elapsed", "others")
        assert mine["log_mb"] == US(row["wtasjwb"] / 1048576)
        parts = ("queue_cpu", "wtascmct", "other_cpu", "wtastpct")
        assert mine["cpu_seconds"] == US(sum(row[part] or 0 for part in parts) / 1e6)
    else:
        assert {mine[name] for name in WHOLE_TASKS} == {None}
        assert mine["cpu_seconds"] == US(row["queue_cpu"] / 1e6)
        assert mine["elapsed_seconds"] == US(row["queue_elapsed"] / 1e6)


WHOLE_TASKS = (
    "wtascmn", "commit_cpu", "commit_elapsed", "wtasban", "other_calls", "other_call_cpu",
    "other_call_elapsed", "wtasjwn", "wtasjwb", "log_mb", "wtasjcn", "wtasgpo", "wtasgpn",
)  # fmt: skip
"""Figures of tasksum that are not about calls on queues."""


@every_file
def test_the_costs_of_tasks_are_of_the_calls_that_they_are_divided_by(path: Path) -> None:
    assert_tasksum_agrees(path)


def test_the_costs_of_generated_tasks_are_of_the_calls_that_they_are_divided_by(
    site: Path,
) -> None:
    assert_tasksum_agrees(site)


def test_other_calls_are_not_in_the_cost_of_a_request(write: Write) -> None:
    own = task(wtasotn=1007, wtasotct=12_774, wtascmn=10, wtascmct=150)
    path = write(task_record(own, queue("PAY.IN", getn=90, getct=306)))
    (row,) = rows_of("tasksum", path, {})
    assert (row["requests"], row["other_calls"], row["wtascmn"]) == (90, 1007, 10)
    assert row["request_cpu"] == US(3.4)
    assert row["other_call_cpu"] == US(12_774 / 1007)
    assert row["commit_cpu"] == US(15)
    assert row["cpu_seconds"] == US(13_230e-6)
    (line,) = [each for each in printed(reports.report("tasksum"), [row], "text") if "R001" in each]
    assert line.split()[5:10] == ["90", "3", "10", "15", "1007"]


# -- every report


def used_queues(*, whole: int, name: str = "PAY.IN") -> list[bytes]:
    """Records about a queue; of what else the tasks did, counts and times are `whole`."""
    own = task(
        wtascmn=whole, wtascmct=10 * whole, wtascmet=11 * whole, wtasotn=2 * whole,
        wtasotct=3 * whole, wtasotet=5 * whole, wtasban=whole, wtasjwn=whole, wtasjwb=100 * whole,
        wtasjcn=whole, wtasgpo=whole, wtasgpn=whole, wtasctn=whole, wtasctct=7 * whole,
        latches={11: (9 * whole, whole, 9)}, cf={(0, 2): (whole, whole, whole, whole, whole)},
    )  # fmt: skip
    other = {"putn": whole, "putct": 13 * whole, "putet": 17 * whole, "validput": whole}
    mine = {
        "openn": 1, "openct": 20, "openet": 30, "putn": 100, "putct": 500, "putet": 900,
        "validput": 100, "putbytes": 6400, "streamedn": 100, "getn": 200, "gets": 200,
        "getct": 250, "getet": 260, "validget": 200, "getbytes": 10, "getepage": 500,
    }  # fmt: skip
    cf = {(2, 9): (900, 900, 900, 0, 0)}
    plain = task(task_token(2), wtasotn=whole, wtascmn=whole, wtascmct=whole)
    return [
        task_record(
            own,
            queue(name, version=9, cf=cf, **mine),
            queue("PAY.OUT", version=9, cf={(3, 6): (whole, whole, whole, 0, 0)}, **other),
        ),
        more_queues(queue("PAY.LOG", version=9, **other)),
        task_record(
            plain,
            queue(name, task_token(2), version=9, **(mine | {"streamedn": 0})),
            queue("PAY.OUT", task_token(2), version=9, **other),
            by=who("R002"),
        ),
        task_record(task(task_token(3), wtasotn=whole), by=who("R003")),
        record(block("QQST", qqstqnam=name, qqstdpth=5)),
        record(block("QQST", qqstqnam="PAY.OUT", qqstdpth=whole)),
        record(block("QMST", qmstput=whole), block("QIST", qistmput=whole)),
    ]


def talking(name: str, *, whole: int) -> list[bytes]:
    """Records of a channel that uses a shared queue, and of a requester and its server."""
    other = put("PAY.OUT", whole, putct=13.0 * whole)
    return [
        using("R004", put(name, 100, cfstrucname="APP1"), other, channel="CLIENTS"),
        using("R005", put("PAY.ASK", 50), got("PAY.ANSWER", 50, by_id=50), other),
        using("R006", got("PAY.ASK", 50), put("PAY.ANSWER", 50), other),
    ]


@pytest.fixture(scope="module")
def busy(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str, str, int], Path]:
    """Files of a queue that is used, one that is talked over, and of how much else was done."""

    @cache
    def written(used: str, talked: str, whole: int) -> Path:
        path = tmp_path_factory.mktemp("busy") / f"{whole}.smf"
        path.write_bytes(rdw([*used_queues(whole=whole, name=used), *talking(talked, whole=whole)]))
        return path

    return written


def told(name: str, rows: Rows) -> Rows:
    """Leave out what a report says to be of whole tasks: the lines of tasks in `task`."""
    return [row for row in rows if name != "task" or row["line"] in ("queue", "queue cf")]


@pytest.mark.parametrize("name", OF_QUEUES)
def test_no_figure_of_selected_queues_depends_on_what_else_was_done(
    name: str, busy: Callable[[str, str, int], Path], catalogs: Callable[..., Catalog]
) -> None:
    chosen = QUEUES.get(name, "PAY.IN")
    little, much = (busy(chosen, chosen, whole) for whole in (400, 7000))
    asked = {"by": "qmgr,job,queue"} if name == "api-cost" else {}
    one, two = (
        told(name, rows_once(catalogs(path, queue=chosen), name, **asked))
        for path in (little, much)
    )
    assert one
    assert [without_source(row) for row in one] == [without_source(row) for row in two]
    if name not in ("smf-volume", "requests"):
        whole = [told(name, rows_once(catalogs(path), name, **asked)) for path in (little, much)]
        assert whole[0] != whole[1]


def without_source(row: dict[str, Any]) -> dict[str, Any]:
    section = {key: value for key, value in row["section"].items() if key != "source"}
    return row | {"source": None, "section": section}


@pytest.mark.parametrize("name", OF_QUEUES)
def test_reports_say_what_is_not_of_the_selected_queues(
    name: str, busy: Callable[[str, str, int], Path], catalogs: Callable[..., Catalog]
) -> None:
    chosen = QUEUES.get(name, "PAY.*")
    path = busy(chosen.replace("*", "IN"), "PAY.IN", 400)
    which = reports.report(name)
    for selected in ({}, {"job": "R00*"}, {"queue": chosen}):
        if Selection.of(**selected).unknown_to(which.tables):
            continue
        rows = rows_once(catalogs(path, **selected), name)
        assert rows
        marked = name in MARKED and "queue" in selected
        assert all(("queues selected" in (row["marks"] or "")) is marked for row in rows)
        lines = "\n".join(printed(which, rows, "text"))
        assert ("\nMarked queues selected: " in lines) is marked
        for form in ("csv", "json", "md", "html"):
            assert ("queues selected: " in "\n".join(printed(which, rows, form))) is marked


@pytest.mark.fuzz
def test_a_dataset_of_selected_queues_is_reported_as_the_queues_are(
    tmp_path: Path, write: Write
) -> None:
    """And a dataset that was made of that."""
    path = write(*used_queues(whole=400))
    write_dataset(opened(path, queue="PAY.IN"), tmp_path / "pay")
    write_dataset(opened(tmp_path / "pay", job="R00*"), tmp_path / "again")
    for name in some(OF_QUEUES, 5):
        wanted = without_sections(rows_of(name, path, {}, queue="PAY.IN"))
        assert without_sections(rows_of(name, tmp_path / "pay", {})) == wanted, name
        if not Selection.of(job="R").unknown_to(reports.report(name).tables):
            again = without_sections(rows_of(name, tmp_path / "again", {}))
            asked = {"queue": "PAY.IN", "job": "R00*"}
            assert again == without_sections(rows_of(name, path, {}, **asked)), name


def without_sections(rows: Rows) -> Rows:
    return [{key: row[key] for key in row if key != "section"} for row in rows]


def test_what_selected_a_dataset_is_noted(tmp_path: Path, write: Write) -> None:
    path = write(*used_queues(whole=400))
    write_dataset(opened(path, queue="PAY.IN", job="R*"), tmp_path / "pay")
    made = write_dataset(opened(tmp_path / "pay", queue="PAY.IN"), tmp_path / "same")
    assert made["selection"] == "queue PAY.IN"
    made = write_dataset(opened(tmp_path / "pay", qmgr="VTS1"), tmp_path / "more")
    assert made["selection"] == "qmgr VTS1; queue PAY.IN"
    write_dataset(opened(path, job="R*"), tmp_path / "job")
    made = write_dataset(opened(tmp_path / "job"), tmp_path / "all")
    assert made["selection"] is None


@pytest.mark.parametrize("more", [[], ["--side-by-side"]], ids=["table", "side by side"])
def test_a_comparison_of_selected_queues_has_only_calls_on_them(
    more: list[str], tmp_path: Path, write: Write
) -> None:
    """What else the tasks did differs; nothing that is compared does."""
    little, much = (
        write(*used_queues(whole=whole)).rename(tmp_path / f"{whole}.smf") for whole in (400, 7000)
    )
    selected = ["--queue", "PAY.IN", *more]
    alike = run("compare", little, little, *selected)
    done = run("compare", little, much, *selected)
    assert done.stdout == alike.stdout
    assert "put" in done.stdout.lower()
    assert "without commits, other calls, pages and log of tasks" in done.stderr
    whole = run("compare", little, much, *more)
    assert whole.stdout != run("compare", little, little, *more).stdout
    assert "queues are selected" not in whole.stderr


def test_the_totals_of_a_task_need_all_its_queues(write: Write) -> None:
    path = write(*used_queues(whole=400))
    every = [row for row in rows_of("task", path, {}) if row["line"] == "task"]
    some = [row for row in rows_of("task", path, {}, queue="PAY.IN") if row["line"] == "task"]
    totals = ("task_queues", "task_requests", "task_elapsed", "task_cpu")
    assert [row["task_queues"] for row in every] == [3, 2, 0]
    assert len(some) == 2
    assert {row[name] for row in some for name in totals} == {None}
    assert some[0]["wtascmn"] == 400
    done = run("report", "task", path, "--queue", "PAY.IN")
    assert "Total task CPU used          - uS" in done.stdout


def test_calls_of_tasks_are_not_among_those_on_selected_queues(site: Path) -> None:
    """api-cost, by polars from WQST."""
    name = selections_by_queue(site)
    calls = selected_frames(site, {"queue": name})["wqst"]
    found = rows_of("api-cost", site, {"by": "queue"}, queue=name)
    verbs = {row["verb"]: row for row in found if row["line"] == "verb"}
    assert {*verbs} <= {*VERBS}
    for verb in VERBS:
        count = calls[f"{verb}n"].sum()
        assert verbs.get(verb, {"calls": 0})["calls"] == count
        if count:
            assert verbs[verb]["cpu_seconds"] == US(calls[f"{verb}ct"].sum() / 1e6)
            share = (
                100 * calls[f"{verb}ct"].sum() / calls.select(total("", VERBS, "ct")).sum().item()
            )
            assert verbs[verb]["cpu_share"] == US(share)
    (everything,) = [row for row in found if row["line"] == "total"]
    assert everything["calls"] == calls.select(total("", VERBS, "n")).sum().item()
    assert not [
        row for row in found if row["line"] == "cf" and row["verb"] in ("commit", "prepare")
    ]


def selections_by_queue(path: Path) -> str:
    (selected,) = [each for each in selections(path) if "queue" in each]
    return str(selected["queue"])


def test_pages_and_commits_of_streaming_need_all_queues_of_a_task(write: Write) -> None:
    """A task that put to two queues is not taken for one that put to the selected queue only."""
    path = write(*used_queues(whole=400))
    rows = rows_of("streaming", path, {}, queue="PAY.IN")
    assert {row["line"] for row in rows} >= {"queue", "cost"}
    assert "queue manager" not in {row["line"] for row in rows}
    assert "commit" not in {row["verb"] for row in rows}
    pages = ("pages_per_put", "pages_with", "pages_without")
    assert {row[name] for row in rows for name in pages} == {None}


def test_volume_has_whole_records_and_no_cost_where_queues_are_selected(site: Path) -> None:
    name = selections_by_queue(site)
    records = selected_frames(site, {"queue": name})["record"]
    rows = rows_of("smf-volume", site, {"by": "qmgr"}, queue=name)
    assert "cost" not in {row["line"] for row in rows}
    (whole,) = [row for row in rows if row["line"] == "all"]
    assert (whole["records"], whole["bytes"]) == (records.height, records["length"].sum())
    assert "cost" in {row["line"] for row in rows_of("smf-volume", site, {"by": "qmgr"})}


def test_csv_leaves_the_figures_of_whole_tasks_empty(write: Write) -> None:
    path = write(*used_queues(whole=400))
    done = run("report", "tasksum", path, "--queue", "PAY.IN", "--format", "csv")
    for row in csv.DictReader(done.stdout.splitlines()):
        assert {row["Commits"], row["Log MB"], row["Other calls"], row["CPU uS per commit"]} == {""}
        assert row["CPU uS per request"] == "2"
