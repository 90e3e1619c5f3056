"""smfparse INPUT..., without a command: its summary."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.support.command import run
from tests.support.paths import FIXTURES

pytestmark = pytest.mark.usefixtures("unjudged")
SMF = FIXTURES / "qm80.smf"


def test_inputs_alone_are_summarized_whatever_they_are(tmp_path: Path) -> None:
    found = run(SMF, "--qmgr", "QM80")
    assert found.exit_code == 0
    assert found.stdout == run("summary", SMF, "--qmgr", "QM80").stdout
    assert found.stdout.startswith("QM80 on ")
    for name in ("qm80.smf", "qm60.smf"):
        shutil.copy(FIXTURES / name, tmp_path)
    shown = run(tmp_path / "qm*.smf").stdout
    assert "QM60 on " in shown
    assert "QM80 on " in shown
    assert "QM80 on " in run("-", stdin=SMF.read_bytes()).stdout


def test_a_command_wins_over_a_file_of_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copy(SMF, tmp_path / "info")
    monkeypatch.chdir(tmp_path)
    assert run("info", "info").stdout.startswith("System")
    assert "Missing argument 'INPUT...'" in run("info").stderr
    assert run("./info").stdout.startswith("QM80 on ")


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("chekc", "did you mean check?"),
        ("INFO", "did you mean info?"),
        ("nothing.smf", "smfparse --help lists the commands"),
        ("x" * 5000, "smfparse --help lists the commands"),
        ("a\0b", "smfparse --help lists the commands"),
    ],
)
def test_what_is_neither_gets_both_hints(name: str, hint: str) -> None:
    found = run(name)
    assert (found.exit_code, found.stdout) == (2, "")
    last = found.stderr.splitlines()[-1]
    assert "is neither a command nor an existing file; " in last
    assert last.endswith(hint)
    wrong = run(SMF, "--from", "soon")
    assert wrong.exit_code == 2
    assert "--from" in wrong.stderr
