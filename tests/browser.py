"""A real Chromium, driven through a pair of pipes by the DevTools protocol: no library, no port.

It shows files of this machine, and what a server on its loopback has, alone. Whatever a page asks for beside itself, and whatever its program or
its own policy complains about, is kept.
"""

from __future__ import annotations

import base64
import json
import os
import select
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

CHROMIUM = shutil.which("chromium")
PATIENCE_S = 120.0
"""Seconds that an answer may take."""
_ARGUMENTS = (
    "--headless=new",
    "--no-sandbox",  # root has none
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-extensions",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--hide-scrollbars",
    "--force-prefers-reduced-motion",  # a busy browser without a screen drops smooth scrolling
    "--force-color-profile=srgb",
    "--font-render-hinting=none",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
    "--remote-debugging-pipe",
    "about:blank",
)


@dataclass
class Page:
    """A tab.

    Attributes:
        requests: addresses that were asked for since the page was opened, itself among them.
        complaints: errors of the page's program, and what its policy forbade.
    """

    _read: int
    _write: int
    _session: str | None = None
    _number: int = 0
    _rest: bytes = b""
    requests: list[str] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """The answer to a command of the protocol."""
        self._number += 1
        message: dict[str, Any] = {"id": self._number, "method": method, "params": parameters}
        if self._session is not None:
            message["sessionId"] = self._session
        os.write(self._write, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._next()
            if answer.get("id") == self._number:
                assert "error" not in answer, answer
                return dict(answer["result"])

    def _next(self) -> dict[str, Any]:
        """The next message; events of the page are kept."""
        end = time.monotonic() + PATIENCE_S
        while b"\0" not in self._rest:
            ready, _, _ = select.select([self._read], [], [], max(0.0, end - time.monotonic()))
            assert ready, "the browser does not answer"
            part = os.read(self._read, 1 << 20)
            assert part, "the browser has ended"
            self._rest += part
        raw, _, self._rest = self._rest.partition(b"\0")
        message: dict[str, Any] = json.loads(raw)
        told = message.get("params", {})
        match message.get("method"):
            case "Network.requestWillBeSent":
                self.requests.append(told["request"]["url"])
            case "Runtime.exceptionThrown":
                self.complaints.append(json.dumps(told["exceptionDetails"]))
            case "Log.entryAdded":
                self.complaints.append(told["entry"]["text"])
            case _:
                pass  # what nobody asks for
        return message

    def attach(self) -> None:
        """Take a new tab."""
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        found = self.call("Target.attachToTarget", targetId=target, flatten=True)
        self._session = found["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def open(self, path: Path) -> None:
        """Show a file, and wait until it is loaded."""
        self.visit(path.resolve().as_uri())

    def visit(self, address: str) -> None:
        """Show what is at an address, and wait until it is loaded."""
        self.requests.clear()
        self.complaints.clear()
        self.call("Page.navigate", url=address)
        while self._next().get("method") != "Page.loadEventFired":
            pass

    def ask(self, expression: str) -> Any:
        """The value of an expression of JavaScript in the page."""
        found = self.call(
            "Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True
        )
        assert "exceptionDetails" not in found, found["exceptionDetails"]
        return found["result"].get("value")

    def text(self, selector: str) -> str:
        """The words of the first element that a selector finds."""
        return str(self.ask(f"document.querySelector({json.dumps(selector)}).textContent"))

    def texts(self, selector: str) -> list[str]:
        """The words of every element that a selector finds."""
        every = f"Array.from(document.querySelectorAll({json.dumps(selector)}))"
        return list(self.ask(f"{every}.map((one) => one.textContent.trim())"))

    def count(self, selector: str) -> int:
        """How many elements a selector finds."""
        return int(self.ask(f"document.querySelectorAll({json.dumps(selector)}).length"))

    def click(self, selector: str) -> None:
        """Click in the middle of the first element that a selector finds, with a mouse.

        What an earlier click has folded or scrolled smoothly moves it for some time on a busy machine.
        """
        found = f"document.querySelector({json.dumps(selector)})"
        place = (
            f"(() => {{ const e = {found};"
            " e.scrollIntoView({block: 'center', inline: 'center', behavior: 'instant'});"
            " const r = e.getBoundingClientRect(); return [r.x + r.width / 2, r.y + r.height / 2]; })()"
        )
        before, now = None, self.ask(place)
        while now != before:
            time.sleep(0.05)
            before, now = now, self.ask(place)
        self.click_at(*now)

    def click_at(self, x: float, y: float) -> None:
        """Click at a place of what is shown."""
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def barriers(self, rules: Path) -> list[str]:
        """Return the serious and critical findings of axe on the page, with their places; ``rules`` is axe's program.

        A policy of the page itself would stop what axe does to it.
        """
        self.ask(f"{rules.read_text('utf-8')}; 0")
        found = self.ask(
            "axe.run(document, {resultTypes: ['violations']}).then((all) => all.violations"
            ".filter((one) => ['serious', 'critical'].includes(one.impact))"
            ".map((one) => `${one.id}: ${one.help}: `"
            " + one.nodes.slice(0, 3).map((node) => node.target.join(' ')).join(', ')))"
        )
        return list(found)

    def press(self, key: str, code: int) -> None:
        """Press a key."""
        text = {"Enter": "\r", " ": " "}.get(key, "")
        for kind in ("keyDown", "keyUp"):
            more = {"text": text} if text and kind == "keyDown" else {}
            self.call(
                "Input.dispatchKeyEvent", type=kind, key=key, windowsVirtualKeyCode=code, **more
            )

    def write(self, text: str) -> None:
        """Write into what has the focus."""
        self.call("Input.insertText", text=text)

    def choose(self, selector: str, value: str) -> None:
        """Take a choice of a list."""
        self.ask(
            f"(() => {{ const one = document.querySelector({json.dumps(selector)});"
            f" one.value = {json.dumps(value)};"
            " one.dispatchEvent(new Event('change', {bubbles: true})); })()"
        )

    def set_view(
        self, width: int, height: int = 900, *, dark: bool = False, scale: int = 1
    ) -> None:
        """A window of so many pixels, for people who like it light or dark."""
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width, height=height, deviceScaleFactor=scale, mobile=False,
        )  # fmt: skip
        features = [
            {"name": "prefers-color-scheme", "value": "dark" if dark else "light"},
            {"name": "prefers-reduced-motion", "value": "reduce"},
        ]
        self.call("Emulation.setEmulatedMedia", features=features)

    def picture(self, path: Path, selector: str | None = None, *, whole: bool = False) -> None:
        """A PNG of what is shown, of the whole page, or of the first element that a selector finds."""
        more: dict[str, Any] = {"captureBeyondViewport": whole or selector is not None}
        if selector is not None:
            more["clip"] = {"scale": 1} | self.ask(
                f"(() => {{ const r = document.querySelector({json.dumps(selector)}).getBoundingClientRect();"
                " return {x: r.x + scrollX, y: r.y + scrollY, width: r.width, height: r.height}; })()"
            )
        elif whole:
            size = self.call("Page.getLayoutMetrics")["cssContentSize"]
            more["clip"] = {**size, "scale": 1}
        raw = self.call("Page.captureScreenshot", format="png", **more)["data"]
        path.write_bytes(base64.b64decode(raw))

    def paper(self, path: Path) -> None:
        """The page as it is printed, as PDF."""
        raw = self.call("Page.printToPDF", printBackground=True, preferCSSPageSize=True)["data"]
        path.write_bytes(base64.b64decode(raw))


@contextmanager
def browser(folder: Path) -> Iterator[Page]:
    """A tab of a Chromium of its own, whose profile lies in ``folder``."""
    assert CHROMIUM is not None
    to_browser, from_browser = os.pipe(), os.pipe()
    ends = to_browser[0], from_browser[1]
    command = [
        "bash", "-c", f'exec "$@" 3<&{ends[0]} 4>&{ends[1]}', "bash", CHROMIUM,
        f"--user-data-dir={folder / 'profile'}", *_ARGUMENTS,
    ]  # fmt: skip
    with (folder / "browser.log").open("wb") as log:
        process = subprocess.Popen(
            command, pass_fds=ends, stdin=subprocess.DEVNULL, stdout=log, stderr=log
        )
    for end in ends:
        os.close(end)
    page = Page(from_browser[0], to_browser[1])
    try:
        page.attach()
        yield page
    finally:
        process.terminate()
        process.wait(300)
        os.close(from_browser[0])
        os.close(to_browser[1])
