"""Delivery of power limits to hosts: recorded before they are sent, and lowered before any is raised."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

from rackwright.ansible_runs.events import Tally
from rackwright.ansible_runs.files import Workspace
from rackwright.ansible_runs.hosts import AnsibleHosts
from rackwright.errors import ExternalToolError
from rackwright.files import write_changed
from rackwright.fleet.caps import Cap
from rackwright.system_errors import damaged, read_state

PLAYBOOK = "power.yml"
_REMEDY = "remove it once 'nvidia-smi --power-limit' has given every host its full limit again"


@dataclass(frozen=True)
class PowerJournal:
    """Limits that hosts may have, as last sent.

    Attributes:
        reason: reason of the budget.
        since: start of the budget, in s since 1970.
        limits: limit of one accelerator by host, in W.
        full: limit of one accelerator without a budget by host, in W.
    """

    reason: str = ""
    since: float = 0.0
    limits: Mapping[str, int] = field(default_factory=dict)
    full: Mapping[str, int] = field(default_factory=dict)


def load_journal(place: Workspace) -> PowerJournal:
    """Return the journal of a cluster; an empty one if no limits were sent.

    Raises:
        StateError: the file is damaged.
    """  # noqa: DOC501 - damaged() makes the StateError
    path = _path(place)
    document = read_state(path, remedy=_REMEDY)
    if document is None:
        return PowerJournal()
    try:
        limits = {str(host): int(watts) for host, watts in document["limits"].items()}
        full = {str(host): int(watts) for host, watts in document["full"].items()}
        return PowerJournal(str(document["reason"]), float(document["since"]), limits, full)
    except (KeyError, TypeError, ValueError, AttributeError):
        raise damaged(path, remedy=_REMEDY) from None


def _save(place: Workspace, journal: PowerJournal) -> None:
    write_changed(_path(place), json.dumps(asdict(journal), indent=1, sort_keys=True))


def _path(place: Workspace) -> Path:
    return place.folder / "power.json"


def limits_of(caps: Sequence[Cap]) -> PowerJournal:
    """Return the limits of hosts from caps, as a journal without reason and time."""
    limits = {host: cap.limit_w for cap in caps for host in cap.hosts}
    full = {host: round(cap.full_w) for cap in caps for host in cap.hosts}
    return PowerJournal(limits=limits, full=full)


def send_caps(hosts: AnsibleHosts, caps: Sequence[Cap], reason: str) -> Mapping[str, str]:
    """Send the limits of a plan, and restore the full limits of hosts without a cap.

    A killed run can be repeated: the journal lists every host that may be limited.

    Returns:
        Hosts that did not accept their limit, with the reason.
    """
    place = hosts.place
    before, wanted = load_journal(place), limits_of(caps)
    full = {**before.full, **wanted.full}
    back = {host: full[host] for host in before.limits if host not in wanted.limits}
    since = before.since if before.limits else time.time()
    _save(place, PowerJournal(reason, since, {**before.limits, **wanted.limits}, full))
    # Lower first: if the run ends in between, the site draws less than its budget, never more.
    down = {h: w for h, w in wanted.limits.items() if w <= before.limits.get(h, full[h])}
    up = {**{h: w for h, w in wanted.limits.items() if h not in down}, **back}
    failed = dict(_send(hosts, down))
    failed |= _send(hosts, up)
    left = {host: watts for host, watts in before.limits.items() if host in failed and host in back}
    limits = {**wanted.limits, **left}
    _save(place, PowerJournal(reason if limits else "", since if limits else 0.0, limits,
                              {host: full[host] for host in limits}))  # fmt: skip
    return failed


def _send(hosts: AnsibleHosts, limits: Mapping[str, int]) -> Mapping[str, str]:
    """Set the limits of hosts; return the hosts that did not accept theirs, with the reason.

    Raises:
        ExternalToolError: Ansible itself failed, so the limits of the hosts are unknown.
    """
    if not limits:
        return {}
    limited = {host: {"power_limit_w": watts} for host, watts in limits.items()}
    asked = {"all": {"children": {"power_limited": {"hosts": limited}}}}
    tally = Tally()
    done = hosts.play(PLAYBOOK, tally.take, asked=asked)
    tally.finish()
    failed = {
        host: result.failure for host, result in tally.hosts.items() if result.failure is not None
    }
    if done.rc != 0 and not failed:
        raise ExternalToolError(
            f"ansible-playbook ended with {done.rc}",
            hint="the current limits of the hosts are unknown",
        )
    return {**failed, **{host: "it was not reached" for host in limits if host not in tally.hosts}}
