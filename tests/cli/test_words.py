"""Words: what people type is taken for what they mean, and messages name its options."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import click
import pyarrow as pa
import pytest

from smfparse.cli import main
from smfparse.cli.sql import with_inputs
from smfparse.cli.words import corrected, in_options
from smfparse.errors import SmfError
from smfparse.rendering.formats import lines
from smfparse.rendering.rows import RowsDocument
from tests.support.command import run
from tests.support.paths import FIXTURES

SMF = FIXTURES / "qm80.smf"
MEANT = {
    "--from 2026-03-04 09:00 x": ["--from", "2026-03-04 09:00", "x"],
    "--from 2026-03-04 0900 x": ["--from", "2026-03-04 0900", "x"],
    "--until=2026-03-04 09:00:30": ["--until=2026-03-04 09:00:30"],
    "--to 2026063 09:00": ["--to", "2026063 09:00"],
    "--from 2026-03-04 day.smf": ["--from", "2026-03-04", "day.smf"],
    "2026-03-04 09:00": ["2026-03-04", "09:00"],
    "--output 2026-03-04 09:00": ["--output", "2026-03-04", "09:00"],
    "help report": ["report", "--help"],
    "help": ["--help"],
    "report help": ["report", "help"],
}


def test_a_day_and_a_time_need_no_quotes_and_help_is_a_word_too() -> None:
    assert {typed: corrected(typed.split()) for typed in MEANT} == MEANT
    times = ("--from", "2026-03-04", "09:10", "--until", "2026-03-04", "09:20")
    quoted = ("--from", "2026-03-04 09:10", "--to", "2026-03-04 09:20")
    assert run("info", SMF, *times, code=0).stdout == run("info", SMF, *quoted).stdout
    assert run("help", "report").stdout == run("report", "--help").stdout


def test_report_without_a_name_lists_what_the_input_has() -> None:
    shown = run("report", SMF, code=0)
    assert shown.stdout == run("report", "--list", SMF).stdout
    assert shown.stderr == "smfparse: no report is named; give one of these, which have data:\n"
    assert "unknown report 'nothing.smf'" in run("report", "nothing.smf").stderr


def test_a_command_at_the_prompt_reads_the_inputs_of_the_prompt() -> None:
    """Unless it names its own, or needs none."""
    selection = ("--from", "2026-03-04", "--qmgr", "QM01", "--smf-time", "--format", "csv")
    root = click.Context(main, info_name="smfparse", **main.context_settings)
    added = " day.smf more --qmgr QM01 --from 2026-03-04 --smf-time"
    own = ("report log other.smf", "check other.smf --format csv", "day.smf", "generate x.smf")
    with main.commands["sql"].make_context("sql", ["day.smf", "more", *selection], root) as prompt:
        for typed, found in (
            *((each, each + added) for each in ("report log", "check --all", "capacity log")),
            *((each, each) for each in (*own, "report log --explain", "report log --help")),
            ("help report", "report --help"),
        ):
            assert " ".join(with_inputs(typed.split(), prompt, ["day.smf", "more"])) == found


def test_the_manual_has_every_command_and_option() -> None:
    """The end of the time is `--until` and `--to`, but for convert."""
    text, page = run("man").stdout, run("man", "--roff").stdout
    assert page.startswith(".TH SMFPARSE 1")
    assert text.count("  -h, --help ") == text.count("Usage: smfparse")
    for name, command in main.commands.items():
        assert f"\nUsage: smfparse {name} " in text
        assert f"\n.SS smfparse {name}\n" in page
        for each in command.params:
            assert all(option in text for option in each.opts if option.startswith("--"))
            if each.name == "until":
                assert each.opts == ["--until", "--to"][: 1 if name == "convert" else 2]
    orders = {line.split()[0] for line in page.splitlines() if line.startswith((".", "'"))}
    assert orders == {".nf", ".fi", ".br", ".TH", ".SH", ".SS"}


COMPLETED = {
    "smfparse che": "plain,check",
    "smfparse day.s": "file,day.s",
    "smfparse report api": "plain,api-cost",
    "smfparse check day": "file,day",
    "smfparse sql day": "file,day",
    "smfparse check --since": "plain,--since-baseline",
}


def test_commands_options_reports_and_files_are_completed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for shell in ("bash", "zsh", "fish"):
        assert f"_SMFPARSE_COMPLETE={shell}_complete" in run("completion", shell).stdout
    subprocess.run(["bash", "-n"], input=run("completion", "bash").stdout, text=True, check=True)
    monkeypatch.setenv("_SMFPARSE_COMPLETE", "bash_complete")
    for words, found in COMPLETED.items():
        monkeypatch.setenv("COMP_WORDS", words)
        monkeypatch.setenv("COMP_CWORD", str(len(words.split()) - 1))
        with pytest.raises(SystemExit):
            main.main([], prog_name="smfparse")
        assert capsys.readouterr().out.strip() == found


def table(width: int | None, columns: int | None = None) -> list[str]:
    """Return the text of one row of ten columns of numbers, for a terminal."""
    part = pa.table({f"c{number}": [number * 1111] for number in range(10)})
    return [*lines(RowsDocument([("", [part, part])], width, columns), "text")]


def test_columns_in_the_middle_are_left_out_where_a_terminal_is_narrow() -> None:
    row = "|  0 | 1111 | ... | 8888 | 9999 |"
    heading = ["| c0 |   c1 | ... |   c8 |   c9 |", "|----|------|-----|------|------|"]
    assert table(39) == [*heading, row, row, "10 columns, 4 shown"]
    whole = table(None)
    assert whole == table(len(whole[0])) == table(20, 0) == table(20, 99)
    for width in range(20, len(whole[0])):
        shown = table(width)
        assert max(map(len, shown)) <= width
        assert len(shown) == len(whole) + 1
    assert table(1)[0] == "| c0 | ... |   c9 |"
    assert table(None, 3)[0] == "| c0 |   c1 | ... |   c9 |"


@pytest.mark.slow
@pytest.mark.usefixtures("unjudged")
def test_inputs_alone_are_summarized_but_a_command_wins_over_a_file_of_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name, copy in ((SMF.name, "info"), ("qm60.smf", "inform")):
        shutil.copy(FIXTURES / name, copy)
    shown = run(tmp_path / "inf*", "--type", "115", code=0).stdout
    assert ("QM60 on " in shown, "QM80 on " in shown) == (True, True)
    for typed, meant_for in {"info": "info", "./info": "summary", "-": "summary"}.items():
        assert main.resolve_command(click.Context(main), [typed])[0] == meant_for
    assert "Missing argument 'INPUT...'" in run("info").stderr


def test_what_is_neither_gets_both_hints() -> None:
    near = {"chekc": "did you mean check?", "INFO": "did you mean info?"}
    for name in (*near, "nothing", "x" * 5000, "a\0b"):
        found = run(name, code=2)
        hint = near.get(name, "smfparse --help lists the commands")
        assert found.stdout == ""
        assert found.stderr.endswith(f"is neither a command nor an existing file; {hint}\n")
    assert "--from" in run(SMF, "--from", "soon", code=2).stderr


def test_a_name_with_a_folder_or_an_ending_is_an_input_that_is_missing() -> None:
    for name in ("nothing.smf", "/nothing/here", "./nothing"):
        assert run(name, code=8).stderr == run("check", name, code=8).stderr


SHOWN = {
    "report since='9' is not a time": "--from '9' is not a time",
    "report until=: not a time": "--until: not a time",
    "convert until=: not a time": "--until: not a time",
    "convert append=True, force=True": "--append, --force",
    "report jobs=1.": "--jobs 1.",
    "report by='x' (by='qmgr, job')": "--by 'x' (--by 'qmgr, job')",
    'report by="x"; give strict=': '--by "x"; give --strict',
    "report type='7': no types": "--type '7': no types",
    "report acctime=-2: no length": "--acctime -2: no length",
}
KEPT = {
    "append=True": "append",  # not an option of the command
    "qmgr=QM01: no such file": "",
    "jobs=4: already exists; force=True replaces it": "",
    "dumps/qmgr=QM01/part-1.parquet: no such file": "qmgr",
    "'job=X' is not a number": "job",
    "jobs = 1, subjobs=1, jobs==1": "jobs",
    "Binder Error: no column\n\nLINE 1: SELECT * FROM t WHERE job='PAY' AND jobs=1": "",
}


def test_parameters_are_shown_as_options_and_what_is_none_stays_as_it_is() -> None:
    for typed, shown in SHOWN.items():
        name, _, message = typed.partition(" ")
        parameters = re.findall(r"(\w+)=", message)
        assert in_options(SmfError(message, *parameters), main.commands[name]) == shown
    for message, parameter in KEPT.items():
        assert in_options(SmfError(message, *parameter.split()), main.commands["sql"]) == message

    for name in ("jobs=4", "qmgr=QM01", "by=job"):  # names of inputs that are not there
        assert run("report", "log", name, code=8).stderr.startswith(f"smfparse: {name}: ")
    said = run("report", "log", SMF, "--output", __file__, code=2).stderr
    assert said.endswith(f"smfparse: {__file__}: already exists; --force replaces it\n")
