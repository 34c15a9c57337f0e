"""Time of collectives over NVLink, rails and tiers: α–β models with the numbers of the plan."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

BUSY = 0.9
"""Share of an NVLink's rate that an all-to-all reaches."""


@dataclass(frozen=True, slots=True)
class Links:
    """Links that join the accelerators of a job.

    Attributes:
        domain: accelerators of one NVLink domain.
        link: bytes in a second that each gets inside it, in an all-gather over the node.
        delay: seconds of a step inside the domain.
        rail: bytes in a second of each accelerator's own network port; 0 without a network.
        rail_delay: seconds of a step over the network.
        pod: accelerators below which traffic meets no oversubscribed tier.
        oversubscription: of the tier above a pod, 1 or more.
        reached: share of the rail's rate that collectives reach.
        uplinks: of a leaf, of which each flow takes one by chance; 0 where routes avoid each other.
    """

    domain: int
    link: float
    delay: float
    rail: float
    rail_delay: float = 10e-6
    pod: int = 1 << 30
    oversubscription: float = 1.0
    reached: float = 0.8
    uplinks: int = 0

    def rate(self, members: int, span: int) -> float:
        """Return the bytes in a second of a ring of ``members`` that lie evenly within ``span`` accelerators.

        A ring leaves a domain over the ports of all its members there, each with the rail of its own.
        It leaves a pod once on each rail, so uplinks are short where a pod has more rings than they
        carry: with h hosts of a pod in one ring, oversubscription ω slows it to h / ω, or not at all.

        Raises:
            ValueError: it leaves the domain and there is no network.
        """
        if span <= self.domain:
            return self.link
        if not self.rail:
            raise ValueError(f"{span} accelerators span domains of {self.domain} without a network")
        ports = max(1.0, members * self.domain / span)
        hosts = min(members * self.pod / span, self.pod / self.domain)
        slower = self._busiest(self.oversubscription / max(1.0, hosts)) if span > self.pod else 1.0
        return min(self.link, ports * self.rail * self.reached / slower)

    def gather(self, volume: float, members: int, span: int) -> float:
        """Return the seconds of an all-gather or reduce-scatter of ``volume`` bytes in all.

        Ring inside a domain, tree of steps between domains: (n - 1)/n of the volume over the ring's
        rate, and a delay for each step.
        """
        if members <= 1:
            return 0.0
        inside = min(members, self.domain)
        steps = self.delay * math.log2(inside) if inside > 1 else 0.0
        if span > self.domain:
            steps += self.rail_delay * math.log2(max(2.0, span / self.domain))
        return (members - 1) / members * volume / self.rate(members, span) + steps

    def exchange(
        self, tokens: float, width: float, members: int, copies: int, groups: int, *, once: bool
    ) -> float:
        """Return the seconds of one all-to-all of expert parallelism.

        A plain all-to-all sends each token once for each expert. DeepEP and HybridEP send it once to each
        accelerator of its domain, and once to each other domain, where NVLink spreads it.

        Args:
            tokens: of one accelerator.
            width: bytes of a token.
            members: accelerators that share the experts, beside each other.
            copies: experts that each token visits.
            groups: most domains that a token may visit; 0 without a limit.
            once: each destination gets a token once.
        """
        if members <= 1:
            return 0.0
        near = min(members, self.domain)
        domains = members / near
        sent = _distinct(near, copies) if once else copies * (near - 1) / near
        inside = tokens * sent * width / (self.link * BUSY)
        if domains <= 1:
            return inside + self.delay
        choices = min(copies, groups) if groups else copies
        visited = _distinct(domains, choices) if once else copies * (domains - 1) / domains
        crossing = max(0.0, 1 - self.pod / members)
        flows = self.oversubscription * max(1.0, (members - self.pod) / near)
        slower = max(1.0, self.oversubscription * crossing * self._busiest(flows) / max(1.0, flows))
        outside = tokens * width * visited * slower / (self.rail * self.reached)
        return max(inside, outside) + self.rail_delay

    def _busiest(self, flows: float) -> float:
        """Return by how much a link slows flows down that carry ``flows`` each on average, by the busiest of them."""
        return max(1.0, _most(flows, self.uplinks) if self.uplinks else flows)


@lru_cache(maxsize=4096)
def _most(flows: float, links: int) -> float:
    """Return the flows expected on the busiest of ``links`` that flows take by chance, ``flows`` on average.

    Numbers of flows on a link are those of Poisson; all flows on one link are the most.
    """
    if flows > 500:  # the exponential of more is lost in rounding; normal deviates come near
        return flows + math.sqrt(2 * flows * math.log(max(2, links)))
    chance = below = math.exp(-flows)
    count, found = 0, 0.0
    while (none := below**links) < 1 - 1e-9:
        found += 1 - none
        count += 1
        chance *= flows / count
        below += chance
    return max(flows, min(found, flows * links))


def _distinct(places: float, choices: int) -> float:
    """Return how many of ``places``, its own left out, a token visits that picks ``choices`` evenly."""
    return (places - 1) * (1 - (1 - 1 / places) ** choices)
