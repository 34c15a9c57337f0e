"""List of the versions of the documentation that lie beside each other: ``versions.py FOLDER NEWEST``."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

_REDIRECT = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>Rackwright</title>
<meta http-equiv="refresh" content="0; url={newest}/">
<a href="{newest}/">Rackwright {newest}</a>
</html>
"""


def write_versions(folder: Path, newest: str) -> None:
    """Write ``versions.json``, which the theme's selector reads, and a page that leads to the newest version."""
    found = [path.parent.name for path in folder.glob("*/index.html")]
    found.sort(key=lambda name: [int(part) for part in re.findall(r"\d+", name)], reverse=True)
    entries = [
        {"version": name, "title": name, "aliases": ["latest"] if name == newest else []}
        for name in found
    ]
    (folder / "versions.json").write_text(json.dumps(entries), encoding="utf-8")
    (folder / "index.html").write_text(_REDIRECT.format(newest=newest), encoding="utf-8")


if __name__ == "__main__":
    write_versions(Path(sys.argv[1]), sys.argv[2])
