"""AWS-019: Ansible can log in to the hosts."""

from __future__ import annotations

from collections.abc import Iterator

from rackwright.api import (
    AwsSitePlan,
    Finding,
    Measure,
    Missing,
    Plan,
    Policy,
    Profile,
    Severity,
    Subject,
    rule,
)

_PUSHED = "instance-connect"


@rule(
    "AWS-019",
    "Ansible can log in to the hosts",
    Severity.HIGH,
    since="0.4",
    stage="build",
    profile=Profile.LAB,
)
class WayIn(Policy):
    """Each image has an account that Ansible uses, and a key for it."""

    images_have_keys: bool = False
    """True if the site's own images hold the keys of an account for Ansible."""

    def check(self, plan: Plan) -> Iterator[Measure | Finding]:
        """Yield a finding for each site."""
        for site in plan.aws:
            at = Subject(f"{site.name} access", (*site.path, "access"))
            images = {group.spec.image for group in site.groups}
            images |= {servers.server.image for servers in site.servers}
            yield self._judge(site, at, sorted(images))

    def _judge(self, site: AwsSitePlan, at: Subject, images: list[str]) -> Finding:
        access = site.access
        users = {site.image_facts(image).user for image in images}
        stock = sorted(image for image in images if site.image_facts(image).user is not None)
        if access.user is None and stock:
            accounts = ", ".join(sorted(filter(None, users)))
            return Finding(
                at,
                ok=False,
                message="the login user of Ansible is not set: 'access' has no 'user'",
                fix=f"set 'access.user', which is {accounts} for these images",
            )
        if access.key_pair is not None or access.connect == _PUSHED or self.images_have_keys:
            how = "a key pair" if access.key_pair is not None else "keys that are sent or installed"
            return Finding(at, ok=True, message=f"Ansible logs in with {how}")
        if stock:
            return Finding(
                at,
                ok=False,
                message=f"no key opens '{stock[0]}': 'access' has no 'key_pair', and Session Manager and jump "
                "hosts carry SSH, which needs one",
                fix="set 'access.key_pair'",
            )
        lacking = Missing("a key pair, or an image with keys of its own", (*at.path, "key_pair"))
        return Finding(at, ok=None, message="whether Ansible can log in", missing=(lacking,))
