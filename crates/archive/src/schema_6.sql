-- The words of trust and weight, and the codes of five warnings, as programs of schema 5 write them.

UPDATE warnings SET severity = CASE severity
    WHEN 'note' THEN 'info' WHEN 'doubt' THEN 'warning' WHEN 'void' THEN 'invalid' ELSE severity END;
UPDATE warnings SET code = CASE code
    WHEN 'foreign-io' THEN 'background-io'
    WHEN 'void-replicates' THEN 'invalid-repeats'
    WHEN 'not-citable' THEN 'too-few-samples'
    WHEN 'load-not-carried' THEN 'load-not-sustained'
    WHEN 'level-not-settled' THEN 'level-uncertain'
    ELSE code END;
UPDATE figures SET trust = CASE trust
    WHEN 'sound' THEN 'reliable' WHEN 'narrow' THEN 'reliable'
    WHEN 'shaky' THEN 'unstable' WHEN 'void' THEN 'invalid' ELSE trust END;
-- Verdicts are made anew.
UPDATE runs SET verdict = NULL;
