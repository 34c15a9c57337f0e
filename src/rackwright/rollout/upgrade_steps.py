"""Changes of an upgrade by host, from the bill before to the bill after: pure.

What needs a drain agrees with the table of ``rackwright diff``; kernel modules are exchanged by a
reboot, since what uses them holds the old ones.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from rackwright.accept.expected import stated_versions
from rackwright.errors import UsageError
from rackwright.model.names import compress_hostlist
from rackwright.plan.host_list import Host
from rackwright.plan.model import Plan
from rackwright.plan.slurm.releases import check_window, release_of
from rackwright.plan.software.versions import system_of


@dataclass(frozen=True, slots=True)
class Manner:
    """Manner of a component's exchange.

    Attributes:
        drain: jobs on the host have to end first.
        reboot: the host runs the new version only after a reboot.
    """

    drain: bool = False
    reboot: bool = False


SLURM = "slurm"

MANNERS: Mapping[str, Manner] = {
    SLURM: Manner(),  # slurmdbd, slurmctld, slurmd in the order of the waves
    "kernel": Manner(drain=True, reboot=True),
    "ofed": Manner(drain=True, reboot=True),
    "lustre_client": Manner(drain=True, reboot=True),
    "efa_installer": Manner(drain=True, reboot=True),
    "driver": Manner(drain=True, reboot=True),
    "fabric_manager": Manner(drain=True, reboot=True),
    "imex": Manner(drain=True, reboot=True),
    "amdgpu": Manner(drain=True, reboot=True),
    "neuron": Manner(drain=True, reboot=True),
    "rocm": Manner(drain=True),
    "cuda": Manner(drain=True),
    "dcgm": Manner(),
    "libfabric": Manner(),
    "ofi_plugin": Manner(),
    "nccl": Manner(),
    "nccl_tests": Manner(),
    "enroot": Manner(),
    "container_toolkit": Manner(),
    "pyxis": Manner(),
    "lustre_server": Manner(reboot=True),
}
"""Every component that a host carries, in the order in which a host is brought to them."""

BUILT_FOR_SLURM = ("pyxis",)
"""Components that are plugins of Slurm, built for one release of it."""


@dataclass(frozen=True, slots=True)
class UpgradeStep:
    """A component that changes on some hosts.

    Attributes:
        before: None where nobody has stated it.
        after: None where nobody states it any more; it stays as it is.
        hosts: names in the inventory, in the order of the plan.
        order: of the step among those of a host, from 1.
    """

    component: str
    before: str | None
    after: str | None
    hosts: tuple[str, ...]
    order: int

    @property
    def drain(self) -> bool:
        """True if jobs have to end first."""
        return self.after is not None and MANNERS[self.component].drain

    @property
    def reboot(self) -> bool:
        """True if the hosts have to be rebooted."""
        return self.after is not None and MANNERS[self.component].reboot

    def __str__(self) -> str:
        names = compress_hostlist(self.hosts)
        if self.after is None:
            return f"{self.component} {self.before} is stated no more, and stays on {names}"
        was = "(not stated)" if self.before is None else self.before
        needs = [word for word, is_so in (("drained", self.drain), ("rebooted", self.reboot)) if is_so]  # fmt: skip
        told = f": {' and '.join(needs)}" if needs else ""
        return f"{self.component} {was} → {self.after} on {names}{told}"


def upgrade_steps(before: Plan, after: Plan) -> tuple[UpgradeStep, ...]:
    """Return the changes from ``before`` to ``after``, on the hosts that ``after`` has.

    Raises:
        ReleaseError: Slurm's change is outside SchedMD's window.
        UsageError: an operating system changes, which no upgrade does.
    """
    found: dict[tuple[str, str | None, str | None], list[str]] = {}
    known: dict[tuple[str, str], tuple[tuple[str, str | None, str | None], ...]] = {}
    for host in after.hosts:
        of_kind = (host.site, host.group)
        if of_kind not in known:  # the hosts of a group are equal
            _check_system(before, after, host)
            known[of_kind] = _changes(stated_versions(before, host), stated_versions(after, host))
        for change in known[of_kind]:
            found.setdefault(change, []).append(host.inventory_name)
    for component, old, new in found:
        if component == SLURM and old is not None and new is not None:
            check_window(old, new)
    order = {name: number for number, name in enumerate(MANNERS, start=1)}
    return tuple(
        UpgradeStep(component, old, new, tuple(hosts), order[component])
        for (component, old, new), hosts in sorted(
            found.items(), key=lambda entry: (order[entry[0][0]], entry[1])
        )
    )


def steps_for_touched(
    steps: Collection[UpgradeStep], half: Collection[UpgradeStep], touched: Collection[str]
) -> tuple[UpgradeStep, ...]:
    """Return ``steps``, but those of ``half`` on hosts that an upgrade which was given up has touched.

    They may have what that one would have brought, whatever the others have.
    """
    found: dict[tuple[int, str, str | None, str | None], list[str]] = {}
    for part, is_touched in ((steps, False), (half, True)):
        for step in part:
            key = (step.order, step.component, step.before, step.after)
            hosts = [host for host in step.hosts if (host in touched) is is_touched]
            if hosts:
                found.setdefault(key, []).extend(hosts)
    return tuple(
        UpgradeStep(component, old, new, tuple(hosts), order)
        for (order, component, old, new), hosts in sorted(
            found.items(), key=lambda entry: (entry[0][0], entry[1])
        )
    )


def to_reboot(steps: Collection[UpgradeStep]) -> frozenset[str]:
    """Return the hosts that have to be rebooted."""
    return frozenset(host for step in steps if step.reboot for host in step.hosts)


def to_change(steps: Collection[UpgradeStep]) -> frozenset[str]:
    """Return the hosts on which something is exchanged."""
    return frozenset(host for step in steps if step.after is not None for host in step.hosts)


def slurm_versions(
    steps: Collection[UpgradeStep],
) -> tuple[Mapping[str, str], Mapping[str, str]]:
    """Return the versions of Slurm before and after, by host on which it changes.

    A host of whose version before nothing is stated has only the one after.
    """
    changing = [step for step in steps if step.component == SLURM and step.after is not None]
    before = {host: s.before for s in changing for host in s.hosts if s.before is not None}
    after = {host: s.after for s in changing for host in s.hosts if s.after is not None}
    return before, after


def check_installed(
    wanted: Mapping[str, str], found: Mapping[str, Mapping[str, str | None]]
) -> None:
    """Refuse to exchange Slurm where what is installed is outside SchedMD's window.

    Args:
        wanted: the version to go to, by host.
        found: the versions that hosts have told of, by host and component.

    Raises:
        ReleaseError: it is, whatever the bill before says.
        UsageError: a host has not told what it runs.
    """
    for host, version in wanted.items():
        if (there := (found.get(host) or {}).get(SLURM)) is None:
            raise UsageError(
                f"'{host}' does not tell which Slurm it runs, so it is not known whether {version} "
                "reads its state",
                hint="'rackwright verify' says why",
            )
        check_window(there, version)


def remarks(steps: Collection[UpgradeStep]) -> tuple[str, ...]:
    """Return the tasks to do by hand before the upgrade."""
    told = []
    slurm = [s for s in steps if s.component == SLURM and s.before and s.after]
    changed = {step.component for step in steps}
    if any(release_of(s.before or "") != release_of(s.after or "") for s in slurm):
        told.append(
            "plugins of Slurm are built for one release: see that those that are not Slurm's own, "
            + ("" if changed.intersection(BUILT_FOR_SLURM) else "pyxis among them, ")
            + "are there for the new one"
        )
    if not any(step.drain or step.reboot for step in steps) and not slurm:
        told.append("nothing here needs a drain: 'rackwright configure' brings it beside the jobs")
    return tuple(told)


def _changes(
    before: Mapping[str, str], after: Mapping[str, str]
) -> tuple[tuple[str, str | None, str | None], ...]:
    return tuple(
        (name, before.get(name), after.get(name))
        for name in dict.fromkeys((*before, *after))
        if before.get(name) != after.get(name)
    )


def _check_system(before: Plan, after: Plan, host: Host) -> None:
    old, new = (system_of(plan, host.site, host.group) for plan in (before, after))
    if old is not None and new is not None and old != new:
        raise UsageError(
            f"the hosts of '{host.group}' in '{host.site}' would go from {old} to {new}",
            hint="another system is installed again, group by group; then configure the hosts",
        )
