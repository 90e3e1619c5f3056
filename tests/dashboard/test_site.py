"""What a page shows of a site: groups, clients, files, shared queues, planners, an earlier day,
and cards of incidents with the right time and the right first cause.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

import smfparse
from tests.support.command import in_json, run
from tests.support.generated import generate_dump
from tests.support.pages import page_of, payload_in

pytestmark = pytest.mark.slow
Days = Callable[[str], tuple[Path, str]]
"""Gives the day of a scenario, and its page."""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Days:
    folder = tmp_path_factory.mktemp("site")

    @cache
    def made(scenario: str) -> tuple[Path, str]:
        path = folder / f"{scenario}.smf"
        run("generate", path, "--scenario", scenario, code=0)
        return path, page_of(smfparse.open(path), folder)

    return made


def rows_of(page: str, table: str) -> dict[str, list[float]]:
    """Return the figures of the rows of a table, all queue managers together, by object."""
    found: dict[str, list[float]] = {}
    for sheet in re.findall(rf'data-name="{table}">(.*?)</table>', page, re.S):
        for row in re.findall(r"<tr><th.*?</tr>", sheet, re.S):
            (name,) = re.findall(r"<bdi>(.*?)</bdi>", row)
            values = [float(each) for each in re.findall(r'data-v="([^"]+)"', row)]
            old = found.get(name, [0.0] * len(values))
            found[name] = [one + other for one, other in zip(old, values, strict=True)]
    return found


def assert_first_column_is(page: str, table: str, day: Path, query: str) -> None:
    """Fail unless a table has the values of a query, by names."""
    rows = smfparse.open(day).sql(query)
    wanted = dict(zip(*(each.to_pylist() for each in rows.columns), strict=True))
    assert wanted
    found = {name: values[0] for name, values in rows_of(page, table).items()}
    assert found == pytest.approx(wanted, rel=0.02)


def test_a_queue_sharing_group_has_the_worst_of_its_members(site: Days) -> None:
    path, page = site("cf-slow")
    (group,) = re.findall(r'<section class="group">(.*?)</section>', page, re.S)
    managers = re.findall(r'<section class="manager".*?<ul class="tiles">(.*?)</ul>', page, re.S)
    assert len(managers) == 2
    tile = re.compile(r'class="tile (\w+)"><a href="#m\d-([\w-]+)">')
    order = ("c1", "c2", "c3", "c4", "c5", "clear", "none")
    members = [{part: state for state, part in tile.findall(each)} for each in managers]
    for state, part in tile.findall(group):
        assert state == min((each[part] for each in members), key=order.index)
    assert "c2" in {state for state, _ in tile.findall(group)}
    query = """SELECT objname, sum(validput + getdval)::DOUBLE AS messages FROM wqst
        WHERE cfstrucname <> '' GROUP BY ALL HAVING messages > 0"""
    assert_first_column_is(page, "shared-queues", path, query)


@pytest.mark.long
def test_agents_have_the_data_that_they_got(site: Days) -> None:
    path, page = site("mft")
    query = """SELECT regexp_extract(objname, 'DATA[.](.+)$', 1), sum(getbytes) / 1048576
        FROM wqst WHERE objname LIKE 'SYSTEM.FTE.DATA.%' GROUP BY ALL"""
    assert_first_column_is(page, "file-agents", path, query)


@pytest.mark.long
def test_clients_have_a_table_and_senders_are_not_in_it(site: Days) -> None:
    path, page = site("clients")
    found = rows_of(page, "client-loads")
    kinds = smfparse.open(path).sql("SELECT DISTINCT qcstchnm, qcstchty_text FROM qcst").to_pylist()
    shown = {each["qcstchty_text"] for each in kinds if each["qcstchnm"] in found}
    assert shown == {"Server-connection"}
    assert all(messages > 0 and cpu > 0 for messages, cpu in found.values())


@pytest.mark.long
def test_a_sound_day_shows_the_plan_of_the_log_and_no_incident(site: Days) -> None:
    path, page = site("payments")
    (plan,) = re.findall(r'<details class="plan">(.*?)</details>', page, re.S)
    said = run("capacity", "log", path, "--format", "html").stdout
    for row in re.findall(r"<tr>.*?</tr>", plan):
        assert row in said
    assert 'class="incident' not in page
    assert 'class="group"' not in page


@pytest.mark.long
def test_an_earlier_day_is_drawn_on_a_later_one_with_changes(site: Days, tmp_path: Path) -> None:
    (before, page_before), (after, _) = site("before"), site("after")
    page = page_of(smfparse.open(after), tmp_path, before=before)
    (day,) = payload_in(page)["days"]
    (alone,) = payload_in(page_before)["days"]
    assert day["before"]["charts"]["messages"] == {
        each["name"]: each["v"] for each in alone["charts"]["messages"]["lines"]
    }
    apart = day["before"]["first"] - alone["first"]
    assert apart % 86400 == 0
    assert abs(day["before"]["first"] - day["first"]) < 86400
    (changes,) = re.findall(r'id="changes">(.*?)<section class="part" id="missing"', page, re.S)
    compared = run("compare", before, after, "--format", "html").stdout
    assert changes.count('<table class="data">') == changes.count('<div class="wide"') > 3
    assert 'href="#changes"' in page
    rows = re.findall(r"<tr><td.*?</tr>", changes)
    assert len(rows) > 20
    assert all(row in compared for row in rows)
    run("dashboard", after, "--before", before, "--output", tmp_path / "other.html", code=0)
    assert (tmp_path / "other.html").read_text(encoding="utf-8") == page


@pytest.mark.long
def test_an_earlier_time_may_have_no_records_or_more_than_zeros(day: Path, tmp_path: Path) -> None:
    data, none = smfparse.open(day), smfparse.open(day, smfparse.Selection.of(qmgr="NONE"))
    page = page_of(data, tmp_path, before=none)
    assert 'id="changes"' in page
    assert all("before" not in day for day in payload_in(page)["days"])
    dense = generate_dump(tmp_path / "dense.smf", version="10.0.0", count=6, dense=True)
    assert 'data-panel="log-waits"' in page_of(data, tmp_path, before=dense)


# Cards of incidents

SCENARIOS = (
    *("cf-slow", "backlog", "channel-batch", "log-slow", "poison", "scan", "smf-loss"),
    *("storage-leak", "storm", "streaming", "restart", "log-full"),
)
INTERVAL = dt.timedelta(minutes=10)
TIME = r"\d\d:\d\d(?::\d\d)?"
CARD = re.compile(
    rf'class="incident c\d"><h3>(\S+ {TIME}) to ((?:\S+ )?{TIME}): .*?<p><b>([^<]+)</b>', re.S
)
"""Of each card the begin, the end, and the rule of the cause."""


def moment(text: str, date: str) -> dt.datetime:
    """Return a time that has its date, or that of another one."""
    whole = text if "/" in text else f"{date} {text}"
    return dt.datetime.fromisoformat(whole.replace("/", "-"))


@pytest.mark.sampled(1)
@pytest.mark.parametrize("scenario", SCENARIOS)
def test_the_first_card_has_the_time_and_the_cause_of_the_key(scenario: str, site: Days) -> None:
    key = in_json("generate", "--scenario", scenario, "--explain").values()
    wanted = next(rows[0] for rows in key if isinstance(rows, list) and "rule" in rows[0])
    start, end, rule = CARD.findall(site(scenario)[1])[0]
    assert rule == wanted["rule"]
    date = start.partition(" ")[0]
    for shown, known in ((start, wanted["start"]), (end, wanted["end"])):
        assert abs(moment(shown, date) - dt.datetime.fromisoformat(known)) <= INTERVAL
