"""What planners measure of records that are made: slopes, and the time that rows cover.

Expected values are worked out by hand.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from smfparse.decoding.selection import Selection
from smfparse.inputs.opening import open_inputs
from smfparse.inputs.options import ReadOptions
from smfparse.planning.answering import Answer, answers
from smfparse.planning.plans import planner
from smfparse.planning.printing import notes
from smfparse.query.catalog import Catalog
from tests.support import smf
from tests.support.builders import Write, put, rdw
from tests.support.report_runs import report_rows

CHANNELS = [400 + 40 * minute for minute in range(12)]


def minutely(*blocks: Callable[[int], bytes], minutes: int = 12) -> bytes:
    """Records of so many minutes, one of each kind of block in each."""
    return rdw(
        [
            smf.record(block(minute), start=smf.START + dt.timedelta(minutes=minute), seconds=60)
            for minute in range(minutes)
            for block in blocks
        ]
    )


def answered(folder: Path, name: str, data: bytes) -> Answer:
    with Catalog(open_inputs([put(folder / "made.smf", data)], ReadOptions(jobs=1))) as catalog:
        (found,) = answers(planner(name), {}, catalog)
    return found


def chinit(megabytes: Callable[[int], int]) -> Callable[[int], bytes]:
    return lambda minute: smf.block(
        "QCCT", qcctnocc=CHANNELS[minute], qcctmxcc=9999, qcctstus=megabytes(minute)
    )


def test_storage_of_a_channel_is_its_slope(tmp_path: Path) -> None:
    found = answered(tmp_path, "channels", minutely(chinit(lambda at: 50 + CHANNELS[at] // 4)))
    assert found.plan["kb_each"] == pytest.approx(256)
    assert (found.origins["kb_each"], found.origins["release"]) == ("measured", "measured")
    used = 50 + CHANNELS[-1] // 4
    assert found.plan["more"] == (1172 - used) * 1024 // 256
    assert found.plan["channels"] == CHANNELS[-1] + found.plan["more"]


def test_too_few_minutes_have_no_slope(tmp_path: Path) -> None:
    found = answered(tmp_path, "channels", minutely(chinit(lambda at: 100 + at), minutes=9))
    assert found.of is not None
    assert found.of.refused.keys() == {"kb_each"}
    assert (found.plan["kb_each"], found.origins["kb_each"]) == (232, "published")


def test_storage_of_a_connection_is_its_slope(tmp_path: Path) -> None:
    def storage(minute: int) -> bytes:
        used = {"qsrssos": 1 << 20, "qsrscrit": 2 << 20, "qsrsmvs": 3 << 20}
        of_connections = (100_000 + 24 * CHANNELS[minute]) * 1024
        return smf.block("QSRS", qsrseloal=of_connections, qsrsaval=(600 - minute) << 20, **used)

    found = answered(tmp_path, "connections", minutely(chinit(lambda _: 100), storage))
    asked = found.plan.asked
    assert (asked.kb_each, asked.left_mb) == (pytest.approx(24), 600 - 11 - 6)
    assert found.plan["more"] == int(583 * 1024 * 0.8 / 24)


def test_a_queue_that_grows_fills_its_page_set(tmp_path: Path) -> None:
    made = minutely(
        lambda at: smf.block("QQST", qqstqnam="GROWS", qqstdpth=1000 + 600 * at),
        lambda at: smf.block("QQST", qqstqnam="HIGH", qqstdpth=8000 + 500 * at),
        lambda at: smf.block("QIS1", qis1psno=4, qis1topg=90_000, qis1unpg=72_000 - 1200 * at),
        lambda _: smf.block("QIS1", qis1psno=0, qis1topg=1000, qis1unpg=400),
        lambda at: smf.block("QIS1", qis1psno=5, qis1topg=9000, qis1unpg=3000 + at % 2),
    )
    found = answered(tmp_path, "pages", made)
    assert found.of is not None
    assert found.of.about == "queue GROWS (largest growth), page set 4 (first to be full)"
    asked = found.plan.asked
    assert (asked.growth, asked.now) == (pytest.approx(10), 1000 + 600 * 11)
    assert (asked.free_pages, asked.page_growth) == (72_000 - 1200 * 11, pytest.approx(20))
    assert found.plan["full_h"] == pytest.approx((72_000 - 1200 * 11) / 20 / 3600)


def test_a_queue_that_was_emptied_at_the_end_grew_all_the_same(tmp_path: Path) -> None:
    made = minutely(
        lambda at: smf.block("QQST", qqstqnam="EMPTIED", qqstdpth=100 * (at % 11)),
        lambda at: smf.block("QQST", qqstqnam="SLOWLY", qqstdpth=10 * at),
    )
    assert answered(tmp_path, "pages", made).whose.endswith(", queue EMPTIED (largest growth)")


def test_the_limit_of_a_batch_is_the_greatest_of_its_instances(tmp_path: Path) -> None:
    def instance(minute: int) -> bytes:
        limit = 4000 if minute % 2 else 2000
        counts = {"qcstnmsg": 100, "qcstbatc": 10, "qcstntav": 1000, "qcstnbyt": 10_000}
        return smf.block("QCST", qcstchnm="TO.QM02", qcstcbdl=limit, **counts)

    assert answered(tmp_path, "batches", minutely(instance)).plan.asked.batchlim == 4000


def test_where_no_page_set_grows_that_of_the_queue_counts_then_the_fewest_free_pages(
    tmp_path: Path,
) -> None:
    def page_set(number: int, free: int) -> Callable[[int], bytes]:
        return lambda _: smf.block("QIS1", qis1psno=number, qis1topg=90_000, qis1unpg=free)

    def queue(minute: int) -> bytes:
        return smf.block("QQST", qqstqnam="GROWS", qqstdpth=60 * minute, qqstpsid=5)

    sets = page_set(0, 100), page_set(4, 2000), page_set(5, 7200)
    found = answered(tmp_path, "pages", minutely(*sets))
    assert found.plan.asked.free_pages == 2000
    assert found.whose.endswith(", page set 4 (fewest free pages)")
    found = answered(tmp_path, "pages", minutely(*sets, queue))
    assert found.whose.endswith(", queue GROWS (largest growth), page set 5 (of that queue)")
    assert found.plan["full_h"] == pytest.approx(2)


def test_a_full_pool_gives_a_lower_bound(tmp_path: Path) -> None:
    def label(free: int) -> str:
        pool = smf.block("QPST", qpstpool=3, qpstnbuf=1000, qpstcbsl=free)
        figures = answered(tmp_path, "pages", minutely(lambda _: pool)).plan.figures
        return next(each.label for each in figures if each.name == "buffers_floor")

    assert (label(50), label(51)) == ("Minimum buffers, at least", "Minimum buffers")


@pytest.mark.claim(143)
def test_the_rate_of_compression_is_measured_with_the_size_of_messages(tmp_path: Path) -> None:
    def channel(_: int) -> bytes:
        return smf.block(
            "QCST", qcstchnm="TO.NORD", qcstchty=1, qcstnmsg=600, qcstbatc=10,
            qcstnbyt=600 * 32 * 1024, qcstcpra=60,
        )  # fmt: skip

    found = answered(tmp_path, "compression", minutely(channel))
    asked = found.plan.asked
    assert (asked.message_kb, asked.compressible) == (32, 60)
    assert found.origins["compressible"] == "measured"
    assert found.plan["mb_s"] == pytest.approx(600 / 60 * 32 / 1024 * (1 - 0.6))


# The time that rows of a queue manager cover

MIDNIGHT = dt.datetime(2022, 7, 7, tzinfo=dt.UTC)
HOUR = 3600
HOURS = 10, 12
"""When each of two hours begins: an hour is missing in between."""


def moment(hour: float) -> dt.datetime:
    return MIDNIGHT + dt.timedelta(hours=hour)


def putting(
    first: float, last: float, puts: int, to: str = "PAY.IN", structure: str = "APP1", **more: Any
) -> bytes:
    """A client that puts messages of 2 KB to a shared queue, and gets as many; 10 us each call."""
    token, ended = smf.token_of(1, MIDNIGHT), moment(last)
    counts = {"putn": puts, "validput": puts, "putbytes": 2048 * puts, "putct": 10 * puts}
    counts |= {"getn": puts, "validget": puts, "getdval": puts, "getct": 10 * puts}
    counts |= {"putpmsg": puts, "streamedn": puts * (to == "STREAMED")}
    used = smf.queue(to, token, version=9, cfstrucname=structure, **counts)
    flag = "WTASAEOT" if first == HOURS[-1] else 0  # ends in the last hour
    own = smf.task(token, ended=ended, wtasints=moment(first), wtasgpn=3 * puts, wtasflag=flag)
    by = smf.who("CHINIT", kind=6, wtidchl="CLIENTS")
    return smf.task_record(own, used, by=by, ended=ended, east=dt.timedelta(0), **more)


def local(hour: float) -> dt.datetime:
    return moment(hour).replace(tzinfo=None)


def statistics(hour: float) -> bytes:
    return smf.record(smf.block("QMST"), start=local(hour), seconds=HOUR)


def channel_initiator(hour: float) -> list[bytes]:
    """An hour of a sender channel with TLS, and of a client: 7,200 messages."""
    sends = {"qcstchnm": "A.B", "qcstchty": 1, "qcstnmsg": 2 * HOUR, "qcstbatc": 100}
    sends |= {"qcstnbyt": 2048 * 2 * HOUR, "qcstslcs": 0x1302, "qcstcpra": 40}
    blocks = [smf.block("QCST", **sends), smf.block("QCST", qcstchnm="CLIENTS", qcstchty=7)]
    adapters = smf.record(
        smf.block("QCT_ADP", qcteltm=1), of="QCT_ADP", start=local(hour), seconds=HOUR
    )
    return [smf.record(*blocks, start=local(hour), seconds=HOUR), adapters]


def measured(name: str, catalog: Catalog) -> dict[str, Any]:
    (found,) = answers(planner(name), {}, catalog)
    assert found.of is not None
    return dict(found.of.values)


RATES: dict[str, dict[str, float]] = {
    "streaming": {"puts_s": 2, "message_kb": 2, "put_cost": 10},
    "cf": {"arrivals": 2},
    "cpu": {"cpu_ms_a_second": 2 * 20 / 1000, "cost_us": 10},
    "concentrator": {"transactions_s": 2, "connects_s": 1 / 2 / HOUR},
    "compression": {"messages_s": 2},
    "tls": {"messages_s": 2},
    "smf": {"calls_a_second": 4, "tasks": 1, "queues": 3},
    "whatif": {"puts_s": 2, "pages_s": 6, "calls_a_second": 4, "tasks": 1, "message_kb": 2},
}
"""By planner: what 7,200 messages an hour are. Each is put and got, 20 us and 3 new pages."""
RATES["whatif"] |= {"put_cost": 10, "adapter_busy": 1 / 10_000 / HOUR}


@pytest.mark.sampled(1)
@pytest.mark.slow
@pytest.mark.parametrize("has_statistics", [True, False])
def test_an_hour_without_records_changes_no_rate(has_statistics: bool, write: Write) -> None:
    records = [each for hour in HOURS for each in channel_initiator(hour)]
    records += [putting(hour, hour + 1, 2 * HOUR) for hour in HOURS]
    records += [statistics(hour) for hour in HOURS if has_statistics]
    for hour, queues in zip(HOURS, (3, 1), strict=True):
        records.append(smf.record(*[smf.block("QQST")] * queues, start=local(hour), seconds=HOUR))
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
    rates = {each.of.qmgr: each.of.values["puts_s"] for each in found if each.of}
    assert rates == pytest.approx({"QMA": 1, "QMB": 1})


def test_records_of_short_tasks_are_none_of_an_accounting_interval(write: Write) -> None:
    """A task writes two records an hour; a hundred live half a minute. `smf-volume` agrees."""
    token = smf.task_token()

    def lasting(last: float) -> list[bytes]:
        own = smf.task(token, ended=moment(last), wtasints=moment(last - 1), wtasstrt=moment(0))
        other = smf.more_queues(smf.queue("Q2", token), ended=moment(last))
        return [smf.task_record(own, smf.queue("Q1", token), ended=moment(last)), other]

    def brief(number: int) -> bytes:
        began, ended = moment(10 + number / 120), moment(10 + (number + 1) / 120)
        own = smf.task(
            smf.task_token(number), ended=ended, wtasints=began, wtasstrt=began, wtasflag="WTASAEOT"
        )
        return smf.task_record(own, smf.queue("Q1", smf.task_token(number)), ended=ended)

    path = write(*lasting(11), *map(brief, range(1, 101)), *lasting(12))
    with Catalog(open_inputs([path])) as catalog:
        found = measured("smf", catalog)
    volume = report_rows("smf-volume", path, acctime="15")
    (line,) = [each for each in volume if each["line"] == "class 3"]
    names = "tasks", "task_records", "record_bytes"
    assert [found[each] for each in ("tasks", "task_records", "interval")] == [1, 2, HOUR]
    assert [line[f"plan_{each}"] for each in ("tasks", "task_records", "bytes")] == (
        pytest.approx([found[each] for each in names])
    )


def test_a_structure_is_planned_for_all_members_of_its_group(write: Write) -> None:
    """Of QMC no group is known."""
    found = [
        smf.record(smf.block("QCCT", qcctqsgn="QSG1"), qmgr=qmgr, start=local(10), seconds=HOUR)
        for qmgr in ("QMA", "QMB")
    ]
    of = (("QMA", "APP1", 1), ("QMB", "APP1", 2), ("QMB", "APP2", 4), ("QMC", "APP1", 8))
    found += [putting(10, 11, n * HOUR, structure=each, qmgr=qmgr) for qmgr, each, n in of]
    with Catalog(open_inputs([write(*found)])) as catalog:
        plans = [each.of for each in answers(planner("cf"), {}, catalog) if each.of]
    rates = {(each.qmgr, each.about[-4:]): each.values["arrivals"] for each in plans}
    assert rates == pytest.approx({("QMA, QMB", "APP1"): 3, ("QMB", "APP2"): 4, ("QMC", "APP1"): 8})


def test_two_hours_of_batches_that_wait_a_second_each_can_be_added(write: Write) -> None:
    counts = {"qcstnmsg": HOUR, "qcstbatc": 5930, "qcstntav": 1_090_243}
    channel = smf.block("QCST", qcstchnm="A.B", qcstchty=1, **counts)
    path = write(smf.record(channel, start=local(10), seconds=2 * HOUR))
    with Catalog(open_inputs([path])) as catalog:
        assert measured("batches", catalog)["net_ms"] == pytest.approx(1090.243)


LOG = {"qjstslptu": 1e6, "qjstiocount": 1, "qjstioci": 7 * 256 * HOUR, "qjstiototsus": 1e6}
LOGGED = smf.record(smf.block("QJST", 720, **LOG), start=local(10), seconds=HOUR)
"""Statistics of an hour in which the log took 7 MB per second."""


def test_what_would_be_streamed_is_a_share_of_the_puts(write: Write) -> None:
    path = write(putting(10, 11, HOUR), putting(10, 11, 3 * HOUR, to="OUT"))
    with Catalog(open_inputs([path])) as catalog:
        for asked, share in (({"streaming": "PAY.*"}, 25), ({}, 0)):
            (found,) = answers(planner("whatif"), asked, catalog)
            assert (found.plan.asked.share, found.origins["share"]) == (share, "measured")
    with Catalog(open_inputs([write(LOGGED)])) as catalog:
        (found,) = answers(planner("whatif"), {}, catalog)
    assert found.origins["share"] == "published"


def test_queues_that_stream_are_not_planned_again(write: Write) -> None:
    """Of 7 messages in the log, 3 are streamed, and 3 are their copies."""
    path = write(putting(10, 11, HOUR), putting(10, 11, 3 * HOUR, "STREAMED"), LOGGED)
    with Catalog(open_inputs([path])) as catalog:
        found = measured("streaming", catalog)
    assert (found["puts_s"], found["log_mb_s"]) == pytest.approx((1, 1))


def test_where_queues_are_selected_pages_of_whole_tasks_measure_nothing(write: Write) -> None:
    token, ended = smf.task_token(), moment(11)
    used = [
        smf.queue(to, token, version=9, putn=10, validput=10, putbytes=10 * kb * 1024)
        for to, kb in (("PAY.IN", 2), ("PAY.LARGE", 40))
    ]
    own = smf.task(token, ended=ended, wtasints=moment(10), wtasgpn=10 * 1 + 10 * 11)
    path = write(smf.task_record(own, *used, ended=ended, east=dt.timedelta(0)))
    for queues, pages, kb in ((frozenset(), 6, 21), (frozenset({"PAY.IN"}), None, 2)):
        options = ReadOptions(selection=Selection(queues=queues))
        with Catalog(open_inputs([path], options)) as catalog:
            (found,) = answers(planner("pages"), {}, catalog)
        assert found.of is not None
        assert (found.of.values.get("pages_each"), found.of.values["message_kb"]) == (pages, kb)
        said = "With --queue, only rows with such a name are measured."
        assert (said in notes(found)) is bool(queues)
