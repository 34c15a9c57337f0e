"""The software template of Backstage: its form, its skeleton, and a form that somebody has filled in."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from suites import ROOT

FOLDER = ROOT / "templates/backstage"
FILLED_IN: dict[str, Any] = {
    "name": "atlas",
    "owner": "team@example.com",
    "nodes": 64,
    "altitude": 30,
    "contract": 1100,
    "utility": 1200,
    "pue": 1.3,
    "ups_modules": 6,
    "ups_module": 100,
    "panel_current": 800,
    "handlers": 9,
    "floor_load": 1500,
    "floor_point": 700,
}
"""Values that an engineer enters in the form."""


def form() -> dict[str, Any]:
    """The template as Backstage reads it."""
    read: dict[str, Any] = yaml.safe_load((FOLDER / "template.yaml").read_text(encoding="utf-8"))
    return read


def fields() -> dict[str, dict[str, Any]]:
    """The fields of all pages of the form but the place of the repository."""
    pages = form()["spec"]["parameters"]
    found = {name: field for page in pages for name, field in page["properties"].items()}
    del found["repoUrl"]
    return found


def skeleton() -> dict[str, str]:
    """The files of the skeleton, by name."""
    files = [path for path in sorted((FOLDER / "skeleton").rglob("*")) if path.is_file()]
    return {
        path.relative_to(FOLDER / "skeleton").as_posix(): path.read_text(encoding="utf-8")
        for path in files
    }


def write(folder: Path, files: dict[str, str]) -> None:
    """Write the files of a repository."""
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
