"""The command check: forms, policy, exit codes, and findings of real files."""

from __future__ import annotations

import csv
import io
import json
import shlex
import xml.etree.ElementTree as ET
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import smfparse
from smfparse.advice.commands import Commands
from smfparse.advice.declaration import rules
from smfparse.advice.policy import compared_with
from smfparse.advice.printing import CheckDocument, metric_lines
from smfparse.advice.running import Checked
from smfparse.library import Findings
from smfparse.rendering.formats import FORMATS, lines
from smfparse.simulating.reading_toml import load_estate
from smfparse.simulating.run import simulate
from tests.support import command
from tests.support.builders import Write, foreign_record
from tests.support.paths import FIXTURES
from tests.support.real import REAL_DATA, needs_real_data

pytestmark = pytest.mark.slow


check = partial(command.run, "check")
in_json = partial(command.in_json, "check")


def rules_of(found: Any, *classes: int) -> set[str]:
    """Return the rules of findings of classes, also those that are explained; none: of all."""
    every = [each for top in found["findings"] for each in (top, *top["explains"])]
    return {each["rule"] for each in every if not classes or each["severity"] in classes}


@pytest.fixture(scope="module")
def slow_log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A simulated day whose log is slow from 14:20 to 14:50."""
    path = tmp_path_factory.mktemp("day") / "log-slow.smf"
    simulate(path, load_estate("log-slow"))
    return path


@pytest.fixture(scope="module")
def checked(slow_log: Path) -> Findings:
    return smfparse.open(slow_log).check()


@needs_real_data
def test_real_files_have_the_findings_that_they_must_have() -> None:
    assert REAL_DATA is not None
    paths = [REAL_DATA / f"TEST{name}.dat" for name in ("CHL", "115", "116")]
    idle, slow, once = map(in_json, paths)

    assert rules_of(idle, 1, 2) == set()
    assert {"CHL-CTL", "SMF-FIRST", "D8"} <= rules_of(idle)
    assert "DISP-SPREAD" not in rules_of(idle)  # three channels, and a dispatcher 0.06% busy
    assert not rules_of(idle) & {"DATA-OBJECTS", "DATA-SCROLL"}

    first, *others = [each for each in slow["findings"] if each["severity"] < 5]
    assert [first["rule"], *(each["rule"] for each in others)] == [
        *("D2", "LOG-CHECKPOINTS", "LOG-LONGEST")
    ]
    text = " ".join(each["text"] for each in first["evidence"])
    for part in ("copy 1 1,064 us", "copy 2 1,084 us", "119,883 I/Os", "9.27%"):
        assert part in text
    assert any("CLASS(3)" in each["trace"] for each in slow["not_evaluated"])
    assert first["who"] == "waiting jobs unknown: START TRACE(ACCTG) CLASS(3) is required"

    assert rules_of(once, 1, 2, 3) == set()
    assert any("START TRACE(STAT) CLASS(1)" in each["trace"] for each in once["not_evaluated"])
    waits = [each["intervals"] for each in once["seen_once"] if each["rule"] == "TASK-LOG-WAIT"]
    assert waits == [1]


def test_every_form_names_the_diagnosis_first(checked: Findings, slow_log: Path) -> None:
    """With what it explains; text has no rules, and the planner that a finding names answers."""
    shown = {
        form: "\n".join(lines(CheckDocument(checked, Commands([str(slow_log)])), form))
        for form in FORMATS
    }
    for form, text in shown.items():
        assert ("D2" in text, "the log is slow, not full" in text) == (True, True), form
    first = json.loads(shown["json"])["findings"][0]
    assert (first["severity"], first["rule"], first["qmgr"]) == (2, "D2", "QM01")
    assert (first["start"], first["end"]) == ("2026-03-04T14:20:00", "2026-03-04T14:50:00")
    assert {"LOG-RESPONSE", "TASK-LOG-WAIT"} <= {each["rule"] for each in first["explains"]}
    (waits,) = [each for each in first["explains"] if each["rule"] == "TASK-LOG-WAIT"]
    assert (first["jobs"], first["jobs"][0]) == (waits["jobs"], "IMSPAY")
    assert first["who"].endswith("and 3 more wait")
    _, _, rest = shown["text"].partition("Not evaluated")
    assert not any(name in rest for name in rules())
    assert f"  plan       {first['plan']}" in shown["text"].splitlines()
    assert first["plan"].startswith(f"smfparse capacity log {slow_log} --qmgr ")
    answer = command.run(*shlex.split(first["plan"])[1:], code=0)
    assert answer.stderr == ""
    assert "measured: CIs of the fuller copy" in answer.stdout

    assert checked.findings[0].rule == checked.table["rule"][0].as_py() == "D2"
    assert "D2" in repr(checked)
    assert "D2" in checked.table["explained_by"].to_pylist()


@pytest.mark.claim(190)
def test_findings_have_samples_and_cases(slow_log: Path, checked: Findings, write: Write) -> None:
    """JUnit fails a case for each serious finding; the code is 3 also where data is damaged."""
    cut = write(slow_log.read_bytes()[:-5])
    result = check(cut, "--fail-on", 2, "--format", "junit", code=3)
    samples = [*metric_lines(checked)]
    shares = [each for each in samples if each.startswith("smfparse_finding_share{")]
    assert len(shares) == len(checked.findings)
    assert 'rule="D2"' in shares[0]
    counts = [each for each in samples if each.startswith("smfparse_findings{")]
    assert sum(int(each.rsplit(" ", 1)[1]) for each in counts) == len(checked.findings)
    suites = ET.fromstring(result.stdout)
    failed = [each.get("name", "").split()[0] for each in suites.iter("testcase") if len(each)]
    serious = [each for each in checked.findings if each.severity <= 3]
    assert "D2" in failed
    assert int(suites.get("failures", "0")) == len(serious) == len([*suites.iter("failure")])


def test_limits_and_a_policy_are_used(slow_log: Path, checked: Findings, tmp_path: Path) -> None:
    """A baseline shows what is new and gone; the call fails where D2 explains a rule's finding."""
    policy = tmp_path / "site.toml"
    entry = '[[silence]]\nrule = "D2"\nreason = "known"\nuntil = {}\n'
    policy.write_text(entry.format("2026-03-03"), "utf-8")
    asked = (slow_log, "--type", "115", "--policy", policy, "--limit", "LOG-RESPONSE=2000")
    asked += ("--since-baseline", FIXTURES / "qm60.smf", "--fail-on", "LOG-RESPONSE")
    found = in_json(*asked, code=3)
    assert {(each["qmgr"], each["since"]) for each in found["findings"]} == {("QM01", "new")}
    assert {each["qmgr"] for each in found["gone"]} == {"QM60"}
    assert {each.since for each in compared_with(checked, checked).findings} == {"as before"}
    assert {each.since for each in compared_with(checked, Checked()).findings} == {"new"}
    assert found["findings"][0]["rule"] == "D2"  # it was silenced until the day before
    limits = {each["rule"]: each["limits"] for each in found["findings"][0]["explains"]}
    assert limits["LOG-RESPONSE"] == {"us": 2000}
    assert "limits     LOG-RESPONSE: us 2000 (changed), " in check(*asked, code=3).stdout
    assert any("START TRACE(ACCTG) CLASS(3)" in each["trace"] for each in found["not_evaluated"])
    policy.write_text(entry.format("2026-12-31"), "utf-8")
    text = check(slow_log, "--policy", policy, "--only", "D2", "--only", "LOG-*").stdout
    assert "  D2 QM01: the log is slow, not full (known; until 2026/12/31)\n" in text
    assert text.count("D2") == 1
    assert not any(each in text for each in ("LOG-RESPONSE", "Q-GROW"))  # its own; not asked for
    text = check(slow_log, "--policy", policy).stdout
    assert "\nSEV2 Q-GROW QM01 PAY.CHECKED IMSPAY: the queue grows\n" in text
    assert not any(each in text for each in ("LOG-RESPONSE", "TASK-LOG-WAIT"))


def test_what_is_asked_for_is_shown_with_the_diagnosis_that_explains_it(slow_log: Path) -> None:
    asked = (slow_log, "--only", "LOG-RESPONSE", "--fail-on", "LOG-RESPONSE")
    text = check(*asked, code=3).stdout
    assert "\nSEV2 LOG-RESPONSE QM01: log I/O is slow (explained by D2)\n" in text
    assert "nothing to say" not in text
    (row,) = csv.DictReader(io.StringIO(check(*asked, "--format", "csv", code=3).stdout))
    assert (row["rule"], row["explained_by"]) == ("LOG-RESPONSE", "D2")
    (fact,) = in_json(*asked, code=3)["findings"]
    assert (fact["rule"], fact["explained_by"]) == ("LOG-RESPONSE", "D2")
    for severity, code in ((3, 0), (4, 3), (5, 3)):
        check(slow_log, "--only", "LOG-LONGEST", "--fail-on", severity, code=code)
    whole = check(slow_log, "--only", "D2,LOG-*").stdout
    assert "LOG-RESPONSE QM01: log I/O is slow (" not in whole  # it is below D2


WRONG_POLICIES = {
    "[limits]\nLOG-RESPONCE = 3\n": "LOG-RESPONSE",
    '[limits]\n"LOG-BUSY.page" = 3\n': "use LOG-BUSY.busy, LOG-BUSY.pages",
    "[limits]\nLOG-LONGEST = 0.2\n": "0.2 us is far from 40,000 us; give it in us",
    "[limits]\nQ-GROW = 1_800_000\n": "far from 1,800 s; give it in s",
    "[limit]\nLOG-BUSY = 3\n": "limits",
    '[[silence]]\nrule = "D2"\nreason = "known"\n': "until",
    '[[silence]]\nrule = "D99"\nreason = "known"\nuntil = 2026-12-31\n': "D99",
    "limits = \n": "invalid TOML",
}


def test_a_wrong_policy_is_named_with_its_place(tmp_path: Path) -> None:
    policy = tmp_path / "site.toml"
    for content, said in WRONG_POLICIES.items():
        policy.write_text(content, "utf-8")
        assert said in check(FIXTURES / "qm60.smf", "--policy", policy, code=2).stderr
    told = check(FIXTURES / "qm60.smf", "--limit", "D14.us=3", code=2).stderr
    assert "--limit D14.us: D14 combines rules; use a limit of CF-SLOW" in told


def test_an_input_without_mq_says_so(write: Write, tmp_path: Path) -> None:
    nothing = (
        "No MQ statistics or class 3 accounting to check; smfparse info counts the records, "
        "smfparse report class1 shows class 1.\n"
    )
    assert check(write(foreign_record(2)), code=0).stdout.startswith(f"{nothing}\nNot evaluated")
    samples = check(tmp_path / "records.smf", "--metrics").stdout.splitlines()
    assert samples == [*metric_lines(Checked())]


def test_rules_are_explained_with_their_limits() -> None:
    text, every = check("--explain", "LOG-RESPONSE").stdout, check("--explain").stdout
    assert ("500" in text, "DWLOG" in text) == (True, True)
    for sql in ("CASE WHEN", "coalesce(", "{", "nan", "ours, a design choice", "catalogue"):
        assert sql not in every, sql
    formula = "condition  longest_write > 40,000 us and longest_write < 1,000,000 us and"
    longest = check("--explain", "LOG-LONGEST").stdout
    for said in ("figure     the longest took N s", formula, "us = 40,000 us, 0.04 s (our choice)"):
        assert said in longest
    assert "severity   2 if max(slower_copy) >= 2 * min(usual_slower) or" in text
    of_most = "severity   3, or that of a more serious finding that it explains"
    assert of_most in check("--explain", "D2").stdout
    assert all(each.id in every for each in rules().values() if not each.is_sign)
    assert "LOG-RESPONSE" in check("--explain", "LOG-RESPONCE", code=2).stderr


@needs_real_data
def test_a_client_with_two_tasks_is_one_connection() -> None:
    """QCST shows 22 instances; each has two tasks of class 3, one of them without queues."""
    found = in_json(REAL_DATA / "TESTCHL.dat", "--only", "D8")
    ((first,), text) = found["findings"], json.dumps(found)
    assert [each["text"] for each in first["evidence"]][:3] == [
        "22 connections",
        "which are channel instances",
        "with 95.45 messages each",
    ]
    assert "42 connections" not in text
