"""What findings of independent days say: releases, objects, who and what to do."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import smfparse
from smfparse.advice import Finding
from tests.advice.independent.sites import STATS
from tests.support.days import Fault, Field, Site, day


def findings(
    folder: Path, *sites: Site, faults: Sequence[Fault] = (), fields: Sequence[Field] = ()
) -> list[Finding]:
    """Return all findings of days, also those that a diagnosis explains."""
    file = folder / "days.smf"
    file.write_bytes(b"".join(day(each, faults, fields) for each in sites))
    return [one for each in smfparse.open(file).check().findings for one in each.whole()]


def test_a_migration_that_loses_statistics_of_queues_is_found_beside_days_that_have_them(
    tmp_path: Path,
) -> None:
    migrated = replace(STATS, day=STATS.day + dt.timedelta(days=1), release="940", statq=False)
    (found,) = (each for each in findings(tmp_path, STATS, migrated) if each.rule == "SMF-NO-STATQ")
    assert (found.start.date(), found.crossed, found.evaluated) == (migrated.day, 1, 2)


def test_days_with_statistics_of_queues_lack_none(tmp_path: Path) -> None:
    later = replace(STATS, day=STATS.day + dt.timedelta(days=1))
    assert "SMF-NO-STATQ" not in {each.rule for each in findings(tmp_path, STATS, later)}
