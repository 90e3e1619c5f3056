"""Graphs of reports whose rows are edges, in the languages of Graphviz and Mermaid."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from smfparse.rendering.figures import visible
from smfparse.rendering.formats import DOT, MERMAID
from smfparse.reports.declaration import Report
from smfparse.reports.running import Row

_ENDS = ("from", "to")
_PARTS = ("kind", "name", "place")
_EDGE = "edge"
"""Kind of line whose rows are edges."""
_SHAPES = {
    "queue": ("cylinder", "[(", ")]"),
    "channel": ("ellipse", "([", "])"),
    "queue manager": ("folder", "[[", "]]"),
}
"""By kind of node: the shape in DOT, and the brackets around the text of a node in Mermaid."""
_BOX = ("box", "[", "]")


class _Language(NamedTuple):
    """The syntax of a language for graphs.

    begin, end  lines before and after the graph
    id          format of the id of a node, from its number and its names
    node        format of the line of a node, from its id, text and shape
    edge        format of the line of an edge, from the ids of two nodes and the messages
    line        separator of lines within the text of a node
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
    """A source or target of messages; `place` is the scope in which `name` is unique."""

    kind: str
    name: str
    place: str


class Edge(NamedTuple):
    """Messages from one node to another."""

    start: Node
    end: Node
    messages: int


def has_edges(which: Report) -> bool:
    """Whether rows of a report are edges, so that `dot` and `mermaid` are possible formats."""
    return {f"{end}_{part}" for end in _ENDS for part in _PARTS} <= {
        each.name for each in which.figures
    }


def graph_lines(rows: Iterable[Row], language: str) -> Iterator[str]:
    """Yield the lines of a graph in DOT or MERMAID, with the edges of all sections."""
    syntax = _LANGUAGES[language]
    escapes = str.maketrans(syntax.escapes)
    ids: dict[Node, str] = {}
    yield from syntax.begin
    for *ends, messages in edges_of(rows):
        for node in ends:
            if node not in ids:
                kind, *names = (each.translate(escapes) for each in node)
                ids[node] = syntax.id.format(len(ids), " ".join(filter(None, (kind, *names))))
                text = syntax.line.join(filter(None, names))
                shape = _SHAPES.get(node.kind, _BOX)
                yield f"  {syntax.node.format(ids[node], text, *shape)}"
        yield f"  {syntax.edge.format(*(ids[each] for each in ends), messages)}"
    yield from syntax.end


def edges_of(rows: Iterable[Row]) -> Iterator[Edge]:
    """Yield the edges: the rows of the kind of line _EDGE."""
    for row in rows:
        if row["line"] == _EDGE:
            yield Edge(_node(row, "from"), _node(row, "to"), row["messages"])


def _node(row: Row, end: str) -> Node:
    return Node(*(visible(row[f"{end}_{part}"] or "") for part in _PARTS))
