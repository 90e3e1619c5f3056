"""What has to be true of every simulated site: the same flows, seen by one record and by another.

The arithmetic here is its own: it knows what was declared, and nothing of how it was simulated.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from smfparse.simulating import load_estate, scenario_names
from tests.simulating.simulated import Day, simulated

pytestmark = pytest.mark.slow

_WAITS = 0.3
"""How much longer calls last than their processor time and their waits: for the processor."""


@pytest.fixture(scope="module", params=scenario_names())
def day(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Day]:
    folder: Path = tmp_path_factory.mktemp("site")
    made = simulated(folder, request.param)
    yield made
    made.connection.close()


def test_a_queue_holds_what_was_put_and_not_taken(day: Day) -> None:
    wrong = day.rows("""
        WITH steps AS (
            SELECT
                *,
                lag(qqstdpth) OVER own AS before,
                interval_start - lag(interval_start + to_microseconds(
                    CAST(interval_seconds * 1000000 AS BIGINT))) OVER own AS gap
            FROM qqst
            WHERE NOT qqstpart
            WINDOW own AS (PARTITION BY qmgr, qqstqnam ORDER BY interval_start)
        ),
        calls AS (
            SELECT
                qqstqnam, interval_start,
                sum(qqstputs + qqstput1) AS put, sum(qqstgets - qqstrbgt) AS got,
                sum(qqstexpr) AS expired
            FROM qqst
            GROUP BY ALL
        )
        SELECT qqstqnam, interval_start, before, put, got, expired, qqstdpth
        FROM steps JOIN calls USING (qqstqnam, interval_start)
        WHERE gap = INTERVAL 0 MINUTE AND qqstdpth <> before + put - got - expired
    """)
    assert wrong == []


def test_extremes_of_a_queue_enclose_its_depth(day: Day) -> None:
    assert (
        day.one("SELECT count(*) FROM qqst WHERE qqstdpth NOT BETWEEN qqstdplo AND qqstdphi") == 0
    )


@pytest.mark.parametrize(
    ("whole", "parts"),
    [
        ("qqstputs", "qqstppt + qqstnppt"),
        ("qqstput1", "qqstpp1 + qqstnpp1"),
        ("qqstputb", "qqstppb + qqstnppb"),
        ("qqstgets", "qqstpdg + qqstnpdg"),
        ("qqstgetb", "qqstpdb + qqstnpdb"),
    ],
)
def test_persistent_and_other_messages_are_all(day: Day, whole: str, parts: str) -> None:
    assert day.rows(f"SELECT qqstqnam FROM qqst WHERE {whole} <> {parts}") == []


def test_queue_statistics_have_the_calls_of_all_tasks(day: Day) -> None:
    """Copies of streamed messages are puts to their queue, and of no task."""
    compared = """
        WITH statistics AS (
            SELECT qqstqnam AS queue, sum(qqstputs + qqstput1) AS put, sum(qqstgets) AS got
            FROM qqst GROUP BY ALL
        ),
        tasks AS (
            SELECT basename AS queue, sum(putn + put1n) AS put, sum(getdval) AS got
            FROM wqst GROUP BY ALL
        ),
        compared AS (
            SELECT
                queue, s.got, coalesce(t.got, 0) AS got_by_tasks,
                s.put::HUGEINT - coalesce(t.put, 0) AS copies
            FROM statistics AS s LEFT JOIN tasks AS t USING (queue)
        )
    """
    assert (
        day.rows(f"{compared} SELECT * FROM compared WHERE got <> got_by_tasks OR copies < 0") == []
    )
    copies, queues = day.rows("""
        SELECT coalesce(sum(streamedn), 0), count(DISTINCT basename) FROM wqst WHERE streamedn > 0
    """)[0]
    (found,) = day.rows(
        f"{compared} SELECT coalesce(sum(copies), 0), count(*) FILTER (copies > 0) FROM compared"
    )
    assert found == (copies, queues)


def test_the_queue_manager_counts_the_puts_and_gets_of_all_queues(day: Day) -> None:
    wrong = day.rows("""
        WITH queues AS (
            SELECT
                qmgr, interval_start, sum(qqstputs) AS puts, sum(qqstput1) AS put1s,
                sum(qqstgets) AS got, sum(qqstopen) AS opened, sum(qqstppt + qqstpp1) AS persistent,
                sum(qqstputs + qqstput1) AS own_put,
                sum(qqstgets) AS own_got
            FROM qqst GROUP BY ALL
        )
        SELECT q.qmgr, q.interval_start, qmstput, puts
        FROM queues AS q
        JOIN qmst USING (qmgr, interval_start) JOIN qist USING (qmgr, interval_start)
        WHERE qmstput <> puts OR qmstput1 <> put1s OR qmstopen <> opened OR qmstget < got
            OR qmstspp <> persistent OR qmstspp + qmstsnp <> puts + put1s
            OR qistmput <> own_put OR qistmget < own_got
    """)
    assert wrong == []


def test_log_bytes_follow_persistent_puts_gets_and_units_of_work(day: Day) -> None:
    (told, puts, gets, units) = day.rows("""
        SELECT
            (SELECT coalesce(sum(wtasjwb), 0) FROM wtas),
            (SELECT coalesce(sum(
                (putpmsg + put1pmsg + if(putpmsg + put1pmsg > 0, streamedn, 0))
                * (putbytes / greatest(validput, 1) + 500)), 0) FROM wqst),
            (SELECT coalesce(sum(getpmsg * 110), 0) FROM wqst),
            (SELECT coalesce(sum(360 * wtasjcn / if(wtidatyp IN (4, 7), 2, 1)), 0)
                FROM wtas JOIN wtid USING (record_no))
            - (SELECT coalesce(sum(360 * (putjcn + put1jcn) / if(wtidatyp IN (4, 7), 2, 1)), 0)
                FROM wqst JOIN wtid USING (record_no))
    """)[0]
    assert told == pytest.approx(float(puts) + float(gets) + float(units), rel=0.02)


def test_the_log_has_the_pages_of_what_tasks_logged(day: Day) -> None:
    pages, logged = day.rows("""
        SELECT
            (SELECT sum(qjstbffl) FROM qjst), (SELECT coalesce(sum(wtasjwb), 0) FROM wtas)
    """)[0]
    intervals = day.one("SELECT count(*) FROM qjst")
    assert pages == pytest.approx(float(logged) / 4057, abs=2 * intervals, rel=0.01)


def test_log_writes_agree_with_one_another(day: Day) -> None:
    wrong = day.rows("""
        SELECT qmgr, interval_start
        FROM qjst JOIN (
            SELECT
                qmgr, interval_start, sum(qjstiocount) AS writes, sum(qjstioci) AS pages,
                count(DISTINCT copy) FILTER (qjstiocount > 0) AS copies,
                max(qjstiomaxio) AS longest, sum(qjstiototio) AS took,
                bool_and(io_type = 2 OR qjstioci = qjstiocount) AS single,
                bool_and(qjstioci BETWEEN qjstiocount AND 128 * qjstiocount) AS possible
            FROM qjst_io GROUP BY ALL
        ) USING (qmgr, interval_start)
        WHERE qjstlogw <> writes OR qjstciwr <> pages OR NOT single OR NOT possible
            OR longest > took OR qjstbffl * copies > pages
    """)
    assert wrong == []


def test_the_logger_sleeps_when_it_does_not_write(day: Day) -> None:
    wrong = day.rows("""
        SELECT qmgr, interval_start, busy, suspended
        FROM (SELECT *, interval_seconds * 1e6 - qjstslptu AS busy FROM qjst) JOIN (
            SELECT qmgr, interval_start, max(of_copy) AS suspended
            FROM (
                SELECT qmgr, interval_start, copy, sum(qjstiototsus) AS of_copy
                FROM qjst_io GROUP BY ALL
            ) GROUP BY ALL
        ) USING (qmgr, interval_start)
        WHERE busy < 0.99 * suspended OR busy > 1.06 * suspended + 1
            OR busy > interval_seconds * 1e6
    """)
    assert wrong == []


def test_pool_use_follows_the_depth_of_its_queues(day: Day) -> None:
    """As long as nothing was written, all that is on the queues is in buffers."""
    wrong = day.rows("""
        SELECT qmgr, interval_start, pool, pages, qpstnbuf - qpstcbs
        FROM (
            SELECT qmgr, interval_start, qqstbpid AS pool, sum(qqstdpth * pages) AS pages
            FROM qqst JOIN message USING (qqstqnam) WHERE qqstbpid IS NOT NULL GROUP BY ALL
        ) JOIN (
            SELECT *, max(qpsttpw) OVER (PARTITION BY qmgr, qpstpool) AS written FROM qpst
        ) USING (qmgr, interval_start)
        WHERE qpstpool = pool AND written = 0
            AND abs(qpstnbuf - qpstcbs - 40 - pages) > 0.05 * pages
    """)
    assert wrong == []


def test_pages_are_written_behind_from_85_percent_on_and_by_tasks_from_95(day: Day) -> None:
    wrong = day.rows("""
        SELECT qmgr, interval_start, qpstpool, qpstcbsl, qpstdwt
        FROM qpst
        WHERE (qpstdwt > 0) <> (qpstcbsl <= 0.15 * qpstnbuf AND qpsttpw > 0)
            OR qpstdmc > 0 AND qpstcbsl > 0.05 * qpstnbuf
            OR qpstdmc = 0 AND qpstcbsl < 0.05 * qpstnbuf - 1
            OR qpstsos > 0 AND (qpstcbsl > 0 OR qpstdmc = 0)
            OR qpstimw < qpstdmc
            OR qpstcbsl > qpstcbs OR qpstcbs > qpstnbuf OR qpsttpw < qpstimw
    """)
    assert wrong == []


def test_page_sets_hold_what_is_on_their_queues(day: Day) -> None:
    wrong = day.rows("""
        SELECT qmgr, interval_start, qis1psno, qis1ppg + qis1nppg, pages
        FROM (
            SELECT qmgr, interval_start, qqstpsid AS qis1psno, sum(qqstdpth * pages) AS pages
            FROM qqst JOIN message USING (qqstqnam) WHERE qqstpsid IS NOT NULL GROUP BY ALL
        ) JOIN qis1 USING (qmgr, interval_start, qis1psno)
        WHERE abs(qis1ppg + qis1nppg - pages) > 0.05 * pages
            OR qis1unpg + qis1ppg + qis1nppg > qis1topg
    """)
    assert wrong == []


def test_page_sets_write_and_read_what_their_pools_do(day: Day) -> None:
    wrong = day.rows("""
        SELECT qmgr, interval_start, qpstpool, written, qpsttpw, read, qpstrio
        FROM qpst JOIN (
            SELECT
                qmgr, interval_start, qis1bpno AS qpstpool,
                sum(qis1dwpp + qis1imwp) AS written, sum(qis1getp) AS read, count(*) AS sets
            FROM qis1 GROUP BY ALL
        ) USING (qmgr, interval_start, qpstpool)
        WHERE abs(written - qpsttpw) > 3 * sets OR abs(read - qpstrio) > sets
    """)
    assert wrong == []


@pytest.mark.parametrize("verb", ["put", "put1", "get"])
def test_a_call_lasts_as_long_as_its_work_and_its_waits(day: Day, verb: str) -> None:
    waits = f"{verb}jwet + {verb}suset" + (f" + {verb}pset" if verb != "get" else "")
    wrong = day.rows(f"""
        SELECT basename, {verb}n, {verb}et, {verb}ct, {waits}
        FROM wqst
        WHERE {verb}et < {verb}ct + {waits} - 1
            OR {verb}et > {verb}ct * (1 + {_WAITS}) + {waits} + {verb}n::DOUBLE * 400
    """)
    assert wrong == []


def test_a_commit_lasts_as_long_as_the_log_write_it_waits_for(day: Day) -> None:
    wrong = day.rows("""
        SELECT wtascmn, wtascmet + wtaspret, wtasjcet, wtassuse
        FROM wtas
        WHERE wtascmet + wtaspret < wtascmct + wtasprct OR wtassuse < wtasjcet - 1
            OR wtascmn > 0 AND wtasjcn > 0 AND wtascmet + wtaspret < 0.5 * wtasjcet
    """)
    assert wrong == []


def test_adapters_make_the_calls_of_the_channels(day: Day) -> None:
    calls, cpu = day.rows("""
        SELECT
            (SELECT sum(putn + put1n + getn + openn + closen) FROM wqst JOIN wtid
                USING (record_no) WHERE wtidatyp = 6)
            + (SELECT sum(wtascmn + wtasban + wtasotn + wtasctn + wtasprn) FROM wtas JOIN wtid
                USING (record_no) WHERE wtidatyp = 6),
            (SELECT sum(putct + put1ct + getct + openct + closect) FROM wqst JOIN wtid
                USING (record_no) WHERE wtidatyp = 6)
            + (SELECT sum(wtascmct + wtasbact + wtasotct + wtasctct + wtasprct) FROM wtas JOIN wtid
                USING (record_no) WHERE wtidatyp = 6)
    """)[0]
    done, spent = day.rows("SELECT sum(qctreqn), sum(qctcptm) FROM qct_adp")[0]
    if calls is None:
        assert done in (None, 0)
        return
    assert done == pytest.approx(float(calls), rel=0.001)
    assert spent == pytest.approx(float(cpu), rel=0.001)
    assert day.one("SELECT count(*) FROM qct_adp WHERE qctcptm > qcteltm") == 0


def test_channels_send_what_is_taken_from_their_queues(day: Day) -> None:
    """Every queue that a sender empties is emptied by it alone."""
    wrong = day.rows(
        """
        WITH sent AS (
            SELECT interval_start, wtidchl AS channel, sum(qqstgets) AS got, sum(qqstgetb) AS size
            FROM qqst JOIN (
                SELECT DISTINCT wtidchl, basename FROM wqst JOIN wtid USING (record_no)
                WHERE wtidchl <> '' AND getn > 0
            ) ON qqstqnam = basename GROUP BY ALL
        )
        SELECT channel, interval_start, got, sum(qcstnmsg), size, sum(qcstnbyt)
        FROM sent JOIN (
            SELECT qcstchnm AS channel, interval_start, qcstnmsg, qcstnbyt
            FROM qcst WHERE qcstchty IN (1, 9)
        ) USING (channel, interval_start)
        GROUP BY ALL
        HAVING got <> sum(qcstnmsg) OR size <> sum(qcstnbyt)
    """
    )
    assert wrong == []


def test_batches_hold_the_messages_of_channels(day: Day) -> None:
    wrong = day.rows("""
        SELECT qcstchnm, interval_start, qcstnmsg, qcstbatc, qcstfuba, qcstcbsz
        FROM qcst
        WHERE qcstchty <> 7 AND (
            qcstfuba > qcstbatc OR qcstbatc > qcstnmsg OR qcstbatc * qcstcbsz < qcstnmsg
            OR qcstfuba * qcstcbsz > qcstnmsg OR qcstnpmg > qcstnmsg)
    """)
    assert wrong == []


def test_requests_to_structures_follow_the_calls_on_shared_queues(day: Day) -> None:
    shared, single, several = day.rows("""
        SELECT
            (SELECT coalesce(sum(putn + put1n + getdval), 0) FROM wqst WHERE cfstrucname <> ''),
            (SELECT coalesce(sum(qestcsec), 0) FROM qest),
            (SELECT coalesce(sum(qestcmec), 0) FROM qest)
    """)[0]
    assert single == shared
    assert several >= shared


def test_all_queues_of_a_task_are_there(day: Day) -> None:
    """A task that uses more queues than fit its record goes on in others."""
    wrong = day.rows("""
        SELECT t.record_no, wtaswqct, blocks
        FROM wtas AS t JOIN (
            SELECT task_record_no, count(*) AS blocks, count(DISTINCT correl) AS tasks
            FROM wqst GROUP BY ALL
        ) AS q ON q.task_record_no = t.record_no
        WHERE wtaswqct <> blocks OR tasks <> 1
    """)
    assert wrong == []


def test_a_task_is_accounted_for_from_its_start_to_its_end(day: Day) -> None:
    wrong = day.rows("""
        SELECT qmgr, wtasstrt, wtaswtas, count(*), count(*) FILTER (wtasaeot)
        FROM wtas
        GROUP BY ALL
        HAVING count(*) FILTER (wtasaeot) <> 1
            OR max(interval_start) <> max(interval_start) FILTER (wtasaeot)
    """)
    assert wrong == []


@pytest.mark.parametrize("name", scenario_names())
def test_every_scenario_has_a_story(name: str) -> None:
    assert len(load_estate(name).story.split()) >= 10
