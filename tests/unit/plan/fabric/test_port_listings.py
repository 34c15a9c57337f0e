"""``ibnetdiscover -p`` and ``iblinkinfo``, in both of its forms: what they say of a fabric, with the same verdicts."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace

import pytest

from fabric_factories import layout_of
from plan_dumps import ibnetdiscover
from rackwright.plan.fabric.discovered.differences import CableComparison
from rackwright.plan.fabric.discovered.dump import Discovery, read_discovery, read_names
from rackwright.plan.fabric.discovered.exports import read_subnet
from rackwright.plan.fabric.layout import Layout

SIGNALLED = {"SDR": "2.5", "EDR": "25.78125", "HDR": "53.125", "NDR": "106.25", "XDR": "212.5"}


def _numbers(discovery: Discovery) -> Mapping[str, int]:
    return {
        name: number for number, name in enumerate(sorted({end[0] for end in discovery.links}), 1)
    }


def _rate(discovery: Discovery, end: tuple[str, int]) -> tuple[str, str]:
    width, speed = discovery.rates[end][0].split("x")
    return width, speed


def report(discovery: Discovery) -> str:
    """Return what ``ibnetdiscover -p`` prints."""
    lids = _numbers(discovery)
    lines = []
    for (device, port), (far, far_port) in discovery.links.items():
        kinds = ["SW" if name in discovery.switches else "CA" for name in (device, far)]
        width, speed = _rate(discovery, (device, port))
        lines.append(
            f"{kinds[0]} {lids[device]:5} {port:2} 0x{lids[device]:016x} {width}x {speed} - "
            f"{kinds[1]} {lids[far]:5} {far_port:2} 0x{lids[far]:016x} ( '{device}' - '{far}' )"
        )
    lines.append(f"SW {99:5} 64 0x{lids[min(discovery.switches)]:016x} 4x ???{'':36}'x'")
    return "\n".join(lines) + "\n"


def _link(discovery: Discovery, end: tuple[str, int], *, guid: str = "") -> str:
    lids = _numbers(discovery)
    far, far_port = discovery.links[end]
    width, speed = _rate(discovery, end)
    return (
        f"{lids[end[0]]:6} {end[1]:4}[  ] ==( {width}X {SIGNALLED[speed]:>17} Gbps Active/  LinkUp)==>  "
        f'{guid}{lids[far]:6} {far_port:4}[  ] "{far}" ( )'
    )


def blocks(discovery: Discovery) -> str:
    """Return what ``iblinkinfo`` prints."""
    lids = _numbers(discovery)
    lines = []
    for name, number in lids.items():
        switch = name in discovery.switches
        lines.append(f"Switch: 0x{number:016x} {name}:" if switch else f"CA: {name}:")
        start = "     " if switch else f"      0x{number + 4096:016x} "
        lines += [start + _link(discovery, end) for end in discovery.links if end[0] == name]
        lines.append(
            f'     {number:6}   64[  ] ==(                Down/ Polling)==>             [  ] "" ( )'
        )
    return "\n".join(lines) + "\n"


def lines(discovery: Discovery) -> str:
    """Return what ``iblinkinfo -l`` prints."""
    lids = _numbers(discovery)
    made = []
    for end, far in discovery.links.items():
        guid = f"0x{lids[far[0]]:016x} "
        made.append(f'0x{lids[end[0]]:016x} "{end[0]:>30}" {_link(discovery, end, guid=guid)}')
    return "\n".join(made) + "\n"


FORMS: Mapping[str, Callable[[Discovery], str]] = {
    "ibnetdiscover -p": report,
    "iblinkinfo": blocks,
    "iblinkinfo -l": lines,
}


def seen(layout: Layout) -> Discovery:
    return read_discovery(ibnetdiscover(layout))


@pytest.mark.parametrize("form", FORMS)
def test_perfect_fabric_is_as_planned(form: str) -> None:
    layout = layout_of()
    discovery = read_subnet(FORMS[form](seen(layout)))
    compared = CableComparison(layout, discovery)
    assert compared.differences() == ()
    assert (compared.unnamed, compared.without_rate) == ((), 0)
    assert discovery.switches == seen(layout).switches


@pytest.mark.parametrize("form", FORMS)
def test_slow_and_missing_links_are_named(form: str) -> None:
    layout = layout_of()
    discovery = seen(layout)
    slow, lost = ("dgx-03/2", 1), ("dgx-05/4", 1)
    rates = {**discovery.rates, slow: ("1xSDR", 2.5), discovery.links[slow]: ("1xSDR", 2.5)}
    gone = {lost, discovery.links[lost]}
    links = {end: far for end, far in discovery.links.items() if end not in gone}
    faulty = replace(discovery, rates=rates, links=links)
    found = CableComparison(layout, read_subnet(FORMS[form](faulty))).differences()
    assert {one.cable.partition(" to ")[0] for one in found} == {"dgx-03 port 2", "dgx-05 port 4"}


@pytest.mark.parametrize("form", ["ibnetdiscover -p", "iblinkinfo -l"])
def test_names_by_guid_go_before_descriptions(form: str) -> None:
    discovery = seen(layout_of())
    guid = _numbers(discovery)["dgx-03/2"]
    read = read_subnet(FORMS[form](discovery), read_names(f'0x{guid:x} "renamed"\n'))
    assert ("renamed", 1) in read.links
    assert ("dgx-03/2", 1) not in read.links


@pytest.mark.parametrize("form", FORMS)
def test_list_that_is_cut_off_is_refused(form: str) -> None:
    text = FORMS[form](seen(layout_of()))
    at = text.index("NDR" if form == "ibnetdiscover -p" else "==>", len(text) // 2)
    with pytest.raises(ValueError, match=r"line \d+ is no (port|link): was the file cut off"):
        read_subnet(text[:at])


def test_switches_alone_name_the_adapters_below_them() -> None:
    discovery = seen(layout_of())
    parts = re.split(r"(?m)^(?=Switch: |CA: )", blocks(discovery))
    alone = "".join(part for part in parts if part.startswith("Switch: "))
    compared = CableComparison(layout_of(), read_subnet(alone))
    assert compared.differences() == ()


def test_prompt_before_the_output_is_no_json() -> None:
    text = "[root@head-1 /]# ibnetdiscover -f\n" + ibnetdiscover(layout_of())
    assert read_subnet(text).links == seen(layout_of()).links


def test_two_ports_of_an_adapter_are_of_one_host_and_two_adapters_of_two() -> None:
    line = '     2 {port}[  ] ==( 4X 10.0 Gbps Active/  LinkUp)==>  {lid} {far}[  ] "{text}" ( )\n'
    text = "Switch: 0x0002c9020046c588 MF0;leaf-1:SX6036/U1:\n" + "".join(
        line.format(port=port, lid=lid, far=far, text=text)
        for port, lid, far, text in (
            (1, 11, 1, "n1 HCA-1"),
            (2, 12, 2, "n1 HCA-1"),
            (3, 13, 1, "localhost HCA-1"),
            (4, 14, 1, "localhost HCA-1"),
        )
    )
    read = read_subnet(text)
    assert {("n1 HCA-1", 1), ("n1 HCA-1", 2)} <= set(read.links.values())
    assert {("localhost HCA-1 (lid 13)", 1), ("localhost HCA-1 (lid 14)", 1)} <= set(
        read.links.values()
    )
