import datetime as dt
import random
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from smfparse.comparing import MEASURES, NAMES, Side, compared, measured
from smfparse.inputs import ReadOptions, open_inputs
from tests.support.generated import generate_dump
from tests.support.searching import LONG
from tests.support.smf import ENDED, MINUTE, queue, task, task_record, task_token, who

pytestmark = pytest.mark.slow

SEEDS, FEW = (100, 20) if LONG else (6, 3)
"""Sites that are tried with intervals of the usual number, and with fewer or more."""
QUEUES = [f"APP.QUEUE.{number:02}" for number in range(40)]
VERBS = {"open": 11.0, "close": 7.0, "put": 5.0, "get": 4.2}
"""Usual CPU of a call, in microseconds."""
AMOUNTS = {column for each in MEASURES for column in (each.amount, each.per)}
AMOUNTS -= {"seconds", "commits"}


def side(random_numbers: np.random.Generator, intervals: int, offset: int, rates: Any) -> Side:
    """One side of a site with 40 queues: calls come at random, and their cost varies."""
    rows: list[dict[str, Any]] = []
    start = dt.datetime(2026, 3, 4, 9, tzinfo=dt.UTC) + offset * dt.timedelta(minutes=30)
    buckets = [start + number * dt.timedelta(minutes=30) for number in range(intervals)]
    for bucket in buckets:
        load = random_numbers.uniform(0.7, 1.3)
        for number, name in enumerate(QUEUES):
            for verb, usual in VERBS.items():
                calls = 1 + random_numbers.poisson(rates[number] * load)
                cpu = calls * usual * random_numbers.lognormal(0, 0.1)
                waits = calls * random_numbers.choice([0, 400]) * random_numbers.uniform(0.5, 1.5)
                names = {"qmgr": "QM01", "job": f"JOB{number % 8:02}", "queue": name, "verb": verb}
                amounts = {"cpu": cpu, "elapsed": cpu * 1.1 + waits}
                counts = dict.fromkeys(("calls", "cpu_of", "elapsed_of"), calls)
                rows.append({"kind": "calls", **names, "bucket": bucket, **counts, **amounts})
    schema: dict[str, Any] = dict.fromkeys(("kind", *NAMES, "part"), pl.String)
    schema |= {"bucket": pl.Datetime("us", "UTC")} | dict.fromkeys(sorted(AMOUNTS), pl.Float64)
    seconds = pl.DataFrame({"kind": "calls", "qmgr": "QM01", "bucket": buckets, "seconds": 1800.0})
    return Side(pl.DataFrame(rows, schema=schema), seconds)


def pair(seed: int, intervals: int) -> tuple[Side, Side]:
    numbers = np.random.default_rng(seed)
    rates = numbers.lognormal(5, 1.5, len(QUEUES))
    return side(numbers, intervals, 0, rates), side(numbers, intervals, intervals, rates)


def planted(of: Side, name: str) -> Side:
    """The same, but MQPUT to a queue costs twice as much."""
    hit = (pl.col("queue") == name) & (pl.col("verb") == "put")
    more = pl.when(hit).then(pl.col("cpu")).otherwise(0.0)
    return Side(of.rows.with_columns(pl.col("cpu") + more, pl.col("elapsed") + more), of.seconds)


def named(rows: pl.DataFrame) -> list[tuple[str | None, str | None]]:
    """Queue and verb of what is significant, in order, each once."""
    found = rows.filter(pl.col("significant")).select("queue", "verb").rows()
    return list(dict.fromkeys(found))


@pytest.mark.fuzz
@pytest.mark.parametrize(("intervals", "seeds"), [(4, SEEDS), (8, FEW)])
def test_a_put_that_costs_twice_is_named_and_nothing_else(intervals: int, seeds: int) -> None:
    for seed in range(seeds):
        before, after = pair(seed, intervals)
        name = random.Random(seed).choice(QUEUES)
        rows = compared(before, planted(after, name))
        assert named(rows) == [(name, "put")], seed
        assert rows.row(0)[2:4] == (name, "put")


@pytest.mark.fuzz
@pytest.mark.parametrize(("intervals", "seeds"), [(2, FEW), (4, SEEDS), (8, FEW)])
def test_where_nothing_changed_nothing_is_named(intervals: int, seeds: int) -> None:
    silent = sum(not named(compared(*pair(SEEDS + seed, intervals))) for seed in range(seeds))
    assert silent >= 0.95 * seeds


def halves(path: Path, seed: int) -> tuple[Side, Side]:
    with path.open("wb") as file:
        generate_dump(file, qmgrs=["QM01"], seed=seed, tasks=40, queues=1, count=8)
    whole = measured(open_inputs([path], ReadOptions(jobs=1)))
    (middle,) = whole.seconds.select(pl.col("bucket").unique().sort().get(4)).to_series()
    parts = [(pl.col("bucket") < middle), (pl.col("bucket") >= middle)]
    first, second = (Side(whole.rows.filter(p), whole.seconds.filter(p)) for p in parts)
    return first, second


def check_halves(path: Path, seed: int) -> bool:
    """Whether of a generated file nothing is named, and of the same with a dear put that put."""
    before, after = halves(path, seed)
    of_puts = [set(each.rows.filter(verb="put")["queue"]) for each in (before, after)]
    name = random.Random(seed).choice(sorted(of_puts[0] & of_puts[1]))
    dear = named(compared(before, planted(after, name)))
    return not named(compared(before, after)) and dear == [(name, "put")]


@pytest.mark.long
def test_generated_files_are_told_apart_likewise(tmp_path: Path) -> None:
    assert all(check_halves(tmp_path / "half.smf", seed) for seed in range(1, 3))


@pytest.mark.long
def test_a_hundred_generated_files_are_told_apart_likewise(tmp_path: Path) -> None:
    right = sum(check_halves(tmp_path / "half.smf", seed) for seed in range(5, 5 + SEEDS))
    assert right >= 0.95 * SEEDS


def batch(path: Path, minutes: int, **figures: Any) -> Path:
    """IBM's batch task that puts ten messages of 1 KB, in each of some minutes."""
    calls = {"openn": 1, "closen": 1, "putn": 10, "validput": 10, "putbytes": 10 * 1024}
    of_task = {name: figures.pop(name) for name in ("wtasgpo", "wtasgpn")}
    data = b""
    for number in range(minutes):
        token, ended = task_token(number + 1), ENDED + number * MINUTE
        block = queue("BASE.QUEUE", token, version=9, **calls, **figures)
        data += task_record(task(token, ended=ended, **of_task), block, by=who(), ended=ended)
    path.write_bytes(data)
    return path


@pytest.fixture
def streaming(tmp_path: Path) -> tuple[Side, Side]:
    """The batch task of IBM's performance report for MQ 9.3, without and with a stream queue."""
    without = {
        "wtasgpo": 32, "wtasgpn": 11, "openet": 39, "openct": 37, "closeet": 8, "closect": 8,
        "putet": 112, "putct": 110,
    }  # fmt: skip
    with_stream = {
        "wtasgpo": 64, "wtasgpn": 22, "openet": 44, "openct": 44, "closeet": 10, "closect": 10,
        "putet": 182, "putct": 180, "streamedn": 10,
    }  # fmt: skip
    before = batch(tmp_path / "before.smf", 3, **without)
    after = batch(tmp_path / "after.smf", 3, **with_stream)
    return measured(open_inputs([before])), measured(open_inputs([after]))


def test_costs_that_never_vary_are_significant_beyond_the_tolerance(
    streaming: tuple[Side, Side],
) -> None:
    rows = compared(*streaming).filter(figure="cpu_per_call").select("verb", "ratio", "significant")
    assert {verb: (round(ratio, 3), found) for verb, ratio, found in rows.rows()} == {
        "put": (1.636, True),
        "open": (1.189, True),
        "close": (1.25, True),
    }
    lenient = compared(*streaming, tolerance=0.2).filter(figure="cpu_per_call")
    assert dict(lenient.select("verb", "significant").rows())["open"] is False
