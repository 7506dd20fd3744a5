"""Put the graph of the rules into ARCHITECTURE.md: python docs/architecture_picture.py."""

import re
import subprocess
from pathlib import Path

PROJECT = Path(__file__).parents[1]
PAGE = PROJECT / "ARCHITECTURE.md"
BLOCK = re.compile(r"```mermaid\n.*?```", re.DOTALL)


def picture() -> str:
    """Return the graph of the default run's rules as a Mermaid block, whatever has been run."""
    said = subprocess.run(
        ["snakemake", "--rulegraph", "mermaid-js", "--forceall", "--quiet"],
        cwd=PROJECT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    names = dict(re.findall(r"(id\d+)\[(\w+)\]", said))
    arrows = re.findall(r"(id\d+) --> (id\d+)", said)
    lines = sorted(f"    {names[a]} --> {names[b]}" for a, b in arrows if names[b] != "all")
    return "\n".join(["```mermaid", "flowchart LR", *lines, "```"])


def page() -> str:
    """Return the page with its graph made anew."""
    return BLOCK.sub(picture(), PAGE.read_text(encoding="utf-8"))


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
