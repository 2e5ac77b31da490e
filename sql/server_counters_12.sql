SELECT d.xact_commit,
    d.xact_rollback,
    CASE WHEN NOT pg_catalog.pg_is_in_recovery()
        THEN pg_catalog.pg_wal_lsn_diff(pg_catalog.pg_current_wal_insert_lsn(), '0/0')
    END,
    NULL, NULL, NULL, NULL, NULL, NULL, NULL,
    c.checkpoints_timed + c.checkpoints_req
FROM pg_catalog.pg_stat_database AS d, pg_catalog.pg_stat_bgwriter AS c
WHERE d.datname = pg_catalog.current_database()
