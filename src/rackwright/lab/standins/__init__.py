"""Packages of the lab that need hardware where they are real, one module a subject."""

from __future__ import annotations

from rackwright.lab.standins import gpu, storage
from rackwright.lab.standins.package import StandIn

STAND_INS: tuple[StandIn, ...] = (*gpu.STAND_INS, *storage.STAND_INS)
