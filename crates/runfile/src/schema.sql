CREATE TABLE read_me (line INTEGER PRIMARY KEY, text TEXT NOT NULL) STRICT;
INSERT INTO read_me (text) VALUES
  ('This is a run file of Plimsoll: one execution of a benchmark, from which every number can be recomputed.'),
  ('`plimsoll report FILE` prints it, `plimsoll audit FILE` recomputes and checks it.'),
  ('For people: SELECT * FROM run; SELECT * FROM load_point_summary; SELECT * FROM seconds.'),
  ('Units are in the names of columns. Times within a load point count from its start.'),
  ('`interval` has a row per second and load agent: plain columns, and a record with histograms in a compact form.'),
  ('`detail` has the histograms per kind of operation, joined to stretches of up to ten seconds.'),
  ('`resource` has what machines told once a second, raw, in a compact form; `series` says what each value is and its unit.'),
  ('`result` has what was printed when the run ended; an audit compares it with what follows from the records.'),
  ('Each interval''s blake3 covers its record and the row before, the first one the header; `inventory` covers the rest.'),
  ('A file without a row in `ending` is of a run that was killed; all its finished seconds count.');

CREATE TABLE header (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  program TEXT NOT NULL,
  created_unix_ms INTEGER NOT NULL,
  command_line TEXT NOT NULL,
  benchmark TEXT NOT NULL,
  benchmark_version INTEGER NOT NULL,
  n_modifications INTEGER NOT NULL,
  plan_json TEXT NOT NULL,
  blake3 BLOB NOT NULL
) STRICT;

CREATE TABLE testbed (
  id INTEGER PRIMARY KEY,
  section TEXT NOT NULL,
  name TEXT NOT NULL,
  value TEXT NOT NULL,
  source TEXT NOT NULL,
  state TEXT NOT NULL
) STRICT;

CREATE TABLE limit_in_force (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL,
  value REAL,
  reason TEXT NOT NULL
) STRICT;

CREATE TABLE load_point (
  load_point INTEGER PRIMARY KEY,
  offered TEXT NOT NULL,
  started_unix_ms INTEGER NOT NULL,
  load TEXT NOT NULL
) STRICT;

CREATE TABLE interval (
  id INTEGER PRIMARY KEY,
  load_point INTEGER NOT NULL,
  agent INTEGER NOT NULL,
  interval_index INTEGER NOT NULL,
  phase TEXT NOT NULL,
  start_ns INTEGER NOT NULL,
  end_ns INTEGER NOT NULL,
  started INTEGER NOT NULL,
  ok INTEGER NOT NULL,
  failed INTEGER NOT NULL,
  timed_out INTEGER NOT NULL,
  in_flight_at_end INTEGER NOT NULL,
  transferred_bytes INTEGER NOT NULL,
  response_sum_ns INTEGER NOT NULL,
  response_max_ns INTEGER NOT NULL,
  record BLOB NOT NULL,
  blake3 BLOB NOT NULL,
  UNIQUE (load_point, agent, interval_index)
) STRICT;

CREATE TABLE detail (
  id INTEGER PRIMARY KEY,
  load_point INTEGER NOT NULL,
  agent INTEGER NOT NULL,
  first_interval INTEGER NOT NULL,
  last_interval INTEGER NOT NULL,
  phase TEXT NOT NULL,
  start_ns INTEGER NOT NULL,
  end_ns INTEGER NOT NULL,
  record BLOB NOT NULL,
  UNIQUE (load_point, agent, first_interval)
) STRICT;

CREATE TABLE machine (machine INTEGER PRIMARY KEY, name TEXT NOT NULL, role TEXT NOT NULL) STRICT;

CREATE TABLE series (
  series INTEGER PRIMARY KEY,
  machine INTEGER NOT NULL,
  counter TEXT NOT NULL,
  instance TEXT NOT NULL,
  kind TEXT NOT NULL,
  unit TEXT NOT NULL
) STRICT;

CREATE TABLE resource (
  id INTEGER PRIMARY KEY,
  load_point INTEGER NOT NULL,
  machine INTEGER NOT NULL,
  at_ns INTEGER NOT NULL,
  record BLOB NOT NULL
) STRICT;

CREATE TABLE example (
  id INTEGER PRIMARY KEY,
  load_point INTEGER NOT NULL,
  at_ns INTEGER NOT NULL,
  kind INTEGER NOT NULL,
  outcome TEXT NOT NULL,
  text TEXT NOT NULL
) STRICT;

CREATE TABLE consistency_check (
  id INTEGER PRIMARY KEY,
  load_point INTEGER NOT NULL,
  moment TEXT NOT NULL,
  name TEXT NOT NULL,
  holds INTEGER NOT NULL,
  found TEXT NOT NULL
) STRICT;

CREATE TABLE named_count (
  id INTEGER PRIMARY KEY,
  load_point INTEGER NOT NULL,
  name TEXT NOT NULL,
  n INTEGER NOT NULL,
  UNIQUE (load_point, name)
) STRICT;

CREATE TABLE event (id INTEGER PRIMARY KEY, at_unix_ms INTEGER NOT NULL, text TEXT NOT NULL) STRICT;

CREATE TABLE result (
  id INTEGER PRIMARY KEY,
  load_point INTEGER NOT NULL,
  name TEXT NOT NULL,
  value REAL NOT NULL,
  UNIQUE (load_point, name)
) STRICT;

CREATE TABLE ending (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  state TEXT NOT NULL,
  reason TEXT NOT NULL,
  at_unix_ms INTEGER NOT NULL
) STRICT;

CREATE TABLE inventory (table_name TEXT PRIMARY KEY, n_rows INTEGER NOT NULL, blake3 BLOB NOT NULL) STRICT;

CREATE VIEW run AS
SELECT benchmark, benchmark_version, n_modifications, program, command_line,
  datetime(created_unix_ms / 1000, 'unixepoch') AS created_utc,
  coalesce((SELECT state FROM ending), 'missing') AS ending,
  (SELECT reason FROM ending) AS ending_reason,
  (SELECT datetime(at_unix_ms / 1000, 'unixepoch') FROM ending) AS ended_utc
FROM header;

CREATE VIEW seconds AS
SELECT load_point, agent, interval_index, phase,
  start_ns / 1e9 AS start_s,
  end_ns / 1e9 AS end_s,
  ok * 1e9 / nullif(end_ns - start_ns, 0) AS ok_per_s,
  (failed + timed_out) * 1e9 / nullif(end_ns - start_ns, 0) AS failed_per_s,
  response_sum_ns / 1e6 / nullif(ok, 0) AS response_mean_ms,
  response_max_ns / 1e6 AS response_max_ms,
  transferred_bytes * 1e9 / nullif(end_ns - start_ns, 0) AS transferred_bytes_per_s,
  in_flight_at_end
FROM interval;

CREATE VIEW load_point_summary AS
WITH steady AS (
  SELECT load_point, sum(end_ns - start_ns) / count(DISTINCT agent) / 1e9 AS steady_s,
    sum(ok) AS ok, sum(failed + timed_out) AS failed, sum(transferred_bytes) AS transferred_bytes,
    sum(response_sum_ns / 1e9) AS response_sum_s, max(response_max_ns) AS response_max_ns
  FROM interval WHERE phase = 'steady' GROUP BY load_point
)
SELECT load_point, offered, round(steady_s, 3) AS steady_s, ok, failed,
  round(ok / nullif(steady_s, 0), 2) AS ok_per_s,
  round(100.0 * failed / nullif(ok + failed, 0), 3) AS failed_percent,
  round(1e3 * response_sum_s / nullif(ok, 0), 3) AS response_mean_ms,
  round(response_max_ns / 1e6, 3) AS response_max_ms,
  round(response_sum_s / nullif(steady_s, 0), 2) AS load_factor,
  round(transferred_bytes * 8 / 1e6 / nullif(steady_s, 0), 3) AS throughput_mbit_per_s
FROM load_point LEFT JOIN steady USING (load_point) ORDER BY load_point;
