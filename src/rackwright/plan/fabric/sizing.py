"""Number of switches of a fat tree, in whole numbers.

R is the number of ports of a switch, E the number of ports of nodes, L, S and C are leaves, spines
and cores. Below, a leaf gives ``down`` ports to nodes and ``up`` to spines. The formulas reproduce
every row of NVIDIA's published reference architectures for NDR (R = 64) and XDR (R = 144).
"""

from __future__ import annotations

LARGEST_UNICAST_LID = 0xBFFF
"""49,151: opensm's ``IB_LID_UCAST_END_HO``. Each port of a node and each switch needs one."""


def ceil_div(number: int, by: int) -> int:
    """Return ``number`` / ``by``, rounded up."""
    return -(-number // by)


def down_ports(radix: int, ratio: float = 1.0) -> int:
    """Return the ports that a leaf gives to nodes when ``ratio`` is downward over upward bandwidth."""
    return int(radix * ratio / (1 + ratio) + 1e-9)


def spines_for(leaves: int, up: int, radix: int) -> int:
    """Return the fewest spines that take ``up`` cables from each leaf, the same number to every spine.

    It is the smallest divisor of ``up`` that leaves enough ports on a spine: 24 leaves of 32 up
    need 16 spines of 64 ports, although the 768 cables would fit 12. When even ``up`` spines are
    too few (two tiers cannot carry so much), it is the number that has enough ports.
    """
    if not up:
        return 0
    enough = ceil_div(leaves * up, radix)
    return next((s for s in range(enough, up + 1) if up % s == 0), enough)


def spines_with_room(leaves: int, up: int, radix: int, room: int) -> int:
    """Return the fewest spines that take at least ``up`` cables from each leaf, as many to every spine.

    A leaf has ``room`` ports for them, so that a number that comes out uneven may be rounded up: 16
    leaves of 14 uplinks need 4 spines of 64 ports, with 4 cables to each. When no number will do (two
    tiers cannot carry so much), it is the number that has enough ports.
    """
    enough = ceil_div(leaves * up, radix)
    return next(
        (
            s
            for s in range(max(1, enough), up + 1)
            if (each := ceil_div(up, s)) * leaves <= radix and each * s <= room
        ),
        enough,
    )


def most_endpoints(radix: int, tiers: int) -> int:
    """Return the largest non-blocking fabric: R, R²/2 or R³/4 ports.

    Raises:
        ValueError: ``tiers`` is not 1, 2 or 3.
    """
    match tiers:
        case 1:
            return radix
        case 2:
            return radix**2 // 2
        case 3:
            return radix**3 // 4
        case _:
            raise ValueError(f"a fat tree of {tiers} tiers is not known")
