"""What a site declares: cluster and model queues, aliases; the devices of the log (one copy or two,
stripes, zHyperWrite), and pools that fill faster than they are written.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from smfparse.errors import RequestError
from smfparse.simulating.reading_toml import read_estate
from tests.simulating.simulated import Day, declared, made

pytestmark = pytest.mark.slow

OPENED = """
    SELECT
        wtidccn, objname, basename, any_value(qtype_text), sum(putn)::BIGINT, sum(getdval)::BIGINT
    FROM wqst JOIN wtid USING (record_no) GROUP BY ALL ORDER BY ALL
"""


def test_what_is_put_to_a_cluster_queue_goes_to_transmission_queues(tmp_path: Path) -> None:
    queues = {"XMIT.A": {}, "XMIT.B": {}, "CLAIMS": {"cluster": {"XMIT.A": 0.75, "XMIT.B": 0.25}}}
    users = {"PUT": {"rate": 4.0, "put": {"CLAIMS": 1}}, "SEND": {"get": ["XMIT.A", "XMIT.B"]}}
    day = made(tmp_path, declared(queues, users))
    rows = [row for row in day.rows(OPENED) if row[4]]
    names = [("CLAIMS", each, "Cluster queue") for each in ("XMIT.A", "XMIT.B")]
    assert [row[1:4] for row in rows] == names
    assert rows[0][4] / sum(row[4] for row in rows) == pytest.approx(0.75, rel=0.001)
    assert day.rows("SELECT DISTINCT qqstqnam FROM qqst WHERE qqstqnam = 'CLAIMS'") == []


def test_each_task_that_opens_a_model_queue_has_a_queue_of_its_own(tmp_path: Path) -> None:
    asker = {"rate": 6.0, "tasks": 3, "put": {"ASK": 1}, "get": ["ANSWER.MODEL"], "by_id": True}
    users = {
        "ASKER": {**asker, "window": "08:00-18:00"},
        "SERVER": {"get": ["ASK"], "put": {"ANSWER.MODEL": 1}},
    }
    queues = {"ASK": {}, "ANSWER.MODEL": {"model": "ANSWER.", "index": "correlid"}}
    day = made(tmp_path, declared(queues, users))
    rows = day.rows(OPENED)
    asked, served = (
        [row[1:3] for row in rows if row[0] == job and row[2] != "ASK"]
        for job in ("ASKER", "SERVER")
    )
    assert [opened for opened, _ in asked] == 3 * ["ANSWER.MODEL"]
    names = {queue for _, queue in asked}
    assert len(names) == 3
    assert names == {queue for _, queue in served}
    assert day.one("SELECT count(*) FROM (SELECT DISTINCT wtasstrt, wtaswtas FROM wtas)") == 4
    assert day.rows("SELECT sum(qistdcre), sum(qistddel) FROM qist") == [(3, 3)]
    put, got = (sum(row[place] for row in rows if row[2] in names) for place in (4, 5))
    assert put == got > 100_000


def test_a_queue_may_be_opened_by_an_alias(tmp_path: Path) -> None:
    users = {"PUT": {"rate": 1.0, "put": {"IN": 1}, "opens": {"IN": "OUT"}}}
    ((_, opened, queue, kind, *_),) = made(tmp_path, declared({"IN": {}}, users)).rows(OPENED)
    assert (opened, queue, kind) == ("OUT", "IN", "Alias queue")


def test_a_channel_over_lu_62_has_the_name_of_an_lu(tmp_path: Path) -> None:
    users = {
        "PUT": {"rate": 2.0, "put": {"OUT": 1}},
        "SEND": {"kind": "channel", "channel": "TO.OLD", "get": ["OUT"]},
    }
    site = declared({"OUT": {}}, users, channel_initiator={"tcp_channels": 150, "lu62_channels": 7})
    channel = {"queue_manager": "QM01", "type": "sender", "lu62": True, "connection": "NET1.OLDLU"}
    site["channels"] = {"TO.OLD": channel}
    day = made(tmp_path, site)
    assert day.rows("SELECT DISTINCT qcctmxtp, qcctmxlu FROM qcct") == [(150, 7)]
    assert day.rows("SELECT DISTINCT qcstcnnm FROM qcst") == [("NET1.OLDLU",)]
    channel["cipher"] = 49200
    with pytest.raises(RequestError, match=r"TO\.OLD: cipher needs TCP/IP"):
        read_estate("kinds", site)


# The log

SHARES = {"capable": 1, "enabled": 0.88}
IO, PAGE = 100.0, 40.0
WRITES = """
    SELECT copy, io_type, sum(qjstiocount)::DOUBLE, sum(qjstioci)::DOUBLE, sum(qjstiototio)
    FROM qjst_io WHERE qjstiocount > 0 GROUP BY ALL ORDER BY ALL
"""


def site(size: int = 2000, **log: Any) -> dict[str, Any]:
    usual: dict[str, Any] = {"persistent": True, "think": 1.0}
    put = {"rate": 300.0, "put": {"IN": 1}, "size": size, "commit": 5}
    users = {"PUT": {**usual, **put}, "GET": {**usual, "get": ["IN"]}}
    return declared({"IN": {}}, users, log={"io": IO, "page": PAGE, **log})


def test_a_single_log_has_no_second_copy(tmp_path: Path) -> None:
    day = made(tmp_path, site(copies=1, pages=50_000))
    assert {copy for copy, *_ in day.rows(WRITES)} == {1}
    assert day.one("SELECT count(*) FROM qjst WHERE qjstcp1n > 0") > 0
    wrong = """
        SELECT count(*) FROM qjst
        WHERE qjstlogw <> qjstbfwr OR qjstcp2n > 0 OR qjstalw <> qjstcp1n OR qjsthwc > 0
    """
    assert day.one(wrong) == 0


def test_stripes_take_the_pages_of_a_write_at_the_same_time(tmp_path: Path) -> None:
    for copy, _, writes, pages, took in made(tmp_path, site(stripes=4)).rows(WRITES):
        second = 1.02 if copy == 2 else 1
        assert took == pytest.approx(second * (writes * IO + pages * PAGE / 4), rel=0.001)


@pytest.mark.parametrize(("word", "size"), [("capable", 2000), ("enabled", 10**6)])
def test_zhyperwrite_shortens_writes(word: str, size: int, tmp_path: Path) -> None:
    day, share = made(tmp_path, site(size, zhyperwrite=word, pages=50_000)), SHARES[word]
    for copy, several, writes, pages, took in day.rows(WRITES):
        if several == 2:
            second = 1.02 if copy == 2 else 1
            time = share * second * (writes * IO + pages * PAGE)
            assert took == pytest.approx(time, rel=0.01)
    sums = "SELECT sum(qjstcp1n + qjstcp2n), sum(qjsthwc), sum(qjsthwe) FROM qjst"
    ((new, capable, enabled),) = day.rows(sums)
    assert capable == new > 0
    assert enabled == (new if word == "enabled" else 0)


# Pools

BUFFERS = 5000
SLOW_IO, SLOW_PAGE = 2000.0, 100.0
BEHIND = 16e6 / (SLOW_IO + 16 * SLOW_PAGE)
"""Pages a second that the page set takes, 16 at a time."""


def backlog(folder: Path, rate: float) -> Day:
    """Return a day of messages of a page, `rate` a second, that nobody gets before the night."""
    users = {
        "PUT": {"rate": rate, "put": {"IN": 1}, "tasks": 4, "think": 100.0, "commit": 0},
        "GET": {"get": ["IN"], "window": "23:00-23:10", "commit": 0},
    }
    page_set = {"pool": 1, "pages": 20_000_000, "io": SLOW_IO, "page": SLOW_PAGE}
    stored = {"pools": {"1": {"buffers": BUFFERS}}, "page_sets": {"1": page_set}}
    return made(folder, declared({"IN": {"page_set": 1}}, users, "10m", **stored))


POOL = """
    SELECT
        qpstnbuf, qpstcbsl, qpstdwt > 0, qpstdmc, qpstsos, qpstimw, qqstputs / 600,
        (SELECT sum(putpset) FROM wqst)
    FROM qpst JOIN qqst USING (interval_start)
    ORDER BY qpst.interval_start LIMIT 3 OFFSET 6
"""


@pytest.mark.parametrize(("share", "full"), [(0.6, 85), (1.05, 95), (2, 100)])
def test_a_pool_fills_as_pages_come_faster_than_they_go(share: float, full: int, tmp_path: Path):
    rate = share * BEHIND
    rows = backlog(tmp_path, rate).rows(POOL)
    assert len(rows) == 3
    for buffers, least, behind, by_tasks, none_free, immediate, puts, waited in rows:
        assert behind
        assert immediate == by_tasks
        assert (by_tasks > 0) == (waited > 0) == (full >= 95)
        assert (none_free > 0) == (puts < 0.8 * rate) == (full == 100)
        used = 100 * (1 - least / buffers)
        assert used == full if full != 95 else 95 <= used < 100
