"""Days of simulated sites, decoded into an in-memory DuckDB: what the laws are asked of."""

from __future__ import annotations

import datetime as dt
import re
from pathlib import Path
from typing import Any

import duckdb

from smfparse.inputs.opening import open_inputs
from smfparse.simulating.reading_toml import load_estate, read_estate
from smfparse.simulating.run import simulate

TABLES = (
    *("qmst", "qist", "qjst", "qjst_io", "qpst", "qis1", "qqst", "qcst", "qcct", "record"),
    *("qct_dsp", "qct_adp", "qct_ssl", "wtid", "wtas", "wqst", "wqst_cf", "wtas_cf", "qest"),
)
SLOTS = {"log-full": dt.timedelta(minutes=20)}
HOUR = dt.timedelta(hours=1)
"""The intervals; a counter of 32 bits does not hold what a task of the full log logs in an hour."""

MESSAGE = """
    WITH message AS (
        SELECT qqstqnam, CASE WHEN size <= 3596 THEN 1 ELSE 1 + ceil(size / 4049) END AS pages
        FROM (
            SELECT
                qqstqnam,
                sum(qqstputb + qqstpt1b) / greatest(sum(qqstputs + qqstput1), 1) AS size
            FROM qqst GROUP BY ALL
        )
    )
"""
"""What a message of each queue takes: a page up to 3,596 bytes, else 1 + size / 4,049."""


class Day:
    """The tables of a simulated time, each decoded when a query names it first."""

    def __init__(self, path: Path) -> None:
        self.connection = duckdb.connect()
        self.connection.execute("SET TimeZone = 'UTC'")
        self._inputs = open_inputs([path])
        self._known = {"message"}

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        words = set(re.findall(r"\w+", query))
        if "message" in words:
            query, words = MESSAGE + query.lstrip(), words | {"qqst"}
        for name in words.intersection(TABLES) - self._known:
            self.connection.register(name, self._inputs.arrow(name))
            self._known.add(name)
        assert not self._inputs.met
        return self.connection.execute(query).fetchall()

    def one(self, query: str) -> Any:
        (row,) = self.rows(query)
        return row[0]


def simulated(folder: Path, name: str, *incidents: str, **changes: Any) -> Day:
    """Return a scenario with intervals of an hour, or what `changes` say."""
    path = folder / f"{name}.smf"
    simulate(path, load_estate(name, incidents, **({"interval": SLOTS.get(name, HOUR)} | changes)))
    return Day(path)


def declared(
    queues: dict[str, Any], applications: dict[str, Any], interval: str = "2h", **manager: Any
) -> dict[str, Any]:
    """Return a site of the queue manager QM01, with queues and applications of its own."""
    usual = {"queue_manager": "QM01", "kind": "batch", "curve": "flat", "persistent": False}
    stored = {"pools": {"1": {}}, "page_sets": {"4": {"pool": 1}}}
    return {
        "site": {"interval": interval},
        "curves": {"flat": {}},
        "queue_managers": {"QM01": {**stored, **manager}},
        "queues": {name: {"queue_manager": "QM01", **each} for name, each in queues.items()},
        "applications": {job: {**usual, "job": job, **each} for job, each in applications.items()},
    }


def made(folder: Path, site: dict[str, Any]) -> Day:
    simulate(folder / "day.smf", read_estate("site", site))
    return Day(folder / "day.smf")
