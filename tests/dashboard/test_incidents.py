"""The incident card names the right time and the right first cause."""

from __future__ import annotations

import datetime as dt
import json
import re
from pathlib import Path

import pytest

import smfparse
from tests.support.command import run
from tests.support.pages import page_of
from tests.support.searching import of_many, some

pytestmark = pytest.mark.slow
SCENARIOS = (
    *("backlog", "cf-slow", "channel-batch", "log-slow", "poison", "scan", "smf-loss"),
    *("storage-leak", "storm", "streaming", "restart", "log-full"),
)
INTERVAL = dt.timedelta(minutes=10)
TIME = r"\d\d:\d\d(?::\d\d)?"
CARD = re.compile(
    rf'class="incident c\d"><h3>(\S+ {TIME}) to ((?:\S+ )?{TIME}): .*?<p><b>([^<]+)</b>', re.S
)
"""Of each card the begin, the end, and the rule of the cause."""


def moment(text: str, date: str) -> dt.datetime:
    """Return a time that has its date, or that of another one."""
    whole = text if "/" in text else f"{date} {text}"
    return dt.datetime.fromisoformat(whole.replace("/", "-"))


@of_many("scenario", some(SCENARIOS, 5))
def test_the_first_card_has_the_time_and_the_cause_of_the_key(
    scenario: str, tmp_path: Path
) -> None:
    path = tmp_path / "day.smf"
    assert run("generate", path, "--scenario", scenario).exit_code == 0
    key = json.loads(
        run("generate", "--scenario", scenario, "--explain", "--format", "json").stdout
    )
    wanted = next(rows[0] for rows in key.values() if isinstance(rows, list) and "rule" in rows[0])

    start, end, rule = CARD.findall(page_of(smfparse.open(path), tmp_path))[0]

    assert rule == wanted["rule"]
    date = start.partition(" ")[0]
    for shown, known in ((start, wanted["start"]), (end, wanted["end"])):
        assert abs(moment(shown, date) - dt.datetime.fromisoformat(known)) <= INTERVAL


def test_a_sound_day_has_no_card(tmp_path: Path) -> None:
    path = tmp_path / "day.smf"
    assert run("generate", path, "--scenario", "payments").exit_code == 0
    page = page_of(smfparse.open(path), tmp_path)
    assert 'class="incident' not in page
