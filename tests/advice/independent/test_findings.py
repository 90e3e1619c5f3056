"""What findings of independent days say: releases, objects, who and what to do."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

import smfparse
from smfparse.advice import Finding
from tests.advice.independent.sites import BANK, SHOP, STATS
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


def test_the_size_for_a_full_pool_is_a_lower_bound(tmp_path: Path) -> None:
    full = Field("QPST", "qpstdmc", 9, "10:00", "11:00", of=3)
    free = Field("QPST", "qpstcbsl", 400, "10:00", "11:00", of=3)
    (found,) = (
        each for each in findings(tmp_path, STATS, fields=[full, free]) if each.rule == "BUFF-DMC"
    )
    texts = [each.text for each in found.planned]
    assert texts
    assert all(each.startswith("at least ") for each in texts)


def test_a_page_set_that_fills_says_when_it_is_full(tmp_path: Path) -> None:
    file = tmp_path / "day.smf"
    file.write_bytes(day(BANK, [Fault("spare LEDGER.IN", 0.0, "19:00", "24:00")]))
    (found,) = smfparse.open(file).capacity("pages")
    asked = found.plan.asked
    used = smfparse.open(file).sql(
        "SELECT qis1topg - qis1unpg AS pages, qis1unpg AS free FROM qis1 WHERE qis1psno = 6 "
        "ORDER BY time DESC LIMIT 19"
    )
    last, first = used.to_pylist()[0], used.to_pylist()[-1]
    by_hand = last["free"] / ((last["pages"] - first["pages"]) / 3)
    assert "page set 6" in found.whose
    assert asked.free_pages == last["free"]
    assert found.plan["full_h"] == pytest.approx(by_hand, rel=0.25)


def test_getters_that_wait_for_messages_are_not_said_to_wait_for_something_else(
    tmp_path: Path,
) -> None:
    lone = replace(BANK, flows=BANK.flows[2:3])
    (found,) = (each for each in findings(tmp_path, lone) if each.rule == "D21")
    assert found.jobs == ["PAYBAT"]
    assert "D21" not in {each.rule for each in findings(tmp_path, BANK)}


@pytest.mark.parametrize("has_queues", [True, False])
def test_backouts_name_the_queue_the_job_and_the_transaction(
    tmp_path: Path, has_queues: bool
) -> None:
    site = replace(SHOP, statq=has_queues)
    found = findings(tmp_path, site, faults=[Fault("backouts STOCK.UPD", 4, "13:00", "15:00")])
    (task,) = (each for each in found if each.rule == "TASK-BACKOUT")
    told = {each.text: each.value for each in task.evidence}
    assert task.job == "STKCICS"
    assert told["most backouts with queue {}"] == "STOCK.UPD"
    assert told["most backouts by transaction {}"] == "PAY1"
    of_queue = [each for each in found if each.rule == "Q-ROLLBACK"]
    assert [(each.object, each.job) for each in of_queue] == [("STOCK.UPD", "STKCICS")] * has_queues
    assert all(each.evidence[-1].value == "PAY1" for each in of_queue)


def test_of_tasks_with_several_queues_the_one_with_most_gets_is_named(tmp_path: Path) -> None:
    found = findings(tmp_path, BANK, faults=[Fault("backouts LEDGER.IN", 6, "10:00", "12:00")])
    (task,) = (each for each in found if each.rule == "TASK-BACKOUT")
    told = {each.text: each.value for each in task.evidence}
    assert told["most backouts with queue {}"] == "LEDGER.IN"
    assert "most backouts by transaction {}" not in told
