"""The report stage: one self-contained page that shows what the database holds.

Every figure is read from the database by a statement in `sql/`.
"""
