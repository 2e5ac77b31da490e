SELECT to_regnamespace('walprobe') IS NOT NULL, to_regclass('walprobe.schema_version') IS NOT NULL
