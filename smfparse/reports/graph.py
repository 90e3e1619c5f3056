"""A report whose rows are edges as a graph: in the language of Graphviz, and of Mermaid."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from smfparse.rendering.formats import DOT, MERMAID
from smfparse.rendering.guard import visible
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
"""Shape of each kind of node in DOT, and the brackets around its text in Mermaid."""
_BOX = ("box", "[", "]")


class _Language(NamedTuple):
    """The syntax of a language for graphs; id, node and edge are format strings.

    begin, end  lines before and after the graph
    id          id of a node, from its number and its names
    node        line of a node, from its id, text and shape
    edge        line of an edge, from the ids of two nodes and the messages
    line        separator of the lines of a text
    escapes     characters with a meaning in the language, and their escapes
    """

    begin: tuple[str, ...]
    id: str
    node: str
    edge: str
    end: tuple[str, ...]
    line: str
    escapes: dict[str, str]


_LANGUAGES = {
    DOT: _Language(
        begin=("digraph flow {", "  rankdir=LR;"),
        id='"{1}"',
        node='{0} [shape={2}, label="{1}"];',
        edge='{} -> {} [label="{}"];',
        end=("}",),
        line="\\n",
        escapes={"\\": "\\\\", '"': '\\"'},
    ),
    MERMAID: _Language(
        begin=("flowchart LR",),
        id="n{0}",
        node='{0}{3}"{1}"{4}',
        edge="{0} -->|{2}| {1}",
        end=(),
        line="<br>",
        escapes={each: f"#{ord(each)};" for each in "#\"&<>'`\\"},
    ),
}


class Node(NamedTuple):
    """A source or target of messages; `place` is the scope in which its name is unique."""

    kind: str
    name: str
    place: str


class Edge(NamedTuple):
    """Messages from one node to another."""

    start: Node
    end: Node
    messages: int


def has_edges(which: Report) -> bool:
    """Whether a report's rows can be drawn, so that `dot` and `mermaid` are possible formats."""
    return {f"{end}_{part}" for end in _ENDS for part in _PARTS} <= {
        each.name for each in which.figures
    }


def graph_lines(rows: Iterable[Row], language: str) -> Iterator[str]:
    """Yield a graph in DOT or MERMAID; each node once, and edges in the order of rows.

    The edges of several sections form one graph.
    """
    of = _LANGUAGES[language]
    escapes = str.maketrans(of.escapes)
    ids: dict[Node, str] = {}
    yield from of.begin
    for *ends, messages in edges_of(rows):
        for node in ends:
            if node not in ids:
                kind, *names = (each.translate(escapes) for each in node)
                ids[node] = of.id.format(len(ids), " ".join(filter(None, (kind, *names))))
                text = of.line.join(filter(None, names))
                shape = _SHAPES.get(node.kind, _BOX)
                yield f"  {of.node.format(ids[node], text, *shape)}"
        yield f"  {of.edge.format(*(ids[each] for each in ends), messages)}"
    yield from of.end


def edges_of(rows: Iterable[Row]) -> Iterator[Edge]:
    """Yield the edges among rows."""
    for row in rows:
        if row["line"] == _EDGE:
            yield Edge(_node(row, "from"), _node(row, "to"), row["messages"])


def _node(row: Row, end: str) -> Node:
    return Node(*(visible(row[f"{end}_{part}"] or "") for part in _PARTS))
