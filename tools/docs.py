"""Write the generated parts of docs/ (`make docs`), or check that they are up to date (--check).

A generated part stands between the lines `<!-- generated: NAME -->` and `<!-- end -->`. The output
and the pictures of the examples on the pages in RUN are generated too (pages.py), and the output of
the cells of notebooks (notebooks.py). Lines that show no output are run as well (typed.py).
"""

from __future__ import annotations

import difflib
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from itertools import chain, groupby
from multiprocessing import get_context
from operator import attrgetter
from pathlib import Path

import click
import notebooks
import pages
import typed

from smfparse.advice.declaration import SEVERITIES, Diagnosis, Rule, Subject, diagnoses, rules
from smfparse.advice.policy import Policy, Silence
from smfparse.advice.wording import explained
from smfparse.cli import main as cli
from smfparse.declarations import declared_keys
from smfparse.decoding.dictionary import (
    KEY_COLUMNS,
    STATISTICS_KEYS,
    TASK_KEYS,
    TableColumn,
    columns,
    key_columns,
    table_names,
    title,
)
from smfparse.metrics.measures import AVERAGE, Measure, subjects
from smfparse.metrics.views import view, view_names
from smfparse.rendering.figures import STYLES
from smfparse.reports.declaration import Figure, Report, report, report_names
from smfparse.summarizing.compare_figures import MEASURES, ROW_KINDS

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
_OF_DOCS = (
    *("is-my-log-the-limit", "planning", "size-the-channel-initiator", "tutorial"),
    *("what-did-the-migration-change", "who-uses-this-queue"),
)
STORIES = {ROOT / "README.md", *(DOCS / f"{name}.md" for name in _OF_DOCS)}
"""The pages that a reader follows from an empty folder; they make what their examples read."""
RUN = STORIES | {DOCS / f"{name}.md" for name in ("library", "simulated-site", "sql", "traffic")}
"""The pages whose examples are run."""
UNTRIED = {"dataset.md", "performance.md"}
"""Pages with lines that need what is not there: clusters, gigabytes."""
NOTEBOOK = ".ipynb"
"""What the names of notebooks end in, all of which are run (notebooks.py)."""
_PART = re.compile(r"(<!-- generated: (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)


_FIGURE = attrgetter("csv", "name", "formula", "style", "evidence", "note")


def _table(headings: str, rows: Iterable[Iterable[object]]) -> Iterator[str]:
    """Yield a table; `headings` are divided by |."""
    yield f"| {' | '.join(headings.split('|'))} |"
    yield "|" + "---|" * len(headings.split("|"))
    yield from (f"| {' | '.join(map(str, row))} |" for row in rows)


def report_reference() -> Iterator[str]:
    """Yield a section for each report: its data, and the formula of each figure."""
    for which in map(report, report_names()):
        yield f"## {which.name}\n"
        yield f"{which.title}.\n"
        yield f"* Data: {which.record}, written by `{which.trace}`."
        yield f"* MP1B: {', '.join(which.dd) or 'none'}."
        if which.is_rankable:
            by = f"by `{which.ranked}`" if which.ranked else "each table in its own order"
            yield f"* `--top` ranks {by}, `--sort` by any figure that is a number."
        yield ""
        rows = (
            (csv or "(not in CSV)", f"`{name}`", formula, STYLES[style][1], evidence, note)
            for csv, name, formula, style, evidence, note in map(_FIGURE, which.figures)
        )
        yield from _table("figure|JSON|formula|shown|evidence|note", rows)
        yield ""


def keys(cls: type) -> Iterator[str]:
    """Yield a table of the keys that a declaration can have."""
    rows = []
    for each in declared_keys(cls):
        left_out = each.key.left_out or f"`{each.default}`".replace("True", "true")
        left_out = "(required)" if each.required else left_out
        rows.append((f"`{each.name}`", each.type, each.key.meaning, left_out))
    yield from _table("key|type|meaning|if left out", rows)


def command_reference() -> Iterator[str]:
    """Yield the help of every command."""
    with click.Context(cli, info_name="smfparse", **cli.context_settings) as top:
        yield f"## smfparse\n\n```text\n{cli.get_help(top)}\n```\n"
        for name, command in sorted(cli.commands.items()):
            yield from _helps(command, name, top)


def _helps(command: click.Command, name: str, above: click.Context) -> Iterator[str]:
    with click.Context(command, info_name=name, parent=above) as context:
        text = command.get_help(context)
        yield f"## {context.command_path}\n\n```text\n{text}\n```\n"
        if isinstance(command, click.Group):
            for below, each in command.commands.items():
                yield from _helps(each, below, context)


def rule_reference() -> Iterator[str]:
    """Yield the diagnoses, then the rules of each subsystem, with all that is declared of them."""
    every = [*diagnoses().values(), *rules().values()]
    for subsystem, some in groupby(every, lambda each: getattr(each, "subsystem", "diagnoses")):
        yield f"## {subsystem.capitalize()}\n"
        for each in some:
            yield f"### {each.id}: {each.name}\n"
            yield f"Severity {each.severity}, {SEVERITIES[each.severity]}.\n"
            for word, text in explained(each):
                shown = f"`{text}`" if word in ("condition", "minimum") else text
                yield f"* {word}: {shown}"
            yield ""


def measure_reference() -> Iterator[str]:
    """Yield a table of the figures of compare."""
    rows = ((f"`{each.name}`", each.unit, ROW_KINDS[each.kind], each.formula) for each in MEASURES)
    yield from _table("figure|unit|of|formula", rows)


def column_dictionary() -> Iterator[str]:
    """Yield the key columns once, then every table and view with its other columns."""
    yield "## Key columns\n"
    keys = *KEY_COLUMNS, *TASK_KEYS, *STATISTICS_KEYS
    yield from _columns(_OF_TABLE, keys)
    for name in table_names():
        yield f"## {name}\n\n{title(name)}.\n"
        yield from _columns(_OF_TABLE, columns(name)[len(key_columns(name)) :])
    for each in map(view, view_names()):
        yield f"## {each.name}\n"
        yield f"View. {each.title}. Made of `{'`, `'.join(each.tables)}`.\n"
        own = (one for one in each.columns if one not in KEY_COLUMNS)
        yield from _columns(_OF_VIEW, own)


_OF_TABLE = "column|type|unit|since|field|over intervals|meaning"
_OF_VIEW = "column|type|unit|formula|meaning"
_SHOWN = {"column": "name", "type": "arrow", "field": "place", "formula": "place"}
_SHOWN |= {"over intervals": "combine", "meaning": "doc"}
"""What is under headings that are not called as it."""


def _columns(headings: str, found: Iterable[TableColumn]) -> Iterator[str]:
    names = [_SHOWN.get(each, each) for each in headings.split("|")]
    yield from _table(headings, ([getattr(each, name) or "" for name in names] for each in found))
    yield ""


def metric_reference() -> Iterator[str]:
    """Yield the measures of each subject, without means of times."""
    for each in subjects().values():
        yield f"### {each.name}\n\n{each.title}. Of `{'`, `'.join(each.tables)}`.\n"
        measures = (one for one in each.measures.values() if one.doc != AVERAGE)
        rows = ((one.name, one.unit, one.formula, one.doc) for one in measures)
        yield from _table("measure|unit|formula|meaning", rows)
        yield ""


_DECLARED = (*(Report, Figure, Rule, Subject, Diagnosis), *(Policy, Silence))
PARTS: dict[str, Callable[[], Iterator[str]]] = {
    "columns": column_dictionary,
    "reports": report_reference,
    "commands": command_reference,
    "measures": measure_reference,
    "metrics": metric_reference,
    "metric_keys": partial(keys, Measure),
    "rules": rule_reference,
    **{f"{each.__name__.lower()}_keys": partial(keys, each) for each in _DECLARED},
}


def rebuilt(text: str) -> str:
    """Return a page with its generated parts written anew."""

    def part(found: re.Match[str]) -> str:
        start, name, end = found.groups()
        return f"{start}\n{chr(10).join(PARTS[name]()).strip()}\n\n{end}"

    return _PART.sub(part, text)


def made(page: Path) -> dict[Path, str]:
    """Return a page and its pictures, by path, as they should be now."""
    if page.suffix == NOTEBOOK:
        return {page: notebooks.rerun(page)}
    text = rebuilt(page.read_text(encoding="utf-8"))
    if page.name not in UNTRIED:
        typed.try_lines(text)
    if page not in RUN:
        return {page: text}
    text, pictures = pages.rerun(page, text, samples=page not in STORIES)
    return {page: text, **pictures}


def is_as(path: Path, wanted: str) -> bool:
    """Whether a file is as wanted; pictures are compared by their words, where they have some."""
    if not path.exists():
        return False
    text = path.read_text(encoding="utf-8")
    if path.suffix == NOTEBOOK:
        return bool(notebooks.without_pictures(text) == notebooks.without_pictures(wanted))
    return pages.words(text) == pages.words(wanted) if path.suffix == ".svg" else text == wanted


def main() -> None:
    """Write or check every page."""
    check = "--check" in sys.argv
    stale = []
    found = sorted({*DOCS.glob("*.md"), *DOCS.glob(f"notebooks/*{NOTEBOOK}"), *RUN})
    with ProcessPoolExecutor(2, get_context("spawn")) as pool:  # a page runs in a folder of its own
        for path, wanted in chain.from_iterable(each.items() for each in pool.map(made, found)):
            if is_as(path, wanted):
                continue
            stale.append(path)
            if not check:
                path.parent.mkdir(exist_ok=True)
                path.write_text(wanted, encoding="utf-8")
            elif path.exists():
                texts = (path.read_text(encoding="utf-8"), wanted)
                print(*difflib.unified_diff(*(text.splitlines() for text in texts)), sep="\n")
    if stale and check:
        sys.exit(f"docs: {', '.join(each.name for each in stale)} out of date; run make docs")
    print(f"docs: {'written' if stale else 'up to date'}")


if __name__ == "__main__":
    main()
