"""A change of a team's catalogue is judged by the facts of its base until it is merged."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml

from catalogue_team import PRICES, SERVER, a_price, a_server, edit, with_products, write
from ci_team import git
from factories import a_site, some_nodes
from policy_team import FILE, Team
from pull_request import Pull, overdrawn
from rackwright.cli import main

NEW = Path("hardware/nodes/acme-9x.yaml")


@pytest.fixture
def owner(team: Team) -> Team:
    """Its change lets a rack take as much as its servers draw, less a little: too little."""
    return with_products(team)


def results(report: dict[str, Any], policy: str) -> list[dict[str, Any]]:
    return [one for one in report["results"] if one["policy"] == policy]


def proposed(report: dict[str, Any]) -> dict[str, str]:
    found = report["hygiene"]["notices"] if report["hygiene"] else []
    return {one["id"]: one["message"] for one in found if one["kind"] == "proposed"}


def density(owner: Team, *options: str, base: str | None = "main") -> tuple[int, Any]:
    code, report = owner.check("--only=RACK-002", "--all", *options, base=base)
    return code, (results(report, "RACK-002")[0]["value"], owner.notices(report), report)


def lower_power(server: dict[str, Any]) -> None:
    server["max_power"]["value"] = "5 kW"
    server["heat"]["value"] = "5 kW"


def test_a_server_whose_power_is_lowered_is_judged_by_the_base(owner: Team) -> None:
    owner.branch()
    before = density(owner)[1][0]
    edit(owner.top, SERVER, lower_power)
    alone = density(owner, base=None)[1][0]
    assert (before, alone) == (40800.0, 20000.0)
    code, (value, told, _) = density(owner)
    assert value == before
    assert code == density(owner, "--isolated")[0]
    assert told == {
        "acme-8x: heat": "'5 kW' in this change; 'main' decides: it stays '38557 BTU/h' until "
        "the change is merged",
        "acme-8x: max_power": "'5 kW' in this change; 'main' decides: it stays '10.2 kW' until "
        "the change is merged",
    }
    owner.commit()
    git(owner.top, "branch", "--force", "main")
    assert density(owner)[1][:2] == (20000.0, {})


def test_the_place_of_a_lowered_number_is_that_of_the_change(owner: Team) -> None:
    owner.branch()
    edit(owner.top, SERVER, lower_power)
    report = owner.check("--only=RACK-002", "--all")[1]
    (notice,) = [one for one in report["hygiene"]["notices"] if "max_power" in one["id"]]
    line = (owner.top / SERVER).read_text().splitlines().index("max_power:") + 1
    assert notice["location"]["file"].endswith(str(SERVER))
    assert notice["location"]["line"] == line + 1
    assert main(["check", "--base-ref=main", "--strict-waivers", str(FILE)]) != 0


def test_a_server_that_draws_more_does_so_at_once(owner: Team) -> None:
    owner.branch()
    edit(owner.top, SERVER, lambda server: server["max_power"].update(value="12 kW"))
    assert density(owner)[1][:2] == (48000.0, {})


def test_a_number_that_the_base_does_not_know_stays_unknown(owner: Team) -> None:
    write(owner.top, SERVER, a_server(max_power=None))
    owner.branch()
    write(owner.top, SERVER, a_server())
    assert density(owner, base=None)[1][0] == 40800.0
    _, (value, told, report) = density(owner)
    assert value is None
    assert results(report, "RACK-002")[0]["outcome"] == "unknown"
    assert "it stays unknown" in told["acme-8x: max_power"]


def test_an_estimate_does_not_become_official_by_saying_so(owner: Team) -> None:
    guess = a_server()
    guess["sources"]["guide-h100"]["confidence"] = "estimate"
    write(owner.top, SERVER, guess)
    owner.branch()
    write(owner.top, SERVER, a_server())
    report = owner.check("--only=CAT-002", "--all")[1]
    assert results(report, "CAT-002")[0]["outcome"] == "fail"
    assert "it stays '10.2 kW, an estimate'" in owner.notices(report)["acme-8x: max_power"]
    assert owner.check("--only=CAT-002", "--all", base=None)[0] == 0


def test_another_folder_of_the_same_products_is_compared_as_well(owner: Team) -> None:
    owner.branch()
    shutil.move(owner.top / "hardware", owner.top / "elsewhere")
    write(owner.top, Path("rackwright.yaml"), {"catalogue": [{"path": "elsewhere"}]})
    edit(owner.top, Path("elsewhere/nodes/acme-8x.yaml"), lower_power)
    _, (value, told, _) = density(owner)
    assert value == 40800.0
    assert set(told) == {"acme-8x: heat", "acme-8x: max_power"}


def test_a_new_product_is_shown_with_its_sources(owner: Team) -> None:
    owner.branch()
    write(owner.top, NEW, {**a_server(), "id": "acme-9x"})
    text = (owner.top / FILE).read_text()
    (owner.top / FILE).write_text(text.replace("acme-8x", "acme-9x"))
    report = owner.check("--only=RACK-002", "--all")[1]
    told = proposed(report)["acme-9x"]
    assert told.startswith("a node that is new in this change; 'main' does not have it: ")
    assert "'NVIDIA DGX H100/H200 User Guide, introduction' (2026-11-23, official)" in told
    assert "acme-9x" not in owner.notices(report)


def test_a_product_that_the_change_removes_is_unknown(
    owner: Team, capsys: pytest.CaptureFixture[str]
) -> None:
    owner.branch()
    (owner.top / SERVER).unlink()
    write(owner.top, NEW, {**a_server(), "id": "acme-9x"})
    assert main(["check", "--base-ref=main", str(FILE)]) == 2
    said = capsys.readouterr().err
    assert "blueprint.yaml:" in said
    assert "there is no node 'acme-8x' in the catalogue" in said
    assert "rackwright catalogue new nodes/acme-8x" in said


def test_a_pack_sees_the_facts_of_the_base(owner: Team) -> None:
    """The rule of a team runs in another process, which gets the same catalogue."""
    write(
        owner.top,
        Path("rackwright.yaml"),
        {"catalogue": [{"path": "hardware"}], "packs": [{"path": "policies"}]},
    )
    asked = 'plan.catalogue.get(Node, "acme-8x").max_power.value'
    owner.edit(
        lambda text: text.replace("= site.altitude", f"= {asked}").replace(
            "from pydantic", "from rackwright.model.hardware import Node\nfrom pydantic", 1
        )
    )
    owner.branch()
    edit(owner.top, SERVER, lower_power)

    def seen(base: str | None) -> float:
        report = owner.check("--only=ACME-001", "--all", base=base)[1]
        found: float = results(report, "ACME-001")[0]["value"]
        return found

    assert seen(None) == 5000.0
    assert seen("main") == 10200.0


def test_diff_compares_each_side_by_its_own_catalogue(
    owner: Team, capsys: pytest.CaptureFixture[str]
) -> None:
    owner.branch()
    edit(owner.top, SERVER, lambda server: server["max_power"].update(value="12 kW"))
    owner.commit()
    capsys.readouterr()
    main(["diff", "main...HEAD", "--json", str(FILE)])
    out = capsys.readouterr().out
    assert "40.8" in out or "40800" in out
    assert "48000" in out or "48 kW" in out


def test_a_lower_price_is_the_bases_and_a_higher_one_holds(owner: Team) -> None:
    lists = {"catalogue": [{"path": "hardware"}], "prices": [{"path": "prices"}]}
    write(owner.top, Path("rackwright.yaml"), lists)
    write(owner.top, PRICES, a_price())
    owner.branch()

    def told() -> dict[str, str]:
        return owner.notices(owner.check("--only=CST-001", "--all")[1])

    name = "acme-8x (capex, world)"
    write(owner.top, PRICES, a_price(200_000))
    assert "it stays '250000 of 2026-10-01 (official)'" in told()[name]
    write(owner.top, PRICES, a_price(300_000))
    assert told() == {}
    write(owner.top, PRICES, a_price(date="2026-11-01"))
    assert "'250000 of 2026-11-01 (official)' in this change" in told()[name]


def test_a_price_that_the_base_lacks_is_unknown_of_a_product_that_it_has(owner: Team) -> None:
    owner.branch()
    lists = {"catalogue": [{"path": "hardware"}], "prices": [{"path": "prices"}]}
    write(owner.top, Path("rackwright.yaml"), lists)
    priced = a_price()
    priced["prices"]["acme-9x"] = {"value": 1, "source": "offer"}
    write(owner.top, PRICES, priced)
    write(owner.top, NEW, {**a_server(), "id": "acme-9x"})
    told = owner.notices(owner.check("--only=CST-001", "--all")[1])
    assert set(told) == {"acme-8x (capex, world)"}
    assert "it stays unknown" in told["acme-8x (capex, world)"]


def test_a_catalogue_that_is_pinned_otherwise_is_told(owner: Team, tmp_path: Path) -> None:
    from rackwright.team.digest import folder_digest

    shared = tmp_path / "shared"
    shutil.move(owner.top / "hardware", shared)

    def write_pin() -> None:
        pin = {"path": "../shared", "digest": folder_digest(shared)}
        write(owner.top, Path("rackwright.yaml"), {"catalogue": [pin]})

    write_pin()
    owner.branch()
    assert density(owner)[1][:2] == (40800.0, {})
    edit(tmp_path, Path("shared/nodes/acme-8x.yaml"), lower_power)
    write_pin()
    _, (value, told, _) = density(owner)
    assert value == 20000.0
    assert "'../shared' is not to be had as 'main' lists it" in told["catalogue of main"]


def test_isolated_a_catalogue_outside_the_repository_is_not_read(
    owner: Team, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from rackwright.team.digest import folder_digest

    shared = tmp_path / "shared"
    shutil.copytree(owner.top / "hardware", shared)
    owner.branch()
    shutil.rmtree(owner.top / "hardware")
    pin = {"path": "../shared", "digest": folder_digest(shared)}
    write(owner.top, Path("rackwright.yaml"), {"catalogue": [pin]})
    assert density(owner)[1][0] == 40800.0
    assert main(["check", "--isolated", "--base-ref=main", str(FILE)]) == 2
    said = capsys.readouterr().err
    assert "rackwright.yaml:" in said
    assert "catalogue: '../shared' leads out of the repository" in said


def test_isolated_the_base_s_catalogue_outside_the_repository_decides_still(
    owner: Team, tmp_path: Path
) -> None:
    """Who lists it is the base; the change takes it in, and lowers what it says."""
    from rackwright.team.digest import folder_digest

    shared = tmp_path / "shared"
    shutil.move(owner.top / "hardware", shared)
    pin = {"path": "../shared", "digest": folder_digest(shared)}
    write(owner.top, Path("rackwright.yaml"), {"catalogue": [pin]})
    owner.branch()
    shutil.copytree(shared, owner.top / "hardware")
    write(owner.top, Path("rackwright.yaml"), {"catalogue": [{"path": "hardware"}]})
    edit(owner.top, SERVER, lower_power)
    assert density(owner, "--isolated")[1][0] == 40800.0


def test_an_entry_of_the_base_that_cannot_be_read_has_approved_nothing(owner: Team) -> None:
    (owner.top / SERVER).write_text("kind: [")
    owner.branch()
    write(owner.top, SERVER, a_server())
    assert density(owner)[1][:2] == (40800.0, {})


FACT = {
    "product": "acme-8x",
    "field": "weight",
    "value": "118 kg",
    "source": "Weighed at goods receipt",
    "date": "2026-05-02",
    "confidence": "official",
}


def state(owner: Team, *facts: dict[str, Any]) -> None:
    edit(owner.top, FILE, lambda blueprint: blueprint.update(facts=list(facts)))


def weight(owner: Team, base: str | None = "main") -> tuple[str, dict[str, str]]:
    """How it stands with the weight of the servers, and what the change lowers."""
    report = owner.check("--only=CAT-001", "--all", base=base)[1]
    (found,) = [one for one in results(report, "CAT-001") if "acme-8x" in one["subject"]]
    return found["outcome"], owner.notices(report)


def test_a_fact_that_the_change_states_is_unknown_until_it_is_merged(owner: Team) -> None:
    write(owner.top, SERVER, a_server(weight=None))
    owner.branch()
    state(owner, FACT)
    assert weight(owner, base=None) == ("pass", {})
    outcome, told = weight(owner)
    assert outcome == "unknown"
    assert "'main' decides" in told["facts.0"]
    owner.commit()
    git(owner.top, "branch", "--force", "main")
    assert weight(owner) == ("pass", {})


def test_a_fact_that_the_change_edits_is_the_bases(owner: Team) -> None:
    write(owner.top, SERVER, a_server(weight=None))
    state(owner, FACT)
    owner.branch()
    state(owner, {**FACT, "value": "18 kg"})
    told = weight(owner)[1]
    assert told == {
        "facts.0.value": "'18 kg' in this change, without a reason; 'main' decides: it stays "
        "'118 kg' until the change is merged"
    }
    state(owner)
    assert weight(owner)[0] == "unknown"


def test_a_connector_that_the_change_states_or_edits_is_the_bases(owner: Team) -> None:
    stated = {**FACT, "product": "gb200-nvl72", "field": "liquid.connector", "value": "lqc-v2"}
    owner.branch()
    state(owner, stated)
    assert weight(owner, base=None)[1] == {}
    assert "'main' decides" in weight(owner)[1]["facts.0"]
    owner.commit()
    git(owner.top, "branch", "--force", "main")
    assert weight(owner)[1] == {}
    state(owner, {**stated, "value": "uqd04"})
    assert weight(owner)[1] == {
        "facts.0.value": "'uqd04' in this change, without a reason; 'main' decides: it stays "
        "'lqc-v2' until the change is merged"
    }


def rack_weight(owner: Team, file: Path = FILE, base: str | None = "main") -> tuple[float, Any]:
    """Weight of the rack, and what the change lowers."""
    ref = [] if base is None else [f"--base-ref={base}"]
    owner._capsys.readouterr()
    main(["check", "--json", "--only=RACK-003", *ref, str(file)])
    report = json.loads(owner._capsys.readouterr().out)
    (found,) = results(report, "RACK-003")
    return found["value"], owner.notices(report)


def test_a_fact_does_not_take_the_place_of_a_number_that_the_base_knows(owner: Team) -> None:
    """Also where the blueprint is new, so that there is no base of it."""
    owner.branch()
    before = rack_weight(owner, base=None)[0]
    write(owner.top, SERVER, a_server(weight=None))
    state(owner, {**FACT, "value": "18 kg"})
    assert rack_weight(owner, base=None)[0] < before
    assert rack_weight(owner)[0] == before
    second = Path("site/second.yaml")
    write(owner.top, second, yaml.safe_load((owner.top / FILE).read_text()) | {"name": "new"})
    git(owner.top, "checkout", "--quiet", "main", "--", str(FILE))
    value, told = rack_weight(owner, second)
    assert value == before
    assert "'main' knows the number" in told["facts.0"]


def test_a_fact_of_the_base_may_move_into_the_catalogue(owner: Team) -> None:
    write(owner.top, SERVER, a_server(weight=None))
    state(owner, FACT)
    owner.branch()
    state(owner)
    write(owner.top, SERVER, a_server())
    assert weight(owner) == ("pass", {})
    edit(owner.top, SERVER, lambda server: server["weight"].update(value="18 kg"))
    assert "it stays '118 kg'" in weight(owner)[1]["acme-8x: weight"]


MEASURED = FACT | {"product": "cpu-2u", "field": "max_power", "value": "9 kW"}


def test_a_measured_number_that_a_change_takes_out_is_the_base_s(pull: Pull) -> None:
    """The catalogue's own number has no document and is lower, so it takes the place of no measured one."""
    site = overdrawn(node_groups=[some_nodes(type="cpu-2u")], power={"contract": "20 kW"})
    pull.open(site, facts=[MEASURED])
    assert pull.judge() == 5
    pull.write(site)
    code, told = pull.report()
    assert (code, pull.alone()) == (5, 0)
    assert "'main' decides" in told["facts.0.value"]


@pytest.mark.parametrize("value", ["10.2 kW", "11 kW"])
def test_fact_that_a_newer_catalogue_supersedes_holds_no_change_up(pull: Pull, value: str) -> None:
    superseded = MEASURED | {"product": "dgx-h100", "value": value}
    pull.open(a_site(), facts=[superseded])
    assert pull.judge() == 0
    pull.write(a_site(), facts=[superseded], owner="another team")
    assert pull.judge() == 0
    pull.write(a_site(), facts=[superseded | {"value": "9 kW"}])
    assert pull.judge() == 2


def test_fact_that_a_change_states_of_a_known_number_changes_no_verdict(pull: Pull) -> None:
    """An overdrawn site stays one, whatever a change states of its servers."""
    pull.open(overdrawn())
    assert pull.judge() == 5
    for value in ("10.2 kW", "11 kW", "99 kW"):
        pull.write(overdrawn(), facts=[MEASURED | {"product": "dgx-h100", "value": value}])
        assert (pull.judge(), pull.alone()) == (5, 5)


@pytest.mark.parametrize("product", ["dgx-h100", "gone-8x"])
def test_a_fact_that_the_catalogue_does_not_take_any_more_may_be_taken_out(
    pull: Pull, product: str
) -> None:
    """A newer catalogue knows the number, or lacks the product."""
    pull.open(a_site(), facts=[MEASURED | {"product": product}])
    assert pull.judge() == 2
    pull.write(a_site())
    assert pull.judge() == 0
