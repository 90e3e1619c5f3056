"""The report message: a rule is crossed beyond its limit, and not at it."""

from __future__ import annotations

import datetime as dt
import operator
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from smfparse import reports
from smfparse.inputs import ReadOptions, open_inputs
from smfparse.query import Catalog
from smfparse.reports import TOTAL
from tests.support import smf
from tests.support.builders import rdw
from tests.support.real import every_file
from tests.support.report_runs import report_lines, report_rows

START = dt.datetime(2026, 3, 4, 12, 0, 0)
SECONDS = 600
Make = Callable[[dict[str, Any]], bytes]


def record(*blocks: bytes, of: str | None = None) -> bytes:
    """A record of ten minutes."""
    return smf.record(*blocks, of=of, start=START, seconds=SECONDS, system="SYS1", qmgr="MQ01")


def named(values: dict[str, Any], prefix: str) -> dict[str, Any]:
    return {name: value for name, value in values.items() if name.startswith(prefix)}


def pool(values: dict[str, Any]) -> bytes:
    values = {"qpstpool": 3, "qpstnbuf": 1000, "qpstcbsl": 1000, "qpststl": 100} | values
    return record(smf.block("QPST", **values))


def log(values: dict[str, Any]) -> bytes:
    """A QJST; `io` is (I/Os, pages, microseconds) of copy 1 for one page, `io_2` for several."""
    values = {"qjstslptu": SECONDS * 10**6} | values
    io = {(1, 1): values.pop("io", None), (1, 2): values.pop("io_2", None)}
    done = {place: smf.Io(*each) for place, each in io.items() if each}
    sleep = values.pop("qjstslptu")
    return record(smf.Log(values, done, sleep).block(596))


def managers(values: dict[str, Any]) -> bytes:
    return record(
        smf.block("QMST", **named(values, "qmst")), smf.block("QIST", **named(values, "qist"))
    )


def storage(values: dict[str, Any]) -> bytes:
    return record(smf.block("QSST", **values))


def channels(values: dict[str, Any]) -> bytes:
    values = {"qcctmxcc": 100, "qcctmxac": 100} | values
    return record(smf.block("QCCT", **values))


def tasks(name: str, *each: dict[str, Any]) -> bytes:
    return record(*[smf.block(name, **values) for values in each], of=name)


def dispatcher(values: dict[str, Any]) -> bytes:
    return tasks("QCT_DSP", values)


def adapters(values: dict[str, Any]) -> bytes:
    """Two adapters, of which the values are the last."""
    return tasks("QCT_ADP", {"qcteltm": percent(values.pop("first", 0))}, values)


def ssl(values: dict[str, Any]) -> bytes:
    return tasks("QCT_SSL", values)


def dns(values: dict[str, Any]) -> bytes:
    return tasks("QCT_DNS", values)


def queue(values: dict[str, Any], cf: smf.CfCounts | None = None) -> bytes:
    """A 116/1 with one queue block."""
    begin, end = (
        (START + dt.timedelta(seconds=each)).replace(tzinfo=dt.UTC) for each in (0, SECONDS)
    )
    return smf.task_record(
        smf.task(ended=end, wtasints=begin), smf.queue("Q1", version=6, cf=cf, **values), ended=end
    )


def percent(share: float) -> float:
    """Microseconds that are so many per cent of the interval."""
    return share / 100 * SECONDS * 1e6


def shared(values: dict[str, Any]) -> bytes:
    """A 115/2 with Q5ST, QEST (slot 0) and QESD."""
    return record(
        smf.block("Q5ST", 704, **named(values, "dhig")),
        smf.block("QEST", qeststr="APPL1", **named(values, "qest")),
        smf.block("QESD", 376, qesdstr="APPL1", qesdbfto=9, **named(values, "qesd")),
    )


def moves(values: dict[str, Any]) -> bytes:
    """A 116/1 with one queue block, and coupling facility requests of its MQGET."""
    cf = {(GET, request): (count, 0, 0, 0, 0) for request, count in values["requests"].items()}
    return queue({"getn": 1}, cf)


GET = 2
"""Group of coupling facility requests in WQST."""


RULES: list[tuple[str, Make, dict[str, Any], float, dict[str, Any]]] = [
    ("BUFF-SOS", pool, {"qpstsos": 1}, 1, {"qpstsos": 0}),
    ("BUFF-DMC", pool, {"qpstdmc": 2}, 2, {"qpstdmc": 0}),
    ("BUFF-IMW", pool, {"qpstimw": 3}, 3, {"qpstimw": 0}),
    ("BUFF-DWT", pool, {"qpstdwt": 4}, 4, {"qpstdwt": 0}),
    ("BUFF-FREE", pool, {"qpstcbsl": 50}, 5, {"qpstcbsl": 51}),
    ("BUFF-LOW", pool, {"qpstcbsl": 150}, 15, {"qpstcbsl": 151}),
    ("BUFF-STLA", pool, {"qpststla": 21}, 21, {"qpststla": 20}),
    ("BUFF-SCAN", pool, {"qpstrio": 1001, "qpsttpw": 100}, 10.01, {"qpstrio": 999, "qpsttpw": 1}),
    ("LOG-WTB", log, {"qjstwtb": 1}, 1, {"qjstwtb": 0}),
    ("LOG-TVC", log, {"qjsttvc": 2, "qjstrbuf": 100}, 2, {"qjsttvc": 1, "qjstrbuf": 100}),
    ("LOG-ARCHIVE", log, {"qjstrarh": 34, "qjstract": 66}, 34, {"qjstrarh": 33, "qjstract": 67}),
    ("LOG-READS", log, {"qjstract": 1}, 1, {}),
    ("LOG-CHECKPOINTS", log, {"qjstllcp": 3}, 3, {"qjstllcp": 2}),
    (
        "LOG-BUSY",
        log,
        {"qjstslptu": round(percent(5)), "io_2": (10, 110, 0)},
        95,
        {"qjstslptu": round(percent(6)), "io_2": (10, 110, 0)},
    ),
    ("LOG-CEILING", log, {"io_2": (10, 1000, 0)}, 100, {"io_2": (10, 999, 0)}),
    ("LOG-RESPONSE", log, {"io": (10, 10, 5010)}, 501, {"io": (10, 10, 5000)}),
    (
        "DATA-SCROLL",
        managers,
        {"qistmget": 222, "qmstget": 200},
        1.11,
        {"qistmget": 220, "qmstget": 200},
    ),
    (
        "MSGM-EMPTY",
        managers,
        {"qmstget": 222, "qistmget": 200},
        1.11,
        {"qmstget": 220, "qistmget": 200},
    ),
    (
        "MSGM-WAITING-GETTER",
        managers,
        {"qmstput": 111, "qmstput1": 111, "qistmput": 200},
        1.11,
        {"qmstput": 110, "qmstput1": 110, "qistmput": 200},
    ),
    (
        "DATA-GENERATED",
        managers,
        {"qistmput": 222, "qmstput": 200},
        1.11,
        {"qistmput": 220, "qmstput": 200},
    ),
    ("DATA-DISK", managers, {"qistgetd": 5}, 5, {}),
    ("DATA-OBJECTS", managers, {"qistdcre": 2, "qistddel": 1}, 3, {}),
    ("STG-SOS", storage, {"qsstcrit": 1, "qsstcont": 1}, 2, {"qsstrcnz": 1}),
    ("MQCHIN001W", channels, {"qcctnoac": 51}, 51, {"qcctnoac": 50}),
    ("CHINIT-MAXCHL", channels, {"qcctnocc": 91}, 91, {"qcctnocc": 90}),
    ("MQCHIN007I", dispatcher, {"qcteltm": percent(51)}, 51, {"qcteltm": percent(50)}),
    ("DISP-BUSY", dispatcher, {"qcteltm": percent(91)}, 91, {"qcteltm": percent(90)}),
    (
        "DISP-CPU",
        dispatcher,
        {"qcteltm": percent(9), "qctcptm": percent(3)},
        3,
        {"qcteltm": percent(9), "qctcptm": percent(4.5)},
    ),
    (
        "MQCHIN008I",
        adapters,
        {"first": 52, "qcteltm": percent(52)},
        52,
        {"first": 48, "qcteltm": percent(51)},
    ),
    (
        "ADAP-ALL-USED",
        adapters,
        {"first": 9, "qcteltm": percent(2)},
        2,
        {"first": 9, "qcteltm": percent(0.9)},
    ),
    ("ADAP-LAST", adapters, {"qcteltm": percent(51)}, 51, {"first": 99, "qcteltm": percent(50)}),
    ("MQCHIN009I", ssl, {"qcteltm": percent(51)}, 51, {"qcteltm": percent(50)}),
    ("DNS-BUSY", dns, {"qcteltm": percent(25)}, 25, {"qcteltm": percent(24.9)}),
    ("DNS-SLOW", dns, {"qctlgdu": 3_000_001}, 3_000_001, {"qctlgdu": 3_000_000}),
    ("QUEUE-INDEX", queue, {"gets": 100}, 100, {"gets": 100, "indxtype": 1}),
    ("QUEUE-SKIPPED", queue, {"getepage": 60, "getsmsg": 40}, 100, {"getepage": 99}),
    ("QUEUE-POLLING", queue, {"getn": 100, "validget": 9}, 9, {"getn": 100, "validget": 10}),
    ("CF-FULL", shared, {"qestsful": 1}, 1, {}),
    (
        "CF-REDRIVE-SINGLE",
        shared,
        {"qestcsec": 100, "qestrsec": 21},
        21,
        {"qestcsec": 100, "qestrsec": 20},
    ),
    (
        "CF-REDRIVE-MULTIPLE",
        shared,
        {"qestcmec": 100, "qestrmec": 21},
        21,
        {"qestcmec": 100, "qestrmec": 20},
    ),
    ("DB2-QUEUE", shared, {"dhigmax": 11}, 11, {"dhigmax": 10}),
    ("SMDS-BUFFERS", shared, {"qesdbfmf": 0}, 0, {"qesdbfmf": 1}),
    ("SMDS-WAITERS", shared, {"qesdbfmp": 1}, 1, {"qesdbfmp": 0}),
    (
        "QUEUE-SELECTOR",
        moves,
        {"requests": {9: 301, 11: 60, 12: 40}},
        3.01,
        {"requests": {9: 300, 11: 60, 12: 40}},
    ),
    ("QUEUE-OPENS", queue, {"openn": 100, "putn": 111}, 100, {"openn": 100, "putn": 112}),
]


@pytest.fixture(scope="module")
def crossed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, dict[str, Any]]]:
    """The rules that are crossed, with their rows, by the name of a file.

    There is one for each rule beyond its limit, and one for each within.
    """
    folder = tmp_path_factory.mktemp("dumps")
    for rule, make, beyond, _, within in RULES:
        (folder / f"{rule}-beyond").write_bytes(rdw([make(dict(beyond))]))
        (folder / f"{rule}-within").write_bytes(rdw([make(dict(within))]))
    found: dict[str, dict[str, dict[str, Any]]] = {path.name: {} for path in folder.iterdir()}
    with Catalog(
        open_inputs(sorted(folder.iterdir()), ReadOptions(keep_duplicates=True))
    ) as catalog:
        for row in reports.run_report(reports.report("message"), catalog):
            found[Path(row["source"]).name][row["rule"]] = row
    return found


@pytest.mark.parametrize(("rule", "value"), [(rule, value) for rule, _, _, value, _ in RULES])
def test_a_rule_is_crossed_beyond_its_limit_only(
    rule: str, value: float, crossed: dict[str, dict[str, dict[str, Any]]]
) -> None:
    assert crossed[f"{rule}-beyond"][rule]["value"] == pytest.approx(value)
    assert rule not in crossed[f"{rule}-within"]


@pytest.mark.parametrize(
    ("pages", "rules"), [(999, {"LOG-BUSY"}), (1000, {"LOG-CEILING"}), (1001, {"LOG-CEILING"})]
)
def test_a_busy_logger_is_at_its_ceiling_or_can_take_more(
    pages: int, rules: set[str], tmp_path: Path
) -> None:
    path = tmp_path / "dump.smf"
    path.write_bytes(rdw([log({"qjstslptu": 0, "io_2": (10, pages, 0)})]))
    assert {row["rule"] for row in report_rows("message", path)} == rules


CROSSES = {
    ">": operator.gt, ">=": operator.ge, "<": operator.lt, "<=": operator.le, "=": operator.eq
}  # fmt: skip


def check_evidence(row: dict[str, Any]) -> None:
    """Check that the value is there, and is beyond the limit as it is written: in one unit."""
    found = re.match(r"(>=?|<=?|=) ([0-9.]+)(?=$|[ ,])", row["bound"])
    assert row["figure"], row
    assert found, row
    assert CROSSES[found[1]](row["value"], float(found[2])), row


@pytest.mark.parametrize("rule", [rule for rule, *_ in RULES])
def test_the_value_of_a_rule_is_beyond_the_limit_beside_it(
    rule: str, crossed: dict[str, dict[str, dict[str, Any]]]
) -> None:
    check_evidence(crossed[f"{rule}-beyond"][rule])


@pytest.mark.parametrize(
    ("make", "values", "rule", "figure", "value"),
    [
        (managers, {"qmstget": 500}, "MSGM-EMPTY", "QMSTGET, and no QISTMGET", 500),
        (managers, {"qistmget": 400}, "DATA-SCROLL", "QISTMGET, and no QMSTGET", 400),
        (managers, {"qmstput": 100, "qmstput1": 100}, "MSGM-WAITING-GETTER",
         "(QMSTPUT + QMSTPUT1), and no QISTMPUT", 200),
        (managers, {"qistmput": 300}, "DATA-GENERATED",
         "QISTMPUT, and no (QMSTPUT + QMSTPUT1)", 300),
        (pool, {"qpstrio": 1000}, "BUFF-SCAN", "QPSTRIO, and no QPSTTPW", 1000),
        (moves, {"requests": {9: 100}}, "QUEUE-SELECTOR", "read lists, and no moves of MQGET", 100),
    ],
)  # fmt: skip
def test_where_there_is_no_ratio_the_number_is_the_evidence(
    make: Make, values: dict[str, Any], rule: str, figure: str, value: float, tmp_path: Path
) -> None:
    path = tmp_path / "dump.smf"
    path.write_bytes(rdw([make(dict(values))]))
    (row,) = (row for row in report_rows("message", path) if row["rule"] == rule)
    check_evidence(row)
    assert (row["figure"], row["value"], row["bound"]) == (figure, value, "> 0")
    assert f"({figure} {value}, limit > 0: " in "\n".join(report_lines("message", path))


@every_file
def test_the_evidence_of_every_file_is_there_and_in_one_unit(path: Path) -> None:
    for sections in (None, TOTAL):
        for row in report_rows("message", path, sections=sections):
            check_evidence(row)


@pytest.mark.parametrize(
    ("seconds", "checkpoints", "bound"),
    [(1792.884543, 11, "> 5.97, 1 in 5 minutes"), (60, 2, "> 1.00, 1 in 5 minutes")],
)
def test_checkpoints_are_compared_with_those_due_in_the_interval(
    seconds: float, checkpoints: int, bound: str, tmp_path: Path
) -> None:
    log_of = smf.Log({"qjstllcp": checkpoints}, {}, round(seconds * 1e6)).block(596)
    path = tmp_path / "dump.smf"
    path.write_bytes(rdw([smf.record(log_of, start=START, seconds=seconds)]))
    (row,) = report_rows("message", path)
    assert (row["rule"], row["figure"]) == ("LOG-CHECKPOINTS", "QJSTLLCP")
    assert (row["value"], row["bound"]) == (checkpoints, bound)


def test_findings_that_read_alike_are_all_listed(tmp_path: Path) -> None:
    full = {"qeststr": "APPL1", "qestsful": 1}
    path = tmp_path / "dump.smf"
    path.write_bytes(rdw([record(smf.structures(full, full))]))
    assert [row["rule"] for row in report_rows("message", path)] == ["CF-FULL"] * 2


def test_pools_are_in_the_order_of_their_numbers(tmp_path: Path) -> None:
    blocks = [
        smf.block("QPST", qpstpool=number, qpstnbuf=9, qpstcbsl=9, qpstimw=1)
        for number in (10, 1, 0, 11, 2)
    ]
    path = tmp_path / "dump.smf"
    path.write_bytes(rdw([record(*blocks)]))
    pools = [re.search(r"Buffer pool (\d+)", line) for line in report_lines("message", path)]
    assert [int(each[1]) for each in pools if each] == [0, 1, 2, 10, 11]
    assert [row["pool"] for row in report_rows("message", path)] == [0, 1, 2, 10, 11]


def test_every_rule_is_tested() -> None:
    named = set(re.findall(r"rule: '([A-Z0-9-]+)'", reports.report("message").sql))
    assert named == {rule for rule, *_ in RULES}


def test_the_lines_have_rule_figure_limit_source_and_interval(tmp_path: Path) -> None:
    path = tmp_path / "dump.smf"
    path.write_bytes(rdw([channels({"qcctnoac": 51}), dispatcher({"qcteltm": percent(77)})]))
    lines = report_lines("message", path)
    assert lines == [
        "SYS1,MQ01,2026/03/04,12:10:00,From 2026/03/04,12:00:00 to 2026/03/04,12:10:00,"
        "W MQCHIN001W The high water mark of the number of active channels >50 % of max channels "
        "(100 x QCCTNOAC / QCCTMXAC 51, limit > 50: MP1B)",
        "SYS1,MQ01,2026/03/04,12:10:00,From 2026/03/04,12:00:00 to 2026/03/04,12:10:00,"
        "I MQCHIN007I Dispatcher task is 77% busy on average "
        "(100 x QCTELTM / interval 77, limit > 50: MP1B; 50 is ours)",
    ]


def test_where_nothing_is_crossed_that_is_said(tmp_path: Path) -> None:
    path = tmp_path / "dump.smf"
    path.write_bytes(rdw([pool({})]))
    assert report_rows("message", path) == report_rows("message", path, sections=TOTAL) == []
    assert reports.report("message").absent().startswith("no figure crosses a rule")


@pytest.mark.parametrize(
    ("make", "values", "rule", "value"),
    [
        (pool, {"qpstnbuf": 25_000_000, "qpstcbsl": 1_000_000}, "BUFF-FREE", 4),
        (pool, {"qpststl": 2_000_000_000, "qpststla": 1_000_000_000}, "BUFF-STLA", 50),
        (shared, {"qestcsec": 100_000_000, "qestrsec": 50_000_000}, "CF-REDRIVE-SINGLE", 50),
        (channels, {"qcctmxac": 2**32 - 1, "qcctnoac": 2**32 - 1}, "MQCHIN001W", 100),
    ],
)
def test_large_counters_do_not_overflow(
    make: Make, values: dict[str, Any], rule: str, value: float, tmp_path: Path
) -> None:
    path = tmp_path / "dump.smf"
    path.write_bytes(rdw([make(values)]))
    found = {row["rule"]: row["value"] for row in report_rows("message", path)}
    assert found[rule] == pytest.approx(value)
