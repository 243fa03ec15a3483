-- Times are in nanoseconds, rates per second, shares from 0 to 1. NULL: not known.

CREATE TABLE runs (
    -- AUTOINCREMENT: the number of a deleted run is never given to another one.
    id              INTEGER PRIMARY KEY AUTOINCREMENT,
    started_at      TEXT    NOT NULL,   -- RFC 3339, UTC
    command         TEXT    NOT NULL,
    target          TEXT    NOT NULL,   -- as typed
    target_path     TEXT    NOT NULL,
    file_system     TEXT,
    device          TEXT,
    status          TEXT    NOT NULL,   -- complete, partial
    seed            TEXT    NOT NULL,   -- decimal; may exceed SQLite's integers
    version         TEXT    NOT NULL,   -- of Seekstone
    host            TEXT    NOT NULL,
    kernel          TEXT    NOT NULL,
    elapsed_s       REAL    NOT NULL,
    headline        TEXT    NOT NULL,
    document        TEXT    NOT NULL    -- the whole run: docs/json-schema.md
) STRICT;

CREATE TABLE measurements (
    run_id                  INTEGER NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    position                INTEGER NOT NULL,   -- order within the run, from 0
    name                    TEXT    NOT NULL,
    title                   TEXT    NOT NULL,
    clients                 INTEGER NOT NULL,
    access                  TEXT    NOT NULL,   -- direct, buffered, simulated, null
    driver                  TEXT    NOT NULL,
    response_mean_ns        REAL,
    response_low_ns         REAL,
    response_high_ns        REAL,
    response_p99_ns         REAL,
    service_mean_ns         REAL,
    throughput              REAL,               -- operations
    throughput_low          REAL,
    throughput_high         REAL,
    bandwidth               REAL,               -- bytes
    bandwidth_low           REAL,
    bandwidth_high          REAL,
    cpu_per_operation_ns    REAL,
    page_cache_share        REAL,
    errors                  INTEGER NOT NULL,
    converged               INTEGER NOT NULL,   -- 0, 1
    PRIMARY KEY (run_id, position)
) STRICT;

CREATE INDEX measurements_name ON measurements (name);

CREATE TABLE curve_points (
    run_id              INTEGER NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    position            INTEGER NOT NULL,
    clients             INTEGER NOT NULL,
    load                REAL,                   -- operations
    load_low            REAL,
    load_high           REAL,
    response_mean_ns    REAL,
    response_low_ns     REAL,
    response_high_ns    REAL,
    response_p99_ns     REAL,
    scout               INTEGER NOT NULL,       -- 1: only showed the way, never cited
    converged           INTEGER NOT NULL,
    PRIMARY KEY (run_id, position)
) STRICT;

CREATE TABLE levels (
    run_id      INTEGER NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    level_ns    INTEGER NOT NULL,
    outcome     TEXT    NOT NULL,   -- reached, between, exceeded, not-reached
    load        REAL,               -- reached: at the level; not-reached: the highest tried
    load_low    REAL,               -- between: the load below the level
    load_high   REAL,               -- between: the load above the level
    clients     REAL,
    PRIMARY KEY (run_id, level_ns)
) STRICT;

CREATE TABLE warnings (
    run_id      INTEGER NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    position    INTEGER NOT NULL,
    scope       TEXT    NOT NULL,   -- run, curve, or the name of a measurement
    code        TEXT    NOT NULL,
    severity    TEXT    NOT NULL,   -- note, doubt, void
    text        TEXT    NOT NULL,
    PRIMARY KEY (run_id, position)
) STRICT;
