"""The report message: a rule is crossed beyond its limit, and not at it."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from smfparse.inputs.opening import open_inputs
from smfparse.inputs.options import ReadOptions
from smfparse.query.catalog import Catalog
from smfparse.reports import running as reports
from smfparse.reports.sections import TOTAL
from tests.support.builders import NOTHING, Section, qwhs_long, qwhs_short, rdw, smf_record, wtas
from tests.support.fact_blocks import fact_block
from tests.support.report_runs import report_lines, report_rows

START = dt.datetime(2026, 3, 4, 12, 0, 0)
SECONDS = 600
Make = Callable[[dict[str, Any]], bytes]


def statistics(subtype: int, *sections: Section, tod: int = 0) -> bytes:
    """A 115 record of ten minutes; `tod`: how far QWHSDURN is shifted for the channel initiator."""
    end = START + dt.timedelta(seconds=SECONDS)
    area = qwhs_long(
        end.replace(tzinfo=dt.UTC), START, SECONDS * 1_000_000 << tod, triplets=len(sections) + 1
    )
    return smf_record(115, subtype, *sections, area=area, local=end)


def pool(values: dict[str, Any]) -> bytes:
    values = {"qpstpool": 3, "qpstnbuf": 1000, "qpstcbsl": 1000, "qpststl": 100} | values
    return statistics(215, Section([fact_block("QPST", 104, **values)]))


def log(values: dict[str, Any]) -> bytes:
    """A QJST; `io` is (I/Os, pages, microseconds) of copy 1 for one page, `io_2` for several."""
    values = dict(values)
    io, io_2 = values.pop("io", None), values.pop("io_2", None)
    block = bytearray(fact_block("QJST", 596, **({"qjstslptu": SECONDS * 10**6} | values)))
    for at, each in ((264, io), (264 + 72, io_2)):
        if each:
            ios, pages, microseconds = each
            block[at : at + 16] = (
                ios.to_bytes(4) + pages.to_bytes(4) + (microseconds << 12).to_bytes(8)
            )
    return statistics(1, *[NOTHING] * 10, Section([bytes(block)]))


def managers(values: dict[str, Any]) -> bytes:
    of = {
        name: {key: value for key, value in values.items() if key.startswith(name)}
        for name in ("qmst", "qist")
    }
    return statistics(
        2,
        Section([fact_block("QMST", 104, **of["qmst"])]),
        Section([fact_block("QIST", 80, **of["qist"])]),
    )


def storage(values: dict[str, Any]) -> bytes:
    return statistics(1, *[NOTHING] * 8, Section([fact_block("QSST", 72, **values)]))


def channels(values: dict[str, Any]) -> bytes:
    values = {"qcctmxcc": 100, "qcctmxac": 100} | values
    return statistics(231, Section([fact_block("QCCT", 48, **values)]), tod=12)


def tasks(place: int, name: str, length: int, *each: dict[str, Any]) -> bytes:
    blocks = Section([fact_block(name, length, **values) for values in each])
    return statistics(231, *[NOTHING] * (place - 1), blocks, tod=12)


def dispatcher(values: dict[str, Any]) -> bytes:
    return tasks(2, "QCT_DSP", 36, values)


def adapters(values: dict[str, Any]) -> bytes:
    """Two adapters, of which the values are the last."""
    return tasks(3, "QCT_ADP", 32, {"qcteltm": percent(values.pop("first", 0))}, values)


def ssl(values: dict[str, Any]) -> bytes:
    return tasks(4, "QCT_SSL", 48, values)


def dns(values: dict[str, Any]) -> bytes:
    return tasks(5, "QCT_DNS", 48, values)


def queue(values: dict[str, Any]) -> bytes:
    """A 116/1 with one queue block."""
    begin, end = (
        (START + dt.timedelta(seconds=each)).replace(tzinfo=dt.UTC) for each in (0, SECONDS)
    )
    wtid = fact_block("WTID", 208, wtidccn="JOB1")
    block = fact_block("WQST", 2752, wqver=6, objname="Q1", **values)
    return smf_record(
        116,
        1,
        Section([wtid]),
        Section([wtas(begin, end)]),
        Section([block]),
        area=qwhs_short(end),
    )


def percent(share: float) -> float:
    """Microseconds that are so many per cent of the interval."""
    return share / 100 * SECONDS * 1e6


def shared(values: dict[str, Any]) -> bytes:
    """A 115/2 with Q5ST, QEST (slot 0) and QESD."""
    of = {name: {k: v for k, v in values.items() if k.startswith(name)} for name in NAMES}
    return statistics(
        2,
        *[NOTHING] * 4,
        Section([fact_block("Q5ST", 704, **of["dhig"])]),
        Section([fact_block("QEST", 4104, qeststr="APPL1", **of["qest"])]),
        NOTHING,
        Section([fact_block("QESD", 376, qesdstr="APPL1", qesdbfto=9, **of["qesd"])]),
    )


NAMES = ("dhig", "qest", "qesd")


def moves(values: dict[str, Any]) -> bytes:
    """A 116/1 with one queue block, and coupling facility requests of its MQGET."""
    data = bytearray(queue({"getn": 1}))
    at = data.index("WQST".encode("cp500")) - 4 + CF_OF_GET
    for request, count in values["requests"].items():
        data[at + 20 * request : at + 20 * request + 4] = count.to_bytes(4)
    return bytes(data)


CF_OF_GET = 736 + 2 * 400
"""Offset in WQST of the requests of MQGET: behind those of MQOPEN and MQCLOSE."""


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
def crossed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, float]]:
    """The rules that are crossed, with their values, by the name of a file.

    There is one for each rule beyond its limit, and one for each within.
    """
    folder = tmp_path_factory.mktemp("dumps")
    for rule, make, beyond, _, within in RULES:
        (folder / f"{rule}-beyond").write_bytes(rdw([make(dict(beyond))]))
        (folder / f"{rule}-within").write_bytes(rdw([make(dict(within))]))
    found: dict[str, dict[str, float]] = {path.name: {} for path in folder.iterdir()}
    with Catalog(
        open_inputs(sorted(folder.iterdir()), ReadOptions(keep_duplicates=True))
    ) as catalog:
        for row in reports.run(reports.report("message"), catalog):
            found[Path(row["source"]).name][row["rule"]] = row["value"]
    return found


@pytest.mark.parametrize(("rule", "value"), [(rule, value) for rule, _, _, value, _ in RULES])
def test_a_rule_is_crossed_beyond_its_limit_only(
    rule: str, value: float, crossed: dict[str, dict[str, float]]
) -> None:
    assert crossed[f"{rule}-beyond"].get(rule) == pytest.approx(value)
    assert rule not in crossed[f"{rule}-within"]


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
