"""Errors of AWS for want of capacity, and their remedies."""

from __future__ import annotations

_SAID = (
    "InsufficientInstanceCapacity",
    "InsufficientCapacity",
    "ReservationCapacityExceeded",
    "do not have sufficient",
)
"""Codes of EC2 (Amazon EC2 API Reference, "Error codes") and the words of Auto Scaling's activities."""

CAPACITY_ADVICE = (
    "give the node group a 'capacity' that is reserved, another zone or another type, or wait"
)
"""What to do where capacity is lacking."""


def lacks_capacity(told: str) -> bool:
    """Return True if an error or an activity of AWS says that it has no capacity for a type now."""
    return any(words in told for words in _SAID)
