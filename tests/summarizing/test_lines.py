"""The figures of lines, against what views say of the same simulated day."""

from __future__ import annotations

import datetime as dt
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from smfparse.dashboard.declaration import Panel, panels
from smfparse.decoding.dictionary import TABLES
from smfparse.errors import RequestError
from smfparse.inputs.opening import open_inputs
from smfparse.layout.columns import version_key
from smfparse.metrics.measures import measure_of, metrics_of
from smfparse.metrics.views import words_in
from smfparse.query.catalog import Catalog
from smfparse.rendering.figures import legible
from smfparse.simulating.reading_toml import load_estate
from smfparse.simulating.run import simulate
from smfparse.summarizing.figures import Figures, Line, lines
from smfparse.summarizing.summary import Day, sparkline, summarized
from tests.support.builders import Write
from tests.support.smf import START, block, record

HOUR = dt.timedelta(hours=1)
SECONDS = 86_400
ELSEWHERE = {
    "buffer-pool", "page-set", "dispatcher", "adapter", "current-channels", "storage-31", "depth",
    "oldest", "channel-messages", "verb-calls", "verb-cpu", "queue-cpu", "job-cpu",
    "structure-requests",
}  # fmt: skip
"""Lines that tests/laws/test_figures_agree.py compares."""
CLIENT = "channel > '' AND channel NOT LIKE '%.TO.%'"
TOTALS = {
    "transaction-cpu": "SELECT concat_ws(' ', job, transaction, psb), "
    f"sum(cpu) / 1e4 / {SECONDS} FROM api_cost WHERE coalesce(transaction, psb) IS NOT NULL",
    "shared-messages": "SELECT queue, sum(messages_put + destructive_gets) / "
    f"{SECONDS} FROM queue_activity WHERE structure IS NOT NULL",
    "client-connects": "SELECT channel, count(DISTINCT token) FILTER (started >= '2026-03-04') / "
    f"{SECONDS} FROM task WHERE {CLIENT}",
    "client-messages": "SELECT channel, sum(messages_put + destructive_gets) / "
    f"{SECONDS} FROM queue_activity WHERE {CLIENT}",
    "file-data": f"SELECT queue[17:], sum(bytes_got) / {SECONDS} / 1048576 FROM queue_activity "
    "WHERE queue[:16] = 'SYSTEM.FTE.DATA.'",
    "flow": f"SELECT edge, sum(messages) / {SECONDS} FROM (SELECT system, qmgr, "
    "unnest([who || ' > ' || queue, queue || ' > ' || who]) AS edge, "
    "unnest([messages_put, destructive_gets]) AS messages "
    "FROM (SELECT *, if(channel > '', channel, job) AS who FROM queue_activity))",
}
AVERAGES = {
    "log-written": f"SELECT '', sum(mb_written) / {SECONDS} FROM log_interval",
    "log-busy": "SELECT '', avg(task_busy) FROM log_interval",
    "structure": "SELECT qeststr, sum(qestsstc + qestmstc) / sum(qestcsec + qestcmec) FROM qest",
}


@pytest.fixture(
    scope="module",
    params=["shared", *(pytest.param(each, marks=pytest.mark.long) for each in ("clients", "mft"))],
)
def catalog(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Catalog]:
    path = tmp_path_factory.mktemp(request.param) / "day.smf"
    simulate(path, load_estate(request.param, interval=HOUR))
    with Catalog(open_inputs([path])) as opened:
        yield opened


@pytest.fixture(scope="module")
def days(catalog: Catalog) -> list[Day]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("smfparse.advice.running.wanted", lambda limits: {})
        return summarized(catalog)


def of_line(day: Day, name: str) -> dict[str, Figures]:
    return {each.object: each for each in day.figures if each.line.name == name}


def expected(catalog: Catalog, day: Day, query: str) -> dict[str, float]:
    asked = f"qmgr = '{day.times.qmgr}' AND system = '{day.times.system}'"
    query = f"{query} {'AND' if 'WHERE' in query else 'WHERE'} {asked} GROUP BY ALL"
    rows = catalog.with_everything().sql(query).fetchall()
    return {name: float(value) for name, value in rows if value is not None}


@pytest.mark.slow
def test_means_are_those_of_all_the_day(catalog: Catalog, days: list[Day]) -> None:
    assert {*ELSEWHERE, *TOTALS, *AVERAGES} == {*lines()}
    for name, query in (TOTALS | AVERAGES).items():
        for day in days:
            wanted = expected(catalog, day, query)
            order = sorted(wanted, key=lambda each: -wanted[each])[: lines()[name].top]
            first = [each for number, each in enumerate(order) if wanted[each] or not number]
            assert sorted(each.mean for each in of_line(day, name).values()) == pytest.approx(
                sorted(wanted[each] for each in first), rel=0.01
            ), name


def test_a_course_has_a_step_for_each_hour_and_objects_come_from_the_most_to_the_least(
    days: list[Day],
) -> None:
    for day in days:
        by_line = defaultdict(list)
        for each in day.figures:
            course = each.over_time(day.times.slots, 48)
            assert len(course) == 24
            assert max(value for value in course if value is not None) == each.highest
            assert course[each.at.hour] == each.highest
            by_line[each.line].append(each.highest if each.line.measure == "peak" else each.mean)
        for line, values in by_line.items():
            assert values == sorted(values, reverse=True)
            assert len(values) <= line.top


def test_fewer_steps_keep_peaks_and_average_the_others(days: list[Day]) -> None:
    (figures, *_) = of_line(days[0], "depth").values()
    assert max(each for each in figures.over_time(24, 5) if each is not None) == figures.highest
    (log,) = of_line(days[0], "log-written").values()
    halves = log.over_time(24, 2)
    assert sum(each for each in halves if each is not None) / 2 == pytest.approx(log.mean)


def pool_of(write: Write, used: Iterable[tuple[int, int, int]]) -> Any:
    records = []
    for at, seconds, percent in used:
        for each in (block("QMST"), block("QPST", qpstnbuf=100, qpstcbsl=100 - percent)):
            start = START + dt.timedelta(seconds=at)
            records.append(record(each, start=start, seconds=seconds))
    with Catalog(open_inputs([write(*records)])) as opened:
        (day,) = summarized(opened)
    (pool,) = of_line(day, "buffer-pool").values()
    return pool


@pytest.mark.usefixtures("unjudged")
def test_a_peak_is_that_of_the_slot_and_is_when_its_data_begins(write: Write) -> None:
    pool = pool_of(
        write, [(0, 600, 50), (600, 600, 50), (1200, 300, 90), (1500, 300, 20), (1800, 600, 50)]
    )
    assert pool.highest == pytest.approx(90)
    assert pool.amounts.round().tolist() == [50, 50, 90, 50]
    behind_a_gap = [(0, 600, 50), (600, 600, 50), (1200, 300, 50), (2220, 180, 90), (2400, 600, 50)]
    at = pool_of(write, behind_a_gap).at.replace(tzinfo=None)
    assert at == START + dt.timedelta(seconds=2220)


def test_a_wrong_line_names_file_and_key(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    wrong = "[x]\nlabel = 'X'\nmeasure = 'most'\nreport = 'log'\nsql = 'SELECT 1'\n"
    (tmp_path / "lines.toml").write_text(wrong)
    monkeypatch.setattr("smfparse.summarizing.figures._FOLDER", tmp_path)
    with pytest.raises(RequestError, match=r"lines\.toml: x\.measure: .*'most'"):
        lines.__wrapped__()


DRAWN: list[tuple[list[float | None], float, str]] = [
    ([0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0], 0, "▁▂▃▄▅▆▇██"), ([5.0, None, 10.0], 0, "▅ █"),
    ([0.0, 0.0], 0, "▁▁"), ([None, None], 0, "  "), ([-1.0, 1.0], 0, "▁█"), ([], 0, ""),
    ([1.0, 50.0, 100.0, 130.0], 100, "▁▅██"),
]  # fmt: skip


def test_a_block_is_as_high_as_its_share_of_the_greatest() -> None:
    for values, full, drawn in DRAWN:
        assert sparkline(values, full) == drawn


def test_percentages_are_drawn_against_all_and_too_small_figures_are_said_to_be() -> None:
    assert {each.name for each in lines().values() if each.full} == {
        *("log-busy", "buffer-pool", "page-set", "storage-31", "dispatcher", "adapter"),
        "current-channels",
    }
    shown = [legible(0.004, lines()[name].style) for name in ("log-busy", "verb-cpu", "depth")]
    assert shown == ["<0.1", "<0.01", "<1"]
    shown = [legible(each, "percent") for each in (0.0, 0.0234, 0.996, 70.973, 262.43, 1234.5)]
    assert shown == ["0", "0.023", "1", "70.97", "262", "1,234"]


@pytest.mark.parametrize("declared", [lines(), panels()], ids=["lines", "panels"])
def test_the_release_of_the_newest_field_is_said(declared: Mapping[str, Line | Panel]) -> None:
    wrong = {}
    for each in declared.values():
        for metric in metrics_of(each.metric):
            subject, measure = measure_of(metric)
            words = words_in(f"{measure.amount} {measure.per}")
            fields = [each.field for table in subject.tables for each in TABLES[table].columns]
            since = [version_key(field.since) for field in fields if field.name in words]
            if max(since, default=()) > version_key(each.versions or "0"):
                wrong[each.name] = max(since)
    assert not wrong
