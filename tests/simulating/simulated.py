"""Days of simulated sites, decoded into an in-memory DuckDB: what the laws are asked of."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import Any

import duckdb

from smfparse.inputs import open_inputs
from smfparse.simulating import load_estate, simulate

TABLES = (
    *("qmst", "qist", "qjst", "qjst_io", "qpst", "qis1", "qqst", "qcst", "qcct", "record"),
    *("qct_dsp", "qct_adp", "qct_ssl", "wtid", "wtas", "wqst", "wqst_cf", "wtas_cf", "qest"),
)
SLOTS = dt.timedelta(hours=1)


class Day:
    """The tables of a simulated time."""

    def __init__(self, path: Path) -> None:
        self.connection = duckdb.connect()
        inputs = open_inputs([path])
        for name in TABLES:
            self.connection.register(name, inputs.arrow(name))
        self.connection.execute("SET TimeZone = 'UTC'")
        assert not inputs.met

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        """Return the rows of a query."""
        return self.connection.execute(query).fetchall()

    def one(self, query: str) -> Any:
        """Return the only value of a query."""
        (row,) = self.rows(query)
        return row[0]


def simulated(folder: Path, name: str, *incidents: str, **changes: Any) -> Day:
    """Return a scenario with intervals of an hour, or what `changes` say."""
    path = folder / f"{name}.smf"
    simulate(path, load_estate(name, incidents, **({"interval": SLOTS} | changes)))
    return Day(path)
