"""How jobs are scheduled: Slurm, its partitions and quality of service."""

from __future__ import annotations

from typing import Literal

from rackwright.model.base import Model


class Scheduler(Model):
    """A Slurm cluster over the sites of a blueprint."""

    kind: Literal["slurm"]
