"""The inventory plugin of the collection, as Ansible runs it."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from collection_support import SOURCES, ansible, list_inventory
from rackwright import __version__
from rackwright.inventory.inventory import build_inventory, host_variables
from rackwright.plan.load import load_plan
from rackwright.policy.packs.loader import builtin_pack

SLURM = builtin_pack() / "fixtures" / "slurm.yaml"
HYBRID = Path(__file__).parents[2] / "golden" / "slurm" / "hybrid" / "layer.yaml"


def write(folder: Path, **options: Any) -> Path:
    """The file of the plugin, beside a copy of the blueprint."""
    (folder / "blueprint.yaml").write_bytes(SLURM.read_bytes())
    path = folder / "atlas.rackwright.yml"
    document = {"plugin": "rackwright.cluster.blueprint", "blueprint": "blueprint.yaml", **options}
    path.write_text(yaml.safe_dump(document))
    return path


def refusal(path: Path) -> str:
    """What Ansible says of an inventory that it cannot read."""
    done = ansible("inventory", "-i", path, "--list")
    assert json.loads(done.stdout)["_meta"]["hostvars"] == {}
    assert "Traceback" not in done.stderr
    return " ".join(done.stderr.split())


def test_plugin_lists_the_hosts_of_the_command(tmp_path: Path) -> None:
    made = build_inventory(load_plan(SLURM, [HYBRID]).plan)
    listed = list_inventory(write(tmp_path, layers=[str(HYBRID)]))
    assert set(listed["_meta"]["hostvars"]) == set(made["_meta"]["hostvars"])
    for group in ("rack_sjc1_c01", "slurm_compute", "nodes_use1_train"):
        assert listed[group]["hosts"] == made[group]["hosts"], group
    assert set(listed["site_sjc1"]["children"]) == set(made["site_sjc1"]["children"])
    for host in ("dgx-33", "train-01"):
        assert listed["_meta"]["hostvars"][host] == host_variables(made, host), host


def test_one_site_keeps_the_names_of_its_hosts(tmp_path: Path) -> None:
    whole = build_inventory(load_plan(SLURM, [HYBRID]).plan)
    listed = list_inventory(write(tmp_path, layers=[str(HYBRID)], site="use1"))
    cloud = {name for name in whole["_meta"]["hostvars"] if name.startswith(("train", "infer"))}
    assert cloud < set(listed["_meta"]["hostvars"]) < set(whole["_meta"]["hostvars"])
    assert "site_sjc1" not in listed
    assert not [name for name in listed if name.startswith("rack_")]


def test_variables_of_a_team_stand_beside_it_and_win(tmp_path: Path) -> None:
    path = write(tmp_path)
    groups, hosts = tmp_path / "group_vars", tmp_path / "host_vars"
    groups.mkdir()
    hosts.mkdir()
    (groups / "rack_sjc1_c01.yml").write_text("base_memlock: '1024'\nrackwright_rack: ours\n")
    (groups / "slurm_compute.yml").write_text("note: \"{{ 'of ' ~ inventory_hostname }}\"\n")
    (hosts / "dgx-02.yml").write_text("base_memlock: '2048'\n")
    found = list_inventory(path)["_meta"]["hostvars"]
    assert found["dgx-01"]["base_memlock"] == "1024"
    assert found["dgx-01"]["rackwright_rack"] == "ours"
    assert found["dgx-02"]["base_memlock"] == "2048"
    assert "base_memlock" not in found["dgx-05"]
    assert found["dgx-05"]["note"] == "{{ 'of ' ~ inventory_hostname }}"


def test_groups_and_variables_are_constructed(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        compose={"ansible_host": "inventory_hostname ~ '.mgmt'"},
        groups={"canary": "rackwright_unit == 1 and rackwright_role == 'compute'"},
        keyed_groups=[{"key": "rackwright_hall", "prefix": "change"}],
    )
    listed = list_inventory(path)
    assert listed["_meta"]["hostvars"]["dgx-07"]["ansible_host"] == "dgx-07.mgmt"
    assert listed["canary"]["hosts"] == [f"dgx-{number:02}" for number in range(1, 65, 4)]
    assert "dgx-64" in listed["change_hall_1"]["hosts"]


def test_an_expression_that_fails_is_an_error_where_it_is_strict(tmp_path: Path) -> None:
    options: dict[str, Any] = {"compose": {"x": "nobody.knows"}}
    assert "dgx-01" in list_inventory(write(tmp_path, **options))["_meta"]["hostvars"]
    strict = write(tmp_path, **options, strict=True)
    done = ansible("inventory", "-i", strict, "--list")
    assert "Could not set x for host dgx-01" in done.stderr


def test_a_cache_is_used_until_what_it_follows_from_changes(tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    options = {"cache_plugin": "ansible.builtin.jsonfile", "cache_connection": str(cache)}
    path = write(tmp_path, cache=True, **options)
    first = list_inventory(path)
    (kept,) = cache.iterdir()
    # Only who reads the cache can see this host, which no blueprint has.
    kept.write_text(kept.read_text().replace("dgx-01", "seen-1"))
    second = list_inventory(path)
    assert "seen-1" in second["_meta"]["hostvars"]
    assert "seen-1" not in first["_meta"]["hostvars"]
    play = tmp_path / "play.yml"
    play.write_text("- hosts: all\n")
    done = ansible("playbook", "-i", path, "--list-hosts", "--flush-cache", play)
    assert "dgx-01" in done.stdout.split()
    assert "seen-1" not in done.stdout.split()
    kept.write_text(kept.read_text().replace("dgx-01", "seen-1"))
    blueprint = tmp_path / "blueprint.yaml"
    blueprint.write_text(re.sub(r"(?m)^owner: .*", "owner: others", blueprint.read_text()))
    third = list_inventory(path)
    assert "seen-1" not in third["_meta"]["hostvars"]
    assert third["_meta"]["hostvars"]["dgx-01"]["rackwright_owner"] == "others"


def test_templates_are_refused_in_a_blueprint_and_in_a_cache(tmp_path: Path) -> None:
    path = write(tmp_path)
    blueprint = tmp_path / "blueprint.yaml"
    owner = "owner: \"{{ lookup('pipe', 'id') }}\""
    blueprint.write_text(re.sub(r"(?m)^owner: .*", owner, blueprint.read_text()))
    assert "which is a template" in refusal(path)
    cache = tmp_path / "cache"
    options = {"cache_plugin": "ansible.builtin.jsonfile", "cache_connection": str(cache)}
    path = write(tmp_path, cache=True, **options)
    list_inventory(path)
    (kept,) = cache.iterdir()
    kept.write_text(kept.read_text().replace("H100 SXM", "{{ 6 * 7 }}"))
    assert "which is a template" in refusal(path)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"site": "sjc2"}, "there is no site 'sjc2' hint: did you mean 'sjc1'?"),
        ({"blueprint": "nowhere.yaml"}, "nowhere.yaml"),
        ({"layers": ["wrong.yaml"]}, "wrong.yaml:1:1"),
        ({"outputs": "outputs.json"}, "there is no AWS site that the outputs could belong to"),
    ],
)
def test_mistakes_are_said_with_their_place(
    tmp_path: Path, options: dict[str, Any], said: str
) -> None:
    (tmp_path / "wrong.yaml").write_text("schedular: {}\n")
    servers = {"head": {"private_ips": {"head-1": "10.0.0.1"}, "public_ips": {}}}
    stacks = [{"stack": "aws-cluster", "outputs": {"servers": servers}}]
    outputs = {"schema": "rackwright.stack/v1", "stacks": stacks}
    (tmp_path / "outputs.json").write_text(json.dumps(outputs))
    assert said in refusal(write(tmp_path, **options))


def test_a_file_of_another_name_is_not_read(tmp_path: Path) -> None:
    path = write(tmp_path).rename(tmp_path / "hosts.yml")
    assert "could not be verified by inventory plugin" in refusal(path)


def test_ansible_documents_every_option() -> None:
    name = "rackwright.cluster.blueprint"
    done = ansible("doc", "-t", "inventory", "-j", name)
    assert done.returncode == 0, done.stderr
    options = json.loads(done.stdout)[name]["doc"]["options"]
    assert {"blueprint", "layers", "site", "outputs", "cache", "compose"} <= set(options)
    assert all(option["description"] for option in options.values())


def test_the_collection_has_the_version_of_the_package() -> None:
    assert yaml.safe_load((SOURCES / "galaxy.yml").read_text())["version"] == __version__
