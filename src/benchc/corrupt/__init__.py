"""Nineteen corruptions of a picture, the same to the byte wherever they run.

Never touches files: `corrupt` takes pixels and returns pixels.
"""

from benchc.corrupt.registry import CORRUPTIONS, GROUPS, SEVERITIES
from benchc.corrupt.render import corrupt

__all__ = ["CORRUPTIONS", "GROUPS", "SEVERITIES", "corrupt"]
