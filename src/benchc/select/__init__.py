"""Which samples make the benchmark: sensitive to corruption, and unlike one another."""

from benchc.select.cross_fit import cross_fit
from benchc.select.selection import Pool, Rule, Selection, select

__all__ = ["Pool", "Rule", "Selection", "cross_fit", "select"]
