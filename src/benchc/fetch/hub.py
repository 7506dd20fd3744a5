"""Files of a repository on a hub, at one commit, checked against the hub's own checksums.

Never reads a token from anywhere but the environment, and never shows it.
"""

import json
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar, cast
from urllib.parse import urlsplit

import httpx2
from huggingface_hub import HfApi
from huggingface_hub.errors import (
    EntryNotFoundError,
    GatedRepoError,
    HfHubHTTPError,
    OfflineModeIsEnabled,
    RepositoryNotFoundError,
    RevisionNotFoundError,
)
from huggingface_hub.hf_api import RepoFile
from huggingface_hub.utils import (
    close_session,
    disable_progress_bars,
    filter_repo_objects,
    set_client_factory,
)
from huggingface_hub.utils._http import default_client_factory
from urllib3.exceptions import MaxRetryError

from benchc.config.origin import COMMIT, Request
from benchc.errors import BadInput
from benchc.errors.outward import excerpt
from benchc.fetch.address import BUSY, is_web_page, need_space, patience, through_proxy
from benchc.fetch.client import Bounds, bounded

ANSWER = 32_000_000
"""Bytes of an answer that is no file, at most."""
_MOST_NAMES = 8
_TRIES = 3
_Answer = TypeVar("_Answer")


def connect() -> HfApi:
    """Return a client for the hub that HF_ENDPOINT names, with the token of HF_TOKEN if set.

    Raises:
        BadInput: HF_TOKEN cannot be a token.
    """
    token = os.environ.get("HF_TOKEN", "").strip()
    if not re.fullmatch(r"[!-~]*", token):
        raise BadInput("HF_TOKEN holds characters that no token has; set it again")
    return HfApi(token=token or False)


def resolve(api: HfApi, wanted: Request) -> str:
    """Return the commit, 40 hexadecimal digits, that a request's revision stands for now.

    Raises:
        BadInput: no such repository or revision, no access, or no connection.
    """
    revision = str(wanted.revision)
    if COMMIT.fullmatch(revision):
        return revision
    with _refusals(api, wanted), _bounds(api):
        info = _patiently(
            lambda: api.repo_info(str(wanted.hub_id), repo_type=wanted.repo_type, revision=revision)
        )
    return str(info.sha)


def fetch_hub(
    api: HfApi, wanted: Request, commit: str, folder: Path
) -> tuple[list[str], list[str]]:
    """Fetch the files that a request names into `folder`, under their names in the repository.

    What is there already is not fetched again, and a file comes whole or not at all.

    Returns:
        The names, sorted, and the other hosts that requests were sent on to.

    Raises:
        BadInput: as `resolve`, or no file fits, the disk is too small, a checksum differs.
    """
    place: Any = {
        "repo_id": wanted.hub_id,
        "repo_type": wanted.repo_type,
        "revision": commit,
    }
    if not os.isatty(2):
        disable_progress_bars()

    with _refusals(api, wanted), _bounds(api) as bounds:
        tree = api.list_repo_tree(**place, recursive=True)
        sizes = {entry.path: entry.size for entry in tree if isinstance(entry, RepoFile)}
        names = _chosen(wanted, sorted(sizes))
        need_space(folder, sum(sizes[n] for n in names if not (folder / n).is_file()))
        bounds.most = max(ANSWER, *(sizes[name] for name in names))
        patterns = list(wanted.files) or None
        _patiently(
            lambda: api.snapshot_download(**place, local_dir=folder, allow_patterns=patterns)
        )
        checked = api.verify_repo_checksums(**place, local_dir=folder)
    missing = sorted(set(names) & set(checked.missing_paths))
    if missing:
        raise BadInput(f"hub {wanted.hub_id}: {missing[0]} did not come; run again to go on")
    wrongs = [_wrong_file(wanted, folder, mismatch) for mismatch in checked.mismatches]
    if wrongs:
        raise wrongs[0]
    return names, bounds.sent_on_to


@contextmanager
def _bounds(api: HfApi) -> Iterator[Bounds]:
    """Give the hub's client bounds; a list of files is short, a file as long as that list says."""
    endpoint = urlsplit(api.endpoint)
    bounds = Bounds(str(endpoint.hostname), ANSWER, endpoint.scheme == "https")
    close_session()
    set_client_factory(lambda: bounded(default_client_factory(), bounds))
    try:
        yield bounds
    finally:
        close_session()
        set_client_factory(default_client_factory)


def _wrong_file(wanted: Request, folder: Path, mismatch: Mapping[str, object]) -> BadInput:
    """Throw a file away whose checksum is not the hub's, and return the refusal."""
    name = str(mismatch["path"])
    path = folder / name
    with path.open("rb") as handle:
        page = is_web_page(handle.read(200)) and not name.endswith(".html")
    path.unlink()
    return BadInput(
        f"hub {wanted.hub_id}: the {mismatch['algorithm']} of {name} is {mismatch['actual']}, and "
        f"{mismatch['expected']} was expected; nothing of it was kept"
        + (", for it is a web page: a login, a notice or a proxy" if page else "")
    )


def _chosen(wanted: Request, names: Sequence[str]) -> list[str]:
    """Return the names that fit one of the patterns; all, where there are no patterns."""
    if not wanted.files:
        return list(names)
    chosen = list(filter_repo_objects(names, allow_patterns=list(wanted.files)))
    if not chosen:
        more = f" and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else ""
        raise BadInput(
            f"hub {wanted.hub_id}: no file fits {', '.join(wanted.files)}; "
            f"it has {', '.join(names[:_MOST_NAMES])}{more}"
        )
    return chosen


def _patiently(call: Callable[[], _Answer]) -> _Answer:
    """Return what a call gives, made again while the hub is busy or the line is bad.

    The client makes most requests several times by itself, but not that for a file.
    """
    left = patience(total=_TRIES)
    while True:
        try:
            return call()
        except (httpx2.HTTPError, EntryNotFoundError) as error:
            cause = _first(error)
            response = cause.response if isinstance(cause, HfHubHTTPError) else None
            if response is not None and response.status_code not in BUSY:
                raise
            try:
                left = left.increment(error=error)
            except MaxRetryError:
                raise error from None
            # Only the answer's headers are looked at, and all libraries' answers have those.
            left.sleep(cast(Any, response))


@contextmanager
def _refusals(api: HfApi, wanted: Request) -> Iterator[None]:
    """Turn what goes wrong with a hub into one line each."""
    try:
        yield
    except BadInput:
        raise
    except (httpx2.HTTPError, EntryNotFoundError, OSError, ValueError) as error:
        raise BadInput(f"hub {wanted.hub_id}: {_reason(_first(error), api, wanted)}") from None


def _first(error: BaseException) -> BaseException:
    """Return the hub's own answer from under an error that only says a file is not here."""
    cause = error
    while isinstance(cause, EntryNotFoundError) and cause.__cause__ is not None:
        cause = cause.__cause__
    return cause


def _reason(error: BaseException, api: HfApi, wanted: Request) -> str:
    sent = "the account of HF_TOKEN" if api.token else "nobody: HF_TOKEN is not set"
    status = error.response.status_code if isinstance(error, HfHubHTTPError) else None
    if isinstance(error, httpx2.TooManyRedirects):
        return f"{api.endpoint} sends the request on and on"
    if isinstance(error, OfflineModeIsEnabled):
        return "HF_HUB_OFFLINE is set; unset it to fetch"
    if isinstance(error, GatedRepoError):
        return (
            f"{status}, it is gated, and asked for by {sent}; accept its licence at "
            f"{api.endpoint}/{wanted.hub_id} and set HF_TOKEN to a token of that account"
        )
    if isinstance(error, RevisionNotFoundError):
        return f"404, it has no revision {wanted.revision}"
    if status == 401:
        return f"401, no such repository, or a private one, asked for by {sent}"
    if status == 403:
        return f"403, forbidden to {sent}"
    if isinstance(error, RepositoryNotFoundError) or status == 404:
        kind = "data set" if wanted.repo_type == "dataset" else wanted.repo_type
        return f"404, no such {kind} at {api.endpoint}; check the name"
    if status is not None:
        return f"{status}, it does not serve files now; run again later to go on"
    if isinstance(error, httpx2.HTTPError | ConnectionError):
        return (
            f"{api.endpoint} cannot be reached or broke off{through_proxy(api.endpoint)}; "
            "run again to go on"
        )
    if isinstance(error, json.JSONDecodeError):
        return f"{api.endpoint} answered with a web page: a login, a notice or a proxy"
    first = next(iter(str(error).splitlines()), repr(error))
    if first.startswith("Consistency check failed: "):
        return (
            f"{first.partition(': ')[2]} It was not kept: a web page came in its place, or the "
            "line broke; run again to go on"
        )
    return excerpt(first, 300)
