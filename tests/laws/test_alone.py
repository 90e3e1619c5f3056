"""Findings of a queue manager are the same alone and among others."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import smfparse
from smfparse.advice.findings import Finding
from tests.advice.independent.cases import cases
from tests.support.paths import FIXTURES
from tests.support.real import REAL_DATA
from tests.support.searching import LONG
from tests.support.tools import tool

SCORE = tool("score")
SCENARIOS = ("log-slow", "poison", "shared", "storm", "tls")
"""One of each kind in a short run: with channels, with a group, with class 3."""
DAYS = ("log-slow-no-class-3", "consumer-stopped", "cf-slow", "storm-without-accounting")


GIVEN = {
    each.stem: each
    for folder, pattern in ((FIXTURES, "*.smf"), (REAL_DATA or FIXTURES, "TEST*.dat"))
    for each in sorted(folder.glob(pattern))
}
TOGETHER = (
    [*GIVEN, *SCENARIOS, *DAYS] if LONG else ["qm02-shared", "qm80", "poison", "cf-slow", DAYS[-1]]
)
"""Files that are checked at once."""


@pytest.mark.slow
@pytest.mark.fuzz
def test_findings_are_the_same_alone_and_among_others(tmp_path: Path) -> None:
    """Two files that have records of one queue manager, system or group are not alone."""
    files, alone, known = list[Path](), dict[tuple[str, str], list[Any]](), set[str]()
    for each in (file_of(name, tmp_path) for name in TOGETHER):
        own = found(each)
        if own.keys().isdisjoint(alone) and groups(each).isdisjoint(known):
            files.append(each)
            alone |= own
            known |= groups(each)
    assert len(files) >= 5
    assert found(*files) == alone


def file_of(name: str, folder: Path) -> Path:
    """Return a file; one that is made is of systems that no other has."""
    path = folder / f"{name}.smf"
    if name in SCENARIOS:
        SCORE.write_day(name, 1 + SCENARIOS.index(name), path)
    elif name in DAYS:
        path.write_bytes(cases()[name].data(DAYS.index(name)))
    return GIVEN.get(name, path)


def found(*files: Path) -> dict[tuple[str, str], list[Any]]:
    """Return what there is to say of each finding, by system and queue manager."""
    said: dict[tuple[str, str], list[Any]] = {}
    checked = smfparse.open(list(files)).check()
    for manager in checked.managers:
        said[manager.system, manager.qmgr] = []
    for each in checked.findings:
        said.setdefault((each.system, each.qmgr), []).append(fact(each))
    return said


def fact(finding: Finding) -> Any:
    return (
        *(finding.rule, finding.severity, finding.key, finding.start, finding.end),
        *(list(finding.jobs), finding.evidence, finding.impact, finding.untold),
        [fact(each) for each in finding.explains],
    )


def groups(file: Path) -> set[str]:
    query = "SELECT DISTINCT qsg FROM record WHERE qsg <> ''"
    return {row["qsg"] for row in smfparse.open(file).sql(query).to_pylist()}
