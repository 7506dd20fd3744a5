"""The report stage: one self-contained page that shows what the database holds.

Never computes a metric: every figure is read from the database by a statement in `sql/`.
"""
