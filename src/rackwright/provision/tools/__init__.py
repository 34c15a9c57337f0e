"""The Pulumi CLI, its language host and AWS plugin: finding and installing them."""

from __future__ import annotations

from rackwright.provision.tools.archive import Archive, parse_archive
from rackwright.provision.tools.automation import automation_command
from rackwright.provision.tools.aws_provider import (
    attach_plugin,
    find_aws_provider,
    install_aws_provider,
    need_aws_provider,
)
from rackwright.provision.tools.environment import pulumi_environment
from rackwright.provision.tools.find import PulumiTool, find_pulumi
from rackwright.provision.tools.folder import tools_dir
from rackwright.provision.tools.install import install_pulumi

__all__ = [
    "Archive",
    "PulumiTool",
    "attach_plugin",
    "automation_command",
    "find_aws_provider",
    "find_pulumi",
    "install_aws_provider",
    "install_pulumi",
    "need_aws_provider",
    "parse_archive",
    "pulumi_environment",
    "tools_dir",
]
