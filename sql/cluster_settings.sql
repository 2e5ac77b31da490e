SELECT name, pg_catalog.current_setting(name, true)
FROM pg_catalog.unnest($1::pg_catalog.text[]) WITH ORDINALITY AS wanted(name, place)
ORDER BY place
