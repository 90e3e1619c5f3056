"""How Python displays results: as tables in a notebook, otherwise as text."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from smfparse.rendering.html import part_lines
from smfparse.rendering.text import lines

if TYPE_CHECKING:
    from smfparse.rendering.document import Document


def notebook_html(document: Document) -> str:
    """Return a document as notebooks show it: tables without any script."""
    return "\n".join(part_lines(document))


class Shown:
    """A result that is displayed as on the command line.

    made  function that returns a new document of the result; a document can be read only once
    """

    def __init__(self, made: Callable[[], Document]) -> None:
        self._made = made

    def __repr__(self) -> str:
        return "\n".join(lines(self._made()))

    def _repr_html_(self) -> str:
        return notebook_html(self._made())
