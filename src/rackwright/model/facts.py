"""Numbers of products that a blueprint states, because the catalogue has them from no document."""

from __future__ import annotations

import datetime as dt
from typing import Annotated

from pydantic import Field

from rackwright.model.base import Model, Prose
from rackwright.model.field_kinds import KEY, Claim
from rackwright.model.hardware import ID, Confidence


class ProductFact(Model):
    """One value of one product, with its source; the catalogue has it from no document."""

    product: Annotated[str, Field(pattern=ID, max_length=100), KEY]
    """Id of the product."""
    field: Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*){0,2}$"), KEY]
    """Name of the value in its catalogue entry, like ``weight`` or ``power_supplies.rating``."""
    value: Annotated[str | int, Claim(looser="either", absent="elsewhere")]
    """Value as in the catalogue, with its unit where it has one."""
    source: Annotated[Prose, Claim(looser="either", absent="elsewhere")]
    """The document or measurement, precise enough to be found again."""
    date: Annotated[dt.date, Claim(looser="higher", absent="elsewhere")]
    """Day on which the value was published, read or measured."""
    confidence: Annotated[Confidence, Claim(looser="either", absent="elsewhere")]
    """Confidence in the value."""

    @property
    def is_example(self) -> bool:
        """True if it is an example, by its confidence or by the words of its source."""
        is_said = self.source.strip().lower().startswith("example")
        return is_said or self.confidence is Confidence.EXAMPLE
