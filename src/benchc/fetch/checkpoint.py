"""A checkpoint that was fetched: what results call it, and where it lies."""

from pathlib import Path

from benchc.config.models import Model, TransformersModel
from benchc.fetch.stage import place, read_record


def recorded_and_loadable(model: Model, fetched: Path | None) -> tuple[Model, Model]:
    """Return the model as results name it, at its commit, and as a loader takes it, in a folder."""
    if fetched is None or not isinstance(model, TransformersModel):
        return model, model
    model = model.at_commit(read_record(fetched).get("commit"))
    return model, model.lying_in(place(fetched, Path(model.path or ".")))
