"""What a change says of its own hardware does not judge it: the base's claims hold until the merge."""

from __future__ import annotations

import copy
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from factories import a_blueprint, a_hall, a_rack_group, a_row, a_site, some_nodes, three_lanes
from pull_request import FILE, Pull, overdrawn
from rackwright.cli import main
from rackwright.policy.base_approval.claims import hold_claims
from rackwright.reading.loader import load_tree
from rackwright.resources import bundled

CAP = "node_groups.dgx.power_cap"


def test_a_cap_that_the_change_sets_does_not_hold(pull: Pull) -> None:
    pull.open(overdrawn())
    pull.write(overdrawn(node_groups=[some_nodes(power_cap="1 kW")]))
    assert pull.alone() == 0
    code, notices = pull.report()
    assert code == 5
    assert notices == {
        f"sites.lab.{CAP}": "'1 kW' in this change, without a reason; 'main' decides: it stays "
        "not given until the change is merged"
    }
    pull.merge()
    assert pull.report() == (0, {})


def test_owner_of_a_claim_is_named(pull: Pull) -> None:
    pull.open(overdrawn())
    pull.write(overdrawn(node_groups=[some_nodes(power_cap="1 kW")]), owner="gpu-platform")
    said = pull.report()[1][f"sites.lab.{CAP}"]
    assert said.startswith(
        "'1 kW' in this change, without a reason, for which 'gpu-platform' answers; 'main' decides"
    )


@pytest.mark.parametrize("name", [f"sites.lab.{CAP}", "sites.lab", "sites"])
def test_why_a_claim_is_made_and_who_answers_for_it_is_told(pull: Pull, name: str) -> None:
    pull.open(overdrawn())
    reason = {"reason": "capped in the BIOS, DC-12", "owner": "ada"}
    capped = overdrawn(node_groups=[some_nodes(power_cap="1 kW")])
    pull.write(capped, owner="gpu-platform", reasons={name: reason})
    assert pull.report() == (
        5,
        {
            f"sites.lab.{CAP}": "'1 kW' in this change, because 'capped in the BIOS, DC-12', for "
            "which 'ada' answers; 'main' decides: it stays not given until the change is merged"
        },
    )


def test_why_a_field_is_left_out_is_told(pull: Pull) -> None:
    pull.open(a_site(halls=[a_hall(power_limit="30 kW")]))
    name = "sites.lab.halls.hall-1.power_limit"
    pull.write(a_site(halls=[a_hall()]), reasons={name: {"reason": "the busbar is new"}})
    assert "because 'the busbar is new'; 'main'" in pull.report()[1][name]


@pytest.mark.parametrize(
    ("name", "reason", "said"),
    [
        ("sites.lab.node_group.dgx.power_cap", "capped, DC-12", "has no 'sites.lab.node_group.dgx"),
        ("sites.lba", "capped, DC-12", "reasons: this blueprint has no 'sites.lba'"),
        ("nowhere", "capped, DC-12", "reasons: this blueprint has no 'nowhere'"),
        (f"sites.lab.{CAP}", "-- ..", "'-- ..' is no reason"),
    ],
)
def test_a_reason_that_is_none(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, reason: str, said: str
) -> None:
    document = a_blueprint(overdrawn(), reasons={name: {"reason": reason}})
    (tmp_path / FILE).parent.mkdir()
    (tmp_path / FILE).write_text(yaml.safe_dump(document, allow_unicode=True))
    assert main(["check", str(tmp_path / FILE)]) == 2
    shown = capsys.readouterr().err
    assert said in " ".join(shown.split())
    assert re.search(rf"{FILE}:\d+:\d+", shown)


def test_a_cap_that_the_change_lowers_stays(pull: Pull) -> None:
    pull.open(overdrawn(node_groups=[some_nodes(power_cap="9 kW")]))
    pull.write(overdrawn(node_groups=[some_nodes(power_cap="1 kW")]))
    code, notices = pull.report()
    assert code == 5
    assert "it stays '9 kW' until" in notices[f"sites.lab.{CAP}"]


def test_a_cap_that_the_change_raises_is_judged_so(pull: Pull) -> None:
    pull.open(overdrawn(node_groups=[some_nodes(power_cap="5 kW")]))
    assert pull.judge() == 0
    pull.write(overdrawn(node_groups=[some_nodes(power_cap="9000 W")]))
    assert pull.report() == (5, {})


def test_a_cap_in_other_words_is_the_same(pull: Pull) -> None:
    pull.open(overdrawn(node_groups=[some_nodes(power_cap="5 kW")]))
    pull.write(overdrawn(node_groups=[some_nodes(power_cap="5,000 W")]))
    assert pull.report() == (0, {})


def test_a_contract_that_the_change_raises_does_not_hold(pull: Pull) -> None:
    pull.open(overdrawn())
    pull.write(overdrawn(power={"contract": "500 kW"}))
    assert (pull.alone(), pull.judge()) == (0, 5)


def test_a_layer_of_the_change_grants_nothing(pull: Pull) -> None:
    pull.open(overdrawn())
    layer = {"sites": [{"name": "lab", "node_groups": [{"name": "dgx", "power_cap": "1 kW"}]}]}
    Path("more.yaml").write_text(yaml.safe_dump(layer))
    code, notices = pull.report("--layer=more.yaml")
    assert (code, list(notices)) == (5, [f"sites.lab.{CAP}"])


def test_a_merged_cap_is_bounded_by_the_catalogue(pull: Pull) -> None:
    """Without its eight accelerators of 700 W, a DGX H100 draws 4.6 kW: 4 × 4.6 kW × 1.35 = 24.84 kW."""
    capped = [some_nodes(power_cap="1 kW")]
    pull.open(a_site(node_groups=capped, power={"contract": "24.84 kW"}))
    assert pull.judge() == 0
    pull.write(a_site(node_groups=capped, power={"contract": "24.83 kW"}))
    assert pull.judge() == 5


def test_redundancy_that_the_change_gives_up_stays(pull: Pull) -> None:
    lanes = three_lanes()
    for source in lanes:
        if source["kind"] == "ups":
            source["modules"]["capacity"] = "8 kW"
    pull.open(a_site(power={"sources": lanes}))
    mild = [{**source, "redundancy": "N"} for source in lanes]
    pull.write(a_site(power={"sources": mild}))
    assert (pull.alone(), pull.judge()) == (0, 5)
    assert "it stays not given" in pull.report()[1]["sites.lab.power.sources.ups-a.redundancy"]


def test_capping_that_the_change_promises_does_not_hold(pull: Pull) -> None:
    pull.open(a_site(power={"oversubscription": 1.3}))
    pull.write(a_site(power={"oversubscription": 1.3, "capping": True}))
    before, after = pull.report(rule="PWR-009"), pull.alone("PWR-009")
    assert "sites.lab.power.capping" in before[1]
    assert after == 0


def test_estimates_that_the_change_allows_are_refused_still(pull: Pull) -> None:
    guessed = [some_nodes(type="hgx-h100-4u-liquid")]
    pull.open(a_site(node_groups=guessed))
    pull.write(a_site(node_groups=guessed, allow_estimates=True))
    assert pull.alone("CAT-002") != 5
    code, notices = pull.report(rule="CAT-002")
    assert code == 5
    assert notices["sites.lab.allow_estimates"].startswith(
        "'true' in this change, without a reason; 'main' decides"
    )


def test_requirement_dropped_by_the_change_still_applies(pull: Pull) -> None:
    pull.open(a_site(halls=[a_hall(power_limit="30 kW")]))
    pull.write(a_site(halls=[a_hall()]))
    assert (pull.alone(), pull.judge()) == (0, 5)
    notice = pull.report()[1]["sites.lab.halls.hall-1.power_limit"]
    assert notice.startswith(
        "not given in this change, without a reason; 'main' decides: it stays '30 kW'"
    )


def test_a_group_by_another_name_keeps_its_claims(pull: Pull) -> None:
    pull.open(overdrawn(node_groups=[some_nodes(power_cap="9 kW")]))
    pull.write(overdrawn(node_groups=[some_nodes("gpu", power_cap="1 kW")]))
    code, notices = pull.report()
    assert code == 5
    assert "it stays '9 kW' until" in notices["sites.lab.node_groups.gpu.power_cap"]


def test_a_site_by_another_name_keeps_its_claims(pull: Pull) -> None:
    pull.open(overdrawn())
    changed = overdrawn(node_groups=[some_nodes(power_cap="1 kW")], name="dc2")
    changed["power"]["contract"] = "500 kW"
    pull.write(changed)
    code, notices = pull.report()
    assert code == 5
    assert set(notices) == {f"sites.dc2.{CAP}", "sites.dc2.power.contract"}


def test_racks_in_another_row_keep_their_claims(pull: Pull) -> None:
    group = a_rack_group("c[01-02]", cooling={"mode": "air", "power_limit": "30 kW"})
    pull.open(a_site(halls=[a_hall(rows=[a_row(group)])]))
    moved = a_rack_group("c01", cooling={"mode": "air", "power_limit": "60 kW"})
    left = a_rack_group("c02", cooling={"mode": "air", "power_limit": "30 kW"})
    pull.write(a_site(halls=[a_hall(rows=[a_row(left), a_row(moved, name="row-2")])]))
    assert (pull.alone("RACK-002"), pull.judge(rule="RACK-002")) == (0, 5)


def test_a_new_group_grants_itself_nothing(pull: Pull) -> None:
    pull.open(overdrawn(node_groups=[some_nodes(count=2)]))
    assert pull.judge() == 0
    more = some_nodes("more", count=2, per_rack=2, power_cap="1 kW")
    pull.write(overdrawn(node_groups=[some_nodes(count=2), more]))
    assert pull.alone() == 0
    code, notices = pull.report()
    assert code == 5
    assert notices["sites.lab.node_groups.more.power_cap"] == (
        "'1 kW' in this change, without a reason, of what 'main' does not have; it is judged as "
        "not given until the change is merged"
    )


def test_required_claims_of_a_new_site_are_accepted_and_listed(pull: Pull) -> None:
    pull.open(a_site())
    site = a_site(name="dc2", security={"secure_boot": True})
    blueprint = a_blueprint(a_site(), site)
    Path(FILE).write_text(yaml.safe_dump(blueprint, allow_unicode=True))
    notices = pull.report()[1]
    assert set(notices) >= {"sites.dc2"}
    assert "'main' has approved nothing of it:" in notices["sites.dc2"]
    assert "power.contract" in notices["sites.dc2"]


def test_a_new_blueprint_is_told_what_it_grants_itself(pull: Pull) -> None:
    pull.open(a_site(), file="other/blueprint.yaml", name="another")
    pull.write(overdrawn(node_groups=[some_nodes(power_cap="1 kW")]))
    code, notices = pull.report()
    assert code == 0
    assert notices == {
        f"sites.lab.{CAP}": "'1 kW' in this change, without a reason; the blueprint is new, so "
        "that is not approved; the default is not given"
    }


def test_claims_of_the_base_that_do_not_fit_the_change_are_told(
    pull: Pull, capsys: pytest.CaptureFixture[str]
) -> None:
    """Three modules with one spare become one with none."""
    lanes = three_lanes()
    pull.open(a_site(power={"sources": lanes}))
    fewer = copy.deepcopy(lanes)
    for source in fewer:
        if "modules" in source:
            source["modules"] = {"count": 1, "capacity": "300 kW", "spare": 0}
    pull.write(a_site(power={"sources": fewer}))
    assert pull.alone() == 0
    assert main(["check", "--base-ref=main", FILE]) == 2
    said = capsys.readouterr().err
    assert "what 'main' has approved does not fit the rest of this change" in said
    assert f"{FILE}:" in said


def test_every_form_tells_which_claims_do_not_hold(
    pull: Pull, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pull.open(overdrawn())
    pull.write(overdrawn(node_groups=[some_nodes(power_cap="1 kW")]))
    forms = ("text", "json", "sarif", "junit", "gitlab", "github", "md")
    outputs = [f"--output={form}={tmp_path}/report.{form}" for form in forms]
    assert main(["check", "--base-ref=main", *outputs, FILE]) == 5
    capsys.readouterr()
    for form in forms:
        text = (tmp_path / f"report.{form}").read_text()
        assert "until the change is merged" in text, form
        assert "power_cap" in text.replace("\\_", "_"), form


def test_strict_hygiene_fails_a_change_that_grants_itself_something(pull: Pull) -> None:
    pull.open(a_site())
    pull.write(a_site(node_groups=[some_nodes(power_cap="1 kW")]))
    assert pull.judge() == 0
    assert pull.judge("--strict-waivers") == 7


def test_a_diff_judges_claims_as_check_does(pull: Pull, capsys: pytest.CaptureFixture[str]) -> None:
    pull.open(a_site())
    pull.write(overdrawn(node_groups=[some_nodes(power_cap="1 kW")]))
    pull.commit()
    assert main(["diff", "main...HEAD", FILE]) == 5
    assert "power_cap" in capsys.readouterr().out


def test_an_owner_that_steers_a_terminal_is_shown(
    pull: Pull, capsys: pytest.CaptureFixture[str]
) -> None:
    pull.open(overdrawn())
    pull.write(overdrawn(power={"contract": "500 kW"}), owner="x\x1b[2J")
    assert main(["check", "--base-ref=main", FILE]) == 5
    said = capsys.readouterr().out
    assert "answers; 'main' decides" in said
    assert "\x1b" not in said


def test_a_job_is_asked_for_where_its_group_has_another_name() -> None:
    asked = {"name": "train", "parts": [{"site": "lab", "group": "dgx", "hosts": 4}]}
    base = a_blueprint(reliability={"jobs": [asked]})
    head = a_blueprint(a_site(name="dc2", node_groups=[some_nodes("gpu")]))
    (job,) = hold_claims(head, base).data["reliability"]["jobs"]
    assert job["parts"] == [{"site": "dc2", "group": "gpu", "hosts": 4}]


def test_a_job_goes_with_its_group() -> None:
    asked = {"name": "train", "parts": [{"site": "lab", "group": "more", "hosts": 4}]}
    groups = [some_nodes(), some_nodes("more")]
    base = a_blueprint(a_site(node_groups=groups), reliability={"jobs": [asked]})
    head = a_blueprint(a_site())
    assert not hold_claims(head, base).kept


def test_renamed_group_keeps_its_claims() -> None:
    def blueprint(group: str, spares: int) -> dict[str, Any]:
        said = {"site": "lab", "group": group, "spares": spares}
        site = a_site(node_groups=[some_nodes(group)])
        return a_blueprint(site, reliability={"groups": [said]})

    found = hold_claims(blueprint("gpu", 9), blueprint("dgx", 2)).data
    assert found["reliability"]["groups"][0]["spares"] == 2


def test_racks_that_move_to_another_site_keep_their_claims() -> None:
    def hall(racks: str, limit: str) -> list[dict[str, Any]]:
        group = a_rack_group(racks, cooling={"mode": "air", "power_limit": limit})
        return [a_hall(rows=[a_row(group)])]

    def site(name: str, halls: list[dict[str, Any]]) -> dict[str, Any]:
        return a_site(name=name, halls=halls, node_groups=[])

    base = a_blueprint(site("a", hall("c01", "30 kW")), site("b", []))
    head = a_blueprint(site("a", []), site("b", hall("c01", "60 kW")))
    group = hold_claims(head, base).data["sites"][1]["halls"][0]["rows"][0]["rack_groups"][0]
    assert group["cooling"]["power_limit"] == "30 kW"


def test_a_pue_that_the_change_leaves_out_stays(pull: Pull) -> None:
    """What has an entry of its own may say less than the PUE, and all of it is said."""
    site = overdrawn(plant=[])
    for source in site["power"]["sources"]:
        if source["kind"] == "ups":
            source["efficiency"] = "99 %"
    site["halls"][0]["air"] |= {"power": "1 kW", "fed_by": ["utility"]}
    pull.open(site)
    assert pull.judge() == 5
    del site["pue"]
    pull.write(site)
    assert pull.alone() == 0
    code, notices = pull.report()
    assert (code, list(notices)) == (5, ["sites.lab.pue"])


def test_a_weight_that_only_the_blueprint_says_is_the_bases() -> None:
    def blueprint(cables: str, coolant: str) -> dict[str, Any]:
        cooling = {"mode": "liquid", "loop": "loop-1", "coolant_weight": coolant}
        group = a_rack_group(cable_weight=cables, cooling=cooling)
        return a_blueprint(a_site(halls=[a_hall(rows=[a_row(group)])]))

    base = blueprint("90 kg", "40 kg")
    assert hold_claims(blueprint("1 kg", "0 kg"), base).data == base
    heavier = blueprint("95 kg", "45 kg")
    assert hold_claims(heavier, base).data == heavier


@pytest.mark.parametrize("said", ["50 mm", "200 mm"])
def test_space_for_cables_is_the_bases_either_way(said: str) -> None:
    """Less of it leaves devices room in the rack (RACK-006), more leaves cables room (RACK-012)."""

    def blueprint(allowance: str) -> dict[str, Any]:
        group = a_rack_group(cable_allowance=allowance)
        return a_blueprint(a_site(halls=[a_hall(rows=[a_row(group)])]))

    base = blueprint("100 mm")
    assert hold_claims(blueprint(said), base).data == base


@pytest.mark.parametrize("recorded", [None, 4096])
def test_a_new_site_raises_no_quota_of_its_region(pull: Pull, recorded: int | None) -> None:
    """Sites of one region share the quotas of the account: a second one cannot say more of them."""
    whole = load_tree(bundled("policies") / "fixtures" / "aws.yaml").data
    (asked,) = whole["sites"]
    asked["node_groups"][0]["count"] = 22
    asked["limits"] = {"recorded": "2026-11-01", "quotas": {"L-1216C47A": 256}}
    if recorded:
        asked["limits"]["quotas"]["L-417A185B"] = recorded
    pull.open(asked)
    before = pull.judge(rule="AWS-004")
    grand = {"recorded": "2026-11-01", "quotas": {"L-417A185B": 10**6, "L-1216C47A": 256}}
    second = {**asked, "name": "second", "limits": grand}
    pull.write(asked, more=[second])
    assert before == (5 if recorded else 6)
    code, notices = pull.report(rule="AWS-004")
    assert code == before
    assert [name for name in notices if name.startswith("sites.second.limits")]


def test_a_job_goes_along_with_what_is_renamed() -> None:
    def blueprint(site: str, *groups: str, hosts: int) -> dict[str, Any]:
        parts = [{"site": site, "group": group, "hosts": hosts} for group in groups]
        nodes = [some_nodes(group) for group in groups]
        jobs = [{"name": "train", "parts": parts}]
        return a_blueprint(a_site(name=site, node_groups=nodes), reliability={"jobs": jobs})

    def asked(head: dict[str, Any], base: dict[str, Any]) -> list[tuple[str, str, int]]:
        (job,) = hold_claims(head, base).data["reliability"]["jobs"]
        return [(part["site"], part["group"], part["hosts"]) for part in job["parts"]]

    base = blueprint("lab", "dgx", "hgx", hosts=4)
    assert asked(blueprint("dc2", "hgx", "dgx", hosts=4), base) == [
        ("dc2", "hgx", 4),
        ("dc2", "dgx", 4),
    ]
    assert asked(blueprint("lab", "a", "b", hosts=1), base) == [("lab", "a", 4), ("lab", "b", 4)]
    assert asked(blueprint("lab", "both", hosts=4), base) == [("lab", "both", 8)]
