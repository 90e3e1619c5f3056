"""smfparse as a user calls it, in this process."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from typing import Any

from click.testing import CliRunner, Result

from smfparse.cli import main

CODE = "from smfparse.cli import command_line; command_line()"
COMMAND = [sys.executable, "-c", CODE]
"""smfparse as a process of its own; arguments go behind it."""

_CALLS = (
    *("info INPUT", "report log INPUT", "check INPUT", "summary INPUT", "trend INPUT"),
    *("dashboard INPUT", "plot log-busy INPUT", "capacity log INPUT", "compare INPUT INPUT"),
    *("convert INPUT --to OUT", "dump INPUT", "anonymise INPUT --to OUT"),
)
READING = {each.split()[0]: each.split() for each in _CALLS}
READING["sql"] = ["sql", "INPUT", "SELECT record_no FROM qmst"]
"""Commands that read an input; INPUT and OUT stand for names of files."""


def named(arguments: Sequence[str], source: object, output: object) -> list[str]:
    names = {"INPUT": str(source), "OUT": str(output)}
    return [names.get(each, each) for each in arguments]


def reading_call(name: str, source: object, output: object) -> list[str]:
    return named(READING[name], source, output)


def run(*arguments: object, stdin: str | bytes = "", code: int | None = None) -> Result:
    """Call smfparse; whatever goes wrong, no exception gets out of it.

    code  the exit code that it ends with; None: any
    """
    result = CliRunner().invoke(main, [str(each) for each in arguments], input=stdin)
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exc_info
    assert "Traceback" not in result.output
    assert code is None or result.exit_code == code, result.output
    return result


def printed(*arguments: object, stdin: str | bytes = "") -> str:
    """Return what a call prints that ends well."""
    return run(*arguments, stdin=stdin, code=0).stdout


def in_json(*arguments: object, code: int = 0) -> Any:
    """Return what a call prints as JSON; code: that it ends with."""
    return json.loads(run(*arguments, "--format", "json", code=code).stdout)
