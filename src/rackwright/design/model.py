"""Input of ``rackwright design``: the wanted cluster, and the facility that houses it.

Fields of the facility are those of a bare-metal site of a blueprint, by the same names and types; its
rack groups say where racks may stand.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from rackwright.model.addresses import SiteAddresses
from rackwright.model.base import Model
from rackwright.model.cooling import CoolingLoop, FacilityWater, MechanicalPlant
from rackwright.model.names import Name, expand_hostlist, hostlist_size, refuse_twins
from rackwright.model.onprem import MOST_RACKS, Hall, NodeGroup
from rackwright.model.power import SitePower
from rackwright.model.security import SiteSecurity
from rackwright.model.units import Celsius, Metres, Percent, Tokens, Watts

Objective = Literal[
    "most-accelerators",
    "least-cost",
    "fewest-racks",
    "least-power",
    "shortest-cables",
    "most-tokens",
    "tokens-per-power",
    "tokens-per-cost",
    "tokens-per-rack",
    "most-flops",
    "flops-per-power",
    "flops-per-cost",
    "flops-per-rack",
]
"""Objectives of a design. ``tokens`` counts tokens a day of a workload, ``flops`` dense FLOP/s at a precision."""

Precision = Literal["bf16", "fp8", "mxfp8", "nvfp4"]
"""Precision of products of matrices."""
_OWN_KEYS = frozenset({"apiVersion", "derive", "name", "sites"})
"""Keys of a blueprint that a design writes itself."""


class DesignProduct(Model):
    """A product of which the accelerators may be, with what a node group says of it."""

    type: str
    """Catalogue id of a node."""
    power_cap: Watts | None = None
    """Enforced cap on a unit's input power, below its nameplate."""
    psus_per_feed: dict[str, Annotated[int, Field(ge=0)]] | None = None
    """Power supplies on each feed of the rack; absent, they are spread evenly."""
    most_per_rack: Annotated[int, Field(gt=0, le=100)] | None = None
    """Most units in one rack that are wanted, whatever would fit."""


class DesignReserve(Model):
    """Headroom to keep free, beyond what the policies require."""

    power: Annotated[Percent, Field(lt=100)] = 0.0
    """Share of the capacity of each power source, row, hall and of the contract."""
    cooling: Annotated[Percent, Field(lt=100)] = 0.0
    """Share of what air handlers and CDUs carry with one of them lost."""
    positions: Annotated[int, Field(ge=0)] = 0
    """Rack positions."""


class DesignWorkload(Model):
    """A training job whose tokens a day are wanted; fields are those of a blueprint's ``workloads``."""

    model: Annotated[str, Field(min_length=1, max_length=200)]
    """Name of the model: a built-in one, like ``llama3.1-405b``, or any with ``config``."""
    config: dict[str, Any] | None = None
    """Keys of the model's config.json, for a model that is not built in."""
    task: Literal["pre-training", "sft", "lora"] = "pre-training"
    """Kind of training."""
    precision: Precision = "bf16"
    """Precision of the products of matrices."""
    sequence: Annotated[int, Field(ge=1, le=16_777_216)]
    """Length of a sequence, in tokens."""
    batch: Annotated[Tokens, Field(gt=0)]
    """Size of the batch of one step over all replicas, in tokens."""
    software: Annotated[str, Field(max_length=100)] | None = None
    """Training program by the name that the documents list. The newest Megatron-Core if omitted."""


class DesignWish(Model):
    """Wanted cluster."""

    accelerators: Annotated[int, Field(gt=0)] | Literal["most"]
    """How many, rounded up to whole units of the product; or the most that fits."""
    products: Annotated[tuple[DesignProduct, ...], Field(min_length=1, max_length=20)]
    """Each is tried by itself; the best layout of all is the answer."""
    objective: Objective | None = None
    """What is best; absent, the most accelerators where the most is wanted, else the fewest racks."""
    workload: DesignWorkload | None = None
    """Training job of the objectives about tokens."""
    precision: Precision | None = None
    """Precision of the objectives about FLOP/s."""
    reserve: DesignReserve = DesignReserve()
    group: Name = "compute"
    """Name of the node group; where racks differ in their units there are several, this one first."""

    @model_validator(mode="after")
    def _fits_together(self) -> DesignWish:
        refuse_twins("product", (product.type for product in self.products))
        most = self.accelerators == "most"
        aim = self.objective
        if aim is not None and most != (
            aim == "most-accelerators" or "tokens" in aim or "flops" in aim
        ):
            raise ValueError(
                "'accelerators: most' belongs to the objective 'most-accelerators' and to those about "
                "tokens and FLOP/s"
            )
        for part, field in (("tokens", "workload"), ("flops", "precision")):
            wanted = aim is not None and part in aim
            if wanted != (getattr(self, field) is not None):
                needs = f"the objective '{aim}' needs '{field}'"
                raise ValueError(
                    needs if wanted else f"'{field}' has no effect: no objective is about {part}"
                )
        return self

    @property
    def aim(self) -> Objective:
        """The objective that holds."""
        if self.objective is not None:
            return self.objective
        return "most-accelerators" if self.accelerators == "most" else "fewest-racks"


class DesignFacility(Model):
    """A bare-metal site in which racks may stand where its rack groups say."""

    name: Name
    """Name of the site."""
    power: SitePower
    halls: Annotated[tuple[Hall, ...], Field(min_length=1)]
    """Their rack groups are positions: ``racks`` names them, the rest is what a rack there is given."""
    loops: tuple[CoolingLoop, ...] = ()
    plant: tuple[MechanicalPlant, ...] | None = None
    """As of a site."""
    facility_water: tuple[FacilityWater, ...] = ()
    """Circuits of water that air handlers and CDUs give their heat to."""
    node_groups: tuple[NodeGroup, ...] = ()
    """What stands there beside the accelerators, in positions that it names."""
    fabric: dict[str, Any] | None = None
    """The only fabric, in the short form; its tiers name their positions in ``racks``."""
    fabrics: tuple[dict[str, Any], ...] = ()
    """The fabrics, in the short form or in full; their tiers name their positions in ``racks``."""
    addresses: SiteAddresses | None = None
    security: SiteSecurity | None = None
    altitude: Metres | None = None
    """Above the sea: thinner air carries less heat."""
    design_dry_bulb: Celsius | None = None
    """Outdoor temperature that cooling is designed for, as the extreme of 20 years."""
    design_wet_bulb: Celsius | None = None
    """The same of the wet bulb, which cooling towers need."""
    pue: Annotated[float, Field(ge=1, le=10)] | None = None
    """Expected ratio of facility to IT power, at full load."""
    pue_budget: Annotated[float, Field(ge=1, le=10)] | None = None
    """Highest ratio of facility to IT power that is wanted."""
    allow_estimates: bool = False
    """Accept catalogue numbers whose confidence is ``estimate``."""

    @model_validator(mode="after")
    def _has_positions(self) -> DesignFacility:
        refuse_twins("hall", (hall.name for hall in self.halls))
        groups = [group for hall in self.halls for row in hall.rows for group in row.rack_groups]
        if not groups:
            raise ValueError("no hall has a rack position: 'rack_groups' of its rows name them")
        count = sum(hostlist_size(group.racks) for group in groups)
        if count > MOST_RACKS:
            raise ValueError(f"a site has at most {MOST_RACKS:,} racks, not {count:,} positions")
        refuse_twins(
            "rack position", (name for group in groups for name in expand_hostlist(group.racks))
        )
        return self


class DesignDocument(Model):
    """Wanted cluster and its facility."""

    apiVersion: Literal["rackwright/v1"]
    """Version of the form of this file."""
    kind: Literal["design"]
    """What this file is; a blueprint has no kind."""
    name: Name
    """Name of the cluster."""
    wanted: DesignWish
    facility: DesignFacility
    blueprint: dict[str, Any] = {}
    """Other keys of the blueprint, like ``costs``, ``profile`` and ``scheduler``, taken as they are."""

    @model_validator(mode="after")
    def _leaves_the_rest_alone(self) -> DesignDocument:
        if taken := sorted(_OWN_KEYS & self.blueprint.keys()):
            raise ValueError(f"'{taken[0]}' of the blueprint is written by the design itself")
        facility = self.facility
        if self.wanted.aim == "shortest-cables" and not (facility.fabric or facility.fabrics):
            raise ValueError(
                "the objective 'shortest-cables' needs a fabric: nothing is cabled here"
            )
        return self
