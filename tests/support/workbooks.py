"""Workbooks as another program reads them."""

from __future__ import annotations

import io
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import openpyxl

from smfparse.rendering.document import Document
from smfparse.rendering.xlsx import write_workbook


def read_book(source: Path | bytes) -> Any:
    """Return a workbook, of which no cell is a formula or a link."""
    book = openpyxl.load_workbook(io.BytesIO(source) if isinstance(source, bytes) else source)
    for sheet in book:
        kinds = {cell.data_type for row in sheet.iter_rows() for cell in row}
        assert kinds <= {"s", "n", "d", "b"}
        assert not any(cell.hyperlink for row in sheet.iter_rows() for cell in row)
    return book


def sheets(source: Path | bytes) -> dict[str, list[tuple[Any, ...]]]:
    return {sheet.title: [*sheet.iter_rows(values_only=True)] for sheet in read_book(source)}


def made(documents: Iterable[Document]) -> tuple[dict[str, list[tuple[Any, ...]]], list[str]]:
    """Return the sheets of documents, and what is said of them."""
    file = io.BytesIO()
    messages = write_workbook(documents, file)
    return sheets(file.getvalue()), messages
