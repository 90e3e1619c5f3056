"""The format JSON: the facts of a result, or for a query an array with one object per row.

Integers beyond 2^53 are texts, because most programs would read them as doubles. A local time
contains its offset from UTC, if known.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from smfparse.rendering.document import Document, Facts, Frames
from smfparse.rendering.figures import json_visible

if TYPE_CHECKING:
    import polars as pl


_MOST = 1 << 53
"""Maximum integer up to which a double represents every integer exactly."""
_LONG = r"(-?\d{16,})(?=[,}\n])"
"""Regular expression for an integer value in JSON that may be greater than _MOST."""
_OFFSET = "utc_offset"
"""Name of the column with the offset from UTC of the local times in a row, in seconds."""


def plain(value: Any) -> Any:
    """Return a value for JSON; integers that other programs would round become texts."""
    if isinstance(value, dict):
        return {name: plain(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    is_long = isinstance(value, int) and not -_MOST <= value <= _MOST
    return str(value) if is_long else value


def lines(document: Document) -> Iterator[str]:
    """Yield the JSON of each item of `facts`, row by row."""
    for facts in document.facts():
        parts = _of_frames(facts) if isinstance(facts, Frames) else _of_facts(facts)
        yield from map(json_visible, parts)


def _of_facts(facts: Facts) -> Iterator[str]:
    if facts.rows is None:
        yield json.dumps(plain(facts.head), indent=facts.indent)
        return
    names = "".join(
        f"{json.dumps(name)}: {json.dumps(plain(each))}, " for name, each in facts.head.items()
    )
    opened = before = f'{{{names}"rows": ['
    for row in facts.rows:
        yield f"{before}\n{json.dumps(plain(row))}"
        before = ","
    yield f"{before}]}}" if before == opened else "]}"


def json_lines(frame: pl.DataFrame, local: frozenset[str] = frozenset()) -> str:
    """Return rows as JSON lines: one object per row.

    local  as in `Frames`
    """
    timed = _with_local_times(frame, local)
    return json_visible(_without_long_integers(timed.write_ndjson(), timed))


def _with_local_times(frame: pl.DataFrame, local: frozenset[str]) -> pl.DataFrame:
    """Return rows in which times without a zone are texts in ISO form.

    Times in the columns `local` get the offset from UTC in their row, unless it is null.
    """
    import polars as pl

    plain_times = pl.col(pl.Datetime("us", None))
    names = [name for name in frame.select(plain_times).columns if name in local]
    moments = plain_times.dt.to_string("iso:strict")
    if not names or not frame.schema.get(_OFFSET, pl.String).is_integer():
        return frame.with_columns(moments)
    ahead = pl.col(_OFFSET)
    size = ahead.abs()
    hours, minutes = (
        each.cast(pl.String).str.zfill(2) for each in (size // 3600, size % 3600 // 60)
    )
    sign = pl.when(ahead < 0).then(pl.lit("-")).otherwise(pl.lit("+"))
    offset = pl.concat_str(sign, hours, pl.lit(":"), minutes).fill_null("")
    return frame.with_columns(moments).with_columns(pl.col(names) + offset)


def _without_long_integers(text: str, frame: pl.DataFrame) -> str:
    """Return `text`, the JSON of the rows `frame`, with integers beyond _MOST as texts."""
    import polars as pl

    for column in frame.select(pl.col(pl.Int64, pl.UInt64, pl.Int128)):
        low, high = column.min(), column.max()
        if low is not None and (low < -_MOST or high > _MOST):  # type: ignore[operator]
            name = json.dumps(column.name, ensure_ascii=False)
            text = re.sub(f"({re.escape(name)}:){_LONG}", _quoted, text)
    return text


def _quoted(found: re.Match[str]) -> str:
    name, number = found.groups()
    return found[0] if -_MOST <= int(number) <= _MOST else f'{name}"{number}"'


def _of_frames(table: Frames) -> Iterator[str]:
    found = "["
    for frame in table.frames:
        timed = _with_local_times(frame, table.local)
        rows = _without_long_integers(timed.write_json(), timed)[1:-1]
        if rows and found != "[":
            yield f"{found},"
            found = ""
        found += rows
    yield f"{found}]"
