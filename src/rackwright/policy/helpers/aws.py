"""What rules about AWS compare with: documented limits, and what the plan asks of AWS."""

from __future__ import annotations

from rackwright.plan.aws import fsx
from rackwright.plan.aws.launch_template import required_group, server_args
from rackwright.plan.aws.nic import LayoutError, UnknownLayoutError
from rackwright.plan.aws.security_groups import network_rules, storage_rules
from rackwright.plan.aws.site import STANDARD_QUOTA

__all__ = [
    "STANDARD_QUOTA",
    "LayoutError",
    "UnknownLayoutError",
    "fsx",
    "network_rules",
    "required_group",
    "server_args",
    "storage_rules",
]
