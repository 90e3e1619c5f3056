"""Copies of SMF files without the names of their site: in every framing, with all figures."""

from __future__ import annotations

import datetime as dt
import gzip
import ipaddress
import re
import secrets
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import smfparse
from smfparse.advice.answering import answered_rows
from smfparse.anonymising.copying import anonymise, proof
from smfparse.anonymising.pseudonyms import Finder, Pseudonyms, ShortNames, read_map, write_map
from smfparse.decoding.dictionary import decoded_tables
from smfparse.errors import DamageLog, InputError, RequestError
from smfparse.inputs.opening import open_file, open_inputs
from smfparse.inputs.options import ReadOptions
from smfparse.layout.kinds import ENCODING
from smfparse.query.catalog import Catalog
from smfparse.reports.declaration import report, report_names
from tests.support.command import in_json, run
from tests.support.datasets import every_table
from tests.support.paths import FIXTURE_FILES
from tests.support.real import FILES, every_file
from tests.support.report_runs import anyone
from tests.support.searching import of_many, pairs, search, some
from tests.support.variants import VARIANTS, Variant, blocked, cut, read, read_rdw, with_garbage

pytestmark = pytest.mark.slow
SECRET = b"nobody knows"
ALNUM = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789".encode(ENCODING))
NAMED = {
    "wtid": "wtidccn wtidopid wtidchl wtidchlc wtidtran",
    "wqst": "objname basename",
    "qqst": "qqstqnam qqstqsgn",
    "qcst": "qcstchnm qcstcnnm qcstrqmn qcstslcn qcstslsn",
    "qcct": "qcctjobn qcctqsgn",
    "record": "qwhxqsg qwhccn qwhcopid qwhcaid qwhsssid",
}
"""Columns with names, besides the keys of every table."""
KEYS = "system qmgr qsg source"
BINARY = "qcstslsn"


def copied(path: Path, target: Path, **options: Any) -> Pseudonyms:
    names = Pseudonyms(SECRET, options.pop("kept", None))
    file = open_file(str(path), ReadOptions())
    with target.open("w+b") as stream:
        anonymise(file, stream, names, DamageLog(), **options)
    return names


def rows_of(path: Path) -> Mapping[str, pl.DataFrame]:
    found = every_table(open_inputs([path], ReadOptions(keep_duplicates=True)), decoded_tables())
    return {table: pl.DataFrame(rows) for table, rows in found.items()}


@pytest.mark.sampled(9)
@of_many("path, variant", pairs(FIXTURE_FILES, VARIANTS))
def test_records_are_the_same_in_any_framing(path: Path, variant: Variant, tmp_path: Path) -> None:
    copied(path, tmp_path / "plain")
    wanted = read_rdw((tmp_path / "plain").read_bytes())
    file = variant.write(read_rdw(path.read_bytes()))
    (tmp_path / "in").write_bytes(file.data)
    names = copied(tmp_path / "in", tmp_path / "out")
    made = (tmp_path / "out").read_bytes()
    assert len(made) == len(file.data)
    assert read(variant.framing, made) == wanted
    both = (open_file(str(tmp_path / each), ReadOptions()) for each in ("in", "out"))
    assert proof(*both, names) == (len(wanted), 0, 0)


@pytest.mark.sampled(4)
@every_file
def test_no_old_name_is_left_and_all_figures_are_there(path: Path, tmp_path: Path) -> None:
    names = copied(path, tmp_path / "out")
    made = (tmp_path / "out").read_bytes()
    before, after = rows_of(path), rows_of(tmp_path / "out")
    old: set[str] = set()
    for table, rows in before.items():
        named = [name for name in f"{KEYS} {NAMED.get(table, '')}".split() if name in rows.columns]
        others = [name for name in rows.columns if name not in named]
        texts = [name for name in others if rows[name].dtype == pl.String]
        numbers = [name for name in others if name not in texts]
        assert rows.select(numbers).equals(after[table].select(numbers))
        for name in named:
            if name not in ("source", BINARY):
                assert rows[name].n_unique() == after[table][name].n_unique()
                old |= set(rows[name].drop_nulls())
    without_ports = "\n".join(re.sub(r"\(\d+\)$", "", name) for name in old)
    parts = {*re.findall(r"[A-Za-z0-9]{4,}|\d+(?:\.\d+){3}", without_ports)}
    assert parts
    assert not [part for part in parts if part.encode(ENCODING) in made or part.encode() in made]
    serials = before["qcst"][BINARY].drop_nulls() if "qcst" in before else ()
    changed = [(a, b) for a, b in zip(path.read_bytes(), made, strict=True) if a != b]
    odd = [pair for pair in changed if not ALNUM.issuperset(pair)]
    odd = [pair for pair in odd if not all(chr(each).isalnum() for each in pair)]
    assert len(odd) <= (8 * len(before["qcst"]) if len(serials) else 0)
    assert names.parts


@pytest.mark.long
@of_many("path", some(FILES, 1))
def test_all_reports_of_a_copy_have_the_same_numbers(path: Path, tmp_path: Path) -> None:
    kinds = (int, float, dt.datetime, dt.timedelta, dt.date)
    copied(path, tmp_path / "out", kept=re.compile(r"SYSTEM\..*").fullmatch)
    with Catalog(open_inputs([path])) as first, Catalog(open_inputs([tmp_path / "out"])) as second:
        for name in some([*report_names()], 6):
            which = report(name)
            before, after = (
                sorted(
                    [str(each) for each in row.values() if isinstance(each, kinds)]
                    for row in answered_rows(which, catalog, **anyone(which))
                )
                for catalog in (first, second)
            )
            assert before == after, name


def test_times_are_moved_on_request_also_of_a_packed_file(tmp_path: Path) -> None:
    path = FIXTURE_FILES[0]
    (tmp_path / "in.gz").write_bytes(gzip.compress(path.read_bytes()))
    copied(tmp_path / "in.gz", tmp_path / "out", shift_days=-400)
    assert (tmp_path / "out").stat().st_size == path.stat().st_size  # it is not packed
    moved = dt.timedelta(days=-400)
    before, after = rows_of(path), rows_of(tmp_path / "out")
    for table, names in {
        "record": "smf_time time interval_start",
        "wtas": "wtasstrt wtasints wtasinte",
        "wqst": "opentime clostime",
        "qcst": "qcststrt qcstlmst",
    }.items():
        for name in names.split():
            old, new = before[table][name], after[table][name]
            assert old.drop_nulls().len()
            assert (old + moved).equals(new), name
    tasks = [set(rows["wqst"]["correl"]) for rows in (before, after)]
    assert not tasks[0] & tasks[1]
    queues = "SELECT queues FROM task ORDER BY ALL"
    assert smfparse.open(path).sql(queues) == smfparse.open(tmp_path / "out").sql(queues)


def test_what_is_damaged_is_copied_and_names_in_it_are_replaced(tmp_path: Path) -> None:
    file = blocked(read_rdw(FIXTURE_FILES[0].read_bytes()))
    (tmp_path / "in").write_bytes(with_garbage(file, 3, "PAYROLL GARBAGE QM01".encode(ENCODING)))
    assert (
        "verified: " in run("anonymise", tmp_path / "in", "--to", tmp_path / "out", code=4).stdout
    )
    made = (tmp_path / "out").read_bytes()
    assert "QM01".encode(ENCODING) not in made
    assert "GARBAGE".encode(ENCODING) in made
    (tmp_path / "cut").write_bytes(cut(file))
    run("anonymise", tmp_path / "cut", "--to", tmp_path / "less", code=4)
    assert (tmp_path / "less").stat().st_size == (tmp_path / "cut").stat().st_size


def test_short_names_elsewhere_are_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One secret for both: by another, what stands for a longer name may have a short one in it."""
    monkeypatch.setattr(secrets, "token_bytes", lambda _: SECRET)
    file = blocked(read_rdw(FIXTURE_FILES[0].read_bytes()))
    (tmp_path / "in").write_bytes(file.data)
    short = copied(tmp_path / "in", tmp_path / "out").too_short()
    assert short
    garbage = (" ".join(short) + " ") * 3
    (tmp_path / "more").write_bytes(with_garbage(file, 3, garbage.encode(ENCODING)))
    counts = []
    for name in ("in", "more"):
        done = run("anonymise", tmp_path / name, "--to", tmp_path / f"{name}.smf")
        found = re.search(
            r"^(\d+) places look like a name of under 4 characters", done.stdout, re.M
        )
        counts.append(int(found[1]) if found else 0)
    assert garbage.encode(ENCODING) in (tmp_path / "more.smf").read_bytes()
    expected = sum(garbage.startswith(each, at) for each in short for at in range(len(garbage)))
    assert counts[1] - counts[0] == expected


def test_the_command_says_what_it_replaced_and_keeps_names_in_its_map(tmp_path: Path) -> None:
    table = tmp_path / "map.csv"
    asked = ("anonymise", FIXTURE_FILES[0], "--map", table, "--to")
    first = run(*asked, tmp_path / "one", "--keep", "SYSTEM.*", code=0)
    assert re.search(r"^queue +\d+ names in +\d+ fields$", first.stdout, re.M)
    assert first.stdout.endswith("records with the same values, no other old name found\n")
    known = read_map(table)
    run(*asked, tmp_path / "two")
    assert known.items() <= read_map(table).items()
    told = [in_json("report", "log", tmp_path / each)["rows"] for each in ("one", "two")]
    assert [row["qmgr"] for row in told[0]] == [row["qmgr"] for row in told[1]]


def test_what_cannot_be_done_is_said_and_nothing_is_written(tmp_path: Path) -> None:
    path = tmp_path / "IN"
    path.write_bytes(FIXTURE_FILES[0].read_bytes())
    (tmp_path / "THERE").write_bytes(b"mine")
    places = {name: str(tmp_path / name) for name in ("IN", "THERE", "OUT")}
    for arguments, message in (
        ("--to IN", "is an input"),
        ("--to THERE", "exists"),
        ("--to OUT --map THERE", "not a map of names"),
        ("--to OUT --shift-days 99999999", "--shift-days"),
        ("", "--to"),
    ):
        call = [places.get(each, each) for each in arguments.split()]
        assert message in run("anonymise", path, *call, code=2).stderr
    assert sorted(each.name for each in tmp_path.iterdir()) == ["IN", "THERE"]
    assert (tmp_path / "THERE").read_bytes() == b"mine"


# What stands for a name: of its length and kind, always the same, and nobody else's --------------

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


def test_a_map_is_read_as_it_was_written_and_what_is_none_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "map.csv"
    with pytest.raises(InputError, match="No such file"):
        read_map(path)
    first = learnt(["PAY.IN", "10.1.2.3"])
    made = first.of("queue", "PAY.IN"), first.of("address", "10.1.2.3")
    write_map(path, first.parts)
    assert path.stat().st_mode & 0o077 == 0
    again = Pseudonyms(b"another", None, read_map(path))
    assert (again.of("queue", "PAY.IN"), again.of("address", "10.1.2.3")) == made
    rows = (b"", b"old,new\nA\n", b"old,new\nAB,C\n", b"old,new\nA,B\nC,B\n")
    for data in (*rows, b"a,b\n", b"\xff\xfe"):
        path.write_bytes(data)
        with pytest.raises(RequestError, match="not a map of names"):
            read_map(path)


TEXTS, ENCODINGS = st.text("AB1 .", max_size=60), st.sampled_from(["latin-1", ENCODING])


LONGER = st.lists(st.text("AB1", min_size=4, max_size=7), min_size=1, max_size=6, unique=True)
SHORTER = st.lists(st.text("AB1", min_size=1, max_size=3), max_size=5, unique=True)


@search(25)
@given(LONGER, TEXTS, ENCODINGS)
def test_texts_are_found_as_by_looking_at_places(old: list[str], text: str, encoding: str) -> None:
    replaced = {each: "x" * len(each) for each in old}
    buffer = np.frombuffer(text.encode(encoding) + bytes(16), np.uint8).copy()
    for at, others in Finder(replaced).found(buffer, 0, len(text)):
        for place, other in zip(at.tolist(), others, strict=True):
            buffer[place : place + other.size] = other
    made = buffer.tobytes()[: len(text)].decode(encoding)
    assert not any(each in made for each in old)
    assert all(a == b or b == "x" for a, b in zip(text, made, strict=True))


@search(25)
@given(SHORTER, TEXTS, st.sets(st.integers(0, 59)), ENCODINGS)
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
