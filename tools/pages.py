"""Pages whose examples run: the output on a page is the output of its code.

The blocks of a page run in its order, in a folder of their own. It is empty, or has `fixtures` and
SAMPLES:

    console   if it starts with `$ `: each line `$ smfparse ...`, above the output of the command;
              a command may fail if the page shows an error (typed.py runs the others)
    python    as in a notebook: blocks share their names, the value of the last line is printed
    sql       a query on DATA, as `smfparse sql` prints it

A `text` block right behind `python` or `sql` is its output. `...` on a page matches any text, as in
doctests.
"""

from __future__ import annotations

import ast
import doctest
import io
import re
import shlex
import shutil
import tempfile
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from contextlib import chdir, redirect_stdout
from pathlib import Path
from typing import Any

import matplotlib
from click.testing import CliRunner

from smfparse.cli import main as cli

ROOT = Path(__file__).resolve().parent.parent
DATA = "day.smf"
"""The file that the queries of a page read; the page generates it."""
SAMPLES = {"DUMP.smf": "qm01-930.smf", "LATER.smf": "qm01-930.smf"}
"""Files for the other examples: name to fixture."""

_BLOCK = re.compile(r"^```(console|python|sql|text)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
_PICTURE = re.compile(r"\]\((images/[\w.-]+\.svg)\)")
_STYLE = {"backend": "svg", "svg.fonttype": "none", "svg.hashsalt": "smfparse"}


def rerun(page: Path, text: str, *, samples: bool) -> tuple[str, dict[Path, str]]:
    """Return the text of a page with the output of its code now, and its pictures by path.

    samples  whether `fixtures` and SAMPLES are there; False: the page begins in an empty folder
    """
    with tempfile.TemporaryDirectory() as folder, chdir(folder), matplotlib.rc_context(_STYLE):
        if samples:
            shutil.copytree(ROOT / "fixtures", "fixtures")
            for name, fixture in SAMPLES.items():
                shutil.copy(ROOT / "fixtures" / fixture, name)
        made = _BLOCK.sub(_Session().block, text)
        pictures = {page.parent / each: _tidy(Path(each).name) for each in _PICTURE.findall(text)}
    return made, pictures


def words(picture: str) -> list[str]:
    """Return the words in a picture, in order; how lines are drawn does not count."""
    return [each.text or "" for each in ET.fromstring(picture).iter() if each.tag.endswith("}text")]


class _Session:
    """The blocks of one page, in order."""

    def __init__(self) -> None:
        self.names: dict[str, Any] = {}
        self.shown: str | None = None
        self.end = 0

    def block(self, found: re.Match[str]) -> str:
        kind, code = found.groups()
        behind = not found.string[self.end : found.start()].strip()
        shown, self.shown, self.end = self.shown, None, found.end()
        if kind in ("python", "sql"):
            self.shown = self._python(code) if kind == "python" else _printed("sql", DATA, code)
        elif kind == "console" and code.startswith("$ "):
            code = "".join(_console(code))
        elif shown is not None and behind:
            code = _kept(code, shown)
        return f"```{kind}\n{code}```"

    def _python(self, code: str) -> str:
        """Run a block; return its output and the value of its last line."""
        tree = ast.parse(code)
        last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
        with redirect_stdout(io.StringIO()) as printed:
            exec(compile(tree, "<page>", "exec"), self.names)
            if last is not None:
                value = eval(compile(ast.Expression(last.value), "<page>", "eval"), self.names)
                if value is not None:
                    print(repr(value))
        return printed.getvalue()


def _console(code: str) -> Iterator[str]:
    """Yield the commands of a block, each with its output."""
    for command, wanted in re.findall(r"^(\$ .*\n)((?:(?!\$ ).*\n)*)", code, re.MULTILINE):
        program, *arguments = shlex.split(command[2:])
        if program != "smfparse":
            raise ValueError(f"{command}: not a command of smfparse")
        yield command
        fails = "Error: " in wanted.partition("\n")[0]
        yield _kept(wanted, _printed(*arguments, fails=fails))


def _printed(*arguments: str, fails: bool = False) -> str:
    done = CliRunner().invoke(cli, arguments, catch_exceptions=False)
    if bool(done.exit_code) is not fails:
        raise ValueError(f"exit code {done.exit_code}: {' '.join(arguments)}\n{done.output}")
    return done.output


def _kept(wanted: str, shown: str) -> str:
    """Return the output that a page has if it still matches, else the new output."""
    right = doctest.OutputChecker().check_output(wanted, shown, doctest.ELLIPSIS)
    return wanted if right else shown


def _tidy(name: str) -> str:
    """Return a picture without blanks at line ends."""
    text = Path(name).read_text(encoding="utf-8")
    return "".join(f"{line.rstrip()}\n" for line in text.splitlines())
