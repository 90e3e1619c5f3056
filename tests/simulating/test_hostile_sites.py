"""Whatever a site of somebody's own declares, it is made, or refused in a sentence."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from smfparse.errors import RequestError
from smfparse.simulating.reading_toml import read_estate
from tests.simulating.simulated import declared
from tests.support.command import run

pytestmark = pytest.mark.slow

QUEUES: dict[str, Any] = {"A": {"stream": "B"}, "B": {"expiry": 60}, "S": {"structure": "APP1"}}
QUEUES |= {"C": {"cluster": {"A": 1.0}}, "M": {"model": "REPLY."}}
PUTTER = {"rate": 1.0, "tasks": 2, "put": {"C": 1.0, "S": 0.5}, "get": ["M"], "size": 10}
PUTTER |= {"commit": 1, "think": 5.0, "reopen": 0.5, "window": "01:00-22:00"}
SENDER = {"kind": "channel", "channel": "TO", "get": ["A"], "opens": {"A": "AA"}}
QM01: dict[str, Any] = {
    "system": "SYSA",
    "log": {"io": 200.0, "page": 9.0, "copies": 2, "load": 1000, "pages": 5000},
    "channel_initiator": {"dispatchers": 2, "adapters": 3, "max_channels": 9},
    "pools": {"1": {"buffers": 100}},
    "page_sets": {"4": {"pool": 1, "pages": 900, "io": 100.0}},
}
SITE = declared(
    QUEUES, {"P": PUTTER, "R": {"kind": "ims", "get": ["S"], "put": {"M": 1}}, "G": SENDER}, **QM01
) | {
    "site": {"story": "x", "interval": "12h", "group": "QSG1", "growth": 0.1},
    "curves": {"flat": {"points": [[0, 1.0], [20, 0.5]], "weekend": 0.5}, "business": {}},
    "channels": {"TO": {"queue_manager": "QM01", "type": "sender", "batch": 9, "rekey": 999}},
    "agents": {
        "X": {"queue_manager": "QM01", "sends_to": "Y", "rate": 1.0},
        "Y": {"queue_manager": "QM01"},
    },
    "incidents": [{"kind": "log-slow", "at": "10:00", "length": "30m", "factor": 3.0, "day": 0}],
    "answers": [{"rule": "D1", "start": "10:00"}],
}
JUNK: tuple[Any, ...] = (
    *(0, -1, 2.5, float("inf"), 10**9, True),
    *("", "\N{SNOWMAN}", [], [[]], {}, {"1": {}}),
)


def places(table: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    keys = table.keys() if isinstance(table, dict) else range(len(table))
    for key in keys:
        yield (*path, key)
        if isinstance(table[key], dict | list):
            yield from places(table[key], (*path, key))


def changed(path: tuple[Any, ...], value: Any) -> dict[str, Any]:
    found = copy.deepcopy(SITE)
    table: Any = found
    for key in path[:-1]:
        table = table[key]
    table[path[-1]] = value
    return found


def refusal(document: dict[str, Any]) -> str | None:
    """Return why a document is refused, None if it is a site."""
    try:
        read_estate("site", document)
    except RequestError as error:
        return str(error)
    return None


def test_an_impossible_value_is_refused_in_a_sentence() -> None:
    tried = [*places(SITE)]
    assert len(tried) > 90
    assert refusal(SITE) is None
    for junk in JUNK:
        for path in tried:
            reason = refusal(changed(path, junk))
            assert reason is None or 10 < len(reason) < 300, (path, junk)


WRONG: list[tuple[tuple[str, ...], Any, str]] = [
    (("queus",), {}, "site: unknown name 'queus'; did you mean queues"),
    (("queues", "A", "page_sett"), 3, "queue A: unknown name 'page_sett'; .* page_set"),
    (("queues", "A", "queue_manager"), "QM10", "queue A: unknown name 'QM10'; .* QM01"),
    (("queues", "A", "page_set"), 9, r"queue A: no page set 9; page sets: \[4\]"),
    (("queues", "A", "index"), "corelid", "queue A, index: .*'corelid'.* did you mean correlid"),
    (("applications", "P", "put"), {"Z": 1}, r"application P\.1: unknown name 'Z'"),
    (("applications", "P", "kind"), "batsch", "kind: .*'batsch'.* did you mean batch"),
    (("applications", "P", "curve"), "flad", "curve: .*'flad'.* did you mean flat"),
    (("applications", "P", "rate"), "fast", "rate = 'fast' must be a number"),
    (("applications", "R", "get"), [], "give a rate, or queues to get from"),
    (("applications", "P", "window"), "22:00-06:00", "'22:00-06:00' must end after its start"),
    (("applications", "X"), {"kind": "batch"}, "X: missing queue_manager, job"),
    (("queue_managers", "QM01", "pools", "one"), {}, "pool 'one': must be a number from 0 to 99"),
    (("site", "days"), 10**9, "days = 1000000000 must be from 1 to 366"),
    (("site", "start"), "march", "start = 'march' must be a local time: 2026-03-04T09:00:00"),
    (("site", "interval"), "often", "'often' is not a duration"),
    (("site", "utc_offset"), "1", "'1' is not an offset"),
    (("incidents",), [{"kind": "flood"}], "incident: unknown name 'flood'"),
    (("queue_managers",), {}, "site: no queue manager"),
    (("queue_managers", "QM01", "log", "zhyperwrite"), "enable", "did you mean enabled"),
    (("queue_managers", "QM01", "log", "copies"), 3, "copies = 3"),
    (("queue_managers", "QM01", "log", "stripes"), 0, "stripes = 0 must be from 1"),
    (("queue_managers", "QM01", "log", "stripe"), 2, "did you mean stripes"),
    (("queues", "C", "cluster"), {"X": 1}, "unknown name 'X'"),
    (("queues", "A", "models"), "A.", "did you mean model"),
    (("applications", "P", "get"), ["C"], "C is a cluster queue"),
    (("applications", "P", "put"), {"C": 1, "A": 1}, "puts to A under two names"),
    (("applications", "P", "get"), [], "0 applications get"),
    (("applications", "P", "stays"), 5, "model queue M must stay connected"),
    (("agents", "X", "sends_to"), "Z", "unknown name 'Z'"),
    (("agents", "X", "send_to"), "Y", "did you mean sends_to"),
]


def test_a_wrong_declaration_is_refused_with_near_names() -> None:
    for path, value, reason in WRONG:
        with pytest.raises(RequestError, match=reason):
            read_estate("site", changed(path, value))


def test_a_file_that_is_no_site_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "site.toml"
    assert "No such file" in run("generate", "--scenario", path, "--explain", code=2).output
    for text, reason in {
        "extends = 'payment'": "did you mean payments",
        "extends = 'site.toml'": "unknown name 'site.toml'",
        "[queues\n": "Expected ']'",
        "\x00": "site.toml",
        "queues = 5": "queues must be a table",
    }.items():
        path.write_text(text, encoding="utf-8")
        assert reason in run("generate", "--scenario", path, "--explain", code=2).output


def test_a_name_that_ebcdic_has_not_is_refused(tmp_path: Path) -> None:
    path, dump = tmp_path / "site.toml", tmp_path / "day.smf"
    path.write_text('extends = "shared"\n[site]\ngroup = "\N{SNOWMAN}"\n', encoding="utf-8")
    done = run("generate", dump, "--scenario", path, "--interval", "12h", code=8)
    assert "EBCDIC has no character for" in done.stderr


def test_a_file_declares_a_site_of_its_own(tmp_path: Path) -> None:
    path, dump = tmp_path / "mine.toml", tmp_path / "day.smf"
    path.write_text('extends = "shared"\n[site]\nstory = "Ours."\n', encoding="utf-8")
    assert run("generate", dump, "--scenario", path, "--interval", "12h").exit_code == 0
    assert "Ours." in run("generate", "--scenario", path, "--explain").output
    other = tmp_path / "other.smf"
    run("generate", other, "--scenario", "shared", "--interval", "12h")
    assert other.read_bytes() == dump.read_bytes()
