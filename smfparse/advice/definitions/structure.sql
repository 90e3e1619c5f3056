-- A structure of the coupling facility in an interval: QEST. A request is usually as long as the median of the
-- intervals says; `slow` and `busy` count the structures that are, of all at the same time.
WITH
counted AS (
    SELECT
        system, qmgr, object, start, seconds, utc_offset, mq_version,
        qestcsec::BIGINT AS singles, qestcmec::BIGINT AS multiples, qestsstc AS single_us, qestmstc AS multiple_us,
        qestrsec::BIGINT AS singles_again, qestrmec::BIGINT AS multiples_again, qestsful,
        qestmnus::BIGINT AS entries, qestmlus::BIGINT AS elements,
        median(CASE WHEN qestcsec >= 1000 THEN qestsstc_average END)
            OVER (PARTITION BY system, qmgr, object) AS usual_us
    FROM rows
    WHERE object <> ''
)
SELECT
    system, qmgr, object, '' AS job, start, seconds, utc_offset, mq_version,
    singles, multiples, single_us, multiple_us, singles_again, multiples_again, qestsful, entries, elements, usual_us,
    count(CASE WHEN singles >= 1000 AND single_us > 3 * usual_us * singles THEN 1 END) OVER at_the_time AS slow,
    count(CASE WHEN singles >= 1000 THEN 1 END) OVER at_the_time AS busy
FROM counted
WINDOW at_the_time AS (PARTITION BY system, qmgr, start)
