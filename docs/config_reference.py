"""Write docs/config.md from the types in benchc.config.run: python docs/config_reference.py."""

import json
from pathlib import Path
from typing import Any, get_args

from pydantic import BaseModel
from pydantic_core import PydanticUndefined

from benchc.config import sources as specs
from benchc.config.discovery import (
    Discover,
    Imitate,
    Questioner,
    Reinforce,
    ServedVerifierSettings,
)
from benchc.config.models import OpenAIModel, TransformersModel
from benchc.config.plugins import Plugin
from benchc.config.run import Config, Corrupt, Diagnose, Embed, Infer, Select

SECTIONS: list[tuple[str, type[BaseModel], str]] = [
    (
        "The run",
        Config,
        "Top-level keys. A config file of your own replaces whole keys of these. Where it gives "
        "`models`, the default `selectors` and `discover` do not apply: all its models select, and "
        "no questioner is trained against any.\n\n"
        "Several files (`--configfile a.yaml b.yaml`) and values (`--config seed=2`) become one "
        "first, by Snakemake: maps are merged key by key, however deep, and of anything else, a "
        "list too, the last counts. So `b.yaml` adds its models to those of `a.yaml`; to replace "
        "them, give one file.",
    ),
    *(
        (f"`sources.KEY` of kind `{get_args(kind.model_fields['kind'].annotation)[0]}`", kind, "")
        for kind in specs.SOURCES
    ),
    (
        "`sources.KEY.fields` as a map of columns",
        specs.FieldMap,
        "For a table of your own: [an example](pictures.md#benchmarks).",
    ),
    ("`models.KEY`", TransformersModel, ""),
    (
        "`models.KEY` with `backend: openai`",
        OpenAIModel,
        "A model behind a server: [how to start one](servers.md).",
    ),
    ("`corrupt`", Corrupt, ""),
    ("`corrupt.plugins.NAME`", Plugin, "A corruption of your own: [how](corruptions.md#your-own)."),
    ("`embed`", Embed, ""),
    ("`select`", Select, ""),
    ("`infer`", Infer, ""),
    ("`diagnose`", Diagnose, ""),
    ("`discover`", Discover, "Failure discovery: [what is computed](discovery.md)."),
    ("`discover.questioner`", Questioner, ""),
    ("`discover.verifier`", ServedVerifierSettings, ""),
    ("`discover.reinforce`", Reinforce, ""),
    ("`discover.imitate`", Imitate, ""),
]


def default(field: Any) -> str:
    """Return a field's default as a config would say it."""
    if field.default is PydanticUndefined:
        return "required"
    value = field.default
    if isinstance(value, Path):
        return ""
    if isinstance(value, BaseModel):
        return "see below"
    if isinstance(value, tuple) and len(value) > 6:
        return "all"
    if isinstance(value, tuple):
        value = list(value)
    return (
        ""
        if value is None or value == []
        else f"`{json.dumps(value, ensure_ascii=False, default=str)}`"
    )


def page() -> str:
    """Return the reference as Markdown."""
    lines = [
        "# Every key of a config",
        "",
        "Made by `python docs/config_reference.py` from the types that check a config; a key that",
        "is not here is refused. Relative paths count from the folder of the Snakefile.",
        "What `hub_id`, `url` and the keys beside them do: [Fetching](fetching.md).",
    ]
    for title, model, note in SECTIONS:
        lines += ["", f"## {title}", ""]
        lines += [note, ""] if note else []
        lines += ["| key | default | meaning |", "|---|---|---|"]
        for name, field in model.model_fields.items():
            lines.append(f"| `{name}` | {default(field)} | {field.description or ''} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    (Path(__file__).parent / "config.md").write_text(page(), encoding="utf-8")
