"""What a site's own SMF gives planners: the same as worked out from its tables in Python."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from smfparse.capacity import Answer, answers, measuring_sql
from smfparse.capacity.printing import notes
from smfparse.inputs import open_inputs
from smfparse.planning import planned, planner, planner_names, wanted
from smfparse.query import Catalog
from smfparse.simulating import load_estate, simulate
from tests.support import smf
from tests.support.builders import rdw
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

    def tables(self, *names: str) -> Iterator[pl.DataFrame]:
        return (pl.DataFrame(self._catalog.arrow(f"FROM {name}")) for name in names)


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
def test_every_planner_measures_its_documented_inputs_and_options_override_them(
    site: Opened,
) -> None:
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


def test_storage_cpu_pools_and_page_sets(site: Opened) -> None:
    qcct, qsrs, task, qpst, qis1 = site.tables("qcct", "qsrs", "task", "qpst", "qis1")
    most = qcct.sort("qcctnocc", "time").row(-1, named=True)
    asked = site("channels").plan.asked
    names = ("qcctnocc", "qcctstus", "qcctmxcc")
    assert (asked.current, asked.used_mb, asked.maxchl) == tuple(most[name] for name in names)
    left = qsrs["qsrsaval"] - qsrs["qsrssos"] - qsrs["qsrscrit"] - qsrs["qsrsmvs"]
    assert site("connections").plan.asked.left_mb == pytest.approx(left.min() / 2**20)
    cost = task["cpu"].sum() / task["calls"].sum()
    assert site("cpu").plan.asked.cost_us == pytest.approx(cost)
    asked = site("pages").plan.asked
    assert asked.peak_pages == (qpst["qpstnbuf"] - qpst["qpstcbsl"]).max()
    free = qis1.filter(pl.col("time") == qis1["time"].max(), pl.col("qis1psno") > 0)["qis1unpg"]
    assert asked.free_pages in {*free}


def test_the_log(site: Opened) -> None:
    qjst, io, qmst = site.tables("qjst", "qjst_io", "qmst")
    seconds = qjst["interval_seconds"].sum()
    copies = io.group_by("copy").agg(pl.col("qjstioci", "qjstiocount", "qjstiototsus").sum())
    fuller = copies.sort("qjstioci").row(-1, named=True)
    asked = site("log").plan.asked
    assert asked.mb_s == pytest.approx(fuller["qjstioci"] / 256 / seconds)
    assert asked.pages == pytest.approx(fuller["qjstioci"] / fuller["qjstiocount"])
    assert asked.io_busy == pytest.approx(copies["qjstiototsus"].max() / 1e4 / seconds)
    assert asked.busy == pytest.approx(100 * (1 - qjst["qjstslptu"].sum() / 1e6 / seconds))
    assert asked.bytes_each == pytest.approx(4096 * qjst["qjstbffl"].sum() / qmst["qmstspp"].sum())
    assert asked.copies == 2
    ones = io.filter(io_type=1).group_by("copy").agg(pl.col("qjstiototio", "qjstiocount").sum())
    times = ones["qjstiototio"] / ones["qjstiocount"]
    assert any(asked.one_page_us == pytest.approx(each) for each in times)
    assert asked.more_pages > 1
    used = qjst.sort("interval_start")["qjstbffl"].to_list()  # of each hour, without gaps
    busiest = [max(used), max(sum(used[first : first + 12]) for first in range(len(used) - 11))]
    assert [asked.hour_gb, asked.half_day_gb] == pytest.approx([each / 2**18 for each in busiest])
    assert asked.hourly_gb == pytest.approx(sum(used) / 2**18 / 24)
    assert asked.unarchived_gb == pytest.approx((sum(used) - qjst["qjstciof"].sum()) / 2**18)


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
        (tmp_path / name).write_bytes(rdw(made))
        with opened(tmp_path / name) as found:
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


def test_puts_for_streaming(site: Opened) -> None:
    (wqst,) = site.tables("wqst")
    asked = site("streaming").plan.asked
    messages = wqst["validput"].sum()
    assert asked.message_kb == pytest.approx(wqst["putbytes"].sum() / messages / 1024)
    calls = wqst["putn"].sum() + wqst["put1n"].sum()
    assert asked.put_cost == pytest.approx((wqst["putct"] + wqst["put1ct"]).sum() / calls)


def test_a_channel_that_waits_for_its_batches(site: Opened) -> None:
    (channel,) = site.tables("channel")
    waiting = channel.filter(pl.col("batches") > 0, pl.col("net_average") > 0).with_columns(
        waited=pl.col("batches") * pl.col("net_average")
    )
    sums = waiting.group_by("channel").agg(
        pl.col("waited", "messages", "batches", "bytes", "active_seconds").sum()
    )
    most = sums.sort("waited").row(-1, named=True)
    found = site("batches")
    assert found.of is not None
    assert found.of.about == f"channel {most['channel']}"
    asked = found.plan.asked
    assert asked.messages_a_batch == pytest.approx(most["messages"] / most["batches"])
    assert asked.net_ms == pytest.approx(most["waited"] / most["batches"] / 1000)
    alone = most["active_seconds"] * 1e6 - most["waited"]
    assert asked.message_time == pytest.approx(alone / most["messages"])


def test_transfers_of_files(tmp_path: Path) -> None:
    path = tmp_path / "files.smf"
    simulate(path, load_estate("mft", interval=dt.timedelta(hours=1)))
    with opened(path) as files:
        (wqst,) = files.tables("wqst")
        found = files("mft")
    roles = {
        role: wqst.filter(pl.col("basename").str.starts_with(f"SYSTEM.FTE.{role}."))
        for role in ("DATA", "REPLY", "STATE")
    }
    asked = found.plan.asked
    messages, replies = (roles[each]["validput"].sum() for each in ("DATA", "REPLY"))
    source = roles["STATE"].filter(pl.col("basename") == "SYSTEM.FTE.STATE.FILESRC")
    assert asked.gb == pytest.approx(roles["DATA"]["putbytes"].sum() / 2**30)
    assert asked.chunk == pytest.approx(roles["DATA"]["putbytes"].sum() / messages, rel=1e-3)
    assert asked.chunk == pytest.approx(262_144, rel=0.02)
    assert asked.window == round(messages / replies) == 10
    assert asked.frame == round(replies / source["validput"].sum()) == 5
    assert found.plan["replies"] == pytest.approx(replies, rel=1e-3)
    assert found.plan["states"] == pytest.approx(source["validput"].sum(), rel=0.03)


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


@pytest.mark.slow
def test_the_share_of_queues_that_would_be_streamed(site: Opened) -> None:
    (wqst,) = site.tables("wqst")
    found = site("whatif", streaming="PAY.*")
    puts = wqst.filter(pl.col("basename").str.starts_with("PAY."))["validput"].sum()
    assert 0 < puts < wqst["validput"].sum()
    assert found.plan.asked.share == pytest.approx(100 * puts / wqst["validput"].sum())
    assert found.origins["share"] == "measured"
    none = site("whatif")
    assert (none.plan.asked.share, none.origins["share"]) == (0, "measured")


def test_what_if_measures_as_the_planners_do(site: Opened) -> None:
    page = site("whatif")
    for name, same in (
        ("log", ("mb_s", "pages", "io_busy", "busy")),
        ("streaming", ("message_kb", "put_cost", "puts_s")),
        ("smf", ("tasks", "interval", "record_bytes", "calls_a_second")),
    ):
        other = site(name)
        for each in same:
            assert getattr(page.plan.asked, each) == getattr(other.plan.asked, each), each
    wtas, adapters = site.tables("wtas", "qct_adp")
    times = wtas["time"]
    seconds = (times.max() - times.min()).total_seconds() + wtas["interval_seconds"].median()
    assert page.plan.asked.pages_s == pytest.approx(wtas["wtasgpn"].sum() / seconds)
    busy = adapters["qcteltm"].sum() / 1e4 / adapters["interval_seconds"].sum()
    assert page.plan.asked.adapter_busy == pytest.approx(busy)
