"""Goldens: rows of reports, views and comparisons as files that a person can read in a diff.

`make goldens` writes them, tests compare; tests/golden/README.md says how to read them. A golden is
cases by name; a case is its rows by section. Of many rows every n-th is kept, and the sums of all.
"""

from __future__ import annotations

import datetime as dt
import json
import math
import zlib
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

from smfparse.advice import judging
from smfparse.decoding.selection import Selection
from smfparse.inputs.opening import open_inputs
from smfparse.inputs.options import ReadOptions
from smfparse.metrics.views import view_names
from smfparse.planning.answering import measuring_query
from smfparse.planning.plans import planner, planner_names
from smfparse.query.catalog import Catalog
from smfparse.reports import declaration
from smfparse.reports.declaration import report_names
from smfparse.reports.running import run_report
from smfparse.reports.sections import HIDDEN, RECORDED, SECTION_COLUMNS, TOTAL, Sections, every
from smfparse.summarizing.changes import NAMES, compared
from smfparse.summarizing.sides import Rename, measured
from tests.support.command import run
from tests.support.corpora import Corpora, Corpus
from tests.support.paths import FIXTURES, GOLDEN
from tests.support.report_runs import anyone, lines_of, report_lines
from tests.support.small_site import QMGRS, write_small_site

Golden = dict[str, Any]
"""What JSON can hold."""
KEPT = 40
"""Rows of a case that are kept."""
ON_A_LINE = 8
"""Figures: those that a declaration has together stay on one line, whatever is absent."""
TEXTS = {"message": ("grade", "message", "action", "figure", "bound", "origin")}
"""Columns of reports whose words tests/advice holds."""
OF_CORPORA = {
    "old": "log buff msgm stg chinit dchs qall api-cost class1",
    "new": "log qstat dchs streaming pset smf-volume",
    "shared": "cf shared db2 qsum",
    "traffic": "cluster flow mft requests",
    "damaged": "log api-cost smf-volume",
}
"""Reports by corpus: those that show what it has and the site has not."""


class Case(NamedTuple):
    """How a report is asked for; sections: None for those of its declaration."""

    sections: Sections | None = None
    asked: Mapping[str, Any] = {}
    selected: Mapping[str, Any] = {}

    @property
    def name(self) -> str:
        told = {**self.asked, **self.selected}
        words = [f"{key}={','.join(v) if isinstance(v, list) else v}" for key, v in told.items()]
        if self.sections:
            words.append(f"{self.sections.by} {self.sections.seconds or ''}".strip())
        return " ".join(words) or "declared"


# --- reports ------------------------------------------------------------------------------------

HALF_HOURS = (
    "api-cost", "channels", "class1", "clients", "dchs", "flow", "log", "qall", "qputs", "qstat",
    "shared", "smf-volume", "stg", "streaming", "task", "tasksum",
)  # fmt: skip
ALSO_RECORDED = ("channels", "dchs", "dchssum", "qall", "qsum", "stg", "tasksum")
"""Reports whose declaration says otherwise, and which can be had by record."""
OPTIONS: Sequence[tuple[str, dict[str, Any]]] = [
    *(("api-cost", {"by": [each]}) for each in ("qmgr", "queue", "size", "hour")),
    ("api-cost", {"by": ["connection-type", "user", "hour"]}),
    ("api-cost", {"by": ["job", "queue"], "top": 7}),
    ("api-cost", {"by": ["system", "channel"], "top": 2, "sort": "elapsed"}),
    ("smf-volume", {"by": ["qmgr"]}),
    ("smf-volume", {"by": ["job", "hour"], "acctime": "1", "statime": "0.30"}),
    ("smf-volume", {"acctime": "-1", "statime": "25"}),
    ("smf-volume", {"acctime": "0", "smf_interval": "15", "by": ["system"]}),
    ("streaming", {"stream": ["LQ2=LQ3", "LQ0=LQ4"]}),
]
SELECTIONS: Sequence[dict[str, list[str]]] = [
    *({"queue": ["LQ1"]}, {"queue": ["SQ*", "DYN.*"]}, {"job": ["JOBA"]}, {"channel": ["CHL1"]}),
    {"job": ["MOVER", "JOBB"], "queue": ["LQ2", "ALIAS"]},
]
SELECTED = {
    **dict.fromkeys(("api-cost", "smf-volume", "task"), (1, 4)),
    **dict.fromkeys(("class1", "tasksum", "qsum"), (2,)),
    **dict.fromkeys(("dchs", "dchssum", "qall"), (3,)),
    **dict.fromkeys(("qgets", "qstat", "streaming"), (0,)),
    "qputs": (4,),
}
"""Reports of jobs, queues or channels, and the places in SELECTIONS of what is selected."""


def cases(corpus: str, name: str) -> Iterator[Case]:
    yield Case()
    if corpus != "site":
        return
    which = declaration.report(name)
    if which.section not in ("total", "all"):
        yield Case(TOTAL)
    if name in HALF_HOURS:
        yield Case(every("30m"))
    if name in ALSO_RECORDED:
        yield Case(RECORDED)
    yield from (Case(asked=asked) for report, asked in OPTIONS if report == name)
    yield from (Case(selected=SELECTIONS[place]) for place in SELECTED.get(name, ()))


def rows_by_case(corpora: Corpora, corpus: str, name: str) -> dict[str, list[dict[str, Any]]]:
    return {case.name: _rows_of(corpora[corpus], name, case) for case in cases(corpus, name)}


def of_report(name: str, rows: Mapping[str, Sequence[dict[str, Any]]]) -> Golden:
    texts = TEXTS.get(name, ())
    return {case: cut([_row(each, texts) for each in found]) for case, found in rows.items()}


def _rows_of(corpus: Corpus, name: str, case: Case) -> list[dict[str, Any]]:
    if not case.selected:
        return corpus.rows(name, case.sections, **case.asked)
    which, options = declaration.report(name), ReadOptions(Selection.of(**case.selected))
    with Catalog(open_inputs(corpus.paths, options)) as catalog:
        return [dict(row) for row in run_report(which, catalog, None, **anyone(which))]


def _row(row: dict[str, Any], texts: Sequence[str] = ()) -> dict[str, Any]:
    """Leave out texts, the section, which its columns say, and the folder of a file."""
    return {
        name: Path(value).name if name == "source" and value else value
        for name, value in row.items()
        if name not in (*HIDDEN, *texts)
    }


# --- views, comparisons -------------------------------------------------------------------------


def of_view(corpora: Corpora, name: str) -> Golden:
    rows = corpora["site"].select(f"SELECT * FROM {name} ORDER BY ALL")
    return {"rows": cut([_row(row) for row in rows], ())}


COMPARISONS: Sequence[tuple[Sequence[str], list[str]]] = [
    (NAMES, []),
    (["job"], []),
    (["qmgr", "verb"], []),
    (NAMES, ["MQ02=MQ09", "LQ%=XX%", "JOBA=JOBB", "DYN%=DYN.OTHER"]),
    (["qmgr", "job"], ["MQ0%=QM%", "JOB%=%"]),
]
"""Columns that rows are told apart by, and names that differ."""


def of_comparisons(folder: Path) -> Golden:
    """Of two sites whose queue managers have names of their own."""
    before, after = (
        measured(open_inputs([write_small_site(folder / f"{seed}.smf", seed, QMGRS[1:])]))
        for seed in (2, 3)
    )
    return {
        " ".join([",".join(by), *renames]): cut(
            compared(before, after, by, [Rename.of(each) for each in renames]).to_dicts(), ()
        )
        for by, renames in COMPARISONS
    }


# --- rules, planners ------------------------------------------------------------------------------


def of_judged(corpora: Corpora, corpus: str) -> Golden:
    """Return each column of the rows that rules judge, and of what planners measure: `summed`."""
    catalog = corpora[corpus].catalog
    found = {
        each.subject.name: summed(each.crossed.to_pylist())
        for each in judging.judged(catalog, judging.wanted({}), {}, whole=True)
    }
    for name in planner_names():
        if (which := planner(name)).trace:
            found[f"capacity {name}"] = summed(
                catalog.arrow(measuring_query(catalog, which, {})).to_pylist()
            )
    return found


def of_dense(corpora: Corpora) -> Golden:
    """Return each column of all reports of counters at random, by section and in all: `summed`."""
    asked = [(name, sections) for name in DENSE for sections in (None, TOTAL)]
    return {
        f"{name} total" if sections else name: summed(
            [*map(_row, corpora["dense"].rows(name, sections))]
        )
        for name, sections in asked
        if not sections or declaration.report(name).section not in ("total", "all")
    }


def summed(rows: Sequence[Mapping[str, Any]]) -> Golden:
    """Return of each column how many values it has, their sum, and a checksum of rows in order."""
    ordered = sorted(rows, key=_rounded)
    found: Golden = {"count": len(rows)}
    for name in rows[0] if rows else ():
        values = [row[name] for row in ordered if row[name] is not None]
        numbers = [float(each) for each in values if isinstance(each, int | float | Decimal)]
        total = math.fsum(filter(math.isfinite, numbers))
        found[name] = f"{len(values)} {total:.6g} {zlib.crc32(_rounded(values).encode()):08x}"
    return found


def _rounded(value: Any) -> str:
    if isinstance(value, list | dict):
        return " ".join(map(_rounded, value.values() if isinstance(value, dict) else value))
    return f"{value:.6g}" if isinstance(value, float | Decimal) else str(value)


# --- form ---------------------------------------------------------------------------------------


def cut(rows: Sequence[dict[str, Any]], section_columns: Sequence[str] = SECTION_COLUMNS) -> Golden:
    """Return rows by section; of more than KEPT every n-th, and the sums of all."""

    def section(row: Mapping[str, Any]) -> dict[str, Any]:
        return {name: _value(row[name]) for name in section_columns if name in row}

    step = max(1, math.ceil(len(rows) / KEPT))
    sections = []
    for keys, mine in groupby(rows[::step], section):
        kept = [{name: _value(row[name]) for name in row if name not in keys} for row in mine]
        sections.append(keys | {"rows": kept})
    return {"count": len(rows), "sections": sections} | ({"sums": _sums(rows)} if step > 1 else {})


def _value(value: Any) -> Any:
    return value.isoformat() if isinstance(value, dt.date | dt.time) else value


def _sums(rows: Iterable[Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    """Return for each kind of row the sums of its numbers; of others, how many there are."""
    kinds: dict[str, dict[str, list[Any]]] = defaultdict(lambda: defaultdict(list))
    for row in rows:
        for name, value in row.items():
            if value is not None:
                kinds[row.get("line") or row.get("figure") or "all"][name].append(value)
    return {
        kind: {name: _sum(values) for name, values in figures.items()}
        for kind, figures in sorted(kinds.items())
    }


def _sum(values: Sequence[Any]) -> float:
    if all(isinstance(each, int) for each in values):
        return sum(values)
    numbers = all(isinstance(each, int | float) for each in values)
    return math.fsum(values) if numbers else len(values)


def written(golden: Golden) -> str:
    """Return a golden as JSON, ON_A_LINE figures on a line."""
    return f"{_written(golden, '')}\n"


def _written(value: Any, indent: str) -> str:
    within = indent + " "
    if isinstance(value, list):
        return "[" + ",".join(f"\n{within}{_written(each, within)}" for each in value) + "]"
    if not isinstance(value, dict):
        return json.dumps(value)
    deep = {name: each for name, each in value.items() if isinstance(each, dict | list)}
    told = [(name, each) for name, each in value.items() if name not in deep]
    parts = [
        ", ".join(
            f"{json.dumps(name)}: {json.dumps(each)}" for name, each in line if each is not None
        )
        for line in (told[first : first + ON_A_LINE] for first in range(0, len(told), ON_A_LINE))
    ]
    parts += [f"{json.dumps(name)}: {_written(each, within)}" for name, each in deep.items()]
    start = "{\n" + within if deep else "{"
    return start + f",\n{within}".join(filter(None, parts)) + "}"


def difference(place: Path, found: Golden) -> str | None:
    """Return the first difference of a golden from its file, or None."""
    if not place.exists():
        return f"no file {place}; `make goldens` writes it"
    kept = json.loads(place.read_text("utf-8"))
    for where, wanted, have in _differences(kept, json.loads(written(found)), ()):
        return f"{place}: {where}: the golden has {wanted}, not {have}; see tests/golden/README.md"
    return None


def _differences(kept: Any, found: Any, path: tuple[Any, ...]) -> Iterator[tuple[str, Any, Any]]:
    """Yield where two values differ; a row is named by its number and its first texts."""
    if isinstance(kept, dict) and isinstance(found, dict):
        texts = [str(each) for each in kept.values() if isinstance(each, str)][:6]
        told = (*path, f"({' '.join(texts)})") if texts else path
        for name in dict.fromkeys([*kept, *found]):
            yield from _differences(kept.get(name), found.get(name), (*told, name))
    elif isinstance(kept, list) and isinstance(found, list) and len(kept) == len(found):
        for number, (one, other) in enumerate(zip(kept, found, strict=True), 1):
            yield from _differences(one, other, (*path, number))
    elif type(kept) is not type(found) or kept != found:
        yield " ".join(map(str, path)), _short(kept), _short(found)


def _short(value: Any) -> str:
    return f"{len(value)} rows" if isinstance(value, list) else repr(value)[:200]


# --- texts, all files ---------------------------------------------------------------------------


def planners() -> str:
    from smfparse.planning.plans import planner_names

    return "".join(f"{run('capacity', name).stdout}\n" for name in planner_names())


def log_of(fixture: str) -> str:
    return "\n".join(report_lines("log", FIXTURES / f"{fixture}.smf")) + "\n"


def text_of(corpora: Corpora, corpus: str, name: str) -> str:
    """Return the first lines of a report as text, and of its CSV."""
    found = corpora[corpus]
    rows = found.rows(name)
    lines = [*lines_of(name, rows)[:100], "", *lines_of(name, rows, "csv")[:4]]
    return "\n".join(lines).replace(f"{found.paths[0].parent}/", "") + "\n"


DENSE = [each for each in report_names() if not declaration.report(each).rules]
JUDGED = ("days", "site", "new", "old", "shared", "traffic")
LOGS, OF_TRAFFIC = ("qm01-930", "qm80", "qm100", "qm60"), ("cluster", "mft", "requests")
REPORTS = [  # of the site some have no rows
    *(("site", name) for name in report_names() if name not in OF_TRAFFIC),
    *((corpus, name) for corpus, names in OF_CORPORA.items() for name in names.split()),
]
"""Corpora and their reports that have goldens."""
TEXTS_OF = [
    *(each for each in REPORTS if each[0] == "site" and not declaration.report(each[1]).rules),
    *(("traffic", "mft"), ("traffic", "requests")),
]
"""Reports whose text and CSV are kept; tests/advice holds the words of rules."""


def every_golden(corpora: Corpora, folder: Path) -> Iterator[tuple[Path, Callable[[], str]]]:
    """Yield the file of each golden, and what makes its text."""
    for corpus, name in REPORTS:
        yield GOLDEN / corpus / f"{name}.json", partial(_report, corpora, corpus, name)
    for name in view_names():
        yield GOLDEN / "views" / f"{name}.json", partial(_json, of_view, corpora, name)
    for corpus, name in TEXTS_OF:
        yield GOLDEN / "texts" / f"{name}.txt", partial(text_of, corpora, corpus, name)
    yield GOLDEN / "dense.json", partial(_json, of_dense, corpora)
    for corpus in JUDGED:
        yield GOLDEN / "judged" / f"{corpus}.json", partial(_json, of_judged, corpora, corpus)
    yield GOLDEN / "compare.json", partial(_json, of_comparisons, folder)
    yield GOLDEN / "capacity.txt", planners
    for fixture in LOGS:
        yield GOLDEN / f"log-{fixture}.txt", partial(log_of, fixture)


def _report(corpora: Corpora, corpus: str, name: str) -> str:
    return written(of_report(name, rows_by_case(corpora, corpus, name)))


def _json(make: Callable[..., Golden], *given: Any) -> str:
    return written(make(*given))
