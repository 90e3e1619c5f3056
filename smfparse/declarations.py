"""Declarations in TOML: a dataclass declares the keys, and each value is checked when it is read.

A field `name: Annotated[type, Key("description")]` declares the key `name`, which is required
unless the field has a default. The type is str, bool, float, Any, another such dataclass, or a
tuple, frozenset or Mapping[str, ...] of these types; every type can be optional (`| None`). Every
fault is a RequestError with the file, the key, the problem and the correction.

Modules with such dataclasses do not use `from __future__ import annotations`, because compiling the
texts of annotations would take 2% of the time of a short command.
"""

from __future__ import annotations

import difflib
import re
import tomllib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import MISSING, fields, is_dataclass
from functools import cache
from itertools import groupby, product
from pathlib import Path
from types import UnionType
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, get_args, get_origin, get_type_hints

from smfparse.errors import RequestError, did_you_mean

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

_SCALARS: Mapping[Any, tuple[str, str, type | tuple[type, ...]]] = {
    str: ("a string", "strings", str),
    bool: ("true or false", "true or false", bool),
    float: ("a number", "numbers", (int, float)),
    Any: ("any value", "values", object),
}
"""For each type: words for one value, words for several values, accepted types of TOML values."""
_NAMES = re.compile(r"\{(\w+)")
_NAMED = re.compile(r"\{(\w+)(?:\[\d+\])?\}")
"""Regular expression for a placeholder in a key that declares several names."""


class Key(NamedTuple):
    """A key of a declaration.

    meaning   description of the key
    left_out  meaning of a missing key, if the default of the field does not show it
    among     valid strings; empty: all
    read      function that converts the TOML value; the arguments are this value, its place and the
              values of the previous keys; None: the type of the field converts it
    written   words for the TOML value, if `read` converts it from another type
    """

    meaning: str
    left_out: str = ""
    among: Collection[str] = ()
    read: Callable[[Any, Where, Mapping[str, Any]], Any] | None = None
    written: str = ""


class Declared(NamedTuple):
    """A key that a dataclass declares: `hint` is the type, `default` the value of a missing key."""

    name: str
    key: Key
    hint: Any
    required: bool
    default: Any

    @property
    def type(self) -> str:
        """Words for the value in TOML: a string, a list of strings."""
        return self.key.written or _called(self.hint)[0]


class Where(NamedTuple):
    """A place in a declaration: the file, and the key in the file (`figures.gets.style`)."""

    file: str
    key: str = ""

    def at(self, name: object) -> Where:
        """Return the place of a key, or of an element of a list, inside this place."""
        return Where(self.file, f"{self.key}.{name}" if self.key else str(name))

    def wrong(self, what: str) -> RequestError:
        """Return the error for this place; `what`: problem, semicolon, correction."""
        return RequestError(": ".join(filter(None, (self.file, self.key, what))))

    def unknown(self, what: str, name: str, among: Iterable[str]) -> RequestError:
        """Return the error for an unknown name, with similar names."""
        there = list(dict.fromkeys(among))
        way_out = did_you_mean(difflib.get_close_matches(name, there, 3), _one_of(there))
        return self.wrong(f"unknown {what} {name!r}; {way_out}")

    def check(self, what: str, name: str, among: Collection[str]) -> None:
        """Raise RequestError if `name` is not in `among`."""
        if name not in among:
            raise self.unknown(what, name, among)


def _one_of(names: Collection[str]) -> str:
    return f"use one of {', '.join(names)}" if names else "leave it out"


def toml(file: Path, where: Where) -> dict[str, Any]:
    """Return the content of a TOML file. Raises RequestError if it is unreadable or invalid."""
    try:
        return tomllib.loads(file.read_text("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise where.wrong(f"invalid TOML: {error}; correct it there") from error
    except OSError as error:
        raise where.wrong(f"cannot be read: {error.strerror}") from error


def families(
    table: Mapping[str, Any], each: Mapping[str, Iterable[Any]], where: Where
) -> Iterator[tuple[str, str, Any]]:
    """Yield key, name and value of each entry of a table.

    A key that contains `{verb}` is expanded to several names, one per element of `each["verb"]`. An
    element can be a list of words: `{verb[0]}`. Consecutive entries with the same placeholders are
    expanded together: all entries of one verb, then all entries of the next verb.
    """
    for names, found in groupby(table.items(), lambda entry: tuple(_NAMES.findall(entry[0]))):
        some = list(found)
        for name in names:
            where.at(some[0][0]).check("name of `each`", name, [*each])
        for values in product(*(each[name] for name in dict.fromkeys(names))):
            named = dict(zip(dict.fromkeys(names), values, strict=True))
            for key, value in some:
                yield key, filled(key, named), filled(value, named) if names else value


def filled(value: Any, named: Mapping[str, Any]) -> Any:
    """Return a value in which `{name}` and `{name[0]}` are replaced by values of `named`."""
    if isinstance(value, dict):
        return {key: filled(each, named) for key, each in value.items()}
    if isinstance(value, list):
        return [filled(each, named) for each in value]
    if not isinstance(value, str):
        return value
    return _NAMED.sub(lambda each: each[0].format(**named) if each[1] in named else each[0], value)


def entries(file: Path) -> Iterator[tuple[str, Any, Where]]:
    """Yield the name, the value and the place of each key of a TOML file.

    Raises RequestError if the file is unreadable or invalid.
    """
    where = Where(str(file))
    for name, spec in toml(file, where).items():
        yield name, spec, where.at(name)


@cache
def declared_keys(cls: type[DataclassInstance]) -> tuple[Declared, ...]:
    """Return the keys that a dataclass declares, in order."""
    return tuple(_declared(cls))


def _declared(cls: type[DataclassInstance]) -> Iterator[Declared]:
    hints = get_type_hints(cls, include_extras=True)
    for each in fields(cls):
        if get_origin(hints[each.name]) is Annotated:
            hint, key = get_args(hints[each.name])
            if get_origin(hint) is UnionType:
                hint, _ = get_args(hint)
            required = each.default is MISSING and each.default_factory is MISSING
            yield Declared(each.name, key, hint, required, each.default)


def read_table(cls: type[DataclassInstance], spec: Any, where: Where) -> dict[str, Any]:
    """Return the values of `spec` for the keys of a dataclass, each converted to the field's type.

    Raises RequestError for a missing or unknown key, or a value of another type.
    """
    spec = expected(dict, spec, "a table", where)
    keys = {each.name: each for each in declared_keys(cls)}
    for name in spec:
        if name not in keys:
            raise where.at(name).unknown("key", name, keys)
    found: dict[str, Any] = {}
    for name, each in keys.items():
        if name in spec:
            found[name] = _value_of(each, spec[name], where.at(name), found)
        elif each.required:
            raise where.at(name).wrong(f"missing; add the key: {each.key.meaning}")
    return found


def _value_of(key: Declared, value: Any, where: Where, before: Mapping[str, Any]) -> Any:
    found = key.key.read(value, where, before) if key.key.read else as_type(key.hint, value, where)
    if key.key.among:
        for name in [found] if isinstance(found, str) else found:
            where.check(key.name.removesuffix("s"), name, key.key.among)
    return found


def as_type(hint: Any, value: Any, where: Where) -> Any:
    """Convert a value of TOML to the type `hint`. Raises RequestError for another type."""
    if is_dataclass(hint) and isinstance(hint, type):
        return hint(**read_table(hint, value, where))
    if hint in _SCALARS:
        return expected(_SCALARS[hint][2], value, _called(hint)[0], where)
    origin, inner = get_origin(hint), get_args(hint)
    what = _called(hint)[0]
    if origin in (tuple, frozenset):
        values = expected(list, value, what, where)
        if origin is tuple and inner[-1] is not Ellipsis and len(values) != len(inner):
            raise where.wrong(f"expected {what}, found {value!r}; write {len(inner)} of them")
        return origin(as_type(inner[0], each, where) for each in values)
    table = expected(dict, value, what, where)
    return {name: as_type(inner[1], each, where.at(name)) for name, each in table.items()}


def expected(kinds: type | tuple[type, ...], value: Any, what: str, where: Where) -> Any:
    """Return the value if it has one of the types `kinds`. Raises RequestError otherwise."""
    if isinstance(value, kinds) and (kinds in (bool, object) or not isinstance(value, bool)):
        return value
    raise where.wrong(f"expected {what}, found {value!r}; write {what}")


@cache
def _called(hint: Any) -> tuple[str, str]:
    """Return words for one value of a type, and for several values."""
    if is_dataclass(hint):
        return "a table", "tables"
    if hint in _SCALARS:
        return _SCALARS[hint][:2]
    inner = get_args(hint)
    if get_origin(hint) not in (tuple, frozenset):
        of = _called(inner[1])[1]
        return f"a table of {of}", f"tables of {of}"
    of = _called(inner[0])[1]
    if inner[-1] is not Ellipsis and len(inner) > 1:
        of = f"{len(inner)} {of}"
    return f"a list of {of}", f"lists of {of}"
