"""Plain ``pulumi`` as a user runs it, with the state and the AWS of a lab."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

from rackwright.provision.targets import open_target
from rackwright.provision.tools.environment import pulumi_environment
from rackwright.provision.tools.find import find_pulumi

Pulumi = Callable[..., subprocess.CompletedProcess[str]]
"""Runs the CLI in a folder; it has to end with ``expect``, or any way with None."""


def pulumi_of(lab: Any, *programs: Path) -> Pulumi:
    """Return what runs the CLI; the folders of ``programs`` come first on its PATH."""
    target = open_target("local", state=lab.folder / "state")
    tool = find_pulumi()
    assert tool is not None
    assert target.backend is not None
    environment = {
        **os.environ,
        **pulumi_environment(tool),
        **target.environment,
        "PULUMI_BACKEND_URL": target.backend,
        "PULUMI_SKIP_UPDATE_CHECK": "true",
    }
    folders = [str(program.parent) for program in programs]
    environment["PATH"] = os.pathsep.join([*folders, environment["PATH"]])

    def run(
        folder: Path, *arguments: str, expect: int | None = 0
    ) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            ["pulumi", "--non-interactive", *arguments],
            executable=tool.path,
            cwd=folder,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        report = f"{arguments} ended with {done.returncode}\n{done.stdout}\n{done.stderr}"
        assert expect is None or done.returncode == expect, report
        return done

    return run
