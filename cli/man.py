"""smfparse man: the help of all commands, as text or as a man page."""

from __future__ import annotations

import re
from collections.abc import Iterator

import click

from smfparse import __version__
from smfparse.cli.options import lines_output_options
from smfparse.cli.output import Output

_WIDTH = 80
_ROFF = str.maketrans(
    {"\\": r"\e", "-": r"\-", "'": r"\(aq", "^": r"\(ha", "`": r"\(ga", "~": r"\(ti"}
)
"""Characters with a meaning in roff, and their escapes."""
_HEADING = re.compile(r"^(\S[^:]*):$")


@click.command("man", short_help="Show the manual: the help of all commands.")
@click.option("--roff", is_flag=True, help="Write a man page (roff).")
@lines_output_options
@click.pass_context
def command(context: click.Context, /, roff: bool, output: Output) -> None:
    """Show the manual: the help of smfparse and of each of its commands.

    \b
    Example:
      smfparse man
      smfparse man --roff --output ~/.local/share/man/man1/smfparse.1
    """
    root = context.find_root().command
    assert isinstance(root, click.Group)
    output.write_lines(_page(root) if roff else _text(root))


def _helps(group: click.Group, above: click.Context) -> Iterator[tuple[str, str]]:
    """Yield the name and the help of every command of a group, and of their subcommands."""
    for name in group.list_commands(above):
        found = group.get_command(above, name)
        assert found is not None
        inner = _context(found, name, above)
        yield inner.command_path, found.get_help(inner)
        if isinstance(found, click.Group):
            yield from _helps(found, inner)


def _context(found: click.Command, name: str, above: click.Context | None) -> click.Context:
    settings = {**found.context_settings, "terminal_width": _WIDTH}
    return click.Context(found, parent=above, info_name=name, **settings)


def _text(root: click.Group) -> Iterator[str]:
    top = _context(root, "smfparse", None)
    yield from root.get_help(top).split("\n")
    for path, text in _helps(root, top):
        yield from ("", "", path.upper(), "", *text.split("\n"))


def _page(root: click.Group) -> Iterator[str]:
    """Yield the lines of a man page in roff, with a section for each help text."""
    top = _context(root, "smfparse", None)
    yield f'.TH SMFPARSE 1 "" "smfparse {__version__}" "User Commands"'
    yield from (".SH NAME", r"smfparse \- read IBM MQ for z/OS SMF 115 and 116 records")
    yield ".SH SYNOPSIS"
    yield from (r"\fBsmfparse\fR \fIINPUT\fR...", ".br")
    yield r"\fBsmfparse\fR \fICOMMAND\fR [\fIOPTION\fR]... [\fIINPUT\fR]..."
    yield from (".SH DESCRIPTION", *_verbatim(root.get_help(top)))
    yield ".SH COMMANDS"
    for path, text in _helps(root, top):
        yield from (f".SS {_escaped(path)}", *_verbatim(text))


def _verbatim(text: str) -> Iterator[str]:
    """Yield the lines of a help text unchanged, with bold headings."""
    yield ".nf"
    for line in text.split("\n"):
        heading = _HEADING.match(line)
        yield rf"\fB{_escaped(heading[1])}\fR" if heading else _escaped(line)
    yield ".fi"


def _escaped(line: str) -> str:
    shown = line.translate(_ROFF)
    return rf"\&{shown}" if shown.startswith(".") else shown
