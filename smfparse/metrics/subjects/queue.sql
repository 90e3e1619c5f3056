-- A queue in an interval: QQST. A partial record has no depth.
CREATE OR REPLACE MACRO queue_facts(queues) AS TABLE
SELECT
    *, qqstqnam AS queue, qqstdisp AS is_shared, CASE WHEN NOT qqstpart THEN qqstdpth END AS full_depth
FROM query_table(queues);
