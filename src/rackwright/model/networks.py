"""IP networks by their prefix."""

from __future__ import annotations

from collections.abc import Collection
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network
from typing import Annotated

from pydantic import AfterValidator


def parse_network(text: str, *, versions: Collection[int] = (4, 6)) -> IPv4Network | IPv6Network:
    """Return the network of a text like ``10.20.0.0/16``; an address alone is a network of one.

    Raises:
        ValueError: it is no network, has bits set behind its prefix, or is of another version of IP.
    """
    try:
        network = ip_network(text, strict=False)
    except ValueError:
        raise ValueError(f"'{text}' is not a network like '10.20.0.0/16'") from None
    if network.version not in versions:
        raise ValueError(
            f"'{text}' is of IP version {network.version}: only version 4 is used here"
        )
    if ip_address(text.partition("/")[0]) != network.network_address:
        raise ValueError(f"'{text}' has bits set behind its prefix: the network is '{network}'")
    return network


def _check_ipv4(text: str) -> str:
    parse_network(text, versions=(4,))
    return text


Cidr = Annotated[str, AfterValidator(_check_ipv4)]
"""An IPv4 network like ``10.20.0.0/16``, host bits zero."""
