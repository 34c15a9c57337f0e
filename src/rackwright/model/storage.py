"""Parallel file systems of a bare-metal site."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from rackwright.model.base import Model
from rackwright.model.names import Name


class ParallelFileSystem(Model):
    """A Lustre file system served by node groups of the site."""

    name: Name
    kind: Literal["lustre"]
    mount: Annotated[str, Field(pattern=r"^/.+$")]
