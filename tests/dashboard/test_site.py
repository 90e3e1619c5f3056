"""What a page shows of a site: groups, clients, files, shared queues, planners, an earlier day,
and cards of incidents with the right time and the right first cause.
"""

from __future__ import annotations

import datetime as dt
import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

import smfparse
from tests.support.command import run
from tests.support.generated import generate_dump
from tests.support.pages import page_of, payload_in

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """The days of scenarios, each made once."""
    folder = tmp_path_factory.mktemp("site")

    def made(scenario: str) -> Path:
        path = folder / f"{scenario}.smf"
        if not path.exists():
            assert run("generate", path, "--scenario", scenario).exit_code == 0
        return path

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


def sums(path: Path, where: str, name: str) -> dict[str, float]:
    rows = smfparse.open(path).sql(
        f"SELECT {name} AS name, sum(validput + getdval)::DOUBLE AS messages FROM wqst "
        f"JOIN wtid ON wtid.record_no = coalesce(wqst.task_record_no, wqst.record_no) "
        f"WHERE {where} GROUP BY ALL HAVING messages > 0"
    )
    return dict(zip(rows["name"].to_pylist(), rows["messages"].to_pylist(), strict=True))


def test_a_queue_sharing_group_has_the_worst_of_its_members(
    site: Callable[[str], Path], tmp_path: Path
) -> None:
    page = page_of(smfparse.open(site("cf-slow")), tmp_path)
    (group,) = re.findall(r'<section class="group">(.*?)</section>', page, re.S)
    managers = re.findall(r'<section class="manager".*?<ul class="tiles">(.*?)</ul>', page, re.S)
    assert len(managers) == 2
    tile = re.compile(r'class="tile (\w+)"><a href="#m\d-([\w-]+)">')
    order = ("c1", "c2", "c3", "c4", "c5", "clear", "none")
    members = [{part: state for state, part in tile.findall(each)} for each in managers]
    for state, part in tile.findall(group):
        assert state == min((each[part] for each in members), key=order.index)
    assert "c2" in {state for state, _ in tile.findall(group)}
    found = rows_of(page, "shared-queues")
    wanted = sums(site("cf-slow"), "wqst.cfstrucname <> ''", "wqst.objname")
    assert wanted
    assert {name: values[0] for name, values in found.items()} == pytest.approx(wanted, rel=0.02)


@pytest.mark.long
def test_agents_have_the_data_that_they_got(site: Callable[[str], Path], tmp_path: Path) -> None:
    path = site("mft")
    found = rows_of(page_of(smfparse.open(path), tmp_path), "file-agents")
    rows = smfparse.open(path).sql(
        "SELECT regexp_extract(objname, 'DATA[.](.+)$', 1) AS agent, sum(getbytes) / 1048576 AS mb "
        "FROM wqst WHERE objname LIKE 'SYSTEM.FTE.DATA.%' GROUP BY ALL"
    )
    wanted = dict(zip(rows["agent"].to_pylist(), rows["mb"].to_pylist(), strict=True))
    assert wanted
    assert {name: values[0] for name, values in found.items()} == pytest.approx(wanted, rel=0.02)


@pytest.mark.long
def test_clients_have_a_table_and_senders_are_not_in_it(
    site: Callable[[str], Path], tmp_path: Path
) -> None:
    path = site("clients")
    found = rows_of(page_of(smfparse.open(path), tmp_path), "client-loads")
    kinds = smfparse.open(path).sql("SELECT DISTINCT qcstchnm, qcstchty_text FROM qcst").to_pylist()
    assert found
    assert {each["qcstchty_text"] for each in kinds if each["qcstchnm"] in found} <= {
        "Server-connection"
    }
    assert all(messages > 0 and cpu > 0 for messages, cpu in found.values())


@pytest.mark.long
def test_a_sound_day_shows_the_plan_of_the_log_and_no_incident(
    site: Callable[[str], Path], tmp_path: Path
) -> None:
    page = page_of(smfparse.open(site("payments")), tmp_path)
    (plan,) = re.findall(r'<details class="plan">(.*?)</details>', page, re.S)
    said = run("capacity", "log", site("payments"), "--format", "html").stdout
    for row in re.findall(r"<tr>.*?</tr>", plan):
        assert row in said
    assert 'class="incident' not in page
    assert 'class="group"' not in page


@pytest.mark.long
def test_an_earlier_day_is_drawn_on_the_later_one_with_what_changed(
    site: Callable[[str], Path], tmp_path: Path
) -> None:
    before, after = site("before"), site("after")
    page = page_of(smfparse.open(after), tmp_path, before=before)
    (day,) = payload_in(page)["days"]
    (alone,) = payload_in(page_of(smfparse.open(before), tmp_path))["days"]
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


@pytest.mark.long
def test_the_command_has_the_same_page_as_the_library(tmp_path: Path) -> None:
    path = generate_dump(tmp_path / "day.smf", count=1)
    options = ("--before", path, "--output", tmp_path / "day.html")
    assert run("dashboard", path, *options).exit_code == 0
    page = page_of(smfparse.open(path), tmp_path, before=path)
    assert (tmp_path / "day.html").read_text(encoding="utf-8") == page


@pytest.mark.long
def test_an_earlier_time_without_records_changes_nothing(tmp_path: Path) -> None:
    path = generate_dump(tmp_path / "day.smf")
    none = smfparse.open(path, smfparse.Selection.of(qmgr="NONE"))
    page = page_of(smfparse.open(path), tmp_path, before=none)
    assert 'id="changes"' in page
    assert all("before" not in day for day in payload_in(page)["days"])


# Cards of incidents

SCENARIOS = (
    *("backlog", "cf-slow", "channel-batch", "log-slow", "poison", "scan", "smf-loss"),
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


@pytest.mark.parametrize(
    "scenario",
    [
        pytest.param(each, marks=[] if each == "log-slow" else pytest.mark.long)
        for each in SCENARIOS
    ],
)
def test_the_first_card_has_the_time_and_the_cause_of_the_key(
    scenario: str, tmp_path: Path
) -> None:
    path = tmp_path / "day.smf"
    assert run("generate", path, "--scenario", scenario).exit_code == 0
    key = json.loads(
        run("generate", "--scenario", scenario, "--explain", "--format", "json").stdout
    )
    wanted = next(rows[0] for rows in key.values() if isinstance(rows, list) and "rule" in rows[0])

    start, end, rule = CARD.findall(page_of(smfparse.open(path), tmp_path))[0]

    assert rule == wanted["rule"]
    date = start.partition(" ")[0]
    for shown, known in ((start, wanted["start"]), (end, wanted["end"])):
        assert abs(moment(shown, date) - dt.datetime.fromisoformat(known)) <= INTERVAL
