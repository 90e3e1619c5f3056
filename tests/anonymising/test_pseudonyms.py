"""What stands for a name: of its length and kind, always the same, and nobody else's."""

from __future__ import annotations

import ipaddress
import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from smfparse.anonymising import Pseudonyms, read_map, write_map
from smfparse.anonymising.searching import Finder, ShortNames
from smfparse.errors import InputError, RequestError
from smfparse.layout import ENCODING
from tests.support.searching import search

SECRET = b"nobody knows"
Address = ipaddress.IPv4Address | ipaddress.IPv6Address
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"


def shape(name: str) -> str:
    """Return what a name keeps: letters as letters, digits as digits, anything else as it is."""
    for pattern, mark in (("[A-Z]", "A"), ("[a-z]", "a"), ("[0-9]", "9")):
        name = re.sub(pattern, mark, name)
    return name


def learnt(names: list[str], **options: object) -> Pseudonyms:
    found = Pseudonyms(SECRET, **options)  # type: ignore[arg-type]
    found.learn(names)
    return found


@search(25)
@given(st.lists(st.text(LETTERS + "./_%", min_size=1, max_size=20), max_size=30, unique=True))
def test_names_keep_their_shape_and_differ_where_the_old_ones_do(names: list[str]) -> None:
    pseudonyms = learnt(names)
    made = [pseudonyms.of("queue", name) for name in names]
    assert [*map(shape, made)] == [*map(shape, names)]
    assert len(set(made)) == len(names)
    assert [pseudonyms.of("queue", name) for name in names] == made
    old = {part for name in names for part in re.findall("[A-Z0-9]+", name) if len(part) > 3}
    assert not any(part in each for each in made for part in old)


def test_names_share_the_parts_that_they_shared_and_all_of_a_digit_are_used() -> None:
    names = ["PAY.IN", "PAY.OUT", "PAY", "RATE.IN"]
    one, two, three, four = (learnt(names).of("queue", name) for name in names)
    assert one.split(".")[0] == two.split(".")[0] == three
    assert one.split(".")[1] == four.split(".")[1]
    assert Pseudonyms(b"another").of("queue", "PAY") != three
    digits = [f"Q.{digit}" for digit in range(10)]
    pseudonyms = learnt(digits)
    assert len({pseudonyms.of("queue", each) for each in digits}) == 10


@search(50)
@given(st.ip_addresses())
def test_addresses_and_hosts_become_such_and_ports_stay(address: Address) -> None:
    made = learnt([str(address)]).of("address", f"{address}(1414)")
    assert made.endswith("(1414)")
    made, sign = made.removesuffix("(1414)"), "." if address.version == 4 else ":"
    assert [*map(len, made.split(sign))] == [*map(len, str(address).split(sign))]
    assert ipaddress.ip_address(made).version == address.version
    assert made != str(address) or str(address) == "::"
    host = "mqgw.example.com(1414)"
    assert re.fullmatch(r"[a-z]{4}\.[a-z]{7}\.[a-z]{3}\(1414\)", learnt([host]).of("address", host))


def test_names_that_are_kept_stay() -> None:
    kept = learnt([], kept=re.compile(r"SYSTEM\..*").fullmatch)
    assert kept.of("queue", "SYSTEM.CLUSTER.COMMAND.QUEUE") == "SYSTEM.CLUSTER.COMMAND.QUEUE"
    assert kept.of("queue", "PAY.IN") != "PAY.IN"
    first = learnt([], keep_first=True)
    assert first.of("queue", "PAY.IN").startswith("PAY.")
    assert first.of("queue", "PAY.IN") != "PAY.IN"
    assert first.of("job", "PAYROLL") != "PAYROLL"


def test_a_map_is_read_as_it_was_written(tmp_path: Path) -> None:
    path = tmp_path / "map.csv"
    first = learnt(["PAY.IN", "10.1.2.3"])
    made = first.of("queue", "PAY.IN"), first.of("address", "10.1.2.3")
    write_map(path, first.parts)
    assert path.stat().st_mode & 0o077 == 0
    again = Pseudonyms(b"another", None, read_map(path))
    assert (again.of("queue", "PAY.IN"), again.of("address", "10.1.2.3")) == made


def test_what_is_no_map_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "map.csv"
    with pytest.raises(InputError, match="No such file"):
        read_map(path)
    rows = (b"", b"old,new\nA\n", b"old,new\nAB,C\n", b"old,new\nA,B\nC,B\n")
    for data in (*rows, b"a,b\n", b"\xff\xfe"):
        path.write_bytes(data)
        with pytest.raises(RequestError, match="it is no map of names"):
            read_map(path)


TEXTS, ENCODINGS = st.text("AB1 .", max_size=60), st.sampled_from(["latin-1", ENCODING])


@search(25)
@given(
    st.lists(st.text("AB1", min_size=4, max_size=7), min_size=1, max_size=6, unique=True),
    TEXTS,
    ENCODINGS,
)
def test_texts_are_found_as_by_looking_at_one_place_after_the_other(
    old: list[str], text: str, encoding: str
) -> None:
    replaced = {each: "x" * len(each) for each in old}
    buffer = np.frombuffer(text.encode(encoding) + bytes(16), np.uint8).copy()
    for at, others in Finder(replaced).found(buffer, 0, len(text)):
        for place, other in zip(at.tolist(), others, strict=True):
            buffer[place : place + other.size] = other
    made = buffer.tobytes()[: len(text)].decode(encoding)
    assert not any(each in made for each in old)
    assert all(a == b or b == "x" for a, b in zip(text, made, strict=True))


@search(25)
@given(
    st.lists(st.text("AB1", min_size=1, max_size=3), max_size=5, unique=True),
    TEXTS,
    st.sets(st.integers(0, 59)),
    ENCODINGS,
)
def test_short_names_are_counted_as_by_looking_at_one_place_after_the_other(
    short: list[str], text: str, named: set[int], encoding: str
) -> None:
    buffer = np.frombuffer(b"\xff" + text.encode(encoding), np.uint8)
    fields = np.isin(np.arange(buffer.size), [each + 1 for each in named])
    expected = sum(
        text.startswith(each, at) and named.isdisjoint(range(at, at + len(each)))
        for each in short
        for at in range(len(text))
    )
    assert ShortNames(short).count(buffer, 1, buffer.size, fields) == expected
