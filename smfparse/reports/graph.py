"""Graphs of reports whose rows are edges: in DOT (Graphviz), in Mermaid, and as SVG for HTML.

In the SVG, nodes are placed in columns, so that most messages go from left to right.
"""

from __future__ import annotations

import html
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import sqrt
from typing import NamedTuple, TypeAlias

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
    id          format of the id of a node; arguments: number, names
    node        format of the line of a node; arguments: id, text, shape of _SHAPES
    edge        format of the line of an edge; arguments: ids of both nodes, number of messages
    line        line break within the text of a node
    escapes     by character with a meaning in the language: its escape
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
    """A source or target of messages; `name` is unique in the scope `place`."""

    kind: str
    name: str
    place: str


class Edge(NamedTuple):
    """Messages from one node to another."""

    start: Node
    end: Node
    messages: int


def has_edges(which: Report) -> bool:
    """Whether a report has rows that are edges, so that it has the formats `dot` and `mermaid`."""
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


_MOST = 150
"""Maximum number of edges drawn: the edges with the most messages."""
_SWEEPS = 4
"""Number of times that the nodes of all columns are sorted by their neighbours."""
_LETTER, _PADDING = 7, 24
"""Pixels: width of a letter, and of the padding of a name in its node."""
_HEIGHT, _DOWN, _ACROSS, _EDGE_OF_PAGE = 40, 54, 130, 12
"""Pixels: height of a node, vertical distance of nodes, space between columns, page margin."""
_BELOW = 70
"""Pixels below the nodes for the lines that go to the left."""
_FAR = 0.7
"""Preferred place of a number on its line; 0: at the node with more lines, 1: at the other node."""
_ELSEWHERE = (0.5, 0.2, 0.8)
"""Further places of a number, if its preferred place is occupied."""
_DIGIT, _LINE_HEIGHT = 7, 13
"""Pixels: width and height of a digit."""
_THIN, _THICK = 1.0, 7.0
"""Pixels: minimum width of a line, and additional width of the line with the most messages."""
_LOOKS: Mapping[str, str] = {
    "queue": 'rx="4" fill="#e3ecfa" stroke="#3a66a7"',
    "channel": 'rx="20" fill="#e2f3ea" stroke="#2f7d55"',
    "queue manager": 'rx="0" fill="#fff" stroke="#6b7280" stroke-dasharray="4 3"',
}
"""Attributes by kind of node; the default is `_BOX`."""
_PLAIN_BOX = 'rx="0" fill="#f3f4f6" stroke="#4b5563"'
_INK, _LINE = "#1b1f24", "#8a929c"

Columns: TypeAlias = list[list[Node]]
Point: TypeAlias = tuple[float, float]


class Box(NamedTuple):
    """The place of a node: upper left corner and width. Of a number: left end, middle, width."""

    x: float
    y: float
    width: float

    def meets(self, other: Box) -> bool:
        """Whether numbers in these two places would overlap."""
        is_apart = self.x + self.width <= other.x or other.x + other.width <= self.x
        return not is_apart and abs(self.y - other.y) < _LINE_HEIGHT


def svg_lines(rows: Iterable[Row]) -> Iterator[str]:
    """Yield the lines of an SVG of the rows' edges; nothing if there are no edges."""
    edges = sorted(edges_of(rows), key=lambda edge: (-edge.messages, edge))
    drawn = edges[:_MOST]
    if not drawn:
        return
    boxes = _placed(_ordered(_columns(drawn), drawn))
    width = max(box.x + box.width for box in boxes.values()) + _EDGE_OF_PAGE
    height = max(box.y for box in boxes.values()) + _HEIGHT + _BELOW + _EDGE_OF_PAGE
    degree = Counter(node for edge in drawn for node in edge[:2])
    if len(drawn) < len(edges):
        yield f"<p>The {len(drawn)} of {len(edges)} edges with the most messages.</p>"
    yield (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" '
        f'viewBox="0 0 {width:.0f} {height:.0f}" role="img" aria-label="Messages between nodes" '
        f'font-family="system-ui, sans-serif" font-size="12">'
    )
    taken: list[Box] = []
    for edge in drawn:
        near = _FAR if degree[edge.start] > degree[edge.end] else 1 - _FAR
        yield from _line(edge, boxes, drawn[0].messages)
        yield _number(edge, boxes, near, taken)
    for node, box in boxes.items():
        yield from _shape(node, box)
    yield "</svg>"


def _columns(edges: Sequence[Edge]) -> Columns:
    """Return nodes in columns: each node to the right of the nodes from which it gets messages.

    In a cycle, only the edge with the fewest messages goes to the left.
    """
    after: dict[Node, set[Node]] = {}
    for first, second, _ in edges:
        if first not in _reached(second, after):
            after.setdefault(first, set()).add(second)
    column = {node: 0 for edge in edges for node in (edge.start, edge.end)}
    for _ in column:
        for first, targets in after.items():
            for second in targets:
                column[second] = max(column[second], column[first] + 1)
    found: Columns = [[] for _ in range(max(column.values()) + 1)]
    for node, number in column.items():
        found[number].append(node)
    return found


def _reached(node: Node, after: Mapping[Node, set[Node]]) -> set[Node]:
    """Return the nodes that messages can reach from a node, including itself."""
    found, waiting = {node}, [node]
    while waiting:
        new = after.get(waiting.pop(), set()) - found
        found |= new
        waiting += new
    return found


def _ordered(columns: Columns, edges: Sequence[Edge]) -> Columns:
    """Return columns sorted by the mean place of each node's neighbours, so fewer lines cross."""
    neighbours: dict[Node, list[Node]] = {}
    for first, second, _ in edges:
        neighbours.setdefault(first, []).append(second)
        neighbours.setdefault(second, []).append(first)
    for _ in range(_SWEEPS):
        place = {
            node: (number + 0.5) / len(nodes)
            for nodes in columns
            for number, node in enumerate(nodes)
        }
        middle = {
            node: sum(place[each] for each in near) / len(near) for node, near in neighbours.items()
        }
        columns = [sorted(nodes, key=lambda node: (middle[node], node)) for nodes in columns]
    return columns


def _placed(columns: Columns) -> dict[Node, Box]:
    tallest = max(map(len, columns))
    found, x = {}, float(_EDGE_OF_PAGE)
    for nodes in columns:
        width = max(map(_width, nodes))
        above = _EDGE_OF_PAGE + (tallest - len(nodes)) * _DOWN / 2
        for number, node in enumerate(nodes):
            found[node] = Box(x, above + number * _DOWN, width)
        x += width + _ACROSS
    return found


def _width(node: Node) -> float:
    return float(_PADDING + _LETTER * max(len(node.name), len(node.place)))


def _shape(node: Node, box: Box) -> Iterator[str]:
    look = _LOOKS.get(node.kind, _PLAIN_BOX)
    name, place, kind = (html.escape(each) for each in (node.name, node.place, node.kind))
    middle = box.x + box.width / 2
    yield f"<g><title>{kind} {name} {place}</title>"
    yield (
        f'<rect x="{box.x:.0f}" y="{box.y:.0f}" width="{box.width:.0f}" height="{_HEIGHT}" {look}/>'
    )
    lower = 17 if place else 24
    yield (
        f'<text x="{middle:.0f}" y="{box.y + lower:.0f}" text-anchor="middle" fill="{_INK}">'
        f"{name}</text>"
    )
    if place:
        yield (
            f'<text x="{middle:.0f}" y="{box.y + 32:.0f}" text-anchor="middle" font-size="10" '
            f'fill="{_INK}">{place}</text>'
        )
    yield "</g>"


def _line(edge: Edge, boxes: Mapping[Node, Box], most: int) -> Iterator[str]:
    points = _bend(boxes[edge.start], boxes[edge.end])
    path = "M{:.0f},{:.0f} C{:.0f},{:.0f} {:.0f},{:.0f} {:.0f},{:.0f}".format(*sum(points, ()))
    thick = _THIN + _THICK * sqrt(edge.messages / max(most, 1))
    dashes = "" if points[0][0] <= points[-1][0] else ' stroke-dasharray="7 4"'
    ends = html.escape(f"{edge.start.name} to {edge.end.name}: {edge.messages:,}")
    yield (
        f'<path d="{path}" fill="none" stroke="{_LINE}" stroke-opacity="0.6" '
        f'stroke-width="{thick:.1f}"{dashes}><title>{ends}</title></path>'
    )


def _number(edge: Edge, boxes: Mapping[Node, Box], near: float, taken: list[Box]) -> str:
    """Return the SVG of an edge's number of messages, on its line.

    near   preferred place on the line: 0 at the start, 1 at the end
    taken  places of other numbers, avoided if possible; the place of this number is added
    """
    text = f"{edge.messages:,}"
    wide = _DIGIT * len(text)
    xs, ys = zip(*_bend(boxes[edge.start], boxes[edge.end]), strict=True)
    several = [
        Box(_between(share, *xs) - wide / 2, _between(share, *ys), wide)
        for share in (near, 1 - near, *_ELSEWHERE)
    ]
    box = next((each for each in several if not any(map(each.meets, taken))), several[0])
    taken.append(box)
    x, y = box.x + wide / 2, box.y
    return (
        f'<text x="{x:.0f}" y="{y + 4:.0f}" text-anchor="middle" font-size="11" fill="{_INK}" '
        f'stroke="#fff" stroke-width="3" paint-order="stroke">{text}</text>'
    )


def _bend(first: Box, second: Box) -> tuple[Point, Point, Point, Point]:
    left, right = first.x + first.width, second.x
    if left <= right:
        top, bottom = first.y + _HEIGHT / 2, second.y + _HEIGHT / 2
        middle = (left + right) / 2
        return (left, top), (middle, top), (middle, bottom), (right, bottom)
    left, right = first.x + first.width / 2, second.x + second.width / 2
    top, bottom = first.y + _HEIGHT, second.y + _HEIGHT
    below = max(top, bottom) + _BELOW
    return (left, top), (left, below), (right, below), (right, bottom)


def _between(share: float, start: float, first: float, second: float, end: float) -> float:
    """Return the coordinate on a cubic curve at parameter `share`, 0 to 1, from four points."""
    rest = 1 - share
    return (
        rest**3 * start
        + 3 * rest**2 * share * first
        + 3 * rest * share**2 * second
        + share**3 * end
    )
