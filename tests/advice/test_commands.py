"""Each command that a finding prints runs, and selects rows: on scenarios and on real files."""

from __future__ import annotations

import datetime as dt
import json
import re
import shlex
from fnmatch import fnmatch
from itertools import pairwise
from pathlib import Path

import pytest

from smfparse.advice.commands import Commands
from smfparse.advice.running import run_rules
from smfparse.decoding.selection import Selection
from smfparse.inputs.opening import open_inputs
from smfparse.inputs.options import ReadOptions
from smfparse.query.catalog import Catalog
from smfparse.simulating.reading_toml import load_estate, scenario_names
from smfparse.simulating.run import simulate
from tests.support.command import in_json, run
from tests.support.paths import FIXTURE_FILES
from tests.support.real import REAL_DATA
from tests.support.searching import LONG, of_many, some, spread

pytestmark = pytest.mark.slow
HALF_HOURS = dt.timedelta(minutes=30)
FEW = 4
"""Commands of an input that run in a short run."""
CASES = sorted((REAL_DATA / "cases").glob("*.smf")) if REAL_DATA else []
REAL = [*FIXTURE_FILES, *(sorted(REAL_DATA.glob("*.dat")) if REAL_DATA else []), *CASES]


def printed(path: Path, *asked: str) -> list[list[str]]:
    """Return the commands of all findings, each once by rule and kind."""
    findings = json.loads(run("check", path, *asked, "--format", "json").stdout)["findings"]
    found: dict[tuple[str, str], str] = {}
    for each in findings:
        findings += each["explains"]
        found |= {(each["rule"], kind): each[kind] for kind in ("show", "plan") if each[kind]}
    texts = [*dict.fromkeys(found.values())]
    return [shlex.split(each)[1:] for each in (texts if LONG else spread(texts, FEW))]


def selects(*arguments: str) -> bool:
    """Whether a command runs, and selects rows."""
    done = run(*arguments, "--format", "json")
    found = json.loads(done.stdout) if done.exit_code in (0, 4) else []
    if arguments[0] == "capacity" and found:
        inputs = (each for answer in found["answers"] for each in answer["inputs"])
        return any(each["from"] == "measured" for each in inputs)
    return bool(found.get("rows", found.get("findings")) if isinstance(found, dict) else found)


def check_commands(path: Path) -> list[str]:
    commands = printed(path)
    for arguments in commands:
        assert selects(*arguments), arguments
    return [" ".join(each) for each in commands]


DAY = "--from 2026-03-04T09:30 --until 2026-03-04T23:59 --from 00:00 --until 14:59:58"


@pytest.mark.parametrize(
    ("scenario", "asked"),
    [
        ("backlog", "--qmgr QM* --system SYS* --queue PAY.* --type 115,116 --framing rdw"),
        ("backlog", f"--job PAY* {DAY} --tz UTC --keep-duplicates"),
        ("poison", f"--transaction * {DAY} --smf-time"),
        ("channel-batch", "--channel QM* --type 116"),
    ],
)
def test_commands_select_what_was_selected(scenario: str, asked: str, tmp_path: Path) -> None:
    """They have all options that their target can select by; a finding narrows their values."""
    simulate(path := tmp_path / "day.smf", load_estate(scenario, interval=HALF_HOURS))
    [whole] = re.findall(": smfparse (check .*)", run("summary", path, *asked.split()).stdout)
    assert shlex.split(whole) == ["check", str(path), *asked.split()]
    commands = printed(path, *asked.split())
    assert commands
    for arguments in (shlex.split(whole), *commands):
        assert selects(*arguments), arguments
        for option, value in re.findall(r"(--\S+) ?((?!--)\S*)", asked):
            given = [each for name, each in pairwise([*arguments, ""]) if name == option]
            narrows = option in ("--from", "--until") or any(fnmatch(each, value) for each in given)
            assert narrows if given else not selects(*arguments, option, value), arguments


@pytest.mark.sampled(1)
@of_many("scenario", ["backlog", *(each for each in scenario_names() if each != "backlog")])
def test_commands_of_findings_select_rows_of_scenarios(scenario: str, tmp_path: Path) -> None:
    """D5 names a queue and its job; `report qstat` has no job names, `report qall` has."""
    path = tmp_path / "day.smf"
    simulate(path, load_estate(scenario, interval=HALF_HOURS))
    commands = check_commands(path)
    assert not any("--job" in each for each in commands if "qstat" in each or "capacity" in each)
    if scenario == "backlog":
        assert any("report qstat" in each and "--queue PAY.AUDIT" in each for each in commands)


@pytest.mark.parametrize(
    ("scenario", "rule", "smf_time"),
    [("tls", "D13", False), ("channel-batch", "D12", False), ("log-slow", "D2", True)],
)
def test_planners_print_what_is_expected(
    scenario: str, rule: str, smf_time: bool, tmp_path: Path
) -> None:
    simulate(path := tmp_path / "day.smf", load_estate(scenario, interval=HALF_HOURS))
    options = ReadOptions(Selection.of(smf_time=smf_time))
    with Catalog(open_inputs([path], options)) as catalog:
        [finding] = [each for each in run_rules(catalog).findings if each.rule == rule]
    [answer] = in_json(*shlex.split(Commands([str(path)], options).plan(finding))[1:])["answers"]
    values = {round(each["value"], 2) for each in answer["figures"]}
    assert {round(each.value or 0, 2) for each in finding.planned} <= values
    assert finding.planned


@of_many("path", some(REAL, 1), ids=lambda path: path.name)
def test_commands_of_findings_select_rows_of_files(path: Path) -> None:
    check_commands(path)
