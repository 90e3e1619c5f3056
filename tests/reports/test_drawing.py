"""The drawing of a graph: each node once, messages from left to right, whatever names there are."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import combinations
from typing import Any
from xml.etree import ElementTree as ET

from hypothesis import given
from hypothesis import strategies as st

from smfparse.reports.declaration import report
from smfparse.reports.graph import svg_lines
from smfparse.reports.sections import SECTION_COLUMNS
from tests.support.report_runs import printed
from tests.support.searching import search

SVG = "{http://www.w3.org/2000/svg}"
Edges = Sequence[tuple[str, str, int]]


def row(first: str, second: str, messages: int) -> dict[str, Any]:
    ends = {"from": first, "to": second}
    parts = {f"{end}_name": name for end, name in ends.items()}
    parts |= {f"{end}_kind": "queue" for end in ends} | {f"{end}_place": "SYSA" for end in ends}
    return {"line": "edge", "messages": messages, **parts}


def drawn(edges: Edges) -> ET.Element:
    lines = list(svg_lines(row(*each) for each in edges))
    return ET.fromstring("\n".join(line for line in lines if not line.startswith("<p>")))


def boxes(drawing: ET.Element) -> dict[str, tuple[float, float, float]]:
    """Return by node its left, its top and its right."""
    found = {}
    for group in drawing.iter(f"{SVG}g"):
        rect = group.find(f"{SVG}rect")
        name = group.find(f"{SVG}text")
        assert rect is not None
        assert name is not None
        x, y, width = (float(rect.attrib[each]) for each in ("x", "y", "width"))
        found[str(name.text)] = (x, y, x + width)
    return found


def told(drawing: ET.Element) -> list[str]:
    """Return what lines say of themselves."""
    paths = drawing.iter(f"{SVG}path")
    return [str(title.text) for path in paths for title in path.iter(f"{SVG}title")]


def test_of_a_circle_the_edge_with_the_fewest_messages_goes_back() -> None:
    drawing = drawn([("A", "B", 5), ("B", "C", 7), ("C", "A", 3)])
    where = boxes(drawing)
    assert where["A"][2] < where["B"][0] < where["B"][2] < where["C"][0]
    dashed = [path for path in drawing.iter(f"{SVG}path") if "stroke-dasharray" in path.attrib]
    assert len(dashed) == 1
    assert told(drawing) == ["B to C: 7", "A to B: 5", "C to A: 3"]


def test_of_very_many_edges_the_most_are_drawn_and_without_an_edge_nothing() -> None:
    assert list(svg_lines([])) == list(svg_lines([{"line": "queue"}])) == []
    lines = list(svg_lines(row("A", f"Q{number}", number + 1) for number in range(400)))
    assert lines[0] == "<p>The 150 of 400 edges with the most messages.</p>"
    assert "A to Q399: 400" in "".join(lines)
    assert "A to Q249: 250" not in "".join(lines)


def test_names_are_nothing_but_names() -> None:
    hostile = "<script>alert(1)</script>&\"'"
    text = "".join(svg_lines([row(hostile, "\x1b]8;;x", 1)]))
    assert "<script" not in text
    assert "\x1b" not in text
    assert hostile in boxes(drawn([(hostile, "Q", 1)]))


def test_the_page_of_flow_has_it_above_its_tables_and_markdown_has_not() -> None:
    which = report("flow")
    keys = dict.fromkeys([each.name for each in which.figures] + [*SECTION_COLUMNS])
    keys |= {"section": {"input_no": 0}, "utc_offset": 0}
    rows = [keys | row("A", "Q", 5), keys | row("Q", "B", 5)]
    page = "\n".join(printed(which, rows, "html"))
    assert page.index("<svg") < page.index("<table")
    assert "<svg" not in "\n".join(printed(which, rows, "md"))


NODE = st.text("ABCDEF", min_size=1, max_size=2)
EDGE = st.tuples(NODE, NODE, st.integers(0, 10**9))


@search(60)
@given(st.lists(EDGE, min_size=1, max_size=40, unique_by=lambda each: each[:2]))
def test_any_graph_can_be_drawn(edges: Edges) -> None:
    drawing = drawn(edges)
    where = boxes(drawing)
    assert where.keys() == {name for *ends, _ in edges for name in ends}
    assert len(told(drawing)) == len(edges)
    for (left, top, right), (other, above, end) in combinations(where.values(), 2):
        assert right <= other or end <= left or abs(top - above) >= 40
    width, height = (float(drawing.attrib[each]) for each in ("width", "height"))
    assert all(right <= width and top + 40 <= height for _, top, right in where.values())
    lines = " ".join(path.attrib["d"] for path in drawing.iter(f"{SVG}path"))
    numbers = [float(each) for each in re.findall(r"-?\d+", lines)]
    assert min(numbers) >= -75
    assert max(numbers) <= max(width, height) + 75


def test_numbers_of_lines_that_cross_stand_apart() -> None:
    edges = [(first, second, 1_129_005) for first, second in ("QD", "PC", "BQ", "DX", "AQ", "PD")]
    numbers = [
        (float(each.attrib["x"]), float(each.attrib["y"]), 7 * len(str(each.text)))
        for each in drawn(edges).iter(f"{SVG}text")
        if "paint-order" in each.attrib
    ]
    assert len(numbers) == len(edges)
    for (x, y, width), (other_x, other_y, other_width) in combinations(numbers, 2):
        assert abs(x - other_x) >= (width + other_width) / 2 - 1 or abs(y - other_y) >= 12
