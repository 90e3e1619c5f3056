"""A report whose rows are edges as a graph: in the language of Graphviz, and of Mermaid."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import NamedTuple

from smfparse.rendering import DOT, MERMAID, visible
from smfparse.reports.declaration import Report
from smfparse.reports.running import Row

_ENDS = ("from", "to")
_PARTS = ("kind", "name", "place")
_EDGE = "edge"
"""The kind of line whose rows are edges."""
_SHAPES = {
    "queue": ("cylinder", "[(", ")]"),
    "channel": ("ellipse", "([", "])"),
    "queue manager": ("folder", "[[", "]]"),
}
"""By kind of node: its shape in DOT, and what is around its text in Mermaid."""
_BOX = ("box", "[", "]")
_ENTITIES = {each: f"#{ord(each)};" for each in "#\"&<>'`\\"}
"""Characters that Mermaid, or the page that it draws in, would take for something else."""


class _Node(NamedTuple):
    """What messages come from or go to; `place` is within what its name is that of one."""

    kind: str
    name: str
    place: str


def has_edges(which: Report) -> bool:
    """Whether a report's rows can be drawn: `dot` and `mermaid` are forms of it."""
    return {f"{end}_{part}" for end in _ENDS for part in _PARTS} <= {
        each.name for each in which.figures
    }


def graph_lines(rows: Iterable[Row], language: str) -> Iterator[str]:
    """Yield a graph in DOT or MERMAID; each node and its text once, edges as they come.

    Of several sections the edges are one graph.
    """
    return _LANGUAGES[language](
        (_node(row, "from"), _node(row, "to"), row["messages"])
        for row in rows
        if row["line"] == _EDGE
    )


def _node(row: Row, end: str) -> _Node:
    return _Node(*(visible(row[f"{end}_{part}"] or "") for part in _PARTS))


def _dot(edges: Iterable[tuple[_Node, _Node, int]]) -> Iterator[str]:
    yield "digraph flow {"
    yield "  rankdir=LR;"
    known: set[_Node] = set()
    for first, second, messages in edges:
        for node in (first, second):
            if node not in known:
                known.add(node)
                label = "\\n".join(_quoted(each) for each in node[1:] if each)
                shape, *_ = _SHAPES.get(node.kind, _BOX)
                yield f'  "{_dot_name(node)}" [shape={shape}, label="{label}"];'
        yield f'  "{_dot_name(first)}" -> "{_dot_name(second)}" [label="{messages}"];'
    yield "}"


def _dot_name(node: _Node) -> str:
    return _quoted(" ".join(filter(None, node)))


def _quoted(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')


def _mermaid(edges: Iterable[tuple[_Node, _Node, int]]) -> Iterator[str]:
    yield "flowchart LR"
    numbers: dict[_Node, int] = {}
    for first, second, messages in edges:
        for node in (first, second):
            if node not in numbers:
                numbers[node] = len(numbers)
                label = "<br>".join(_escaped(each) for each in node[1:] if each)
                _, begin, end = _SHAPES.get(node.kind, _BOX)
                yield f'  n{numbers[node]}{begin}"{label}"{end}'
        yield f"  n{numbers[first]} -->|{messages}| n{numbers[second]}"


def _escaped(text: str) -> str:
    return "".join(_ENTITIES.get(each, each) for each in text)


_LANGUAGES: Mapping[str, Callable[[Iterable[tuple[_Node, _Node, int]]], Iterator[str]]] = {
    DOT: _dot,
    MERMAID: _mermaid,
}
