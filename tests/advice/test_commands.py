"""Each command that a finding prints runs, and selects rows: on scenarios and on real files."""

from __future__ import annotations

import datetime as dt
import json
import shlex
from pathlib import Path

import pytest

from smfparse.advice.running import run_rules
from smfparse.advice.wording import command, plan_command
from smfparse.inputs.opening import open_inputs
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


def printed(path: Path) -> list[list[str]]:
    """Return the commands of all findings, each once by rule and kind."""
    with Catalog(open_inputs([path])) as catalog:
        findings = run_rules(catalog).findings
    found: dict[tuple[str, str], str] = {}
    for each in (each for top in findings for each in top.whole()):
        for kind in (command, plan_command):
            if text := kind(each, [str(path)]):
                found[each.rule, kind.__name__] = text
    texts = [*dict.fromkeys(found.values())]
    return [shlex.split(each)[1:] for each in (texts if LONG else spread(texts, FEW))]


def check_commands(path: Path) -> list[str]:
    commands = printed(path)
    for arguments in commands:
        done = run(*arguments, "--format", "json")
        assert done.exit_code in (0, 4), (arguments, done.output)
        found = json.loads(done.stdout)
        if arguments[0] == "capacity":
            origins = {each["from"] for answer in found["answers"] for each in answer["inputs"]}
            assert "measured" in origins, arguments
        else:
            rows = found["rows"] if isinstance(found, dict) else found
            assert rows, arguments
    return [" ".join(each) for each in commands]


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


@pytest.mark.parametrize(("scenario", "rule"), [("tls", "D13"), ("channel-batch", "D12")])
def test_planners_print_what_is_expected(scenario: str, rule: str, tmp_path: Path) -> None:
    simulate(path := tmp_path / "day.smf", load_estate(scenario, interval=HALF_HOURS))
    with Catalog(open_inputs([path])) as catalog:
        [finding] = [each for each in run_rules(catalog).findings if each.rule == rule]
    [answer] = in_json(*shlex.split(plan_command(finding, [str(path)]))[1:])["answers"]
    values = {round(each["value"], 2) for each in answer["figures"]}
    assert {round(each.value or 0, 2) for each in finding.planned} <= values
    assert finding.planned


@of_many("path", some(REAL, 1), ids=lambda path: path.name)
def test_commands_of_findings_select_rows_of_files(path: Path) -> None:
    check_commands(path)
