"""The format JSON: the facts of a result; of rows of a query an array with an object a row."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING

from smfparse.rendering.document import Document, Facts, Frames
from smfparse.rendering.guard import json_visible

if TYPE_CHECKING:
    import polars as pl


def lines(document: Document) -> Iterator[str]:
    """Yield a value, or as many as there are results; rows as they come."""
    for facts in document.facts():
        parts = _of_frames(facts) if isinstance(facts, Frames) else _of_facts(facts)
        yield from map(json_visible, parts)


def _of_facts(facts: Facts) -> Iterator[str]:
    if facts.rows is None:
        yield json.dumps(facts.head, indent=facts.indent)
        return
    names = "".join(
        f"{json.dumps(name)}: {json.dumps(each)}, " for name, each in facts.head.items()
    )
    opened = before = f'{{{names}"rows": ['
    for row in facts.rows:
        yield f"{before}\n{json.dumps(row)}"
        before = ","
    yield f"{before}]}}" if before == opened else "]}"


def json_lines(frame: pl.DataFrame) -> str:
    """Return rows as JSON lines: an object a row."""
    return json_visible(frame.write_ndjson())


def with_local_times(frame: pl.DataFrame) -> pl.DataFrame:
    """Return rows with moments without a zone as texts in ISO's form: JSON has no other."""
    import polars as pl

    return frame.with_columns(pl.col(pl.Datetime("us", None)).dt.to_string("iso:strict"))


def _of_frames(table: Frames) -> Iterator[str]:
    found = "["
    for frame in table.frames:
        rows = with_local_times(frame).write_json()[1:-1]
        if rows and found != "[":
            yield f"{found},"
            found = ""
        found += rows
    yield f"{found}]"
