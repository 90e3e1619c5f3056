"""What answer keys name is in the records: each rule crosses its limit then, and hardly otherwise.

The conditions are those of the catalogue of rules, written out anew.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from smfparse.simulating import answer_key, load_estate, scenario_names
from tests.simulating.simulated import Day, simulated

pytestmark = pytest.mark.slow

LENGTH = dt.timedelta(minutes=10)
OF_QUEUE = "FROM qqst WHERE qqstqnam = '{object}' AND NOT qqstpart"
OF_TASKS = "FROM wtas JOIN wtid USING (record_no) WHERE wtidccn = '{job}' GROUP BY 1"
OF_WQST = "FROM wqst WHERE basename = '{object}' GROUP BY 1"
AT = "time_bucket(INTERVAL 10 MINUTES, {0}interval_start)"

RULES = {
    "LOG-RESPONSE": "SELECT interval_start, sum(qjstiototio) / sum(qjstiocount) > 500"
    " FROM qjst_io WHERE io_type = 1 GROUP BY 1",
    "LOG-BUSY": "SELECT interval_start, qjstslptu < 0.05 * interval_seconds * 1e6 FROM qjst",
    "LOG-CHECKPOINTS": "SELECT interval_start, qjstllcp > interval_seconds / 300 FROM qjst",
    "Q-GROW": "SELECT interval_start, qqstputs > 1.02 * qqstgets " + OF_QUEUE,
    "Q-NO-GETTER": "SELECT interval_start, qqstiphi = 0 AND qqstdpth > 0 AND qqstputs > 0 "
    + OF_QUEUE,
    "Q-STUCK": "SELECT interval_start, qqstgets = 0 AND qqstdpth > 0 AND qqstmage >= 600 "
    + OF_QUEUE,
    "Q-ROLLBACK": "SELECT interval_start, qqstrbgt > 0.05 * qqstgets " + OF_QUEUE,
    "Q-EXPIRED": "SELECT interval_start, qqstexpr > 0.05 * qqstputs " + OF_QUEUE,
    "TASK-BACKOUT": f"SELECT {AT.format('wtas.')}, sum(wtasban) > 0.05 * sum(wtasban + wtascmn) "
    + OF_TASKS,
    "QUEUE-INDEX": f"SELECT {AT.format('')}, min(indxtype) = 0 AND sum(gets) > 0.5 * sum(getn)"
    f" {OF_WQST}",
    "QUEUE-SKIPPED": f"SELECT {AT.format('')}, sum(getepage + getsmsg) > sum(getn) {OF_WQST}",
    "QUEUE-SELECTORS": f"SELECT {AT.format('')}, sum(selcount) > 0 {OF_WQST}",
    "QUEUE-OPENS": f"SELECT {AT.format('wqst.')}, sum(openn) >= 0.9 * sum(getn + putn) FROM wqst"
    " JOIN wtid USING (record_no) WHERE basename = '{object}' AND wtidccn = '{job}' GROUP BY 1",
    "D16": f"SELECT {AT.format('')}, sum(streamedn) > 0 {OF_WQST}",
    "DATA-SCROLL": "SELECT interval_start, qistmget > 1.1 * qmstget FROM qist JOIN qmst"
    " USING (interval_start)",
    "D8": f"SELECT {AT.format('wtas.')}, count(*) > 600 FROM wtas JOIN wtid USING (record_no)"
    " WHERE wtidchl = '{object}' AND wtasstrt = wtasints GROUP BY 1",
    "CHL-BATCH-FULL": "SELECT interval_start, qcstfuba > 0.9 * qcstbatc"
    " AND qcstbatc * qcstntav > 0.2 * interval_seconds * 1e6 FROM qcst"
    " WHERE qcstchnm = '{object}'",
    "CHL-NETTIME": "SELECT interval_start, qcstntav > 1.3 * least_trip FROM qcst JOIN ("
    " SELECT qcstchnm, min(qcstntav) AS least_trip FROM qcst GROUP BY ALL) USING (qcstchnm)"
    " WHERE qcstchnm = '{object}'",
    "CF-SLOW": "SELECT interval_start, sum(qestsstc) > 50 * sum(qestcsec) FROM qest"
    " WHERE qeststr = '{object}' GROUP BY 1",
    "CHINIT-31-TREND": "SELECT interval_start, qcctstus > lag(qcctstus) OVER"
    " (ORDER BY interval_start) FROM qcct",
    "DISP-BUSY": "SELECT interval_start, max(qcteltm) > 0.9 * 600e6 FROM qct_dsp GROUP BY 1",
    "DISP-SPREAD": "SELECT interval_start, max(qcteltm) > 4.9 * avg(qcteltm) AND"
    " max(qcteltm) > 60e6 FROM qct_dsp GROUP BY 1",
    "SSL-NEGOTIATE": "SELECT interval_start, sum(qctcptm) > 100 * sum(qctreqn) FROM qct_ssl"
    " GROUP BY 1",
    "QUEUE-SELECTOR": f"SELECT {AT.format('wqst.')}, sum(cfcount) FILTER (request = 9)"
    " > 100 * sum(cfcount) FILTER (request = 11) FROM wqst_cf"
    " JOIN wqst USING (record_no, block_no) WHERE basename = '{object}' AND verb = 'get'"
    " GROUP BY 1",
}
WITHOUT_LIMIT = {"D1", "D2", "D5", "D6", "D9", "D12", "D13", "D14", "D17", "TASK-LOG-WAIT"}
"""Diagnoses of other rules, and a rule that many a healthy task crosses."""
GAPS = {"SMF-GAP"}
RESTARTS = {"SMF-RESTART"}
WRONG = [
    name for name in scenario_names() if (estate := load_estate(name)).incidents or estate.answers
]


@pytest.fixture(scope="module", params=WRONG)
def case(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[str, Day]]:
    folder: Path = tmp_path_factory.mktemp("site")
    day = simulated(folder, request.param, interval=LENGTH)
    yield request.param, day
    day.connection.close()


def answers(name: str) -> list[dict[str, str]]:
    return answer_key(load_estate(name, interval=LENGTH)).answers()


def crossed(day: Day, row: dict[str, str]) -> dict[dt.datetime, bool]:
    """Return whether the rule crosses its limit, by the start of the interval."""
    found = day.rows(RULES[row["rule"]].format(**row))
    return {at.replace(tzinfo=None): bool(limit) for at, limit in found}


def inside(row: dict[str, Any], at: dt.datetime) -> bool:
    begin, end = (dt.datetime.fromisoformat(row[each]) for each in ("start", "end"))
    return begin <= at and at + LENGTH <= end


def test_a_rule_crosses_its_limit_when_the_key_says_so(case: tuple[str, Day]) -> None:
    name, day = case
    for row in answers(name):
        if row["rule"] in RULES:
            found = [limit for at, limit in crossed(day, row).items() if inside(row, at)]
            assert found, row
            assert sum(found) >= 0.9 * len(found) - 1, row
        else:
            assert row["rule"] in WITHOUT_LIMIT | GAPS | RESTARTS, row


def test_a_rule_hardly_crosses_its_limit_otherwise(case: tuple[str, Day]) -> None:
    """What an incident leaves may last a while: a queue grows until its consumer caught up."""
    name, day = case
    for row in answers(name):
        if row["rule"] in RULES:
            found = [limit for at, limit in crossed(day, row).items() if not inside(row, at)]
            assert sum(found) <= 0.08 * 144, row


def test_a_gap_is_where_the_key_says(case: tuple[str, Day]) -> None:
    name, day = case
    for row in answers(name):
        if row["rule"] in GAPS:
            begin, end = (dt.datetime.fromisoformat(row[each]) for each in ("start", "end"))
            written = [
                at.replace(tzinfo=None) for (at,) in day.rows("SELECT interval_start FROM qmst")
            ]
            assert not [at for at in written if begin <= at < end - LENGTH / 2]
            assert len(written) < 144


def test_a_restart_is_the_first_interval_of_the_key_and_of_numbers(case: tuple[str, Day]) -> None:
    name, day = case
    times = [(row["start"], row["end"]) for row in answers(name) if row["rule"] in RESTARTS]
    first = day.rows(
        "SELECT DISTINCT interval_start, interval_seconds FROM qmst WHERE sequence_no = 1"
    )
    shown = [at.replace(tzinfo=None) for at, _ in first]
    ends = [
        at + dt.timedelta(seconds=seconds) for at, (_, seconds) in zip(shown, first, strict=True)
    ]
    written = [at.isoformat(timespec="minutes") for at in (*shown, *ends)]
    assert written == [*(start for start, _ in times), *(end for _, end in times)]


@pytest.mark.parametrize("name", ["payments", "mft", "reqrep", "shared"])
def test_a_quiet_day_crosses_none_of_these_rules(name: str, tmp_path: Path) -> None:
    """Rules about one queue, job or channel are asked of all of them."""
    day = simulated(tmp_path, name, interval=LENGTH)
    queues = [name for (name,) in day.rows("SELECT DISTINCT qqstqnam FROM qqst")]
    jobs = [name for (name,) in day.rows("SELECT DISTINCT wtidccn FROM wtid")]
    for rule, query in RULES.items():
        things = [{"object": "", "job": ""}]
        if "{object}" in query:
            things = [{"object": each, "job": ""} for each in queues]
        if "{job}" in query:
            things = [{"object": "", "job": each} for each in jobs]
        for thing in things:
            assert not any(crossed(day, {"rule": rule, **thing}).values()), (rule, thing)
