"""Replaces instances of node groups by name, and waits for those that take their place.

Capacity that is given back may not come again, so a group launches first and gives back only then. Where
capacity is reserved, and all of it runs, an instance ends first: its place is kept.

An Auto Scaling group that is told to end an instance without getting smaller launches another one from
the launch template that it has now (Amazon EC2 Auto Scaling API Reference,
``TerminateInstanceInAutoScalingGroup``). Protection from scale-in does not stop that call (Amazon EC2
Auto Scaling User Guide, "Use instance scale-in protection to control instance termination").
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from rackwright.provision.aws.fleet_calls import Fleet, FleetCalls, failure_of
from rackwright.provision.naming import Naming
from rackwright.provision.nodes import bind, refuse_renames
from rackwright.provision.outdated import ScalingGroup
from rackwright.provision.targets import Target

KEPT = "the old instance goes on; '--end-first' gives it back before another one is there"

FIRST_PAUSE, SLOWER, LONGEST_PAUSE = 5.0, 1.5, 60.0
"""Seconds until a group is looked at again, how much longer each pause is than the last, and the longest."""


@dataclass
class Replacing:
    """The replacement of instances under way.

    Attributes:
        fleet: the node groups.
        target: where they are.
        ends: the instance of each host that has to go; empty where a host has none.
        say: takes lines about the progress.
        timeout: seconds that a group may take to launch other instances.
        addressed: is told the hosts of the fleet once others have taken a place.
        end_first: end instances before others are launched.
    """

    fleet: Fleet
    target: Target
    ends: Mapping[str, str]
    say: Callable[[str], None]
    timeout: float = 1200.0
    addressed: Callable[[Sequence[Naming]], None] = lambda _namings: None
    end_first: bool = False
    sleep: Callable[[float], None] = time.sleep
    clock: Callable[[], float] = time.monotonic
    calls: FleetCalls = field(init=False)

    def __post_init__(self) -> None:
        self.calls = FleetCalls(self.fleet, self.target)

    def renew(self, hosts: Sequence[str]) -> Mapping[str, str]:
        """Replace the instances of hosts; those that have no other one then, with the reason.

        Of a host whose instance has gone already, and of one that has another instance already, nothing is
        ended: a run that was cut off is finished by the next.

        Raises:
            UsageError: a running host would get another name; nothing has ended then.
            ExternalToolError: AWS refuses, or cannot be reached.
        """
        groups = {group.group: group for group in self.calls.groups()}
        found = self.calls.instances(list(groups.values()))
        empty: dict[str, list[str]] = {}
        kept: dict[str, str] = {}
        namings = {name: self.fleet.held(name, found.get(name, ())) for name in self.fleet.groups}
        # Names are given to what comes; where that is refused, nothing may have ended before.
        refuse_renames(namings.values())
        for name, naming in namings.items():
            there = {one.id for one in found.get(name, ())}
            old: list[str] = []
            for host in (host for host in naming.hosts if host in hosts):
                one = naming.holders.get(host)
                if one is not None and one.id == self.ends.get(host):
                    old.append(host)
                elif one is None:
                    empty.setdefault(name, []).append(host)
            if name in groups:
                kept.update(self._exchange(groups[name], old))
                self._clear(groups[name], there, empty.get(name, ()))
        return {**kept, **self._wait([host for host in hosts if host not in kept])}

    def _exchange(self, group: ScalingGroup, old: Sequence[str]) -> Mapping[str, str]:
        """End the instances of ``old``, each once another one runs; hosts that keep theirs, with the reason."""
        # The stack's own size: the blueprint may ask for more by now, which comes with 'up'.
        size = group.minimum
        spare, why, launched = 0, None, bool(old) and not self.end_first
        if launched:
            self.say(f"launching {len(old)} more of '{group.group}', before those that run end")
            spare, why = self._launch(group, size + len(old), len(old))
        for host in old[:spare]:
            self.say(f"ending {self.ends[host]} of {host}")
            self.calls.end(self.ends[host], smaller=True)
        if launched or group.maximum > size:  # larger by a run that was cut off
            self.calls.resize(group.name, size)
        left = old[spare:]
        if launched and group.group not in self.fleet.reserved:
            why = why or f"none came in {self.timeout:g} s"
            return dict.fromkeys(left, f"no other instance: {why}; {KEPT}")
        for host in left:
            self.say(f"ending {self.ends[host]} of {host}, before another one is launched")
            self.calls.end(self.ends[host], smaller=False)
        return {}

    def _launch(self, group: ScalingGroup, size: int, wanted: int) -> tuple[int, str | None]:
        """Have a group grow, until ``wanted`` instances without a host run or AWS has no more.

        Return their number, and AWS's words where it refuses the others.
        """
        before = [one["ActivityId"] for one in self.calls.activities(group.name, 1)]
        self.calls.resize(group.name, size)
        end, pause = self.clock() + self.timeout, FIRST_PAUSE
        while True:
            (now,) = (one for one in self.calls.groups() if one.name == group.name)
            naming = self.fleet.held(group.group, self.calls.instances([now]).get(group.group, ()))
            coming = [one for one in naming.unnamed if one.id in now.pending]
            ready = [
                one
                for one in naming.unnamed
                if one.address and one.id not in now.pending | now.unhealthy
            ]
            # An activity from before the request is no answer to it.
            newest = self.calls.activities(group.name, 1)
            asked = (one for one in newest if one["ActivityId"] not in before)
            failed = next(map(failure_of, asked), None)
            if len(ready) >= wanted or self.clock() >= end or (failed and not coming):
                return min(len(ready), wanted), failed
            self.sleep(min(pause, max(0.1, end - self.clock())))
            pause = min(pause * SLOWER, LONGEST_PAUSE)

    def _clear(self, group: ScalingGroup, there: set[str], hosts: Sequence[str]) -> None:
        """Let a group forget instances that have gone, which nothing else replaces."""
        gone = sorted(group.unhealthy & group.members.keys() - there)
        for one, host in zip(gone, hosts, strict=False):
            self.say(f"{one}, which may have been {host}, has gone; its group launches another one")
            self.calls.end(one, smaller=False)

    def _wait(self, hosts: Sequence[str]) -> Mapping[str, str]:
        end, pause = self.clock() + self.timeout, FIRST_PAUSE
        while True:
            done = bind(self.fleet, self.target, say=self.say, first=hosts)
            waiting = {
                host: naming.group
                for naming in done.namings
                for host in naming.hosts
                if host in hosts and not self._has_other(naming, host)
            }
            if not waiting:
                self.addressed(done.namings)
                return {}
            if self.clock() >= end:
                self.addressed(done.namings)
                return {host: self._why(group) for host, group in waiting.items()}
            self.sleep(min(pause, max(0.1, end - self.clock())))
            pause = min(pause * SLOWER, LONGEST_PAUSE)

    def _has_other(self, naming: Naming, host: str) -> bool:
        one = naming.holders.get(host)
        return one is not None and one.address is not None and one.id != self.ends.get(host)

    def _why(self, group: str) -> str:
        """Return why a host has no instance, in AWS's own words if it gives a reason."""
        told = self.calls.last_failure(group)
        text = f"no instance has taken its place in {self.timeout:g} s"
        return text if told is None else f"{text}: {told}"

    def remove(self, hosts: Sequence[str]) -> Mapping[str, str]:
        """End the instances of hosts, each group getting as much smaller; nothing takes their place.

        Raises:
            ExternalToolError: AWS refuses, or cannot be reached.
        """
        self.remove_instances([self.ends[host] for host in hosts if self.ends.get(host)])
        return {}

    def remove_instances(self, instances: Sequence[str]) -> None:
        """End instances, each group getting as much smaller; those that have gone already are passed over.

        Raises:
            ExternalToolError: AWS refuses, or cannot be reached.
        """
        for group in self.calls.groups():
            going = [one for one in instances if one in group.members]
            if going:
                self.calls.lower_minimum(group.name, max(0, len(group.members) - len(going)))
            for one in going:
                self.say(f"ending {one} of '{group.group}', which gets smaller")
                self.calls.end(one, smaller=True)
