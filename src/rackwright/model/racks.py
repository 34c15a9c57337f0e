"""Racks and immersion tanks of the catalogue."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import model_validator

from rackwright.model.base import Model
from rackwright.model.field_kinds import LABEL, Claim
from rackwright.model.hardware import LEAST, SOME, Count, Entry, Fact
from rackwright.model.units import Kilograms, Metres, RackUnits


class Immersion(Model):
    """Immersion tank; its units lie beside each other, and devices hang in them."""

    fluid_weight: Annotated[Fact[Kilograms] | None, Claim(looser="lower")] = None
    """Weight of the fluid of a tank that is filled for operation, in kg."""
    top: Annotated[Fact[Metres] | None, Claim(looser="lower")] = None
    """Height above the floor of the edge over which devices are lifted, in m."""


class RackType(Entry):
    """An empty rack."""

    kind: Annotated[Literal["rack"], LABEL]
    """Kind of the entry; its file is in the folder ``racks``."""
    height: Annotated[Fact[Annotated[RackUnits, SOME]], Claim(looser="either", absent="elsewhere")]
    """Rack units that it offers, in U; of a tank, the units that lie beside each other."""
    width: Annotated[Fact[Annotated[Metres, LEAST]], Claim(looser="either", absent="elsewhere")]
    """Outer width across the row, in m."""
    depth: Annotated[Fact[Annotated[Metres, LEAST]], Claim(looser="either", absent="elsewhere")]
    """Outer depth from front to rear, in m: devices and the cables behind them must fit."""
    weight: Annotated[Fact[Kilograms] | None, Claim(looser="lower")] = None
    """Weight without devices and PDUs, in kg; of a tank, without its fluid."""
    static_rating: Annotated[Fact[Kilograms] | None, Claim(looser="higher")] = None
    """Weight of content that the rack may carry at rest, in kg."""
    gross_rating: Annotated[Fact[Kilograms] | None, Claim(looser="higher", absent="elsewhere")] = (
        None
    )
    """Weight of rack and content that may stand at rest, in kg: at least its ``static_rating``."""
    dynamic_rating: Annotated[Fact[Kilograms] | None, Claim(looser="higher")] = None
    """Weight of content that the rack may carry while it is rolled, in kg."""
    casters: Annotated[Count, Claim(looser="either", absent="elsewhere")] = 4
    """Casters or feet that carry it."""
    immersion: Annotated[Immersion | None, Claim(looser="either", absent="elsewhere")] = None
    """Tank data of an immersion tank. A rack of air if omitted."""

    @model_validator(mode="after")
    def _more_with_itself(self) -> RackType:
        if self.gross_rating is None or self.static_rating is None:
            return self
        gross, payload = self.gross_rating.value, self.static_rating.value
        if gross < payload:
            raise ValueError(
                f"gross_rating is {gross:g} kg, below the {payload:g} kg of content that "
                "static_rating allows: give what the rack may weigh with itself"
            )
        return self
