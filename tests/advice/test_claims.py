"""Claims of the published reports that rules and diagnoses answer: docs/coverage.md."""

from __future__ import annotations

import re
from collections import Counter

import pytest

from smfparse.advice import diagnoses, rules
from tests.support.advised import cases, states
from tests.support.paths import PROJECT

PAGE = PROJECT / "docs" / "coverage.md"
ROW = re.compile(r"^\| (\d+) \|.*\| ([ypnxk]) \| [^|]* \|$", re.M)
CLAIMS = {
    9: ("BUFF-BELOW", "STG-31"),
    26: ("SMF-GAP", "SMF-LOST"),
    28: ("SMF-COST",),
    36: ("Q-STREAM-LOST",),
    49: ("CF-FIRSTOPEN",),
    62: ("Q-EXPIRY-OFF", "Q-EXPIRY-SHARED"),
    66: ("LOG-BUSY", "LOG-CEILING", "D1"),
    73: ("D19",),
    99: ("D19",),
    105: ("CHL-CTL",),
    106: ("LATCH-11", "LATCH-12", "LATCH-16", "LATCH-19", "LATCH-21", "LATCH-23", "D19"),
    157: ("SMDS-WAITERS", "SMDS-BUFFERS", "SMDS-READS", "CHL-NPMSPEED"),
    172: ("CHL-NPMSPEED",),
    192: ("LOG-ARCHIVE", "SMDS-WAITERS", "SMDS-BUFFERS", "BUFF-FREE", "BUFF-LOW"),
}
"""What answers each claim."""


@pytest.mark.parametrize(
    ("number", "names"),
    [pytest.param(*each, marks=pytest.mark.claim(each[0])) for each in CLAIMS.items()],
)
def test_a_rule_answers_a_claim(number: int, names: tuple[str, ...]) -> None:
    assert marks()[number] == "y"
    for name in names:
        core = diagnoses()[name].core if name in diagnoses() else (name,)
        for rule in core:
            above = [each for each in cases() if each.rule == rule and each.name == "above"]
            found = [state for each in above for state, _ in states(rule, each.rows, each.limits)]
            assert 1 in found, rule
            assert rules()[rule].do


def test_every_claim_has_a_mark() -> None:
    found = marks()

    assert sorted(found) == list(range(1, 196))
    assert Counter(found.values())["y"] >= 51 + len(CLAIMS)


def marks() -> dict[int, str]:
    """Return the mark of each claim on the page."""
    return {int(number): mark for number, mark in ROW.findall(PAGE.read_text("utf-8"))}
