"""The command line: one click command a module, no logic of its own."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from io import TextIOWrapper
from typing import Any

import click

from smfparse import __version__
from smfparse.cli import compare, convert, describe, dump, generate, info, report, sql
from smfparse.errors import RequestError, SmfError

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
"""numpy starts threads for linear algebra when it is loaded; nothing here asks for any."""
EXIT_USAGE = 2
EXIT_FAILED = 8
EXIT_INTERRUPTED = 130
EXIT_CLOSED_PIPE = 141
"""As shells say it of a program that ended by SIGINT, or SIGPIPE."""


@contextmanager
def _ending() -> Iterator[None]:
    """Turn what ends a command early into one line on stderr, or none, and its exit code."""
    try:
        yield
    except SmfError as error:
        _leave(EXIT_USAGE if isinstance(error, RequestError) else EXIT_FAILED, f"smfparse: {error}")
    except KeyboardInterrupt:
        _leave(EXIT_INTERRUPTED, "smfparse: interrupted")
    except BrokenPipeError:
        with suppress(OSError, ValueError):  # what is still to be written goes nowhere
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        _leave(EXIT_CLOSED_PIPE)
    except OSError as error:  # click writes --help itself
        place = error.filename or "standard output"
        _leave(EXIT_FAILED, f"smfparse: {place}: {error.strerror or error}")


def _let_every_text_be_shown() -> None:
    """Write what a terminal or an encoding that was asked for does not have as escapes.

    What goes to a file or another program is UTF-8, as with --output, on every system.
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            asked = stream.isatty() or "PYTHONIOENCODING" in os.environ
            stream.reconfigure(encoding=None if asked else "utf-8", errors="backslashreplace")


def _leave(code: int, message: str | None = None) -> None:
    with suppress(OSError):
        if message:
            click.echo(message, err=True)
    sys.exit(code)


class _Group(click.Group):
    """Ends every command with an exit code that says how it went."""

    def make_context(self, *arguments: Any, **options: Any) -> click.Context:
        with _ending():
            return super().make_context(*arguments, **options)

    def invoke(self, context: click.Context) -> Any:
        _let_every_text_be_shown()
        with _ending():
            return super().invoke(context)


@click.group(cls=_Group, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="smfparse")
def main() -> None:
    """Read IBM MQ for z/OS SMF 115 and 116 records: reports, tables, SQL.

    \b
    Start here:
      smfparse info DUMP.smf
      smfparse report log DUMP.smf

    \b
    Exit codes:
      0    all is well; also where the data of a report is not in the input
      4    something in the input could not be used: what and where is said on stderr
      8    no result: no usable input, damage with --strict, no room for the output
      2    a wrong call: unknown names, SQL that does not run, an output that exists
      130  interrupted
      141  nobody reads the output any more
    """


for module in (info, report, compare, convert, sql, describe, dump, generate):
    main.add_command(module.command)
