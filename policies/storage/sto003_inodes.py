"""STO-003: metadata targets have enough inodes for the files."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Annotated

from pydantic import Field

from rackwright.api import (
    Contributor,
    Finding,
    Measure,
    Missing,
    Plan,
    Policy,
    Severity,
    Subject,
    rule,
)
from rackwright.model.storage import MetadataTargets
from rackwright.plan.storage.filesystem import FileSystem, files_of_target


@rule(
    "STO-003",
    "Metadata targets have enough inodes for the files",
    Severity.HIGH,
    since="0.2",
    stage="design",
)
class Inodes(Policy):
    """The files that are expected fit on the metadata targets."""

    inode_bytes: Annotated[int, Field(ge=512, le=65536)] = 2048
    """Bytes of one inode on a metadata target."""
    reserve: Annotated[float, Field(ge=1, le=10)] = 2.0
    """By what the space of the inodes is multiplied for directories, logs and growth."""

    def check(self, plan: Plan) -> Iterator[Measure | Finding]:
        """Yield a measure for each Lustre file system; FSx scales its metadata by itself."""
        for system in plan.file_systems:
            if system.lustre is not None:
                yield self._judge(system, system.lustre.metadata)

    def _judge(self, system: FileSystem, targets: MetadataTargets | None) -> Measure:
        files = system.workload.files
        missing, path = [], (*system.path, "metadata")
        if files is None:
            missing.append(Missing("'files' in the workload", (*system.path, "workload", "files")))
        each = limit = None
        if targets is None:
            missing.append(Missing("'metadata': the targets that hold the inodes", path))
        else:
            missing += [
                Missing(f"'{name}' of the metadata", (*path, name))
                for name in ("count", "size")
                if getattr(targets, name) is None
            ]
            each = files_of_target(targets, self.inode_bytes, self.reserve)
            if targets.size is not None and each is None:
                words = "'backend' of the metadata: it limits a target of this size"
                missing.append(Missing(words, (*path, "backend")))
            if each is not None and targets.count is not None:
                limit = each * targets.count
        fix = None
        shares: tuple[Contributor, ...] = ()
        if each and files is not None and targets is not None and targets.count is not None:
            fix = f"use {math.ceil(files / each):,} metadata targets of this size"
            shares = (Contributor("files of one metadata target", targets.count, each),)
        return Measure(
            Subject(system.name, (*system.path, "metadata") if targets else system.path),
            value=files,
            limit=limit,
            unit="files",
            what="number of files expected",
            contributors=shares,
            fix=fix or "use larger metadata targets",
            missing=tuple(missing),
        )
