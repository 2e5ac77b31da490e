CREATE SCHEMA walprobe;
COMMENT ON SCHEMA walprobe IS 'result documents of walprobe, and what is asked of many of them';

CREATE TABLE walprobe.schema_version (
    version integer PRIMARY KEY,
    applied timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE walprobe.host (
    host_id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name text NOT NULL UNIQUE
);

-- A kernel that a host ran, and when documents saw it first and last.
CREATE TABLE walprobe.host_kernel (
    host_id integer NOT NULL REFERENCES walprobe.host,
    kernel text NOT NULL,
    first_seen timestamptz NOT NULL,
    last_seen timestamptz NOT NULL,
    PRIMARY KEY (host_id, kernel)
);

-- A target of a host: what its label meant when it was seen last.
CREATE TABLE walprobe.place (
    place_id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    host_id integer NOT NULL REFERENCES walprobe.host,
    label text NOT NULL,
    path text,
    fstype text,
    mount_options text,
    leaf text, -- name of the lowest block device
    last_seen timestamptz NOT NULL,
    UNIQUE (host_id, label)
);

-- Models of block devices, as inspect reported them.
CREATE TABLE walprobe.device (
    host_id integer NOT NULL REFERENCES walprobe.host,
    name text NOT NULL,
    model text,
    rotational boolean,
    write_cache text,
    last_seen timestamptz NOT NULL,
    PRIMARY KEY (host_id, name)
);

CREATE TABLE walprobe.document (
    document_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    digest bytea NOT NULL UNIQUE, -- SHA-256 of body
    host_id integer NOT NULL REFERENCES walprobe.host,
    command text NOT NULL,
    started timestamptz NOT NULL,
    version text,
    kernel text NOT NULL,
    complete boolean NOT NULL,
    stored timestamptz NOT NULL DEFAULT now(),
    body json NOT NULL
);
CREATE INDEX ON walprobe.document (host_id, kernel, command, started DESC);

-- A row of a document's table. value is the table's main figure (unit in metric).
CREATE TABLE walprobe.measurement (
    document_id bigint NOT NULL REFERENCES walprobe.document ON DELETE CASCADE,
    place_id integer NOT NULL REFERENCES walprobe.place,
    table_name text NOT NULL,
    number integer NOT NULL, -- of the row in its table, from 1
    started timestamptz NOT NULL,
    series text NOT NULL, -- method, variant, clients and so on in one text
    metric text NOT NULL,
    value double precision,
    ci_low double precision,
    ci_high double precision,
    cells jsonb NOT NULL,
    PRIMARY KEY (document_id, table_name, number)
);
CREATE INDEX ON walprobe.measurement (place_id, table_name, started DESC);

CREATE TABLE walprobe.check_result (
    document_id bigint NOT NULL REFERENCES walprobe.document ON DELETE CASCADE,
    number integer NOT NULL,
    place_id integer NOT NULL REFERENCES walprobe.place,
    check_id text NOT NULL,
    started timestamptz NOT NULL,
    status text NOT NULL CHECK (status IN ('pass', 'fail', 'unknown', 'info')),
    expected text,
    observed text,
    text text,
    PRIMARY KEY (document_id, number)
);
CREATE INDEX ON walprobe.check_result (place_id, check_id, started DESC);

CREATE FUNCTION walprobe.place_of(p_host integer, p_label text, p_seen timestamptz) RETURNS integer
LANGUAGE plpgsql AS $function$
DECLARE
    found integer;
BEGIN
    SELECT place_id INTO found FROM walprobe.place WHERE host_id = p_host AND label = p_label;
    IF found IS NULL THEN
        INSERT INTO walprobe.place (host_id, label, last_seen) VALUES (p_host, p_label, p_seen)
        ON CONFLICT (host_id, label) DO UPDATE SET label = excluded.label
        RETURNING place_id INTO found;
    END IF;
    RETURN found;
END
$function$;

CREATE FUNCTION walprobe.keep_places(p_host integer, p_seen timestamptz, p_body json) RETURNS void
LANGUAGE sql AS $function$
    INSERT INTO walprobe.place (host_id, label, path, fstype, mount_options, leaf, last_seen)
    SELECT p_host, t ->> 'label', t ->> 'path', t ->> 'fstype', t ->> 'mount_options',
           t -> 'device' -> -1 ->> 'name', p_seen
    FROM json_array_elements(p_body -> 'targets') AS t
    ORDER BY 2
    ON CONFLICT (host_id, label) DO UPDATE
    SET path = excluded.path, fstype = excluded.fstype, mount_options = excluded.mount_options,
        leaf = excluded.leaf, last_seen = excluded.last_seen
    WHERE place.last_seen <= excluded.last_seen;

    INSERT INTO walprobe.device (host_id, name, model, rotational, write_cache, last_seen)
    SELECT DISTINCT ON (r ->> 'layer') p_host, r ->> 'layer', r ->> 'model',
           r ->> 'rotational' IN ('1', 'true'), r ->> 'write_cache', p_seen
    FROM json_array_elements(p_body -> 'tables') AS t, json_array_elements(t -> 'rows') AS r
    WHERE t ->> 'name' = 'inspect' AND r ->> 'layer' IS NOT NULL
    ORDER BY r ->> 'layer'
    ON CONFLICT (host_id, name) DO UPDATE
    SET model = excluded.model, rotational = excluded.rotational,
        write_cache = excluded.write_cache, last_seen = excluded.last_seen
    WHERE device.last_seen <= excluded.last_seen;
$function$;

-- Rounds stay in body: they are many, and no question of a fleet needs them.
CREATE FUNCTION walprobe.keep_rows(p_document bigint, p_host integer, p_seen timestamptz, p_body json)
RETURNS void LANGUAGE sql AS $function$
    INSERT INTO walprobe.measurement
    SELECT p_document, walprobe.place_of(p_host, r.cells ->> 'target', p_seen), t.name, r.number,
           p_seen,
           concat_ws(' ', r.cells ->> 'method', r.cells ->> 'variant', r.cells ->> 'recycle',
               r.cells ->> 'test', r.cells ->> 'record_bytes', r.cells ->> 'clients'),
           t.metric, (r.cells ->> t.metric)::double precision,
           CASE WHEN t.metric = 'tps_predicted' THEN (r.cells ->> 'predicted_low')::double precision
               ELSE (r.cells ->> 'ci_low')::double precision END,
           CASE WHEN t.metric = 'tps_predicted' THEN (r.cells ->> 'predicted_high')::double precision
               ELSE (r.cells ->> 'ci_high')::double precision END,
           r.cells - 'target'
    FROM (
        SELECT e ->> 'name' AS name, e -> 'rows' AS rows,
               CASE e ->> 'name' WHEN 'sync' THEN 'ops_per_s' WHEN 'append' THEN 'commits_per_s'
                   WHEN 'ramp' THEN 'tps_excluding' WHEN 'io' THEN 'bytes_per_s'
                   WHEN 'predict' THEN 'tps_predicted' WHEN 'verdict' THEN 'p_upper_95' END AS metric
        FROM json_array_elements(p_body -> 'tables') AS e
    ) AS t, LATERAL (
        SELECT e::jsonb AS cells, row_number() OVER () AS number FROM json_array_elements(t.rows) AS e
    ) AS r
    WHERE t.metric IS NOT NULL AND r.cells ->> 'target' IS NOT NULL;

    INSERT INTO walprobe.check_result
    SELECT p_document, c.number, walprobe.place_of(p_host, coalesce(c.c ->> 'target', ''), p_seen),
           c.c ->> 'id', p_seen, c.c ->> 'status', c.c ->> 'expected', c.c ->> 'observed', c.c ->> 'text'
    FROM (
        SELECT e AS c, row_number() OVER () AS number FROM json_array_elements(p_body -> 'checks') AS e
    ) AS c;
$function$;

-- put - store one document; false when it is there already. Null name: the host that it names.
CREATE FUNCTION walprobe.put(p_body text, p_name text) RETURNS boolean
LANGUAGE plpgsql AS $function$
DECLARE
    doc json := p_body;
    sum bytea := sha256(convert_to(p_body, 'UTF8'));
    seen timestamptz := doc ->> 'started';
    host_name text := p_name;
    kernel_name text;
    host integer;
    id bigint;
BEGIN
    SELECT coalesce(host_name, max(e ->> 'value') FILTER (WHERE e ->> 'key' = 'host')),
           coalesce(max(e ->> 'value') FILTER (WHERE e ->> 'key' = 'kernel'), '')
    INTO host_name, kernel_name
    FROM json_array_elements(doc -> 'environment') AS e;
    IF host_name IS NULL THEN
        RAISE EXCEPTION 'the document names no host' USING HINT = 'Name it with --host.';
    END IF;
    IF seen IS NULL THEN
        RAISE EXCEPTION 'the document does not say when it was measured';
    END IF;

    SELECT host_id INTO host FROM walprobe.host WHERE name = host_name;
    IF host IS NULL THEN
        INSERT INTO walprobe.host (name) VALUES (host_name)
        ON CONFLICT (name) DO UPDATE SET name = excluded.name RETURNING host_id INTO host;
    END IF;
    INSERT INTO walprobe.document (digest, host_id, command, started, version, kernel, complete, body)
    VALUES (sum, host, doc ->> 'command', seen, doc ->> 'version', kernel_name,
        (doc ->> 'complete')::boolean, doc)
    ON CONFLICT (digest) DO NOTHING RETURNING document_id INTO id;
    IF id IS NULL THEN
        RETURN false;
    END IF;
    INSERT INTO walprobe.host_kernel AS k VALUES (host, kernel_name, seen, seen)
    ON CONFLICT (host_id, kernel) DO UPDATE
    SET first_seen = least(k.first_seen, seen), last_seen = greatest(k.last_seen, seen);
    PERFORM walprobe.keep_places(host, seen, doc);
    PERFORM walprobe.keep_rows(id, host, seen, doc);
    RETURN true;
END
$function$;

-- The newest answer to each check of each place. One index probe a place and check.
CREATE VIEW walprobe.latest_check AS
SELECT h.name AS host, p.label AS target, p.fstype, p.leaf AS device, d.model AS device_model, c.*
FROM walprobe.place AS p
JOIN walprobe.host AS h USING (host_id)
LEFT JOIN walprobe.device AS d ON d.host_id = p.host_id AND d.name = p.leaf
CROSS JOIN unnest(ARRAY['flush-sent', 'barriers', 'write-cache', 'controller', 'data-survived',
    'rate-plausible', 'volatile', 'server-settings']) AS k (check_id)
CROSS JOIN LATERAL (
    SELECT r.check_id, r.status, r.started, r.expected, r.observed, r.text, r.document_id
    FROM walprobe.check_result AS r
    WHERE r.place_id = p.place_id AND r.check_id = k.check_id
    ORDER BY r.started DESC, r.document_id DESC, r.number DESC
    LIMIT 1
) AS c;

-- Which hosts' caches lie: proof first (data-survived), then what drops or cannot keep a flush.
CREATE VIEW walprobe.lying_caches AS
SELECT host, target, fstype, device, device_model, check_id, status, started, observed, text
FROM walprobe.latest_check
WHERE status = 'fail' AND check_id IN ('data-survived', 'flush-sent', 'barriers', 'write-cache', 'controller')
ORDER BY check_id <> 'data-survived', host, target, check_id;

-- Which battery charges, learns, is worn or has failed, by the newest controller check.
CREATE VIEW walprobe.batteries AS
SELECT host, target, device, status,
       substring(observed FROM 'battery or capacitor ([^;]*)') AS battery, started, observed, text
FROM walprobe.latest_check
WHERE check_id = 'controller' AND observed LIKE '%battery or capacitor %'
ORDER BY observed NOT LIKE '%learn%', status <> 'fail', host, target;

-- Which file system is the fastest per device model, by each place's newest document.
CREATE VIEW walprobe.fastest_file_system AS
SELECT coalesce(d.model, 'unknown') AS device_model, m.table_name, m.series, p.fstype, m.metric,
       count(*) AS places,
       percentile_cont(0.5) WITHIN GROUP (ORDER BY m.value) AS median,
       min(m.value) AS lowest, max(m.value) AS highest,
       rank() OVER (PARTITION BY coalesce(d.model, 'unknown'), m.table_name, m.series
           ORDER BY percentile_cont(0.5) WITHIN GROUP (ORDER BY m.value) DESC) AS place
FROM walprobe.place AS p
LEFT JOIN walprobe.device AS d ON d.host_id = p.host_id AND d.name = p.leaf
CROSS JOIN unnest(ARRAY['sync', 'append', 'ramp', 'io']) AS k (table_name)
CROSS JOIN LATERAL (
    SELECT r.document_id FROM walprobe.measurement AS r
    WHERE r.place_id = p.place_id AND r.table_name = k.table_name
    ORDER BY r.started DESC, r.document_id DESC LIMIT 1
) AS newest
JOIN walprobe.measurement AS m ON m.document_id = newest.document_id
    AND m.table_name = k.table_name AND m.place_id = p.place_id
WHERE m.value IS NOT NULL
GROUP BY d.model, m.table_name, m.series, m.metric, p.fstype
ORDER BY device_model, m.table_name, m.series, place;

-- What changed with a host's newest kernel: the last document before it against the last since.
CREATE VIEW walprobe.kernel_change AS
SELECT * FROM (
SELECT h.name AS host, p.label AS target, old_kernel.kernel AS old_kernel,
       new_kernel.kernel AS new_kernel, n.table_name, n.series, n.metric,
       o.value AS old_value, n.value AS new_value, n.value / nullif(o.value, 0) AS ratio,
       CASE WHEN n.ci_high < o.ci_low THEN 'slower' WHEN n.ci_low > o.ci_high THEN 'faster'
           WHEN n.ci_low IS NULL OR o.ci_low IS NULL THEN 'no interval'
           ELSE 'no difference shown' END AS verdict
FROM walprobe.host AS h
CROSS JOIN LATERAL (
    SELECT kernel, last_seen FROM walprobe.host_kernel AS k WHERE k.host_id = h.host_id
    ORDER BY last_seen DESC LIMIT 1
) AS new_kernel
CROSS JOIN LATERAL (
    SELECT kernel FROM walprobe.host_kernel AS k
    WHERE k.host_id = h.host_id AND k.last_seen < new_kernel.last_seen
    ORDER BY last_seen DESC LIMIT 1
) AS old_kernel
CROSS JOIN unnest(ARRAY['sync', 'append', 'compare', 'ramp', 'io']) AS c (command)
CROSS JOIN LATERAL (
    SELECT document_id FROM walprobe.document AS d WHERE d.host_id = h.host_id
        AND d.kernel = new_kernel.kernel AND d.command = c.command ORDER BY started DESC LIMIT 1
) AS new_document
CROSS JOIN LATERAL (
    SELECT document_id FROM walprobe.document AS d WHERE d.host_id = h.host_id
        AND d.kernel = old_kernel.kernel AND d.command = c.command ORDER BY started DESC LIMIT 1
) AS old_document
JOIN walprobe.measurement AS n ON n.document_id = new_document.document_id
JOIN walprobe.measurement AS o ON o.document_id = old_document.document_id
    AND o.table_name = n.table_name AND o.place_id = n.place_id AND o.series = n.series
JOIN walprobe.place AS p ON p.place_id = n.place_id
WHERE n.value IS NOT NULL AND o.value IS NOT NULL AND n.metric <> 'p_upper_95'
) AS change
ORDER BY verdict <> 'slower', ratio, host, target;

-- What the newest verdict of each power-cut tested place is, and how far honesty is shown.
CREATE VIEW walprobe.power_cut_verdicts AS
SELECT h.name AS host, p.label AS target, p.fstype, d.model AS device_model, v.*
FROM walprobe.place AS p
JOIN walprobe.host AS h USING (host_id)
LEFT JOIN walprobe.device AS d ON d.host_id = p.host_id AND d.name = p.leaf
CROSS JOIN LATERAL (
    SELECT m.cells ->> 'verdict' AS verdict, m.started, (m.cells ->> 'judged')::bigint AS judged,
           (m.cells ->> 'lost')::bigint AS lost, m.value AS p_upper_95
    FROM walprobe.measurement AS m
    WHERE m.place_id = p.place_id AND m.table_name = 'verdict'
    ORDER BY m.started DESC, m.document_id DESC, m.number DESC LIMIT 1
) AS v
ORDER BY v.verdict <> 'lies', host, target;

-- Hosts by their last document, the longest silent first.
CREATE VIEW walprobe.silent_hosts AS
SELECT h.name AS host, max(k.last_seen) AS last_seen
FROM walprobe.host AS h LEFT JOIN walprobe.host_kernel AS k USING (host_id)
GROUP BY h.name ORDER BY last_seen NULLS FIRST;

INSERT INTO walprobe.schema_version (version) VALUES (1);
