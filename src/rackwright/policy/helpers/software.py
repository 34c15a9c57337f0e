"""What rules about software compare: versions, and which needs which."""

from __future__ import annotations

from rackwright.plan.model import Plan
from rackwright.plan.software.needs import (
    BUNDLES,
    CONFLICTS,
    CUDA_NEEDS,
    INSTALLER_NEEDS,
    PLUGIN_NEEDS,
    Bundle,
    Conflict,
    CudaNeeds,
    InstallerNeeds,
    PluginNeeds,
    bundle_of,
    conflict_of,
    oldest_driver,
    oldest_installer,
    plugin_need,
)
from rackwright.plan.software.versions import (
    SiteSoftware,
    at_least,
    numbers,
    site_software,
    upstream,
)

__all__ = [
    "BUNDLES",
    "CONFLICTS",
    "CUDA_NEEDS",
    "INSTALLER_NEEDS",
    "PLUGIN_NEEDS",
    "Bundle",
    "Conflict",
    "CudaNeeds",
    "InstallerNeeds",
    "PluginNeeds",
    "SiteSoftware",
    "accelerator_vendors",
    "at_least",
    "bundle_of",
    "conflict_of",
    "numbers",
    "oldest_driver",
    "oldest_installer",
    "plugin_need",
    "site_software",
    "upstream",
]


def accelerator_vendors(plan: Plan, site: str) -> frozenset[str]:
    """Return the vendors of the accelerators of a site.

    Returns:
        Each vendor once; none for a site without accelerators.
    """
    owned = [group.product for one in plan.onprem if one.name == site for group in one.groups]
    rented = [group.instance for one in plan.aws if one.name == site for group in one.groups]
    accelerators = [*(one.accelerators for one in owned), *(one.accelerators for one in rented)]
    return frozenset(one.vendor for one in accelerators if one is not None)
