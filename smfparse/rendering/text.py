"""The format text: the printed form of a result, or its sections with aligned tables."""

from __future__ import annotations

from collections.abc import Iterator

from smfparse.rendering.batches import some_at_a_time
from smfparse.rendering.columns import aligned
from smfparse.rendering.document import Document
from smfparse.rendering.guard import is_plain, visible

_AT_ONCE = 64
"""Lines that are looked at at once."""


def lines(document: Document) -> Iterator[str]:
    """Yield the lines of a document; no control character is left in them."""
    own = document.printed()
    for some in some_at_a_time(_sections(document) if own is None else own, _AT_ONCE):
        yield from some if is_plain("".join(some)) else map(visible, some)


def _sections(document: Document) -> Iterator[str]:
    """Yield headings, sentences and tables, an empty line between two."""
    before: list[str] = []
    for section in document.sections():
        if section.title:
            yield from (*before, section.title)
            before = [""]
        for note in section.notes:
            yield note
            before = [""]
        for table in section.tables:
            yield from before
            yield from aligned(table.columns, table.rows)
            before = [""]
