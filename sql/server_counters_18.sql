SELECT d.xact_commit,
    d.xact_rollback,
    CASE WHEN NOT pg_catalog.pg_is_in_recovery()
        THEN pg_catalog.pg_wal_lsn_diff(pg_catalog.pg_current_wal_insert_lsn(), '0/0')
    END,
    w.wal_records, w.wal_fpi, w.wal_bytes, i.writes, i.fsyncs, i.write_time, i.fsync_time,
    c.num_timed + c.num_requested
FROM pg_catalog.pg_stat_database AS d, pg_catalog.pg_stat_checkpointer AS c,
    pg_catalog.pg_stat_wal AS w,
    (SELECT pg_catalog.sum(writes) AS writes, pg_catalog.sum(fsyncs) AS fsyncs,
            pg_catalog.sum(write_time) AS write_time, pg_catalog.sum(fsync_time) AS fsync_time
        FROM pg_catalog.pg_stat_io
        WHERE object = 'wal' AND context = 'normal') AS i
WHERE d.datname = pg_catalog.current_database()
