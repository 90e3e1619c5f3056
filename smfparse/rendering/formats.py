"""The output formats by name. Each format is a module of this package, loaded on first use."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from smfparse.rendering.document import Document

FORMATS: Mapping[str, str] = {
    "text": "aligned columns, for a terminal",
    "csv": "one table, for a spreadsheet",
    "json": "names and values, for a program",
    "jsonl": "one JSON object per line, for a program that reads line by line",
    "md": "Markdown tables, for an issue or a wiki",
    "html": "one page, for a browser",
}
"""Purpose of each format; the module of the format has a function `lines(document)`."""
TEXT, HTML = "text", "html"
PARQUET = "parquet"
"""The binary format of rows: `report` and `sql` write it themselves."""
XLSX = "xlsx"
"""The format of a workbook of tables: `xlsx.write_workbook` writes it."""
SVG, PNG = "svg", "png"
"""The formats of drawings: `plot` writes them itself."""
DOT, MERMAID = "dot", "mermaid"
"""Formats of reports whose rows are edges: languages for graphs."""


def lines(document: Document, format: str) -> Iterator[str]:  # noqa: A002 - the same name everywhere
    """Yield the lines of a document in a format of FORMATS; an item can contain several lines."""
    written: Iterator[str] = import_module(f"smfparse.rendering.{format}").lines(document)
    return written
