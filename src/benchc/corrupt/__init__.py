"""Corruptions of a picture, the same to the byte wherever they run.

`condition` and `corrupt` take pixels and return pixels; files are not their business.
"""

from benchc.config.corruptions import CORRUPTIONS, GROUPS, SEVERITIES
from benchc.corrupt.condition import BLANK, CLEAN, condition
from benchc.corrupt.render import corrupt

__all__ = ["BLANK", "CLEAN", "CORRUPTIONS", "GROUPS", "SEVERITIES", "condition", "corrupt"]
