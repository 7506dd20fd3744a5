"""What a question takes: the things that must be perceived or inferred to answer it."""

from __future__ import annotations

from benchc.world.questions import Query
from benchc.world.scene import COLOURS

_OF_CATEGORY = {
    "word": {"reading a word"},
    "number": {"reading a number"},
    "sign": {"reading a sign", "telling positions apart"},
    "side": {"horizontal relation"},
    "level": {"vertical relation"},
    "relation": {"dominant direction"},
    "edge": {"extreme position", "naming a shape"},
    "larger": {"comparing sizes"},
    "smaller": {"comparing sizes"},
    "compare": {"comparing sizes"},
    "largest": {"extreme size", "naming a shape", "naming a colour"},
    "smallest": {"extreme size", "naming a shape", "naming a colour"},
}
_NAMED = {"colour": "naming a colour", "kind": "naming a shape", "pattern": "naming a pattern"}
_FOUND = {"colour": "finding by colour", "kind": "finding by shape", "kinds": "finding by shape",
          "pattern": "finding by pattern"}  # fmt: skip


def primitives(query: Query) -> frozenset[str]:
    """Return the primitives of a drawn world's question."""
    slots = dict(query.slots)
    taken = set(_OF_CATEGORY.get(query.category, ()))
    taken |= {found for slot, found in _FOUND.items() if slot in slots}
    for name in (slots[slot] for slot in ("a", "b") if slot in slots):
        taken.add("finding by shape")
        if name.split()[0] in COLOURS:
            taken.add("finding by colour")
    if query.track == "counting":
        taken.add("counting")
    field = query.category.partition("_")[0]
    if field in _NAMED and query.track in ("colour", "shape"):
        taken.add(_NAMED[field])
    return frozenset(taken)
