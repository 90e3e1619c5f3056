"""The payload: its figures are those of the reports, at the real ends of intervals."""

from __future__ import annotations

import json
import math
import shlex
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

import smfparse
from smfparse.calendar import Calendar
from smfparse.dashboard.axes import Axis, axis_of, groups, spread
from smfparse.dashboard.courses import Course, Courses, Thinned
from smfparse.dashboard.declaration import panels, parts
from smfparse.dashboard.gathering import Day, Gathered
from smfparse.dashboard.payload import drawn_courses, packed, rounded
from smfparse.dashboard.payload import payload as payload_of
from smfparse.dashboard.querying import panel_sql
from smfparse.dashboard.sheets import aligned, decimals_of
from smfparse.selecting import fixed_zone
from smfparse.summarizing import Times
from tests.support.command import run
from tests.support.generated import generate_dump
from tests.support.pages import line_of, page_of, payload_in

MINUTE = 60_000_000


def axis(*spans: tuple[float, float]) -> Axis:
    """Return an axis of spans in minutes."""
    starts, ends = (np.array(spans) * MINUTE).astype(np.int64).T
    return Axis(starts, ends, np.r_[False, starts[1:] > ends[:-1]])


def minutes_of_statistics(starts: NDArray[np.int64]) -> Calendar:
    """Return a calendar of intervals of a minute each, one after the other."""
    many = len(starts)
    return Calendar(
        system="SYSA",
        qmgr="QM01",
        mq_version="9.4.0",
        clock=fixed_zone(0),
        source=1,
        typical=60.0,
        starts=starts,
        ends=starts + MINUTE,
        kinds=["typical"] * many,
        gaps=np.zeros(many),
        restarts=np.zeros(many, bool),
        missing=np.zeros(many, np.int64),
        derived=False,
    )


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> smfparse.SmfData:
    return smfparse.open(generate_dump(tmp_path_factory.mktemp("payload") / "day.smf"))


@pytest.fixture(scope="module")
def payload(data: smfparse.SmfData, tmp_path_factory: pytest.TempPathFactory) -> dict:  # type: ignore[type-arg]
    return payload_in(page_of(data, tmp_path_factory.mktemp("page")))


@pytest.mark.slow
def test_fewest_free_buffers_are_those_of_the_statistics(data, payload) -> None:  # type: ignore[no-untyped-def]
    rows = data.sql(
        "SELECT 100 * qpstcbsl::DOUBLE / qpstnbuf AS free FROM qpst "
        "WHERE qmgr = 'QM01' AND qpstpool = 0 ORDER BY interval_start"
    )
    found = line_of(payload["days"][0], "buffers-free", "pool 0")
    assert list(found) == pytest.approx(rows["free"].to_pylist(), rel=1e-3)


def test_puts_a_second_are_those_of_the_statistics(data, payload) -> None:  # type: ignore[no-untyped-def]
    rows = data.sql(
        "SELECT (qmstput::DOUBLE + qmstput1) / interval_seconds AS rate FROM qmst "
        "WHERE qmgr = 'QM02' ORDER BY interval_start"
    )
    found = line_of(payload["days"][1], "messages", "puts")
    assert list(found) == pytest.approx(rows["rate"].to_pylist(), rel=1e-3)


def test_calls_of_verbs_add_up_to_those_of_the_report(data, payload) -> None:  # type: ignore[no-untyped-def]
    day = payload["days"][0]
    seconds = [end - start for start, end in zip(day["start"], day["end"], strict=True)]
    rows = [
        row
        for row in data.report("api-cost", by="qmgr", total=True).to_pylist()
        if row["line"] == "verb" and row["qmgr"] == "QM01"
    ]
    calls = {row["verb"]: row["calls"] for row in rows}
    for verb in ("put", "get", "commit"):
        values = line_of(day, "verb-calls", verb)
        total = sum((value or 0) * length for value, length in zip(values, seconds, strict=True))
        assert total == pytest.approx(calls[verb], rel=2e-2)


def test_intervals_begin_and_end_where_the_records_say(payload) -> None:  # type: ignore[no-untyped-def]
    assert payload["days"][0]["start"] == [0, 1800, 3600]
    assert payload["days"][0]["end"] == [1800, 3600, 5400]


def test_a_long_interval_is_spread_over_the_short_ones_that_it_covers() -> None:
    found = spread(axis((0, 1), (1, 2), (2, 3)), np.array([0]), np.array([120.0]))
    assert found.cells.tolist() == [0, 1]
    assert found.shares.tolist() == [0.5, 0.5]


def test_two_clocks_that_differ_a_little_do_not_spread_a_row() -> None:
    found = spread(axis((0, 1), (1, 2)), np.array([500_000]), np.array([60.0]))
    assert found.cells.tolist() == [0]
    assert found.shares.tolist() == [1.0]


def test_a_row_of_no_length_is_in_its_interval_and_one_outside_in_none() -> None:
    found = spread(axis((0, 1), (1, 2)), np.array([MINUTE, 5 * MINUTE]), np.array([0.0, 0.0]))
    assert (found.rows.tolist(), found.cells.tolist()) == ([0], [1])


def test_intervals_are_put_together_but_not_over_a_gap() -> None:
    spans = axis((0, 1), (1, 2), (2, 3), (10, 11), (11, 12))
    assert groups(spans, 3).tolist() == [0, 0, 1, 2, 2]


def test_what_is_put_together_keeps_the_mean_the_lowest_and_the_highest() -> None:
    spans = axis((0, 1), (1, 2), (2, 3), (3, 4))
    thin, values = Thinned.of(spans, 2), np.array([1.0, 3.0, math.nan, 5.0])
    assert thin.means(values, spans.seconds).tolist() == [2.0, 5.0]
    assert [each.tolist() for each in thin.extremes(values)] == [[1.0, 5.0], [3.0, 5.0]]
    assert thin.axis.ends.tolist() == [2 * MINUTE, 4 * MINUTE]


def test_values_keep_four_digits() -> None:
    values = np.array([0.0, 1.23456, 0.000123456, 123456.7, 2.0, math.nan])
    assert rounded(values) == [0, 1.235, 0.0001235, 123457, 2, None]


def test_every_panel_is_of_a_part_and_every_limit_is_that_of_a_rule() -> None:
    assert {each.section for each in panels().values()} <= {*parts()}
    assert {name: each.limit_value for name, each in panels().items() if each.limit} == {
        "log-busy": 95,
        "log-io": 500,
        "buffers-free": 5,
        "page-set": 80,
        "dispatcher": 90,
        "adapter": 50,
        "tls": 50,
        "current-channels": 90,
    }


@pytest.mark.long
@pytest.mark.slow
def test_the_command_of_a_panel_gives_its_rows(data, payload) -> None:  # type: ignore[no-untyped-def]
    for name, panel in payload["panels"].items():
        *command, sql = shlex.split(panel["sql"])
        assert command[:2] == ["smfparse", "sql"]
        assert sql == panel_sql(panels()[name])
        columns = {*data.sql(f"FROM ({sql}) LIMIT 0").column_names}
        assert {"system", "qmgr", "object", "start", "seconds", "amount"} <= columns, name
    _, *arguments = shlex.split(payload["panels"]["buffers-free"]["sql"])
    done = run(*arguments, "--format", "json")
    amounts = [
        row["amount"]
        for row in json.loads(done.stdout)
        if (row["qmgr"], row["object"]) == ("QM01", "pool 0")
    ]
    assert amounts == pytest.approx(line_of(payload["days"][0], "buffers-free", "pool 0"), rel=1e-3)


def test_objects_that_are_always_0_are_counted_and_not_drawn() -> None:
    def of(measure: str) -> tuple[list[str], bool]:
        panel = replace(panels()["log-waits"], measure=measure)
        several = [
            Course(name, np.array(values), 0.0, 1.0)
            for name, values in (("a", [0.0, 2.0]), ("b", [0.0, math.nan]), ("c", [0.0, 0.0]))
        ]
        drawn = drawn_courses(Courses(panel, several), None)
        return [each.object for each in drawn], Courses(panel, several[1:]).all_zero

    assert of("total") == (["a"], True)
    assert of("trough") == (["a", "b", "c"], False)


def test_figures_of_a_column_have_the_same_decimals() -> None:
    def column(*values: float) -> list[str]:
        return [aligned(each, decimals_of(values)) for each in values]

    assert column(103.0412, 8.7841, 0.0001) == ["103.04", "8.78", "<0.01"]
    assert column(22.4212, 0.98, math.nan) == ["22.42", "0.98", "-"]
    assert column(0.2473, 0.00061, 1e-6) == ["0.2473", "0.0006", "<0.0001"]
    assert column(3185.2, 6.893) == ["3,185.2", "6.9"]
    assert column(9605, 0, 3) == ["9,605", "0", "3"]
    assert column(0.0, math.nan) == ["0", "-"]


@pytest.mark.long
def test_thirty_days_of_minutes_stay_small_however_restless_they_are() -> None:
    many = 30 * 1440
    starts = np.arange(many, dtype=np.int64) * MINUTE
    waves = 1 + np.sin(np.arange(many) / 1440 * 2 * math.pi)
    noise = np.random.default_rng(1)

    def courses() -> list[Course]:
        values = (waves * noise.lognormal(3 - at / 4, 0.3, many) for at in range(24))
        return [Course(f"O{at}", each, 1, 1) for at, each in enumerate(values)]

    busy = {name: Courses(panel, courses()) for name, panel in panels().items()}
    times = Times.of(minutes_of_statistics(starts))
    facts = payload_of(Gathered([Day(times, axis_of(times), [], busy, [])]))
    assert len(facts["days"][0]["start"]) <= 1500
    assert len(packed(facts)) < 5_000_000


@pytest.mark.long
def test_a_day_of_minutes_stays_small(tmp_path: Path) -> None:
    path = tmp_path / "day.smf"
    made = run(
        *("generate", path, "--scenario", "payments", "--interval", "1m", "--acctime", "10m")
    )
    assert made.exit_code == 0, made.stderr
    page = page_of(smfparse.open(path), tmp_path)
    assert len(payload_in(page)["days"][0]["start"]) == 1440
    assert len(page.encode()) < 1_000_000
