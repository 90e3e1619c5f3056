"""What answer keys name is in the records: each rule crosses its limit then, and hardly otherwise.

The conditions are those of the catalogue of rules, written out anew.
"""

from __future__ import annotations

import datetime as dt
from pathlib import Path

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
STARTS = "SELECT interval_start FROM qmst"
FIRSTS = "SELECT DISTINCT interval_start, interval_seconds FROM qmst WHERE sequence_no = 1"
WITHOUT_LIMIT = {"D1", "D2", "D5", "D6", "D9", "D12", "D13", "D14", "D17", "TASK-LOG-WAIT"}
"""Diagnoses of other rules, and a rule that many a healthy task crosses."""
FEW = ("log-slow", "restart", "selectors", "smf-loss")
WRONG = [
    name for name in scenario_names() if (estate := load_estate(name)).incidents or estate.answers
]


def answers(name: str) -> list[dict[str, str]]:
    return answer_key(load_estate(name, interval=LENGTH)).answers()


def crossed(day: Day, row: dict[str, str]) -> dict[dt.datetime, bool]:
    """Return whether the rule crosses its limit, by the start of the interval."""
    found = day.rows(RULES[row["rule"]].format(**row))
    return {at.replace(tzinfo=None): bool(limit) for at, limit in found}


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    "name", [pytest.param(each, marks=[] if each in FEW else pytest.mark.long) for each in WRONG]
)
def test_records_show_what_the_key_names(name: str, tmp_path: Path) -> None:
    """What an incident leaves may last a while: a queue grows until its consumer caught up."""
    day, restarts = simulated(tmp_path, name, interval=LENGTH), []
    for row in answers(name):
        begin, end = (dt.datetime.fromisoformat(row[each]) for each in ("start", "end"))
        if row["rule"] in RULES:
            limits = crossed(day, row)
            during = [limits[at] for at in limits if begin <= at and at + LENGTH <= end]
            others = [limits[at] for at in limits if not (begin <= at and at + LENGTH <= end)]
            assert during, row
            assert sum(during) >= 0.9 * len(during) - 1, row
            assert sum(others) <= 0.08 * 144, row
        elif row["rule"] == "SMF-GAP":
            written = [at.replace(tzinfo=None) for (at,) in day.rows(STARTS)]
            assert not [at for at in written if begin <= at < end - LENGTH / 2]
            assert len(written) < 144
        elif row["rule"] == "SMF-RESTART":
            restarts.append((begin, end))
        else:
            assert row["rule"] in WITHOUT_LIMIT, row
    firsts = [
        (at.replace(tzinfo=None), at.replace(tzinfo=None) + dt.timedelta(seconds=seconds))
        for at, seconds in day.rows(FIRSTS)
    ]
    assert [tuple(map(in_minutes, each)) for each in firsts] == [
        tuple(map(in_minutes, each)) for each in restarts
    ]
    day.connection.close()


def in_minutes(moment: dt.datetime) -> str:
    return moment.isoformat(timespec="minutes")


@pytest.mark.long
@pytest.mark.parametrize(
    "name",
    ["payments", *(pytest.param(each, marks=pytest.mark.long) for each in ("mft", "shared"))],
)
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
