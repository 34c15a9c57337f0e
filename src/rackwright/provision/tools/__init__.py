"""The Pulumi CLI, its Python language host and Receptor: where they are, and how they are installed."""

from __future__ import annotations

from rackwright.provision.tools.archive import Archive, parse_archive
from rackwright.provision.tools.automation import automation_command
from rackwright.provision.tools.environment import pulumi_environment
from rackwright.provision.tools.find import PulumiTool, find_pulumi
from rackwright.provision.tools.folder import tools_dir
from rackwright.provision.tools.install import install_pulumi
from rackwright.provision.tools.receptor import find_receptor, install_receptor, need_receptor

__all__ = [
    "Archive",
    "PulumiTool",
    "automation_command",
    "find_pulumi",
    "find_receptor",
    "install_pulumi",
    "install_receptor",
    "need_receptor",
    "parse_archive",
    "pulumi_environment",
    "tools_dir",
]
