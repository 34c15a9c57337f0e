"""Ampacities and least faults as published documents have them."""

from __future__ import annotations

import math
from typing import Any

import pytest

from rackwright.model.power import Conductors, SiteCabling
from rackwright.plan.power.lines.ampacity import ampacity, highest_ampacity
from rackwright.plan.power.lines.ratings import least_fault_current

B2 = "Atlas Copco, instruction book GA 75+, cable sizing by IEC 60364-5-52, method B2, PVC"
MM2_OF_AWG = {14: "2.08 mm2", 12: "3.31 mm2", 10: "5.26 mm2", 6: "13.3 mm2"}


def a_line(area: str, metal: str = "copper", parallel: int = 1, **more: Any) -> Conductors:
    data = {"length": "20 m", "parallel": parallel, "cross_section": area, "material": metal}
    return Conductors.model_validate({**data, **more})


def laid(
    standard: str, temperature: str, ambient: str, circuits: int = 1, **more: Any
) -> SiteCabling:
    data = {"standard": standard, "temperature": temperature, "ambient": ambient}
    return SiteCabling.model_validate({**data, "circuits": circuits, **more})


@pytest.mark.parametrize(
    ("area", "ambient", "published"),
    [
        ("4 mm2", "30 °C", 27),
        ("4 mm2", "40 °C", 23),
        ("16 mm2", "30 °C", 62),
        ("16 mm2", "40 °C", 54),
        ("16 mm2", "45 °C", 49),
        ("16 mm2", "50 °C", 44),
        ("16 mm2", "55 °C", 38),
        ("50 mm2", "40 °C", 103),
        ("95 mm2", "45 °C", 141),
        ("120 mm2", "50 °C", 146),
    ],
)
def test_a_published_table_of_method_b2(area: str, ambient: str, published: float) -> None:
    cabling = laid("iec", "70 °C", ambient, installation="conduit")
    found = ampacity(a_line(area), cabling)
    assert found is not None, B2
    assert round(found.carried) == pytest.approx(published, abs=0.5)


@pytest.mark.parametrize(
    ("area", "published"),
    [("25 mm2", 135), ("50 mm2", 207), ("150 mm2", 444), ("240 mm2", 607), ("300 mm2", 703)],
)
def test_no_table_allows_more_than_single_cores_in_free_air(area: str, published: float) -> None:
    """Atlas Copco, instruction book GA 45+, method F, 90 °C."""
    line = a_line(area)
    highest = highest_ampacity(line)
    assert highest == published
    for cabling in (
        laid("nec", "90 °C", "30 °C"),
        laid("iec", "90 °C", "30 °C", installation="tray"),
        laid("iec", "90 °C", "30 °C", installation="conduit"),
    ):
        found = ampacity(line, cabling)
        assert found is not None
        assert found.carried <= highest


@pytest.mark.parametrize(
    ("awg", "ambient", "circuits", "carried"),
    [
        (12, "40 °C", 1, 22),  # 25 A × 0.88
        (10, "30 °C", 2, 28),  # 35 A × 0.8: six conductors in a conduit
        (6, "30 °C", 1, 65),
        (6, "50 °C", 3, 65 * 0.75 * 0.7),
    ],
)
def test_worked_examples_of_the_nec(awg: int, ambient: str, circuits: int, carried: float) -> None:
    """wiresizes.com, NEC Table 310.16 (2023 edition), example calculations."""
    found = ampacity(a_line(MM2_OF_AWG[awg]), laid("nec", "75 °C", ambient, circuits))
    assert found is not None
    assert found.carried == pytest.approx(carried)


@pytest.mark.parametrize(("awg", "breaker"), [(14, 15), (12, 20), (10, 30), (6, 70)])
def test_small_conductors_have_a_limit_of_their_own(awg: int, breaker: float) -> None:
    """NEC 240.4(D), and the next standard rating above the 65 A of AWG 6 (240.4(B))."""
    found = ampacity(a_line(MM2_OF_AWG[awg]), laid("nec", "75 °C", "30 °C"))
    assert found is not None
    assert found.protects == breaker


def test_above_800_a_no_larger_breaker_protects() -> None:
    found = ampacity(a_line("253.4 mm2", parallel=3), laid("nec", "75 °C", "30 °C"))
    assert found is not None
    assert found.protects == found.carried == 3 * 380


def test_parallel_conductors_add_up() -> None:
    cabling = laid("iec", "90 °C", "30 °C", installation="tray")
    one, eight = (
        ampacity(a_line("240 mm2"), cabling),
        ampacity(a_line("240 mm2", parallel=8), cabling),
    )
    assert one is not None
    assert eight is not None
    assert eight.carried == 8 * one.carried == 8 * 538


def test_air_beyond_the_table_carries_nothing() -> None:
    found = ampacity(a_line("16 mm2"), laid("nec", "60 °C", "60 °C"))
    assert found is not None
    assert found.carried == 0


def test_a_table_without_the_metal_is_unknown() -> None:
    cabling = laid("iec", "70 °C", "30 °C", installation="conduit")
    assert ampacity(a_line("16 mm2", "aluminium"), cabling) is None


def test_a_temperature_that_no_table_has_is_refused() -> None:
    with pytest.raises(ValueError, match="one of 60, 75, 90 °C"):
        laid("nec", "80 °C", "30 °C")
    with pytest.raises(ValueError, match="needs the 'installation'"):
        laid("iec", "90 °C", "30 °C")


def test_the_least_fault_is_that_of_the_loop() -> None:
    """IEC 60364-4-41: 0.95 × 230 V over 0.8 mΩ of supply and twice 20 mΩ of line."""
    supply = 230.0 / 0.0008
    found = least_fault_current(supply, 230.0 * math.sqrt(3), 0.02)
    assert found == pytest.approx(0.95 * 230.0 / (0.0008 + 0.04))
