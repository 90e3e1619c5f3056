"""Times in a zone that is asked for: what is shown, and what is selected, is by one rule."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import duckdb
import polars as pl
import pytest
import pytz
from hypothesis import given
from hypothesis import strategies as st

import smfparse
from smfparse.decoding.selection import Selection
from smfparse.decoding.zones import parse_zone
from smfparse.errors import RequestError
from smfparse.inputs.opening import open_inputs
from smfparse.inputs.options import ReadOptions
from smfparse.writing.dataset import write_dataset
from tests.support import smf
from tests.support.builders import Write, rdw
from tests.support.command import in_json, run
from tests.support.searching import pairs, search
from tests.support.short_records import foreign

BERLIN = "Europe/Berlin"
US = dt.timedelta(microseconds=1)
EPOCH = dt.datetime(1970, 1, 1)
QUARTER = dt.timedelta(minutes=15)
SPRING, AUTUMN = dt.datetime(2026, 3, 29), dt.datetime(2026, 10, 25)
"""Days on which clocks in Berlin are changed, at 01:00 UTC: 02:00 is 03:00, and 03:00 is 02:00."""
EAST = {"SYS0": dt.timedelta(0), "SYS1": dt.timedelta(hours=-5), "SYS2": dt.timedelta(hours=9)}
"""How far the clocks of the systems are ahead of UTC; they are not changed."""
MOMENTS = st.datetimes(dt.datetime(1970, 1, 2), dt.datetime(2099, 12, 30))
ZONES = (BERLIN, "America/New_York", "Asia/Kolkata", "Australia/Lord_Howe", "America/St_Johns")


@search(60)
@given(
    moments=st.lists(MOMENTS, min_size=1, max_size=5),
    name=st.sampled_from(sorted({*pytz.common_timezones, *ZONES})),
)
def test_a_zone_follows_the_rules_of_the_system(moments: list[dt.datetime], name: str) -> None:
    zone, rules = parse_zone(name), pytz.timezone(name)
    for moment in moments:
        us = (moment - EPOCH) // US
        if moment.year < 2037:  # pytz knows no later change
            assert zone.local(us) == rules.fromutc(moment).replace(tzinfo=None)
        assert zone.local(zone.moment(zone.local(us))) == zone.local(us)
        assert zone.moment(zone.local(us)) <= us


def test_sql_has_the_offsets_of_the_table() -> None:
    zone = parse_zone(BERLIN)
    edges = [change + by for change in zone.changes for by in (-1, 0, 1)]
    query = f"SELECT us, {zone.sql('us')} FROM unnest(?::BIGINT[]) AS t(us)"
    assert duckdb.execute(query, [edges]).fetchall() == [(us, zone.offset(us)) for us in edges]
    assert [*zone.each_offset(pl.Series(edges).to_numpy())] == [zone.offset(us) for us in edges]
    utc = parse_zone("Utc")
    assert duckdb.execute(f"SELECT {utc.sql('1')}, {utc.sql('NULL')}").fetchall() == [(0, None)]
    assert duckdb.execute(f"SELECT {zone.sql('NULL::BIGINT')}").fetchall() == [(None,)]

    for year in (2038, 2050, 2099):
        summer = dt.datetime(year, 7, 1)
        assert zone.local((summer - EPOCH) // US) == summer + dt.timedelta(hours=2)


def test_an_unknown_zone_is_refused_with_names_that_are_near(sites: dict[str, Path]) -> None:
    for text, way_out in {
        "Europe/Berln": "did you mean Europe/Berlin",
        "berlin": "did you mean Europe/Berlin?",
        "Etc/GMT+20": "did you mean Etc/GMT+2, Etc/GMT+0 or Etc/GMT+12?",
        "Tokio": "did you mean Asia/Tokyo?",
        "+02:00": "write it like Europe/Berlin",
        "../../etc/passwd": "write it like Europe/Berlin",
    }.items():
        with pytest.raises(RequestError) as caught:
            ReadOptions(tz=text)
        assert f"tz={text!r} is not utc or a time zone of IANA; {way_out}" in str(caught.value)
    found = run("dump", sites["smf"], "--tz", "Mars/Berlin", code=2)
    assert "--tz 'Mars/Berlin' is not utc or a time zone of IANA" in found.stderr


def intervals() -> Iterator[tuple[str, dt.datetime]]:
    """Yield system and start in UTC of quarters of an hour around both changes."""
    for day in (SPRING, AUTUMN):
        for number in range(-4, 16):
            for system in EAST:
                yield system, day + number * QUARTER


@pytest.fixture(scope="module")
def sites(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The same records as an SMF file and as a dataset."""
    path, folder = (tmp_path_factory.mktemp("zones") / each for each in ("zones.smf", "dataset"))
    made = []
    for system, start in intervals():
        keys: dict[str, Any] = {"system": system, "qmgr": "MQ01", "east": EAST[system]}
        begun = start + EAST[system]
        made.append(smf.record(smf.block("QJST"), start=begun, seconds=900, **keys))
    path.write_bytes(rdw([*made, foreign(SPRING, system="NOMQ")]))
    write_dataset(open_inputs([path]), folder)
    return {"smf": path, "dataset": folder}


COLUMNS = ("system", "smf_time", "counted_at", "utc_offset")


def expected(zone: str) -> list[tuple[str, dt.datetime, dt.datetime, int]]:
    """Return COLUMNS of each record, by Python's own rules."""
    found = []
    for system, start in intervals():
        taken, counted = (
            (start + each).replace(tzinfo=dt.UTC).astimezone(ZoneInfo(zone)).replace(tzinfo=None)
            for each in (QUARTER, QUARTER / 2)
        )
        found.append((system, taken, counted, round((taken - start - QUARTER).total_seconds())))
    return found


SPANS: list[dict[str, Any]] = [
    {},
    {"since": "2026-03-29T02:30"},  # in the gap
    {"since": "2026-03-29T03:00", "until": "2026-03-29T03:14"},  # behind it
    {"since": "2026-10-25T02:15", "until": "2026-10-25T02:29"},  # twice
    {"since": "0200", "until": "0259"},
    {"since": "2300", "until": "0059"},
    {"since": "2026-03-29T03:00", "until": "2026-03-29T04:00", "smf_time": True},
]


def asked(span: dict[str, Any], moment: dt.datetime) -> bool:
    """Whether local time is in a span, by the words of the documentation."""
    since, until = (span.get(name) for name in ("since", "until"))
    if since and len(since) == 4:
        clock = f"{moment:%H%M}"
        inside = (clock >= since, clock <= until)
        return all(inside) if since <= until else any(inside)
    minute = f"{moment:%Y-%m-%dT%H:%M}"
    return (not since or minute >= since) and (not until or minute <= until)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["smf", "dataset"])
def test_records_have_times_of_the_zone_that_is_asked_for(sites: dict[str, Path], kind: str):
    starts = [start for _, start in intervals()]
    for span, zone in [*pairs(SPANS, ZONES[:3]), ({}, ZONES[-1]), (SPANS[1], "UTC")]:
        found = smfparse.open(sites[kind], Selection.of(**span), tz=zone)
        rows = [
            (number, *row)
            for number, row in enumerate(expected(zone), 1)
            if asked(span, row[1] if "smf_time" in span else row[2])
        ]
        query = f"SELECT record_no, {', '.join(COLUMNS)}, interval_start FROM qjst ORDER BY 1"
        of_sql = [tuple(row.values()) for row in found.sql(query).to_pylist()]
        assert [row[:-1] for row in of_sql] == rows
        assert all(row[-1].replace(tzinfo=None) == starts[row[0] - 1] for row in of_sql)
        assert sorted(found.polars("qjst").select("record_no", *COLUMNS).collect().rows()) == rows
        if not span:
            begin = dt.datetime(2026, 10, 25, 2)
            later = found.polars("qjst").filter(pl.col("counted_at") >= begin).collect()
            counts = [row[3] for row in rows if row[3] >= begin]
            assert sorted(later["counted_at"]) == sorted(counts)
        without = [] if span else [(len(starts) + 1, "NOMQ", None, None, None)]  # it has no UTC
        for table, more in (("qjst", []), ("record", without)):
            of_arrow = found.arrow(table).select(["record_no", *COLUMNS]).to_pylist()
            assert sorted(tuple(each.values()) for each in of_arrow) == rows + more


@pytest.mark.slow
def test_reports_show_local_times_and_hours_of_the_zone(sites: dict[str, Path]) -> None:
    command = ("report", "log", sites["smf"], "--tz", BERLIN)
    rows = in_json(*command)["rows"]
    found = [(row["system"], row["interval_start_local"], row["smf_time"]) for row in rows]

    def local(moment: dt.datetime) -> str:
        return moment.replace(tzinfo=dt.UTC).astimezone(ZoneInfo(BERLIN)).isoformat()

    expected = [(system, local(start), local(start + QUARTER)) for system, start in intervals()]
    assert sorted(found) == sorted(expected)
    span = ("--from", "2026-03-29T01:45", "--until", "2026-03-29T01:59")
    text = run(*command, *span, "--system", "SYS1").stdout
    assert "SYS1,MQ01,2026/03/29,03:00:00,VRM:930," in text
    assert (
        "From 2026/03/29,01:45:00 to 2026/03/29,03:00:00 Europe/Berlin, duration 900 seconds."
        in text
    )
    hours = ("--interval", "1h", "--system", "SYS2", "--from", "2026-10-25", "--format", "json")
    rows = json.loads(run(*command, *hours).stdout)["rows"]
    counts = {row["bucket"][11:13]: row["intervals"] for row in rows}
    assert (counts["01"], counts["02"]) == (4, 8)  # the hour from 2 came twice


@pytest.mark.slow
def test_check_summary_and_info_show_the_zone(sites: dict[str, Path]) -> None:
    path, asked = sites["smf"], ("--system", "SYS1", "--until", "2026-04-01")
    for command in ("check", "summary"):
        found = run(command, path, "--tz", BERLIN, *asked)
        assert "2026/03/29 00:00 to 06:00 Europe/Berlin" in found.stdout
    (group,) = in_json("info", path, "--tz", "utc", "--system", "SYS2")["groups"]
    assert group["first"] == (SPRING - 3 * QUARTER).isoformat()
    shown = run("dump", path, "--tz", BERLIN, "--record", "40").stdout
    assert " 2026-03-29 " in shown
    assert "Europe/Berlin" in shown
    assert "local" in shown


@pytest.mark.long
@pytest.mark.slow
def test_a_comparison_is_cut_at_a_time_of_the_zone(write: Write) -> None:
    """01:30 UTC is 03:30 in Berlin; the statistics begin at 23:00 UTC."""
    east = EAST["SYS1"]
    starts = [SPRING + number * QUARTER + east for number in range(-4, 16)]
    keys: dict[str, Any] = {"seconds": 900, "east": east}
    path = write(*(smf.record(smf.block("QMST"), start=each, **keys) for each in starts))
    for zone, time in {"utc": "2026-03-29T01:30", BERLIN: "2026-03-29T03:30"}.items():
        found = in_json("compare", path, "--split-at", time, "--tz", zone)
        sides = [found[each]["statistics_seconds"] for each in ("before", "after")]
        assert sides == [10 * 900, 10 * 900], zone


def test_a_dataset_is_written_as_recorded(sites: dict[str, Path], tmp_path: Path) -> None:
    span = ("--from", "2026-03-29T03:00", "--until", "2026-03-29T03:14", "--tz", BERLIN)
    run("convert", sites["smf"], "--to", tmp_path / "part", *span)
    rows = smfparse.open(tmp_path / "part").sql("SELECT system, smf_time FROM qjst").to_pylist()
    moment = dt.datetime(2026, 3, 29, 1, 15)
    assert {row["system"]: row["smf_time"] - moment for row in rows} == EAST
