"""Lines between the sites of a blueprint."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, model_validator

from rackwright.model.base import Model
from rackwright.model.field_kinds import KEY, Claim
from rackwright.model.names import DISTINCT, Name
from rackwright.model.units import GigabitsPerSecond, Seconds


class Interconnect(Model):
    """A line between two sites; absent is unknown."""

    name: Annotated[Name, KEY]
    """Name of the line, by which the rest of the blueprint refers to it."""
    sites: Annotated[tuple[Name, ...], DISTINCT, Field(min_length=2, max_length=2), KEY]
    """The two sites that it joins."""
    bandwidth: Annotated[GigabitsPerSecond | None, Claim(looser="higher")] = None
    """Bandwidth that the cluster may use in each direction, in Gbps. Unknown if omitted."""
    round_trip_time: Annotated[Annotated[Seconds, Field(gt=0)] | None, Claim(looser="lower")] = None
    """Round-trip time between a host of one site and a host of the other, in ms. Unknown if omitted."""

    @model_validator(mode="after")
    def _ends_differ(self) -> Interconnect:
        if self.sites[0] == self.sites[1]:
            raise ValueError(f"both ends of '{self.name}' are '{self.sites[0]}'")
        return self
