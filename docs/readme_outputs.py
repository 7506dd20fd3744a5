"""Put what queries print into the pages that show them: python docs/readme_outputs.py.

The README's are of `make run`, those of docs/discovery.md of `make discover`.
"""

import re
import subprocess
from pathlib import Path

PROJECT = Path(__file__).parents[1]
PAGES = (PROJECT / "README.md", PROJECT / "docs/discovery.md")
QUERY = re.compile(
    r"^\$ (benchc sql \"(?:SELECT|PIVOT) [^\n]*\")\n.*?(?=^\$ |```)", re.DOTALL | re.MULTILINE
)


def rerun(found: re.Match[str]) -> str:
    """Return a command and what it prints now."""
    said = subprocess.run(
        ["bash", "-c", found[1]], cwd=PROJECT, capture_output=True, text=True, check=True
    ).stdout
    return f"$ {found[1]}\n{said.rstrip()}\n"


if __name__ == "__main__":
    for page in PAGES:
        page.write_text(QUERY.sub(rerun, page.read_text(encoding="utf-8")), encoding="utf-8")
