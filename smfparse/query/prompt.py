"""The interactive prompt of `smfparse sql`: the user enters statements, and sees their rows."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, closing, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from prompt_toolkit import PromptSession
from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document
from prompt_toolkit.filters import Condition
from prompt_toolkit.history import FileHistory, History, InMemoryHistory
from prompt_toolkit.shortcuts import CompleteStyle

from smfparse.errors import SmfError
from smfparse.interrupts import ASKED
from smfparse.metrics.views import columns_of, relations, title_of
from smfparse.query.catalog import Catalog
from smfparse.query.projection import named_tables, named_views
from smfparse.query.statements import is_complete
from smfparse.rendering.formats import FORMATS, TEXT

PROMPT, GOES_ON = "smf> ", "...> "
SHOWN_ROWS = 1_000
"""Maximum number of shown rows of a result."""
HELP = """\
.tables          list the tables and views
.describe NAME   describe the table, view, column or field NAME
.mode FORMAT     show results as text, csv, json, jsonl, md or html
.columns N       show N columns of a result, or all; auto: as many as fit
.width N         print lines of up to N characters; auto: the terminal's width
.help            show this; so does help
.quit            leave; so do exit, quit and Ctrl-D
Commands of smfparse (report log, check, summary) run here too. They read the
inputs of the prompt, unless they name others. Anything else is DuckDB SQL and
ends with a semicolon. Tab completes; Ctrl-C cancels the line or the query."""
COMMANDS = (".columns", ".describe", ".help", ".mode", ".quit", ".tables", ".width")
_WORDS = {"help": ".help", "?": ".help", "exit": ".quit", "quit": ".quit", "\\q": ".quit"}
"""Commands that users enter without a dot."""
_ALONE = [[each] for each in _WORDS]
_AUTO = "auto"
_ALL = "all"
_MOST_COUNT = 100_000
_KEYWORDS = (
    *("ALL", "AND", "AS", "ASC", "BETWEEN", "BY", "CASE", "CAST", "COPY", "COUNT", "CREATE"),
    *("CROSS", "DESC", "DESCRIBE", "DISTINCT", "ELSE", "END", "EXCEPT", "EXCLUDE", "EXISTS"),
    *("EXPLAIN", "FILTER", "FROM", "FULL", "GROUP", "HAVING", "ILIKE", "IN", "INTERSECT"),
    *("INTERVAL", "IS", "JOIN", "LEFT", "LIKE", "LIMIT", "MACRO", "NOT", "NULL", "OFFSET", "ON"),
    *("OR", "ORDER", "OVER", "PARTITION", "PIVOT", "QUALIFY", "RIGHT", "SELECT", "SET", "SHOW"),
    *("SUMMARIZE", "TABLE", "TEMP", "THEN", "TO", "UNION", "UNPIVOT", "USING", "VALUES"),
    *("VARIABLE", "VIEW", "WHEN", "WHERE", "WINDOW", "WITH"),
)
_WORD = re.compile(r"[.\w]*$")
_BEHIND_FROM = re.compile(r"\b(?:from|join|describe|summarize)\s+(?:\w+(?:\s+\w+)?\s*,\s*)*$", re.I)
"""Text before a table name: a keyword, maybe followed by other table names."""


@dataclass
class View:
    """The settings for showing results.

    mode     a format of FORMATS
    width    maximum characters per line of text; None: width of the terminal
    columns  number of columns of text; None: the columns that fit into the width; 0: all columns
    """

    mode: str = TEXT
    width: int | None = None
    columns: int | None = None

    def set(self, command: str, text: str) -> bool:
        """Apply .mode, .width or .columns; return whether `command` is one of them, and valid."""
        if command == ".mode" and text in FORMATS:
            self.mode = text
        elif command == ".width" and (text == _AUTO or _is_count(text)):
            self.width = None if text == _AUTO else int(text)
        elif command == ".columns" and (text in (_AUTO, _ALL) or _is_count(text)):
            self.columns = None if text == _AUTO else 0 if text == _ALL else int(text)
        else:
            return False
        return True


def _is_count(text: str) -> bool:
    return text.isascii() and text.isdigit() and 0 < int(text) < _MOST_COUNT


class Shell(NamedTuple):
    """The commands of the shell that can also be entered at the prompt.

    names    the first words of these commands
    run      runs a command, split into words
    working  returns the context in which an entry runs
    """

    names: Collection[str]
    run: Callable[[Sequence[str]], Any]
    working: Callable[[], AbstractContextManager[None]] = nullcontext


class Console:
    """Runs the entries at the prompt, over the tables of `catalog`.

    render    returns the lines of a result in a view; takes its parts, as from `Catalog.run`
    describe  returns the lines about a name; for None the list of tables
    show      prints a line of output
    complain  reports an error
    done      is called after every entry
    shell     the other available commands
    """

    def __init__(
        self,
        catalog: Catalog,
        render: Callable[[Iterable[Any], View], Iterable[str]],
        describe: Callable[[str | None], Iterable[str]],
        show: Callable[[str], Any],
        complain: Callable[[BaseException], Any],
        done: Callable[[], Any],
        shell: Shell,
        mode: str = TEXT,
    ) -> None:
        self._catalog = catalog
        self._render = render
        self._describe = describe
        self._show = show
        self._complain = complain
        self._done = done
        self._shell = shell
        self._view = View(mode)

    def run(self, history: History | None = None) -> None:
        """Read and run entries until the user leaves."""
        session: PromptSession[str] = PromptSession(
            PROMPT,
            multiline=Condition(lambda: not self._is_whole(session.default_buffer.text)),
            prompt_continuation=GOES_ON,
            completer=SqlCompleter(),
            complete_while_typing=False,
            complete_style=CompleteStyle.MULTI_COLUMN,
            history=kept_history() if history is None else history,
        )
        while True:
            try:
                text = session.prompt()
                with self._shell.working():
                    goes_on = self.do(text)
                if not goes_on:
                    return
            except KeyboardInterrupt:
                if ASKED.signal is not None:
                    raise
            except EOFError:
                return

    def _is_whole(self, text: str) -> bool:
        return is_whole(text, self._shell.names)

    def do(self, text: str) -> bool:
        """Run an entry, and show its result; return whether to continue."""
        try:
            words = text.strip().rstrip(";").split()
            if (words and words[0].startswith(".")) or [*map(str.lower, words)] in _ALONE:
                return self._command(*words)
            if words and words[0] in self._shell.names:
                self._shell.run(shlex.split(text.strip().rstrip(";"), posix=os.name != "nt"))
                self._done()
                return True
            for statement in self._catalog.statements(text):
                with closing(self._catalog.run(statement)) as parts:
                    for line in self._shown(parts):
                        self._show(line)
        except SmfError as error:
            self._complain(error)
        except KeyboardInterrupt:
            if ASKED.signal is not None:
                raise
            self._complain(KeyboardInterrupt("interrupted"))
        self._done()
        return True

    def _command(self, command: str, *names: str) -> bool:
        if command == ".tables" and not names:
            for line in self._describe(None):
                self._show(line)
        elif command == ".describe" and len(names) == 1:
            for line in self._describe(names[0]):
                self._show(line)
        elif _WORDS.get(command.lower(), command) in (".quit", ".exit"):
            return False
        elif not (len(names) == 1 and self._view.set(command, names[0])):
            self._show(HELP)
        return True

    def _shown(self, parts: Iterable[Any]) -> Iterator[str]:
        shown, count = [], 0
        for part in parts:
            shown.append(part.slice(0, max(SHOWN_ROWS - count, 0)))
            count += part.num_rows
        if shown:
            yield from self._render(shown, self._view)
        if count > SHOWN_ROWS:
            yield f"... and {count - SHOWN_ROWS:,} more rows"


def is_whole(text: str, commands: Collection[str] = ()) -> bool:
    """Whether an entry is complete: empty, a command, or complete statements."""
    words = text.split(maxsplit=1)
    if not words or words[0].startswith(".") or words[0] in commands:
        return True
    return [text.strip().rstrip(";").lower()] in _ALONE or is_complete(text)


class SqlCompleter(Completer):
    """Completes tables, columns (first columns of tables in the entry), keywords and commands."""

    def get_completions(
        self,
        document: Document,
        complete_event: CompleteEvent,  # noqa: ARG002 - as prompt_toolkit calls it
    ) -> Iterator[Completion]:
        before = document.text_before_cursor
        found = _WORD.search(before)
        word = found[0] if found else ""
        table, dot, start = word.rpartition(".")
        offered: Iterable[tuple[str, str]]
        if before.lstrip() == word and dot and not table:
            offered, start = ((each, "") for each in COMMANDS), word
        elif before.lstrip().startswith("."):
            offered = self._described()
        elif dot:
            known = [table.lower()] if table.lower() in relations() else None
            offered = self._columns(known or _relations_in(document.text))
        else:
            offered = self._offered(before[: len(before) - len(word)], document.text)
        yield from self._starting(start, offered)

    def _starting(self, start: str, offered: Iterable[tuple[str, str]]) -> Iterator[Completion]:
        seen: set[str] = set()
        for name, meaning in offered:
            if name.lower().startswith(start.lower()) and name not in seen:
                seen.add(name)
                yield Completion(name, -len(start), display_meta=meaning)

    def _offered(self, before: str, text: str) -> Iterator[tuple[str, str]]:
        tables = ((each, title_of(each)) for each in relations())
        if _BEHIND_FROM.search(before):
            yield from tables
            return
        yield from self._columns(_relations_in(text) or relations())
        yield from tables
        yield from ((each, "") for each in _KEYWORDS)

    def _columns(self, tables: Iterable[str]) -> Iterator[tuple[str, str]]:
        return ((each.name, each.doc) for table in tables for each in columns_of(table))

    def _described(self) -> Iterator[tuple[str, str]]:
        yield from ((each, title_of(each)) for each in relations())
        yield from self._columns(relations())


def _relations_in(text: str) -> list[str]:
    return [*named_tables(text), *named_views(text)]


def kept_history() -> History:
    """Return the history in the state folder; if this fails, a history for this session only."""
    try:
        file = state_folder() / "sql_history"
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        file.open("ab").close()
    except (OSError, RuntimeError):  # no home folder
        return InMemoryHistory()
    return FileHistory(file)


def state_folder() -> Path:
    """Return the folder in which programs keep data between sessions."""
    base = os.environ.get("LOCALAPPDATA" if os.name == "nt" else "XDG_STATE_HOME")
    return (Path(base) if base else Path.home() / ".local" / "state") / "smfparse"
