"""Storage of a channel and of a connection, and growth of a queue, out of records that are made."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from pathlib import Path

import pytest

from smfparse.capacity import Answer, answers
from smfparse.inputs import ReadOptions, open_inputs
from smfparse.planning import planner
from smfparse.query import Catalog
from tests.support import smf
from tests.support.builders import rdw

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
    path = folder / "made.smf"
    path.write_bytes(data)
    with Catalog(open_inputs([str(path)], ReadOptions(jobs=1))) as catalog:
        (found,) = answers(planner(name), {}, catalog)
    return found


def chinit(megabytes: Callable[[int], int]) -> Callable[[int], bytes]:
    return lambda minute: smf.block(
        "QCCT", qcctnocc=CHANNELS[minute], qcctmxcc=9999, qcctstus=megabytes(minute)
    )


def test_storage_of_a_channel_is_its_slope(tmp_path: Path) -> None:
    found = answered(tmp_path, "channels", minutely(chinit(lambda at: 50 + CHANNELS[at] // 4)))
    assert found.plan["kb_each"] == pytest.approx(256)
    assert found.origins["kb_each"] == "measured"
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

    data = minutely(chinit(lambda _: 100), storage)
    found = answered(tmp_path, "connections", data)
    asked = found.plan.asked
    assert (asked.kb_each, asked.left_mb) == (pytest.approx(24), 600 - 11 - 6)
    assert found.plan["more"] == int(583 * 1024 * 0.8 / 24)


def test_a_queue_that_grows_fills_its_page_set(tmp_path: Path) -> None:
    made = minutely(
        lambda at: smf.block("QQST", qqstqnam="GROWS", qqstdpth=1000 + 600 * at),
        lambda at: smf.block("QIS1", qis1psno=4, qis1topg=90_000, qis1unpg=72_000 - 1200 * at),
        lambda _: smf.block("QIS1", qis1psno=0, qis1topg=1000, qis1unpg=400),
        lambda at: smf.block("QIS1", qis1psno=5, qis1topg=9000, qis1unpg=3000 + at % 2),
    )
    found = answered(tmp_path, "pages", made)
    assert found.of is not None
    assert found.of.about == "queue GROWS, page set 4"
    asked = found.plan.asked
    assert (asked.growth, asked.now) == (pytest.approx(10), 1000 + 600 * 11)
    assert (asked.free_pages, asked.page_growth) == (72_000 - 1200 * 11, pytest.approx(20))
    assert found.plan["full_h"] == pytest.approx((72_000 - 1200 * 11) / 20 / 3600)


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
    found = answered(tmp_path, "pages", minutely(*sets, queue))
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
