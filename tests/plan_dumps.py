"""What ``ibnetdiscover`` prints of a planned fabric."""

from __future__ import annotations

import re

from rackwright.plan.fabric.ibsim import network
from rackwright.plan.fabric.layout import Layout


def ibnetdiscover(layout: Layout) -> str:
    """Print a perfect fabric, with the rates of its links and the models of its switches."""
    text = re.sub(r'(?m)^(\[\d+\].*"\[\d+\])', r"\1 # lid 1 4xNDR", network(layout).text)
    return re.sub(r'(?m)^(Switch.*# )"([^"]+)"', r'\1"MF0;\2:MQM9700/U1"', text)
