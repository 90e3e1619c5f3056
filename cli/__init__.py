"""The command line: one click command a module, no logic of its own."""

from __future__ import annotations

import os
import sys
from typing import Any

import click

from smfparse import __version__
from smfparse.cli import convert, describe, dump, generate, info, report, sql
from smfparse.errors import InputError, SmfError

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
"""numpy starts threads for linear algebra when it is loaded; nothing here asks for any."""
EXIT_USAGE = 2
EXIT_NO_INPUT = 8


class _Group(click.Group):
    """Turns smfparse's errors into one line on stderr and the exit code that fits."""

    def invoke(self, context: click.Context) -> Any:
        try:
            return super().invoke(context)
        except SmfError as error:
            click.echo(f"smfparse: {error}", err=True)
            sys.exit(EXIT_NO_INPUT if isinstance(error, InputError) else EXIT_USAGE)


@click.group(cls=_Group, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="smfparse")
def main() -> None:
    """Read IBM MQ for z/OS SMF 115 and 116 records: reports, tables, SQL.

    \b
    Start here:
      smfparse info DUMP.smf
      smfparse report log DUMP.smf

    \b
    Exit codes: 0 clean; 4 something in the input could not be used (what, where and
    how much is said on stderr); 8 no usable input; 2 a wrong call.
    """


for module in (info, report, convert, sql, describe, dump, generate):
    main.add_command(module.command)
