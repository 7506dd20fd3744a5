-- The measures' definitions, stored inside the database: they are aggregates over the rows of
-- `judgements`, and leave out what the verifier did not judge.
CREATE MACRO validity(valid, verifier_failure) AS
    count_if(valid AND verifier_failure IS NULL) / nullif(count_if(verifier_failure IS NULL), 0);
COMMENT ON MACRO validity IS
    'aggregate: valid questions over all that the verifier judged, 0..1';

CREATE MACRO failure_discovery_rate(failed, verifier_failure) AS
    count_if(failed AND verifier_failure IS NULL) / nullif(count_if(verifier_failure IS NULL), 0);
COMMENT ON MACRO failure_discovery_rate IS
    'aggregate (FDR): questions that are valid and answered wrongly over all that were judged, 0..1';

CREATE MACRO failure_rate(failed, valid, verifier_failure) AS
    count_if(failed AND verifier_failure IS NULL)
    / nullif(count_if(valid AND verifier_failure IS NULL), 0);
COMMENT ON MACRO failure_rate IS
    'aggregate: valid questions answered wrongly over all valid ones that were judged, 0..1';
