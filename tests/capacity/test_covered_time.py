"""What planners divide by: the time that rows of a queue manager cover, without gaps.

Expected values are worked out by hand.
"""

from __future__ import annotations

import datetime as dt
from typing import Any

import pytest

from smfparse.capacity import answers
from smfparse.inputs import open_inputs
from smfparse.planning import planner
from smfparse.query import Catalog
from tests.support.builders import Write
from tests.support.smf import block, queue, record, task, task_record, task_token, who

MIDNIGHT = dt.datetime(2022, 7, 7, tzinfo=dt.UTC)
HOUR = 3600
HOURS = 10, 12
"""When each of two hours begins: an hour is missing in between."""


def moment(hour: float) -> dt.datetime:
    return MIDNIGHT + dt.timedelta(hours=hour)


def putting(first: float, last: float, puts: int, **more: Any) -> bytes:
    """A client that puts messages of 2 KB to a shared queue, and gets as many; 10 us each call."""
    token, ended = task_token(), moment(last)
    counts = {"putn": puts, "validput": puts, "putbytes": 2048 * puts, "putct": 10 * puts}
    counts |= {"getn": puts, "validget": puts, "getdval": puts, "getct": 10 * puts}
    used = queue("PAY.IN", token, version=9, cfstrucname="APP1", **counts)
    own = task(token, ended=ended, wtasints=moment(first), wtasgpn=3 * puts)
    by = who("CHINIT", kind=6, wtidchl="CLIENTS")
    return task_record(own, used, by=by, ended=ended, east=dt.timedelta(0), **more)


def local(hour: float) -> dt.datetime:
    return moment(hour).replace(tzinfo=None)


def statistics(hour: float) -> bytes:
    return record(block("QMST"), start=local(hour), seconds=HOUR)


def channel_initiator(hour: float) -> list[bytes]:
    """An hour of a sender channel with TLS, and of a client: 7,200 messages."""
    sends = {"qcstchnm": "A.B", "qcstchty": 1, "qcstnmsg": 2 * HOUR, "qcstbatc": 100}
    sends |= {"qcstnbyt": 2048 * 2 * HOUR, "qcstslcs": 0x1302, "qcstcpra": 40}
    blocks = [block("QCST", **sends), block("QCST", qcstchnm="CLIENTS", qcstchty=7)]
    adapters = record(block("QCT_ADP", qcteltm=1), of="QCT_ADP", start=local(hour), seconds=HOUR)
    return [record(*blocks, start=local(hour), seconds=HOUR), adapters]


def measured(name: str, catalog: Catalog) -> dict[str, Any]:
    """Return what a planner measured of the only queue manager."""
    (found,) = answers(planner(name), {}, catalog)
    assert found.of is not None
    return dict(found.of.values)


RATES = {
    "streaming": {"puts_s": 2},
    "cf": {"arrivals": 2},
    "cpu": {"cpu_ms_a_second": 2 * 20 / 1000},
    "concentrator": {"transactions_s": 2},
    "compression": {"messages_s": 2},
    "tls": {"messages_s": 2},
    "smf": {"calls_a_second": 4, "tasks": 1},
    "whatif": {"puts_s": 2, "pages_s": 6, "calls_a_second": 4, "tasks": 1},
}
"""By planner: what 7,200 messages an hour are. Each is put and got, 20 us and 3 new pages."""


@pytest.mark.sampled(1)
@pytest.mark.slow
@pytest.mark.parametrize("has_statistics", [True, False])
def test_an_hour_without_records_changes_no_rate(has_statistics: bool, write: Write) -> None:
    records = [each for hour in HOURS for each in channel_initiator(hour)]
    records += [putting(hour, hour + 1, 2 * HOUR) for hour in HOURS]
    records += [statistics(hour) for hour in HOURS if has_statistics]
    with Catalog(open_inputs([write(*records)])) as catalog:
        for name, rates in RATES.items():
            found = measured(name, catalog)
            assert {key: found[key] for key in rates} == pytest.approx(rates), name


def test_each_queue_manager_is_divided_by_its_own_time(write: Write) -> None:
    path = write(
        putting(10, 11, HOUR, qmgr="QMA"), putting(12, 13, HOUR, qmgr="QMA"),
        putting(11, 12, HOUR, qmgr="QMB"),
    )  # fmt: skip
    with Catalog(open_inputs([path])) as catalog:
        found = answers(planner("streaming"), {}, catalog)
    assert {each.of.qmgr: each.of.values["puts_s"] for each in found if each.of} == {
        "QMA": pytest.approx(1),
        "QMB": pytest.approx(1),
    }
