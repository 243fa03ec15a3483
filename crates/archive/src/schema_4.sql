-- What to do about a warning, which `text` ended with before. Of runs that were archived before,
-- `text` has it still.

ALTER TABLE warnings ADD COLUMN advice TEXT NOT NULL DEFAULT '';
