"""What the rules of a discovery ask: its games, their options, their fingerprints."""

import hashlib
import json
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from benchc.config import prompts
from benchc.config.discovery import BRIEF_WAYS, WAYS
from benchc.errors import BadInput
from benchc.running import gpus
from benchc.running.options import options

if TYPE_CHECKING:
    from benchc.running.workflow import Workflow


class DiscoveryPlan:
    """The section `discover` of a run's config, as the rules need it."""

    #: The names of the ways to ask.
    ways = tuple(WAYS)

    def __init__(self, run: "Workflow"):
        """Plan the discovery of a run."""
        self._run = run
        self._section = run.config.discover

    def plays(self, pattern: str, everything: bool = False) -> list[str]:
        """Return `pattern` for every game: model, condition and way.

        Args:
            pattern: A path with these three names in braces.
            everything: Try all of `discover.ways` against the models in `discover.brief` too.

        Raises:
            BadInput: the config names no model to play against.
        """
        section = self._section
        brief = [way for way in BRIEF_WAYS if way in section.ways]
        plays = []
        for model in (*section.full, *section.brief):
            ways = section.ways if everything or model in section.full else brief
            plays += [(model, "clean", way) for way in ways]
        if section.corruption is not None:
            condition = f"{section.corruption}-{section.severity}"
            plays += [(model, condition, way) for model in section.full for way in brief]
        if not plays:
            raise BadInput(
                "config: discover: name models under test in `full` or `brief`, for instance "
                f"{{discover: {{brief: [{next(iter(self._run.config.models))}]}}}}"
            )
        return [pattern.format(model=m, condition=c, way=w) for m, c, w in plays]

    def identity(self, model: str, condition: str, way: str) -> str:
        """Return a hash of all that decides a game."""
        corruption, _, _ = condition.rpartition("-")
        decides = {**self._facts, "model": self._run.model_fingerprint(model)}
        decides["way"] = self._run.way_code(way)
        if corruption:
            side = self._run.config.corrupt.reference_side
            decides["corruption"] = [self._run.corruption_code(corruption), side]
        return hashlib.sha256(json.dumps(decides, sort_keys=True).encode()).hexdigest()[:16]

    @cached_property
    def _facts(self) -> dict[str, object]:
        """What decides every game: settings, seed, code, questioner, pictures."""
        run, section = self._run, self._section
        return {
            "settings": section.result_settings(),
            "seed": run.config.seed,
            "code": run.code("discover_play"),
            "questioner": run.content(section.questioner.path, "discover/hashes.json"),
            "embedder": self.embedder_fingerprint,
            "pictures": run.content(section.images, "discover/pictures.json"),
            "prompts": {
                name: run.content(prompt)
                for name, (_, prompt) in section.prompts.items()
                if prompts.is_file(prompt)
            },
        }

    @property
    def embedder_fingerprint(self) -> str | None:
        """What the sentence embedder holds, if it is not that of the package."""
        return self._run.content(self._section.embedder)

    @property
    def run_facts(self) -> str:
        """What the database says of the run, as JSON."""
        config = self._run.config
        facts = {
            "seed": config.seed,
            "reference_side": config.corrupt.reference_side,
            "discover": self._section.result_settings(),
        }
        return json.dumps({"config": facts}, sort_keys=True)

    @property
    def settings(self) -> str:
        """The section as JSON, its paths as the working directory sees them."""
        values = self._section.model_dump(mode="json")
        values["questioner"]["path"] = self._run.from_working_directory(
            self._section.questioner.path
        )
        for name in ("images", "embedder"):
            values[name] = values[name] and self._run.from_working_directory(values[name])
        for name, (_, prompt) in self._section.prompts.items():
            if prompts.is_file(prompt):
                part, _, key = name.rpartition(".")
                inner = values[part] if part else values
                inner[key] = self._run.from_working_directory(prompt)
        return json.dumps(values, sort_keys=True)

    def condition_options(self, condition: str) -> str:
        """Return the options of a condition: none for `clean`, else NAME-SEVERITY taken apart."""
        if condition == "clean":
            return ""
        corruption, _, severity = condition.rpartition("-")
        side = self._run.config.corrupt.reference_side
        return options(corruption=corruption, severity=severity, reference_side=side)

    def work(self, asked: str) -> str:
        """Return where a game keeps its checkpoints, given its table of questions."""
        game, root = Path(asked).parent, Path(asked).parents[3]
        return (root / "work" / game.relative_to(root)).as_posix()

    @property
    def gpus(self) -> int:
        """How many GPUs a game takes: one where there is any."""
        return int(gpus.any_here())
