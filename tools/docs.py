"""Write the generated parts of docs/ (`make docs`), or check that they are up to date (--check).

A generated part stands between the lines `<!-- generated: NAME -->` and `<!-- end -->`.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import click

from smfparse import columns, forms, reports, views
from smfparse.cli import main as cli
from smfparse.comparison import KINDS, MEASURES

DOCS = Path(__file__).resolve().parent.parent / "docs"
_PART = re.compile(r"(<!-- generated: (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)


def report_reference() -> Iterator[str]:
    """Yield a section for each report: its data and how each figure comes about."""
    for name in reports.names():
        which = reports.report(name)
        yield f"## {name}\n"
        yield f"{which.title}.\n"
        yield f"* Data: {which.record}, written by `{which.trace}`."
        yield f"* MP1B: {', '.join(which.dd) or 'not there'}.\n"
        yield "| figure | JSON | formula | shown | evidence | note |"
        yield "|---|---|---|---|---|---|"
        for each in which.figures:
            shown = forms.FORMS[each.form][1]
            yield (
                f"| {each.csv or '(not in CSV)'} | `{each.name}` | {each.formula} | {shown} "
                f"| {each.evidence} | {each.note} |"
            )
        yield ""


def command_reference() -> Iterator[str]:
    """Yield the help of every command."""
    with click.Context(cli, info_name="smfparse") as top:
        yield f"## smfparse\n\n```text\n{cli.get_help(top)}\n```\n"
        for name, command in sorted(cli.commands.items()):
            with click.Context(command, info_name=name, parent=top) as context:
                text = command.get_help(context)
            yield f"## smfparse {name}\n\n```text\n{text}\n```\n"


def measure_reference() -> Iterator[str]:
    """Yield a table of the figures that compare has."""
    yield "| figure | unit | of | formula |"
    yield "|---|---|---|---|"
    for each in MEASURES:
        yield f"| `{each.name}` | {each.unit} | {KINDS[each.kind]} | {each.formula} |"


def column_dictionary() -> Iterator[str]:
    """Yield every table and view with its columns; key columns once."""
    yield "## Key columns\n"
    yield from _column_table((*columns.KEYS, columns.TASK_KEY))
    for name in columns.table_names():
        yield f"## {name}\n"
        yield f"{columns.title(name)}.\n"
        keys = len(columns.keys(name))
        yield from _column_table(columns.columns(name)[keys:])
    for each in map(views.view, views.names()):
        yield f"## {each.name}\n"
        yield f"View. {each.title}. Made of `{'`, `'.join(each.tables)}`.\n"
        yield from _view_table(column for column in each.columns if column not in columns.KEYS)


def _column_table(found: Iterable[columns.TableColumn]) -> Iterator[str]:
    yield "| column | type | unit | since | field | over intervals | meaning |"
    yield "|---|---|---|---|---|---|---|"
    for each in found:
        cells = (each.name, each.arrow, each.unit, each.since, each.place, each.combine, each.doc)
        yield f"| {' | '.join(str(cell or '') for cell in cells)} |"
    yield ""


def _view_table(found: Iterable[columns.TableColumn]) -> Iterator[str]:
    yield "| column | type | unit | formula | meaning |"
    yield "|---|---|---|---|---|"
    for each in found:
        cells = (each.name, each.arrow, each.unit, each.place, each.doc)
        yield f"| {' | '.join(str(cell or '') for cell in cells)} |"
    yield ""


PARTS: dict[str, Callable[[], Iterator[str]]] = {
    "columns": column_dictionary,
    "reports": report_reference,
    "commands": command_reference,
    "measures": measure_reference,
}


def rebuilt(text: str) -> str:
    """Return a page with its generated parts made anew."""

    def part(found: re.Match[str]) -> str:
        start, name, end = found.groups()
        return f"{start}\n{chr(10).join(PARTS[name]()).strip()}\n\n{end}"

    return _PART.sub(part, text)


def main() -> None:
    """Write or check every page."""
    stale = []
    for page in sorted(DOCS.glob("*.md")):
        text = page.read_text(encoding="utf-8")
        wanted = rebuilt(text)
        if wanted != text:
            stale.append(page.name)
            if "--check" not in sys.argv:
                page.write_text(wanted, encoding="utf-8")
    if stale and "--check" in sys.argv:
        sys.exit(f"docs: {', '.join(stale)} out of date: run make docs")
    print(f"docs: {'written' if stale else 'up to date'}")


if __name__ == "__main__":
    main()
