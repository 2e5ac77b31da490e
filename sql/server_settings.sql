SELECT name, pg_catalog.current_setting(name), source
FROM pg_catalog.pg_settings
WHERE name IN ('data_directory', 'fsync', 'synchronous_commit', 'full_page_writes',
    'wal_sync_method', 'wal_level', 'wal_recycle', 'wal_init_zero', 'wal_buffers',
    'wal_compression', 'wal_segment_size', 'wal_writer_delay', 'wal_writer_flush_after',
    'commit_delay', 'commit_siblings', 'min_wal_size', 'max_wal_size', 'checkpoint_timeout',
    'checkpoint_completion_target', 'archive_mode', 'debug_io_direct', 'track_wal_io_timing')
ORDER BY name
