-- What `watch` saw: windows of a minute or more in a compact form, and events as JSON.

CREATE TABLE watch_windows (
    id INTEGER PRIMARY KEY,
    target TEXT NOT NULL,
    start_s INTEGER NOT NULL,
    span_s INTEGER NOT NULL,
    form BLOB NOT NULL
) STRICT;
CREATE INDEX watch_windows_by_time ON watch_windows (target, start_s);

CREATE TABLE watch_events (
    id INTEGER PRIMARY KEY,
    target TEXT NOT NULL,
    begin_ms INTEGER NOT NULL,
    document TEXT NOT NULL
) STRICT;
CREATE INDEX watch_events_by_time ON watch_events (target, begin_ms);
