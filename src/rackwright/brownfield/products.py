"""Products that sources name, found in the catalogue by id, by name, or by maker and name."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from rackwright.brownfield.records import FoundDevice
from rackwright.catalog.loader import KINDS, Catalogue
from rackwright.errors import SpecError
from rackwright.model.hardware import Entry, Node, Pdu, PowerShelf, Switch
from rackwright.model.racks import RackType
from rackwright.reading.suggest import did_you_mean

_STANDING: tuple[type[Entry], ...] = (Node, Switch, Pdu, PowerShelf, RackType)
"""Kinds of products that stand in racks, or are racks."""
LEAVE_OUT = "leave out"
"""Instead of an id or a role: what is so is no part of the blueprint."""
_ONLY_LETTERS = re.compile(r"[^a-z0-9]+")


def letters(text: str) -> str:
    """Return a name without what people write in different ways: ``dgxh100`` for ``DGX H100``."""
    return _ONLY_LETTERS.sub("", text.lower())


class Products:
    """The catalogue, by names that sources use."""

    def __init__(
        self,
        catalogue: Catalogue,
        said: Mapping[str, str],
        left_out: Sequence[str],
        *,
        roles: Mapping[str, str] | None = None,
        leave_out_unknown: bool = False,
    ) -> None:
        """Note products by their names.

        Args:
            catalogue: where they are looked up.
            said: ids by the names of a source, as stated on the command line.
            left_out: names of products that are to be left out.
            roles: roles of nodes, tiers of switches or ``leave out``, by roles of a source.
            leave_out_unknown: leave out devices of products that are not known.
        """
        self.catalogue = catalogue
        self.leave_out_unknown = leave_out_unknown
        self._roles = {letters(name): word for name, word in (roles or {}).items()}
        self._said = {letters(name): entry_id for name, entry_id in said.items()}
        self._left_out = {letters(name) for name in left_out}
        self._known: dict[str, dict[tuple[str, str], Entry]] = {}
        for kind in _STANDING:
            for entry_id in catalogue.ids(kind):
                entry = catalogue.get(kind, entry_id)
                for name in (entry_id, entry.name, f"{entry.vendor} {entry.name}"):
                    self._known.setdefault(letters(name), {})[KINDS[kind], entry_id] = entry

    def is_left_out(self, device: FoundDevice) -> bool:
        """Return True if such a device is to be left out, by its product or its role."""
        if self.role_of(device) == LEAVE_OUT:
            return True
        return any(letters(name) in self._left_out for name in device.product)

    def role_of(self, device: FoundDevice) -> str | None:
        """Return the word for the role of a device; None where none is given."""
        return self._roles.get(letters(device.group)) if device.group else None

    def find(self, device: FoundDevice) -> Entry | SpecError:
        """Return the product of a device, or why it is not known."""
        for written in device.product:
            name = self._said.get(letters(written), written)
            found = list(self._known.get(letters(name), {}).values())
            if len(found) == 1:
                return found[0]
            if found:
                several = ", ".join(sorted(entry.id for entry in found))
                message = f"'{name}' may be each of these products: {several}"
                hint = f"say which: --product '{name}={found[0].id}'"
                return SpecError(message, hint=hint, location=device.at)
        shown = device.product[-1]
        given = next(
            (self._said[letters(name)] for name in device.product if letters(name) in self._said),
            None,
        )
        if given is not None:
            message = f"'{given}', which '{shown}' is said to be, is no product of the catalogue"
            hint = (
                did_you_mean(given, self._ids()) or "'rackwright catalogue list' shows the products"
            )
            return SpecError(message, hint=hint, location=device.at)
        near = did_you_mean(shown, self._ids())
        hint = (
            f"{f'{near} ' if near else ''}--product '{shown}=ID' says which product it is; 'rackwright catalogue "
            f"import FILE' makes one of NetBox's device type, 'catalogue new' of a data sheet; "
            f"--leave-out '{shown}' leaves it out"
        )
        message = f"'{shown}' is no product of the catalogue"
        return SpecError(message, hint=hint, location=device.at)

    def _ids(self) -> list[str]:
        return [entry_id for kind in _STANDING for entry_id in self.catalogue.ids(kind)]
