"""Channels before and after: messages, bytes and network time."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

import smfparse
from tests.advice.independent.sites import BANK
from tests.support.days import Fault, day

NEXT_DAY = BANK.day + dt.timedelta(days=1)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("days")


def written(folder: Path, name: str, date: dt.date, faults: Sequence[Fault] = ()) -> Path:
    site = replace(BANK, day=date, times={"hours": (9, 13)}, class3=False)
    path = folder / f"{name}.smf"
    path.write_bytes(day(site, faults))
    return path


def test_a_slower_network_and_a_larger_load_of_one_channel_show(folder: Path) -> None:
    before = written(folder, "before", BANK.day)
    faults = [Fault("net TO.QMB1", 24_000.0), Fault("rate QMB1.XMIT", 2.0)]
    after = written(folder, "after", NEXT_DAY, faults)
    rows = smfparse.compare(before, after).filter(pl.col("figure").str.starts_with("channel_"))

    by_hand = [_of_channel(each) for each in (before, after)]
    for figure in ("messages_per_second", "bytes_per_second", "network_time"):
        (row,) = rows.filter(figure=f"channel_TO.QMB1_{figure}").to_dicts()
        expected = [each[figure] for each in by_hand]
        assert [row["before"], row["after"]] == pytest.approx(expected)
        assert row["significant"]
    assert by_hand[1]["network_time"] > 15 * by_hand[0]["network_time"]
    assert not rows.filter(
        pl.col("figure").str.contains("QMB1.BNK1", literal=True), pl.col("significant")
    ).height


def _of_channel(path: Path) -> dict[str, float]:
    """Return the figures of TO.QMB1, which has one instance, worked out from its rows."""
    rows = (
        smfparse.open(path)
        .sql(
            "SELECT qcstnmsg AS messages, qcstnbyt AS bytes, qcstntav AS us, qcstbatc AS batches "
            "FROM qcst WHERE qcstchnm = 'TO.QMB1'"
        )
        .to_pylist()
    )
    seconds, batches = 600 * len(rows), sum(each["batches"] for each in rows)
    return {
        "messages_per_second": sum(each["messages"] for each in rows) / seconds,
        "bytes_per_second": sum(each["bytes"] for each in rows) / seconds,
        "network_time": sum(each["us"] * each["batches"] for each in rows) / batches,
    }
