"""Forms in which real fabrics print themselves: each perfect one passes, and each fault in it is named."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

import pytest

from fabric_factories import layout_of
from rackwright.plan.fabric.cables import wires
from rackwright.plan.fabric.discovered.differences import CableComparison
from rackwright.plan.fabric.discovered.dump import End, read_discovery, read_names
from rackwright.plan.fabric.layout import Layout

Describe = Callable[[str, int], str]
"""The description of an adapter, by its host and interface."""

SHARP = "Mellanox Technologies Aggregation Node"


def dump(
    layout: Layout,
    adapter: Describe,
    *,
    switch: Callable[[str], str] = lambda name: f"MF0;{name}:MQM9700/U1",
    rates: Mapping[End, str] | None = None,
    swapped: tuple[End, End] | None = None,
    sharp: bool = False,
) -> str:
    """What ibnetdiscover prints of a fabric that is cabled as planned, but for two swapped ends."""
    far = {}
    for wire in wires(layout):
        far[wire.lower, wire.lower_port] = wire.upper, wire.upper_port
    if swapped is not None:
        far[swapped[0]], far[swapped[1]] = far[swapped[1]], far[swapped[0]]
    leaves = {name for tier in layout.tiers for name in tier.names()}
    devices: dict[tuple[str, int], str] = {}
    ports: dict[tuple[str, int], list[str]] = {}

    def device(end: End) -> tuple[str, int]:
        return (end[0], 0) if end[0] in leaves else end

    for end in [*far, *far.values()]:
        devices.setdefault(device(end), f"{len(devices) + 1:016x}")
    for lower, upper in far.items():
        rate = (rates or {}).get(lower, "4xNDR")
        for here, there in ((lower, upper), (upper, lower)):
            one, other = device(here), device(there)
            port = here[1] if one[1] == 0 else 1
            remote = there[1] if other[1] == 0 else 1
            kind = "S" if other[1] == 0 else "H"
            ports.setdefault(one, []).append(
                f'[{port}] \t"{kind}-{devices[other]}"[{remote}] \t\t# "x" lid 1 {rate}'
            )
    lines = []
    for one, guid in devices.items():
        if one[1] == 0:
            lines.append(
                f'Switch\t65 "S-{guid}"\t\t# "{switch(one[0])}" enhanced port 0 lid 1 lmc 0'
            )
            if sharp:
                ports[one].append(
                    f'[65] \t"H-a{guid[1:]}"[1](a{guid[1:]}) \t\t# "{SHARP}" lid 9 4xHDR'
                )
        else:
            lines.append(f'Ca\t1 "H-{guid}"\t\t# "{adapter(*one)}"')
        lines += ports[one]
        if sharp and one[1] == 0:
            lines.append(f'Ca\t1 "H-a{guid[1:]}"\t\t# "{SHARP}"')
            lines.append(f'[1](a{guid[1:]}) \t"S-{guid}"[65]\t\t# lid 9 lmc 0 "x" lid 1 4xHDR')
    return "\n".join(lines) + "\n"


FORMS: Mapping[str, Describe] = {
    "the kernel's default": lambda host, interface: f"{host} HCA-{interface}",
    "another order of devices": lambda host, interface: f"{host} ibp{(interface * 5) % 11}s0",
    "devices that the catalogue does not name": lambda host, interface: (
        f"{host} roce{interface - 1}"
    ),
    "capitals": lambda host, interface: f"{host.upper()} HCA-{interface}",
    "other digits": lambda host, interface: f"dgx-{int(host[4:]):04} HCA-{interface}",
    "a domain": lambda host, interface: f"{host}.cluster.local HCA-{interface}",
}


@pytest.mark.parametrize("form", FORMS)
def test_perfect_fabric_has_no_difference(form: str) -> None:
    layout = layout_of()
    compared = CableComparison(layout, read_discovery(dump(layout, FORMS[form], sharp=True)))
    assert compared.matched
    assert compared.differences() == ()
    assert (compared.unnamed, compared.without_rate) == ((), 0)


@pytest.mark.parametrize("form", FORMS)
def test_swapped_rails_are_named_in_each_form(form: str) -> None:
    layout = layout_of()
    text = dump(layout, FORMS[form], swapped=(("dgx-01", 1), ("dgx-01", 2)))
    (found,) = CableComparison(layout, read_discovery(text)).differences()
    assert found.cable == "dgx-01 port 1 to compute-leaf-1 port 1"
    assert "swapped with dgx-01 port 2" in found.message


def test_ports_of_a_chassis_with_their_outer_numbers_are_read() -> None:
    """ibnetdiscover -g writes '[21][ext 3]' for switches whose housing counts otherwise."""
    layout = layout_of()
    text = re.sub(r"(?m)^\[(\d+)\] ", r"[\1][ext 7] ", dump(layout, FORMS["the kernel's default"]))
    assert "[ext 7]" in text
    assert CableComparison(layout, read_discovery(text)).differences() == ()


def test_sharp_end_points_are_no_cables() -> None:
    layout = layout_of()
    discovery = read_discovery(dump(layout, FORMS["the kernel's default"], sharp=True))
    assert discovery.aggregations == sum(tier.switches for tier in layout.tiers)


@pytest.mark.parametrize("end", [("dgx-03", 2), ("compute-leaf-1", 33)], ids=["host", "spine"])
@pytest.mark.parametrize("rate", ["1xSDR", "4xHDR", "2xNDR"])
def test_slow_link_is_a_difference(end: End, rate: str) -> None:
    layout = layout_of()
    text = dump(layout, FORMS["the kernel's default"], rates={end: rate})
    (found,) = CableComparison(layout, read_discovery(text)).differences()
    assert found.cable.startswith(f"{end[0]} port {end[1]} to ")
    assert f"the link runs at {rate} " in found.message


def test_switches_in_capitals_are_those_of_the_plan() -> None:
    layout = layout_of()
    text = dump(layout, FORMS["capitals"], switch=lambda name: f"MF0;{name.upper()}:MQM9700/U1")
    assert CableComparison(layout, read_discovery(text)).differences() == ()


def test_adapters_without_a_description_are_not_merged_and_not_compared() -> None:
    layout = layout_of()
    unset = "MT4129 ConnectX7   Mellanox Technologies"
    text = dump(layout, lambda host, n: unset if host == "dgx-02" else f"{host} HCA-{n}")
    compared = CableComparison(layout, read_discovery(text))
    assert compared.differences() == ()
    assert len(compared.unnamed) == 8
    assert all(name.startswith(unset) for name in compared.unnamed)


def test_names_by_guid_replace_descriptions() -> None:
    layout = layout_of()
    text = dump(
        layout,
        lambda host, n: f"MT4129 {host}{n} Technologies",
        switch=lambda name: f"Quantum {name}",
    )
    assert not CableComparison(
        layout, read_discovery(text.replace("dgx", "x").replace("compute", "y"))
    ).matched
    names = {}
    for line in text.splitlines():
        if line.startswith(("Ca", "Switch")):
            guid, said = line.split('"')[1].partition("-")[2], line.split('"')[3]
            word = said.split()[1]
            names[guid] = word if "compute" in word else f"{word[:-1]} HCA-{word[-1]}"
    file = "# names\n" + "".join(f'0x{guid} "{name}"\n' for guid, name in names.items())
    compared = CableComparison(layout, read_discovery(text, read_names(file)))
    assert compared.differences() == ()
    assert compared.unnamed == ()


def test_line_of_a_name_map_that_is_none_is_told_with_its_number() -> None:
    with pytest.raises(ValueError, match="line 2 is not a GUID with a name"):
        read_names('0x1 "leaf"\nleaf-01\n')
