"""Reports where queues or jobs are selected: every figure is of these, or is marked, or is absent.

Rows of a task that used a queue are of the whole task, but of its queues only the selected ones are
there. The goldens hold their figures, and that totals of tasks are absent.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import cache
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from smfparse.advice.answering import answered_rows
from smfparse.decoding.selection import Selection
from smfparse.inputs.opening import Inputs, open_inputs
from smfparse.inputs.options import ReadOptions
from smfparse.query.catalog import Catalog
from smfparse.reports.declaration import report, report_names
from smfparse.summarizing.sides import measured
from smfparse.writing.dataset import write_dataset
from tests.support import builders, smf
from tests.support.command import run
from tests.support.report_runs import anyone, lines_of
from tests.support.searching import some
from tests.support.traffic import got, put, using

pytestmark = pytest.mark.slow

Rows = list[dict[str, Any]]
MARKED = {
    "api-cost", "application", "clients", "cluster", "flow", "shared", "smf-volume", "streaming",
    "task", "tasksum",
}  # fmt: skip
"""Reports that have, or leave out, what is of whole tasks, records or queue managers."""
OF_QUEUES = [
    name
    for name in report_names()
    if not Selection.of(queue="Q").unknown_to(report(name).tables) and not report(name).rules
]
"""Reports that queues can be selected for."""
QUEUES = {
    "cluster": "SYSTEM.CLUSTER.TRANSMIT.QUEUE",
    "mft": "SYSTEM.FTE.DATA.AGENT1",
    "requests": "PAY.A*",
}
"""The queues that a report is about; others are about PAY.IN."""
LITTLE, MUCH = 400, 7000
"""How much else tasks did."""


def opened(path: Path, **selected: Any) -> Inputs:
    return open_inputs([path], ReadOptions(Selection.of(**selected)))


def used_queues(*, whole: int, name: str = "PAY.IN") -> list[bytes]:
    """Records about a queue; of what else the tasks did, counts and times are `whole`."""
    own = smf.task(
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
    plain = smf.task(smf.task_token(2), wtasotn=whole, wtascmn=whole, wtascmct=whole)
    return [
        smf.task_record(
            own,
            smf.queue(name, version=9, cf=cf, **mine),
            smf.queue("PAY.OUT", version=9, cf={(3, 6): (whole, whole, whole, 0, 0)}, **other),
        ),
        smf.more_queues(smf.queue("PAY.LOG", version=9, **other)),
        smf.task_record(
            plain,
            smf.queue(name, smf.task_token(2), version=9, **(mine | {"streamedn": 0})),
            smf.queue("PAY.OUT", smf.task_token(2), version=9, **other),
            by=smf.who("R002"),
        ),
        smf.task_record(smf.task(smf.task_token(3), wtasotn=whole), by=smf.who("R003")),
        smf.record(smf.block("QQST", qqstqnam=name, qqstdpth=5)),
        smf.record(smf.block("QQST", qqstqnam="PAY.OUT", qqstdpth=whole)),
        smf.record(smf.block("QMST", qmstput=whole), smf.block("QIST", qistmput=whole)),
        smf.record(smf.block("QCST", qcstchnm="A.B", qcstchty=1, qcstrqmn="B", qcstnmsg=whole)),
        smf.record(smf.structures({"qeststr": "APP1", "qestcsec": whole})),
    ]


def talking(name: str, *, whole: int) -> list[bytes]:
    """Records of a channel that uses a shared queue, and of a requester and its server."""
    other = put("PAY.OUT", whole, putct=13.0 * whole)
    return [
        using("R004", put(name, 100, cfstrucname="APP1"), other, channel="CLIENTS"),
        using("R005", put("PAY.ASK", 50), got("PAY.ANSWER", 50, by_id=50), other),
        using("R006", got("PAY.ASK", 50), put("PAY.ANSWER", 50), other),
    ]


PathOf = Callable[..., Path]
RowsOf = Callable[..., Rows]


@pytest.fixture(scope="module")
def path_of(tmp_path_factory: pytest.TempPathFactory) -> PathOf:
    """Write what was done with a queue, and how much else, once."""
    folder = tmp_path_factory.mktemp("busy")

    @cache
    def written(whole: int = LITTLE, name: str = "PAY.IN") -> Path:
        records = *used_queues(whole=whole, name=name), *talking(name, whole=whole)
        return builders.put(folder / f"{name}.{whole}.smf", *records)

    return written


@pytest.fixture(scope="module")
def rows_of() -> Iterator[RowsOf]:
    """Return the rows of a report over what is selected of a file; worked out once."""
    with ExitStack() as opening:

        @cache
        def catalog(path: Path, **selected: str) -> Catalog:
            return opening.enter_context(Catalog(opened(path, **selected)))

        @cache
        def rows(name: str, path: Path, **selected: str) -> Rows:
            which = report(name)
            asked = {"by": "qmgr,job,queue"} if name == "api-cost" else anyone(which)
            found = answered_rows(which, catalog(path, **selected), **asked)
            return [
                {key: row[key] for key in row if key not in ("source", "section")} for row in found
            ]

        yield rows


def of_queues(name: str, rows: Rows) -> Rows:
    """Leave out what a report says to be of whole tasks: the lines of tasks in `task`."""
    return [row for row in rows if name != "task" or row["line"] in ("queue", "queue cf")]


def selects_jobs(name: str) -> bool:
    return not Selection.of(job="R").unknown_to(report(name).tables)


BESIDE = some([name for name in OF_QUEUES if selects_jobs(name)], 3)
"""Reports that are tried with everything, and with selected jobs, as well."""
PLAIN = {"qall", "qgets", "qputs", "qstat", "qsum", "smf-volume"}
"""Reports that have nothing but figures of queues, or records: goldens have these."""


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    "name", [pytest.param(each, marks=[pytest.mark.long] * (each in PLAIN)) for each in OF_QUEUES]
)
def test_no_figure_of_selected_queues_depends_on_what_else_was_done_and_the_rest_is_marked(
    name: str, path_of: PathOf, rows_of: RowsOf
) -> None:
    chosen = QUEUES.get(name, "PAY.IN")
    little, much = (path_of(whole, chosen) for whole in (LITTLE, MUCH))
    one, other = (rows_of(name, path, queue=chosen) for path in (little, much))
    assert of_queues(name, one)
    assert of_queues(name, one) == of_queues(name, other)
    selections = [(one, name in MARKED)]
    if name in BESIDE:
        whole = rows_of(name, little)
        assert name in ("smf-volume", "requests") or of_queues(name, whole) != of_queues(name, one)
        selections += [(whole, False), (rows_of(name, little, job="R00*"), False)]
    for rows, marked in selections:
        assert rows
        assert all(("queues selected" in (row["marks"] or "")) is marked for row in rows)


def test_every_form_says_what_is_not_of_the_selected_queues(path_of: PathOf, rows_of: RowsOf):
    for asked in ({}, {"queue": "PAY.IN"}):
        rows = [
            row | {"source": None, "section": ""} for row in rows_of("tasksum", path_of(), **asked)
        ]
        for form in ("text", "csv", "json", "md", "html"):
            found = "\n".join(lines_of("tasksum", rows, form))
            assert ("queues selected: " in found) is ("queue" in asked)


@pytest.mark.fuzz
def test_a_dataset_of_selected_queues_is_reported_as_the_queues_are(
    tmp_path: Path, path_of: PathOf, rows_of: RowsOf
) -> None:
    """And a dataset that was made of that; what selected it is noted."""
    path = path_of()

    def made(name: str, of: Path, **selected: str) -> str | None:
        noted: str | None = write_dataset(opened(of, **selected), tmp_path / name)["selection"]
        return noted

    pay, again = tmp_path / "pay", tmp_path / "again"
    assert made("pay", path, queue="PAY.IN") == "queue PAY.IN"
    assert made("again", pay, job="R00*") == "job R00*; queue PAY.IN"
    assert made("same", pay, queue="PAY.IN") == "queue PAY.IN"
    assert made("job", path, job="R*") == "job R*"
    assert made("all", tmp_path / "job") is None
    for name in some(OF_QUEUES, 2):
        assert rows_of(name, pay) == rows_of(name, path, queue="PAY.IN"), name
        if selects_jobs(name):
            assert rows_of(name, again) == rows_of(name, path, queue="PAY.IN", job="R00*"), name


def test_a_comparison_of_selected_queues_has_only_calls_on_them(path_of: PathOf) -> None:
    """What else the tasks did differs; nothing that is compared does."""
    little, much = path_of(LITTLE), path_of(MUCH)
    one, other, whole = (
        measured(each).rows.sort(pl.all())
        for each in (opened(little, queue="PAY.IN"), opened(much, queue="PAY.IN"), opened(little))
    )
    assert one.equals(other)
    assert {*one["verb"]} == {"get", "open", "put"}
    assert {"commit", "put"} <= {*whole["verb"]}
    done = run("compare", little, much, "--queue", "PAY.IN")
    assert "without commits, other calls, pages and log of tasks" in done.stderr
