"""Decommissioning of hosts: Ironic cleans their disks, and the state of their nodes proves it."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence

from rackwright.metal.ironic import Ironic, IronicError, IronicNode
from rackwright.metal.journal import ProvisioningJournal
from rackwright.metal.nodes import HostPlan

STEP = "decommissioned"
_ERASED = "available"
_UNDER_WAY = frozenset({"deleting", "cleaning", "clean wait"})
_GIVEN_UP_FROM = frozenset({"active", "deploy failed", "error", "wait call-back"})


def decommission(
    plans: Sequence[HostPlan],
    cluster: str,
    ironic: Ironic,
    journal: ProvisioningJournal,
    *,
    say: Callable[[str], None] = lambda _: None,
    poll_s: float = 5.0,
    sleep: Callable[[float], None] = time.sleep,
) -> Mapping[str, str | None]:
    """Erase the disks of hosts; return for each host the reason why it is not erased, None if it is.

    Raises:
        IronicError: Ironic does not answer.
    """
    reasons: dict[str, str | None] = {}
    left = {plan.name for plan in plans}
    earlier = {host for host, one in journal.records().items() if one.acts.get("delete")}
    asked: set[str] = set()
    while left:
        nodes = ironic.nodes()
        for host in sorted(left):
            reason, is_done = _look(host, nodes.get(host), cluster, ironic, journal, earlier, asked)
            if is_done:
                left.discard(host)
                reasons[host] = reason
                say(f"{host}: {STEP if reason is None else reason}")
        if left:
            sleep(poll_s)
    return reasons


def _look(
    host: str,
    node: IronicNode | None,
    cluster: str,
    ironic: Ironic,
    journal: ProvisioningJournal,
    earlier: set[str],
    asked: set[str],
) -> tuple[str | None, bool]:
    """Return the reason why a host is not erased, and True if its outcome is final."""
    if node is None:
        return "Ironic has no node for it: the state of its disks is unknown", True
    own = node.extra.get("rackwright")
    if not isinstance(own, Mapping) or own.get("cluster") != cluster:
        return f"its node does not belong to '{cluster}'", True
    state = node.provision_state
    if state in _UNDER_WAY:
        return None, False
    # "available" alone proves nothing: new nodes have it as well. It counts after a deletion of ours.
    if host in asked or (host in earlier and state not in _GIVEN_UP_FROM):
        if state == _ERASED:
            journal.forget(host, failure_alone=False)
            return None, True
        return (
            f"its node is in the state '{state}': {node.last_error or 'no reason is given'}",
            True,
        )
    if state not in _GIVEN_UP_FROM:
        return (
            f"its node is in the state '{state}': 'provision' has installed nothing on it",
            True,
        )
    number = journal.begin(host, STEP, "delete")
    try:
        ironic.set_provision_state(host, "deleted")
    except IronicError as error:
        journal.end(number, error.summary)
        return error.summary, True
    journal.end(number, "begun")
    asked.add(host)
    return None, False
