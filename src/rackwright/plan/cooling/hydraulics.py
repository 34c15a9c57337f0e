"""Pressure in coolant loops: what pipes and racks need, and what pumps give.

Turbulent flow loses pressure in proportion to its square (Darcy and Weisbach, with a friction factor
that hardly changes between two flows of one loop). The pressure that a centrifugal pump gives falls
with the square of its flow, from that at no flow (ASHRAE Handbook, HVAC Systems and Equipment,
centrifugal pumps).
"""

from __future__ import annotations


def drop_at(flow: float | None, drop: float | None, reference: float | None) -> float | None:
    """Return the pressure drop in kPa at ``flow``: D·(Q/Q₀)².

    Args:
        flow: in L/min.
        drop: in kPa at the reference.
        reference: flow in L/min at which that holds.

    Returns:
        None where one of them is unknown, or the reference is no flow.
    """
    if flow is None or drop is None or not reference:
        return None
    return float(drop * (flow / reference) ** 2)


def head_at(
    flow: float | None, head: float | None, rated: float | None, shutoff: float | None
) -> float | None:
    """Return the pressure in kPa that a pump gives at ``flow``: H₀ - (H₀ - H₁)·(Q/Q₁)², and not below 0.

    A curve that would rise with the flow is taken as flat. Where H₀ is unknown, up to the rated flow a pump
    gives at least H₁: makers publish one point of the curve.

    Args:
        flow: in L/min.
        head: H₁, in kPa at the rated flow.
        rated: Q₁, in L/min.
        shutoff: H₀, in kPa at no flow.

    Returns:
        None where another of them is unknown, the rated flow is none, or a curve of one point ends below
        the flow.
    """
    if flow is None or head is None or not rated:
        return None
    if shutoff is None:
        return head if flow <= rated else None
    fall = max(0.0, shutoff - head)
    return float(max(0.0, head + fall * (1 - (flow / rated) ** 2)))
