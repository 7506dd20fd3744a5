"""What leaves the process as text holds no secret, and nothing that a terminal obeys."""

import ast
import base64
import io
import json
import os
import subprocess
import sys
import unicodedata
from pathlib import Path
from urllib.parse import quote

import duckdb
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from benchc.config.models import OpenAIModel
from benchc.diagnose.answers import print_query
from benchc.errors import BadInput, outward
from benchc.sql import insert
from benchc.tables import REJECTED, write_json, write_text

PACKAGE = Path(__file__).parents[2] / "src/benchc"
VARIABLE, SECRET = "MY_SERVERS_KEY", "sk-Ab+/=&<9 never\tshown"

#: From a character to whether a terminal obeys it or hides it.
OBEYED = [
    chr(code)
    for code in range(sys.maxunicode + 1)
    if unicodedata.category(chr(code)) in ("Cc", "Cf", "Zl", "Zp") and chr(code) not in "\n\t"
]

SPELLINGS = {
    "plain": str,
    "other case": str.upper,
    "stripped": str.strip,
    "one line": lambda key: " ".join(key.split()),
    "in an address": lambda key: quote(key, safe=""),
    "in JSON": lambda key: json.dumps(key)[1:-1],
    "base64": lambda key: base64.b64encode(key.encode()).decode(),
    "hexadecimal": lambda key: key.encode().hex(),
    "as Python": lambda key: repr(key)[1:-1],
}


def line(text, folder):
    return str(BadInput(text))


def line_cut(text, folder):
    return outward.excerpt("x" * 40 + text, 50)


def streams(text, folder):
    screen, log = io.StringIO(), io.StringIO()
    outward.Stream(outward.Stream(screen, bars=True), log, bars=True).write(text)
    return screen.getvalue() + log.getvalue()


def text_file(text, folder):
    write_text(folder / "page.html", text)
    return (folder / "page.html").read_text(encoding="utf-8", errors="surrogatepass")


def json_file(text, folder):
    write_json(folder / "run.json", {"said": [text], text: {"deep": ({"a": text},)}})
    return str(json.loads((folder / "run.json").read_text()))


def table(text, folder):
    row = {
        "benchmark": "b", "source_ref": "1", "reason": "r", "detail": text, "category": text,
    }  # fmt: skip
    frame = REJECTED.from_rows([{k: v for k, v in row.items() if k in REJECTED.schema}])
    frame = frame.with_columns(pl.col(pl.String).fill_null("x"))
    REJECTED.write(frame, folder / "table.parquet", {"benchc.ran_on": json.dumps({"said": text})})
    metadata = pl.read_parquet_metadata(folder / "table.parquet")["benchc.ran_on"]
    return str(REJECTED.read(folder / "table.parquet").rows()) + metadata


def database(text, folder):
    with duckdb.connect() as connection:
        connection.execute("CREATE TABLE run (value VARCHAR, listed VARCHAR[])")
        insert(connection, "run", pl.DataFrame({"value": [text], "listed": [[text, None]]}))
        return str(connection.sql("FROM run").fetchall())


WRITTEN = (text_file, json_file, table, database)
SHOWN = (line, line_cut, streams)


@pytest.fixture(autouse=True)
def held_back(monkeypatch):
    OpenAIModel(backend="openai", url="http://h/v1", model="m", key_variable=VARIABLE)
    monkeypatch.setenv(VARIABLE, SECRET)


@pytest.mark.parametrize("spelling", SPELLINGS)
@pytest.mark.parametrize("place", [*SHOWN, *WRITTEN], ids=lambda place: place.__name__)
def test_a_secret_leaves_nowhere(place, spelling, tmp_path):
    spelt = SPELLINGS[spelling](SECRET)
    out = place(f"the key is {spelt}, said the server", tmp_path)
    for part in (spelt, spelt[:12], "never"):
        assert part.lower() not in out.lower().replace(r"\\", "\\")
    if place is not line_cut:
        assert outward.MASK in out


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=40)
@given(
    before=st.text(max_size=20),
    after=st.text(max_size=20),
    key=st.text(st.characters(codec="ascii"), min_size=12, max_size=60).map(str.strip).filter(
        lambda key: len(key) > 8 and "\0" not in key
    ),
    place=st.sampled_from((*SHOWN, *WRITTEN)),
)  # fmt: skip
def test_whatever_the_secret_is_and_wherever_it_stands(
    before, after, key, place, monkeypatch, tmp_path
):
    monkeypatch.setenv(VARIABLE, key)
    text = before + key + after
    if key in (before + after) or any(0xD800 <= ord(c) < 0xE000 for c in text):
        return
    assert key not in place(text, tmp_path)


@pytest.mark.parametrize("place", [*SHOWN, *WRITTEN], ids=lambda place: place.__name__)
def test_what_is_no_secret_stays(place, tmp_path, monkeypatch):
    monkeypatch.setenv(VARIABLE, "EMPTY")
    monkeypatch.setenv("HF_TOKEN", "")
    assert "EMPTY" in place("EMPTY is read", tmp_path)


def test_a_key_of_digits_changes_no_number(tmp_path, monkeypatch):
    monkeypatch.setenv(VARIABLE, "123456")
    write_json(tmp_path / "run.json", {"count": 1234567, "said": "it is 123456"})
    assert json.loads((tmp_path / "run.json").read_text()) == {
        "count": 1234567, "said": f"it is {outward.MASK}"
    }  # fmt: skip


def test_the_password_of_a_proxy_is_a_secret(monkeypatch):
    monkeypatch.setenv("https_proxy", "http://me:pass-word@proxy:3128")
    assert outward.without_secrets("with pass-word") == f"with {outward.MASK}"


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("get https://h.org/a.zip?sig=abc&k=1 now", "get https://h.org/a.zip?*** now"),
        ("http://me:pw@h.org/v1: 404", "http://***@h.org/v1: 404"),
        ("s3://key:secret@bucket/a", "s3://***@bucket/a"),
        ("https://h.org/#access_token=abc", "https://h.org/#***"),
        ("http://localhost:8000/v1 (model m)", "http://localhost:8000/v1 (model m)"),
    ],
)
def test_keys_in_addresses_are_not_said(said, shown):
    assert str(BadInput(said)) == shown


def test_what_is_named_like_a_key_and_is_none_may_be_sent():
    extra = {"stop_token_ids": [1], "max_completion_tokens": 1, "keys": 2, "bos_token": "<s>"}
    model = {"backend": "openai", "url": "http://h/v1", "model": "m", "extra_body": extra}
    assert OpenAIModel.model_validate(model).extra_body == extra


def test_there_is_something_to_escape():
    assert {"\x1b", "\x9b", "\u202e", "\u200b", "\u2066", "\ufeff", "\x00", "\r"} <= set(OBEYED)


@pytest.mark.parametrize("place", [line, streams], ids=lambda place: place.__name__)
def test_no_terminal_obeys_what_is_quoted(place, tmp_path):
    for character in OBEYED:
        out = place(f"a{character}b", tmp_path)
        assert character not in out
        assert character.isspace() or ascii(character)[1:-1] in out


@given(st.text(st.characters(categories=["Cc", "Cf", "Ll", "Lo", "Zl", "Zp", "Cs"])))
def test_a_line_is_one_line_of_visible_characters(text):
    shown = outward.one_line(text)
    assert not set(shown) & {*OBEYED, "\n", "\t"}
    assert shown.encode("utf-8").decode() == shown


@given(st.text())
def test_what_everybody_may_read_is_not_changed(text):
    plain = "".join(c for c in text if c.isprintable() and c not in outward._INVISIBLE)
    assert outward.visible(plain) == plain


def test_bars_may_move_and_nobody_else():
    screen = io.StringIO()
    stream = outward.Stream(screen, bars=True)
    for written in ("\r 50% |##|", "\n", "\x1b[A", "\r      \r"):
        stream.write(written)
    assert screen.getvalue() == "\r 50% |##|\n\x1b[A\r      \r"
    stream.write("ok\rFAKE \x1b[A")
    assert screen.getvalue().endswith(r"ok\rFAKE \x1b[A")


@pytest.fixture
def hostile(tmp_path):
    path = tmp_path / "hostile.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute(
            "CREATE TABLE t AS SELECT chr(27) || '[31m' AS a, [chr(8238)] AS l, "
            f"{{'k': chr(155)}} AS s, 'x' AS \"b{chr(0x200B)}\""
        )
    return path


@pytest.mark.parametrize("format", ["table", "markdown", "latex"])
def test_a_table_shows_what_it_holds_escaped(hostile, capsys, format):
    print_query(hostile, "FROM t", format)
    shown = capsys.readouterr().out
    assert not set(shown) & set(OBEYED)
    shown = shown.replace("\\textbackslash{}", "\\")
    assert all(escape in shown for escape in (r"\x1b[31m", r"\u202e", r"\x9b", r"\u200b"))


def on_a_terminal(*command, **environment):
    """Run a command with a terminal for output; return all that it showed."""
    pty = pytest.importorskip("pty")
    main, end = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "benchc", *command],
        stdout=end, stderr=end, stdin=subprocess.DEVNULL, env={**os.environ, **environment},
    )  # fmt: skip
    os.close(end)
    shown = b""
    while True:
        try:
            piece = os.read(main, 65536)
        except OSError:
            break
        shown += piece
        if not piece:
            break
    process.wait()
    os.close(main)
    return shown.decode()


@pytest.mark.parametrize("format", ["table", "markdown", "latex", "csv", "json"])
def test_no_format_of_sql_reaches_a_terminal_raw(hostile, format):
    shown = on_a_terminal("sql", "FROM t", "--database", str(hostile), "--format", format)
    assert not set(shown) & (set(OBEYED) - {"\r"})
    assert "[31m" in shown


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "cp1252"])
@pytest.mark.parametrize("format", ["table", "markdown", "csv", "json"])
def test_an_output_that_cannot_write_a_letter_ends_no_command(tmp_path, encoding, format):
    path = tmp_path / "t.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE t AS SELECT 'é → 中' AS a")
    environment = os.environ | {"PYTHONIOENCODING": encoding, "PYTHONUTF8": "0"}
    for statement, code in (("FROM t", 0), ('FROM "中"', 1)):
        command = [sys.executable, "-m", "benchc", "sql", statement, "--format", format]
        done = subprocess.run([*command, "--database", path], capture_output=True, env=environment)
        assert done.returncode == code, done.stderr
        assert b"Traceback" not in done.stderr
        if format == "json" and code == 0:
            assert json.loads(done.stdout.decode(encoding)) == [{"a": "é → 中"}]
    assert b"\\u4e2d" in done.stderr


@pytest.mark.parametrize("format", ["csv", "json"])
def test_another_program_gets_data_as_they_are(hostile, format):
    command = [sys.executable, "-m", "benchc", "sql", "FROM t", "--format", format]
    done = subprocess.run([*command, "--database", hostile], capture_output=True, check=True)
    if format == "json":
        row = json.loads(done.stdout)[0]
        assert (row["a"], row["l"], row["s"]) == ("\x1b[31m", ["\u202e"], {"k": "\x9b"})
    else:
        assert "\x1b[31m" in done.stdout.decode()


@pytest.mark.parametrize(
    "command",
    [
        ("sql", 'FROM "\x1b]0;t\x07\u202e"', "--database", "{hostile}"),
        ("sql", "FROM t", "--database", "\x1b[2J\u202e"),
        ("hash", "\x1b[2J\u202e"),
        ("check", "\x1b[2J\u202e", "--project", str(PACKAGE.parents[1])),
        ("fetch", "files", "--spec", "{url: '\x1b[2J\u202e'}", "--out", "{folder}/x"),
        ("pool", "check", "\x1b[2J\u202e"),
        ("no\x1b[2J\u202e",),
    ],
    ids=lambda command: " ".join(command[:2]).encode("unicode_escape").decode(),
)
def test_no_error_reaches_a_terminal_raw(hostile, tmp_path, command):
    command = [part.replace("{hostile}", str(hostile)) for part in command]
    shown = on_a_terminal(*(part.replace("{folder}", str(tmp_path)) for part in command))
    assert not set(shown) & (set(OBEYED) - {"\r"}), ascii(shown)


#: Who may write text besides the writers of `benchc.tables`, and why.
WRITERS = {
    "infer/journal.py": "appends what passed `json_text`",
    "tables/files.py": "the writer",
    "tables/contract.py": "the writer",
    "tables/seal.py": "adds the checksum of a table that the writer wrote",
    "cli.py": "opens the log, which a `Stream` writes to",
    "diagnose/answers.py": "rows of a database in which no secret is",
    "diagnose/export.py": "rows of a database in which no secret is",
    "discover/work.py": "the settings of a game, and the count of its requests",
    "discover/train.py": "appends what passed `json_text`",
    "reference/store.py": "what was learnt of drawn scenes",
    "reference/clip.py": "what was learnt of drawn scenes",
    "fetch/address.py": "the bytes that were fetched",
    "running/gpus.py": "an empty file to lock",
    "running/locks.py": "an empty file to lock",
    "models/server.py": "counts requests, a byte each",
}


def _writes(node):
    """Say whether a call opens a file to write text to it, or writes one."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return False
    values = [*node.args, *(keyword.value for keyword in node.keywords)]
    texts = {value.value for value in values if isinstance(value, ast.Constant)}
    opens = node.func.attr == "open" and texts & {"w", "x", "a", "w+", "r+", "ab", "wb", "r+b"}
    dumps = node.func.attr == "dump" and ast.unparse(node.func.value) == "json"
    return opens or dumps or node.func.attr in {"write_text", "write_parquet", "write_ndjson"}


def test_nobody_writes_text_past_the_writers():
    found = {
        file.relative_to(PACKAGE).as_posix()
        for file in PACKAGE.rglob("*.py")
        if any(map(_writes, ast.walk(ast.parse(file.read_text(encoding="utf-8")))))
    }
    assert found >= {"tables/files.py", "tables/contract.py", "cli.py"}
    assert found <= WRITERS.keys(), found - WRITERS.keys()
