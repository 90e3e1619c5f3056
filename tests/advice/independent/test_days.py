"""Independent days are sound: all records are read, and their numbers agree."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import smfparse
from tests.advice.independent.sites import BANK, GROUP
from tests.support.days import Fault, Field, day


def rows(data: bytes, tmp_path: Path, query: str) -> list[Mapping[str, Any]]:
    """Return the rows of a query over a day of which no record is damaged."""
    file = tmp_path / "day.smf"
    file.write_bytes(data)
    opened = smfparse.open(file)
    assert opened.sql("FROM damage").num_rows == 0
    return opened.sql(query).to_pylist()


def test_queues_hold_what_was_put_and_not_got(tmp_path: Path) -> None:
    faults = [Fault("spare LEDGER.IN", 0.0, "10:00", "12:00")]
    query = """
        SELECT qqstqnam AS queue, sum(qqstputs)::BIGINT - sum(qqstgets) + sum(qqstrbgt) AS held,
            arg_max(qqstdpth, interval_start) AS depth, max(qqstdpth) AS most
        FROM qqst GROUP BY ALL ORDER BY ALL
    """
    found = rows(day(BANK, faults), tmp_path, query)

    assert [each["queue"] for each in found] == sorted(each.queue for each in BANK.flows)
    assert all(each["held"] == each["depth"] for each in found)
    assert {each["queue"]: each["most"] > 50_000 for each in found}["LEDGER.IN"]


def test_accounting_has_what_statistics_have_and_a_planted_field_its_time(tmp_path: Path) -> None:
    fields = [Field("QPST", "qpstsos", 7, "9:00", "10:00", of=3)]
    query = """
        SELECT (SELECT sum(validput) FROM wqst) AS put, (SELECT sum(qqstputs) FROM qqst) AS puts,
            (SELECT sum(getdval) FROM wqst) AS got, (SELECT sum(qqstgets) FROM qqst) AS gets,
            (SELECT list(qpstpool) FROM qpst WHERE qpstsos = 7) AS planted
    """
    (found,) = rows(day(GROUP, (), fields), tmp_path, query)
    assert (found["put"], found["got"]) == (found["puts"], found["gets"])
    assert found["planted"] == [3] * 6
