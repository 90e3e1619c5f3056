"""The report message: what crosses rules, put together, and interval by interval."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, cast

import pytest

from smfparse.advice.answering import answered_parts, answered_rows
from smfparse.advice.declaration import rules, subjects
from smfparse.advice.findings import Finding
from smfparse.advice.running import run_rules
from smfparse.errors import RequestError
from smfparse.query.catalog import Catalog
from smfparse.reports.declaration import report
from smfparse.reports.sections import TOTAL, Sections, every
from tests.support.advised import SECONDS, START, Bench, Rows
from tests.support.corpora import Corpus, of_corpora
from tests.support.report_runs import printed

MESSAGE = report("message")
NO_CHANNEL = {"qcctmxac": 100, "qcctmxcc": 100}


def channels(*active: int) -> Mapping[str, Any]:
    """Return intervals of a channel initiator, with so many of 100 channels active in each."""
    return {
        "qcct": [
            {**NO_CHANNEL, "interval_no": number, "record_no": number + 1, "qcctnoac": each}
            for number, each in enumerate(active)
        ]
    }


def messages(rows: Rows, sections: Sections | None = None, **asked: Any) -> list[dict[str, Any]]:
    bench = cast(Catalog, Bench(rows, MESSAGE.tables))
    return [dict(each) for each in answered_rows(MESSAGE, bench, sections, **asked)]


def clock(minutes: float) -> dt.datetime:
    return START + dt.timedelta(minutes=minutes)


def test_a_warning_is_a_finding_of_class_1_or_2() -> None:
    assert [messages(channels(active))[0]["grade"] for active in (89, 90)] == ["I", "W"]


def test_each_interval_can_be_had_by_itself() -> None:
    rows = messages(channels(50, 51, 70), every=True)
    found = [(row["interval_start"], row["value"]) for row in rows]
    assert found == [(clock(10), 51), (clock(20), 70)]
    assert {(row["crossed"], row["evaluated"], row["share"]) for row in rows} == {(1, 1, 100)}
    with pytest.raises(RequestError, match="every= excludes interval= and total="):
        messages(channels(51), TOTAL, every=True)


def test_a_length_puts_together_what_counts_in_it() -> None:
    rows = messages(channels(51, 52, 50, 53, 50, 50, 54), every("30m"))
    assert [(row["bucket"], row["crossed"], row["evaluated"], row["value"]) for row in rows] == [
        (dt.datetime(2026, 3, 4, 9, 0), 2, 3, 52),
        (dt.datetime(2026, 3, 4, 9, 30), 1, 3, 53),
        (dt.datetime(2026, 3, 4, 10, 0), 1, 1, 54),
    ]
    assert messages(channels(51, 52), TOTAL) == messages(channels(51, 52))


def test_the_most_serious_comes_first_then_pools_by_number() -> None:
    usual = {"qpstnbuf": 100, "qpstcbsl": 100, "qpstdmc": 1}
    pools = [usual | {"qpstpool": each, "qpstsos": int(each == 11)} for each in (10, 2, 11)]

    found = [(row["rule"], row["object"]) for row in messages({"qpst": pools})]
    assert found == [("BUFF-SOS", "11"), *(("BUFF-DMC", each) for each in ("2", "10", "11"))]


def test_the_text_of_mp1b_and_ours() -> None:
    rows = channels(51, 52)
    rows = {**rows, "qpst": [{"qpstpool": 3, "qpstnbuf": 100, "qpstcbsl": 100, "qpstsos": 4}]}
    place = "SYSA,QM01,From 2026/03/04,09:00:00 to 2026/03/04,09"

    assert list(printed(MESSAGE, messages(rows), "text")) == [
        f"{place}:10:00,W BUFF-SOS pool 3: no buffer was free "
        "(4 waits for a buffer; 1 of 1 intervals, 100% of the time, worst 2026/03/04,09:00:00)",
        f"    {rules()['BUFF-SOS'].do}",
        f"{place}:20:00,I MQCHIN001W The high water mark of the number of active channels >50 % of "
        "max channels (52% of ACTCHL active; 2 of 2 intervals, 100% of the time, "
        "worst 2026/03/04,09:10:00)",
        f"    {rules()['MQCHIN001W'].do}",
    ]
    assert next(printed(MESSAGE, messages(channels(51), every=True), "text")) == (
        f"{place}:10:00,I MQCHIN001W The high water mark of the number of active channels >50 % of "
        f"max channels; {rules()['MQCHIN001W'].do} "
        "(51% of ACTCHL active, limit share 50: MP1B; severity 2 from 90% on is ours)"
    )


def test_the_number_of_a_text_of_mp1b_is_a_whole_one() -> None:
    busy = {"qct_dsp": [{"qcteltm": 0.774 * SECONDS * 1e6}]}

    (row,) = (row for row in messages(busy) if row["rule"] == "MQCHIN007I")

    assert row["message"] == "Dispatcher task is 77% busy on average"


def test_its_rules_are_those_of_the_catalogue() -> None:
    shown = [rules()[each] for each in MESSAGE.rules]
    assert len({*MESSAGE.rules}) == len(MESSAGE.rules)
    assert all(each.complete and not each.is_sign for each in shown)
    assert {*MESSAGE.tables} == {t for each in shown for t in subjects()[each.subject].tables}
    assert {each.id for each in rules().values() if each.mp1b} <= {*MESSAGE.rules}
    assert {each for each in rules() if each.startswith("MQCHIN")} <= {*MESSAGE.rules}


def findings(found: Iterable[Finding]) -> Iterator[tuple[Any, ...]]:
    for each in (each for top in found for each in top.whole()):
        if each.rule in MESSAGE.rules:
            share = round(100 * each.share, 6)
            place = each.system, each.qmgr, each.object
            yield *place, each.rule, each.crossed, each.evaluated, share, each.peak


@pytest.mark.sampled(1)
@pytest.mark.slow
@of_corpora("site", "old", "real")
def test_it_says_what_check_finds(corpus: Corpus) -> None:
    (table,) = answered_parts(MESSAGE, corpus.catalog)
    checked = run_rules(corpus.catalog)
    assert table.schema.names[-1] == MESSAGE.figures[-1].name
    columns = ("system", "qmgr", "object", "rule", "crossed", "evaluated", "share", "value")
    shown = {tuple(row[name] for name in columns) for row in table.to_pylist()}
    assert shown == {*findings(checked.findings)}
