"""Findings of a queue manager are the same alone and among others."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

import smfparse
from smfparse.advice import Finding
from tests.advice.independent.cases import cases
from tests.support.paths import FIXTURES
from tests.support.real import REAL_DATA
from tests.support.tools import tool

SCORE = tool("score")
SCENARIOS = ("log-slow", "poison", "shared", "storm", "tls")
"""One of each kind in a short run: with channels, with a group, with class 3."""
DAYS = ("log-slow-no-class-3", "consumer-stopped", "cf-slow", "storm-without-accounting")


def _simulated(name: str, number: int) -> Callable[[Path], Path]:
    """Return what simulates a day on systems that no other day has."""

    def made(folder: Path) -> Path:
        SCORE.write_day(name, number, folder / f"{name}.smf")
        return folder / f"{name}.smf"

    return made


def _built(name: str, number: int) -> Callable[[Path], Path]:
    def made(folder: Path) -> Path:
        path = folder / f"{name}.smf"
        path.write_bytes(cases()[name].data(number))
        return path

    return made


def _given(path: Path) -> Callable[[Path], Path]:
    return lambda folder: path


FILES: Mapping[str, Callable[[Path], Path]] = {
    **{each.stem: _given(each) for each in sorted(FIXTURES.glob("*.smf"))},
    **{each.stem: _given(each) for each in sorted((REAL_DATA or FIXTURES).glob("TEST*.dat"))},
    **{each: _simulated(each, 1 + number) for number, each in enumerate(SCENARIOS)},
    **{each: _built(each, number) for number, each in enumerate(DAYS)},
}
"""How each file is had, by name."""


@pytest.mark.slow
@pytest.mark.sampled(6)
@pytest.mark.parametrize(("one", "other"), list(combinations(FILES, 2)))
def test_findings_are_the_same_alone_and_among_others(one: str, other: str, tmp_path: Path) -> None:
    files = [FILES[name](tmp_path) for name in (one, other)]
    alone = [found(each) for each in files]
    if alone[0].keys() & alone[1].keys() or groups(files[0]) & groups(files[1]):
        pytest.skip("both files have records of one queue manager, system or group")
    assert found(*files) == {**alone[0], **alone[1]}


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
    """Return the queue-sharing groups of a file."""
    query = "SELECT DISTINCT qsg FROM record WHERE qsg <> ''"
    return {row["qsg"] for row in smfparse.open(file).sql(query).to_pylist()}
