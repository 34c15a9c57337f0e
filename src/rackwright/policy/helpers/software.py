"""What rules about software compare: versions, and which needs which."""

from __future__ import annotations

from rackwright.plan.software.needs import (
    BUNDLES,
    CUDA_NEEDS,
    INSTALLER_NEEDS,
    PLUGIN_NEEDS,
    Bundle,
    CudaNeeds,
    InstallerNeeds,
    PluginNeeds,
    bundle_of,
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
    "CUDA_NEEDS",
    "INSTALLER_NEEDS",
    "PLUGIN_NEEDS",
    "Bundle",
    "CudaNeeds",
    "InstallerNeeds",
    "PluginNeeds",
    "SiteSoftware",
    "at_least",
    "bundle_of",
    "numbers",
    "oldest_driver",
    "oldest_installer",
    "plugin_need",
    "site_software",
    "upstream",
]
