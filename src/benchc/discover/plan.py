"""What the rules of a discovery ask: its games, their options, their fingerprints.

Never plays a game, and never reads the config by itself.
"""

import hashlib
import json
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from benchc import gpus
from benchc.discover.settings import BRIEF_WAYS, WAYS
from benchc.errors import BadInput
from benchc.options import options

if TYPE_CHECKING:
    from benchc.workflow import Workflow


class DiscoveryPlan:
    """The section `discover` of a run's config, as the rules need it."""

    #: The ways to ask.
    ways = WAYS

    def __init__(self, run: "Workflow"):
        """Plan the discovery of a run."""
        self._run = run
        self._section = run.config.discover

    def plays(self, pattern: str, everything: bool = False) -> list[str]:
        """Return `pattern` for every game: model, condition and way.

        Args:
            pattern: A path with these three names in braces.
            everything: Try every way against the models in `discover.brief` too.

        Raises:
            BadInput: the config names no model to play against.
        """
        section = self._section
        plays = []
        for model in (*section.full, *section.brief):
            ways = WAYS if everything or model in section.full else BRIEF_WAYS
            plays += [(model, "clean", way) for way in ways]
        if section.corruption is not None:
            condition = f"{section.corruption}-{section.severity}"
            plays += [(model, condition, way) for model in section.full for way in BRIEF_WAYS]
        if not plays:
            raise BadInput(
                "config: discover: name models under test in `full` or `brief`, for instance "
                f"{{discover: {{brief: [{next(iter(self._run.config.models))}]}}}}"
            )
        return [pattern.format(model=m, condition=c, way=w) for m, c, w in plays]

    def identity(self, model: str, condition: str = "clean") -> str:
        """Return a hash of all that decides a game but its way."""
        corruption, _, _ = condition.rpartition("-")
        decides = {**self._facts, "model": self._run.model_fingerprint(model)}
        decides["corruption"] = corruption and self._run.corruption_code(corruption)
        return hashlib.sha256(json.dumps(decides, sort_keys=True).encode()).hexdigest()[:16]

    @cached_property
    def _facts(self) -> dict[str, object]:
        """What decides every game: settings, seed, code, questioner, pictures' names and sizes."""
        run, section = self._run, self._section
        found = (run.project / section.images).rglob("*") if section.images else ()
        return {
            "settings": section.result_settings(),
            "seed": run.config.seed,
            "code": run.code("discover_play"),
            "questioner": run.content(section.questioner.path, "discover/hashes.json"),
            "embedder": self.embedder_fingerprint,
            "pictures": sorted((f.name, f.stat().st_size) for f in found if f.is_file()),
        }

    @property
    def embedder_fingerprint(self) -> str | None:
        """What the sentence embedder holds, if it is not that of the package."""
        return self._run.content(self._section.embedder)

    @property
    def settings(self) -> str:
        """The section as JSON, its paths as the working directory sees them."""
        values = self._section.model_dump(mode="json")
        values["questioner"]["path"] = self._run.located(self._section.questioner.path)
        for name in ("images", "embedder"):
            values[name] = values[name] and self._run.located(values[name])
        return json.dumps(values, sort_keys=True)

    @property
    def embedder_options(self) -> str:
        """The options that choose the sentence embedder."""
        folder = self._section.embedder
        return options(embedder=folder and self._run.located(folder))

    @property
    def image_options(self) -> str:
        """The option that says where the pictures lie; empty for drawn scenes."""
        images = self._section.images
        return options(images=images and self._run.located(images))

    def condition_options(self, condition: str) -> str:
        """Return the options of a condition: none for `clean`, else NAME-SEVERITY taken apart."""
        if condition == "clean":
            return ""
        corruption, _, severity = condition.rpartition("-")
        return options(corruption=corruption, severity=severity)

    def work(self, asked: str) -> str:
        """Return where a game keeps its checkpoints, given its table of questions."""
        game, root = Path(asked).parent, Path(asked).parents[3]
        return (root / "work" / game.relative_to(root)).as_posix()

    @property
    def gpus(self) -> int:
        """How many GPUs a game takes: one where there is any."""
        return int(gpus.any_here())
