"""How a cluster is operated: software versions, health checks, firmware, burn-in."""

from __future__ import annotations

from rackwright.model.base import Model


class Operations(Model):
    """Declarations about operation; absent is unknown."""

    health_checks: bool | None = None
    """Nodes run health checks that are generated from this blueprint."""
