"""Machines of a plant as products: which value of each number is the stricter one, by hand."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from jsonschema import Draft7Validator

from catalogue_team import an_entry
from rackwright.catalog.approved import looser_fields
from rackwright.catalog.loader import FOLDERS, UnknownEntryError, load_catalogue
from rackwright.model.field_kinds import marked_fields
from rackwright.model.hardware import Entry
from rackwright.model.plant import Transformer
from rackwright.reading.schema import export_schema

Numbers = Mapping[str, tuple[str, str, str]]
"""By field: the strictest of three values first, in the middle that of the base."""

UPS: Numbers = {
    "rating": ("400 kW", "500 kW", "600 kW"),
    "max_altitude": ("500 m", "1000 m", "2000 m"),
    "overload": ("500 kW", "625 kW", "750 kW"),
    "efficiency": ("94 %", "96 %", "99 %"),
    "recharge": ("60 kW", "50 kW", "40 kW"),
    "backup": ("1 min", "5 min", "10 min"),
    "voltage_tolerance": ("3 %", "2 %", "1 %"),
    "short_circuit_rating": ("25 kA", "50 kA", "100 kA"),
}
TRANSFORMER: Numbers = {
    "rating": ("800 kVA", "1 MVA", "1.25 MVA"),
    "max_altitude": ("500 m", "1000 m", "2000 m"),
    "losses": ("15 kW", "12 kW", "9 kW"),
    "impedance": ("4 %", "6 %", "8 %"),
    "voltage": ("400 V", "415 V", "480 V"),
}
GENERATOR: Numbers = {
    "rating": ("1.4 MW", "1.6 MW", "1.8 MW"),
    "max_altitude": ("500 m", "1000 m", "2000 m"),
    "max_ambient": ("30 °C", "40 °C", "50 °C"),
    "step_load": ("0.6 MW", "0.8 MW", "1.2 MW"),
    "consumption": ("500 L/h", "440 L/h", "400 L/h"),
    "voltage_tolerance": ("3 %", "2 %", "1 %"),
}
CHILLER: Numbers = {
    "capacity": ("900 kW", "1 MW", "1.1 MW"),
    "supply_temperature": ("20 °C", "18 °C", "7 °C"),
    "outdoor_temperature": ("30 °C", "35 °C", "45 °C"),
    "condenser_temperature": ("25 °C", "30 °C", "35 °C"),
    "power": ("350 kW", "300 kW", "250 kW"),
    "restart": ("5 min", "3 min", "1 min"),
}
DRY_COOLER: Numbers = {
    "capacity": ("500 kW", "600 kW", "700 kW"),
    "supply_temperature": ("40 °C", "35 °C", "30 °C"),
    "outdoor_temperature": ("25 °C", "30 °C", "35 °C"),
    "power": ("15 kW", "10 kW", "5 kW"),
}
REAR_DOOR: Numbers = {
    "capacity": ("20 kW", "30 kW", "40 kW"),
    "difference": ("25 K", "20 K", "15 K"),
    "flow": ("70 L/min", "60 L/min", "50 L/min"),
    "pressure_drop": ("60 kPa", "50 kPa", "40 kPa"),
    "weight": ("180 kg", "150 kg", "120 kg"),
}
PLANT: Mapping[str, Numbers] = {
    "ups": UPS,
    "transformers": TRANSFORMER,
    "generators": GENERATOR,
    "chillers": CHILLER,
    "dry-coolers": DRY_COOLER,
    "rear-doors": REAR_DOOR,
}
KIND = {folder: folder if folder == "ups" else folder[:-1] for folder in PLANT}
EITHER = {
    ("transformers", "rating"), ("transformers", "voltage"), ("transformers", "impedance"),
    ("rear-doors", "flow"),
}  # fmt: skip
"""Where more is milder to one rule and stricter to another, so that the base's holds whenever it changes."""
ELSEWHERE = {
    ("ups", "efficiency"), ("transformers", "losses"), ("chillers", "power"), ("dry-coolers", "power"),
}  # fmt: skip
"""Where the PUE stands in for what a product no longer says, so that the base's holds."""


def document(folder: str, **numbers: str | None) -> dict[str, Any]:
    base = {name: middle for name, (_, middle, _) in PLANT[folder].items()}
    stated = {name: value for name, value in {**base, **numbers}.items() if value is not None}
    return an_entry(KIND[folder], "acme", stated)


def entry(folder: str, **numbers: str | None) -> Entry:
    return FOLDERS[folder].model_validate(document(folder, **numbers))


@pytest.mark.parametrize("folder", PLANT)
def test_the_schema_of_a_folder_accepts_an_entry(folder: str) -> None:
    validator = Draft7Validator(export_schema(FOLDERS[folder], title="T", schema_id="urn:test"))
    assert [one.message for one in validator.iter_errors(document(folder))] == []
    wrong = {**document(folder), "mass": 1}
    assert [one.message for one in validator.iter_errors(wrong)]


def looser(head: Entry, base: Entry) -> set[str]:
    """Return the fields of which ``head`` claims more than ``base``."""
    return {where[0] for where, _, _ in looser_fields(head, base)}


EACH = [(folder, name) for folder, numbers in PLANT.items() for name in numbers]


@pytest.mark.parametrize("folder", PLANT)
def test_every_number_is_in_the_table(folder: str) -> None:
    assert set(PLANT[folder]) == set(marked_fields(FOLDERS[folder]).claims)


@pytest.mark.parametrize(("folder", "name"), EACH)
def test_the_stricter_of_two_numbers_holds(folder: str, name: str) -> None:
    strict, _, mild = PLANT[folder][name]
    base = entry(folder)

    assert name in looser(entry(folder, **{name: mild}), base)
    assert (name in looser(entry(folder, **{name: strict}), base)) == ((folder, name) in EITHER)


@pytest.mark.parametrize(
    ("folder", "name"),
    [one for one in EACH if not FOLDERS[one[0]].model_fields[one[1]].is_required()],
)
def test_a_number_that_is_taken_out_is_no_milder(folder: str, name: str) -> None:
    base = entry(folder)
    without = entry(folder, **{name: None})
    known = ELSEWHERE | EITHER - {("transformers", "impedance")}  # which is then unknown
    assert (name in looser(without, base)) == ((folder, name) in known)
    assert name in looser(base, without), "what the base does not know stays unknown"


def test_a_kind_of_which_there_is_no_product_says_so() -> None:
    with pytest.raises(UnknownEntryError) as caught:
        load_catalogue().get(Transformer, "acme-1000")
    assert caught.value.hint == (
        "the catalogue has none. A product of your own: 'rackwright catalogue new transformers/acme-1000'"
    )
