"""Changes of Python, found in its syntax tree.

Left alone is what no figure depends on: annotations, decorators, docstrings, messages (f-strings,
and what is raised), assertions, `__all__`.
"""

from __future__ import annotations

import ast
import io
import tokenize
from bisect import bisect_left
from itertools import accumulate, pairwise

from mutation.mutant import Change, becoming, swapped

OPERATORS = becoming(
    "== -> !=; != -> ==; < -> <=, >; <= -> <, >; > -> >=, <; >= -> >, <; is -> is not; "
    "is not -> is; in -> not in; not in -> in; and -> or; or -> and; + -> -; - -> +; * -> //; "
    "/ -> *; // -> *; % -> //; << -> >>; >> -> <<; & -> |; | -> &; ^ -> |; ** -> *"
)
FUNCTIONS = swapped(
    "min max, any all, minimum maximum, argmin argmax, floor ceil, startswith endswith"
) | {"popleft": "pop"}
STRINGS = swapped("left right")
"""Which side `searchsorted` takes."""
SPEED_ONLY = {"copy", "strict"}
"""Arguments that never change a result of code that is right."""
_WITHOUT_OPERATOR = ast.Name | ast.Call | ast.Attribute | ast.Subscript | ast.NamedExpr
_NO_CODE = {"annotation", "returns", "decorator_list"}
_SEQUENCES = ast.List | ast.Tuple | ast.Dict | ast.Set | ast.JoinedStr | ast.ListComp


def changes_of_python(source: bytes) -> list[Change]:
    """Return all changes of a module."""
    finder = _Finder(source)
    finder.visit(ast.parse(source))
    return finder.found


class _Source:
    """Python by bytes, as the places in syntax trees count them."""

    def __init__(self, source: bytes) -> None:
        self.raw, self.lines = source, source.splitlines(keepends=True)
        self._starts = [0, *accumulate(map(len, self.lines))]
        skipped = {tokenize.NL, tokenize.NEWLINE, tokenize.COMMENT}
        self._operators = [
            (self.of_token(*each.start), self.of_token(*each.end))
            for each in tokenize.tokenize(io.BytesIO(source).readline)
            if each.type not in skipped and each.string not in "()"
        ]

    def at(self, line: int, column: int) -> int:
        """Return the byte of a line, from 1, and a byte in it."""
        return self._starts[line - 1] + column

    def place(self, node: ast.expr | ast.stmt) -> tuple[int, int]:
        """Return where a node starts and ends."""
        end = self.at(node.end_lineno or 0, node.end_col_offset or 0)
        return self.at(node.lineno, node.col_offset), end

    def of_token(self, line: int, column: int) -> int:
        """Return the byte of a line, from 1, and a character in it."""
        before = self.lines[line - 1].decode()[:column] if line <= len(self.lines) else ""
        return self.at(line, len(before.encode()))

    def between(self, start: int, end: int) -> tuple[int, int]:
        """Return where the operator between two operands starts and ends; brackets are none."""
        first = bisect_left(self._operators, (start, 0))
        last = bisect_left(self._operators, (end, 0)) - 1
        return self._operators[first][0], self._operators[last][1]


class _Finder(ast.NodeVisitor):
    def __init__(self, source: bytes) -> None:
        self.source = _Source(source)
        self.found: list[Change] = []
        self._lines = (1, 1)

    def visit(self, node: ast.AST) -> None:
        """Visit a node, unless it is left alone."""
        if isinstance(node, ast.stmt):
            self._lines = _lines_of(node)
        if not _is_left_alone(node):
            for each in getattr(node, "ifs", [getattr(node, "test", None)]):
                if isinstance(each, _WITHOUT_OPERATOR):  # of a condition: it is turned round
                    start, end = self.source.place(each)
                    self._add(start, end, f"(not ({self.source.raw[start:end].decode()}))")
            getattr(self, f"visit_{type(node).__name__}", lambda _: None)(node)
            self.generic_visit(node)

    def generic_visit(self, node: ast.AST) -> None:
        """Visit what is below a node, but for annotations and decorators."""
        for name, value in ast.iter_fields(node):
            for each in value if isinstance(value, list) else [value]:
                if isinstance(each, ast.AST) and name not in _NO_CODE:
                    self.visit(each)

    def _add(self, start: int, end: int, *afters: str) -> None:
        self.found += [Change(start, end, after, self._lines) for after in afters]

    def _between(self, left: ast.expr, right: ast.expr) -> None:
        """Change the operator between two operands."""
        start, end = self.source.between(self.source.place(left)[1], self.source.place(right)[0])
        operator = " ".join(self.source.raw[start:end].decode().split())
        self._add(start, end, *OPERATORS.get(operator, ()))

    def visit_Compare(self, node: ast.Compare) -> None:
        for left, right in pairwise([node.left, *node.comparators]):
            self._between(left, right)

    def visit_BoolOp(self, node: ast.BoolOp) -> None:
        for left, right in pairwise(node.values):
            self._between(left, right)

    def visit_BinOp(self, node: ast.BinOp) -> None:
        if not (_is_sequence(node.left) or _is_sequence(node.right)):
            self._between(node.left, node.right)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        if not _is_sequence(node.value):
            (_, start), (end, _) = map(self.source.place, (node.target, node.value))
            start, end = self.source.between(start, end)
            operator = self.source.raw[start : end - 1].decode()
            self._add(start, end, *(f"{each}=" for each in OPERATORS.get(operator, ())))

    def visit_UnaryOp(self, node: ast.UnaryOp) -> None:
        if not isinstance(node.operand, ast.Constant):
            start, _ = self.source.place(node)
            width = len("not " if isinstance(node.op, ast.Not) else "-")
            self._add(start, start + width, "")

    def visit_Constant(self, node: ast.Constant) -> None:
        match node.value:
            case bool(value):
                self._add(*self.source.place(node), str(not value))
            case int(value):
                self._add(*self.source.place(node), str(value + 1))
            case float(value):
                self._add(*self.source.place(node), repr(2 * value or 1.0))
            case str(value) if value in STRINGS:
                self._add(*self.source.place(node), repr(STRINGS[value]))

    def visit_Slice(self, node: ast.Slice) -> None:
        for each in (node.lower, node.upper):
            if each is not None and not isinstance(each, ast.Constant):
                start, end = self.source.place(each)
                self._add(start, end, f"({self.source.raw[start:end].decode()}) + 1")

    def visit_Call(self, node: ast.Call) -> None:
        name = node.func.id if isinstance(node.func, ast.Name) else ""
        name = node.func.attr if isinstance(node.func, ast.Attribute) else name
        if name in FUNCTIONS:
            _, end = self.source.place(node.func)
            self._add(end - len(name), end, FUNCTIONS[name])


def _is_sequence(node: ast.expr) -> bool:
    """Whether only `+` could stand beside it: any other operator fails at once."""
    text = isinstance(node, ast.Constant) and isinstance(node.value, str | bytes)
    return text or isinstance(node, _SEQUENCES)


def _is_left_alone(node: ast.AST) -> bool:
    if isinstance(node, ast.Raise | ast.Assert | ast.Import | ast.ImportFrom | ast.JoinedStr):
        return True
    if isinstance(node, ast.Expr):
        return isinstance(node.value, ast.Constant)
    if isinstance(node, ast.If):
        return ast.unparse(node.test) == "TYPE_CHECKING"
    if isinstance(node, ast.AnnAssign):
        return ast.unparse(node.annotation) == "TypeAlias"
    if isinstance(node, ast.keyword):
        return node.arg in SPEED_ONLY
    return isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__"


def _lines_of(statement: ast.stmt) -> tuple[int, int]:
    """Return the first and last line of a statement; of one with a body, of what is before it."""
    body = getattr(statement, "body", None) or getattr(statement, "cases", None)
    end = statement.end_lineno or statement.lineno
    if body:
        first = body[0].pattern if isinstance(body[0], ast.match_case) else body[0]
        end = max(statement.lineno, first.lineno - 1)
    return statement.lineno, end
