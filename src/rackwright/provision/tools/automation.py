"""The Pulumi CLI as the Automation API wants it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rackwright.provision.tools.find import PulumiTool

if TYPE_CHECKING:
    from pulumi.automation import PulumiCommand


def automation_command(tool: PulumiTool) -> PulumiCommand:
    """The command that runs exactly ``tool``.

    The API's own constructor wants the CLI in a folder called ``bin``, which the vendor's archive
    does not have, and asks its version once more.
    """
    from pulumi.automation import PulumiCommand
    from semver import VersionInfo

    class Command(PulumiCommand):
        def __init__(self) -> None:
            self.command = str(tool.path)
            self.version = VersionInfo.parse(tool.version)

    return Command()
