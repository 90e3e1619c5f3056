"""The output formats by name. Each format is a module of this package, loaded on first use.

An optional library converts SVG drawings to PNG.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from importlib import import_module
from typing import TYPE_CHECKING

from smfparse.errors import RequestError, install_command

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


_ZOOM = 2
"""Factor from the size of the SVG to the size of the PNG."""


def png_maker() -> Callable[[Iterable[str]], bytes]:
    """Return a function from the lines of an SVG to the bytes of a PNG, with the system's fonts.

    Raises RequestError if resvg_py is not installed.
    """
    try:
        import resvg_py
    except ImportError:
        raise RequestError(
            f"PNG requires resvg_py: {install_command('resvg_py')}; SVG does not"
        ) from None

    def made(lines: Iterable[str]) -> bytes:
        return bytes(resvg_py.svg_to_bytes(svg_string="\n".join(lines), zoom=_ZOOM))

    return made
