"""How a bare-metal site is protected."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from rackwright.model.base import Model


class SubnetManagerKeys(Model):
    """How the subnet managers of a site's InfiniBand fabrics are set; absent is unknown."""

    m_key_protection_level: Annotated[int, Field(ge=0, le=3)] | None = None
    """``m_key_protection_level`` of opensm: from 2 on, reading needs the key as well."""
    congestion_key: bool | None = None
    """``cc_key_enable 2``: congestion control is set by the holder of a key only."""
    node_key: bool | None = None
    """``n2n_key_enable 2``: nodes manage one another with a key only."""
    vendor_key: bool | None = None
    """``vs_key_enable 2``: vendor-specific management needs a key."""
    limited_membership: bool | None = None
    """Ports are limited members of the default partition, so that they do not see each other."""


class SiteSecurity(Model):
    """Declarations about a site's management network, firmware and keys; absent is unknown."""

    management_isolated: bool | None = None
    """Baseboard management controllers are in a network that jobs and users cannot reach."""
    management_tls: bool | None = None
    """Management controllers are spoken to by TLS, and their certificates are checked."""
    default_credentials_replaced: bool | None = None
    """No device answers to its maker's password any more."""
    credentials_per_device: bool | None = None
    """No two devices share a password."""
    secure_boot: bool | None = None
    """UEFI Secure Boot is on for every node."""
    infiniband: SubnetManagerKeys | None = None
