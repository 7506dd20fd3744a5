"""What every part of a config shares: unknown keys are refused, and so is `true` for a number.

Never knows what a key means.
"""

from typing import Any, get_args

from pydantic import BaseModel, ConfigDict, model_validator


class Section(BaseModel):
    """A part of a config whose keys are all known and do not change once read."""

    model_config = ConfigDict(extra="forbid", frozen=True, protected_namespaces=())

    @model_validator(mode="before")
    @classmethod
    def _no_truth_for_a_number(cls, values: Any) -> Any:
        # Python counts True as 1, so that `seed: true` would be read as a seed of 1.
        for name, value in values.items() if isinstance(values, dict) else ():
            field = cls.model_fields.get(name)
            wanted = field.annotation if field else bool
            if isinstance(value, bool) and bool not in (wanted, *get_args(wanted)):
                raise ValueError(f"{name}: {str(value).lower()} is neither a number nor a text")
        return values
