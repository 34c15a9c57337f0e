"""How a bare-metal site is protected."""

from __future__ import annotations

from rackwright.model.base import Model


class SiteSecurity(Model):
    """Declarations about a site's management network, firmware and secrets; absent is unknown."""

    management_isolated: bool | None = None
    """Baseboard management controllers are in a network that jobs and users cannot reach."""
    default_credentials_replaced: bool | None = None
    """No device answers to its maker's password any more."""
