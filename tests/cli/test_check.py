"""The command check: its forms, its policy, its exit codes, and what the real files must give."""

from __future__ import annotations

import json
import shlex
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

import smfparse
from smfparse.advice import rules
from smfparse.rendering import FORMATS
from tests.support import command
from tests.support.paths import FIXTURES
from tests.support.real import REAL_DATA, every_file, needs_real_data

pytestmark = pytest.mark.usefixtures("worked_out_once")
EMPTY_KINDS = {"115": "START TRACE(ACCTG) CLASS(3)", "116": "START TRACE(STAT) CLASS(1)"}


def real_file(name: str) -> Path:
    """Return a real file."""
    assert REAL_DATA is not None
    return REAL_DATA / name


def check(*arguments: Any) -> Result:
    return command.run("check", *arguments)


def facts(*arguments: Any) -> Any:
    """Return the JSON of a call that succeeds."""
    result = check(*arguments, "--format", "json")
    assert result.exit_code == 0, result.stderr
    return json.loads(result.stdout)


def rules_of(found: Any, *classes: int) -> set[str]:
    """Return the rules of findings of classes, also those that are explained; none: of all."""
    every = [each for top in found["findings"] for each in (top, *top["explains"])]
    return {each["rule"] for each in every if not classes or each["class"] in classes}


@pytest.fixture(scope="module")
def slow_log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A simulated day whose log is slow from 14:20 to 14:50."""
    path = tmp_path_factory.mktemp("day") / "log-slow.smf"
    made = command.run("generate", path, "--scenario", "log-slow")
    assert made.exit_code == 0, made.stderr
    return path


@needs_real_data
def test_an_idle_system_gets_notes_only() -> None:
    found = facts(real_file("TESTCHL.dat"))

    assert rules_of(found, 1, 2) == set()
    assert {"DISP-SPREAD", "CHL-CTL", "SMF-FIRST", "D8"} <= rules_of(found)
    assert not rules_of(found) & {"DATA-OBJECTS", "DATA-SCROLL"}
    (spread,) = [each for each in found["findings"] if each["rule"] == "DISP-SPREAD"]
    assert spread["class"] == 4


@needs_real_data
def test_a_log_on_slow_disks_is_diagnosed_from_statistics_alone() -> None:
    found = facts(real_file("TEST115.dat"))

    tops = [each["rule"] for each in found["findings"] if each["class"] < 5]
    assert tops == ["D2", "LOG-CHECKPOINTS", "LOG-LONGEST"]
    first = found["findings"][0]
    text = " ".join(each["text"] for each in first["evidence"])
    assert "copy 1 1,064 us" in text
    assert "copy 2 1,084 us" in text
    assert "119,883 I/Os" in text
    assert "9.27 %" in text
    assert any("CLASS(3)" in each["trace"] for each in found["not_evaluated"])
    assert first["who"] == "who waits is unknown: START TRACE(ACCTG) CLASS(3) would tell"


@needs_real_data
def test_one_unit_of_work_is_seen_once() -> None:
    found = facts(real_file("TEST116.dat"))

    assert rules_of(found, 1, 2, 3) == set()
    (once,) = [each for each in found["seen_once"] if each["rule"] == "TASK-LOG-WAIT"]
    assert once["intervals"] == 1


def test_the_diagnosis_comes_first_and_names_what_it_explains(slow_log: Path) -> None:
    first = facts(slow_log)["findings"][0]

    assert (first["class"], first["rule"], first["qmgr"]) == (2, "D2", "QM01")
    assert first["start"] == "2026-03-04T14:20:00"
    assert first["end"] == "2026-03-04T14:50:00"
    explained = {each["rule"] for each in first["explains"]}
    assert {"LOG-RESPONSE", "TASK-LOG-WAIT"} <= explained
    waiting = [each["job"] for each in first["explains"] if each["rule"] == "TASK-LOG-WAIT"]
    assert first["jobs"] == waiting
    assert "IMSPAY" in waiting
    assert first["who"].endswith("and 3 more wait")


@every_file
@pytest.mark.parametrize("form", sorted([*FORMATS, "junit"]))
def test_every_file_is_checked_in_every_form(form: str, path: Path) -> None:
    result = check(path, "--format", form)

    assert result.exit_code == 0, result.stderr
    assert result.stdout


@pytest.mark.parametrize("form", sorted(FORMATS))
def test_every_form_names_the_finding(form: str, slow_log: Path) -> None:
    result = check(slow_log, "--format", form)

    assert result.exit_code == 0
    assert "D2" in result.stdout
    assert "the log is slow, not full" in result.stdout


def test_text_names_rules_in_findings_only(slow_log: Path) -> None:
    result = check(slow_log)

    _, _, rest = result.stdout.partition("Not evaluated")
    assert not any(name in rest for name in rules())


def test_junit_fails_a_case_for_each_serious_finding(slow_log: Path) -> None:
    suites = ET.fromstring(check(slow_log, "--format", "junit").stdout)

    found = facts(slow_log)
    failed = [each.get("name", "").split()[0] for each in suites.iter("testcase") if len(each)]
    assert "D2" in failed
    serious = [each for each in found["findings"] if each["class"] <= 3]
    assert int(suites.get("failures", "0")) == len(serious) == len([*suites.iter("failure")])


@pytest.mark.claim(190)
def test_metrics_have_a_sample_for_each_finding(slow_log: Path) -> None:
    lines = check(slow_log, "--metrics").stdout.splitlines()

    found = facts(slow_log)["findings"]
    shares = [each for each in lines if each.startswith("smfparse_finding_share{")]
    assert len(shares) == len(found)
    assert 'rule="D2"' in shares[0]
    counts = [each for each in lines if each.startswith("smfparse_findings{")]
    assert sum(int(each.rsplit(" ", 1)[1]) for each in counts) == len(found)


@pytest.mark.parametrize(("worst", "code"), [(1, 0), (2, 3), (3, 3)])
def test_a_finding_of_the_class_ends_with_3(worst: int, code: int, slow_log: Path) -> None:
    assert check(slow_log, "--fail-on", worst).exit_code == code


def test_a_finding_goes_before_damage(slow_log: Path, tmp_path: Path) -> None:
    damaged = tmp_path / "cut.smf"
    damaged.write_bytes(slow_log.read_bytes()[:-5])

    assert check(damaged).exit_code == 4
    assert check(damaged, "--fail-on", 2).exit_code == 3


def test_a_limit_of_the_site_is_used_and_named(slow_log: Path) -> None:
    first = facts(slow_log, "--limit", "LOG-RESPONSE=2000")["findings"][0]
    (response,) = [each for each in first["explains"] if each["rule"] == "LOG-RESPONSE"]
    assert response["limits"] == {"us": 2000}

    assert "LOG-RESPONSE" not in rules_of(facts(slow_log, "--limit", "LOG-RESPONSE=9999"))


def test_a_policy_silences_for_a_time(slow_log: Path, tmp_path: Path) -> None:
    policy = tmp_path / "site.toml"
    entry = '[[silence]]\nrule = "{}"\nreason = "known"\nuntil = {}\n'
    policy.write_text(entry.format("D2", "2026-12-31"), "utf-8")
    found = facts(slow_log, "--policy", policy)
    assert "D2" not in rules_of(found)
    (silenced,) = found["silenced"]
    assert (silenced["rule"], silenced["reason"], silenced["until"]) == (
        *("D2", "known"),
        "2026-12-31",
    )
    text = check(slow_log, "--policy", policy).stdout
    assert "  QM01: the log is slow, not full (known; until 2026/12/31)\n" in text

    policy.write_text(entry.format("D2", "2026-03-03"), "utf-8")
    assert "D2" in rules_of(facts(slow_log, "--policy", policy))


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("[limits]\nLOG-RESPONCE = 3\n", "LOG-RESPONSE"),
        ('[limits]\n"LOG-BUSY.page" = 3\n', "use busy, pages"),
        ("[limit]\nLOG-BUSY = 3\n", "limits"),
        ('[[silence]]\nrule = "D2"\nreason = "known"\n', "until"),
        ('[[silence]]\nrule = "D99"\nreason = "known"\nuntil = 2026-12-31\n', "D99"),
        ("limits = \n", "invalid TOML"),
    ],
)
def test_a_wrong_policy_is_named_with_its_place(content: str, said: str, tmp_path: Path) -> None:
    policy = tmp_path / "site.toml"
    policy.write_text(content, "utf-8")

    result = check(FIXTURES / "qm60.smf", "--policy", policy)

    assert result.exit_code == 2
    assert said in result.stderr


def test_a_baseline_tells_what_is_new_and_gone(slow_log: Path, tmp_path: Path) -> None:
    quiet = tmp_path / "quiet.smf"
    command.run("generate", quiet, "--scenario", "payments", "--interval", "30m")

    new = facts(slow_log, "--since-baseline", quiet)
    assert new["findings"][0]["since"] == "new"
    gone = facts(quiet, "--since-baseline", slow_log)
    assert "D2" in {each["rule"] for each in gone["gone"]}
    same = facts(slow_log, "--since-baseline", slow_log)
    assert {each["since"] for each in same["findings"]} == {"as before"}


@pytest.mark.parametrize("kind", sorted(EMPTY_KINDS))
def test_what_the_input_lacks_is_said(kind: str, slow_log: Path) -> None:
    found = facts(slow_log, "--type", kind)

    assert any(EMPTY_KINDS[kind] in each["trace"] for each in found["not_evaluated"])


def test_an_input_without_mq_says_so(tmp_path: Path) -> None:
    other = tmp_path / "other.smf"
    other.write_bytes(bytes.fromhex("0012000002 02 00000000 0126063f e2e8e2c1".replace(" ", "")))

    result = check(other)

    assert result.exit_code == 0
    nothing = "No MQ statistics or accounting to check; smfparse info counts what there is.\n"
    assert result.stdout.startswith(f"{nothing}\nNot evaluated")

    result = check(other, "--qmgr", "QM01")

    assert (result.exit_code, result.stdout) == (0, nothing)
    assert "the selection matches no record: qmgr QM01" in result.stderr


def test_one_rule_is_explained_with_its_limit() -> None:
    text = check("--explain", "LOG-RESPONSE").stdout
    assert "500" in text
    assert "DWLOG" in text

    every = check("--explain").stdout
    assert all(each.id in every for each in rules().values() if not each.is_sign)


def test_an_unknown_rule_gets_those_like_it() -> None:
    result = check("--explain", "LOG-RESPONCE")
    assert result.exit_code == 2
    assert "LOG-RESPONSE" in result.stderr


def test_python_gets_objects_and_a_table(slow_log: Path) -> None:
    found = smfparse.open(slow_log).check(only=["D2", "LOG-*"])

    assert found.findings[0].rule == "D2"
    assert "D2" in repr(found)
    table = found.table
    assert table["rule"][0].as_py() == "D2"
    assert "D2" in table["explained_by"].to_pylist()


def test_a_finding_names_the_planner_of_a_change(slow_log: Path) -> None:
    plan = facts(slow_log)["findings"][0]["plan"]
    assert plan.startswith(f"smfparse capacity log {slow_log} --qmgr ")
    answer = command.run(*shlex.split(plan)[1:])
    assert (answer.exit_code, answer.stderr) == (0, "")
    assert "measured: CIs of the fuller copy" in answer.stdout
    text = command.run("check", slow_log).stdout.splitlines()
    assert f"  plan       {plan}" in text


def test_a_dataset_gives_what_its_file_gives(slow_log: Path, tmp_path: Path) -> None:
    assert command.run("convert", slow_log, "--to", tmp_path / "tables").exit_code == 0

    first, second = (facts(each)["findings"] for each in (slow_log, tmp_path / "tables"))
    for each in (*first, *second):
        for one in (each, *each["explains"]):
            one.pop("show")
            one.pop("plan")
    assert first == second
