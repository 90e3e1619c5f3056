"""Lines of pages that a reader types: each is run, in order, and ends as the page says.

They are the lines `smfparse ...` of blocks `console` and `sh` that show no output (pages.py runs
those that do). What a line reads is there: a page makes it, or it is one of SAMPLES.
"""

from __future__ import annotations

import gzip
import re
import shlex
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import chdir
from pathlib import Path

from click.testing import CliRunner

from smfparse.cli import main as cli

ROOT = Path(__file__).resolve().parent.parent
_DUMP = ROOT / "fixtures" / "qm01-930.smf"
_BLOCK = re.compile(r"^```(?:console|sh)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
_EXIT_CODE = re.compile(r"#.*exit code (\d)")
_OTHER_NAMES = re.compile(r"no records .*match .*; the input covers ")
"""How a line ends whose names, times or types are those of a reader, not of the samples."""
_QUERY = "SELECT count(*) FROM wqst"
"""Typed at a prompt, and written in files of queries."""


def _packed() -> bytes:
    return gzip.compress(_DUMP.read_bytes(), 1)


SAMPLES: Mapping[str, Callable[[], bytes]] = {
    ".smf": _DUMP.read_bytes,
    ".smf.gz": _packed,
    "site.toml": "[limits]\nLOG-RESPONSE = 1200\n".encode,
    "mine.toml": (ROOT / "smfparse/simulating/scenarios/log-slow.toml").read_bytes,
    ".sql": _QUERY.encode,
    "/": _DUMP.read_bytes,
    "*.zst": _packed,
}
"""What is in a file of which the name ends so; a folder and a pattern have one file, a day."""


def try_lines(text: str) -> int:
    """Run the lines of a page; return how many there are.

    Raises ValueError for one that does not end as the page says.
    """
    lines = [line for block in _BLOCK.findall(text) for line in _lines(block)]
    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        for line in lines:
            _try_line(line)
    return len(lines)


def _lines(block: str) -> Iterator[str]:
    if not block.startswith("$ "):
        joined = block.replace("\\\n", " ")
        yield from (line for line in joined.splitlines() if line.startswith("smfparse "))


def _try_line(line: str) -> None:
    words = shlex.split(line, comments=True)[1:]
    _make_samples(words)
    typed = _QUERY
    if "<" in words:
        at = words.index("<")
        typed = Path(words[at + 1]).read_text("utf-8")
        words[at : at + 2] = []
    done = CliRunner().invoke(cli, words, input=typed, catch_exceptions=False)
    expected = _EXIT_CODE.search(line)
    is_empty = done.exit_code == 8 and _OTHER_NAMES.search(done.output)
    if done.exit_code not in (0, int(expected[1]) if expected else 0) and not is_empty:
        raise ValueError(f"exit code {done.exit_code}: {line}\n{done.output}")


def _make_samples(words: Sequence[str]) -> None:
    """Make what the words of a line read, unless it is there."""
    for before, word in zip(["", *words], words, strict=False):
        is_there = before in ("--to", "--output", "generate") or Path(word).exists()
        ends = [each for each in SAMPLES if word.endswith(each) and not is_there]
        for end in ends[:1]:
            place = Path(word, "day.smf") if end == "/" else Path(word.replace("*", "day"))
            place.parent.mkdir(exist_ok=True)
            place.write_bytes(SAMPLES[end]())
