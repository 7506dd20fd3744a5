"""Put what the README's queries print on the default run into it: python docs/readme_outputs.py."""

import re
import subprocess
from pathlib import Path

PROJECT = Path(__file__).parents[1]
README = PROJECT / "README.md"
QUERY = re.compile(r"```console\n\$ (benchc sql \".*?\")\n.*?```", re.DOTALL)


def rerun(found: re.Match[str]) -> str:
    """Return a block with its command and what the command prints now."""
    said = subprocess.run(
        ["bash", "-c", found[1]], cwd=PROJECT, capture_output=True, text=True, check=True
    ).stdout
    return f"```console\n$ {found[1]}\n{said.rstrip()}\n```"


if __name__ == "__main__":
    README.write_text(QUERY.sub(rerun, README.read_text(encoding="utf-8")), encoding="utf-8")
