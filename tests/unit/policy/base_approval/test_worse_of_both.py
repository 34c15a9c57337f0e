"""A change is judged as it is written and with the claims of its base, and the worse verdict counts."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from rackwright.exit_codes import ExitCode
from rackwright.plan.load import load_data
from rackwright.policy.api import Outcome
from rackwright.policy.base_approval.approval import Approval, asked_by
from rackwright.policy.check import check_plan
from rackwright.policy.engine import Report
from rackwright.policy.packs.loader import builtin_pack
from rackwright.reading.loader import load_tree
from rackwright.render.blueprints import find_template, write_blueprint

Edit = Callable[[Any], None]


@cache
def template() -> Any:
    """The document of a complete cluster on two sites that passes."""
    with TemporaryDirectory() as folder:
        write_blueprint(find_template("hybrid-h100"), Path(folder, "site"), {})
        return load_tree(Path(folder, "site", "blueprint.yaml")).data


def edited(*edits: Edit) -> Any:
    data = copy.deepcopy(template())
    for edit in edits:
        edit(data)
    return data


def alone(data: Any) -> Report:
    """The report on what is merged."""
    return check_plan(load_data(data))


def with_base(data: Any, base: Any) -> Report:
    """The report on a change."""
    then = load_data(base)
    asked = asked_by(then.plan.blueprint, then.tree)
    return check_plan(load_data(data), approval=Approval("main", asked, document=base))


def lowered(report: Report) -> list[str]:
    return [notice.id for notice in report.hygiene.notices] if report.hygiene else []


def hall(data: Any) -> Any:
    return onprem(data)["halls"][0]


def onprem(data: Any) -> Any:
    return next(site for site in data["sites"] if site["provider"] == "onprem")


def cloud(data: Any) -> Any:
    return next(site for site in data["sites"] if site["provider"] == "aws")


def sources(data: Any) -> Any:
    return onprem(data)["power"]["sources"]


def each(items: Any, name: str, value: Any) -> None:
    """Set a field of each item that has it; None takes it out."""
    found = [item for item in items if name in item]
    assert found
    for item in found:
        if value is None:
            del item[name]
        else:
            item[name] = value


def racks(data: Any) -> list[Any]:
    return [group for row in hall(data)["rows"] for group in row["rack_groups"]]


def links(data: Any) -> list[Any]:
    return [link for fabric in onprem(data)["fabrics"] for link in fabric["links"]]


def conductors(data: Any) -> list[Any]:
    return [source["conductors"] for source in sources(data) if "conductors" in source]


def utilities(data: Any) -> list[Any]:
    return [source for source in sources(data) if source["kind"] == "utility"]


def without_product(data: Any) -> list[Any]:
    return [plant for plant in onprem(data)["plant"] if "capacity" in plant]


def a_line(data: Any, bandwidth: str) -> None:
    cluster = onprem(data)
    here, there = cluster["name"], cloud(data)["name"]
    line = {"name": "wan", "sites": [there, here], "bandwidth": bandwidth}
    data["interconnects"] = [{**line, "round_trip_time": "20 ms"}]
    (job,) = data["reliability"]["jobs"]
    group = cloud(data)["node_groups"][0]["name"]
    job["parts"].append({"site": there, "group": group, "hosts": 4})
    job["between_sites"] = {"bandwidth": "100 Gbps", "round_trip_time": "30 ms"}


def routes(data: Any, tray: str) -> None:
    found = [link["route"] for link in links(data) if "route" in link]
    assert found
    found[0]["tray"] = tray


FACTS: Mapping[str, tuple[Edit, Edit]] = {
    "altitude": (
        lambda d: onprem(d).update(altitude="2400 m"),
        lambda d: onprem(d).update(altitude="0 m"),
    ),
    "altitude left out": (
        lambda d: onprem(d).update(altitude="2400 m"),
        lambda d: onprem(d).pop("altitude"),
    ),
    "bandwidth of a line": (
        lambda d: a_line(d, "10 Gbps"),
        lambda d: each(d["interconnects"], "bandwidth", "400 Gbps"),
    ),
    "route of a cable": (lambda d: routes(d, "600 m"), lambda d: routes(d, "24 m")),
    "length of conductors": (
        lambda d: each(conductors(d), "length", "900 m"),
        lambda d: each(conductors(d), "length", "1 m"),
    ),
    "capacity of a utility": (
        lambda d: each(utilities(d), "capacity", "300 kW"),
        lambda d: each(utilities(d), "capacity", "6000 kW"),
    ),
    "capacity of plant": (
        lambda d: each(without_product(d), "capacity", "60 kW"),
        lambda d: each(without_product(d), "capacity", "600 kW"),
    ),
}
"""What is refused, and the number that a change writes over it though nothing is bought."""


@pytest.mark.parametrize("name", FACTS)
def test_a_fact_that_no_purchase_changes_approves_nothing(name: str) -> None:
    refused, better = FACTS[name]
    base, head = edited(refused), edited(refused, better)
    assert alone(base).exit_code is not ExitCode.CLEAN
    report = with_base(head, base)
    assert report.exit_code in {ExitCode.VIOLATION, ExitCode.UNKNOWN}
    assert lowered(report) or name == "altitude left out"


def test_a_route_that_becomes_a_length_is_the_base_s() -> None:
    def length(data: Any) -> None:
        (link, *_) = [link for link in links(data) if "route" in link]
        del link["route"]
        link["length"] = "10 m"

    base = edited(lambda d: routes(d, "600 m"))
    report = with_base(edited(lambda d: routes(d, "600 m"), length), base)
    assert report.exit_code == alone(base).exit_code == ExitCode.VIOLATION


def test_a_fabric_that_takes_another_role_is_judged_by_its_former_one() -> None:
    def fewer(data: Any) -> None:
        (spine,) = [t for t in onprem(data)["fabrics"][0]["tiers"] if t["name"] == "spine"]
        spine["count"] = 2

    def role(data: Any) -> None:
        onprem(data)["fabrics"][0]["role"] = "storage"

    def blocking(report: Report) -> set[str]:
        return {result.policy for result in report.results if result.blocks}

    base = edited(fewer)
    assert blocking(alone(base)) <= blocking(with_base(edited(fewer, role), base))


def checkpoint(data: Any) -> Any:
    systems = [system for site in data["sites"] for system in site.get("file_systems", ())]
    (found, *_) = [system["workload"]["checkpoint"] for system in systems if "workload" in system]
    return found


WORSE: Mapping[str, Edit] = {
    "checkpoint written sooner": lambda d: checkpoint(d).update(write_time="5 s"),
    "checkpoint of more parameters": lambda d: checkpoint(d).update(parameters=7 * 10**12),
    "less room for cables": lambda d: each(racks(d), "cable_allowance", "1 mm"),
    "less room for devices": lambda d: each(racks(d), "cable_allowance", "400 mm"),
    "other routing": lambda d: each(
        [f["routing_run"] for f in onprem(d)["fabrics"] if "routing_run" in f], "engine", "minhop"
    ),
    "no PUE": lambda d: onprem(d).pop("pue"),
    "no recharge": lambda d: each(sources(d), "recharge", None),
    "no short-circuit rating": lambda d: each(sources(d), "short_circuit_rating", None),
    "no fault current": lambda d: each(sources(d), "fault_current", None),
}
"""Values that are worse, of fields of which either way may be milder."""


@pytest.mark.parametrize("name", WORSE)
def test_a_worse_value_of_a_two_way_field_is_refused_before_it_is_merged(name: str) -> None:
    base, head = edited(), edited(WORSE[name])
    merged = alone(head).exit_code
    assert alone(base).exit_code is ExitCode.CLEAN
    assert merged in {ExitCode.VIOLATION, ExitCode.UNKNOWN}
    assert with_base(head, base).exit_code == merged


def test_parameters_that_a_change_makes_stricter_judge_before_it_is_merged() -> None:
    def mandatory(data: Any) -> None:
        data["policies"]["CAT-003"]["enforcement"] = "mandatory"

    def stricter(data: Any) -> None:
        data["policies"]["CAT-003"]["parameters"]["difference_percent"] = 1

    base, head = edited(mandatory), edited(mandatory, stricter)
    assert alone(base).exit_code is ExitCode.CLEAN
    assert alone(head).exit_code is ExitCode.VIOLATION
    assert with_base(head, base).exit_code is ExitCode.VIOLATION


def east(data: Any) -> Any:
    """The site on AWS with its quotas, which are those of one region."""
    site = cloud(data)
    assert site["region"] == "us-east-1"
    assert site["limits"]["quotas"]
    return site


def test_quotas_of_a_region_say_nothing_of_the_one_that_a_site_moves_to() -> None:
    def move(data: Any) -> None:
        east(data)["region"] = "us-west-2"
        cloud(data)["network"]["availability_zones"] = ["us-west-2a"]

    report = with_base(edited(move), edited())
    assert report.exit_code is ExitCode.UNKNOWN
    assert [name for name in lowered(report) if ".limits" in name]


def test_quotas_of_an_account_say_nothing_of_the_one_that_a_site_moves_to() -> None:
    def of(account: str) -> Edit:
        return lambda data: east(data).update(account=account)

    first = "123456789012"
    assert with_base(edited(of(first)), edited()).exit_code is ExitCode.CLEAN, "it is told now"
    report = with_base(edited(of("210987654321")), edited(of(first)))
    assert report.exit_code is ExitCode.UNKNOWN
    assert [name for name in lowered(report) if ".limits" in name]


def test_quotas_of_another_site_in_the_region_are_those_of_a_site_that_moves_there() -> None:
    def second(data: Any) -> None:
        other = copy.deepcopy(east(data))
        other |= {"name": "west", "region": "us-west-2", "node_groups": [], "file_systems": []}
        other["network"] |= {"cidr": "10.60.0.0/16", "availability_zones": ["us-west-2a"]}
        other["network"]["dns_zone"] = "west.internal"
        other["limits"] = {"recorded": "2026-11-21", "quotas": {"L-417A185B": 1, "L-1216C47A": 1}}
        data["sites"].append(other)
        data["operations"]["software"][0].setdefault("sites", []).append("west")
        data["scheduler"]["sites"] = [cloud(data)["name"], onprem(data)["name"]]

    def move(data: Any) -> None:
        east(data)["region"] = "us-west-2"
        cloud(data)["network"]["availability_zones"] = ["us-west-2a"]

    report = with_base(edited(second, move), edited(second))
    assert "AWS-004" in {result.policy for result in report.results if result.blocks}


def test_addresses_of_a_network_say_nothing_of_the_one_that_takes_its_place() -> None:
    def own(vpc: str) -> Edit:
        def edit(data: Any) -> None:
            cloud(data)["network"]["existing"] = {
                "vpc": vpc,
                "private_subnet": f"subnet-{vpc[4:]}",
                "addresses": 4000,
            }

        return edit

    one, other = edited(own("vpc-0123456789abcdef0")), edited(own("vpc-0123456789abcdef1"))
    report = with_base(other, one)
    assert [name for name in lowered(report) if name.endswith("existing.addresses")]
    assert lowered(with_base(one, one)) == []


def test_firmware_that_changes_is_not_known_to_be_enforced() -> None:
    def newer(data: Any) -> None:
        (baseline, *_) = data["operations"]["firmware"]
        assert baseline["enforced"] is True
        baseline["versions"] = dict.fromkeys(baseline["versions"], "99.0")

    report = with_base(edited(newer), edited())
    assert [name for name in lowered(report) if name.endswith(".enforced")]


def test_a_routing_run_of_a_fabric_that_stays_as_it_is_is_unknown() -> None:
    def another(data: Any) -> None:
        run = next(f["routing_run"] for f in onprem(data)["fabrics"] if "routing_run" in f)
        run |= {"fabric": "0123456789abcdef", "balance": 1.0}

    report = with_base(edited(another), edited())
    assert report.exit_code is ExitCode.UNKNOWN
    assert [name for name in lowered(report) if name.endswith("routing_run")]


@pytest.mark.parametrize(
    ("source", "weak", "strong"),
    [
        ("board", {"fault_current": "300 A"}, {"fault_current": "18 kA"}),
        ("trafo", {"rating": "400 kVA", "impedance": "100 %"}, {"rating": "400 kVA"}),
    ],
)
def test_a_stronger_supply_is_no_better_claim_where_a_fault_is_too_weak(
    source: str, weak: dict[str, str], strong: dict[str, str]
) -> None:
    """A high fault current breaks what is rated for less, and a low one opens no breaker."""
    fixture = builtin_pack() / "fixtures" / "electrical.yaml"

    def supplied(said: dict[str, str]) -> Any:
        data = copy.deepcopy(load_tree(fixture).data)
        sources = data["sites"][0]["power"]["sources"]
        next(one for one in sources if one["name"] == source).update(said)
        return data

    base = supplied(weak)
    then = load_data(base)
    approval = Approval("main", asked_by(then.plan.blueprint, then.tree), document=base)

    def fails(data: Any, **more: Any) -> bool:
        results = check_plan(load_data(data), only=["PWR-021"], **more).results
        return any(one.outcome is Outcome.FAIL for one in results)

    assert fails(base)
    assert not fails(supplied(strong))
    assert fails(supplied(strong), approval=approval)


def test_the_tables_of_another_standard_make_no_cable_thicker() -> None:
    fixture = builtin_pack() / "fixtures" / "electrical.yaml"

    def wired(**cabling: Any) -> Any:
        data = copy.deepcopy(load_tree(fixture).data)
        common = {"temperature": "90 °C", "ambient": "30 °C", "circuits": 4}
        data["sites"][0]["power"]["cabling"] = common | cabling
        return data

    def fails(data: Any, **more: Any) -> bool:
        results = check_plan(load_data(data), only=["PWR-020"], **more).results
        return any(one.outcome is Outcome.FAIL for one in results)

    base, head = wired(standard="nec"), wired(standard="iec", installation="tray")
    then = load_data(base)
    approval = Approval("main", asked_by(then.plan.blueprint, then.tree), document=base)
    assert (fails(base), fails(head)) == (True, False)
    assert fails(head, approval=approval)
