"""Selection of bare-metal sites, hosts and controllers by the arguments of commands."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rackwright.errors import UsageError

if TYPE_CHECKING:
    from pathlib import Path

    from rackwright.metal.discovery.access import ControllerAccess
    from rackwright.metal.discovery.expected import ExpectedMachine
    from rackwright.metal.ironic import Ironic
    from rackwright.metal.nodes import HostPlan
    from rackwright.model.provisioning import Controllers, Engine, Provisioning
    from rackwright.plan.expansion import SitePlan
    from rackwright.plan.load import LoadedPlan

BMC_PORT = 443
"""Default TCP port of Redfish."""
ANSWER_S = 20.0
"""Time without a byte of an answer after which a controller counts as silent, in s."""


def bare_metal_site(sites: Sequence[SitePlan], name: str | None) -> SitePlan:
    """Return the bare-metal site with a name, or the only one without a name.

    Raises:
        UsageError: no site or several sites match.
    """
    found = [site for site in sites if name in {None, site.name}]
    if len(found) == 1:
        return found[0]
    if not found:
        named = "" if name is None else f" '{name}'"
        raise UsageError(f"the blueprint has no bare-metal site{named}")
    raise UsageError(
        "the blueprint has several bare-metal sites",
        hint=f"choose one, for example --site {found[0].name}",
    )


def bmc_access(bmc: Controllers, machines: Sequence[ExpectedMachine]) -> ControllerAccess:
    """Return the access to the controllers of machines, as set in the blueprint."""
    return access_by(
        user=bmc.user,
        password_file=bmc.password_file,
        ca=bmc.ca,
        verify=bmc.verify,
        port=bmc.port,
        machines=machines,
    )


def access_by(
    *,
    user: str,
    password_file: str,
    ca: str | Path | None,
    verify: str,
    port: int,
    machines: Sequence[ExpectedMachine],
    answer_s: float = ANSWER_S,
    plain: bool = False,
) -> ControllerAccess:
    """Return the access to the controllers of machines, as set by arguments."""
    from rackwright.metal.discovery.access import ControllerAccess
    from rackwright.nodelife.redfish import Manners

    return ControllerAccess(
        user=user,
        password_file=password_file,
        ca=None if ca is None else str(ca),
        verify=verify,
        port=port,
        hosts={one.bmc: one.host for one in machines if one.bmc is not None},
        manners=Manners(answer_s=answer_s),
        plain=plain,
    )


@dataclass(frozen=True)
class ChosenHosts:
    """Hosts of one site that a command selects.

    Attributes:
        loaded: blueprint with its plan.
        cluster: name of the cluster.
        machines: all machines of the site.
        plans: selected hosts.
    """

    loaded: LoadedPlan
    cluster: str
    site: SitePlan
    provisioning: Provisioning
    engine: Engine
    machines: Sequence[ExpectedMachine]
    plans: tuple[HostPlan, ...]

    def ironic(self) -> Ironic:
        """Return the client of the site's Ironic.

        Raises:
            UsageError: its password cannot be read.
            BmcError: its certificates cannot be read.
        """
        from pathlib import Path

        from rackwright.metal.ironic import Ironic
        from rackwright.nodelife.redfish import tls_context
        from rackwright.secret_files import read_password

        engine = self.engine
        password = (
            None if engine.password_file is None else read_password(Path(engine.password_file))
        )
        tls = tls_context(engine.ca) if engine.url.startswith("https:") else None
        return Ironic(engine.url, engine.user, password, tls)


def hosts_of(
    blueprint: Path, layers: Sequence[Path], site_name: str | None, hosts: str | None
) -> ChosenHosts:
    """Return the selected hosts of a blueprint.

    Args:
        blueprint: path of the blueprint.
        layers: paths of additional layers.
        site_name: name of the bare-metal site; None for the only one.
        hosts: host list; None for all provisioned hosts.

    Raises:
        UsageError: the blueprint has no engine or no such host.
    """
    from rackwright.metal.discovery.expected import expected_machines, provisioning_of
    from rackwright.metal.nodes import host_plans
    from rackwright.plan.load import load_plan

    loaded = load_plan(blueprint, tuple(layers))
    plan = loaded.plan
    site = bare_metal_site(plan.onprem, site_name)
    provisioning = provisioning_of(site)
    if provisioning.engine is None:
        raise UsageError(
            f"'provisioning' of '{site.name}' has no 'engine'",
            hint="give the address of Ironic there: docs/bare-metal.md",
        )
    machines = expected_machines(plan, site)
    addresses = {
        one.owner: (one.domain, str(one.address))
        for network in plan.names.networks
        if network.site == site.name and network.kind == "management"
        for one in network.addresses()
    }
    plans = _chosen(host_plans(site, provisioning, machines, addresses), hosts)
    return ChosenHosts(loaded, plan.name, site, provisioning, provisioning.engine, machines, plans)


def _chosen(plans: tuple[HostPlan, ...], text: str | None) -> tuple[HostPlan, ...]:
    """Return the hosts of a host list.

    Raises:
        UsageError: a host does not exist, or no host is provisioned.
    """
    from rackwright.model.names import expand_hostlist
    from rackwright.reading.suggest import did_you_mean

    if not plans:
        raise UsageError(
            "no node group of the site is provisioned", hint="name it in 'provisioning.groups'"
        )
    if text is None:
        return plans
    try:
        names = set(expand_hostlist(text))
    except ValueError as error:
        raise UsageError(f"'{text}' is not a list of hosts: {error}") from None
    if unknown := sorted(names - {plan.name for plan in plans}):
        near = did_you_mean(unknown[0], [plan.name for plan in plans])
        hint = near or "name its node group in 'provisioning.groups'"
        raise UsageError(f"no host '{unknown[0]}' is provisioned", hint=hint)
    return tuple(plan for plan in plans if plan.name in names)
