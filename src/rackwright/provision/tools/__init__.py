"""The Pulumi CLI and its Python language host: where they are, and how they are installed."""

from __future__ import annotations

from rackwright.provision.tools.automation import automation_command
from rackwright.provision.tools.environment import pulumi_environment
from rackwright.provision.tools.find import PulumiTool, find_pulumi
from rackwright.provision.tools.folder import tools_dir
from rackwright.provision.tools.install import install_pulumi

__all__ = [
    "PulumiTool",
    "automation_command",
    "find_pulumi",
    "install_pulumi",
    "pulumi_environment",
    "tools_dir",
]
