"""Messages of the library in the words of the command line, and the help of options."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from smfparse.cli import main
from smfparse.cli.wording import in_options
from smfparse.errors import SmfError
from tests.support.command import run
from tests.support.paths import SMF

REPORT, CONVERT, SQL = (main.commands[name] for name in ("report", "convert", "sql"))
NOUNS = ("A", "An", "The", "Only", "What", "How", "That", "By", "If", "Of", "Where")


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


def test_a_message_names_options_but_not_in_the_name_of_an_input(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("jobs=4", "qmgr=QM01", "by=job"):
        done = run("report", "log", name)
        assert done.exit_code == 8
        assert done.stderr.startswith(f"smfparse: {name}: ")
    done = run("report", "log", SMF, "--output", __file__)
    assert done.exit_code == 2
    assert done.stderr == f"smfparse: {__file__}: exists already; --force replaces it\n"


def options(command: click.Command) -> Iterator[click.Option]:
    """Yield the options of a command, and of those below it."""
    yield from (each for each in command.params if isinstance(each, click.Option))
    for below in command.commands.values() if isinstance(command, click.Group) else ():
        yield from options(below)


def test_the_help_of_an_option_begins_with_a_verb_and_is_a_sentence() -> None:
    for each in options(main):
        assert each.help, each.name
        assert each.help.split()[0] not in NOUNS, each.help
        assert each.help[0].isupper(), each.help
        assert each.help.endswith("."), each.help
