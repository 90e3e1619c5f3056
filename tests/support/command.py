"""smfparse as a user calls it, in this process."""

from __future__ import annotations

import sys

from click.testing import CliRunner, Result

from smfparse.cli import main

CODE = "from smfparse.cli import command_line; command_line()"
COMMAND = [sys.executable, "-c", CODE]
"""smfparse as a process of its own; arguments go behind it."""


def run(*arguments: object, stdin: str | bytes = "") -> Result:
    """Call smfparse; whatever goes wrong, no exception gets out of it."""
    result = CliRunner().invoke(main, [str(each) for each in arguments], input=stdin)
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exc_info
    assert "Traceback" not in result.output
    return result
