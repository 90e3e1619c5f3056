"""Scenarios: their laws, and on the command line what is written, explained, and refused.

The laws hold for scenarios, with class 3 intervals of their own, and for sites that are drawn.
"""

from __future__ import annotations

import datetime as dt
import io
import os
import tempfile
import tracemalloc
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from smfparse.errors import RequestError
from smfparse.simulating.declaration import INCIDENTS
from smfparse.simulating.reading_toml import load_estate, read_estate, scenario_names
from smfparse.simulating.run import AnswerKey, simulate
from tests.simulating.drawn import sites
from tests.simulating.laws import broken
from tests.simulating.simulated import Day, simulated
from tests.support.command import in_json, run
from tests.support.searching import search

pytestmark = pytest.mark.slow

FULL = 2**32 - 1
"""A counter that does not show any more how many bytes a task logged."""
HALF, TWO, FEW = (dt.timedelta(hours=each) for each in (0.5, 2, 4))


def made(name: str = "payments", seed: int = 1, *incidents: str, **changes: Any) -> bytes:
    stream = io.BytesIO()
    simulate(stream, load_estate(name, incidents, **({"interval": FEW} | changes)), seed)
    return stream.getvalue()


def test_the_same_scenario_gives_the_same_bytes_and_another_seed_others() -> None:
    assert made() == made()
    assert made(seed=2) != made()


def test_chunks_do_not_change_what_happens(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Random numbers are of a chunk, but what is on the queues and who is connected goes on."""
    monkeypatch.setattr("smfparse.simulating.run.CHUNK_ROWS", 1)
    day = simulated(tmp_path, "restart", interval=FEW)
    tasks = day.one("SELECT count(DISTINCT (wtaswtas, wtasstrt)) FROM wtas")
    assert day.one("SELECT count(*) FROM wtas WHERE wtasaeot") == tasks
    assert "a queue holds what was put and not taken" not in broken(day)


def test_rates_are_the_same_before_and_after_a_restart(tmp_path: Path) -> None:
    day = simulated(tmp_path, "restart", interval=dt.timedelta(minutes=10))
    rates = day.rows("""
        SELECT sum(validput) / max(interval_seconds) FROM wqst
        WHERE basename = 'PAY.IN' AND hour(interval_start) = 13 AND validput > 0
        GROUP BY date_trunc('minute', interval_start)
    """)
    assert (len(rates), max(rates)[0] < 1.5 * min(rates)[0]) == (6, True)


@pytest.mark.long
def test_memory_does_not_grow_with_the_days(monkeypatch: pytest.MonkeyPatch) -> None:
    """A month of three queue managers; chunks are of some hours, so that a day has several."""
    monkeypatch.setattr("smfparse.simulating.run.CHUNK_ROWS", 100)

    def most(days: int) -> int:
        estate = load_estate("cluster", days=days, interval=FEW)
        tracemalloc.start()
        try:
            with open(os.devnull, "wb") as nowhere:
                simulate(nowhere, estate)
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    most(1)
    assert most(30) < 1.3 * most(3)


def test_generate_writes_the_day_of_a_scenario(tmp_path: Path) -> None:
    place = tmp_path / "day.smf"
    asked = ("--scenario", "payments", "--interval", "4h", "--days", "2")
    assert run("generate", place, *asked, code=0).output == ""
    assert place.read_bytes() == made(days=2)


def test_options_change_the_time_and_the_version_of_a_scenario(tmp_path: Path) -> None:
    place = tmp_path / "day.smf"
    options = ("--start", "2026-06-01T06:00", "--utc-offset", "+02:00", "--mq-version", "10.0.0")
    run("generate", place, "--scenario", "payments", "--interval", "12h", *options)
    query = "SELECT min(interval_start)::TIMESTAMP AS t, min(mq_version) AS v FROM qmst"
    found = run("sql", place, query, "--format", "csv").output
    assert found.splitlines()[1] == "2026-06-01 04:00:00.000000,10.0.0"


def test_an_older_version_leaves_out_what_it_did_not_write(tmp_path: Path) -> None:
    place = tmp_path / "day.smf"
    for version in ("8.0.0", "9.3.1"):
        place.write_bytes(made(version=version, interval=dt.timedelta(hours=12)))
        groups = run("info", place, "--format", "json").output
        assert ("QQST" in groups) == (version >= "9.3")
        assert "QJST" in groups
    for other in ("7.1.0", "nine", ""):
        with pytest.raises(RequestError, match=rf"{other}: scenarios require MQ 8\.0\.0 or later"):
            made(version=other)


def test_explain_prints_the_answer_key_and_writes_no_file(tmp_path: Path) -> None:
    place = tmp_path / "day.smf"
    place.touch()
    for output in ((), (place,), (tmp_path / "none.smf",)):
        asked = ("--scenario", "log-slow", "--interval", "4h", "--explain")
        shown = run("generate", *output, *asked, code=0).output
        assert ("LOG-RESPONSE   QM01" in shown, "BOOK" in shown) == (True, True)
    assert [(each.name, each.read_bytes()) for each in tmp_path.iterdir()] == [("day.smf", b"")]
    done = run("generate", "--scenario", "payments", "--explain", "--interval", "4h")
    assert "None." in done.output


def test_an_answer_key_is_json_with_rows_and_edges() -> None:
    key = in_json("generate", "--scenario", "poison", "--explain", "--interval", "4h")
    rules = {row["rule"]: row for row in key["rows"]}
    times = {"start": "2026-03-04T10:30", "end": "2026-03-04T11:30"}
    names = {"rule": "D17", "qmgr": "QM01", "object": "PAY.IN", "job": "CICSPAY1"}
    assert rules["D17"] == names | times
    edge = next(each for each in key["edges"] if each["application"] == "AUDIT")
    assert (edge["queue"], edge["role"]) == ("PAY.AUDIT", "consumer")
    assert edge["gets"] > 100_000


def test_an_incident_can_be_added_to_any_scenario(tmp_path: Path) -> None:
    day = simulated(tmp_path, "payments", "backlog:AUDIT@12:00/2h")
    assert day.one("SELECT max(qqstdpth) FROM qqst WHERE qqstqnam = 'PAY.AUDIT'") > 100_000
    key = AnswerKey(load_estate("payments", ["backlog:AUDIT@12:00/2h"], interval=FEW))
    assert {(row["rule"], row["object"]) for row in key.answers()} >= {("D5", "PAY.AUDIT")}


def test_a_surge_befalls_an_application_that_runs_at_its_time() -> None:
    """STMTJOB has the highest rate, but runs from 21:05."""
    rows = {}
    for at in ("10:00", "21:30"):
        key = AnswerKey(load_estate("payments", [f"surge@{at}/30m"], interval=FEW))
        rows[at] = [(row["rule"], row["job"]) for row in key.answers()]
    assert rows["10:00"] != rows["21:30"] == [("Q-GROW", "STMTPR01")]


@pytest.mark.sampled(6)
@pytest.mark.parametrize("kind", INCIDENTS)
@pytest.mark.parametrize("name", scenario_names())
def test_an_incident_that_is_accepted_changes_the_file(name: str, kind: str) -> None:
    try:
        changed = made(name, 1, f"{kind}@12:00/2h", interval=TWO)
    except RequestError as error:
        pytest.skip(str(error))
    assert changed != made(name, interval=TWO)


REFUSED = {
    "did you mean payments": "--scenario paymants",
    "did you mean log-slow": "--scenario payments --incident log-slov@14:20/30m",
    "write log-slow@14:20/30m": "--scenario payments --incident log-slow",
    "write 14:20": "--scenario payments --incident log-slow@25:20/30m",
    "write 10m, 30s or 1h": "--scenario payments --incident log-slow@14:20/half",
    "did you mean QM01": "--scenario payments --incident log-slow:QM1@14:20/1h",
    "stays connected (stays = 0)": "--scenario payments --incident storm@10:00/2h",
    "does not change BALWEB": "--scenario storm --incident storm:BALWEB@10:00/2h",
    "does not change STMTJOB": "--scenario payments --incident surge:STMTJOB@10:00/2h",
    "its batches are not the limit": "--scenario payments --incident small-batch@10:00/2h",
    "not within the time": "--scenario scan --incident restart@09:00/1h --start 2026-03-04T12:00",
    "has no structure": "--scenario payments --incident cf-slow@14:20/1h",
    "--dense cannot be used with --scenario": "--scenario payments --dense",
    "--tasks cannot be used with --scenario": "--scenario payments --tasks 3",
    "--queues cannot be used with --scenario": "--scenario payments --queues 3",
    "--size cannot be used with --scenario": "--scenario payments --size 1MB",
    "--qmgr cannot be used with --scenario": "--scenario payments --qmgr QM02",
    "--format requires --explain": "--scenario payments --format json",
    "--days cannot be used without --scenario": "--days 2",
    "--explain cannot be used without --scenario": "--explain",
    "--incident cannot be used without --scenario": "--incident restart@12:00/1h",
}


def test_options_that_do_not_go_together_are_refused(tmp_path: Path) -> None:
    place = tmp_path / "day.smf"
    for reason, options in REFUSED.items():
        done = run("generate", place, *options.split(), code=2)
        assert reason in done.output
        assert not place.exists()
    for options in ("", "--scenario payments"):
        assert "Missing argument 'OUTPUT'" in run("generate", *options.split(), code=2).output


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", scenario_names())
def test_the_laws_hold_for_a_scenario(name: str, tmp_path: Path) -> None:
    assert broken(simulated(tmp_path, name)) == []


@given(site=sites(), seed=st.integers(0, 1000))
@search(3)
def test_the_laws_hold_for_any_site(site: dict[str, Any], seed: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "site.smf"
        simulate(path, read_estate("site", site), seed)
        day = Day(path)
        assume(day.one("SELECT coalesce(max(wtasjwb), 0) FROM wtas") < FULL)
        assert broken(day) == []
        day.connection.close()


def test_a_class_3_interval_has_whole_intervals_of_statistics(tmp_path: Path) -> None:
    day = simulated(tmp_path, "storm", interval=HALF, acctime=TWO)
    assert broken(day) == []
    assert round(day.one("SELECT max(epoch(wtasinte) - epoch(wtasints)) FROM wtas")) == 7200
    for length in (dt.timedelta(minutes=45), dt.timedelta(minutes=10), 24 * TWO):
        with pytest.raises(RequestError, match=r"acctime .*: must be a multiple of the interval"):
            AnswerKey(load_estate("payments", interval=HALF, acctime=length))
