"""Answers as a document: figures and inputs of each queue manager, then their sources."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any

from smfparse.planning.answering import MEASURED, PUBLISHED, Answer
from smfparse.planning.plans import Figure, Planner, option, said, wanted
from smfparse.rendering.document import Column, Document, Facts, Section, Table, Values
from smfparse.rendering.figures import ABSENT, with_decimals
from smfparse.rendering.text import aligned

_FIGURES = (Column("Figure"), Column("Value", right=True), Column("Unit"), Column("How"))
_INPUTS = (Column("Input"), Column("Value", right=True), Column("Unit"), Column("From"))
_CSV = (
    *("system", "qmgr", "planner", "kind", "name", "label", "now", "value", "low", "high", "rough"),
    *("unit", "how"),
)


class CapacityDocument(Document):
    """The answers of a planner."""

    def __init__(self, which: Planner, found: Sequence[Answer]) -> None:
        self.title = which.title
        self._planner = which
        self._answers = found

    def printed(self) -> Iterator[str]:
        """Yield the lines of text: sections whose sentences are wrapped."""
        for number, section in enumerate(self.sections()):
            if number:
                yield ""
            yield section.title
            for note in section.notes:
                yield from _wrapped(note, self.room)
            for table in section.tables:
                yield ""
                yield from aligned(table.columns, table.rows)

    def sections(self) -> Iterator[Section]:
        """Yield a section for each answer, then sources, valid range and limitations."""
        for each in self._answers:
            tables = [_figure_table(each), Table(_INPUTS, _input_rows(each))]
            yield Section(f"{self.title}: {each.whose}", tables, notes(each))
        which = self._planner
        yield Section("Sources", notes=which.sources)
        yield Section("Valid range", notes=[which.valid_range])
        yield Section("Limitations", notes=which.limitations)

    def tables(self) -> Iterator[Values]:
        """Yield one table: figures and inputs of all answers."""
        yield Values.of(self._planner.name, _CSV, chain.from_iterable(map(_flat, self._answers)))

    def facts(self) -> Iterator[Facts]:
        """Yield the answers, with sources, valid range and limitations."""
        which = self._planner
        head = {
            "planner": which.name,
            "question": which.title,
            "answers": [_fact(each) for each in self._answers],
            "sources": list(which.sources),
            "valid_range": which.valid_range,
            "limitations": list(which.limitations),
        }
        yield Facts(head, indent=2)


def explained(which: Planner, sql: str) -> Iterator[str]:
    """Yield the lines that explain a planner: inputs, measured fields, sources, SQL."""
    yield which.title
    yield ""
    columns = (Column("Input"), Column("Published"), Column("Values"), Column("Measured from"))
    rows = [
        [option(each.name), _value(each.default), each.values, each.ask.measured]
        for each in wanted(which.asked)
    ]
    yield from aligned(columns, rows)
    for title, lines in (
        ("Sources", which.sources),
        ("Valid range", [which.valid_range]),
        ("Limitations", which.limitations),
        ("Required trace", [which.trace]),
    ):
        yield from ("", title)
        for line in lines:
            yield from _wrapped(line, Document.room)
    yield from ("", "SQL of the measurement", *(f"  {line}".rstrip() for line in sql.splitlines()))


def _wrapped(text: str, room: int) -> Sequence[str]:
    return textwrap.wrap(
        text, room, initial_indent="  ", subsequent_indent="  ", break_on_hyphens=False
    )


def shown(figure: Figure) -> str:
    """Return the value of a figure as text for people, with its interval."""
    if figure.rough:
        return f"about {float(f'{figure.value:.0e}'):,g}"
    text = with_decimals(figure.value, figure.decimals)
    if figure.interval is None:
        return text
    low, high = (with_decimals(each, figure.decimals) for each in figure.interval)
    return f"{text} ({low} to {high})"


def notes(found: Answer) -> list[str]:
    """Return sentences about an answer: inputs that were not measured, and the reasons."""
    of, which = found.of, found.plan.planner
    if of is None:
        return []
    refused = sorted(of.refused.items())
    lines = [f"Measured, but not used: {option(name)}; {why}." for name, why in refused]
    if not of.system:
        lines.append(
            f"The input contains no measurements for this planner; {which.trace} writes them."
        )
    elif found.missing:
        needs = {each.name: each.ask.needs for each in wanted(which.asked)}
        names = ", ".join(
            f"{option(name)} (needs {needs[name]})" if needs[name] else option(name)
            for name in found.missing
        )
        lines.append(f"Not measured: {names}. Measurements require {which.trace}.")
    if found.missing and found.by_name:
        options = " and ".join(found.by_name)
        lines.append(f"With {options}, only rows with such a name are measured.")
    if of.intervals:
        lines.append("Values in brackets: 90% confidence interval.")
    return lines


def _figure_table(found: Answer) -> Table:
    """Return the table of figures; with a column of current values, if any figure has one."""
    figures, rows = found.plan.figures, _figure_rows(found)
    if not any(each.before is not None for each in figures):
        return Table(_FIGURES, rows)
    columns = (_FIGURES[0], Column("Now", right=True), Column("Then", right=True), *_FIGURES[2:])
    both = (
        [
            row[0],
            ABSENT if each.before is None else with_decimals(each.before, each.decimals),
            *row[1:],
        ]
        for row, each in zip(rows, figures, strict=True)
    )
    return Table(columns, both)


def _figure_rows(found: Answer) -> Iterator[list[str]]:
    for each in found.plan.figures:
        how = f"order of magnitude: {each.formula}" if each.rough else each.formula
        yield [each.label, shown(each), each.unit, how]


def _input_rows(found: Answer) -> Iterator[list[str]]:
    for each in wanted(found.plan.planner.asked):
        origin = found.origins[each.name]
        value = getattr(found.plan.asked, each.name)
        if origin == PUBLISHED and value is None:
            origin = "not given"
        if origin == MEASURED:
            origin += f": {each.ask.measured}"
        yield [option(each.name), _value(value), each.ask.unit, origin]


def _value(value: Any) -> str:
    if isinstance(value, str | None):
        return value or ABSENT
    return said(value)


def _fact(found: Answer) -> dict[str, Any]:
    of = found.of
    return {
        "system": of.system if of else None,
        "qmgr": of.qmgr if of else None,
        "about": of.about if of else "",
        "figures": [_figure_fact(each) for each in found.plan.figures],
        "inputs": [
            {
                "name": each.name,
                "value": getattr(found.plan.asked, each.name),
                "unit": each.ask.unit,
                "from": found.origins[each.name],
            }
            for each in wanted(found.plan.planner.asked)
        ],
        "notes": notes(found),
    }


def _figure_fact(figure: Figure) -> dict[str, Any]:
    low, high = figure.interval or (None, None)
    return {
        "name": figure.name,
        "label": figure.label,
        "now": figure.before,
        "value": figure.value,
        "low": low,
        "high": high,
        "rough": figure.rough,
        "unit": figure.unit,
        "formula": figure.formula,
    }


def _flat(found: Answer) -> Iterator[dict[str, Any]]:
    fact = _fact(found)
    head = {"system": fact["system"], "qmgr": fact["qmgr"], "planner": found.plan.planner.name}
    for row in fact["figures"]:
        yield head | row | {"kind": "figure", "how": row["formula"]}
    blank = dict.fromkeys(_CSV)
    for row in fact["inputs"]:
        yield blank | head | row | {"kind": "input", "how": row["from"]}
