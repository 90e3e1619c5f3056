"""Folding of lines wider than the output, at the same columns for all lines of a table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

_INDENT = 6
"""Blanks in front of what goes on."""


def folded(text: str, starts: Sequence[int], width: int | None) -> Iterator[str]:
    """Yield a line in pieces that fit; all lines of a table are cut at the same columns.

    starts  where its columns begin; where none begins that fits, it is cut at a blank
    width   characters of a line; None: any number
    """
    begin = indent = 0
    while width is not None and len(text) - begin + indent > width:
        room = begin + width - indent
        at = max((each for each in starts if begin < each <= room), default=begin)
        if at == begin or not text[at - 1].isspace():
            at = text.rfind(" ", begin + 1, room + 1) + 1 or room
        yield f"{' ' * indent}{text[begin:at].rstrip()}"
        begin, indent = at, _INDENT
    yield f"{' ' * indent}{text[begin:]}"
