"""A small config, and how tests run the real Snakefile with it."""

import os
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

from benchc.tables.contents import content_hashes

PROJECT = Path(__file__).parents[2]

TINY = """
sources:
  drawn: {kind: drawn, samples: 24}
corruptions: [gaussian_noise, defocus_blur, contrast]
models:
  llava: {path: reference/llava, instruction: ""}
  idefics3: {path: reference/idefics3, instruction: ""}
selectors: [llava, idefics3]
select: {impurity_above: 0}
diagnose: {columns: [shapes]}
"""

ADDED = """
  newcomer: {path: reference/paligemma, instruction: ""}
"""


@dataclass
class Workflow:
    """A folder in which a project's Snakefile is run with a config of its own.

    `environment` stands over the environment of the tests.
    """

    folder: Path
    config: Path
    project: Path = PROJECT
    environment: dict[str, str] = field(default_factory=dict)
    cores: int = 2

    def variables(self) -> dict[str, str]:
        """Return the environment of a run: the package is the project's own."""
        places = [str(self.project / "src"), *filter(None, [os.environ.get("PYTHONPATH")])]
        return os.environ | {"PYTHONPATH": os.pathsep.join(places)} | self.environment

    def command(self, *arguments: str) -> list[str]:
        """Return the command line of a run."""
        return [
            "snakemake", *arguments, "--cores", str(self.cores),
            "--snakefile", str(self.project / "Snakefile"),
            "--directory", str(self.folder), "--configfile", str(self.config),
        ]  # fmt: skip

    def run(self, *arguments: str, ok: bool = True) -> str:
        """Run Snakemake and return what it printed."""
        done = subprocess.run(
            self.command(*arguments),
            cwd=self.project,
            env=self.variables(),
            capture_output=True,
            text=True,
            check=False,
        )
        said = done.stdout + done.stderr
        assert (done.returncode == 0) is ok, said
        return said

    def planned(self, *arguments: str) -> dict[str, int]:
        """Return how many jobs of each rule a dry run lists."""
        said = self.run(*arguments, "--dry-run")
        if "Nothing to be done" in said:
            return {}
        table = said.split("Job stats:")[-1].split("total")[0].splitlines()
        rows = [line.split() for line in table if len(line.split()) == 2]
        return {name: int(count) for name, count in rows if count.isdigit()}


def tables_of(folder: Path) -> dict[str, str]:
    """Return the hashes of a run's tables by name; those of a discovery are left out."""
    hashes = content_hashes(folder / "results")
    return {name: value for name, value in hashes if not name.startswith("discover/")}
