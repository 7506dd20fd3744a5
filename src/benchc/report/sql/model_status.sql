-- What became of every model of the config.
SELECT   model, state, n_predictions, n_failed, reason, looks
FROM     model_status
ORDER BY list_position(['left_out', 'failed', 'measured'], state), n_failed DESC, model
