-- Sets of runs under a name, which later runs are compared with.

CREATE TABLE baselines (
    name        TEXT    NOT NULL,
    run_id      INTEGER NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    PRIMARY KEY (name, run_id)
) STRICT;
