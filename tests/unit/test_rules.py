"""What every rule keeps to, read from its text."""

import re
from pathlib import Path

import pytest

PROJECT = Path(__file__).parents[2]
FILES = (PROJECT / "Snakefile", *sorted((PROJECT / "rules").glob("*.smk")))
RULES = {
    match[1]: match[0]
    for file in FILES
    for match in re.finditer(
        r"^(?:rule|use rule \w+ as) (\w+)(?:.|\n)*?(?=^\S|\Z)", file.read_text(), re.MULTILINE
    )
}


def section(rule: str, name: str) -> str:
    found = re.search(rf"^    {name}:((?:.|\n)*?)(?=^    \S|\Z)", rule, re.MULTILINE)
    return found[1] if found else ""


def test_all_rules_are_looked_at():
    assert {"all", "pool", "infer_pool", "infer_chosen", "database", "discover"} <= RULES.keys()


@pytest.mark.parametrize("name", RULES)
def test_a_wildcard_says_what_it_may_be(name):
    # A greedy one takes `a_motion` and `blur` for `a` and `motion_blur`; one for all rules of the
    # workflow would hold for those of a workflow around it, too.
    wildcards = set(re.findall(r"(?<!\{)\{(\w+)\}(?!\})", section(RULES[name], "output")))
    constrained = set(
        re.findall(r"^        (\w+)=", section(RULES[name], "wildcard_constraints"), re.MULTILINE)
    )
    assert wildcards <= constrained


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_no_rule_does_what_breaks_elsewhere(file):
    text = file.read_text()
    assert not re.search(r"^wildcard_constraints", text, re.MULTILINE)
    # A deleted output of a checkpoint is not noticed; `run` and `script` allow no environment.
    assert not re.search(r"^\s*(checkpoint \w+|run|script|notebook):", text, re.MULTILINE)
    assert "os.path" not in text
