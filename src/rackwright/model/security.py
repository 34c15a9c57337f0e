"""Protection of a bare-metal site."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from rackwright.model.base import Model
from rackwright.model.field_kinds import SAID, STATEMENT, Claim


class SubnetManagerKeys(Model):
    """Keys and protection levels of the subnet managers of a site; absent is unknown."""

    m_key_protection_level: Annotated[int | None, Field(ge=0, le=3), Claim(looser="higher")] = None
    """Protection level of the M_Key in opensm (``m_key_protection_level``): from 2 on, reading needs
    the key as well."""
    congestion_key: Annotated[bool | None, SAID] = None
    """True if congestion control is set by the holder of a key only: ``cc_key_enable 2``."""
    node_key: Annotated[bool | None, SAID] = None
    """True if nodes manage one another with a key only: ``n2n_key_enable 2``."""
    vendor_key: Annotated[bool | None, SAID] = None
    """True if vendor-specific management needs a key: ``vs_key_enable 2``."""
    limited_membership: Annotated[bool | None, SAID] = None
    """Ports are limited members of the default partition, so that they do not see each other."""


class SiteSecurity(Model):
    """Declarations about a site's management network, firmware and keys; absent is unknown."""

    management_isolated: Annotated[bool | None, SAID] = None
    """True if baseboard management controllers are in a network that jobs and users cannot reach."""
    management_tls: Annotated[bool | None, SAID] = None
    """True if management controllers are reached by TLS, and their certificates are checked."""
    default_credentials_replaced: Annotated[bool | None, SAID] = None
    """True if no device accepts its maker's password any more."""
    credentials_per_device: Annotated[bool | None, SAID] = None
    """True if no two devices share a password."""
    secure_boot: Annotated[bool | None, SAID] = None
    """True if UEFI Secure Boot is on for every node."""
    infiniband: Annotated[SubnetManagerKeys | None, STATEMENT] = None
