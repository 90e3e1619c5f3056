"""What findings of independent days say: releases, objects, who and what to do."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import replace

import pytest

import smfparse
from smfparse.advice.findings import Finding
from tests.advice.independent.sites import ALL
from tests.support.days.blocks import Field
from tests.support.days.model import Fault
from tests.support.days.records import day
from tests.support.days.sites import Site

BANK, SHOP, STATS = ALL["BNK1"], ALL["SHP2"], ALL["STA7"]
FULL = [Field("QPST", "qpstdmc", 9, "10:00", "11:00", of=3)]
FULL += [Field("QPST", "qpstcbsl", 400, "10:00", "11:00", of=3)]
LATER = STATS.day + dt.timedelta(days=1)
STOCK = [Fault("backouts STOCK.UPD", 4, "13:00", "15:00")]
LATE = [Field("WQST", "totlatnt", 2e12, "10:00", "12:00", "LEDGER.IN")]
LEDGER = [Fault("backouts LEDGER.IN", 6, "10:00", "12:00")]
DAYS: Mapping[str, tuple[Sequence[Site], Sequence[Fault], Sequence[Field]]] = {
    "SAME": ([STATS, replace(STATS, day=LATER)], [], []),
    "LOST": ([STATS, replace(STATS, day=LATER, release="940", statq=False)], [], []),
    "FULL": ([STATS], [], FULL),
    "LONE": ([replace(BANK, flows=BANK.flows[2:3])], [], LATE),
    "IDLE": ([replace(BANK, flows=BANK.flows[2:3])], [], []),
    "STQ": ([SHOP], STOCK, []),
    "NOQ": ([replace(SHOP, statq=False)], STOCK, []),
    "LDGR": ([BANK], LEDGER, []),
    "LONG": ([STATS], [Fault("log longest us", 2e6, "15:00", "15:15")], []),
}
"""By system, a site in one day or two, and what is planted."""


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, list[Finding]]:
    """Return all findings of each system, also those that a diagnosis explains."""
    file = tmp_path_factory.mktemp("days") / "days.smf"
    with file.open("wb") as written:
        for system, (sites, *planted) in DAYS.items():
            for site in sites:
                written.write(day(replace(site, system=system), *planted))
    findings: dict[str, list[Finding]] = {system: [] for system in DAYS}
    for top in smfparse.open(file).check().findings:
        findings[top.system] += top.whole()
    return findings


Found = Mapping[str, Sequence[Finding]]


def of_rule(rule: str, found: Sequence[Finding]) -> list[Finding]:
    return [each for each in found if each.rule == rule]


def test_a_migration_that_loses_statistics_of_queues_is_found_beside_days_that_have_them(
    found: Found,
) -> None:
    (lost,) = of_rule("SMF-NO-STATQ", found["LOST"])
    assert (lost.start.date(), lost.crossed, lost.evaluated) == (LATER, 96, 192)  # 15 minutes
    assert of_rule("SMF-NO-STATQ", found["SAME"]) == []


def test_the_size_for_a_full_pool_is_a_lower_bound(found: Found) -> None:
    (full,) = of_rule("BUFF-DMC", found["FULL"])
    texts = [each.text for each in full.planned]
    assert texts
    assert all(each.startswith("at least ") for each in texts)


def test_getters_that_wait_for_messages_are_not_said_to_wait_for_something_else(found: Found):
    """Nor is a job that only puts, of which no message waits for."""
    (lone,) = of_rule("D21", found["LONE"])
    assert (lone.job, lone.start.hour, lone.end.hour) == ("LEDGER", 10, 12)
    assert of_rule("D21", found["IDLE"]) == of_rule("D21", found["LDGR"]) == []


@pytest.mark.parametrize(("system", "of_queue"), [("STQ", [("STOCK.UPD", "STKCICS")]), ("NOQ", [])])
def test_backouts_name_the_queue_the_job_and_the_transaction(
    found: Found, system: str, of_queue: list[tuple[str, str]]
) -> None:
    (task,) = of_rule("TASK-BACKOUT", found[system])
    told = {each.text: each.value for each in task.evidence}
    assert task.job == "STKCICS"
    assert told["most backouts with queue {}"] == "STOCK.UPD"
    assert told["most backouts by transaction {}"] == "PAY1"
    backed_out = of_rule("Q-ROLLBACK", found[system])
    assert [(each.object, each.job) for each in backed_out] == of_queue
    assert all(each.evidence[-1].value == "PAY1" for each in backed_out)


def test_moments_are_local_times(found: Found) -> None:
    (stall,) = of_rule("LOG-STALL", found["LONG"])
    assert {each.text: each.value for each in stall.evidence}["at {}"] == "2026/10/14 15:10:00"


def test_of_tasks_with_several_queues_the_one_with_most_gets_is_named(found: Found) -> None:
    (task,) = of_rule("TASK-BACKOUT", found["LDGR"])
    told = {each.text: each.value for each in task.evidence}
    assert told["most backouts with queue {}"] == "LEDGER.IN"
    assert "most backouts by transaction {}" not in told
