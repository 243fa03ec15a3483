-- What each run comes to: docs/json-schema.md, "Verdict".

ALTER TABLE runs ADD COLUMN verdict         TEXT;   -- the sentence
ALTER TABLE runs ADD COLUMN verdict_trust   TEXT;   -- sound, shaky, void: of what it is about
ALTER TABLE runs ADD COLUMN verdict_because TEXT;   -- codes of the warnings that lower it
ALTER TABLE runs ADD COLUMN goals           TEXT;   -- kept, exceeded, undecided; NULL: none were set
