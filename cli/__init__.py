"""The command line: each module has one click command, without logic of its own."""

from __future__ import annotations

import atexit
import gc
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import partial
from importlib import import_module
from io import TextIOWrapper
from typing import TYPE_CHECKING, Any

import click

from smfparse import __version__
from smfparse.cli.output import report_error, report_message
from smfparse.cli.progress import BAR
from smfparse.cli.words import in_options, is_input, is_path, meant
from smfparse.errors import RequestError, SmfError, did_you_mean
from smfparse.interrupts import ASKED, ended_by_signals
from smfparse.progress import PROGRESS
from smfparse.rendering.guard import visible

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
"""numpy starts threads for linear algebra when it is loaded; smfparse uses none of them."""
EXIT_USAGE = 2
EXIT_FAILED = 8
EXIT_SIGNAL = 128
EXIT_INTERRUPTED = EXIT_SIGNAL + 2
EXIT_CLOSED_PIPE = EXIT_SIGNAL + 13
"""Exit codes as in a shell, for a program ended by SIGINT or SIGPIPE."""
_HELP: tuple[type[click.UsageError], ...] = tuple(
    filter(None, [getattr(click.exceptions, "NoArgsIsHelpError", None)])
)
"""The exception with which click 8.2 and newer show the help of a command."""


@contextmanager
def _ending(command: Callable[[], click.Command | None]) -> Iterator[None]:
    """Turn the early end of a command into one line on stderr, or none, and its exit code.

    command  returns the command that ran; messages name its options. None: no command ran
    """
    try:
        yield
    except SmfError as error:
        code = EXIT_USAGE if isinstance(error, RequestError) else EXIT_FAILED
        ran = command()
        _leave(code, in_options(error, ran) if ran else str(error), error)
    except click.UsageError as error:
        raise _seen(error) from error
    except KeyboardInterrupt as error:
        if ASKED.signal is not None:
            _leave(EXIT_SIGNAL + ASKED.signal, "terminated", error)
        _leave(EXIT_INTERRUPTED, "interrupted", error)
    except BrokenPipeError:
        with suppress(OSError, ValueError):  # discards the text that is still to be written
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        _leave(EXIT_CLOSED_PIPE)
    except OSError as error:  # click writes --help itself
        place = error.filename or "standard output"
        _leave(EXIT_FAILED, f"{place}: {error.strerror or error}", error)


def _write_utf8() -> None:
    """Write UTF-8 to files and other programs, as --output does, on every system.

    A terminal, or PYTHONIOENCODING, keeps its own encoding; characters that this encoding lacks
    become escapes.
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            asked = stream.isatty() or "PYTHONIOENCODING" in os.environ
            stream.reconfigure(encoding=None if asked else "utf-8", errors="backslashreplace")


def _seen(error: click.UsageError) -> click.UsageError:
    """Return an error of click that is safe to print: an argument in it may contain anything."""
    if isinstance(error, _HELP):
        return error
    return click.UsageError(visible(error.format_message()), error.ctx)


def _leave(code: int, message: str = "", error: BaseException | None = None) -> None:
    with suppress(OSError):
        if error is not None:
            report_error(f"smfparse: {message}", error)
    sys.exit(code)


_NAMES = (
    *("info", "summary", "check", "trend", "dashboard", "plot", "report", "compare", "capacity"),
    *("convert", "compact", "sql", "describe", "dump", "generate"),
    *("anonymise", "man", "completion"),
)
_OF_INPUT_ALONE = "summary"
"""The command for INPUT without a command."""


def _neither(name: str) -> str:
    """Return the message for a name that is neither command nor input, with similar commands."""
    from difflib import get_close_matches

    near = get_close_matches(name.lower(), _NAMES, 3)
    way_out = did_you_mean(near, "smfparse --help lists the commands")
    return f"{name!r} is neither a command nor an existing file; {way_out}"


class _NoPandas:
    """Hides pandas from a process that runs a command.

    If pandas is installed, pyarrow loads it with the first array, to recognise objects of pandas.
    No command has such objects, and loading takes longer than most commands.
    """

    def find_spec(self, name: str, *_: object) -> None:
        """Raise ModuleNotFoundError for pandas; other finders handle all other modules."""
        if name == "pandas":
            raise ModuleNotFoundError("no command needs pandas", name=name)


class _Commands(Mapping[str, click.Command]):
    """The commands, each a module that is imported when the command is used."""

    def __getitem__(self, name: str) -> click.Command:
        if name not in _NAMES:
            raise KeyError(name)
        found: click.Command = import_module(f"smfparse.cli.{name}").command
        return found

    def __iter__(self) -> Iterator[str]:
        return iter(_NAMES)

    def __len__(self) -> int:
        return len(_NAMES)


class _Group(click.Group):
    """Ends every command with its exit code."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.commands = _Commands()  # type: ignore[assignment] # none is added

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        return super().parse_args(ctx, meant(args))

    def make_context(self, *arguments: Any, **options: Any) -> click.Context:
        with _ending(lambda: None):
            return super().make_context(*arguments, **options)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the requested command: `summary` if there is only INPUT."""
        name = args[0]
        if name not in self.commands and not ctx.resilient_parsing:
            if not is_input(name) and not is_path(name):
                raise click.UsageError(_neither(name), ctx)
            args = [_OF_INPUT_ALONE, *args]
        return super().resolve_command(ctx, args)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        from click.shell_completion import CompletionItem

        found = super().shell_complete(ctx, incomplete)
        return found or [CompletionItem(incomplete, type="file")]

    def invoke(self, context: click.Context) -> Any:
        _write_utf8()
        named = partial(self.get_command, context)
        with (
            BAR.of_command(),
            PROGRESS.told_by(report_message),
            _ending(lambda: named(context.invoked_subcommand or "")),
            ended_by_signals(),
        ):
            return super().invoke(context)


@click.group(cls=_Group, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="smfparse")
def main() -> None:
    """Analyse IBM MQ for z/OS performance from SMF 115 and 116 records.

    \b
    Start here:
      smfparse DUMP.smf               one-screen summary (same as summary)
      smfparse check DUMP.smf         findings and recommended actions
      smfparse report log DUMP.smf    one report

    \b
    Exit codes:
      0    success, even if a report has no data
      2    usage error: unknown name, failing SQL, output file already exists
      3    check --fail-on: a finding of that severity or a more serious one
      4    part of the input was damaged; stderr shows the damage
      8    no result: unusable input, no selected record, damage with --strict,
           disk full, --timeout or --max-copy reached
      130  interrupted (Ctrl-C)
      141  output pipe closed (SIGPIPE)
      143  terminated (SIGTERM); 129: terminal closed (SIGHUP)
    """


_SELDOM = 100_000
"""Number of new objects, not freed, after which Python searches for reference cycles again."""


def _leave_garbage() -> None:
    """Switch off garbage collection at the end: DuckDB complains about what remains."""
    if "_duckdb" not in sys.modules:  # if loading it was interrupted, duckdb is not there
        gc.freeze()


def command_line() -> None:
    """Run the command line in this process, and end the process with its exit code.

    Loading libraries creates many objects, but no reference cycles that could be freed.
    """
    gc.set_threshold(_SELDOM)
    atexit.register(_leave_garbage)
    sys.meta_path.insert(0, _NoPandas())
    main()
