"""Names that devices of a hall have, and what the plan calls them.

Switches and hosts are found by their names, in small letters or capitals, with or without a domain. Which interface
an adapter is follows from the catalogue where it has the names, else from the cables: an adapter with the same word
behind the name of each host (``mlx5_0``, ``HCA-1``) is the interface that it is cabled as on most of them.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeVar

from rackwright.plan.fabric.discovered.dump import End
from rackwright.plan.fabric.layout import Hosts, Layout

Named = TypeVar("Named")

_SWITCH = re.compile(r"(?:[A-Za-z0-9]+;)?([^:;/ ]+)")
"""Managed switches call themselves ``MF0;leaf-01:MQM9700/U1``."""
_ADAPTER = re.compile(r"([A-Za-z0-9][A-Za-z0-9._-]*)(?:/(\d+)|[ _](?=\S)(.*))?")
"""A host with its interface or the name of its device, like ``dgx-01 mlx5_0`` or ``dgx-01 HCA-1``."""
_GUID = re.compile(r"\s*\((?:[0-9a-f]{16}|lid \d+)\)$")
_NUMBER = re.compile(r"(\d+)")


@dataclass(frozen=True, slots=True)
class _Adapter:
    """An adapter of a host of the plan.

    Attributes:
        attachment: index of the attachment.
        host: its name in the plan.
        interface: counted from 1; None where its name does not say it.
        word: that its host calls it by.
    """

    attachment: int
    host: str
    interface: int | None
    word: str


@dataclass(frozen=True)
class PlanNames:
    """The plan's names of devices in a hall.

    Attributes:
        layout: the plan.
        links: what was seen, by the hall's names.
        meant: the far end of each end of the plan.
    """

    layout: Layout
    links: Mapping[End, End]
    meant: Mapping[End, End] = field(repr=False)

    @cached_property
    def switches(self) -> dict[str, str]:
        """Names of switches by the descriptions that are theirs."""
        known = _with_other_digits(
            {name.lower(): name for tier in self.layout.tiers for name in tier.names()}
        )
        made = {}
        for text in self._devices:
            match = _SWITCH.match(text)
            if match is None:
                continue
            written = match[1].lower()
            short = written.partition(".")[0]
            name = known.get(written) or known.get(short) or known.get(_plain_digits(short))
            if name is not None:
                made[text] = name
        return made

    @cached_property
    def _devices(self) -> list[str]:
        return list(dict.fromkeys(end[0] for pair in self.links.items() for end in pair))

    @cached_property
    def _hosts(self) -> dict[str, tuple[int, str]]:
        exact = {
            name.lower(): (index, name)
            for index, hosts in enumerate(self.layout.hosts)
            for name in hosts.names
        }
        return _with_other_digits(exact)

    @cached_property
    def adapters(self) -> dict[str, _Adapter]:
        """Adapters of hosts of the plan by their descriptions."""
        made = {}
        for text in self._devices:
            if text not in self.switches and (adapter := self._adapter(text)) is not None:
                made[text] = adapter
        return made

    def _adapter(self, text: str) -> _Adapter | None:
        match = _ADAPTER.fullmatch(_GUID.sub("", text))
        if match is None:
            return None
        name = match[1].lower()
        short = name.partition(".")[0]
        found = (
            self._hosts.get(name) or self._hosts.get(short) or self._hosts.get(_plain_digits(short))
        )
        if found is None:
            return None
        attachment, host = found
        if match[2]:
            return _Adapter(attachment, host, int(match[2]), "")
        word, hosts = (match[3] or "").strip(), self.layout.hosts[attachment]
        if (interface := _by_catalogue(hosts, word)) is None and _is_another_port(hosts, word):
            return None
        return _Adapter(attachment, host, interface, word)

    @cached_property
    def _by_word(self) -> dict[tuple[int, str], int]:
        """Interfaces by attachment and the word of their adapter, as most of the hosts are cabled."""
        votes: dict[tuple[int, str], Counter[int]] = {}
        words: dict[int, dict[str, list[str]]] = {}
        for (device, _), far in self.links.items():
            adapter = self.adapters.get(device)
            if adapter is None or adapter.interface is not None or not adapter.word:
                continue
            words.setdefault(adapter.attachment, {}).setdefault(adapter.host, []).append(
                adapter.word
            )
            planned = self.meant.get((self.switches.get(far[0], ""), far[1]))
            counted = votes.setdefault((adapter.attachment, adapter.word), Counter())
            if planned is not None and planned[0] == adapter.host:
                counted[planned[1]] += 1
        made: dict[tuple[int, str], int] = {}
        for attachment, by_host in words.items():
            made |= self._settle(attachment, by_host.values(), votes)
        return made

    def _settle(
        self,
        attachment: int,
        hosts: Iterable[list[str]],
        votes: Mapping[tuple[int, str], Counter[int]],
    ) -> dict[tuple[int, str], int]:
        """Return the interfaces of an attachment's words: by vote, and in their order where votes are few."""
        count = self.layout.hosts[attachment].interfaces or 0
        longest = max(hosts, key=len)
        ordered = sorted(dict.fromkeys(longest), key=_natural)
        several = sum(1 for _ in hosts) > 2
        made: dict[tuple[int, str], int] = {}
        for word in {key[1] for key in votes if key[0] == attachment}:
            counted = votes[attachment, word]
            ((interface, most),) = counted.most_common(1) or [(0, 0)]
            if several and most * 2 > counted.total():
                made[attachment, word] = interface
        if len(set(made.values())) < len(made) or not made:
            made = {}
        if not made and len(ordered) == count:
            made = {(attachment, word): number for number, word in enumerate(ordered, 1)}
        return made

    def end(self, end: End) -> End:
        """Return an end by the plan's names; what it does not know keeps its description."""
        device, port = end
        if device in self.switches:
            return self.switches[device], port
        adapter = self.adapters.get(device)
        if adapter is None:
            return end
        interface = adapter.interface or self._by_word.get((adapter.attachment, adapter.word))
        return end if interface is None else (adapter.host, interface)

    @property
    def matched(self) -> bool:
        """True if anything in the hall is in the plan."""
        return bool(self.switches or self.adapters)


def _plain_digits(name: str) -> str:
    """Return a name whose numbers have no leading zeros, as halls and plans write them in different ways."""
    return _NUMBER.sub(lambda match: match[1].lstrip("0") or "0", name)


def _with_other_digits(known: Mapping[str, Named]) -> dict[str, Named]:
    """Return things by their names, and by those without leading zeros where one alone is called so."""
    counts = Counter(map(_plain_digits, known))
    plain = {_plain_digits(name): one for name, one in known.items()}
    return {**{name: one for name, one in plain.items() if counts[name] == 1}, **known}


def _by_catalogue(hosts: Hosts, word: str) -> int | None:
    """Return the interface that the catalogue calls so; a port that is split has no name for its parts."""
    if hosts.port is None or hosts.parts != 1 or word not in hosts.port.names:
        return None
    interface = hosts.port.names.index(word) + 1 - hosts.first_port
    return interface if 1 <= interface <= (hosts.interfaces or 0) else None


def _is_another_port(hosts: Hosts, word: str) -> bool:
    """Return True for a name such as those that the catalogue has, and that is none of this fabric."""
    if hosts.port is None or hosts.parts != 1:
        return False
    return _NUMBER.sub("", word) in {_NUMBER.sub("", name) for name in hosts.port.names}


def _natural(word: str) -> tuple[tuple[int, int | str], ...]:
    parts = _NUMBER.split(word)
    return tuple((1, int(part)) if part.isdigit() else (0, part) for part in parts)
