"""The settings of each job, in files below `results/settings` that the commands of rules read.

So no command line holds them. Their names hold a digest of their content, so that two runs with
other settings in one folder do not read each other's. Rules give the names as resources: of those
none triggers a rerun, and what decides a table is its identity (`running.identity`).
"""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchc.tables import write_text

if TYPE_CHECKING:
    from benchc.running.workflow import Workflow


def settings_files(run: "Workflow") -> dict[str, tuple[Path, str]]:
    """Return the file of each group of settings and its text, by name.

    Paths in it are as the working directory sees them.
    """
    config = run.config
    contents: Mapping[str, Any] = {
        **{f"models/{key}": json.loads(run.model_settings(key)) for key in config.models},
        **{f"sources/{key}": json.loads(run.source_spec(key)) for key in config.sources},
        **{f"fetch/{name}": json.loads(run.fetch_spec(name)) for name in run.fetches},
        "embed": run.embed_settings,
        "discover": json.loads(run.discovery.settings),
        "discovery": json.loads(run.discovery.run_facts),
        "models": json.loads(run.models_facts()),
        "run": json.loads(run.run_facts()),
    }
    files = {}
    for name, content in contents.items():
        text = json.dumps(content, indent=1, sort_keys=True) + "\n"
        digest = hashlib.sha256(text.encode()).hexdigest()[:8]
        files[name] = run.results / "settings" / f"{name}.{digest}.json", text
    return files


def write_settings(run: "Workflow", alone: bool) -> None:
    """Write the files of settings that a run's commands read, and remove those of earlier runs.

    Args:
        run: What the config says.
        alone: Whether no other run works in this folder, so that nobody reads the others.

    Raises:
        BadInput: the disk is full or must not be written.
    """
    files = dict(run.settings_files.values())
    for path, text in files.items():
        if not path.is_file():
            write_text(path, text)
    if alone:
        for old in (run.results / "settings").rglob("*.json"):
            if old not in files:
                old.unlink()
