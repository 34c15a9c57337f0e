"""The documentation site in a real browser: search, two widths, light and dark, and what axe finds."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import subprocess
import sys
import threading
import urllib.request
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from browser import CHROMIUM, Page, browser
from npm_tools import NODE, NPM, installed
from suites import ROOT

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.timeout(1800),
    pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed"),
    pytest.mark.skipif(
        importlib.util.find_spec("mkdocs") is None, reason="mkdocs is not installed"
    ),
]
PAGES = (
    "", "cost/", "concepts/", "tutorial-hall/", "commands/", "templates/", "drawings/", "reference/blueprint/",
    "reference/blueprint/onprem/", "reference/policies/", "reference/policies/PWR-006/", "reference/commands/",
)  # fmt: skip
"""Pages of each kind."""
OTHERS = pytest.mark.soak(reason="each width and each scheme is in one of the other cases")


class Quiet(SimpleHTTPRequestHandler):
    """Serves files, and logs nothing."""

    def log_message(self, format: str, *arguments: Any) -> None:  # noqa: A002 - its name
        """Log nothing."""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of the site."""
    top = tmp_path_factory.mktemp("site")
    command = [
        "-m",
        "mkdocs",
        "build",
        "--strict",
        "--config-file",
        str(ROOT / ".ci/site/mkdocs.yml"),
    ]
    built = subprocess.run(
        [sys.executable, *command, "--site-dir", str(top / "0.1.0")],
        cwd=ROOT,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert built.returncode == 0, built.stderr[-3000:]
    subprocess.run(
        [sys.executable, ROOT / ".ci/site/versions.py", top, "0.1.0"], cwd=ROOT, check=True
    )
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(top)))
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture(scope="module")
def tab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    with browser(tmp_path_factory.mktemp("browser")) as page:
        yield page


def until(condition: str) -> str:
    """An expression of JavaScript that waits for another one to have a value."""
    return (
        "new Promise((resolve) => { const look = () => { const found = (() => "
        f"{condition})(); found ? resolve(found) : setTimeout(look, 50); }}; look(); }})"
    )


@pytest.mark.parametrize(
    ("width", "dark"),
    [
        (1280, False),
        (400, True),
        pytest.param(1280, True, marks=OTHERS),
        pytest.param(400, False, marks=OTHERS),
    ],
)
@pytest.mark.skipif(NPM is None or NODE is None, reason="npm is not installed")
def test_axe_finds_nothing_serious_and_nothing_sticks_out(
    tab: Page, site: str, tmp_path: Path, width: int, dark: bool
) -> None:
    rules = installed("axe") / "node_modules/axe-core/axe.min.js"
    folder = Path(os.environ.get("RACKWRIGHT_PICTURES", tmp_path))
    tab.set_view(width, dark=dark)
    found = {}
    for path in PAGES:
        tab.visit(f"{site}/0.1.0/{path}")
        size = tab.call("Page.getLayoutMetrics")["cssContentSize"]
        assert size["width"] == width, path
        assert all(one.startswith((site, "data:")) for one in tab.requests), path
        tab.ask(until("document.querySelectorAll('.md-typeset table').length === "
                      "document.querySelectorAll('.md-typeset__scrollwrap').length"))  # fmt: skip
        if barriers := tab.barriers(rules):
            found[path] = barriers
        if path in {"", "cost/", "reference/blueprint/"}:
            name = path.strip("/").replace("/", "-") or "home"
            tab.picture(folder / f"site-{name}-{width}-{'dark' if dark else 'light'}.png")
    assert found == {}, json.dumps(found)


@pytest.mark.parametrize(
    ("words", "place"),
    [
        ("add a PDU", "recipes/#add-a-pdu"),
        ("quickstart", "#quickstart"),
        ("pricing", "cost/"),
        ("budget", "cost/"),
        ("waiver", "waiver"),
        ("lost UPS", ""),
    ],
)
def test_search_finds_the_page(tab: Page, site: str, words: str, place: str) -> None:
    """'How do I add a PDU' led to a rule about AWS, and 'pricing' and 'quickstart' to nothing."""
    tab.set_view(1280)
    tab.visit(f"{site}/0.1.0/")
    tab.ask(
        until("typeof document$ !== 'undefined' && document.querySelector('.md-search__input')")
    )
    tab.ask("document.querySelector('.md-search__input').focus()")
    tab.write(words)
    links = tab.ask(
        until(
            "(() => { const all = Array.from(document.querySelectorAll('.md-search-result__link'), (a) => a.href);"
            " const meta = document.querySelector('.md-search-result__meta').textContent;"
            " return all.length && !/Initializing|Type to start/.test(meta) ? all : null; })()"
        )
    )
    shown = [re.sub(r"\?h=[^#]*", "", link.partition("/0.1.0/")[2]) for link in links]
    assert any(place in link for link in shown[:5]), json.dumps(shown[:8])


def test_top_leads_to_the_newest_version_and_lists_all(site: str) -> None:
    with urllib.request.urlopen(f"{site}/index.html", timeout=60) as answer:
        assert b"url=0.1.0/" in answer.read()
    with urllib.request.urlopen(f"{site}/versions.json", timeout=60) as answer:
        listed = json.load(answer)
    assert listed == [{"version": "0.1.0", "title": "0.1.0", "aliases": ["latest"]}]
