-- What tells a task, as text, from WTAS and from WQST: when it started, and two addresses. A timestamp
-- has not the last twelve bits of the clock, so they are left out of CORREL as well.
CREATE OR REPLACE MACRO task_of_wtas(started, thread, address) AS format(
    '{:013X}-{:08X}-{:08X}',
    coalesce(epoch_us(started) + 2208988800000000, 0),
    thread::BIGINT & 4294967295,
    address::BIGINT & 4294967295
);
CREATE OR REPLACE MACRO task_of_wqst(correl) AS
    correl[1:13] || '-' || correl[17:24] || '-' || correl[25:32];
