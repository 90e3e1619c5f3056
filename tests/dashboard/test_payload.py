"""The payload: its figures are those of the records, at the real ends of intervals."""

from __future__ import annotations

import datetime as dt
import math
import shlex
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import smfparse
from smfparse.advice.declaration import rules
from smfparse.advice.findings import Finding
from smfparse.dashboard.courses import Course, Courses, Thinned, axis_of, groups
from smfparse.dashboard.declaration import panels, parts
from smfparse.dashboard.findings import incidents
from smfparse.dashboard.gathering import Day, Gathered, panel_sql
from smfparse.dashboard.page import group_lines
from smfparse.dashboard.payload import drawn_courses, packed, rounded
from smfparse.dashboard.payload import payload as payload_of
from smfparse.decoding.zones import fixed_zone
from smfparse.metrics.calendar import Calendar
from smfparse.rendering.figures import decimals_of, with_decimals
from smfparse.summarizing.figures import Times
from tests.summarizing.test_spreading import MINUTE, axis
from tests.support.command import in_json
from tests.support.pages import line_of


def course(name: str, values: Sequence[float]) -> Course:
    known = np.flatnonzero(~np.isnan(values))
    blank = np.full(len(values), np.nan)
    return Course(name, blank, known, np.array(values, float)[known], 1.0, 1.0, 1.0)


def day_of_minutes(many: int, findings: list[Finding], courses: dict[str, Courses]) -> Day:
    """Return a day of intervals of a minute each, one after the other."""
    starts = np.arange(many, dtype=np.int64) * MINUTE
    calendar = Calendar(
        system="SYSA", qmgr="QM01", mq_version="9.4.0", clock=fixed_zone(0), source=1,
        typical=60.0, starts=starts, ends=starts + MINUTE, kinds=["typical"] * many,
        gaps=np.zeros(many), restarts=np.zeros(many, bool),
        missing=np.zeros(many, np.int64), derived=False,
    )  # fmt: skip
    times = Times.of(calendar)
    return Day(times, axis_of(times), findings, courses, [])


@pytest.mark.slow
def test_free_buffers_and_rates_are_those_of_the_statistics(day: Path, payload: Any) -> None:
    for number, panel, name, query in (
        (0, "buffers-free", "pool 1", "100 * qpstcbsl::DOUBLE / qpstnbuf FROM qpst"),
        (1, "messages", "puts", "(qmstput::DOUBLE + qmstput1) / interval_seconds FROM qmst"),
    ):
        which = f"qmgr = 'QM0{number + 1}'" + " AND qpstpool = 1" * (number == 0)
        rows = smfparse.open(day).sql(f"SELECT {query} WHERE {which} ORDER BY interval_start")
        found = line_of(payload["days"][number], panel, name)
        assert list(found) == pytest.approx(rows.column(0).to_pylist(), rel=1e-3)
    ends = [1800 * each for each in range(7)]
    assert (payload["days"][0]["start"], payload["days"][0]["end"]) == (ends[:-1], ends[1:])


def test_what_is_put_together_keeps_the_mean_the_lowest_and_the_highest() -> None:
    """Intervals are not put together over a gap."""
    spans = axis((0, 1), (1, 2), (2, 3), (10, 11), (11, 12))
    assert groups(spans, 3).tolist() == [0, 0, 1, 2, 2]
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
    limits = [f"{name} {each.limit_value:g}" for name, each in panels().items() if each.limit]
    assert ", ".join(sorted(limits)) == (
        "adapter 50, buffers-free 5, current-channels 90, dispatcher 90, log-busy 95, log-io 500, "
        "page-set 80, tls 50"
    )


@pytest.mark.long
@pytest.mark.slow
def test_the_command_of_a_panel_gives_its_rows(day: Path, payload: Any) -> None:
    data = smfparse.open(day)
    for name, panel in payload["panels"].items():
        *command, sql = shlex.split(panel["sql"])
        assert command[:2] == ["smfparse", "sql"]
        assert sql == panel_sql(panels()[name])
        columns = {*data.sql(f"FROM ({sql}) LIMIT 0").column_names}
        assert {"system", "qmgr", "object", "start", "seconds", "amount"} <= columns, name
    _, *arguments = shlex.split(payload["panels"]["buffers-free"]["sql"])
    rows = in_json(*arguments, code=0)
    pool = ("QM01", "pool 1")
    amounts = [row["amount"] for row in rows if (row["qmgr"], row["object"]) == pool]
    assert amounts == pytest.approx(line_of(payload["days"][0], "buffers-free", "pool 1"), rel=1e-3)


def test_objects_that_are_always_0_are_counted_and_not_drawn() -> None:
    def of(measure: str) -> tuple[list[str], bool]:
        panel = replace(panels()["log-waits"], measure=measure)
        several = [
            course(name, values)
            for name, values in (("a", [0.0, 2.0]), ("b", [0.0, math.nan]), ("c", [0.0, 0.0]))
        ]
        drawn = drawn_courses(Courses(panel, several), None)
        return [each.object for each in drawn], Courses(panel, several[1:]).all_zero

    assert of("total") == (["a"], True)
    assert of("trough") == (["a", "b", "c"], False)


def test_a_group_names_the_members_without_data() -> None:
    written = Courses(panels()["log-written"], [course("", [1, 1])])
    several: list[dict[str, Courses]] = [{"log-written": written}, {}]
    days = [replace(day_of_minutes(2, [], each), group="QSG1") for each in several]
    assert "".join(group_lines(Gathered(days))).count("no data for QM01") == 1


def test_figures_of_a_column_have_the_same_decimals() -> None:
    for values, shown in (
        ((103.0412, 8.7841, 0.0001), "103.04 8.78 <0.01"),
        ((22.4212, 0.98, math.nan), "22.42 0.98 -"),
        ((0.2473, 0.00061, 1e-6), "0.2473 0.0006 <0.0001"),
        ((3185.2, 6.893), "3,185.2 6.9"),
        ((9605, 0, 3), "9,605 0 3"),
        ((0.0, math.nan), "0 -"),
    ):
        assert " ".join(with_decimals(each, decimals_of(values)) for each in values) == shown


def test_waste_of_one_interval_and_what_holds_most_of_the_time_make_no_incident() -> None:
    start, clock = dt.datetime(1970, 1, 1), fixed_zone(0)
    cases = [(3, 1, 2, 0), (3, 2, 2, 1), (2, 1, 2, 1), (4, 2, 2, 0), (2, 2, 5, 0)]
    for severity, crossed, minutes, count in cases:
        finding = Finding(
            rules()["LOG-RESPONSE"], severity, "SYSA", "QM01", "", "", "", clock, start,
            start + dt.timedelta(minutes=minutes), [], 0.0, crossed=crossed,
        )  # fmt: skip
        found = incidents(day_of_minutes(8, [finding], {}))
        assert len(found) == count, (severity, crossed, minutes)


def test_an_incident_shows_worst_values_and_no_recovery_of_an_earlier_one() -> None:
    """AUDIT was deep before; CHECKED became deep, puts ended and buffers were used."""
    start, clock = dt.datetime(1970, 1, 1, 0, 4), fixed_zone(0)
    finding = Finding(
        rules()["LOG-RESPONSE"], 2, "SYSA", "QM01", "", "", "", clock, start,
        start + dt.timedelta(minutes=3), [], 0.0, crossed=3,
    )  # fmt: skip
    rows = {
        "depth": {"AUDIT": [0, 900, 500, 0, 0, 0, 0, 0], "CHECKED": [0, 5, 1, 2, 100, 700, 400, 0]},
        "buffers-free": {"pool 1": [50, 90, 60, 80, 40, 10, 30, 70]},
        "queue-puts": {"ORDERS": [9, 9, 9, 9, 0, 0, 3, 9]},
        "log-io": {"copy 1": [900, 900, 900, 900, 100, 100, 100, 100]},
    }
    courses = {
        panel: Courses(panels()[panel], [course(name, values) for name, values in objects.items()])
        for panel, objects in rows.items()
    }
    (found,) = incidents(day_of_minutes(8, [finding], courses))
    moves = {(each.panel.name, each.object): (each.before, each.during) for each in found.moves}
    assert moves == {
        ("depth", "CHECKED"): (5, 700),
        ("buffers-free", "pool 1"): (50, 10),
        ("queue-puts", "ORDERS"): (9, 1),
    }


@pytest.mark.long
def test_thirty_days_of_minutes_stay_small_however_restless_they_are() -> None:
    many = 30 * 1440
    waves = 1 + np.sin(np.arange(many) / 1440 * 2 * math.pi)
    noise = np.random.default_rng(1)

    def courses() -> list[Course]:
        values = (waves * noise.lognormal(3 - at / 4, 0.3, many) for at in range(24))
        return [course(f"O{at}", each) for at, each in enumerate(values)]

    busy = {name: Courses(panel, courses()) for name, panel in panels().items()}
    facts = payload_of(Gathered([day_of_minutes(many, [], busy)]))
    assert len(facts["days"][0]["start"]) <= 1500
    assert len(packed(facts)) < 5_000_000
