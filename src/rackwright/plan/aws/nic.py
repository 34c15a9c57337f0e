"""Network interfaces of an EC2 instance: which card and device index carries which kind.

The rules are those of the EC2 documentation on instances with several network cards. A type whose
cards are not in the catalogue has no layout: an instance launched with one EFA where it has 32
still boots, and trains at a fraction of its speed, so guessing is never right.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from rackwright.errors import RackwrightError
from rackwright.model.hardware import fact_value
from rackwright.model.instances import Instance, NetworkCard

InterfaceKind = Literal["interface", "efa", "efa-only"]

ALTERNATING_TYPES = frozenset({"p6e-gb200.36xlarge"})
"""Types whose cards take one and two interfaces in turn, and whose layout follows that."""


class LayoutError(RackwrightError):
    """The interfaces of an instance type cannot be laid out as asked."""

    code = "nic-layout"


class UnknownLayoutError(LayoutError):
    """The catalogue lacks what the layout of an instance type rests on."""

    code = "nic-layout-unknown"


class NoEfaError(LayoutError):
    """EFA is asked of an instance type that has none."""

    code = "nic-no-efa"


@dataclass(frozen=True, slots=True, order=True)
class Nic:
    """One network interface of an instance."""

    card: int
    device: int
    kind: InterfaceKind

    @property
    def takes_address(self) -> bool:
        """True if the interface takes an IP address of its subnet."""
        return self.kind != "efa-only"

    @property
    def is_efa(self) -> bool:
        """True if the interface carries EFA traffic."""
        return self.kind != "interface"


PRIMARY = Nic(card=0, device=0, kind="interface")
"""Every instance's primary interface: ENA, for an EFA-only interface cannot be primary."""


def nic_layout(instance: Instance) -> tuple[Nic, ...]:
    """Return the interfaces that give ``instance`` its full EFA bandwidth, by card and device.

    Raises:
        NoEfaError: the type has no EFA.
        UnknownLayoutError: the catalogue lacks the type's cards.
        LayoutError: the catalogue contradicts itself.
    """
    known = fact_value(instance.efa_interfaces)
    cards = fact_value(instance.cards)
    name = instance.instance_type
    if known == 0 or (cards is not None and known is None and not any(c.efa for c in cards)):
        raise NoEfaError(
            f"the instance type '{name}' has no EFA", hint="set 'efa: false' or choose another type"
        )
    if cards is None:
        raise UnknownLayoutError(
            f"the network cards of '{name}' are not in the catalogue",
            hint="add 'cards' to its catalogue entry, from DescribeInstanceTypes",
        )
    _check_cards(name, cards)
    alternating = len({card.interfaces for card in cards if card.efa}) > 1
    if alternating and name not in ALTERNATING_TYPES:
        raise UnknownLayoutError(
            f"the network cards of '{name}' take different numbers of interfaces, "
            "and no rule is known for such a type"
        )
    efa = tuple(_efa_interface(name, card, alternating) for card in cards if card.efa)
    if known is not None and len(efa) != known:
        raise LayoutError(
            f"the network cards of '{name}' give {len(efa)} EFA interfaces, "
            f"its catalogue entry says {known}",
            hint="correct 'cards' or 'efa_interfaces' in the catalogue entry",
        )
    return tuple(sorted((PRIMARY, *efa)))


def group_layout(instance: Instance, *, efa: bool) -> tuple[Nic, ...]:
    """Return the interfaces of an instance with EFA, or just its primary one without.

    Raises:
        LayoutError: EFA is wanted and ``nic_layout`` refuses.
    """
    return nic_layout(instance) if efa else (PRIMARY,)


def addresses_per_node(nics: tuple[Nic, ...]) -> int:
    """Return the number of IP addresses of the subnet that one instance takes."""
    return sum(nic.takes_address for nic in nics)


def efa_count(nics: tuple[Nic, ...]) -> int:
    """Return the number of ``nics`` that carry EFA."""
    return sum(nic.is_efa for nic in nics)


def _check_cards(name: str, cards: tuple[NetworkCard, ...]) -> None:
    indexes = sorted(card.index for card in cards)
    if indexes != list(range(len(cards))):
        raise LayoutError(
            f"the network cards of '{name}' are not numbered 0 to {len(cards) - 1} without gaps"
        )


def _efa_interface(name: str, card: NetworkCard, alternating: bool) -> Nic:  # noqa: FBT001
    if card.index == 0:
        if card.interfaces < 2:
            raise LayoutError(
                f"network card 0 of '{name}' takes one interface, which the primary one needs: "
                "there is no room for its EFA interface"
            )
        return Nic(card=0, device=1, kind="efa-only")
    if alternating and card.interfaces > 1:
        return Nic(card=card.index, device=1, kind="efa")
    return Nic(card=card.index, device=0, kind="efa-only")
