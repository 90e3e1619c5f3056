"""The format JSON lines: one object per line, for programs that read line by line.

The object of a row starts with the names and values of `Facts.head`. Without rows, the first line
contains the names and values of `head` except lists of objects. Each object of a list is a further
line, under the name of the list.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from smfparse.rendering.document import Document, Facts, Frames
from smfparse.rendering.figures import json_visible
from smfparse.rendering.json import json_lines, plain


def lines(document: Document) -> Iterator[str]:
    """Yield the lines of a document; for frames, each item contains many lines."""
    for facts in document.facts():
        parts = _of_frames(facts) if isinstance(facts, Frames) else _of_facts(facts)
        yield from parts


def _of_frames(table: Frames) -> Iterator[str]:
    for frame in table.frames:
        if frame.height:
            yield json_lines(frame, table.local).removesuffix("\n")


def _of_facts(facts: Facts) -> Iterator[str]:
    if facts.rows is not None:
        yield from (_line({**facts.head, **row}) for row in facts.rows)
        return
    lists = {name: each for name, each in facts.head.items() if _has_objects(each)}
    if first := {name: each for name, each in facts.head.items() if name not in lists}:
        yield _line(first)
    for name, objects in lists.items():
        yield from (_line({name: each}) for each in objects)


def _has_objects(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(each, dict) for each in value)


def _line(value: Any) -> str:
    return json_visible(json.dumps(plain(value)))
