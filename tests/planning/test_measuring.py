"""What a site's own SMF gives planners; tests/golden/judged has the values they measure."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from smfparse.inputs.opening import open_inputs
from smfparse.planning.answering import Answer, answers, measuring_sql
from smfparse.planning.plans import planned, planner, planner_names, wanted
from smfparse.planning.printing import notes
from smfparse.query.catalog import Catalog
from smfparse.simulating.reading_toml import load_estate
from smfparse.simulating.run import simulate
from tests.support import smf
from tests.support.builders import put
from tests.support.real import REAL_DATA, needs_real_data
from tests.support.searching import LONG


class Opened:
    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog
        self._known: dict[Any, Answer] = {}

    def __call__(self, name: str, **given: Any) -> Answer:
        key = name, *given.items()
        if key not in self._known:
            (self._known[key],) = answers(planner(name), given, self._catalog)
        return self._known[key]

    def puts(self, queues: str) -> int:
        """Return how many messages were put to queues whose names begin so."""
        return self._catalog.arrow(
            f"SELECT sum(validput)::INT FROM wqst WHERE starts_with(basename, '{queues}')"
        )[0][0].as_py()


@contextmanager
def opened(path: Path) -> Iterator[Opened]:
    with Catalog(open_inputs([path])) as catalog:
        yield Opened(catalog)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Opened]:
    path = tmp_path_factory.mktemp("site") / "day.smf"
    simulate(path, load_estate("payments", interval=dt.timedelta(hours=1)))
    with opened(path) as found:
        yield found


@pytest.mark.slow
def test_every_planner_measures_its_documented_inputs_and_options_override_them(site: Opened):
    for name in planner_names():
        which, found = planner(name), site(name)
        assert found.of is not None
        documented = {each.name for each in wanted(which.asked) if each.ask.measured}
        assert found.of.values.keys() <= documented
        sql = measuring_sql(name)
        assert documented <= {*re.findall(r"\bAS (\w+)", sql), *re.findall(r"(\w+)[,\n]", sql)}
        assert {*found.origins.values()} <= {"measured", "published"}
    for name in planner_names() if LONG else ("log", "cluster", "pages"):
        asked = planner(name).asked
        given = {
            each.name: max(each.ask.low, 0) + 1 if each.default is None else each.default
            for each in wanted(asked)
        }
        found = site(name, **given)
        assert found.plan.asked == asked(**given)
        assert set(found.origins.values()) == {"given"}


def test_a_gap_is_in_no_busiest_hour_and_a_short_file_has_none(tmp_path: Path) -> None:
    """Intervals of 10 minutes, of which three are missing; then the same without the last ones."""
    log = {"qjstlogw": 1, "qjstciwr": 1}
    start = dt.datetime(2026, 3, 4, 9)
    used = {0: 100, 1: 100, 2: 100, 6: 900, 7: 300, 8: 300, 9: 300, 10: 300, 11: 300, 12: 0}
    used |= dict.fromkeys(range(13, 80), 0)

    def hour(name: str, minutes: int) -> tuple[float | None, float | None, list[str]]:
        made = [
            smf.log_record(
                smf.Log(log | {"qjstbffl": pages << 18}, {(1, 1): smf.Io(1, 1, 50, 50)}),
                start=start + at * dt.timedelta(minutes=10),
                duration_us=600_000_000,
            )
            for at, pages in used.items()
            if 10 * at < minutes
        ]
        with opened(put(tmp_path / name, *made)) as found:
            answer = found("log")
        asked = answer.plan.asked
        return asked.hour_gb, asked.half_day_gb, notes(answer)

    *busiest, _ = hour("whole.smf", 800)
    # The busiest 12 hours without a gap begin after it.
    assert busiest == pytest.approx([2400, 2400])
    *busiest, found_notes = hour("hours.smf", 180)
    assert busiest == [pytest.approx(2400), None]
    assert "--half-day-gb (needs 12 hours of data)" in found_notes[-1]
    *busiest, found_notes = hour("short.smf", 30)
    assert busiest == [None, None]
    assert "--hour-gb (needs 1 hour of data)" in found_notes[-1]


def test_full_logs_without_the_data_of_half_a_day_are_those_of_the_average() -> None:
    given = {"log_size": 1.0, "logs": 3, "hourly_gb": 0.5}
    names = [each.name for each in planned("log", **given).figures]
    assert "full_h" in names
    assert not {"full_peak_h", "full_half_day_h", "logs_needed"} & {*names}


@pytest.mark.parametrize(
    ("unarchived", "words"),
    [
        (0.9, "archiving keeps up"),
        (2.7, "archiving is too slow, or --log-size is too small"),
        (3.1, "not possible with 3 logs: check --log-size and --logs"),
    ],
)
def test_more_logs_than_there_are_cannot_wait_for_archiving(unarchived: float, words: str) -> None:
    plan = planned("log", log_size=1.0, logs=3, hourly_gb=0.5, unarchived_gb=unarchived)
    formulas = {each.name: each.formula for each in plan.figures}
    assert formulas["behind_logs"].endswith(f": {words}")
    assert formulas["full_h"].endswith(", if all are empty now")


def test_transfers_of_files(tmp_path: Path) -> None:
    """Messages of 256 KB, a reply for each ten, a message of state for each five replies."""
    path = tmp_path / "files.smf"
    simulate(path, load_estate("mft", interval=dt.timedelta(hours=1)))
    with opened(path) as files:
        found = files("mft")
        replies, states = (files.puts(f"SYSTEM.FTE.{of}") for of in ("REPLY.", "STATE.FILESRC"))
    asked = found.plan.asked
    assert (asked.chunk, asked.window, asked.frame) == (pytest.approx(262_144, rel=0.02), 10, 5)
    assert found.plan["replies"] == pytest.approx(replies, rel=1e-3)
    assert found.plan["states"] == pytest.approx(states, rel=0.03)


def test_an_input_without_what_is_measured(site: Opened) -> None:
    found = site("cluster")
    assert set(found.origins.values()) == {"published"}
    assert found.missing == ["depth", "gets_s"]
    (note,) = notes(site("compression"))
    assert note.startswith("Not measured: --compressible. Measurements require START TRACE")


@needs_real_data
def test_real_files_give_what_is_published() -> None:
    assert REAL_DATA is not None
    with opened(REAL_DATA / "TEST115.dat") as real:
        found = real("log")
        assert round(found.plan["mb_s"], 3) == 0.324
        assert round(found.plan["full_mb_s"], 2) == 3.49
        assert round(found.plan["ceiling_mb_s"], 1) == 31.3
        asked = found.plan.asked
        times = (asked.one_page_us, asked.more_pages, asked.more_pages_us)
        assert times == pytest.approx((1084.45, 3.8639, 1417.12), rel=1e-5)
        assert (asked.io_busy, asked.busy) == pytest.approx((9.18, 9.27), abs=0.005)
        assert real("pages").plan["buffers_floor"] == 67_873
