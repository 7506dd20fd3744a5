"""Scores, shifts and attributions of every prediction, and the database that holds them.

The definitions are SQL, in `sql/`.
"""
