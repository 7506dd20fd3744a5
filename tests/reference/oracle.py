"""A second, independent reading of the questions: brute force over sentences, no shared code.

Never imports the grammar: it works on the English text and on the scene's description.
"""

import re

COLOURS = ["red", "orange", "yellow", "green", "blue", "purple", "pink", "brown"]
PATTERNS = ["solid", "striped", "dotted", "hollow"]
KINDS = ["circle", "square", "triangle", "diamond", "star", "cross", "heart", "oval"]


def fitting(scene, words):
    """Every shape of which all the describing words are true."""
    known = [w for w in words if w in COLOURS + PATTERNS + KINDS]
    return [s for s in scene.shapes if all(w in (s.kind, s.colour, s.pattern) for w in known)]


def right_options(question, options, scene):
    """Return the set of options that are true for the scene."""
    text = question.lower().rstrip("?").replace(",", "")
    words = ["cross" if w == "crosses" else w[:-1] if w[:-1] in KINDS else w for w in text.split()]
    if "word" in words or ("number" in words and "number of" not in text):
        texts = [s.text for s in scene.signs if s.text.isalpha() == ("word" in words)]
        return {o for o in options if texts == [o]}
    if "sign" in words:
        side = next(w for w in words if w in ("left", "right", "upper", "lower"))
        order = sorted(scene.signs, key=lambda s: s.x if side in ("left", "right") else s.y)
        return {order[0 if side in ("left", "upper") else -1].text} & set(options)
    if "how many" in text or "number of" in text:
        return {o for o in options if int(o) == len(fitting(scene, words))}
    if "colour" in words:
        (one,) = fitting(scene, words)
        return {one.colour} & set(options)
    if "filled" in words or "pattern" in words:
        (one,) = fitting(scene, words)
        return {one.pattern} & set(options)
    if "edge" in words or "furthest" in words:
        end = next(w for w in words if w in ("left", "right", "top", "bottom"))
        key = {"left": lambda s: s.x, "right": lambda s: -s.x, "top": lambda s: s.y,
               "bottom": lambda s: -s.y}[end]  # fmt: skip
        best = min(scene.shapes, key=key)
        assert [s.kind for s in scene.shapes].count(best.kind) == 1
        return {best.kind} & set(options)
    if {"largest", "biggest", "smallest"} & set(words):
        pick = min if "smallest" in words else max
        best = pick(scene.shapes, key=lambda s: s.radius)
        return {o for o in options if fitting(scene, o.split()) == [best]}
    names = re.findall(rf"((?:(?:{'|'.join(COLOURS)}) )?(?:{'|'.join(KINDS)}))", text)
    if len(names) == 2:
        if text.startswith("on which side"):
            names.reverse()
        ((a,), (b,)) = (fitting(scene, name.split()) for name in names)
        if {"larger", "bigger", "smaller"} & set(words) and not text.startswith("is"):
            bigger = names[0] if a.radius > b.radius else names[1]
            other = names[1] if bigger == names[0] else names[0]
            return {other if "smaller" in words else bigger} & set(options)
        if "larger" in words:
            return {"larger" if a.radius > b.radius else "smaller"} & set(options)
        true = set()
        if "above" not in words:
            true.add("left" if a.x < b.x else "right")
        if "side" not in words and "left" not in words:
            true.add("above" if a.y < b.y else "below")
        if len(true) == 2:  # where: the axis with the larger difference
            across = abs(a.x - b.x) > abs(a.y - b.y)
            true -= {"above", "below"} if across else {"left", "right"}
        return true & set(options)
    (one,) = fitting(scene, words)
    return {one.kind} & set(options)
