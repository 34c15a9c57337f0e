"""Names, tags and options that every component of a site shares.

A resource's name never depends on its place in a list, so that adding a node group or a zone
leaves the others alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pulumi
from pydantic import ConfigDict, Field, InstanceOf

from rackwright.model.base import Model
from rackwright.plan.aws.names import site_prefix
from rackwright.plan.aws.site import AwsSitePlan

SLOW = pulumi.CustomTimeouts(create="2h", update="2h", delete="2h")
"""For what takes longer than the provider waits by itself: 30 minutes for a file system, 10 for a data
repository association, and 10 for the instances of a group to end. Judgement: AWS promises no time."""
SLOW_END = pulumi.CustomTimeouts(update="2h", delete="2h")
"""The same for an Auto Scaling group, whose creation the provider does not wait for."""

FORMER_NAMES: Mapping[str, tuple[str, ...]] = {}
"""Names that a resource had in earlier releases, by its present name without the site's prefix."""


class SiteArgs(Model):
    """Arguments of a component: the planned site and the cluster it belongs to."""

    model_config = ConfigDict(arbitrary_types_allowed=True)

    plan: InstanceOf[AwsSitePlan]
    cluster: str
    owner: str | None = None
    adopted: Mapping[str, str] = Field(default_factory=dict)
    """Ids of what is there already and is to be taken over, by type and name like ``Bucket atlas-use1-data``."""

    @property
    def prefix(self) -> str:
        """Prefix of every name of the site."""
        return site_prefix(self.cluster, self.plan.name)

    def name(self, *parts: str) -> str:
        """Return the name of a resource of the site."""
        return "-".join((self.prefix, *parts))

    def tags(self, name: str) -> dict[str, str]:
        """Return the tags of the resource called ``name``."""
        return {**self.plan.tags(self.cluster, self.owner), "Name": name}

    def common_tags(self) -> dict[str, str]:
        """Return the tags of a resource that names itself."""
        return self.plan.tags(self.cluster, self.owner)


def member(known: pulumi.Output[Any], name: str) -> pulumi.Output[Any]:
    """Return an entry of a mapping that another stack has; one that this change adds there is unknown in a preview."""

    def pick(entries: Mapping[str, Any]) -> Any:
        if name not in entries and pulumi.runtime.is_dry_run():
            return pulumi.UNKNOWN
        return entries[name]

    return known.apply(pick)


def child_options(
    parent: pulumi.Resource, args: SiteArgs, name: str, **more: Any
) -> pulumi.ResourceOptions:
    """Return the options of a child of ``parent``, with an alias for each former name.

    Names are fixed, so a replaced resource has to go before the new one takes its name; storage
    is never replaced that way.
    """
    more.setdefault("delete_before_replace", True)
    former = FORMER_NAMES.get(name.removeprefix(f"{args.prefix}-"), ())
    aliases = [pulumi.Alias(name=args.name(old)) for old in former]
    return pulumi.ResourceOptions(parent=parent, aliases=aliases or None, **more)


def retained_options(
    parent: pulumi.Resource,
    args: SiteArgs,
    name: str,
    kind: str = "",
    *,
    protect: bool,
    **more: Any,
) -> pulumi.ResourceOptions:
    """Return the options of a child of ``parent`` that holds data: it stays in the account whatever happens to the stack.

    One that is taken over is taken as it is: the next run brings it to what the blueprint says.
    """
    if (found := args.adopted.get(f"{kind} {name}")) is not None:
        more |= {"import_": found, "ignore_changes": ["*"]}
    return child_options(
        parent,
        args,
        name,
        protect=protect,
        retain_on_delete=True,
        delete_before_replace=False,
        **more,
    )
