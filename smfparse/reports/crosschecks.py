"""Checks across the keys of a report's declaration: every used name must be declared."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from string import Formatter
from typing import TYPE_CHECKING, TypeAlias

from smfparse.declarations import Where
from smfparse.decoding.dictionary import columns
from smfparse.errors import RequestError
from smfparse.planning.plans import planner, wanted
from smfparse.rendering.figures import NUMBERS
from smfparse.reports.options import OPTIONS
from smfparse.reports.sections import CSV_KEYS, OF_TASKS, SECTION_COLUMNS, TEMPLATE_KEYS

if TYPE_CHECKING:
    from smfparse.reports.declaration import Report

_Uses: TypeAlias = Iterator[tuple[str, str, Collection[str], Collection[str]]]
"""For each key that uses names: the key, the kind of the names, the names, all valid names."""
_CONDITIONS = re.compile(r"((?:\{\?(?:\w+|\*)\})*)(.*)")
"""A line of a template: the conditions at its start, and the rest of the line."""


def check(which: Report, where: Where) -> None:
    """Raise RequestError if keys of a declaration, each valid by itself, do not fit together."""
    if not which.tables:
        raise where.at("tables").wrong("empty; name the tables that the SQL reads")
    if not (which.text or which.blocks):
        raise where.at("text").wrong("missing; add text or blocks")
    for uses in (
        _tables(which),
        _lines(which),
        _planned(which),
        _options(which),
        _figures(which, where),
    ):
        for key, what, names, there in uses:
            for name in names:
                where.at(key).check(what, name, there)
    try:
        which.values({})
    except RequestError as error:
        raise where.at("options").wrong(str(error)) from error


def _tables(which: Report) -> _Uses:
    yield "main", "table of `tables`", which.main, which.tables
    yield "grouped", "table of `tables`", which.grouped, which.tables
    for table, names in which.grouped.items():
        yield (
            f"grouped.{table}",
            "column",
            names,
            [*(each.name for each in columns(table)), OF_TASKS],
        )


def _lines(which: Report) -> _Uses:
    lines = (*which.text, *which.blocks)
    yield "text_only", "kind of line", which.text_only, lines
    yield "csv_lines", "kind of line", which.csv_lines, lines
    for header, key in which.csv_keys.items():
        yield f"csv_keys.{header}", "key of a section", [key], CSV_KEYS


def _planned(which: Report) -> _Uses:
    figures = [each.name for each in which.figures]
    yield "planned", "kind of line", which.planned, (*which.text, *which.blocks)
    for line, each in which.planned.items():
        there = [one.name for one in wanted(planner(each.planner).asked)]
        yield f"planned.{line}.inputs", f"input of the planner {each.planner}", each.inputs, there
        yield f"planned.{line}.figures", "figure", each.figures, figures


def _options(which: Report) -> _Uses:
    for name in which.options:
        yield f"options.{name}", "option", [name], OPTIONS
    for name in which.choices:
        yield f"choices.{name}", "option of `options`", [name], which.options
    yield "required", "option of `options`", which.required, which.options


def _figures(which: Report, where: Where) -> _Uses:
    figures = [each.name for each in which.figures]
    shown = (*figures, *TEMPLATE_KEYS)
    yield "findings", "figure", which.findings, figures
    numbers = [each.name for each in which.figures if each.style in NUMBERS]
    yield "ranked", "figure that is a number", [which.ranked] if which.ranked else [], numbers
    for name in figures:
        if name in SECTION_COLUMNS and not (which.across and name in ("system", "qmgr")):
            raise where.at(f"figures.{name}").wrong("a key of sections; give it another name")
    for line, template in which.text.items():
        place = where.at(f"text.{line}" if line else "text")
        for text in template.splitlines():
            conditions, rest = _CONDITIONS.fullmatch(text).groups()  # type: ignore[union-attr]
            yield place.key, "figure", re.findall(r"\w+", conditions), figures
            yield place.key, "figure", _placeholders(rest, place), shown
    for line, block in which.blocks.items():
        place = where.at(f"blocks.{line}.columns")
        for name, _, how in block.columns:
            yield place.key, "figure", [name], shown
            _check_format(how, place)


def _placeholders(template: str, where: Where) -> list[str]:
    try:
        parts = list(Formatter().parse(template))
    except ValueError as error:
        raise where.wrong(f"{template!r}: {error}; write {{name:>8}}, and {{{{ for {{") from error
    for _, _, how, _ in parts:
        _check_format(how or "", where)
    return [name for _, name, _, _ in parts if name is not None]


def _check_format(how: str, where: Where) -> None:
    try:
        format("", how)
    except ValueError as error:
        raise where.wrong(f"format {how!r}: {error}; write >8 or <8") from error
