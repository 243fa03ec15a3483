-- Every figure of every kind of measurement, in place of the measurements of some.
-- Times are in seconds, rates per second, shares from 0 to 1. NULL: not known.

DROP TABLE measurements;
DROP TABLE levels;

CREATE TABLE figures (
    run_id      INTEGER NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    position    INTEGER NOT NULL,   -- order within the run, from 0
    table_name  TEXT    NOT NULL,   -- as in `seekstone runs export --form csv`
    row         TEXT    NOT NULL,   -- levels of the table's factors, in words
    metric      TEXT    NOT NULL,
    unit        TEXT    NOT NULL,
    better      TEXT    NOT NULL,   -- higher, lower, neither
    role        TEXT    NOT NULL,   -- headline, column, detail
    value       REAL,
    low         REAL,
    high        REAL,
    confidence  REAL    NOT NULL,
    samples     REAL,
    indicative  INTEGER NOT NULL,   -- 1: few independent observations bear it
    trust       TEXT    NOT NULL,   -- sound, narrow, shaky, void
    PRIMARY KEY (run_id, position)
) STRICT;

CREATE INDEX figures_metric ON figures (metric, table_name, row);

-- The level of each factor of a row, for queries by one of them.
CREATE TABLE factors (
    run_id      INTEGER NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    table_name  TEXT    NOT NULL,
    row         TEXT    NOT NULL,
    factor      TEXT    NOT NULL,
    level       TEXT    NOT NULL,
    PRIMARY KEY (run_id, table_name, row, factor)
) STRICT;
