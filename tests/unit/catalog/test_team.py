"""A team's products and prices are known wherever a blueprint is planned."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path

import pytest
import yaml

from catalogue_team import PRICES, SERVER, a_price, a_server, edit, write
from factories import a_blueprint, a_site, some_nodes
from rackwright.catalog.loader import catalogue_of_data, load_catalogue
from rackwright.catalog.team import catalogue_for
from rackwright.cli import main
from rackwright.crossguard import server
from rackwright.errors import SpecErrors, UsageError
from rackwright.model.hardware import Node
from rackwright.model.prices import Offer
from rackwright.plan.load import load_data, load_plan
from rackwright.policy.check import check_blueprint
from rackwright.provision import program
from rackwright.team.digest import folder_digest


@pytest.fixture
def blueprint(tmp_path: Path) -> Path:
    """A blueprint of the team's own servers."""
    lists = {"catalogue": [{"path": "hardware"}], "prices": [{"path": "prices"}]}
    write(tmp_path, Path("rackwright.yaml"), lists)
    write(tmp_path, SERVER, a_server())
    write(tmp_path, PRICES, a_price())
    site = a_site(node_groups=[some_nodes(type="acme-8x")])
    write(tmp_path, Path("blueprint.yaml"), a_blueprint(site, costs={}))
    return tmp_path / "blueprint.yaml"


def refusal(blueprint: Path) -> str:
    with pytest.raises(SpecErrors) as caught:
        load_plan(blueprint).plan.cost  # noqa: B018 - prices are read when they are asked for
    return str(caught.value)


def test_every_command_knows_them(
    blueprint: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    for verb in ("check", "cost", "inventory"):
        assert main([verb, str(blueprint)]) in {0, 5, 6}, capsys.readouterr().err
    assert "acme-8x" in capsys.readouterr().out
    assert main(["cost", "--json", str(blueprint)]) == 0
    assert "Offer 7" in capsys.readouterr().out


def test_a_stack_and_the_engine_know_them(blueprint: Path) -> None:
    loaded = program.StackSource(blueprint)
    assert loaded.blueprint == blueprint
    plan = load_plan(blueprint).plan
    assert plan.cost.missing != ()
    spec = plan.blueprint.model_dump(mode="json")
    config = {"RACKWRIGHT_CONFIG": str(blueprint.with_name("rackwright.yaml"))}
    report = server.judge_spec(spec, (), None, server._team_catalogue(config))
    prints = [result.fingerprint for result in check_blueprint(blueprint).results]
    assert [result.fingerprint for result in report.results] == prints
    assert prints
    with pytest.raises(SpecErrors, match="there is no node 'acme-8x'"):
        server.judge_spec(spec)
    assert server._team_catalogue({}) is None
    edit(blueprint.parent, Path("rackwright.yaml"), lambda lists: lists.update(catalogue=[{}]))
    with pytest.raises(SystemExit):
        server._team_catalogue(config)


def test_another_process_gets_the_same(blueprint: Path) -> None:
    catalogue = catalogue_for(blueprint)
    again = catalogue_of_data(json.loads(json.dumps(catalogue.as_data())))
    assert again.get(Node, "acme-8x") == catalogue.get(Node, "acme-8x")
    price = again.prices.find(Offer.CAPEX, "world", "acme-8x")
    assert price is not None
    assert price.amount == Decimal(250_000)
    assert load_data(load_plan(blueprint).tree.data, catalogue=again).plan.onprem


def test_without_a_configuration_nothing_but_the_built_in_ones_is_there(tmp_path: Path) -> None:
    assert catalogue_for(tmp_path / "blueprint.yaml") == load_catalogue()


def test_a_product_with_the_id_of_a_built_in_one_is_refused_with_both_places(
    blueprint: Path,
) -> None:
    write(blueprint.parent, Path("hardware/nodes/dgx-h100.yaml"), a_server(id="dgx-h100"))
    said = refusal(blueprint)
    assert "hardware/nodes/dgx-h100.yaml:" in said
    assert str(load_catalogue().source_of(Node, "dgx-h100")) in said
    assert "hint: give it another id" in said


def test_a_price_of_a_built_in_list_is_refused_with_both_places(blueprint: Path) -> None:
    listed = a_price()
    listed["prices"]["dgx-h100"] = {"value": 1, "source": "offer"}
    write(blueprint.parent, PRICES, listed)
    said = refusal(blueprint)
    line = (blueprint.parent / PRICES).read_text().splitlines().index("  dgx-h100:") + 2
    assert f"prices/acme-capex.yaml:{line}:" in said
    assert "capex-world.yaml' and '" in said


@pytest.mark.parametrize(
    ("lists", "message"),
    [
        ({"catalogue": [{"path": "nowhere"}]}, "catalogue: 'nowhere' is not a folder"),
        ({"catalogue": [{"path": "hardware"}, {"path": "./hardware"}]}, "is listed twice"),
        ({"prices": [{"path": "nowhere"}]}, "prices: 'nowhere' is not a folder"),
        (
            {"catalogue": [{"path": "hardware", "digest": f"sha256:{'0' * 64}"}]},
            "is not what it is",
        ),
        (
            {"catalogue": [{"path": "crowd", "digest": f"sha256:{'0' * 64}"}]},
            "crowd' has more than 10 files",
        ),
        ({"catalogue": [{"package": "acme-hw", "version": "1.0.0"}]}, "is not installed"),
        ({"catalogue": ["hardware"]}, "is not a mapping"),
        ({"catalog": [{"path": "hardware"}]}, "did you mean 'catalogue'?"),
    ],
)
def test_a_configuration_that_lists_no_catalogue(
    blueprint: Path, lists: object, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rackwright.team.digest.MOST_FILES", 10)
    for number in range(11):
        write(blueprint.parent, Path(f"crowd/{number}.yaml"), {})
    write(blueprint.parent, Path("rackwright.yaml"), lists)
    with pytest.raises(SpecErrors) as caught:
        load_plan(blueprint)
    assert message in str(caught.value)
    assert "rackwright.yaml:" in str(caught.value)


def test_a_folder_outside_is_pinned_by_its_digest(blueprint: Path, tmp_path: Path) -> None:
    team = tmp_path / "team"
    team.mkdir()
    blueprint = blueprint.rename(team / "blueprint.yaml")
    pin = {"path": "../hardware", "digest": folder_digest(tmp_path / "hardware")}
    write(team, Path("rackwright.yaml"), {"catalogue": [pin]})
    assert load_plan(blueprint).plan.onprem
    edit(tmp_path, SERVER, lambda server: server.update(vendor="Someone else"))
    assert "is not what it is pinned to" in refusal(blueprint)


def test_a_package_brings_a_catalogue(
    blueprint: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    site = tmp_path / "site"
    (tmp_path / "hardware").rename(tmp_path / "acme_hardware")
    site.mkdir()
    (tmp_path / "acme_hardware").rename(site / "acme_hardware")
    (site / "acme_hardware" / "__init__.py").write_text("raise SystemExit('this was run')\n")
    info = site / "acme_hw-1.0.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: acme-hw\nVersion: 1.0.0\n")
    (info / "entry_points.txt").write_text("[rackwright.catalogue]\nacme = acme_hardware\n")
    monkeypatch.syspath_prepend(str(site))
    pin = {"package": "acme-hw", "version": "1.0.0"}
    write(blueprint.parent, Path("rackwright.yaml"), {"catalogue": [pin]})
    assert load_plan(blueprint).plan.onprem


def test_a_configuration_that_is_a_link_is_refused(blueprint: Path) -> None:
    config = blueprint.with_name("rackwright.yaml")
    config.rename(blueprint.with_name("other.yaml"))
    config.symlink_to("other.yaml")
    with pytest.raises(UsageError, match="is a link"):
        load_plan(blueprint)


def test_a_mistake_in_a_product_is_at_its_place(blueprint: Path) -> None:
    path = blueprint.parent / SERVER
    document = yaml.safe_load(path.read_text())
    document["max_power"]["value"] = "10 kg"
    write(blueprint.parent, SERVER, document)
    assert "hardware/nodes/acme-8x.yaml:" in refusal(blueprint)
    assert "'kg' is not a unit of power" in refusal(blueprint)
