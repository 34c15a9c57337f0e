"""Packages of the lab that need hardware where they are real, one module a subject."""

from __future__ import annotations

from rackwright.lab.standins import containers, gpu
from rackwright.lab.standins.package import StandIn

STAND_INS: tuple[StandIn, ...] = (*containers.STAND_INS, *gpu.STAND_INS)
