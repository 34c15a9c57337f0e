"""A blueprint by another name or at another place is held by what its base has approved of it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import yaml

from ci_team import git
from factories import a_site, some_nodes, three_lanes
from pull_request import FILE, Pull, overdrawn
from rackwright.cli import main

CAP = "node_groups.dgx.power_cap"
LAB = "lab/blueprint.yaml"
ATTRIBUTES = [
    "* binary",
    "*.yaml binary",
    "*.yaml -diff -text",
    "*.yaml filter=gone diff=gone merge=binary",
    "*.yaml working-tree-encoding=UTF-16",
    "*.yaml export-ignore export-subst ident",
    "site/** -diff linguist-generated",
]
"""Lines of a file of attributes; git takes those of the checkout, which the change has made."""
LOWERED = {"PWR-006": {"enforcement": "disabled", "reason": "a lab may be overdrawn"}}


@pytest.mark.parametrize("file", ["site/prod.yaml", "elsewhere/blueprint.yaml"])
def test_a_renamed_blueprint_keeps_its_base(pull: Pull, file: str) -> None:
    pull.open(overdrawn())
    Path(FILE).unlink()
    pull.write(overdrawn(node_groups=[some_nodes(power_cap="1 kW")]), file)
    code, notices = pull.report(file=file)
    assert (code, list(notices)) == (5, [f"sites.lab.{CAP}"])
    assert pull.alone(file=file) == 0


@pytest.mark.parametrize("name", ["blueprint", "blueprint.txt", "blueprint.YML", "site.rackwright"])
def test_a_blueprint_whose_name_ends_otherwise_keeps_its_base(pull: Pull, name: str) -> None:
    before = f"site/{name}"
    pull.write(overdrawn(), before)
    pull.commit()
    git(pull.top, "switch", "--quiet", "--create=change")
    Path(before).unlink()
    pull.write(overdrawn(), policies=LOWERED)
    code, notices = pull.report()
    assert (code, "PWR-006" in notices) == (5, True)


@pytest.mark.parametrize(
    "version", ['"rack\\x77right/v1"', '"\\u0072ackwright/v1"', '"rack\\\n  wright/v1"']
)
def test_a_blueprint_that_spells_its_version_with_escapes_keeps_its_base(
    pull: Pull, version: str
) -> None:
    pull.write(overdrawn())
    path = pull.top / FILE
    path.write_text(path.read_text().replace("rackwright/v1", version))
    pull.commit()
    git(pull.top, "switch", "--quiet", "--create=change")
    path.unlink()
    pull.write(overdrawn(), "site/prod.yaml", policies=LOWERED)
    assert pull.judge(file="site/prod.yaml") == 5


@pytest.mark.parametrize("inlined", [False, True])
def test_a_blueprint_whose_sites_are_in_a_layer_keeps_its_base(pull: Pull, inlined: bool) -> None:
    pull.write(overdrawn())
    path, layer = pull.top / FILE, pull.top / "site/sites.yaml"
    document = yaml.safe_load(path.read_text())
    layer.write_text(yaml.safe_dump({"sites": document.pop("sites")}))
    path.write_text(yaml.safe_dump({**document, "layers": ["sites.yaml"]}))
    pull.commit()
    git(pull.top, "switch", "--quiet", "--create=change")
    (pull.top / "site").rename(pull.top / "hall")
    if inlined:
        Path("hall/sites.yaml").unlink()
        pull.write(overdrawn(), "hall/blueprint.yaml", policies=LOWERED)
    else:
        moved = Path("hall/blueprint.yaml")
        moved.write_text(yaml.safe_dump({**yaml.safe_load(moved.read_text()), "policies": LOWERED}))
    assert pull.judge(file="hall/blueprint.yaml") == 5


@pytest.mark.parametrize("line", ATTRIBUTES)
def test_attributes_of_the_change_do_not_hide_the_base_of_a_renamed_blueprint(
    pull: Pull, line: str
) -> None:
    pull.open(overdrawn())
    Path(FILE).unlink()
    pull.write(overdrawn(), "site/prod.yaml", policies=LOWERED)
    Path(".gitattributes").write_text(f"{line}\n")
    code, notices = pull.report(file="site/prod.yaml")
    assert (code, "PWR-006" in notices) == (5, True)


@pytest.mark.parametrize("line", ATTRIBUTES)
def test_attributes_of_the_change_do_not_hide_the_blueprint_that_takes_a_place(
    pull: Pull, line: str
) -> None:
    pull.write(a_site(halls=[], node_groups=[]), LAB, name="lab", policies=LOWERED)
    pull.open(overdrawn())
    Path(FILE).unlink()
    pull.write(overdrawn(), LAB, policies=LOWERED)
    Path("lab/.gitattributes").write_text("* binary\n")
    Path(".gitattributes").write_text(f"{line}\n")
    assert pull.judge(file=LAB) == 2


def test_attributes_of_the_base_hide_no_blueprint_of_it(pull: Pull) -> None:
    Path(".gitattributes").write_text("* binary\n")
    Path(".git/info").mkdir(exist_ok=True)
    Path(".git/info/attributes").write_text("* -diff\n")
    pull.open(overdrawn())
    Path(FILE).unlink()
    pull.write(overdrawn(), "site/prod.yaml", policies=LOWERED)
    assert pull.judge(file="site/prod.yaml") == 5


@pytest.mark.parametrize("file", ["site/Blueprint.YAML", "site/blueprint.json"])
def test_a_blueprint_of_another_ending_is_found_where_it_was(pull: Pull, file: str) -> None:
    pull.open(overdrawn(), file=file)
    Path(file).unlink()
    pull.write(overdrawn(), "site/prod.yaml", policies=LOWERED)
    assert pull.judge(file="site/prod.yaml") == 5


def test_a_renamed_blueprint_keeps_its_settings(pull: Pull) -> None:
    pull.open(overdrawn())
    Path(FILE).unlink()
    lowered = {"PWR-006": {"enforcement": "disabled", "reason": "the rule is wrong here"}}
    pull.write(overdrawn(), "site/prod.yaml", policies=lowered)
    code, notices = pull.report(file="site/prod.yaml")
    assert (code, "PWR-006" in notices) == (5, True)


def test_a_blueprint_renamed_with_its_cluster_keeps_its_base(pull: Pull) -> None:
    pull.open(overdrawn())
    Path(FILE).unlink()
    capped = overdrawn(node_groups=[some_nodes(power_cap="1 kW")])
    pull.write(capped, "site/prod.yaml", name="prod")
    assert pull.judge(file="site/prod.yaml") == 5


@pytest.mark.parametrize(
    ("gone", "name", "lab"),
    [
        ([FILE, LAB], "other", "lab"),
        ([FILE, LAB], "demo", "demo"),
        ([FILE], "lab", "lab"),
        ([LAB], "demo", "lab"),
    ],
)
def test_a_new_file_that_may_have_two_bases_is_refused(
    pull: Pull, capsys: pytest.CaptureFixture[str], gone: list[str], name: str, lab: str
) -> None:
    """It is most like a lab whose rules are off, for the change has written it so."""
    mild = overdrawn(name="hall-9")
    pull.write(mild, LAB, name=lab, policies=LOWERED)
    pull.open(overdrawn())
    for old in gone:
        Path(old).unlink()
    pull.write(mild, "hall/blueprint.yaml", name=name, policies=LOWERED)
    assert main(["check", "--base-ref=main", "--", "hall/blueprint.yaml"]) == 2
    said = capsys.readouterr().err
    assert "'main' does not have 'hall/blueprint.yaml', which may be" in said
    assert f"'{FILE}'" in said
    assert f"'{LAB}'" in said


def test_a_blueprint_that_takes_the_name_of_another_is_refused(pull: Pull) -> None:
    """Another one, which stays where it is, may be judged mildly."""
    pull.write(a_site(), LAB, name="lab", policies=LOWERED)
    pull.open(overdrawn())
    pull.write(overdrawn(), name="lab", policies=LOWERED)
    assert pull.judge() == 2


def test_a_blueprint_that_moves_and_takes_the_name_of_another_is_refused(pull: Pull) -> None:
    pull.write(a_site(halls=[], node_groups=[]), LAB, name="lab", policies=LOWERED)
    pull.open(overdrawn())
    Path(FILE).unlink()
    pull.write(overdrawn(), "site/prod.yaml", name="lab", policies=LOWERED)
    assert pull.judge(file="site/prod.yaml") == 2


def test_a_blueprint_that_may_be_one_of_two_is_refused(
    pull: Pull, capsys: pytest.CaptureFixture[str]
) -> None:
    pull.write(a_site(), LAB, name="lab", policies=LOWERED)
    pull.open(overdrawn())
    pull.write(a_site(), LAB, name="other", policies=LOWERED)
    pull.write(overdrawn(), name="lab", policies=LOWERED)
    assert main(["check", "--base-ref=main", "--", FILE]) == 2
    said = capsys.readouterr().err
    assert (
        "'main' has the cluster 'demo' in 'site/blueprint.yaml', where this change has 'lab', which "
        "may be 'lab' of 'lab/blueprint.yaml': it is not clear which of both has approved it"
        in said
    )
    assert "move one cluster at a time" in said


@pytest.mark.parametrize("name", ["demo", "lab", "other"])
def test_a_blueprint_that_takes_the_place_of_another_is_refused(pull: Pull, name: str) -> None:
    """What the base approves of a mild one at a place holds of no other cluster there."""
    small = a_site(halls=[], node_groups=[], power={"sources": three_lanes()[:1]})
    pull.write(small, LAB, name="lab", policies=LOWERED)
    pull.open(overdrawn())
    Path(FILE).unlink()
    pull.write(overdrawn(), LAB, name=name, policies=LOWERED)
    assert pull.judge(file=LAB) == 2


def test_a_copy_of_another_one_in_a_mild_place_is_refused(pull: Pull) -> None:
    """The other one stays where it is, so that nothing is gone."""
    small = a_site(halls=[], node_groups=[], power={"sources": three_lanes()[:1]})
    pull.write(small, LAB, name="lab", policies=LOWERED)
    pull.open(overdrawn())
    pull.write(overdrawn(), LAB, name="demo", policies=LOWERED)
    assert pull.judge(file=LAB) == 2


def test_more_of_another_one_does_not_make_it_its_base(pull: Pull) -> None:
    """A second site, which the change takes from a lab, outweighs what was there before."""
    labs = [a_site(name=f"lab-{number}", halls=[], node_groups=[]) for number in range(9)]
    pull.write(labs[0], LAB, name="lab", policies=LOWERED, more=labs[1:])
    pull.open(overdrawn())
    Path(LAB).unlink()
    pull.write(overdrawn(), name="demo", policies=LOWERED, more=labs)
    assert pull.judge() == 2


def test_a_copy_beside_the_blueprint_has_the_same_base(pull: Pull) -> None:
    pull.open(overdrawn())
    capped = overdrawn(node_groups=[some_nodes(power_cap="1 kW")])
    pull.write(capped, "site/prod.yaml")
    assert pull.judge(file="site/prod.yaml") == 5


def test_a_layer_that_moves_with_its_blueprint_holds(pull: Pull) -> None:
    power = {"contract": "30 kW"}
    layer = {"sites": [{"name": "lab", "power": power}]}
    Path("site").mkdir()
    Path("site/prod.layer.yaml").write_text(yaml.safe_dump(layer))
    pull.open(a_site())
    Path("moved").mkdir()
    for old in Path("site").iterdir():
        old.rename(Path("moved", old.name))
    power["contract"] = "500 kW"
    Path("moved/prod.layer.yaml").write_text(yaml.safe_dump(layer))
    moved = "moved/blueprint.yaml"
    assert pull.judge("--layer=moved/prod.layer.yaml", file=moved) == 5


def test_a_renamed_blueprint_keeps_the_packs_of_its_team(pull: Pull) -> None:
    from rackwright.policy.authoring.scaffold import new_policy

    new_policy(Path("site/rules"), "own/ACME-001", "Sites lie low")
    (rule,) = Path("site/rules/own").glob("*.py")
    rule.write_text(rule.read_text().replace("= 900.0", "= 1.0"))
    Path("site/rackwright.yaml").write_text("packs: [{path: rules}]\n")
    pull.open(a_site())
    assert pull.judge(rule="ACME-001") == 5
    Path("elsewhere").mkdir()
    Path(FILE).rename("elsewhere/blueprint.yaml")
    assert pull.judge(rule="ACME-001", file="elsewhere/blueprint.yaml") == 5


def test_a_repository_in_the_former_folder_hides_no_pack_of_the_team(pull: Pull) -> None:
    """The change makes a submodule of it, and lists no packs any more."""
    from rackwright.policy.authoring.scaffold import new_policy

    new_policy(Path("rules"), "own/ACME-001", "Sites lie low")
    (rule,) = Path("rules/own").glob("*.py")
    rule.write_text(rule.read_text().replace("= 900.0", "= 1.0"))
    Path("rackwright.yaml").write_text("packs: [{path: rules}]\n")
    pull.open(a_site())
    Path("rackwright.yaml").unlink()
    Path("hall").mkdir()
    Path(FILE).rename("hall/blueprint.yaml")
    git(pull.top, "init", "--quiet", "site")
    assert pull.judge(rule="ACME-001", file="hall/blueprint.yaml") == 5


def test_a_blueprint_that_moves_to_the_waivers_of_another_keeps_its_own(pull: Pull) -> None:
    day = (datetime.now(UTC).date() + timedelta(days=5)).isoformat()
    waiver = {
        "id": "W-2026-001",
        "policy": "PWR-006",
        "match": {"site": "lab"},
        "up_to": "900 kW",
        "reason": "the utility agreed to it in DC-12",
        "owner": "ada@example.com",
        "ticket": "DC-12",
        "expires": day,
    }
    Path("lab/policies").mkdir(parents=True)
    Path("lab/policies/waivers.yaml").write_text(yaml.safe_dump({"waivers": [waiver]}))
    pull.open(overdrawn())
    Path(FILE).rename(LAB)
    assert (pull.alone(file=LAB), pull.judge(file=LAB)) == (0, 5)
    pull.merge()
    Path("lab").rename("moved")
    assert pull.judge(file="moved/blueprint.yaml") == 0, "what was approved goes along"


def test_a_new_cluster_beside_others_is_new(pull: Pull) -> None:
    pull.open(overdrawn())
    capped = overdrawn(node_groups=[some_nodes(power_cap="1 kW")])
    pull.write(capped, "second/blueprint.yaml", name="second")
    code, notices = pull.report(file="second/blueprint.yaml")
    assert code == 0
    assert "the blueprint is new" in notices[f"sites.lab.{CAP}"]


EU, US, NEW = "eu/blueprint.yaml", "us/blueprint.yaml", "ap/blueprint.yaml"


def test_a_new_cluster_beside_two_of_its_name_passes(pull: Pull) -> None:
    pull.write(a_site(), EU)
    pull.open(a_site(), file=US)
    pull.write(a_site(), NEW)
    assert pull.judge(file=NEW) == 0


def test_a_cluster_outside_a_sparse_checkout_is_not_gone(pull: Pull) -> None:
    pull.write(a_site(), EU, name="eu")
    pull.open(a_site(), file=US, name="us")
    pull.write(a_site(), NEW, name="ap")
    pull.commit()
    git(pull.top, "sparse-checkout", "set", "ap")
    assert not Path(EU).exists()
    assert pull.judge(file=NEW) == 0


def test_a_sparse_checkout_does_not_hide_that_a_cluster_has_moved(pull: Pull) -> None:
    pull.open(overdrawn())
    Path(FILE).unlink()
    pull.write(overdrawn(), NEW, name="ap", policies=LOWERED)
    pull.commit()
    git(pull.top, "sparse-checkout", "set", "ap")
    assert pull.judge(file=NEW) == 5


def test_clusters_whose_layers_do_not_load_are_not_gone(pull: Pull) -> None:
    pull.write(a_site(), EU, name="eu")
    pull.open(a_site(), file=US, name="us")
    for file in (EU, US):
        Path(file).write_text(Path(file).read_text() + "layers: [generated.yaml]\n")
    pull.write(a_site(), NEW, name="ap")
    assert pull.judge(file=NEW) == 0


@pytest.mark.parametrize("text", ["", "sites: [\n", "x: {\n"])
def test_a_file_that_is_emptied_or_broken_is_a_blueprint_that_is_gone(
    pull: Pull, text: str
) -> None:
    pull.open(overdrawn())
    Path(FILE).write_text(text)
    pull.write(overdrawn(), NEW, name="ap", policies=LOWERED)
    assert pull.judge(file=NEW) == 5


def test_a_third_cluster_of_a_name_lowers_nothing(pull: Pull) -> None:
    pull.write(overdrawn(), EU)
    pull.open(overdrawn(), file=US)
    pull.write(overdrawn(), NEW, policies=LOWERED)
    assert pull.judge(file=NEW) == 5


def test_a_new_cluster_beside_two_that_move_is_new(pull: Pull) -> None:
    pull.write(a_site(), EU, name="eu")
    pull.open(a_site(), file=US, name="us")
    Path("clusters").mkdir()
    for folder in ("eu", "us"):
        Path(folder).rename(f"clusters/{folder}")
    pull.write(a_site(), NEW, name="ap")
    pull.commit()
    assert pull.judge(file=NEW) == 0
    assert pull.judge(file=f"clusters/{EU}") == 0


def test_a_small_cluster_of_its_name_does_not_stand_in_for_one_that_moves(pull: Pull) -> None:
    pull.open(overdrawn())
    Path(FILE).unlink()
    pull.write(a_site(halls=[], node_groups=[]), LAB)
    pull.write(overdrawn(), NEW, name="ap", policies=LOWERED)
    pull.commit()
    assert pull.judge(file=NEW) == 5
