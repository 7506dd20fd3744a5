"""A page opened in headless Chromium: what it drew, said on its console and asked the network for.

Needs no driver: a script added to a copy of the page acts on it and leaves its findings there.
"""

import html
import json
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
CHROMIUM = next((found for name in _NAMES if (found := shutil.which(name))), None)

_ACT = """
<script>
(async () => {
  const wait = (done) => new Promise((go) => {
    const look = () => done() ? go() : setTimeout(look, 20);
    look();
  });
  const find = (query) => document.querySelector(query);
  let said;
  try {
    await wait(() => document.body.dataset.charts === "drawn");
    said = await (async () => { SCRIPT })();
  } catch (error) {
    said = { failed: String(error) };
  }
  document.body.append(Object.assign(document.createElement("pre"),
    { id: "outcome", textContent: JSON.stringify(said ?? null) }));
})();
</script>
</body>
"""


@dataclass(frozen=True)
class Visit:
    """What came of a visit: the script's value, lines of the console, addresses asked for."""

    outcome: Any
    console: list[str]
    asked: list[str]


def visit(page: Path, script: str, *, width: int = 1200, fragment: str = "") -> Visit:
    """Open a page, run the body of an async function on it once all charts are drawn.

    Args:
        page: an HTML file; a copy of it is opened from the same folder.
        script: JavaScript; `find(query)` and `await wait(condition)` are at hand; what it returns
            is the outcome.
        width: of the window, pixels.
        fragment: what follows the # of the address.
    """
    copy = page.with_name(f"visited-{page.name}")
    before, after = page.read_text("utf-8").rsplit("</body>", 1)
    copy.write_text(before + _ACT.replace("SCRIPT", script) + after, "utf-8")
    log = page.with_name("net.json")
    done = subprocess.run(
        [
            str(CHROMIUM), "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic",
            "--no-first-run", "--disable-background-networking", "--disable-component-update",
            "--disable-sync", "--disable-extensions", "--enable-logging=stderr",
            f"--user-data-dir={page.parent / 'profile'}", f"--window-size={width},900",
            f"--log-net-log={log}", "--virtual-time-budget=60000", "--dump-dom",
            copy.as_uri() + (f"#{fragment}" if fragment else ""),
        ],
        capture_output=True, text=True, timeout=240, check=False,
    )  # fmt: skip
    found = re.search(r'<pre id="outcome">(.*?)</pre>', done.stdout, flags=re.DOTALL)
    assert found, f"the page did not answer: {done.stderr[-2000:]}"
    return Visit(
        json.loads(html.unescape(found[1])),
        [line for line in done.stderr.splitlines() if ":CONSOLE" in line],
        _asked(log),
    )


def _asked(log: Path) -> list[str]:
    """Return the addresses that the page asked for; the browser's own errands have no origin."""
    found = set()
    for line in log.read_text("utf-8").splitlines():
        url = re.search(r'"url":"((?:https?|wss?)://[^"]*)"', line)
        origin = re.search(r'"initiator":"([^"]*)"', line)
        if url and origin and origin[1] != "not an origin":
            found.add(url[1])
    return sorted(found)
