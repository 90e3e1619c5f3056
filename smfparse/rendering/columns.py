"""Tables of aligned text: the cells of a column below each other, two blanks between columns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from smfparse.rendering.document import Cells, Column
from smfparse.rendering.guard import visible


def aligned(
    columns: Sequence[Column], rows: Iterable[Cells], *, heading: bool = True
) -> Iterator[str]:
    """Yield one line per row, after one of headings; all rows are read first, for their widths."""
    headings = [[each.heading for each in columns]] if heading else []
    lines = [[*map(visible, cells)] for cells in (*headings, *rows)]
    widths = [max(map(len, cells)) for cells in zip(*lines, strict=True)]
    for line in lines:
        cells = (
            cell.rjust(width) if column.right else cell.ljust(width)
            for cell, width, column in zip(line, widths, columns, strict=True)
        )
        yield "  ".join(cells).rstrip()
