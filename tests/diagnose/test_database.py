"""The database as a whole: content, comments, moves, rebuilds, refused input."""

from benchc.diagnose.query import query


def test_models_keep_their_names(synthetic_database):
    found = query(synthetic_database, "SELECT DISTINCT model FROM shifts ORDER BY model")
    assert found["model"].to_list() == ["007", "1e5", "inf"]
