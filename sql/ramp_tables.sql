SELECT c.relname, c.relpersistence
FROM pg_catalog.pg_class AS c
WHERE c.oid IN (pg_catalog.to_regclass('pgbench_accounts'), pg_catalog.to_regclass('pgbench_branches'),
    pg_catalog.to_regclass('pgbench_tellers'), pg_catalog.to_regclass('pgbench_history'))
    OR c.oid IN (SELECT inhrelid FROM pg_catalog.pg_inherits
        WHERE inhparent = pg_catalog.to_regclass('pgbench_accounts'))
ORDER BY c.relname
