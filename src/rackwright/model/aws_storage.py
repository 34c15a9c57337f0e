"""File systems of a site on AWS that exist already, and those of Amazon EFS."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from rackwright.model.base import Model
from rackwright.model.units import Gibibytes, MegabytesPerSecondPerTebibyte

FileSystemId = Annotated[str, Field(pattern=r"^fs-([0-9a-f]{8}|[0-9a-f]{17})$")]
"""Id of a file system, of FSx or EFS."""
SecurityGroupId = Annotated[str, Field(pattern=r"^sg-[0-9a-f]{8,17}$")]


class ExistingLustre(Model):
    """An FSx for Lustre file system that somebody else has made and keeps."""

    id: FileSystemId
    """Id of the file system."""
    mount_name: Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]{1,8}$")]
    """What clients mount, as DescribeFileSystems tells it."""
    security_group: SecurityGroupId | None = None
    """One of its security groups, which gets rules that let the cluster in; absent, its owner lets it in."""
    capacity: Gibibytes | None = None
    """Its size, as recorded; absent where unknown."""
    throughput: MegabytesPerSecondPerTebibyte | None = None
    """Rate of each TiB, as recorded; absent where unknown."""
