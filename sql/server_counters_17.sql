SELECT d.xact_commit,
    d.xact_rollback,
    CASE WHEN NOT pg_catalog.pg_is_in_recovery()
        THEN pg_catalog.pg_wal_lsn_diff(pg_catalog.pg_current_wal_insert_lsn(), '0/0')
    END,
    w.wal_records, w.wal_fpi, w.wal_bytes, w.wal_write, w.wal_sync, w.wal_write_time,
    w.wal_sync_time,
    c.num_timed + c.num_requested
FROM pg_catalog.pg_stat_database AS d, pg_catalog.pg_stat_checkpointer AS c,
    pg_catalog.pg_stat_wal AS w
WHERE d.datname = pg_catalog.current_database()
