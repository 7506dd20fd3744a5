"""What a config says of a thing that is not here yet: a hub's commit, or an address and its sum.

Imports nothing heavier than pydantic.
"""

import hashlib
import re
from typing import Literal
from urllib.parse import urlsplit

from pydantic import Field, PositiveInt, ValidationInfo, field_validator, model_validator

from benchc.config.section import Section, Variable

COMMIT = re.compile(r"[0-9a-f]{40}")
_SHORT_COMMIT = re.compile(r"[0-9a-f]{7,39}")
_BRANCH = re.compile(r"[A-Za-z0-9][A-Za-z0-9._/-]*")
_REPOSITORY = re.compile(r"[A-Za-z0-9._-]+/[A-Za-z0-9._-]+")

RepoType = Literal["model", "dataset"]


class Origin(Section):
    """Where something comes from if it is no local path; all keys unset if it is one."""

    hub_id: str | None = Field(
        default=None, description="Repository on the Hugging Face hub: org/name."
    )
    revision: str | None = Field(
        default=None,
        description="Its commit, 40 hexadecimal digits. A branch such as main moves: it is "
        "resolved once, and the commit recorded.",
    )
    files: tuple[str, ...] = Field(
        default=(), description="Patterns of the files to fetch from the hub; left out, all."
    )
    url: str | None = Field(
        default=None, description="Address of one file, http or https, without a query."
    )
    query_variable: Variable | None = Field(
        default=None,
        description="The environment variable that holds what stands behind the ? of `url`, which "
        "may be a key; it is sent, and written down nowhere.",
    )
    size: PositiveInt | None = Field(
        default=None,
        description="Its size in bytes, where it is known; an answer of another length is refused.",
    )
    sha256: str | None = Field(default=None, description="Its checksum, 64 hexadecimal digits.")
    md5: str | None = Field(
        default=None, description="Its checksum, 32 digits, where its publisher gives no sha256."
    )
    unpack: bool = Field(
        default=False, description="Unpack .zip and .tar archives where they were fetched to."
    )

    @field_validator("hub_id")
    @classmethod
    def _repository(cls, value: str | None) -> str | None:
        if value is not None and not _REPOSITORY.fullmatch(value):
            raise ValueError(f"{value!r} is no repository; write org/name")
        return value

    @field_validator("revision")
    @classmethod
    def _whole_revision(cls, value: str | None) -> str | None:
        if value is None or COMMIT.fullmatch(value):
            return value
        if _SHORT_COMMIT.fullmatch(value) or not _BRANCH.fullmatch(value):
            raise ValueError(
                f"{value!r} is not a commit: give its 40 hexadecimal digits, or a branch name"
            )
        return value

    @field_validator("url")
    @classmethod
    def _address(cls, value: str | None) -> str | None:
        if value is None:
            return value
        parts = urlsplit(value)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError("an address begins with http:// or https:// and names a host")
        if parts.username or parts.password:
            raise ValueError("an address with a password in it would be shown in logs and tables")
        if parts.query or parts.fragment:
            raise ValueError(
                "what stands behind a ? may be a key, and would be shown in logs and tables; take "
                "it off, and name a variable that holds it in `query_variable`"
            )
        if not file_name(value):
            raise ValueError("an address ends in the name of a file")
        return value

    @field_validator("sha256", "md5")
    @classmethod
    def _sum(cls, value: str | None, info: ValidationInfo) -> str | None:
        digits = {"sha256": 64, "md5": 32}[str(info.field_name)]
        if value is not None and not re.fullmatch(rf"[0-9a-fA-F]{{{digits}}}", value):
            raise ValueError(f"a checksum of this kind has {digits} hexadecimal digits")
        return value and value.lower()

    @model_validator(mode="after")
    def _one_origin(self) -> "Origin":
        if self.hub_id is not None and self.url is not None:
            raise ValueError("give either `hub_id` or `url`")
        if self.hub_id is not None and self.revision is None:
            raise ValueError(
                "`hub_id` needs `revision`: a commit, 40 hexadecimal digits in quotes, "
                "or a branch such as main"
            )
        if self.url is not None and (self.sha256 is None) == (self.md5 is None):
            raise ValueError("`url` needs the checksum of its file: `sha256`, or else `md5`")
        belongs = {"revision": "hub_id", "files": "hub_id", "sha256": "url", "md5": "url"}
        belongs |= {"query_variable": "url", "size": "url"}
        for name, owner in belongs.items():
            if getattr(self, name) and getattr(self, owner) is None:
                raise ValueError(f"`{name}` goes with `{owner}`, which is not given")
        if self.unpack and not self.is_fetched:
            raise ValueError("`unpack` goes with `hub_id` or `url`, and neither is given")
        return self

    @property
    def is_fetched(self) -> bool:
        """Whether it has to be fetched."""
        return self.hub_id is not None or self.url is not None


class Request(Origin):
    """One thing to fetch: what `benchc fetch files` takes."""

    repo_type: RepoType = Field(default="dataset", description="The kind of hub repository.")

    @model_validator(mode="after")
    def _something(self) -> "Request":
        if not self.is_fetched:
            raise ValueError("give `hub_id` with `revision`, or `url` with its checksum")
        return self

    @property
    def name(self) -> str:
        """The folder of the thing: readable, and another one for another commit or checksum."""
        if self.url is not None:
            readable, identity = file_name(self.url), f"{self.sha256} {self.md5}"
        else:
            readable = str(self.hub_id).replace("/", "--")
            identity = f"{self.repo_type} {self.revision} {self.files}"
        digest = hashlib.sha256(f"{identity} {self.unpack}".encode()).hexdigest()
        return f"{readable}-{digest[:8]}"


def request_for(origin: Origin, repo_type: RepoType, files: tuple[str, ...] = ()) -> Request | None:
    """Return what has to be fetched for an origin; None for a local path.

    Args:
        origin: What the config says.
        repo_type: The kind of hub repository it is in.
        files: Patterns to fetch where the config names none.
    """
    if not origin.is_fetched:
        return None
    values = {name: getattr(origin, name) for name in Origin.model_fields}
    if origin.hub_id is not None:
        values["files"] = origin.files or files
    return Request(**values, repo_type=repo_type)


def file_name(url: str) -> str:
    """Return the name under which the file of an address is kept."""
    return re.sub(r"[^A-Za-z0-9._-]", "_", urlsplit(url).path.rpartition("/")[2])
