"""Backouts: the job, queue and transaction behind them, by class 3."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from smfparse.advice.culprits import Asked, names_during
from smfparse.advice.findings import MOST_JOBS, Figure, Finding

if TYPE_CHECKING:
    from smfparse.query.catalog import Catalog

BACKOUTS = "backouts_of_tasks"
"""The name under which the catalog holds the rows of backouts.sql."""
_ABOUT = {"TASK-BACKOUT": "job", "Q-ROLLBACK": "queue"}
"""Rules about backouts, and the column that their findings are about."""
_WORDS = {"queue": "most backouts with queue {}", "transaction": "most backouts by transaction {}"}


def with_backouts(found: Iterable[Finding], catalog: Catalog) -> list[Finding]:
    """Return findings; those about backouts name the job, the queue and the transaction."""
    several = list(found)
    for rule, column in _ABOUT.items():
        asked = [
            (number, getattr(each, "job" if column == "job" else "object"))
            for number, each in enumerate(several)
            if each.rule == rule
        ]
        for by in ("job", "queue", "transaction"):
            if by != column:
                _name(several, asked, column, by, catalog)
    return several


def _name(
    several: list[Finding], asked: Sequence[Asked], column: str, by: str, catalog: Catalog
) -> None:
    """Name who or what backs out most in each finding that is asked for."""
    table = f"(SELECT *, {column} AS object FROM {BACKOUTS})"
    named = names_during(several, asked, table, f'"{by}"', "sum(backouts)", catalog)
    for number, names in named.items():
        if by == "job":
            several[number] = replace(several[number], job=names[0], jobs=names[:MOST_JOBS])
        else:
            most = Figure(_WORDS[by], names[0], "text")
            several[number] = replace(several[number], evidence=[*several[number].evidence, most])
