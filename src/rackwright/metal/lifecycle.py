"""Provisioning of one host from its controller to its operating system: the next act, as a pure function.

The provision state of the node in Ironic is authoritative for the present. The record contains the steps that were
proven before, and the number of tries of each act.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from rackwright.metal.discovery.compare import MachineState, compare
from rackwright.metal.discovery.machines import DiscoveredMachine
from rackwright.metal.ironic import IronicNode
from rackwright.metal.journal import HostRecord
from rackwright.metal.nodes import FIRMWARE_ORDER, HostPlan
from rackwright.model.provisioning import Image
from rackwright.nodelife.redfish import BmcState


class ProvisioningStep(StrEnum):
    """Steps in their order. Each is proven before the next begins."""

    ENROLLED = "enrolled"
    INSPECTED = "inspected"
    FIRMWARE = "firmware"
    CLEANED = "cleaned"
    IMAGED = "imaged"
    SECURED = "secure boot"
    REACHED = "reached by ssh"
    ATTESTED = "attested"
    CONFIGURED = "configured"
    ACCEPTED = "accepted"


class Act(StrEnum):
    """Acts of provisioning. Those in ``SWITCHES_ON`` power a machine on."""

    CREATE = "create"
    MANAGE = "manage"
    INSPECT = "inspect"
    UPDATE = "update"
    RESTART = "restart controller"
    """Restart the controller; its machine keeps running."""
    PROVIDE = "provide"
    DEPLOY = "deploy"
    SERVICE = "service"
    """Update a component of an installed host."""
    REBUILD = "rebuild"
    """Write an image over the installed one."""
    UNDEPLOY = "undeploy"
    """Remove the installation and clean the disks."""
    READ = "read"
    """Read the machine from its controller."""
    REACH = "reach"
    ATTEST = "attest"
    CONFIGURE = "configure"
    ACCEPT = "accept"


LATE = (Act.REACH, Act.ATTEST, Act.CONFIGURE, Act.ACCEPT)
"""Acts on installed hosts, which run one after the other."""
SWITCHES_ON = frozenset(
    {Act.INSPECT, Act.UPDATE, Act.PROVIDE, Act.DEPLOY, Act.SERVICE, Act.REBUILD, Act.UNDEPLOY}
)
TRIES = 3
"""Maximum number of tries of one act of a step."""
AWAY_S = 900.0
"""Time for which a controller may be unreachable after an update or restart, in s."""
DEADLINE_S: Mapping[ProvisioningStep, float] = {
    ProvisioningStep.ENROLLED: 600.0,
    ProvisioningStep.INSPECTED: 1800.0,
    ProvisioningStep.FIRMWARE: 5400.0,
    ProvisioningStep.CLEANED: 5400.0,
    ProvisioningStep.IMAGED: 3600.0,
    ProvisioningStep.REACHED: 1800.0,
}
"""Deadline of an act, in s. Firmware of a whole server takes an hour with some makers."""
_UNDER_WAY = frozenset({
    "verifying", "inspecting", "inspect wait", "cleaning", "clean wait", "deploying", "wait call-back",
    "deleting", "adopting", "servicing", "service wait", "rescuing",
})  # fmt: skip
_TOLD, _OPEN = "as planned: ", "; not told: "
_PAST_INSPECTION = frozenset(
    {"available", "active", "deploying", "wait call-back", "deploy failed", "service failed"}
)
_AWAY = frozenset(
    {BmcState.UNREACHABLE, BmcState.SILENT, BmcState.LOST, BmcState.ERRORS, BmcState.BUSY}
)
_STUCK = frozenset({BmcState.STUCK_TASK, BmcState.VANISHED_TASK})
_REFUSED = frozenset(
    {MachineState.TWIN, MachineState.MISPLACED, MachineState.OTHER_MODEL, MachineState.OTHER_PARTS}
)


@dataclass(frozen=True, slots=True)
class Wait:
    """Decision to wait for Ironic."""


@dataclass(frozen=True, slots=True)
class Do:
    """Decision to start an act.

    Attributes:
        detail: component to update; empty for other acts.
    """

    step: ProvisioningStep
    act: Act
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Passed:
    """Decision that a step is proven."""

    step: ProvisioningStep
    note: str = ""


@dataclass(frozen=True, slots=True)
class Failed:
    """Decision to leave a host out, with the reason."""

    step: ProvisioningStep
    reason: str


@dataclass(frozen=True, slots=True)
class Ended:
    """Result of an act on an installed host.

    Attributes:
        reason: reason of the failure; None on success.
        note: proof for the journal.
    """

    reason: str | None
    note: str = ""


@dataclass(frozen=True, slots=True)
class Seen:
    """Machine of a host as described by its controller.

    Attributes:
        machine: machine at the address of the host; None without one, and in a rehearsal.
        problems: differences that prevent provisioning.
        is_away: True if the controller does not answer or answers with errors, as during its start.
    """

    machine: DiscoveredMachine | None
    problems: tuple[str, ...] = ()
    is_away: bool = False


Decision = Wait | Do | Passed | Failed
_Decider = Callable[[HostPlan, HostRecord, IronicNode, Seen | None], Decision]


def steps_of(plan: HostPlan) -> tuple[ProvisioningStep, ...]:
    """Return the steps of a host, without those that its group does not use."""
    left_out = set()
    if not plan.group.secure_boot:
        left_out.add(ProvisioningStep.SECURED)
    if plan.group.attestation is None:
        left_out.add(ProvisioningStep.ATTESTED)
    return tuple(step for step in ProvisioningStep if step not in left_out)


def is_at(plan: HostPlan, record: HostRecord, until: ProvisioningStep) -> bool:
    """Return True if a host has passed all its steps up to ``until``, which its group may not use."""
    order = tuple(ProvisioningStep)
    wanted = order[: order.index(until) + 1]
    return all(step in record.done for step in steps_of(plan) if step in wanted)


def decide(
    plan: HostPlan,
    record: HostRecord,
    node: IronicNode | None,
    seen: Seen | None,
    cluster: str,
    now: float,
) -> Decision | None:
    """Return the next decision for a host; None if it is done or was left out.

    Args:
        plan: plan of the host.
        record: progress of the host.
        node: node in Ironic; None if it does not exist.
        seen: machine as read after the last act; None if it was not read.
        cluster: name of the cluster that must own the node.
        now: time on the clock of the journal, in s.
    """
    if record.failure is not None:
        return None
    step = next((one for one in steps_of(plan) if one not in record.done), None)
    if step is None:
        return None
    if node is not None and (wrong := _not_ours(node, cluster)) is not None:
        return Failed(step, wrong)
    if node is None:
        if step is ProvisioningStep.ENROLLED:
            # Check the machine first: another machine must not even be enrolled in Ironic.
            return _look(step, seen) or _try(record, step, Act.CREATE, None)
        return Failed(
            step, "Ironic no longer has its node: 'provision --retry' starts from the beginning"
        )
    # Ironic locks a node during a transition: no act would be accepted.
    if node.provision_state in _UNDER_WAY:
        return _wait(record, step, node, now)
    if node.maintenance:
        return Failed(step, f"its node is in maintenance: {node.last_error or 'set by hand'}")
    if (
        step is ProvisioningStep.FIRMWARE
        and seen is not None
        and seen.is_away
        and record.begun is not None
        and now - record.begun <= AWAY_S
    ):
        return Wait()  # controllers are unreachable while they start with new firmware
    return _DECISIONS[step](plan, record, node, seen)


def _not_ours(node: IronicNode, cluster: str) -> str | None:
    own = node.extra.get("rackwright")
    owner = own.get("cluster") if isinstance(own, Mapping) else None
    if owner == cluster:
        return None
    return f"Ironic has a node of this name that does not belong to '{cluster}' ({owner or 'created by others'})"


def _wait(record: HostRecord, step: ProvisioningStep, node: IronicNode, now: float) -> Decision:
    limit = DEADLINE_S.get(step)
    if limit is not None and record.begun is not None and now - record.begun > limit:
        reason = f"'{node.provision_state}' for more than {limit / 60:.0f} min"
        return Failed(step, reason)
    return Wait()


def _try(
    record: HostRecord, step: ProvisioningStep, act: Act, error: str | None, detail: str = ""
) -> Decision:
    """Return the act, or a failure after ``TRIES`` tries."""
    name = f"{act} {detail}".strip()
    if record.acts.get(name, 0) >= TRIES:
        return Failed(step, f"{name} failed {TRIES} times: {error or 'no reason was given'}")
    return Do(step, act, detail)


def _enrolled(plan: HostPlan, record: HostRecord, node: IronicNode, _: Seen | None) -> Decision:
    if node.provision_state == "enroll":
        return _try(record, ProvisioningStep.ENROLLED, Act.MANAGE, node.last_error)
    return Passed(ProvisioningStep.ENROLLED, node.uuid)


def _inspected(plan: HostPlan, record: HostRecord, node: IronicNode, seen: Seen | None) -> Decision:
    step = ProvisioningStep.INSPECTED
    if node.provision_state == "inspect failed" or (
        node.provision_state == "manageable" and not node.inspected
    ):
        return _try(record, step, Act.INSPECT, node.last_error)
    if node.provision_state not in {"manageable", *_PAST_INSPECTION}:
        return Failed(step, f"its node is in the state '{node.provision_state}'")
    if (other := _look(step, seen)) is not None:
        return other
    machine = None if seen is None else seen.machine
    if machine is None:
        return Passed(step, "rehearsed")
    return Passed(step, f"{machine.serial or '?'}, {machine.model or '?'}")


def _look(step: ProvisioningStep, seen: Seen | None) -> Decision | None:
    """Return the decision to read the machine, or a failure if it is not the planned one; None if it is."""
    if seen is None:
        return Do(step, Act.READ)
    return Failed(step, "; ".join(seen.problems)) if seen.problems else None


def facts_against(
    plans: Sequence[HostPlan], machines: Sequence[DiscoveredMachine]
) -> dict[str, Seen]:
    """Return the machine of each host, with its differences from the blueprint and the facts that it does not report."""
    by_host = {plan.name: plan for plan in plans}
    made: dict[str, Seen] = {}
    for line in compare([plan.machine for plan in plans], machines):
        if line.host is None:
            continue
        states = {MachineState.MISSING, *_REFUSED}
        problems = [reason for state, reason in line.problems if state in states]
        machine = line.found
        if machine is not None and not machine.readable:
            problems = [f"{machine.state.value}: {machine.reason}"]
        serial = by_host[line.host].machine.serial
        if machine is not None and machine.readable and machine.serial is None and serial:
            # Only the address matches, and another machine may have it.
            problems.append(
                f"its controller does not report its serial number, but {serial} is planned"
            )
        planned = by_host[line.host].machine.accelerators
        if machine is not None and machine.readable and machine.accelerators is None and planned:
            text = "its controller does not report its accelerators"
            problems.append(f"{text}, but {planned} are planned")
        is_away = machine is not None and machine.state in _AWAY
        made[line.host] = Seen(machine, tuple(problems), is_away)
    return made


def _firmware(plan: HostPlan, record: HostRecord, node: IronicNode, seen: Seen | None) -> Decision:
    step = ProvisioningStep.FIRMWARE
    wanted = plan.machine.firmware
    if not wanted:
        return Passed(step, "no version is stated")
    if (wrong := _look(step, seen)) is not None:
        return wrong
    machine = None if seen is None else seen.machine
    if machine is None:
        return Passed(step, "rehearsed")
    other = {part: has for part, version in wanted.items()
             if (has := machine.firmware.get(part)) is not None and has != version}  # fmt: skip
    for part in FIRMWARE_ORDER:
        if part not in other:
            continue
        file = plan.firmware.get(part)
        text = f"{part} is {other[part]}, but {wanted[part]} is planned"
        if file is None or file.version != wanted[part]:
            return Failed(step, f"{text}: 'provisioning.firmware' has no file of that version")
        if file.checksum is None:
            return Failed(step, f"{text}: the file '{file.name}' has no checksum")
        act = Act.UPDATE
        if record.renewing and node.provision_state in {"active", "service failed"}:
            act = Act.SERVICE
        elif node.provision_state not in {"manageable", "clean failed"}:
            return Failed(step, f"{text}: its node is '{node.provision_state}'")
        is_stuck = machine.state in _STUCK
        # Before the last try, restart the controller: a hung update service rejects every file.
        if is_stuck or record.acts.get(f"{act} {part}", 0) == TRIES - 1:
            if not record.acts.get(
                f"{Act.RESTART} {part}"
            ):  # some controllers accept no update before a restart
                return Do(step, Act.RESTART, part)
            if is_stuck:
                return Failed(step, f"{text}: {machine.state.value}: {machine.reason}")
        return _try(record, step, act, node.last_error or "not read back", part)
    told = [f"{part} {wanted[part]}" for part in wanted if part in machine.firmware]
    open_ones = [part for part in wanted if part not in machine.firmware]
    note = f"{_TOLD}{', '.join(told) or 'none'}"
    return Passed(step, f"{note}{_OPEN}{', '.join(open_ones)}" if open_ones else note)


def split_firmware_note(note: str) -> tuple[Mapping[str, str], frozenset[str]]:
    """Return the versions that were read back by component, and the components that were not reported."""
    told, _, open_ones = note.removeprefix(_TOLD).partition(_OPEN)
    pairs = (text.partition(" ") for text in told.split(", "))
    return {part: version for part, _, version in pairs}, frozenset(open_ones.split(", "))


def image_note(image: Image) -> str:
    """Return the note for the journal about an installed image."""
    kind, _, digest = (image.checksum or "").partition(":")
    return f"{image.name} ({kind} {digest[:12]})"


def _cleaned(plan: HostPlan, record: HostRecord, node: IronicNode, _: Seen | None) -> Decision:
    step = ProvisioningStep.CLEANED
    if node.provision_state == "available":
        return Passed(step)
    if node.provision_state == "clean failed":
        return _try(record, step, Act.MANAGE, node.last_error)
    if node.provision_state == "manageable":
        return _try(record, step, Act.PROVIDE, node.last_error)
    if record.renewing and node.provision_state in {"active", "deploy failed", "error"}:
        return _try(record, step, Act.UNDEPLOY, node.last_error)
    return Failed(
        step,
        f"its node is in the state '{node.provision_state}': it was changed by something other than 'provision'",
    )


def _imaged(plan: HostPlan, record: HostRecord, node: IronicNode, _: Seen | None) -> Decision:
    step = ProvisioningStep.IMAGED
    if plan.image.checksum is None:
        return Failed(step, f"the image '{plan.image.name}' has no checksum")
    digest = plan.image.checksum.partition(":")[2]
    own = node.instance_info.get("image_os_hash_value") == digest
    if node.provision_state == "active":
        # Ironic sets the name of the new image before it writes it. So the name proves nothing until the
        # state of the node has changed after the start of the write.
        begun = {name for name in record.acts if name.startswith((Act.REBUILD, Act.DEPLOY))}
        last = f"{Act.REBUILD} {node.updated}"
        if own and (not record.renewing or (begun and last not in begun)):
            return Passed(step, image_note(plan.image))
        if record.renewing:
            return _try(record, step, Act.REBUILD, node.last_error, node.updated)
        return Failed(step, "it runs another image: 'decommission' it first")
    if node.provision_state in {"available", "deploy failed"}:
        return _try(record, step, Act.DEPLOY, node.last_error)
    return Failed(step, f"its node is in the state '{node.provision_state}'")


def _secured(plan: HostPlan, record: HostRecord, node: IronicNode, seen: Seen | None) -> Decision:
    step = ProvisioningStep.SECURED
    if seen is None:
        return Do(step, Act.READ)
    machine = seen.machine
    if machine is None:
        return Passed(step, "rehearsed")
    if machine.secure_boot is None:
        return Failed(step, "its controller does not report if secure boot is on")
    if not machine.secure_boot:
        return Failed(step, "secure boot is off")
    return Passed(step)


def _later(act: Act, step: ProvisioningStep) -> _Decider:
    def decided(plan: HostPlan, record: HostRecord, node: IronicNode, _: Seen | None) -> Decision:
        if node.provision_state != "active":
            return Failed(step, f"its node is in the state '{node.provision_state}'")
        return _try(record, step, act, record.last)

    return decided


_DECISIONS: Mapping[ProvisioningStep, _Decider] = {
    ProvisioningStep.ENROLLED: _enrolled,
    ProvisioningStep.INSPECTED: _inspected,
    ProvisioningStep.FIRMWARE: _firmware,
    ProvisioningStep.CLEANED: _cleaned,
    ProvisioningStep.IMAGED: _imaged,
    ProvisioningStep.SECURED: _secured,
    ProvisioningStep.REACHED: _later(Act.REACH, ProvisioningStep.REACHED),
    ProvisioningStep.ATTESTED: _later(Act.ATTEST, ProvisioningStep.ATTESTED),
    ProvisioningStep.CONFIGURED: _later(Act.CONFIGURE, ProvisioningStep.CONFIGURED),
    ProvisioningStep.ACCEPTED: _later(Act.ACCEPT, ProvisioningStep.ACCEPTED),
}
