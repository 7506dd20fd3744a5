"""Files of a hub come at one commit and with the hub's checksums; each refusal is its own line."""

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from huggingface_hub import HfApi, constants
from huggingface_hub.utils import close_session
from servers import COMMIT, MOVED, Handler, Hub, serving

from benchc.config.origin import Request
from benchc.errors import BadInput
from benchc.fetch import hub as hub_module
from benchc.fetch.stage import fetch, place, read_record

FILES = {
    "config.json": b'{"model_type": "tiny"}',
    "model.safetensors": os.urandom(300_000),
    "onnx/model.onnx": os.urandom(1000),
    "README.md": b"# Tiny",
}


@pytest.fixture
def hub(monkeypatch) -> Iterator[Hub]:
    """A hub with one repository, org/thing; `connect` leads to it."""
    served = Hub(FILES, large=("model.safetensors",))
    with serving(served) as server:
        served.server = server
        monkeypatch.setenv("HF_ENDPOINT", server.url)
        monkeypatch.setattr(
            hub_module,
            "HfApi",
            lambda token: HfApi(endpoint=server.url, token=token),
        )
        yield served


def model(**more: object) -> Request:
    values = {"hub_id": "org/thing", "revision": COMMIT, "repo_type": "model", **more}
    return Request.model_validate(values)


def refusal(wanted: Request, folder: Path) -> str:
    with pytest.raises(BadInput) as caught:
        fetch(wanted, folder)
    assert "\n" not in str(caught.value)
    assert not folder.with_name(f"{folder.name}.json").exists()
    return str(caught.value)


def fetched(hub: Hub) -> list[str]:
    return [path for method, path, _ in hub.server.seen if method == "GET" and "/resolve/" in path]


def test_the_wanted_files_come_and_are_written_down(hub, tmp_path):
    record = fetch(model(files=["*.json", "*.safetensors"]), tmp_path / "thing")
    names = ["config.json", "model.safetensors"]
    assert {n: (tmp_path / "thing" / n).read_bytes() for n in names} == {n: FILES[n] for n in names}
    assert record == {"hub_id": "org/thing", "commit": COMMIT, "files": names, "unpacked": False}
    assert read_record(tmp_path / "thing") == record
    assert not (tmp_path / "thing/README.md").exists()


def test_a_data_set_is_another_kind_of_repository(hub, tmp_path):
    fetch(model(repo_type="dataset", files=["README.md"]), tmp_path / "thing")
    assert place(tmp_path / "thing").read_bytes() == FILES["README.md"]
    assert all("dataset" in path for _, path, _ in hub.server.seen)


def test_a_branch_is_resolved_once(hub, tmp_path):
    first = fetch(model(revision="main"), tmp_path / "thing")
    hub.head = MOVED
    (tmp_path / "thing.json").unlink()
    assert fetch(model(revision="main"), tmp_path / "thing") == first
    assert first["commit"] == COMMIT
    elsewhere = fetch(model(revision="main"), tmp_path / "elsewhere")
    assert elsewhere["commit"] == MOVED


def test_what_came_before_a_break_is_not_fetched_again(hub, tmp_path, naps):
    def broken(handler: Handler) -> bool:
        if "safetensors" in handler.path and handler.command == "GET":
            handler.say(500)
            return True
        return False

    hub.before = [broken]
    refusal(model(), tmp_path / "thing")
    hub.before = []
    hub.server.seen.clear()
    fetch(model(), tmp_path / "thing")
    assert [path for path in fetched(hub) if "config.json" in path] == []
    assert (tmp_path / "thing/model.safetensors").read_bytes() == FILES["model.safetensors"]


def test_a_cut_file_is_continued(hub, tmp_path, naps):
    cuts = iter([True])

    def cut(handler: Handler) -> bool:
        if handler.command == "GET" and "safetensors" in handler.path and next(cuts, False):
            handler.say_file(FILES["model.safetensors"], most=100_000, X_Repo_Commit=COMMIT)
            return True
        return False

    hub.before = [cut]
    fetch(model(), tmp_path / "thing")
    assert (tmp_path / "thing/model.safetensors").read_bytes() == FILES["model.safetensors"]


@pytest.mark.parametrize("where", ["/revision/", "/tree/", "/resolve/"])
def test_a_hub_in_trouble_is_asked_again(hub, tmp_path, naps, where):
    times = iter(range(2))

    def trouble(handler: Handler) -> bool:
        wanted = where in handler.path and handler.command == "GET"
        if wanted and next(times, None) is not None:
            handler.say(503, Retry_After="7")
            return True
        return False

    hub.before = [trouble]
    fetch(model(revision="main"), tmp_path / "thing")
    assert max(naps) >= 7


def test_a_hub_in_trouble_for_good_is_given_up(hub, tmp_path, naps):
    hub.before = [lambda handler: handler.say(502) or True]
    assert "502" in refusal(model(revision="main"), tmp_path / "thing")
    assert len(hub.server.seen) == 4


def test_a_busy_hub_is_waited_for(hub, tmp_path, naps):
    times = iter([True])

    def busy(handler: Handler) -> bool:
        if handler.command == "GET" and "safetensors" in handler.path and next(times, False):
            handler.say(429, Retry_After="11")
            return True
        return False

    hub.before = [busy]
    fetch(model(), tmp_path / "thing")
    assert any(nap >= 11 for nap in naps)


def test_wrong_bytes_show_both_sums_and_are_not_kept(hub, tmp_path):
    hub.sent["model.safetensors"] = os.urandom(300_000)
    said = refusal(model(), tmp_path / "thing")
    assert "sha256 of model.safetensors" in said
    assert hub._sums("model.safetensors")["sha256"] in said
    assert len([path for path in fetched(hub) if "safetensors" in path]) == 1
    assert not (tmp_path / "thing/model.safetensors").exists()


@pytest.mark.parametrize(
    ("status", "code", "says"),
    [
        (401, "RepoNotFound", "401, no such repository, or a private one"),
        (
            403,
            "GatedRepo",
            "403, it is gated, and asked for by nobody: HF_TOKEN is not set; accept",
        ),
        (401, "GatedRepo", "401, it is gated"),
        (403, "", "403, forbidden to nobody"),
        (404, "RepoNotFound", "404, no such model"),
        (404, "RevisionNotFound", "404, it has no revision"),
        (503, "", "503, it does not serve files now"),
    ],
)
def test_each_refusal_has_its_line(hub, tmp_path, status, code, says):
    hub.before = [lambda handler: handler.say(status, X_Error_Code=code) or True]
    assert says in refusal(model(), tmp_path / "thing")


def test_a_file_that_is_forbidden_although_the_list_is_open(hub, tmp_path, monkeypatch):
    monkeypatch.setenv("HF_TOKEN", "hf_secret")

    def gated(handler: Handler) -> bool:
        if "/resolve/" in handler.path:
            handler.say(403, X_Error_Code="GatedRepo")
            return True
        return False

    hub.before = [gated]
    said = refusal(model(), tmp_path / "thing")
    assert "gated, and asked for by the account of HF_TOKEN; accept its licence at http" in said
    assert "hf_secret" not in said


def test_a_web_page_in_place_of_an_answer(hub, tmp_path):
    page = b"<html>Please log in</html>"
    hub.before = [lambda handler: handler.say(200, page, Content_Type="text/html") or True]
    assert "answered with a web page" in refusal(model(), tmp_path / "thing")


@pytest.mark.parametrize("proxy", [False, True])
def test_nobody_there(hub, tmp_path, monkeypatch, naps, proxy):
    hub.server.shutdown()
    hub.server.server_close()
    if proxy:
        monkeypatch.setenv("http_proxy", hub.server.url)
        monkeypatch.delenv("NO_PROXY")
        close_session()
    said = refusal(model(revision="main"), tmp_path / "thing")
    assert "cannot be reached or broke off" in said
    assert ("(through the proxy in HTTP_PROXY)" in said) is proxy
    close_session()


def test_offline_is_said_to_be_why(hub, tmp_path, monkeypatch):
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    assert "HF_HUB_OFFLINE is set" in refusal(model(), tmp_path / "thing")


@pytest.mark.parametrize("method", ["HEAD", "GET"])
def test_a_web_page_in_place_of_a_file(hub, tmp_path, method):
    def page(handler: Handler) -> bool:
        if "/resolve/" in handler.path and handler.command in (method, "GET"):
            headers = {"ETag": '"x"', "X_Repo_Commit": COMMIT} if handler.command == "HEAD" else {}
            handler.say(200, b"<html>Log in</html>", Content_Type="text/html", **headers)
            return True
        return False

    hub.before = [page]
    assert "web page" in refusal(model(), tmp_path / "thing")


def test_no_file_fits(hub, tmp_path):
    said = refusal(model(files=["*.parquet"]), tmp_path / "thing")
    assert "no file fits *.parquet; it has README.md, config.json" in said


def test_a_full_disk_is_seen_before_the_first_byte(hub, tmp_path, monkeypatch):
    usage = shutil.disk_usage(tmp_path)._replace(free=1000)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage)
    assert "are to be written and 1.0 KB are free; make room" in refusal(
        model(), tmp_path / "thing"
    )
    assert fetched(hub) == []


def test_a_token_is_sent_and_never_shown(hub, tmp_path, monkeypatch):
    monkeypatch.setenv("HF_TOKEN", "hf_secret\n")
    fetch(model(), tmp_path / "thing")
    assert all(h.get("authorization") == "Bearer hf_secret" for _, _, h in hub.server.seen)
    written = [p for p in tmp_path.rglob("*") if p.is_file()]
    assert not any(b"hf_secret" in path.read_bytes() for path in written)
    monkeypatch.setenv("HF_TOKEN", "hf secret é")
    assert "secret" not in refusal(model(), tmp_path / "another")


def test_the_command_goes_to_the_endpoint_of_the_environment(hub, tmp_path):
    spec = {"hub_id": "org/thing", "revision": "main", "files": ["config.json"]}
    command = ["benchc", "--log", "fetch.log", "fetch", "files"]
    command += ["--spec", json.dumps(spec), "--out", "results/thing"]
    environment = {**os.environ, "HF_TOKEN": "hf_secret"}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stderr.strip() == f"results/thing: 1 files, {COMMIT}"
    assert (tmp_path / "results/thing/config.json").read_bytes() == FILES["config.json"]
    hub.before = [lambda handler: handler.say(403, X_Error_Code="GatedRepo") or True]
    command[-1] = "results/another"
    failed = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert failed.returncode == 1
    assert failed.stderr.startswith("benchc: hub org/thing: 403, it is gated")
    assert failed.stderr.count("\n") == 1
    said = done.stderr + failed.stderr + (tmp_path / "fetch.log").read_text()
    assert "hf_secret" not in said
