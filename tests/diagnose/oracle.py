"""The protocol in NumPy and plain Python, sharing nothing with the SQL."""

import math

import numpy as np


def is_correct(p, answer):
    return int(p[answer] == max(p) and list(p).count(max(p)) == 1)


def entropy(p):
    p = np.asarray(p, dtype=float)
    some = p[p > 0]
    return min(1.0, max(0.0, float(-(some * np.log(some)).sum() / math.log(len(p)))))


def misalignment(p, answer):
    return abs(max(p) - is_correct(p, answer))


def ras(dc, ds):
    if dc is None or ds is None or math.isnan(dc) or math.isnan(ds):
        return None
    return -dc - max(dc, 0) * max(-ds, 0) - max(-dc, 0) * max(ds, 0)


def shift(clean, corrupted, answer):
    """(dS, dC, RAS, state), each None where it is not defined."""

    def letter(p):
        return "cw"[1 - is_correct(p, answer)]

    if clean is None or corrupted is None:
        return None, None, None, None
    ds = entropy(corrupted) - entropy(clean)
    dc = misalignment(corrupted, answer) - misalignment(clean, answer)
    return ds, dc, ras(dc, ds), letter(clean) + letter(corrupted)


def trajectory(clean, path):
    """(class, onset) from clean correctness and {severity: correctness or None}."""
    if clean is None or None in path.values():
        return "incomplete", None
    changed = [s for s in sorted(path) if path[s] != clean]
    if not changed:
        return ("stable_correct" if clean else "stable_wrong"), None
    stays = all(path[s] != clean for s in path if s >= changed[0])
    return ("persistent_" if stays else "transient_") + ("loss" if clean else "gain"), changed[0]
