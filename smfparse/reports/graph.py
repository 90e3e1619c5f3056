"""A report whose rows are edges as a graph: in the language of Graphviz, and of Mermaid."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import NamedTuple, TypeAlias

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


class Node(NamedTuple):
    """What messages come from or go to; `place` is within what its name is that of one."""

    kind: str
    name: str
    place: str


class Edge(NamedTuple):
    """Messages from one node to another."""

    start: Node
    end: Node
    messages: int


_End: TypeAlias = tuple[Node, int]
"""A node and its number."""


def has_edges(which: Report) -> bool:
    """Whether a report's rows can be drawn: `dot` and `mermaid` are forms of it."""
    return {f"{end}_{part}" for end in _ENDS for part in _PARTS} <= {
        each.name for each in which.figures
    }


def graph_lines(rows: Iterable[Row], language: str) -> Iterator[str]:
    """Yield a graph in DOT or MERMAID; each node and its text once, edges as they come.

    Of several sections the edges are one graph.
    """
    begin, node_line, edge_line, end = _LANGUAGES[language]
    numbers: dict[Node, int] = {}
    yield from begin
    for *ends, messages in edges_of(rows):
        for each in ends:
            if each not in numbers:
                numbers[each] = len(numbers)
                yield f"  {node_line(each, numbers[each])}"
        first, second = ((each, numbers[each]) for each in ends)
        yield f"  {edge_line(first, second, messages)}"
    yield from end


def edges_of(rows: Iterable[Row]) -> Iterator[Edge]:
    """Yield the edges among rows."""
    for row in rows:
        if row["line"] == _EDGE:
            yield Edge(_node(row, "from"), _node(row, "to"), row["messages"])


def _node(row: Row, end: str) -> Node:
    return Node(*(visible(row[f"{end}_{part}"] or "") for part in _PARTS))


def _dot_node(node: Node, _number: int) -> str:
    label = "\\n".join(_quoted(each) for each in node[1:] if each)
    shape, *_ = _SHAPES.get(node.kind, _BOX)
    return f'"{_dot_name(node)}" [shape={shape}, label="{label}"];'


def _dot_edge(first: _End, second: _End, messages: int) -> str:
    return f'"{_dot_name(first[0])}" -> "{_dot_name(second[0])}" [label="{messages}"];'


def _dot_name(node: Node) -> str:
    return _quoted(" ".join(filter(None, node)))


def _quoted(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')


def _mermaid_node(node: Node, number: int) -> str:
    label = "<br>".join(_escaped(each) for each in node[1:] if each)
    _, begin, end = _SHAPES.get(node.kind, _BOX)
    return f'n{number}{begin}"{label}"{end}'


def _mermaid_edge(first: _End, second: _End, messages: int) -> str:
    return f"n{first[1]} -->|{messages}| n{second[1]}"


def _escaped(text: str) -> str:
    return "".join(_ENTITIES.get(each, each) for each in text)


class _Language(NamedTuple):
    """How a graph is written: lines in front, a node with its number, an edge, lines behind."""

    begin: tuple[str, ...]
    node: Callable[[Node, int], str]
    edge: Callable[[_End, _End, int], str]
    end: tuple[str, ...]


_LANGUAGES: Mapping[str, _Language] = {
    DOT: _Language(("digraph flow {", "  rankdir=LR;"), _dot_node, _dot_edge, ("}",)),
    MERMAID: _Language(("flowchart LR",), _mermaid_node, _mermaid_edge, ()),
}
