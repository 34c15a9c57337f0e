"""The vendor's installer of the Pulumi CLI."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from rackwright.provision.tools import process

_ANSWER_WITHIN_S = 10
_FINISH_WITHIN_S = 240
_PROGRAM = f"""
import logging, socket, sys
socket.setdefaulttimeout({_ANSWER_WITHIN_S})
from pulumi.automation import PulumiCommand
from semver import VersionInfo
try:
    PulumiCommand.install(root=sys.argv[1], version=VersionInfo.parse(sys.argv[2]))
except Exception as error:
    said = getattr(error, "output", None)
    text = said.decode(errors="replace") if isinstance(said, bytes) else ""
    lines = [line for line in (text or str(error)).splitlines() if line.strip()]
    sys.exit(lines[-1] if lines else type(error).__name__)
"""


def install(
    version: str, workspace: Path, *, within_s: float = _FINISH_WITHIN_S
) -> tuple[Path | None, str]:
    """The folder with the vendor's programs, or None and the reason why there is none.

    Works in a process of its own, so that it can neither hang nor leave anything behind outside
    ``workspace``.
    """
    root = workspace / "vendor"
    scratch = workspace / "scratch"
    scratch.mkdir()
    environment = {
        **os.environ,
        "TMPDIR": str(scratch),
        "PULUMI_HOME": str(scratch / "home"),
    }
    done = process.run(
        [sys.executable, "-c", _PROGRAM, str(root), version],
        cwd=scratch,
        environment=environment,
        timeout_s=within_s,
    )
    if done.code is None:
        return None, f"it did not end within {within_s:g} s"
    if done.code != 0:
        return None, done.reason
    return root / "bin", ""
