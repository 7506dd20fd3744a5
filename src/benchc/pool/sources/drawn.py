"""The drawn world as a source: scenes made by this package, each track its own benchmark.

A row carries the scene that its picture is drawn from.
"""

from collections.abc import Callable

import numpy as np

from benchc.config.sources import DrawnSource
from benchc.pool.rows import Row, SourceRows
from benchc.world.samples import draw, draw_pool
from benchc.world.scene import Scene


def read(spec: DrawnSource) -> SourceRows:
    """Return `spec.samples` rows; a longer pool of the same seed begins with the same ones."""
    return SourceRows(
        [
            Row(
                source_ref=sample.ref,
                category=sample.category,
                question=sample.question,
                options=tuple(sample.options),
                answer=sample.answer,
                picture=_artist(sample.scene),
                scene=sample.scene.to_json(),
                benchmark=sample.track,
                extra={"shapes": len(sample.scene.shapes)},
            )
            for sample in draw_pool(spec.samples, spec.seed)
        ]
    )


def _artist(scene: Scene) -> Callable[[], np.ndarray]:
    return lambda: draw(scene)
