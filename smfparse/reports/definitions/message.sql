-- MESSAGE: one row per section and rule that its figures cross. Each rule is a struct: whether it is crossed, its
-- name, how grave (W warning, I information), what there is to do, the figure with its value, the
-- limit, and where the rule is from. MQCHINnnn are MQSMF's own messages; the other names are ours.
WITH
pools AS (
    SELECT
        section, qpstpool AS pool,
        unnest([
            {
                crossed: qpstsos > 0, rule: 'BUFF-SOS', grade: 'W', figure: 'QPSTSOS',
                value: qpstsos::DOUBLE, bound: '> 0', origin: 'IBM docs, buffer manager records',
                message: format('Buffer pool {}: no buffer was free; enlarge it, and look at page set I/O', qpstpool)
            },
            {
                crossed: qpstdmc > 0, rule: 'BUFF-DMC', grade: 'W', figure: 'QPSTDMC',
                value: qpstdmc::DOUBLE, bound: '> 0', origin: 'IBM docs, buffer manager records',
                message: format('Buffer pool {}: tasks wrote pages themselves, 95 % was full; enlarge it or move queues', qpstpool)
            },
            {
                crossed: qpstimw > 0, rule: 'BUFF-IMW', grade: 'I', figure: 'QPSTIMW',
                value: qpstimw::DOUBLE, bound: '> 0', origin: 'IBM docs, buffer manager records',
                message: CASE WHEN qpstdmc > 0
                    THEN format('Buffer pool {}: pages were written synchronously; enlarge it', qpstpool)
                    ELSE format('Buffer pool {}: pages were written synchronously, old at a checkpoint', qpstpool) END
            },
            {
                crossed: qpstdwt > 0, rule: 'BUFF-DWT', grade: 'I', figure: 'QPSTDWT',
                value: qpstdwt::DOUBLE, bound: '> 0', origin: 'IBM, Introduction to MQ SMF',
                message: format('Buffer pool {}: 85 % was full and pages were written behind; well for long-lived messages', qpstpool)
            },
            {
                crossed: free <= 5, rule: 'BUFF-FREE', grade: 'W', figure: '100 x QPSTCBSL / QPSTNBUF',
                value: free, bound: '<= 5', origin: 'IBM, MQ SMF evaluation',
                message: format('Buffer pool {}: nearly all of it was in use', qpstpool)
            },
            {
                crossed: free > 5 AND free <= 15, rule: 'BUFF-LOW', grade: 'W',
                figure: '100 x QPSTCBSL / QPSTNBUF', value: free, bound: '<= 15',
                origin: 'IBM docs, defining buffer pools',
                message: format('Buffer pool {}: too full for short-lived messages', qpstpool)
            },
            {
                crossed: stolen > 20, rule: 'BUFF-STLA', grade: 'W', figure: '100 x QPSTSTLA / QPSTSTL',
                value: stolen, bound: '> 20', origin: 'IBM, MQ SMF best practices',
                message: format('Buffer pool {}: hash chains change while buffers are stolen; tune it', qpstpool)
            },
            {
                crossed: qpstrio >= 1000 AND qpstrio > 10::BIGINT * qpsttpw, rule: 'BUFF-SCAN', grade: 'I',
                figure: ratio_name('QPSTRIO', 'QPSTTPW', qpsttpw), value: ratio_value(qpstrio, qpsttpw),
                bound: ratio_bound('> 10', qpsttpw),
                origin: 'IBM, MQ SMF best practices; 10 is ours',
                message: format('Buffer pool {}: much is read that was not written: scans? look for index, browse, selectors', qpstpool)
            }
        ]) AS found
    FROM (
        SELECT
            *, 100 * qpstcbsl::DOUBLE / nullif(qpstnbuf, 0) AS free, 100 * qpststla::DOUBLE / nullif(qpststl, 0) AS stolen
        FROM grouped.qpst
    )
),
single AS (
    SELECT section, total(qjstiototio) / nullif(sum(qjstiocount), 0) AS io_us
    FROM sectioned.qjst_io
    WHERE io_type = 1
    GROUP BY section
),
pages AS (
    SELECT section, sum(qjstioci) / nullif(sum(qjstiocount), 0) AS pages_per_io
    FROM sectioned.qjst_io
    GROUP BY section
),
logs AS (
    SELECT
        section,
        unnest([
            {
                crossed: qjstwtb > 0, rule: 'LOG-WTB', grade: 'W', figure: 'QJSTWTB',
                value: qjstwtb::DOUBLE, bound: '> 0', origin: 'IBM docs, log manager records',
                message: 'Tasks waited for log buffers; raise OUTBUFF, or make log I/O faster'
            },
            {
                crossed: 100 * qjsttvc::DOUBLE / nullif(reads, 0) > 1, rule: 'LOG-TVC', grade: 'W',
                figure: '100 x QJSTTVC / log reads', value: 100 * qjsttvc::DOUBLE / nullif(reads, 0), bound: '> 1',
                origin: 'IBM docs, log manager records',
                message: 'Log reads were delayed; raise MAXRTU'
            },
            {
                crossed: 100 * qjstrarh::DOUBLE / nullif(reads, 0) > 33, rule: 'LOG-ARCHIVE', grade: 'W',
                figure: '100 x QJSTRARH / log reads', value: 100 * qjstrarh::DOUBLE / nullif(reads, 0), bound: '> 33',
                origin: 'OMEGAMON for Messaging',
                message: 'Archive logs are read: long units of work, or active logs too small'
            },
            {
                crossed: reads > 0, rule: 'LOG-READS', grade: 'I', figure: 'QJSTRBUF + QJSTRACT + QJSTRARH',
                value: reads::DOUBLE, bound: '> 0', origin: 'L. Elkins, lynsmq4zos.com',
                message: 'The log was read: units of work were backed out, or this is a restart'
            },
            {
                crossed: qjstllcp > due, rule: 'LOG-CHECKPOINTS', grade: 'W', figure: 'QJSTLLCP',
                value: qjstllcp::DOUBLE, bound: format('> {:.2f}, 1 in 5 minutes', floor(100 * due) / 100),
                origin: 'IBM, SMF 115 lab', message: 'Checkpoints come often; raise LOGLOAD'
            },
            {
                crossed: busy >= 95 AND pages_per_io < 100, rule: 'LOG-BUSY', grade: 'W',
                figure: '100 x (1 - QJSTSLPTU / interval)', value: busy, bound: '>= 95',
                origin: 'IBM, MQ for z/OS 9.3 performance report; 95 is ours',
                message: format('The logger is full for this workload; at {:.0f} pages an I/O it can still take more', pages_per_io)
            },
            {
                crossed: pages_per_io >= 100, rule: 'LOG-CEILING', grade: 'W', figure: 'pages per I/O',
                value: pages_per_io, bound: '>= 100',
                origin: 'IBM, MQ for z/OS 9.3 performance report',
                message: 'The logger is near its 128 pages an I/O; faster DASD, zHyperWrite, or a second queue manager'
            },
            {
                crossed: io_us > 500, rule: 'LOG-RESPONSE', grade: 'W',
                figure: 'QJSTIOTOTIO / QJSTIOCOUNT of one page', value: io_us, bound: '> 500 uS',
                origin: 'IBM developerWorks, MQ logging rate',
                message: 'Log I/O of one page is slow; unmirrored it takes less than half a millisecond'
            }
        ]) AS found
    FROM (
        SELECT
            *, qjstrbuf::BIGINT + qjstract + qjstrarh AS reads, greatest(1, interval_seconds / 300)::DOUBLE AS due,
            100 * (1 - qjstslptu / nullif(interval_seconds * 1e6, 0)) AS busy
        FROM grouped.qjst
    )
    LEFT JOIN single USING (section)
    LEFT JOIN pages USING (section)
),
managers AS (
    SELECT
        m.section,
        unnest([
            {
                crossed: most >= 100 AND qistmget > 1.1 * qmstget, rule: 'DATA-SCROLL', grade: 'I',
                figure: ratio_name('QISTMGET', 'QMSTGET', qmstget), value: ratio_value(qistmget, qmstget),
                bound: ratio_bound('> 1.1', qmstget),
                origin: 'IBM, SMF analysis; 1.1 is ours',
                message: 'Gets look at messages they do not take: selectors, or an index that is missing'
            },
            {
                crossed: most >= 100 AND qmstget > 1.1 * qistmget, rule: 'MSGM-EMPTY', grade: 'I',
                figure: ratio_name('QMSTGET', 'QISTMGET', qistmget), value: ratio_value(qmstget, qistmget),
                bound: ratio_bound('> 1.1', qistmget),
                origin: 'IBM, SMF analysis; 1.1 is ours',
                message: 'Applications get from empty queues'
            },
            {
                crossed: most_put >= 100 AND puts > 1.1 * qistmput, rule: 'MSGM-WAITING-GETTER', grade: 'I',
                figure: ratio_name('(QMSTPUT + QMSTPUT1)', 'QISTMPUT', qistmput),
                value: ratio_value(puts, qistmput), bound: ratio_bound('> 1.1', qistmput),
                origin: 'IBM, SMF analysis; 1.1 is ours',
                message: 'Messages go to getters that wait for them, which is good; or puts fail'
            },
            {
                crossed: most_put >= 100 AND qistmput > 1.1 * puts, rule: 'DATA-GENERATED', grade: 'I',
                figure: ratio_name('QISTMPUT', '(QMSTPUT + QMSTPUT1)', puts),
                value: ratio_value(qistmput, puts), bound: ratio_bound('> 1.1', puts),
                origin: 'IBM, SMF analysis; 1.1 is ours',
                message: 'More is put than applications put: publications, triggers, streaming queues'
            },
            {
                crossed: qistgetd > 0, rule: 'DATA-DISK', grade: 'I', figure: 'QISTGETD',
                value: qistgetd::DOUBLE, bound: '> 0', origin: 'IBM, SMF 115 lab',
                message: 'Gets read messages from page sets, not from buffers'
            },
            {
                crossed: qistdcre > 0 OR qistddel > 0, rule: 'DATA-OBJECTS', grade: 'I',
                figure: 'QISTDCRE + QISTDDEL', value: (qistdcre::BIGINT + qistddel)::DOUBLE, bound: '> 0',
                origin: 'IBM, SMF analysis',
                message: 'Objects are created or deleted: temporary dynamic queues cost far more per open'
            }
        ]) AS found
    FROM (
        SELECT *, qmstput::BIGINT + qmstput1 AS puts FROM grouped.qmst
    ) AS m
    JOIN grouped.qist AS d USING (section),
    LATERAL (
        SELECT greatest(qmstget, qistmget) AS most, greatest(puts, qistmput) AS most_put
    )
),
storage AS (
    SELECT
        section,
        {
            crossed: qsstcrit > 0 OR qsstcont > 0, rule: 'STG-SOS', grade: 'W',
            figure: 'QSSTCRIT + QSSTCONT', value: (qsstcrit::BIGINT + qsstcont)::DOUBLE, bound: '> 0',
            origin: 'IBM, SMF 115 lab', message: 'The queue manager was critically short of storage'
        } AS found
    FROM grouped.qsst
),
structures AS (
    SELECT
        section,
        unnest([
            {
                crossed: qestsful > 0, rule: 'CF-FULL', grade: 'W', figure: 'QESTSFUL',
                value: qestsful::DOUBLE, bound: '> 0', origin: 'our reading of the field',
                message: format('Structure {} was full', qeststr)
            },
            {
                crossed: 100 * qestrsec::DOUBLE / nullif(qestcsec, 0) > 20, rule: 'CF-REDRIVE-SINGLE', grade: 'W',
                figure: '100 x QESTRSEC / QESTCSEC', value: 100 * qestrsec::DOUBLE / nullif(qestcsec, 0), bound: '> 20',
                origin: 'IBM, symptoms that led to problem determination',
                message: format('Structure {}: single requests are driven again', qeststr)
            },
            {
                crossed: 100 * qestrmec::DOUBLE / nullif(qestcmec, 0) > 20, rule: 'CF-REDRIVE-MULTIPLE', grade: 'W',
                figure: '100 x QESTRMEC / QESTCMEC', value: 100 * qestrmec::DOUBLE / nullif(qestcmec, 0), bound: '> 20',
                origin: 'IBM, symptoms that led to problem determination',
                message: format('Structure {}: multiple requests are driven again; 4 KB are too small a buffer', qeststr)
            }
        ]) AS found
    FROM grouped.qest
),
db2 AS (
    SELECT
        section,
        {
            crossed: dhigmax > 10, rule: 'DB2-QUEUE', grade: 'W', figure: 'DHIGMAX',
            value: dhigmax::DOUBLE, bound: '> 10', origin: 'IBM, SMF 115 lab',
            message: 'Requests queue for Db2; add server tasks (QSGDATA of CSQ6SYSP)'
        } AS found
    FROM grouped.q5st
),
data_sets AS (
    SELECT
        section,
        unnest([
            {
                crossed: qesdbfto > 0 AND qesdbfmf = 0, rule: 'SMDS-BUFFERS', grade: 'W', figure: 'QESDBFMF',
                value: qesdbfmf::DOUBLE, bound: '= 0', origin: 'OMEGAMON for Messaging',
                message: format('Structure {}: all buffers of its shared message data set were in use', qesdstr)
            },
            {
                crossed: qesdbfmp > 0, rule: 'SMDS-WAITERS', grade: 'W', figure: 'QESDBFMP',
                value: qesdbfmp::DOUBLE, bound: '> 0', origin: 'OMEGAMON for Messaging',
                message: format('Structure {}: tasks waited for a buffer of its shared message data set; raise DSBUFS', qesdstr)
            }
        ]) AS found
    FROM grouped.qesd
),
channels AS (
    SELECT
        section,
        unnest([
            {
                crossed: 100 * qcctnoac::DOUBLE / nullif(qcctmxac, 0) > 50, rule: 'MQCHIN001W', grade: 'W',
                figure: '100 x QCCTNOAC / QCCTMXAC', value: 100 * qcctnoac::DOUBLE / nullif(qcctmxac, 0), bound: '> 50',
                origin: 'MP1B',
                message: 'The high water mark of the number of active channels >50 % of max channels'
            },
            {
                crossed: 100 * qcctnocc::DOUBLE / nullif(qcctmxcc, 0) > 90, rule: 'CHINIT-MAXCHL', grade: 'W',
                figure: '100 x QCCTNOCC / QCCTMXCC', value: 100 * qcctnocc::DOUBLE / nullif(qcctmxcc, 0), bound: '> 90',
                origin: 'IBM docs, QCCT; 90 is ours',
                message: 'The number of current channels is near MAXCHL'
            }
        ]) AS found
    FROM grouped.qcct
),
dispatchers AS (
    SELECT
        section,
        100 * total(qcteltm) / nullif(total(interval_seconds) * 1e6, 0) AS busy,
        max(100 * qcteltm / nullif(interval_seconds * 1e6, 0)) AS busiest,
        total(qcteltm) / nullif(total(qctcptm), 0) AS stretch
    FROM grouped.qct_dsp
    GROUP BY section
),
ssl AS (
    SELECT
        section,
        100 * total(qcteltm) / nullif(total(interval_seconds) * 1e6, 0) AS busy
    FROM grouped.qct_ssl
    GROUP BY section
),
tasks AS (
    SELECT
        section,
        unnest([
            {
                crossed: busy > 50, rule: 'MQCHIN007I', grade: 'I', figure: '100 x QCTELTM / interval',
                value: busy, bound: '> 50', origin: 'MP1B; 50 is ours',
                message: format('Dispatcher task is {:.0f}% busy on average', busy)
            },
            {
                crossed: busiest > 90, rule: 'DISP-BUSY', grade: 'W', figure: '100 x QCTELTM / interval',
                value: busiest, bound: '> 90', origin: 'IBM, channel compression report; 90 is ours',
                message: 'A dispatcher has no room for more channels; raise CHIDISPS'
            },
            {
                crossed: busy > 1 AND stretch > 2, rule: 'DISP-CPU', grade: 'W', figure: 'QCTELTM / QCTCPTM',
                value: stretch, bound: '> 2', origin: 'IBM docs, dispatcher tasks; 2 is ours',
                message: 'Dispatchers take far longer than their CPU: the channel initiator is short of CPU'
            }
        ]) AS found
    FROM dispatchers
    UNION ALL
    SELECT
        section,
        unnest([
            {
                crossed: busy > 50, rule: 'MQCHIN008I', grade: 'I', figure: '100 x QCTELTM / interval',
                value: busy, bound: '> 50', origin: 'MP1B; 50 is ours',
                message: format('Adapter task is {:.0f}% busy on average', busy)
            },
            {
                crossed: idlest >= 1, rule: 'ADAP-ALL-USED', grade: 'I', figure: '100 x QCTELTM / interval',
                value: idlest, bound: '>= 1 for every adapter', origin: 'IBM docs, adapter tasks',
                message: 'All adapters are in use; more may help (CHIADAPS)'
            },
            {
                crossed: last > 50, rule: 'ADAP-LAST', grade: 'W', figure: '100 x QCTELTM / interval',
                value: last, bound: '> 50', origin: 'IBM, deep dive into channel SMF; 50 is ours',
                message: 'The last adapter is busy, and adapters are taken in order; raise CHIADAPS'
            }
        ]) AS found
    FROM busy_tasks('grouped.qct_adp')
    UNION ALL
    SELECT
        section,
        {
            crossed: busy > 50, rule: 'MQCHIN009I', grade: 'I', figure: '100 x QCTELTM / interval',
            value: busy, bound: '> 50', origin: 'MP1B; 50 is ours',
            message: format('SSL task is {:.0f}% busy on average', busy)
        } AS found
    FROM ssl
    UNION ALL
    SELECT
        section,
        unnest([
            {
                crossed: 100 * qcteltm / nullif(interval_seconds * 1e6, 0) >= 25, rule: 'DNS-BUSY', grade: 'W',
                figure: '100 x QCTELTM / interval', value: 100 * qcteltm / nullif(interval_seconds * 1e6, 0),
                bound: '>= 25', origin: 'IBM docs, DNS task',
                message: 'The DNS task, of which there is one, is busy; look at the name server'
            },
            {
                crossed: qctlgdu > 3e6, rule: 'DNS-SLOW', grade: 'W', figure: 'QCTLGDU', value: qctlgdu,
                bound: '> 3000000 uS', origin: 'CSQX788I',
                message: 'A name resolution took more than 3 seconds; look at the network'
            }
        ]) AS found
    FROM grouped.qct_dns
),
queues AS (
    SELECT
        section, objname, min(indxtype) AS indxtype,
        sum(getn)::BIGINT AS getn, sum(gets)::BIGINT AS gets, sum(validget)::BIGINT AS validget,
        sum(getepage::BIGINT + getsmsg)::BIGINT AS skipped, sum(openn)::BIGINT AS openn,
        sum(getn::BIGINT + putn)::BIGINT AS calls
    FROM sectioned.wqst
    GROUP BY section, objname
),
accounting AS (
    SELECT
        section,
        unnest([
            {
                crossed: gets >= 100 AND indxtype = 0, rule: 'QUEUE-INDEX', grade: 'W', figure: 'GETS',
                value: gets::DOUBLE, bound: '>= 100', origin: 'IBM, MQ SMF evaluation; 100 is ours',
                message: format('Queue {}: gets of one message, and no index; set INDXTYPE', objname)
            },
            {
                crossed: skipped >= 100, rule: 'QUEUE-SKIPPED', grade: 'W', figure: 'GETEPAGE + GETSMSG',
                value: skipped::DOUBLE, bound: '>= 100', origin: 'IBM, MQ SMF evaluation; 100 is ours',
                message: format('Queue {}: pages and messages were skipped to find one; index it', objname)
            },
            {
                crossed: getn >= 100 AND 100 * validget / getn < 10, rule: 'QUEUE-POLLING', grade: 'I',
                figure: '100 x VALIDGET / GETN', value: 100 * validget / nullif(getn, 0), bound: '< 10',
                origin: 'IBM, symptoms that led to problem determination; 10 is ours',
                message: format('Queue {}: few gets find a message: polling, or too many getters', objname)
            },
            {
                crossed: openn >= 100 AND openn >= 0.9 * calls, rule: 'QUEUE-OPENS', grade: 'I', figure: 'OPENN',
                value: openn::DOUBLE, bound: format('>= {:.1f}, 0.9 x (GETN + PUTN)', 0.9 * calls), origin: 'IBM, SMF 116 lab; 0.9 is ours',
                message: format('Queue {}: it is opened for each message; keep it open', objname)
            }
        ]) AS found
    FROM queues
),
lists AS (
    SELECT
        section,
        sum(cfcount) FILTER (request = 9)::BIGINT AS lists,
        sum(cfcount) FILTER (request IN (11, 12))::BIGINT AS moves
    FROM sectioned.wqst_cf
    WHERE verb = 'get'
    GROUP BY section
),
selectors AS (
    SELECT
        section,
        {
            crossed: lists >= 100 AND lists > 3 * coalesce(moves, 0), rule: 'QUEUE-SELECTOR', grade: 'W',
            figure: ratio_name('read lists', 'moves of MQGET', moves), value: ratio_value(lists, moves),
            bound: ratio_bound('> 3', moves),
            origin: 'IBM, symptoms that led to problem determination',
            message: 'Gets from shared queues read many lists for a message: selectors or a missing index'
        } AS found
    FROM lists
),
every_rule AS (
    SELECT * FROM pools
    UNION ALL BY NAME
    (
        SELECT * FROM logs UNION ALL SELECT * FROM managers UNION ALL SELECT * FROM storage
        UNION ALL SELECT * FROM structures UNION ALL SELECT * FROM db2 UNION ALL SELECT * FROM data_sets
        UNION ALL SELECT * FROM channels UNION ALL SELECT * FROM tasks UNION ALL SELECT * FROM accounting
        UNION ALL SELECT * FROM selectors
    )
)
SELECT
    section, pool, found.rule, found.grade, found.message, found.figure, found.value, found.bound, found.origin
FROM every_rule
WHERE found.crossed
