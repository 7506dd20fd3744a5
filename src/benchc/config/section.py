"""What every part of a config shares: unknown keys are refused, and so is `true` for a number."""

import re
from typing import Annotated, Any, get_args
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, ConfigDict, model_validator

from benchc.errors import outward

#: Names that Windows keeps for devices, whatever ending they have.
_DEVICES = re.compile(r"(con|prn|aux|nul|com[0-9]|lpt[0-9])(\..*)?", re.IGNORECASE)


def _safe_as_a_name(key: str) -> str:
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}", key):
        raise ValueError(
            "a key is letters, digits, '.', '_' and '-', 64 at most, and starts with a letter or "
            "digit"
        )
    if _DEVICES.fullmatch(key) or key.endswith("."):
        raise ValueError("no file can have this name on Windows; take another key")
    return key


#: What a user calls a source or a model: part of file names and of every table.
Key = Annotated[str, AfterValidator(_safe_as_a_name)]


def _variable(name: str) -> str:
    # The key itself, given in its place, must not be repeated in a message.
    if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name):
        raise ValueError("write the name of the environment variable, not the key that it holds")
    outward.hold_back(name)
    return name


#: The name of an environment variable; what it holds is kept out of all that is written.
Variable = Annotated[str, AfterValidator(_variable)]


def _plain_address(url: str) -> str:
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError("write a whole address, for instance http://localhost:8000/v1")
    if parts.username or parts.password or parts.query or parts.fragment:
        raise ValueError("leave keys out of the address; name their variable in `key_variable`")
    return url.rstrip("/")


#: Where a server is, without a key.
ServerAddress = Annotated[str, AfterValidator(_plain_address)]


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
