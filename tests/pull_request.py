"""A pull request about a site that draws more power than its utility has contracted."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml

from ci_team import git
from factories import a_blueprint, a_site
from rackwright.cli import main

FILE = "site/blueprint.yaml"


class Pull:
    """A pull request about a site that draws more power than its utility has contracted."""

    def __init__(self, top: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.top = top
        self._capsys = capsys

    def write(
        self, site: dict[str, Any], file: str = FILE, *, more: Sequence[Any] = (), **fields: Any
    ) -> None:
        path = self.top / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(yaml.safe_dump(a_blueprint(site, *more, **fields), allow_unicode=True))

    def commit(self) -> None:
        git(self.top, "add", "--all")
        git(self.top, "commit", "--quiet", "--allow-empty", "--message=more")

    def open(self, site: dict[str, Any], **more: Any) -> None:
        """Make ``site`` the base."""
        self.write(site, **more)
        self.commit()
        git(self.top, "switch", "--quiet", "--create=change")

    def merge(self) -> None:
        self.commit()
        git(self.top, "branch", "--force", "main")

    def judge(self, *options: str, rule: str = "PWR-006", file: str = FILE) -> int:
        """The exit code, with a base."""
        return self.report(*options, rule=rule, file=file)[0]

    def report(
        self, *options: str, rule: str = "PWR-006", file: str = FILE
    ) -> tuple[int, dict[str, str]]:
        """The exit code with a base, and what is lowered or new."""
        self._capsys.readouterr()
        only = [f"--only={rule}"] if rule else []
        code = main(["check", "--json", "--base-ref=main", *only, *options, "--", file])
        said = self._capsys.readouterr()
        found = json.loads(said.out or "{}").get("hygiene") or {"notices": []}
        return code, {n["id"]: n["message"] for n in found["notices"]}

    def alone(self, rule: str = "PWR-006", file: str = FILE) -> int:
        """The exit code without a base."""
        code = main(["check", f"--only={rule}", "--", file])
        self._capsys.readouterr()
        return code


def overdrawn(**more: Any) -> dict[str, Any]:
    """Four nodes of 10.2 kW, which are 55.08 kW at a PUE of 1.35, and a contract of 45 kW."""
    power = {"contract": "45 kW", **more.pop("power", {})}
    return a_site(power=power, **more)
