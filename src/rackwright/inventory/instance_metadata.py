"""Who may read the metadata of instances, as variables of the role ``instance_metadata``."""

from __future__ import annotations

from rackwright.plan.aws.site import AwsSitePlan


def metadata_variables(site: AwsSitePlan) -> dict[str, list[str]]:
    """Return the variables of all hosts of an AWS site."""
    return {"instance_metadata_users": site.metadata_readers}


def forwarding_variables(site: AwsSitePlan, group: str) -> dict[str, bool]:
    """Return variables of a node group whose containers behind a bridge may read the metadata, as the blueprint says."""
    reaches = any(one.spec.name == group and one.spec.metadata_hops > 1 for one in site.groups)
    return {"instance_metadata_forwarded": True} if reaches else {}
