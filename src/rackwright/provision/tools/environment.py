"""The environment in which the Pulumi CLI runs."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from rackwright.provision.tools.find import PulumiTool


def pulumi_environment(tool: PulumiTool) -> dict[str, str]:
    """Return variables to add to the environment of ``tool``.

    PATH begins with the CLI's folder, its language host's and this interpreter's, so that a
    program runs on the Python that Rackwright is installed in.
    """
    folders = [tool.path.parent]
    if tool.language_python is not None:
        folders.append(tool.language_python.parent)
    folders.append(Path(sys.executable).parent)
    entries = [str(folder) for folder in folders]
    entries += [entry for entry in os.environ.get("PATH", "").split(os.pathsep) if entry]
    return {
        "PATH": os.pathsep.join(dict.fromkeys(entries)),
        "PULUMI_PYTHON_CMD": sys.executable,
        "PULUMI_SKIP_UPDATE_CHECK": "true",
    }
