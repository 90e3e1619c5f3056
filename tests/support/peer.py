"""What the C formatter mq-smf-csv prints, as columns of our tables.

`PEERS` holds, for each of its CSV files, our columns in the order of its columns. A double is
two CSV columns, (S) and (US); so is a timestamp, (DATE) and (TIME), or Date and Time; all others
are one. What is printed is compared as text: `printed` turns a value of ours into the cells that
the formatter has to show for it. `DEFECTS` and `NO_COUNTERPART` list every CSV column left out.

The CSV files were made with the workstation's zone at UTC, so that times are as in the records:
UTC, and local time of the z/OS system for the record and its interval.
"""

from __future__ import annotations

import csv
import datetime as dt
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import pyarrow as pa

from smfparse.decoding import Decoder, Needs
from smfparse.errors import DamageLog
from smfparse.layout import STCK_UNIX_EPOCH_US
from smfparse.reading import read_chunks
from smfparse.tables import schema, table_names, wanted_tables

Row: TypeAlias = Mapping[str, Any]
Cells: TypeAlias = tuple[str, ...]

_US = dt.timedelta(microseconds=1)
_EPOCH = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)


class Decoded:
    """All our tables of one SMF file: `rows` of each; child rows by block and index too."""

    def __init__(self, path: Path) -> None:
        self.damage = DamageLog()
        decoder = Decoder(Needs(wanted_tables(table_names())), self.damage)
        self.rows: dict[str, list[Row]] = {table: [] for table in table_names()}
        for table, batch in decoder.decode(read_chunks(path, self.damage)):
            self.rows[table] += batch.to_pylist()
        self._entries = {
            (table, row["record_no"], row["block_no"], tuple(row[name] for name in index)): row
            for table, index in INDEX.items()
            for row in self.rows[table]
        }
        self._tasks = {row["record_no"]: row for row in self.rows["wtas"]}

    def entry(self, owner: Row, table: str, index: tuple[Any, ...]) -> Row | None:
        """Return one entry of a repeated group of the block that `owner` is the row of."""
        return self._entries.get((table, owner["record_no"], owner["block_no"], index))

    def task(self, row: Row) -> Row:
        """Return the wtas row of the record that `row` is from."""
        return self._tasks[row["record_no"]]


INDEX = {
    "qjst_io": ("copy", "io_type"),
    "wtas_latch": ("latch",),
    "wtas_cf": ("phase", "request"),
    "wqst_cf": ("verb", "request"),
}
"""Index columns of the child tables that the formatter prints as columns of their block."""


@dataclass(frozen=True)
class Own:
    """A column of the row itself."""

    column: str

    def width(self, table: str) -> int:
        return _width(schema(table).field(self.column).type)

    def cells(self, file: Decoded, table: str, row: Row, like: Cells) -> Cells:
        return printed(row[self.column], schema(table).field(self.column).type, like)


@dataclass(frozen=True)
class Entry:
    """A column of one entry of a repeated group; an entry without a row is all zeros."""

    table: str
    index: tuple[Any, ...]
    column: str

    def width(self, table: str) -> int:
        return _width(self._type)

    def cells(self, file: Decoded, table: str, row: Row, like: Cells) -> Cells:
        entry = file.entry(row, self.table, self.index)
        value = _zero(self._type) if entry is None else entry[self.column]
        return printed(value, self._type, like)

    @property
    def _type(self) -> Any:
        return schema(self.table).field(self.column).type


@dataclass(frozen=True)
class Made:
    """Cells that `make` works out of a row of ours."""

    make: Callable[[Decoded, Row, Cells], Cells]
    columns: int = 1

    def width(self, table: str) -> int:
        return self.columns

    def cells(self, file: Decoded, table: str, row: Row, like: Cells) -> Cells:
        return self.make(file, row, like)


Source: TypeAlias = Own | Entry | Made


def _width(kind: Any) -> int:
    return 2 if pa.types.is_floating(kind) or pa.types.is_timestamp(kind) else 1


def _zero(kind: Any) -> Any:
    if pa.types.is_timestamp(kind):
        return None
    return "" if pa.types.is_string(kind) else 0


def printed(value: Any, kind: Any, like: Cells) -> Cells:
    """Return the cells that the formatter shows for a value of an Arrow type; None: not there.

    `like`, the cells it does show, says only how wide a text is and what it is filled up with.
    """
    if pa.types.is_floating(kind):
        return _duration(value)
    if pa.types.is_timestamp(kind):
        return _moment(value)
    if pa.types.is_string(kind):
        return (_text(value, like[0]),)
    return ("-1" if value is None else str(value),)


def _duration(microseconds: float | None) -> Cells:
    if microseconds is None:
        return "-1", " -1 "
    seconds, rest = divmod(int(microseconds), 1_000_000)
    return str(seconds), f" {rest} "


def _moment(moment: dt.datetime | None) -> Cells:
    if moment is None:
        return "", ""
    return moment.strftime("%Y/%m/%d"), moment.strftime("%H:%M:%S,%f")


def _text(text: str | None, like: str) -> str:
    """Blanks fill up a text, dots stand for its NULs, five dots for one that is not there."""
    if text is None:
        return "....."
    return text.ljust(len(like), "." if like.endswith(".") else " ")


def _interval_start(file: Decoded, row: Row, like: Cells) -> Cells:
    return _moment(row["interval_start"] + dt.timedelta(seconds=row["utc_offset"]))


def _queue_sharing_group(file: Decoded, row: Row, like: Cells) -> Cells:
    return (_text(row["qsg"] or "", like[0]),)


def _version(file: Decoded, row: Row, like: Cells) -> Cells:
    return (row["mq_version"].replace(".", ""),)


def _token(file: Decoded, row: Row, like: Cells) -> Cells:
    """A timestamp does not hold the last 12 bits of a clock: those are the formatter's."""
    task = file.task(row)
    start = (task["wtasstrt"] - _EPOCH) // _US + STCK_UNIX_EPOCH_US
    words = (task[name] & 0xFFFFFFFF for name in ("wtasmthr", "wtaswtas"))
    return (f"{start:013X}{like[0][13:16]}" + "".join(f"{word:08X}" for word in words),)


def _task_index(file: Decoded, row: Row, like: Cells) -> Cells:
    return (str(row["block_no"] - 1),)


def _word(column: str, words: Mapping[Any, str]) -> Made:
    return Made(lambda file, row, like: (words[row[column]],))


def _zero_for_none(column: str) -> Made:
    """Defect 11: the formatter shows 0 for the sentinel X'8FFFFFFF'."""
    return Made(lambda file, row, like: (str(row[column] or 0),))


def _dotted(column: str) -> Made:
    """Defect 13: the formatter has no backslash."""
    return Made(lambda file, row, like: (_text(row[column].replace("\\", "."), like[0]),))


def _own(prefix: str, names: str) -> list[Source]:
    return [Own(prefix + name) for name in names.split()]


def _entries(table: str, index: tuple[Any, ...], prefix: str, names: str) -> list[Source]:
    return [Entry(table, index, prefix + name) for name in names.split()]


def _cf(table: str, groups: Sequence[str], requests: Sequence[int]) -> list[Source]:
    return [
        each
        for group in groups
        for request in requests
        for each in _entries(table, (group, request), "cf", "count syncn syncet asyncn asyncet")
    ]


_CONNECTION = {2: "TSO", 4: "IMS MPP/BMP", 5: "Cmd Svr", 6: "CHIN"}
_POINT: list[Source] = [
    *_own("", "smf_time system qmgr"),
    Made(_queue_sharing_group),
    Made(_version),
]
_INTERVAL: list[Source] = [
    *_POINT,
    Made(_interval_start, columns=2),
    Made(lambda file, row, like: (str(int(row["interval_seconds"])),)),
]
_TASK: list[Source] = [Own("qcttskn"), Made(_task_index), *_own("qct", "reqn cptm eltm wttm")]
_TIMES = "tcuw tmxw scuw smxw"


@dataclass(frozen=True)
class Peer:
    """A CSV file of the formatter: the table of ours, and where its columns come from, in order."""

    table: str
    sources: list[Source]


PEERS = {
    "QSST": Peer(
        "qsst",
        _INTERVAL
        + _own("qsst", "gplf fplf fref expf conf gplv fplv frev expv conv")
        + _own("qsst", "getm frem rcnz cont crit abnd"),
    ),
    "QJST": Peer(
        "qjst",
        _INTERVAL
        + _own("qjst", "wrw wrnw wrf wtb rbuf ract rarh tvc bsds bffl bfwr alr alw ciof llcp wur")
        + _own("qjst", "lama lams lsus logw ciwr serw thrw bpag")
        + _own("qjst", "cmpreq cmpfail cmpuncmp cmpcomp decreq decfail decuncmp deccomp")
        + [
            each
            for index in ((1, 1), (1, 2), (2, 1), (2, 2))
            for each in _entries(
                "qjst_io",
                index,
                "qjstio",
                "count ci totio totsus maxio maxiot maxiol maxsus maxsust maxsusl",
            )
        ]
        + _own("qjst", "slptu iosqu_1 iosqu_2 cp1n cp2n hwc hwe encr hlsciw hlmciw hlcicntw")
        + _own("qjst", "hlscis hlmcis hlcicnts hlscif hlmcif hlcicntf hlscicon hlmcicon hlconcicnt")
        + _own("qjst", "hlsciwtmax hlsciwtmin hlsciwttot hlmciwtmax hlmciwtmin hlmciwttot")
        + _own("qjst", "hliosqu_1 hliosqu_2 hlc hle"),
    ),
    "QMST": Peer(
        "qmst",
        _INTERVAL
        + _own("qmst", "open clos get put put1 inq inql set endw calh sub subr cb ctl stus pubs")
        + _own("qmst", "spp snp pbp nbp ocpa ocga oahc ocpd ocmp ocgd ocps ocgs oscs osps osns")
        + _own("qmst", "ocda ospl oscl osfs osok osfr osfc otso otsr otsc otpu otpw otpd otsk")
        + _own("qmst", "obse obcp obcd"),
    ),
    "QIST": Peer(
        "qist",
        _INTERVAL
        + _own(
            "qist", "mget mput mblr dcre dput ddel dget dloc mcnt alst lomm dlmm enum getd getb"
        ),
    ),
    "QLST": Peer("qlst", _INTERVAL + _own("qlst", "getl hldl rell")),
    "Q5ST": Peer(
        "q5st",
        _INTERVAL
        + _own("", "numtask acttask conncnt disccnt dhigmax abndcnt requcnt deadcnt")
        + _own("", "delecnt listcnt readcnt updtcnt writcnt lmssel lmsins lmsupd lmsdel lmslis")
        + _own("scs", "sel ins upd del bfts maxr")
        + _own("ssk", "sel ins del")
        + [
            each
            for request in (
                *("dele", "list", "read", "updt", "writ"),
                *("scss", "scsi", "scsu", "scsd"),
                *("ssks", "sski", "sskd"),  # defect 6: sskd under the label "Update"
                *("lmss", "lmsi", "lmsu", "lmsd", "lmsl"),
            )
            for each in _own(request, _TIMES)
        ],
    ),
    "QEST": Peer(
        "qest",
        _INTERVAL + _own("qest", "str strn csec cmec rsec rmec sful mnus mlus sstc mstc"),
    ),
    "QTST": Peer(
        "qtst",
        _INTERVAL
        + _own("qtsts", "tot dur hig_1 hig_2 hig_3 low_1 low_2 low_3 exp")
        + _own("qtst", "tmsg sphw ptot_1 ptot_2 ptot_3 phig plow pnos ethw etto"),
    ),
    "QPST": Peer(
        "qpst",
        _INTERVAL
        + _own("qpst", "pool nbuf cbsl cbs getp getn rio stw tpw wio imw dwt dmc stl stla sos")
        + [
            _word("qpstloc", {True: "Above", False: "Below"}),
            _word("qpstf4kb", {True: "Fixed", False: "Paged"}),
        ],
    ),
    "QESD": Peer(
        "qesd",
        _INTERVAL
        + _own("qesd", "str strn")
        + _own("qesdsm", "bt bs bd bu bf mc ar fr rr cr ap fp rp cp fl mm mu mf")
        + _own("qesdbf", "sz to us up fs fe pw bw gb gv gm gf gl gn rr rs rp wr fb db wp wb")
        + _own("qesdbf", "pt mu mf mp mb")
        + _own("qesdio", "ha hu ci ca fr fp ft fw wr wp wt ww rr rp rt rw or op ot ow")
        + [_word("qesdencf", {None: "....."})],
    ),
    "QCCT": Peer(
        "qcct",
        _INTERVAL + _own("qcct", "jobn qsgn nocc mxcc noac mxac mxtp mxlu stus stab slim"),
    ),
    "QCTDSP": Peer(
        "qct_dsp",
        [*_INTERVAL, *_TASK, Own("qctchln")],
    ),
    "QCTADP": Peer(
        "qct_adp",
        [*_INTERVAL, *_TASK],
    ),
    "QCST": Peer(
        "qcst",
        _POINT
        + _own("qcst", "cltm chnm")
        + [
            _word("qcstchdp", {4: "Private"}),
            _word("qcstchty", {7: "SvrConn"}),
            _word("qcstchst", {0: "Inactive", 3: "Running"}),
            _word("qcststcl", {65: "High"}),
        ]
        + _own("qcst", "cnnm strt ludt lmst cbsz nmsg npmg batc fuba bfst bfrc cscv nbyt npby byst")
        + _own("qcst", "byrc cpra etav")
        + [_zero_for_none("qcstetmn"), *_own("qcst", "etmx etdt dnrt ntav")]
        + [_zero_for_none("qcstntmn"), *_own("qcst", "ntmx ntdt"), _dotted("qcstrqmn")]
        + _own("qcst", "slsn slcn slcs ptrc qetc cbit cbdl dspn rpid rver"),
    ),
    "QMAC": Peer(
        "qmac",
        _POINT
        + _own("qwhc", "aid cv cn opid")
        + [_word("qwhcatyp", _CONNECTION)]
        + _own("qwhc", "tokn nid")
        + _own("qmac", "cput puta putb putc putd geta getb getc getd"),
    ),
    "WTID": Peer(
        "wtid",
        [
            *(*_POINT, Made(_token), _word("wtidatyp", _CONNECTION)),
            *_own("wtid", "ccn opid nid cori uowi acct chl chlc ctxt tran"),
        ],
    ),
    "WTAS": Peer(
        "wtas",
        _POINT
        + [Own("wtasver"), Made(_token), *_own("wtas", "strt wqct")]
        + [
            each
            for latch in range(1, 33)
            for each in _entries("wtas_latch", (latch,), "wtas", "lwet lwn")
        ]
        + _own("wtas", "lown otet otct otn mlw mlwn cmet cmct cmn baet bact ban jwet jwn jwb jcet")
        + _own("wtas", "jcn susn suse pse0 psn0 dbet dbes dbmt dbms dbct dbpt dbgt csec cmec rsec")
        + _own("wtas", "rmec sstc mstc ints inte gpo gpn pbhw pbtt tpet tpct suet suct sun susc")
        + _own("wtas", "susl sqet sqct sqn ctet ctct ctn ctsr stet stct stn")
        + _cf("wtas_cf", ("commit", "prepare"), (*range(9), *range(10, 14)))
        + _own("wtas", "smwb smrb smwp smrp smrs smwt pret prct prn")
        + [Entry("wtas_latch", (latch,), "wtaslmax") for latch in range(1, 33)],
    ),
    "WQ": Peer(
        "wqst",
        _POINT
        + _own("", "correl objname basename opentime clostime")
        + [
            _word("qtype", {1: "Local", 3: "Alias"}),
            _word("indxtype", {0: "None", 2: "CorrelId"}),
            _word("qsgdisp", {0: "QMgr"}),
        ]
        + _own("open", "et ct n")
        + _own("close", "et ct n")
        + _own("get", "et ct n brwa brws a s err jwet jwn pset psn suset susn epage smsg exmsg")
        + _own("put", "et ct n igq jwet jwn suset susn pset psn")
        + _own("put1", "et ct n igq jwet jwn suset susn pset psn")
        + _own("inq", "et ct n")
        + _own("set", "et ct n jwet jwn")
        + _own("", "nps cfstrucname nbuffpool putbytes getbytes validput validget ngen getmaxms")
        + _own("", "getminms putmaxms putminms maxlatnt minlatnt totlatnt use_count total_use")
        + _own("", "getpmsg putpmsg put1pmsg maxqdpth getdval getjcet getjcn putpwg putjcet putjcn")
        + _own("", "put1pwg put1jcet put1jcn setjcet setjcn putdsq selcount selmaxln cbet cbct cbn")
        + _own("", "opensuet opensun closesuet closesun opencf0 closecf0")
        + _cf("wqst_cf", ("open", "close", "get", "put", "put1"), range(14))
        + _own("", "publishedn topicopensrb topicputsrb topicput1srb topicclosesrb putddly")
        + _own("", "streamedn"),
    ),
}
"""CSV file SMF-<name>.csv to what it holds."""


@dataclass(frozen=True)
class LeftOut:
    """Columns of a CSV file that are not compared; `defect` numbers the formatter's defect."""

    name: str
    columns: tuple[str, ...]
    reason: str
    defect: int | None = None


DEFECTS = (
    LeftOut("QESD", ("Buffer_Wait_Time",), "only the high word of a 64-bit time is printed", 1),
)
"""Columns that are not compared for a proven defect; the numbers are those of KNOWN_DEFECTS."""

KNOWN_DEFECTS = {
    1: "QESD.Buffer_Wait_Time: only the high word of a 64-bit time; left out",
    2: "QESD.Encrypted: the wrong word; MQ 8.0 records end before it, so neither prints one",
    3: "interval columns of 115/5-7 left over from another record; not in these files",
    4: "Interval_Start shifted by the workstation's zone; it was UTC, so nothing shows; compared",
    5: "Get_P, Get_NP, Browse_P, Browse_NP of QQST swapped; no QQST in these files",
    6: "SSKT_*_Update_* are delete times; compared with our delete times",
    7: "RDW and triplets trusted; these files are sound",
    8: "the DNS block of MQ 8.0.0 lost; no CSV file, our 16 rows are counted",
    9: "WTAS latch times of MQ 10 unusable; these files are of MQ 8.0",
    10: "WQ version 6 read beyond its end; these files have version 8",
    11: "absent values printed as -1, dots, 1970; compared with our NULL printed so",
    12: "the top bit of 64-bit counters masked; no counter is that large",
    13: "some EBCDIC characters become dots; compared with ours turned to dots",
    14: "column count may differ from the header; every row is checked to have as many",
    15: "fields that are not printed at all; held by the fact tables alone",
}
"""Every proven defect of the formatter, and what the comparison does about it."""

NO_COUNTERPART = (
    LeftOut("WTID", ("Correl(CHAR)",), "Correl(HEX), which is compared, read as EBCDIC"),
)


@dataclass(frozen=True)
class Sheet:
    """A CSV file as read, without the empty column that its trailing commas make."""

    name: str
    header: Cells
    rows: list[Cells]

    def columns(self) -> Iterator[tuple[Source, int, int]]:
        """Give the sources of the columns, each with the first of its columns and the end.

        AssertionError where a column is neither left out nor has a source.
        """
        peer, skipped = PEERS[self.name], left_out(self.name)
        at = 0
        sources = iter(peer.sources)
        while at < len(self.header):
            if self.header[at] in skipped:
                at += 1
                continue
            source = next(sources, None)
            assert source is not None, f"{self.name}: {self.header[at]} is neither ours nor listed"
            end = at + source.width(peer.table)
            heads = self.header[at:end]
            assert _one_value(heads), f"{self.name}: {heads} is not one value ({source})"
            yield source, at, end
            at = end
        assert next(sources, None) is None, f"{self.name} has fewer columns than ours"


_PAIRS = (("(S)", "(US)"), ("(DATE)", "(TIME)"))


def _one_value(heads: Cells) -> bool:
    """Whether column titles are those of one value: one, or a pair with the same stem."""
    if heads == ("Date", "Time"):
        return True
    for first, second in _PAIRS:
        if heads[0].endswith(first):
            return heads[1:] == (heads[0].removesuffix(first) + second,)
    return len(heads) == 1 and not heads[0].endswith(("(US)", "(TIME)"))


def left_out(name: str) -> frozenset[str]:
    """Return the columns of a CSV file that are not compared."""
    return frozenset(
        column
        for each in (*DEFECTS, *NO_COUNTERPART)
        if each.name == name
        for column in each.columns
    )


def read_sheet(path: Path) -> Sheet:
    """Read a CSV file of the formatter."""
    with path.open(newline="", encoding="ascii") as file:
        header, *rows = (tuple(row) for row in csv.reader(file))
    assert all(len(row) == len(header) and row[-1] == "" for row in (header, *rows)), path
    return Sheet(path.stem.removeprefix("SMF-"), header[:-1], [row[:-1] for row in rows])
