"""Messages of the library in the words of the command line."""

from __future__ import annotations

from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from smfparse.cli import main
from smfparse.cli.wording import in_options
from smfparse.errors import SmfError
from tests.support.paths import SMF

DUMP = str(SMF)
REPORT, CONVERT, SQL = (main.commands[name] for name in ("report", "convert", "sql"))


@pytest.mark.parametrize(
    ("command", "message", "names", "shown"),
    [
        (REPORT, "since='9' is not a time", "since", "--from '9' is not a time"),
        (REPORT, "until=: not a time", "until", "--until: not a time"),
        (CONVERT, "until=: not a time", "until", "--until: not a time"),
        (
            CONVERT,
            "append=True adds, force=True replaces",
            "append force",
            "--append adds, --force replaces",
        ),
        (REPORT, "a process was killed; try jobs=1", "jobs", "a process was killed; try --jobs 1"),
        (
            REPORT,
            "a process was killed; try jobs=1.",
            "jobs",
            "a process was killed; try --jobs 1.",
        ),
        (REPORT, "by='x' (by='qmgr, job')", "by", "--by 'x' (--by 'qmgr, job')"),
        (REPORT, 'by="x"; give strict=', "by strict", '--by "x"; give --strict'),
        (REPORT, "type='7': no types", "type", "--type '7': no types"),
        (REPORT, "acctime=-2: no length", "acctime", "--acctime -2: no length"),
        (REPORT, "by=user: unknown name", "by", "--by user: unknown name"),
    ],
)
def test_parameters_are_shown_as_options(
    command: click.Command, message: str, names: str, shown: str
) -> None:
    assert in_options(SmfError(message, *names.split()), command) == shown


@pytest.mark.parametrize(
    ("message", "names"),
    [
        ("append=True", "append"),  # not an option of the command
        ("qmgr=QM01: no such file", ""),
        ("jobs=4: exists already; force=True replaces it", ""),
        ("dumps/qmgr=QM01/part-1.parquet: no such file", "qmgr"),
        ("'job=X' is not a number", "job"),
        ("jobs = 1, subjobs=1, jobs==1", "jobs"),
        ("Binder Error: no such column\n\nLINE 1: SELECT * FROM t WHERE job='PAY' AND jobs=1", ""),
    ],
)
def test_what_is_not_a_parameter_stays_as_it_is(message: str, names: str) -> None:
    assert in_options(SmfError(message, *names.split()), SQL) == message


@pytest.mark.parametrize("name", ["jobs=4", "qmgr=QM01", "by=job"])
def test_the_name_of_an_input_stays_as_it_is(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(main, ["report", "log", name])
    assert done.exit_code == 8
    assert done.stderr.startswith(f"smfparse: {name}: ")


def test_a_message_of_the_library_names_options() -> None:
    done = CliRunner().invoke(main, ["report", "log", DUMP, "--output", __file__])
    assert done.exit_code == 2
    assert done.stderr == f"smfparse: {__file__}: exists already; --force replaces it\n"


@pytest.mark.parametrize("command", main.commands.values(), ids=lambda each: each.name)
def test_the_help_of_an_option_begins_with_a_verb(command: click.Command) -> None:
    nouns = ("A", "An", "The", "Only", "What", "How", "That", "By", "If", "Of", "Where")
    for each in command.params:
        if isinstance(each, click.Option):
            assert each.help, each.name
            assert each.help.split()[0] not in nouns, each.help
            assert each.help[0].isupper(), each.help
            assert each.help.endswith("."), each.help
