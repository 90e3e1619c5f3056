"""The reports of statistics (115): one part or several from one table each."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from smfparse import reports
from tests.support.recomputed.parts import SECONDS, Part, Tables, c, last, ratio, total, whole

FROM_KEYS = ("interval_start", "interval_seconds", "smf_time", "time", "source", "record_no")
"""Columns of a table that a report has as well, of its section."""


@dataclass(frozen=True)
class Figures:
    """How the figures of rows of a report come from one table; fields of it are shown as they are.

    by       columns that tell the rows of a section apart
    where    what these rows say
    plain    whether fields of the table that are figures of the report are shown
    """

    table: str
    by: Sequence[str] = ()
    figures: Mapping[str, pl.Expr] = field(default_factory=dict)
    where: Mapping[str, Any] = field(default_factory=dict)
    plain: bool = True

    def part(self, report: str, tables: Tables) -> Part:
        frame = tables.combined(self.table, self.by)
        names = {each.name for each in reports.report(report).figures} - {*self.figures}
        shown = [name for name in frame.columns if name in names and self.plain]
        made = [expression.alias(name) for name, expression in self.figures.items()]
        by = [name for name in self.by if name in names]
        return Part(frame.select(*tables.keys, *shown, *made), by, self.where)


DB2_REQUESTS = {
    "Object reads": ("read", "readcnt"), "Object lists": ("list", "listcnt"),
    "Object updates": ("updt", "updtcnt"), "Object writes": ("writ", "writcnt"),
    "Object deletes": ("dele", "delecnt"), "SCS selects": ("scss", "scssel"),
    "SCS inserts": ("scsi", "scsins"), "SCS updates": ("scsu", "scsupd"),
    "SCS deletes": ("scsd", "scsdel"), "SSK selects": ("ssks", "ssksel"),
    "SSK inserts": ("sski", "sskins"), "SSK deletes": ("sskd", "sskdel"),
    "LMS selects": ("lmss", "lmssel"), "LMS inserts": ("lmsi", "lmsins"),
    "LMS updates": ("lmsu", "lmsupd"), "LMS deletes": ("lmsd", "lmsdel"),
    "LMS lists": ("lmsl", "lmslis"),
}  # fmt: skip
"""Each kind of request: how the names of its times begin, and its counter."""

PUBLISHES = c("qtstptot_1") + c("qtstptot_2") + c("qtstptot_3")
MICROSECONDS = SECONDS * 1e6


def _hexadecimal(name: str) -> pl.Expr:
    """Show an address, which is signed in the record."""
    number = pl.col(name).cast(pl.Int64)
    unsigned = pl.when(number < 0).then(number + 2**32).otherwise(number)
    return unsigned.map_elements(lambda each: f"{each:08X}", return_dtype=pl.String)


def _word(flag: str, yes: str, no: str) -> pl.Expr:
    return pl.when(pl.col(flag)).then(pl.lit(yes)).when(~pl.col(flag)).then(pl.lit(no))


STATISTICS: Mapping[str, Sequence[Figures]] = {
    "data": [
        Figures("qist", figures={
            "from_page_set": ratio(c("qistgetd"), c("qistgetd") + c("qistgetb"), 100),
            "puts_per_second": ratio(c("qistmput"), SECONDS),
            "gets_per_second": ratio(c("qistmget"), SECONDS),
        }),
    ],
    "lock": [Figures("qlst", figures={"gets_per_second": ratio(c("qlstgetl"), SECONDS)})],
    "db2": [
        Figures("q5st", where={"line": "tasks", "request": "Tasks"}),
        *(
            Figures("q5st", figures={
                "calls": whole(count),
                "task_average": ratio(c(f"{times}tcuw"), c(count)),
                "task_longest": c(f"{times}tmxw"),
                "db2_average": ratio(c(f"{times}scuw"), c(count)),
                "db2_longest": c(f"{times}smxw"),
            }, where={"line": "request", "request": request}, plain=False)
            for request, (times, count) in DB2_REQUESTS.items()
        ),
    ],
    "cf": [
        Figures("qest", ["qeststr"], {
            "single_average": ratio(c("qestsstc"), c("qestcsec")),
            "single_redriven": ratio(c("qestrsec"), c("qestcsec"), 100),
            "multiple_average": ratio(c("qestmstc"), c("qestcmec")),
            "multiple_redriven": ratio(c("qestrmec"), c("qestcmec"), 100),
            "calls_per_second": ratio(c("qestcsec") + c("qestcmec"), SECONDS),
        }),
    ],
    "topic": [
        Figures("qtst", figures={
            "publish_average": ratio(c("qtstetto"), PUBLISHES),
            "publish_longest": c("qtstethw"),
            "publishes_per_second": ratio(PUBLISHES, SECONDS),
        }),
    ],
    "smds": [
        Figures("qesd", ["qesdstr"], {
            "blocks_used": ratio(c("qesdsmbu"), c("qesdsmbd"), 100),
            "blocks_used_high": ratio(c("qesdsmmu"), c("qesdsmbd"), 100),
            "gets_valid": ratio(c("qesdbfgv"), c("qesdbfgb"), 100),
            "reads_saved": ratio(c("qesdbfrs"), c("qesdbfrr"), 100),
            "pool_wait_average": ratio(c("qesdbfpt"), c("qesdbfwp")),
            "busy_wait_average": ratio(c("qesdbfbt"), c("qesdbfwb")),
            "format_average": ratio(c("qesdioft"), c("qesdiofr")),
            "format_wait": ratio(c("qesdiofw"), c("qesdiofr")),
            "write_average": ratio(c("qesdiowt"), c("qesdiowr")),
            "write_wait": ratio(c("qesdioww"), c("qesdiowr")),
            "read_average": ratio(c("qesdiort"), c("qesdiorr")),
            "read_wait": ratio(c("qesdiorw"), c("qesdiorr")),
            "other_average": ratio(c("qesdioot"), c("qesdioor")),
            "other_wait": ratio(c("qesdioow"), c("qesdioor")),
        }),
    ],
    "buff": [
        Figures("qpst", ["qpstpool"], {
            "low_percent": ratio(c("qpstcbsl"), c("qpstnbuf"), 100),
            "now_percent": ratio(c("qpstcbs"), c("qpstnbuf"), 100),
            "used_percent": 100 - ratio(c("qpstcbsl"), c("qpstnbuf"), 100),
            "pages_per_write": ratio(c("qpsttpw"), c("qpstwio")),
            "ios_per_second": ratio(c("qpstrio") + c("qpstwio"), SECONDS),
            "location": _word("qpstloc", "Above", "Below"),
            "pages": _word("qpstf4kb", "Fixed", "Pageable"),
        }),
    ],
    "buffio": [
        Figures("qpst", ["qpstpool"], {
            "reads_per_second": ratio(c("qpstrio"), SECONDS),
            "writes_per_second": ratio(c("qpstwio"), SECONDS),
            "gets_read": ratio(c("qpstrio"), c("qpstgetp"), 100),
            "pages_per_write": ratio(c("qpsttpw"), c("qpstwio")),
            "updates_written": ratio(c("qpsttpw"), c("qpststw"), 100),
            "mb_written_per_second": ratio(c("qpsttpw") * 4096 / 1048576, SECONDS),
        }),
    ],
    "chinit": [
        Figures("qcct", figures={
            "line": pl.when(pl.col("qcctstab").is_null()).then(pl.lit("before_935"))
            .otherwise(pl.lit("since_935")),
            "storage_limit": pl.col("qcctslim"),
            "current_percent": ratio(c("qcctnocc"), c("qcctmxcc"), 100),
            "active_percent": ratio(c("qcctnoac"), c("qcctmxac"), 100),
        }),
    ],
    "msgm": [
        Figures("qmst", figures={
            "puts_per_second": ratio(c("qmstput") + c("qmstput1"), SECONDS),
            "gets_per_second": ratio(c("qmstget"), SECONDS),
            "span_cpu_seconds": c("qmstotpu") / 1e6,
            "span_idle_seconds": c("qmstotpw") / 1e6,
            "span_smf_wait_seconds": c("qmstotpd") / 1e6,
        }),
    ],
    "pset": [
        Figures("qis1", ["qis1psno"], {
            "used": whole("qis1topg") - whole("qis1unpg"),
            "used_percent": ratio(c("qis1topg") - c("qis1unpg"), c("qis1topg"), 100),
            "deferred_pages": ratio(c("qis1dwpp"), c("qis1dwpn")),
            "deferred_average": ratio(c("qis1dwpt"), c("qis1dwpn")),
            "immediate_pages": ratio(c("qis1imwp"), c("qis1imwn")),
            "immediate_average": ratio(c("qis1imwt"), c("qis1imwn")),
            "read_pages": ratio(c("qis1getp"), c("qis1getn")),
            "read_average": ratio(c("qis1gett"), c("qis1getn")),
            "ios_per_second": ratio(c("qis1dwpn") + c("qis1imwn") + c("qis1getn"), SECONDS),
            "io_busy": ratio(c("qis1dwpt") + c("qis1imwt") + c("qis1gett"), MICROSECONDS, 100),
        }),
    ],
    "stg": [
        Figures("qsst", where={"line": "requests"}),
        Figures("qsrs", figures={
            "extended_free": ratio(c("qsrsaval"), c("qsrsesiza"), 100),
            "region_start": _hexadecimal("qsrsstrta"),
            "region_top": _hexadecimal("qsrscrgtp"),
            "extended_start": _hexadecimal("qsrsestra"),
            "extended_top": _hexadecimal("qsrsergtp"),
        }, where={"line": "regions"}),
        Figures("qsph", ["qsphname", "qsphdspnm", "qsphflags", "qsphbsize"], {
            "growth": whole("qsphstor") - whole("qsphostor"),
            "attributes": pl.concat_str(
                _word("qsphfixed", "Fixed", "Variable"), _word("qsphglob", "Global", "Local"),
                _word("qsph64bit", "64-bit", "31-bit"),
                pl.when(pl.col("qsphivsa")).then(pl.lit("IVSA")), separator=" ", ignore_nulls=True,
            ),
            "data_space": pl.when(pl.col("qsphdspc")).then("qsphdspnm"),
        }, where={"line": "pool"}),
        Figures("qsgm", ["qsgmcsect", "qsgmoffset", "qsgmscls"],
                {"caller_offset": _hexadecimal("qsgmoffset")},
                where={"line": "getmain"}),
    ],
}  # fmt: skip


def statistics(report: str, tables: Tables) -> list[Part]:
    """Return the parts of a report of STATISTICS."""
    return [each.part(report, tables) for each in STATISTICS[report]]


# --- the log ------------------------------------------------------------------------------------

LOG_FIELDS = {
    "checkpoints": "qjstllcp", "waits_for_buffers": "qjstwtb", "pages_written": "qjstciwr",
    "write_requests": "qjstlogw", "compressions": "qjstcmpreq",
    "compressions_failed": "qjstcmpfail", "compressed_from": "qjstcmpuncmp",
    "compressed_to": "qjstcmpcomp", "decompressions": "qjstdecreq",
    "decompressions_failed": "qjstdecfail", "write_wait": "qjstwrw", "write_nowait": "qjstwrnw",
    "write_force": "qjstwrf", "read_buffer": "qjstrbuf", "read_active": "qjstract",
    "read_archive": "qjstrarh", "bsds_requests": "qjstbsds", "cis_created": "qjstbffl",
    "buffer_writes": "qjstbfwr", "archive_writes": "qjstalw", "cis_offloaded": "qjstciof",
    "reads_delayed": "qjstwur", "reads_delayed_maxrtu": "qjsttvc", "lookahead_mounts": "qjstlama",
    "lookahead_mounts_done": "qjstlams",
}  # fmt: skip
"""Figures of the log under words of MP1B."""


def log(report: str, tables: Tables) -> list[Part]:
    """Pages are of 4 KB; both copies are written at once, so the one with more counts."""
    keys = tables.keys
    io = tables["qjst_io"]
    copies = io.group_by([*keys, "copy"]).agg(
        ios=total(whole("qjstiocount")), pages=total(whole("qjstioci")),
        suspended=total("qjstiototsus"),
    )  # fmt: skip
    whole_log = copies.group_by(keys).agg(
        every_io=pl.col("ios").sum(),
        every_page=pl.col("pages").sum(),
        copy_pages=pl.col("pages").max(),
        copy_suspended=pl.col("suspended").max(),
    )
    told = pl.col("qjstslptu").is_not_null()
    measured = tables["qjst"].group_by(keys).agg(
        measured=total(pl.when(told).then("interval_seconds"))
    )  # fmt: skip
    frame = tables.combined("qjst")
    for other in (whole_log, measured, *_kinds_of_io(io, keys)):
        frame = frame.join(other, on=keys, how="left")
    of_io = {
        name: pl.when(told).then(pl.col(name).fill_null(0))
        for name in ("copy_pages", "copy_suspended")
    }
    counts = [f"io_{copy}_{kind}_{what}" for copy, kind in KINDS for what in ("count", "pages")]
    microseconds = c("measured") * 1e6
    megabytes = of_io["copy_pages"] * 4096 / 1048576
    figures = {
        **{name: pl.col(column) for name, column in LOG_FIELDS.items()},
        **{name: pl.when(told).then(pl.col(name).fill_null(0)) for name in counts},
        "pages_per_copy": of_io["copy_pages"],
        "mb_written": megabytes,
        "log_mb_written": megabytes,
        "mb_per_second": ratio(megabytes, c("measured")),
        "log_write_rate": ratio(megabytes, c("measured")),
        "mb_used": c("qjstbffl") * 4096 / 1048576,
        "log_mb_used": c("qjstbffl") * 4096 / 1048576,
        "pages_per_write": ratio(
            pl.coalesce("every_page", "qjstciwr"), pl.coalesce("every_io", "qjstlogw")
        ),
        "read_requests": whole("qjstrbuf") + whole("qjstract") + whole("qjstrarh"),
        "io_busy": ratio(of_io["copy_suspended"], microseconds, 100),
        "task_busy": 100 - ratio(c("qjstslptu"), microseconds, 100),
        "hyperlink_one_average": ratio(c("qjsthlsciwttot"), c("qjsthlsciw")),
        "hyperlink_multi_average": ratio(c("qjsthlmciwttot"), c("qjsthlmciw")),
    }
    return [_shown(report, frame.with_columns(**figures), keys)]


KINDS = [(copy, kind) for copy in (1, 2) for kind in (1, 2)]
"""Copy of the log, and single or several pages."""


def _kinds_of_io(io: pl.DataFrame, keys: Sequence[str]) -> list[pl.DataFrame]:
    """Return the write I/O of each copy and kind; with the longest, when and where it was."""
    found = []
    longest = pl.col("qjstiomaxio") == pl.col("qjstiomaxio").max()
    for copy, kind in KINDS:
        mine = io.filter(pl.col("copy") == copy, pl.col("io_type") == kind)
        name = f"io_{copy}_{kind}"
        found.append(
            mine.group_by(keys).agg(
                total(whole("qjstiocount")).alias(f"{name}_count"),
                total(whole("qjstioci")).alias(f"{name}_pages"),
                ratio(total("qjstiototio"), total(whole("qjstiocount"))).alias(f"{name}_average"),
                pl.col("qjstiomaxio").max().alias(f"{name}_longest"),
                pl.col("qjstiomaxiot").filter(longest).alias(f"{name}_longest_at"),
                pl.col("qjstiomaxiol").filter(longest).alias(f"{name}_longest_log"),
            )
        )
    return found


def _shown(report: str, frame: pl.DataFrame, keys: Sequence[str], **where: Any) -> Part:
    """Return the figures of a report that a frame has, as rows of one kind."""
    names = [each.name for each in reports.report(report).figures]
    return Part(frame.select(*keys, *(each for each in names if each in frame.columns)), (), where)


# --- queues -------------------------------------------------------------------------------------


def qstat(report: str, tables: Tables) -> list[Part]:
    """Return queues; what a partial record leaves at zero, depth and age, is of full ones."""
    by = ["qqstqnam", "qqstdisp"]
    keys = [*tables.keys, *by]
    full = pl.col("qqstpart").not_()
    puts = c("qqstputs") + c("qqstput1")
    used = puts > 0
    row = tables.sections.by == "record"
    frame = tables["qqst"]
    if row:
        frame = frame.with_columns(section_block="block_no")
        keys = [*keys, "section_block"]
    own = frame.group_by(keys).agg(
        depth=last(pl.when(full).then("qqstdpth")),
        age=last(pl.when(full).then("qqstmage")),
        smallest=pl.coalesce(
            pl.col("qqstmsmi").filter(used.fill_null(False)).min(), pl.col("qqstmsmi").min()
        ),
        average=pl.when(pl.len() == 1)
        .then(c("qqstmsav").first())
        .otherwise(ratio(total(c("qqstmsav") * puts), total(puts))),
        partial=pl.col("qqstpart").all(),
    )
    shared, there = pl.col("qqstdisp"), pl.lit("Unallocated")
    combined = (frame if row else tables.combined("qqst", by)).join(own, on=keys, nulls_equal=True)
    made = combined.with_columns(
        line=pl.when(pl.col("qqstputs").is_not_null()).then(pl.lit("queue"))
        .when(pl.col("qqstopct").is_not_null()).then(pl.lit("queue_931"))
        .when(shared).then(pl.lit("shared_930")).otherwise(pl.lit("private_930")),
        disposition=_word("qqstdisp", "Shared", "Private"),
        page_set=pl.when(~shared).then(pl.coalesce(pl.col("qqstpsid").cast(pl.String), there)),
        buffer_pool=pl.when(~shared).then(pl.coalesce(pl.col("qqstbpid").cast(pl.String), there)),
        queue_sharing_group=pl.when(shared).then("qqstqsgn"),
        structure=pl.when(shared).then("qqstcfst"),
        record_type=_word("partial", "Partial", "Full"),
        completeness=_word("partial", "PARTIAL", "COMPLETE"),
        total_puts=whole("qqstputs") + whole("qqstput1"),
        total_gets=whole("qqstgets") + whole("qqstbrws"),
    )  # fmt: skip
    names = {each.name for each in reports.report(report).figures}
    shown = ["line", *(each for each in made.columns if each in names - {*by})]
    return [Part(made.select(*tables.keys, *by, *shown), by)]


Recomputation = Callable[[str, Tables], list[Part]]
RECOMPUTED: Mapping[str, Recomputation] = {
    **dict.fromkeys(STATISTICS, statistics),
    "log": log,
    "qstat": qstat,
}
