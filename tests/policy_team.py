"""A team's repository with a pack of its own, whose changes are judged against a base."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from ci_team import git
from factories import a_blueprint
from rackwright.cli import main
from rackwright.policy.authoring.scaffold import new_policy

FILE = Path("site/blueprint.yaml")


class Team:
    """A repository whose branch ``change`` is judged against ``main``."""

    def __init__(self, top: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.top = top
        self._capsys = capsys

    def write(self, path: str | Path = FILE, **changes: Any) -> None:
        """Write a blueprint that violates ACME-001, or anything else."""
        whole = self.top / path
        whole.parent.mkdir(parents=True, exist_ok=True)
        whole.write_text(yaml.safe_dump(changes.pop("text", None) or a_blueprint(**changes)))

    def edit(self, change: Callable[[str], str]) -> None:
        """Change the text of the pack's only rule."""
        (rule,) = (self.top / "policies" / "own").glob("*.py")
        before = rule.read_text()
        rule.write_text(change(before))
        assert rule.read_text() != before

    def commit(self) -> None:
        git(self.top, "add", "--all")
        git(self.top, "commit", "--quiet", "--allow-empty", "--message=more")

    def branch(self) -> None:
        self.commit()
        git(self.top, "switch", "--quiet", "--create=change")

    def check(self, *options: str, base: str | None = "main") -> tuple[int, dict[str, Any]]:
        """The exit code of ``check``, and its report."""
        given = [f"--base-ref={base}"] if base else []
        only = "" if "--all" in options else "--only=ACME-001"
        words = [word for word in (*options, only) if word not in {"", "--all"}]
        self._capsys.readouterr()
        code = main(["check", "--json", *given, *words, "--", str(FILE)])
        return code, json.loads(self._capsys.readouterr().out or "{}")

    def notices(self, report: dict[str, Any]) -> dict[str, str]:
        found = report["hygiene"]["notices"] if report["hygiene"] else []
        return {n["id"]: n["message"] for n in found if n["kind"] == "lowered"}


def a_team(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Team:
    """Its own pack holds a mandatory rule that the blueprint violates."""
    top = tmp_path / "team"
    new_policy(top / "policies", "own/ACME-001", "Sites lie low")
    (rule,) = (top / "policies" / "own").glob("*.py")
    rule.write_text(rule.read_text().replace("= 900.0", "= 1.0"))
    (top / "rackwright.yaml").write_text("packs: [{path: policies}]\n")
    git(tmp_path, "init", "--quiet", "--initial-branch=main", str(top))
    made = Team(top, capsys)
    made.write()
    return made
