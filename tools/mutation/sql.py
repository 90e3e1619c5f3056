"""Changes of SQL, found among the tokens that DuckDB sees.

Comments, strings, names and types are left alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import duckdb

from mutation.mutant import Change, becoming, swapped

OPERATORS = becoming(
    "> -> >=, <; >= -> >, <; < -> <=, >; <= -> <, >; = -> <>; <> -> =; != -> =; + -> -; - -> +; "
    "* -> /; ** -> *; / -> *; // -> /; % -> *; & -> |; | -> &"
)
FUNCTIONS = dict.fromkeys(("sum", "total", "avg", "count", "median"), "max") | swapped(
    "max min, arg_max arg_min, bool_or bool_and, first last, greatest least, ceil floor, lag lead"
)
"""What each becomes; all take what the other takes, so the mutant can still be bound."""


class Rule(NamedTuple):
    """What a word becomes, unless one of some words stands in front of it or behind it."""

    after: str
    not_behind: frozenset[str] = frozenset()
    not_before: frozenset[str] = frozenset()


_JOINED = frozenset({"LEFT", "RIGHT", "FULL", "OUTER", "INNER", "ANTI", "SEMI", "CROSS", "ASOF"})
_NEGATED = frozenset({"NOT"})
WORDS = {
    "TRUE": Rule("false"),
    "FALSE": Rule("true"),
    **{before: Rule(after) for before, after in swapped("DESC ASC, ANTI SEMI").items()},
    "LEFT": Rule(""),
    "JOIN": Rule("LEFT JOIN", not_behind=_JOINED),
    "NOT": Rule("", not_behind=frozenset({"IF"})),
    "AND": Rule("OR"),
    "OR": Rule("AND", not_behind=frozenset({"CREATE"})),
    "IS": Rule("IS NOT", not_before=_NEGATED),
    "IN": Rule("NOT IN", not_behind=_NEGATED),
    "DISTINCT": Rule("", not_behind=frozenset({"IS", "NOT"})),
    "UNION": Rule("UNION ALL", not_before=frozenset({"ALL"})),
    **{
        each: Rule(f"{each} NOT", not_before=_NEGATED)
        for each in ("WHERE", "HAVING", "QUALIFY", "WHEN")
    },
}
_END_OF_ORDER = {"ROWS", "RANGE", "LIMIT", "UNION", "NULLS", "ASC", "DESC", ";"}
_OPENING, _CLOSING = {"(", "[", "{"}, {")", "]", "}"}
_WORD, _NUMBER = re.compile(r"\w+"), re.compile(r"\.?[0-9]")


class Token(NamedTuple):
    """A token of SQL, with its place in bytes; `word` is in capitals, '' of what is no word."""

    text: str
    word: str
    start: int
    end: int


NOTHING = Token("", "", 0, 0)


def tokens_of(sql: str) -> list[Token]:
    """Return the tokens of SQL without comments."""
    raw = sql.encode()
    found = duckdb.tokenize(sql)
    ends = [*(start for start, _ in found[1:]), len(raw)]
    tokens = []
    for (start, kind), end in zip(found, ends, strict=True):
        text = raw[start:end].decode().rstrip()
        if kind is not duckdb.token_type.comment:
            word = text.upper() if _WORD.fullmatch(text) else ""
            tokens.append(Token(text, word, start, start + len(text.encode())))
    return tokens


def changes_of_sql(sql: str) -> Iterator[Change]:
    """Yield all changes of SQL: a file, or a part that an expression is made of."""
    tokens = tokens_of(sql)
    places = [_Place(tokens, at) for at in range(len(tokens))]
    skipped = _between_ands(tokens) | _simple_whens(tokens)
    unit = ""
    for at, place in enumerate(places):
        if place.before.word == "MACRO":
            unit = place.token.text
        if at not in skipped:
            for each in _changes_at(place):
                yield each._replace(unit=unit)


class _Place:
    """A token and those around it."""

    def __init__(self, tokens: list[Token], at: int) -> None:
        self._tokens, self._at = tokens, at
        self.token, self.before, self.behind = tokens[at], self.near(-1), self.near(1)

    def near(self, step: int) -> Token:
        """Return the token so many steps away."""
        at = self._at + step
        return self._tokens[at] if 0 <= at < len(self._tokens) else NOTHING

    def keys_of_order(self) -> Iterator[Token]:
        """Yield the last token of each key of the ORDER BY that is here, if it has no direction."""
        depth, last = 0, NOTHING
        for each in [*self._tokens[self._at + 2 :], Token(";", "", 0, 0)]:
            depth += (each.text in _OPENING) - (each.text in _CLOSING)
            ended = depth < 0 or (not depth and (each.word or each.text) in _END_OF_ORDER)
            if ended or (not depth and each.text == ","):
                if last is not NOTHING and each.word not in {"ASC", "DESC"}:
                    yield last
                if ended:
                    return
                last = NOTHING
            else:
                last = each


def _changes_at(place: _Place) -> Iterator[Change]:
    token = place.token
    if _NUMBER.match(token.text):
        if place.before.text != "$":
            more = str(int(token.text) + 1) if token.text.isdigit() else None
            yield _replaced(token, more or repr(2 * float(token.text) or 1.0))
    elif token.text in OPERATORS:
        if token.text != "*" or _is_operand(place.before):
            yield from (_replaced(token, each) for each in OPERATORS[token.text])
    elif token.word:
        yield from _changes_of_function(place) if place.behind.text == "(" else ()
        yield from _changes_of_word(place)


def _replaced(token: Token, after: str) -> Change:
    return Change(token.start, token.end, after)


def _is_operand(token: Token) -> bool:
    """Whether a value ends with the token, so that an asterisk behind it multiplies."""
    if token.word:
        return token.word not in {"SELECT", "DISTINCT", "BY"}
    return token.text in _CLOSING or token.text[-1:] in {'"', "'"}


def _changes_of_function(place: _Place) -> Iterator[Change]:
    token, name = place.token, place.token.text.lower()
    if name == "count" and place.near(2).text == "*":
        yield Change(token.start, place.near(3).end, "max(1)")
    elif name in FUNCTIONS:
        yield _replaced(token, FUNCTIONS[name])
    elif name == "filter" and place.near(2).word not in {"WHERE", "NOT"}:
        yield Change(place.behind.end, place.behind.end, "NOT ")


def _changes_of_word(place: _Place) -> Iterator[Change]:
    token, before, behind = place.token, place.before, place.behind
    rule = WORDS.get(token.word)
    if rule and before.word not in rule.not_behind and behind.word not in rule.not_before:
        yield Change(token.start, token.end if rule.after else behind.start, rule.after)
    elif token.word == "ALL" and before.word == "UNION":
        yield Change(token.start, behind.start, "")
    elif token.word == "ORDER" and behind.word == "BY":
        yield from (Change(each.end, each.end, " DESC") for each in place.keys_of_order())


def _between_ands(tokens: Iterable[Token]) -> set[int]:
    """Return the places of the AND that belong to a BETWEEN."""
    found, waiting, depth = set(), [], 0
    for at, each in enumerate(tokens):
        depth += (each.text in _OPENING) - (each.text in _CLOSING)
        if each.word == "BETWEEN":
            waiting.append(depth)
        elif each.word == "AND" and waiting and waiting[-1] == depth:
            waiting.pop()
            found.add(at)
    return found


def _simple_whens(tokens: list[Token]) -> set[int]:
    """Return the places of the WHEN that are followed by a value, not by a condition."""
    found, simple = set(), []
    for at, each in enumerate(tokens):
        if each.word == "CASE":
            simple.append(not tokens[at + 1 :] or tokens[at + 1].word != "WHEN")
        elif each.word == "END" and simple:
            simple.pop()
        elif each.word == "WHEN" and simple and simple[-1]:
            found.add(at)
    return found
