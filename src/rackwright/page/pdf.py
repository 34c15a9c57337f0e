"""Page as PDF, printed by a browser of this machine without network access and without the profile of the user."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Final

from rackwright.errors import ExternalToolError

BROWSERS: Final = (
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "chrome",
)
"""Names of browsers that can print, in the order of the search."""
TIMEOUT_S: Final = 300


def find_browser() -> str:
    """Return the path of a browser that can print.

    Raises:
        ExternalToolError: there is no such browser on PATH.
    """
    for name in BROWSERS:
        if path := shutil.which(name):
            return path
    raise ExternalToolError(
        "a PDF is printed by Chromium or Chrome, and neither is on PATH",
        hint="install the package 'chromium', or write 'html=FILE' and print it from a browser",
    )


def print_page(page: str) -> bytes:
    """Return a page as PDF.

    Raises:
        ExternalToolError: there is no browser, or it printed nothing; with its last output.
    """
    browser = find_browser()
    with tempfile.TemporaryDirectory(prefix="rackwright-pdf-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        source, target = folder / "page.html", folder / "page.pdf"
        source.write_text(page, encoding="utf-8")
        command = [
            browser,
            "--headless",
            *(["--no-sandbox"] if os.geteuid() == 0 else []),  # Chromium has none for root
            "--disable-gpu",
            "--disable-dev-shm-usage",
            "--disable-extensions",
            "--no-first-run",
            "--host-resolver-rules=MAP * ~NOTFOUND",
            f"--user-data-dir={folder / 'profile'}",
            "--no-pdf-header-footer",
            f"--print-to-pdf={target}",
            source.as_uri(),
        ]
        try:
            done = subprocess.run(
                command,
                # Crash reports and fonts are cached below the home folder, which may be read-only.
                env={**os.environ, "HOME": name, "XDG_CONFIG_HOME": name, "XDG_CACHE_HOME": name},
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                errors="replace",
                check=False,
                timeout=TIMEOUT_S,
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            words = error.strerror if isinstance(error, OSError) else f"no end after {TIMEOUT_S} s"
            raise ExternalToolError(f"'{browser}' printed no PDF: {words}") from None
        made = target.read_bytes() if target.is_file() else b""
    if done.returncode != 0 or not made.startswith(b"%PDF-"):
        lines = done.stderr.strip().splitlines()
        words = lines[-1] if lines else f"it ended with {done.returncode}"
        raise ExternalToolError(
            f"'{browser}' printed no PDF: {words}",
            hint="write 'html=FILE' and print it from a browser",
        )
    return made
