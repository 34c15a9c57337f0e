"""What AWS says when it has no instances to give, and what to do then."""

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
    """Whether an error or an activity of AWS says that instances of a type cannot be had now."""
    return any(words in told for words in _SAID)
