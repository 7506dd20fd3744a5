"""Scores, shifts and attributions of every prediction, and the database that holds them.

Never runs a model; the protocol's definitions are SQL, in `sql/`.
"""
