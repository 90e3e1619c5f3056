import datetime as dt
import random
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from smfparse.summarizing.changes import NAMES, compared
from smfparse.summarizing.compare_figures import MEASURES
from smfparse.summarizing.sides import Side
from tests.support import goldens
from tests.support.paths import GOLDEN
from tests.support.searching import LONG

pytestmark = pytest.mark.slow

SEEDS, FEW = (100, 20) if LONG else (4, 2)
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
    return list(dict.fromkeys(rows.filter(pl.col("significant")).select("queue", "verb").rows()))


@pytest.mark.fuzz
@pytest.mark.parametrize(("intervals", "seeds"), [(2, FEW), (4, SEEDS), (8, FEW)])
def test_a_put_that_costs_twice_is_named_and_nothing_where_nothing_changed(
    intervals: int, seeds: int
) -> None:
    """Of two intervals a side a cost that is twice as high is not sure."""
    silent = 0
    for seed in range(seeds):
        before, after = pair(seed, intervals)
        silent += not named(compared(before, after))
        name = random.Random(seed).choice(QUEUES)
        rows = compared(before, planted(after, name))
        if intervals > 2:
            assert named(rows) == [(name, "put")], seed
            assert rows.row(0)[2:4] == (name, "put")
    assert silent >= 0.95 * seeds


@pytest.mark.slow
def test_a_comparison_is_the_golden(tmp_path: Path) -> None:
    assert goldens.difference(GOLDEN / "compare.json", goldens.of_comparisons(tmp_path)) is None
