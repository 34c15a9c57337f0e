"""Addresses of servers, from the outputs of the stacks of an AWS site."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from rackwright.cli import main
from rackwright.inventory.inventory import InventoryError, build_inventory, host_variables
from rackwright.inventory.stack_outputs import SCHEMA, add_outputs, read_outputs
from rackwright.plan.load import load_plan
from rackwright.plan.model import Plan
from rackwright.plan.slurm.node_health import mount_points
from rackwright.policy.packs.loader import builtin_pack

FIXTURES = builtin_pack() / "fixtures"
HEAD = {"private_ips": {"head-1": "10.20.0.5"}, "public_ips": {}}
SERVERS = {
    "head": HEAD,
    "login": {"private_ips": {"login-1": "10.20.8.6"}, "public_ips": {"login-1": "203.0.113.9"}},
}


def write(folder: Path, servers: Any, **changes: Any) -> Path:
    path = folder / "status.json"
    stacks = [
        {"stack": "aws-network", "outputs": {"vpc_id": "vpc-1"}},
        {"stack": "aws-cluster", "outputs": {"servers": servers}},
    ]
    path.write_text(json.dumps({"schema": SCHEMA, "stacks": stacks, **changes}))
    return path


def a_plan(folder: Path, *, sites: int = 1, access: dict[str, str] | None = None) -> Plan:
    """A cluster with a head and a login node in each of its AWS sites."""
    document = yaml.safe_load((FIXTURES / "aws.yaml").read_text())
    (site,) = document["sites"]
    site["login"] = {**site["head"], "count": 1}
    site["access"] = access or {}
    names = [f"aws-{number}" for number in range(1, sites + 1)]
    document["sites"] = [{**site, "name": name} for name in names]
    path = folder / "blueprint.yaml"
    path.write_text(yaml.safe_dump(document))
    return load_plan(path).plan


def test_servers_get_their_addresses(tmp_path: Path) -> None:
    plan = a_plan(tmp_path)
    made = build_inventory(plan)
    add_outputs(made, plan, read_outputs(write(tmp_path, SERVERS)))
    hosts = made["_meta"]["hostvars"]
    assert hosts["head-1"] == {"ansible_host": "10.20.0.5"}
    assert hosts["login-1"]["ansible_host"] == "10.20.8.6"
    assert hosts["login-1"]["rackwright_public_address"] == "203.0.113.9"
    assert not [name for name in hosts if name.startswith("train") and hosts[name]]


def some_nodes(*hosts: str, **more: Any) -> dict[str, Any]:
    addresses = {host: f"10.20.1.{number}" for number, host in enumerate(hosts, 1)}
    return {"nodes": {"train": {"private_ips": addresses, "missing": [], **more}}}


def test_nodes_get_their_addresses_and_one_without_an_instance_none_that_works(
    tmp_path: Path,
) -> None:
    plan = a_plan(tmp_path)
    made = build_inventory(plan)
    every = sorted(name for name in made["_meta"]["hostvars"] if name.startswith("train"))
    path = write(tmp_path, SERVERS, **some_nodes(*every[:-1], missing=every[-1:]))
    (line,) = add_outputs(made, plan, read_outputs(path))
    hosts = made["_meta"]["hostvars"]
    assert hosts[every[0]] == {"ansible_host": "10.20.1.1"}
    assert hosts[every[-1]] == {"ansible_host": f"{every[-1]}.invalid"}
    assert line.startswith("no instance with an address for 1 host of node groups")
    assert every[-1] in line

    path = write(tmp_path, SERVERS, **some_nodes(*every))
    assert add_outputs(build_inventory(plan), plan, read_outputs(path)) == ()


@pytest.mark.parametrize("more", [{}, {"nodes": None}])
def test_nodes_that_nobody_has_asked_for_are_said_to_be_unknown(
    tmp_path: Path, more: dict[str, Any]
) -> None:
    plan = a_plan(tmp_path)
    made = build_inventory(plan)
    (line,) = add_outputs(made, plan, read_outputs(write(tmp_path, SERVERS, **more)))
    assert "do not tell the addresses of" in line
    assert not [n for n, v in made["_meta"]["hostvars"].items() if n.startswith("train") and v]


ADDRESS = {"dns_name": "fs-01.fsx.us-east-1.amazonaws.com", "mount_name": "abcdefgh"}
SOURCE = "fs-01.fsx.us-east-1.amazonaws.com@tcp:/abcdefgh"


def with_file_system(
    folder: Path, output: Any, bill: Any = None, *, efa: bool = False, **group: Any
) -> tuple[Plan, Path]:
    """A cluster with ``/scratch``, of which the stacks tell ``output``; ``group`` changes its nodes."""
    a_plan(folder)
    path = folder / "blueprint.yaml"
    document = yaml.safe_load(path.read_text())
    document["sites"][0]["node_groups"][0] |= group
    document["sites"][0]["file_systems"] = [
        {
            "name": "scratch",
            "deployment": "PERSISTENT_2",
            "capacity": "19200 GiB",
            "throughput": "250 MB/s/TiB",
            "efa": efa,
            "mount": "/scratch",
        }
    ]
    if bill is not None:
        document.setdefault("operations", {})["software"] = [{"name": "all", **bill}]
    path.write_text(yaml.safe_dump(document))
    systems = {} if output is None else {"scratch": output}
    stacks = [
        {"stack": "aws-storage", "outputs": {"file_systems": systems}},
        {"stack": "aws-cluster", "outputs": {"servers": SERVERS, "file_systems": systems}},
    ]
    return load_plan(path).plan, write(folder, SERVERS, stacks=stacks)


def test_compute_and_login_hosts_mount_the_file_system(tmp_path: Path) -> None:
    bill = {"lustre_client": {"version": "2.15.6", "kernel": "6.8.0-1021-aws"}}
    plan, path = with_file_system(tmp_path, ADDRESS, bill)
    made = build_inventory(plan)
    assert "lustre_client" not in made, "nothing is guessed"
    add_outputs(made, plan, read_outputs(path))
    assert sorted(made["lustre_client"]["children"]) == ["nodes_aws_1_login", "nodes_aws_1_train"]
    assert "lustre_client" in made["all"]["children"]
    node = next(name for name in made["_meta"]["hostvars"] if name.startswith("train"))
    for host in (node, "login-1"):
        found = host_variables(made, host)
        assert found is not None
        assert {key: value for key, value in found.items() if key.startswith("lustre_")} == {
            "lustre_client_unknown": [],
            "lustre_client_version": "2.15.6",
            "lustre_client_kernel": "6.8.0-1021-aws",
            "lustre_lnet_networks": [{"name": "tcp", "interfaces": ["default"]}],
            "lustre_client_mounts": [
                {
                    "source": SOURCE,
                    "folder": "/scratch",
                    "locks": "flock",
                    "options": ["relatime"],
                }
            ],
        }
        expected = {
            place.path
            for place in mount_points(
                plan, "aws-1", found["rackwright_node_group"], found["rackwright_role"]
            )
        }
        assert expected == {mount["folder"] for mount in found["lustre_client_mounts"]}
    head = host_variables(made, "head-1")
    assert head is not None
    assert not [key for key in head if key.startswith("lustre_")]


def test_a_file_system_that_exists_is_mounted_as_one_that_was_made(tmp_path: Path) -> None:
    bill = {"lustre_client": {"version": "2.15.6", "kernel": "6.8.0-1021-aws"}}
    _, path = with_file_system(tmp_path, ADDRESS, bill)
    blueprint = tmp_path / "blueprint.yaml"
    document = yaml.safe_load(blueprint.read_text())
    existing = {"id": "fs-0123456789abcdef0", "mount_name": "abcdefgh"}
    document["sites"][0]["file_systems"] = [
        {"name": "scratch", "mount": "/scratch", "existing": existing}
    ]
    blueprint.write_text(yaml.safe_dump(document))
    plan = load_plan(blueprint).plan
    made = build_inventory(plan)
    add_outputs(made, plan, read_outputs(path))
    found = host_variables(made, "login-1")
    assert found is not None
    (mount,) = found["lustre_client_mounts"]
    assert (mount["source"], mount["folder"]) == (SOURCE, "/scratch")


def with_efs(folder: Path, output: Any, **more: Any) -> dict[str, Any]:
    """The inventory of a cluster with homes on EFS, of which the stacks tell ``output``."""
    a_plan(folder)
    blueprint = folder / "blueprint.yaml"
    document = yaml.safe_load(blueprint.read_text())
    document["sites"][0]["file_systems"] = []
    document["sites"][0]["efs"] = [{"name": "home", "mount": "/home", **more}]
    blueprint.write_text(yaml.safe_dump(document))
    told = {} if output is None else {"efs": {"home": output}}
    stacks = [{"stack": "aws-cluster", "outputs": {"servers": SERVERS, **told}}]
    plan = load_plan(blueprint).plan
    made = build_inventory(plan)
    assert "nfs_clients" not in made, "nothing is guessed"
    add_outputs(made, plan, read_outputs(write(folder, SERVERS, stacks=stacks)))
    return made


HOME = {"id": "fs-01", "dns_name": "fs-01.efs.us-east-1.amazonaws.com", "mount": "/home"}


def test_homes_on_efs_are_mounted_as_aws_recommends(tmp_path: Path) -> None:
    made = with_efs(tmp_path, HOME)
    assert sorted(made["nfs_clients"]["children"]) == ["nodes_aws_1_login", "nodes_aws_1_train"]
    assert "nfs_clients" in made["all"]["children"]
    found = host_variables(made, "login-1")
    assert found is not None
    assert found["nfs_client_mounts"] == [
        {
            "server": HOME["dns_name"],
            "export": "/",
            "path": "/home",
            "writable": True,
            "options": [
                "nfsvers=4.1",
                "rsize=1048576",
                "wsize=1048576",
                "hard",
                "timeo=600",
                "retrans=2",
                "noresvport",
            ],
        }
    ]
    assert "nfs_client_unknown" not in found
    head = host_variables(made, "head-1")
    assert head is not None
    assert "nfs_client_mounts" not in head


def test_a_head_node_mounts_homes_where_that_is_asked(tmp_path: Path) -> None:
    made = with_efs(tmp_path, HOME, on_head=True)
    assert "nodes_aws_1_head" in made["nfs_clients"]["children"]


def test_an_efs_of_which_nothing_is_told_stops_the_role(tmp_path: Path) -> None:
    found = host_variables(with_efs(tmp_path, None), "login-1")
    assert found is not None
    assert found["nfs_client_mounts"] == []
    assert found["nfs_client_unknown"] == ["the address of 'home' in the outputs"]


def test_invalid_name_of_an_efs_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InventoryError):
        with_efs(tmp_path, {**HOME, "dns_name": "-o exec"})


def efa_of(folder: Path, *, efa: bool = True, **group: Any) -> tuple[Any, Any, list[str]]:
    """What a node and the login node are told of EFA, and what people are told of the file system."""
    plan, path = with_file_system(folder, ADDRESS, efa=efa, **group)
    made = build_inventory(plan)
    lines = add_outputs(made, plan, read_outputs(path))
    node = next(name for name in made["_meta"]["hostvars"] if name.startswith("train"))
    found = [host_variables(made, host) or {} for host in (node, "login-1")]
    assert found[0]["lustre_lnet_networks"] == [{"name": "tcp", "interfaces": ["default"]}]
    assert found[0]["lustre_client_mounts"][0]["source"] == SOURCE, "as AWS gives it"
    told = [line for line in lines if "'scratch'" in line]
    return found[0].get("lustre_lnet_efa"), found[1].get("lustre_lnet_efa"), told


P5 = {"devices": 8, "of_each": "switch", "peer_credits": 128, "driver": "2.12.1"}
P6 = {"devices": 8, "peer_credits": 128, "driver": "2.12.1", "kefalnd": "1.1.1"}


@pytest.mark.parametrize(
    ("kind", "wanted"),
    [
        ("p5.48xlarge", P5),
        ("p5e.48xlarge", P5),
        ("p5en.48xlarge", {**P5, "of_each": "port"}),
        ("p6-b200.48xlarge", P6),
        ("p6-b300.48xlarge", {**P6, "devices": 16}),
    ],
)
def test_nodes_with_efa_reach_lustre_over_it_and_login_nodes_over_tcp(
    tmp_path: Path, kind: str, wanted: dict[str, Any]
) -> None:
    assert efa_of(tmp_path, type=kind, count=4) == (wanted, None, [])


def test_without_efa_of_the_group_or_the_file_system_nodes_stay_on_tcp(tmp_path: Path) -> None:
    assert efa_of(tmp_path, type="p5.48xlarge", count=4, efa=False) == (None, None, [])
    document = yaml.safe_load((tmp_path / "blueprint.yaml").read_text())
    document["sites"][0]["file_systems"][0]["efa"] = True
    document["sites"][0]["node_groups"][0]["efa"] = False
    (tmp_path / "blueprint.yaml").write_text(yaml.safe_dump(document))
    plan = load_plan(tmp_path / "blueprint.yaml").plan
    made = build_inventory(plan)
    lines = add_outputs(made, plan, read_outputs(tmp_path / "status.json"))
    assert "lustre_lnet_efa" not in json.dumps(made)
    assert not [line for line in lines if "TCP" in line]


@pytest.mark.parametrize("kind", ["p6e-gb200.36xlarge", "g6e.48xlarge"])
def test_a_type_that_is_not_set_up_stays_on_tcp_and_is_told(tmp_path: Path, kind: str) -> None:
    node, _, (line,) = efa_of(tmp_path, type=kind, count=4)
    assert node is None
    assert line.startswith(
        f"'train' mounts 'scratch' over TCP: Lustre over EFA is not set up on {kind}, but on p5.48"
    )


def test_more_connections_than_a_file_system_takes_are_told(tmp_path: Path) -> None:
    assert efa_of(tmp_path, type="p5.48xlarge", count=128)[2] == []
    (line,) = efa_of(tmp_path, type="p5.48xlarge", count=129)[2]
    assert "make 1,032 EFA connections" in line
    assert "takes 1,024" in line


def test_a_file_system_that_exists_is_used_over_efa_where_the_blueprint_says_that_it_serves_it(
    tmp_path: Path,
) -> None:
    _, path = with_file_system(tmp_path, ADDRESS, type="p5en.48xlarge", count=2)
    blueprint = tmp_path / "blueprint.yaml"
    document = yaml.safe_load(blueprint.read_text())
    existing = {"id": "fs-0123456789abcdef0", "mount_name": "abcdefgh"}
    system = {"name": "scratch", "mount": "/scratch", "existing": existing}
    for efa in (False, True):
        document["sites"][0]["file_systems"] = [{**system, "efa": efa}]
        blueprint.write_text(yaml.safe_dump(document))
        plan = load_plan(blueprint).plan
        made = build_inventory(plan)
        add_outputs(made, plan, read_outputs(path))
        assert ("lustre_lnet_efa" in json.dumps(made)) is efa


def test_missing_output_of_a_file_system_stops_the_role(tmp_path: Path) -> None:
    plan, path = with_file_system(tmp_path, None)
    made = build_inventory(plan)
    add_outputs(made, plan, read_outputs(path))
    found = host_variables(made, "login-1")
    assert found is not None
    assert found["lustre_client_unknown"] == [
        "'lustre_client' of a software entry",
        "the address of 'scratch' in the outputs",
    ]
    assert found["lustre_client_mounts"] == []


@pytest.mark.parametrize(
    "changes", [{"dns_name": "{{ x }}"}, {"mount_name": "a/b"}, {"dns_name": None}]
)
def test_an_address_of_a_file_system_that_is_none_is_refused(
    tmp_path: Path, changes: dict[str, Any]
) -> None:
    _, path = with_file_system(tmp_path, {**ADDRESS, **changes})
    with pytest.raises(InventoryError, match="holds no servers"):
        read_outputs(path)


def test_of_two_sites_the_one_that_is_named_gets_them(tmp_path: Path) -> None:
    plan = a_plan(tmp_path, sites=2)
    made = build_inventory(plan)
    addresses = read_outputs(write(tmp_path, SERVERS))
    with pytest.raises(InventoryError, match="several AWS sites"):
        add_outputs(made, plan, addresses)
    add_outputs(made, plan, addresses, "aws-2")
    hosts = made["_meta"]["hostvars"]
    assert hosts["head-1.aws-2"]["ansible_host"] == "10.20.0.5"
    assert "ansible_host" not in hosts["head-1.aws-1"]


def test_outputs_of_another_blueprint_are_refused(tmp_path: Path) -> None:
    plan = a_plan(tmp_path)
    made = build_inventory(plan)
    other = {"head": {"private_ips": {"head-2": "10.20.0.7"}, "public_ips": {}}}
    with pytest.raises(InventoryError, match="'head-2', but the site 'aws-1' has none"):
        add_outputs(made, plan, read_outputs(write(tmp_path, other)))
    path = write(tmp_path, SERVERS, **some_nodes("train-99999"))
    with pytest.raises(InventoryError, match="'train-99999', but the site"):
        add_outputs(made, plan, read_outputs(path))


@pytest.mark.parametrize(
    ("servers", "changes"),
    [
        ({}, {}),
        ({"head": {"private_ips": {"head-1": "{{ 6 * 7 }}"}, "public_ips": {}}}, {}),
        ({"head": {"private_ips": {"head-1": "10.0.0.256"}, "public_ips": {}}}, {}),
        ({"head": {"private_ips": ["10.0.0.1"], "public_ips": {}}}, {}),
        ({"head": None}, {}),
        (SERVERS, {"schema": "rackwright.stack/v2"}),
        (SERVERS, {"stacks": None}),
        (SERVERS, {"nodes": {"train": {"private_ips": {"train-1": "{{ 6 * 7 }}"}}}}),
        ({"head": {**HEAD, "instance_ids": {"head-1": "i-1; id"}}}, {}),
        ({"head": {**HEAD, "instance_ids": {"head-1": 17}}}, {}),
    ],
)
def test_invalid_stack_outputs_are_refused(
    tmp_path: Path, servers: Any, changes: dict[str, Any]
) -> None:
    with pytest.raises(InventoryError, match="holds no servers of a stack") as caught:
        read_outputs(write(tmp_path, servers, **changes))
    assert caught.value.hint is not None
    assert "status --json" in caught.value.hint


def test_a_file_that_cannot_be_read_is_said(tmp_path: Path) -> None:
    with pytest.raises(InventoryError, match="no such file"):
        read_outputs(tmp_path / "nothing.json")
    (tmp_path / "text.json").write_text("aws-cluster: no change")
    with pytest.raises(InventoryError, match="is not JSON"):
        read_outputs(tmp_path / "text.json")


def test_the_command_lists_one_site_with_addresses(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    a_plan(tmp_path, sites=2)
    outputs = write(tmp_path, SERVERS)
    words = ["inventory", str(tmp_path / "blueprint.yaml"), "--site", "aws-1"]
    assert main([*words, "--outputs", str(outputs)]) == 0
    shown = capsys.readouterr()
    assert "warning: the outputs do not tell the addresses of" in shown.err
    hosts = json.loads(shown.out)["_meta"]["hostvars"]
    assert hosts["head-1.aws-1"]["ansible_host"] == "10.20.0.5"
    assert "head-1.aws-2" not in hosts
    assert main([*words[:-1], "aws-3"]) == 2
    assert "there is no site 'aws-3'" in capsys.readouterr().err


def reached(folder: Path, servers: Any, **access: Any) -> tuple[dict[str, Any], tuple[str, ...]]:
    """The variables of hosts with these outputs and this way to them, and what is missing."""
    plan = a_plan(folder, access=access)
    made = build_inventory(plan)
    nodes = some_nodes("train-1", instance_ids={"train-1": "i-0123456789abcdef1"})
    told = add_outputs(made, plan, read_outputs(write(folder, servers, **nodes)))
    return made["_meta"]["hostvars"], tuple(one for one in told if "no instance with" not in one)


INSTANCES = {
    name: {**servers, "instance_ids": {f"{name}-1": f"i-0123456789abcdef{number}"}}
    for number, (name, servers) in enumerate(SERVERS.items(), 2)
}


def test_private_hosts_are_reached_by_way_of_a_login_node(tmp_path: Path) -> None:
    hosts, missing = reached(tmp_path, SERVERS, user="ubuntu", connect="jump")
    assert missing == ()
    assert hosts["head-1"] == {
        "ansible_host": "10.20.0.5",
        "ansible_user": "ubuntu",
        "ansible_ssh_common_args": "-o ProxyJump=ubuntu@203.0.113.9",
    }
    assert hosts["login-1"]["ansible_host"] == "10.20.8.6"
    assert hosts["login-1"]["ansible_ssh_common_args"] == "-o HostName=203.0.113.9"
    assert hosts["train-1"]["ansible_ssh_common_args"] == "-o ProxyJump=ubuntu@203.0.113.9"
    assert hosts["train-2"]["ansible_user"] == "ubuntu"


def test_hosts_are_reached_by_the_one_address_of_the_load_balancer(tmp_path: Path) -> None:
    shared = {**SERVERS["login"], "public_ips": {}, "shared_ip": "203.0.113.77"}
    hosts, missing = reached(tmp_path, {**SERVERS, "login": shared}, user="ubuntu", connect="jump")
    assert missing == ()
    for host in ("head-1", "login-1", "train-1"):
        assert hosts[host]["ansible_ssh_common_args"] == "-o ProxyJump=ubuntu@203.0.113.77"
    assert hosts["login-1"]["ansible_host"] == "10.20.8.6"


def test_without_a_public_login_node_nothing_is_jumped_from(tmp_path: Path) -> None:
    inside = {**SERVERS, "login": {**SERVERS["login"], "public_ips": {}}}
    hosts, (missing,) = reached(tmp_path, inside, connect="jump")
    assert missing.startswith("no login node of 'aws-1' has a public address to jump from")
    assert hosts["head-1"] == {"ansible_host": "10.20.0.5"}


@pytest.mark.parametrize(
    ("connect", "command"),
    [
        (
            "session-manager",
            (
                "aws ssm start-session --region us-east-1 --target i-0123456789abcdef2 "
                "--document-name AWS-StartSSHSession --parameters portNumber=%p"
            ),
        ),
        (
            "instance-connect",
            (
                "aws ec2-instance-connect open-tunnel --region us-east-1 "
                "--instance-id i-0123456789abcdef2 --remote-port %p"
            ),
        ),
    ],
)
def test_hosts_are_reached_by_their_instances(connect: str, command: str, tmp_path: Path) -> None:
    hosts, missing = reached(tmp_path, INSTANCES, connect=connect)
    assert missing == ()
    assert hosts["head-1"]["ansible_ssh_common_args"] == f'-o ProxyCommand="{command}"'
    assert hosts["head-1"]["ansible_host"] == "10.20.0.5", "roles write it into files"
    assert "i-0123456789abcdef1" in hosts["train-1"]["ansible_ssh_common_args"]
    _, (told,) = reached(tmp_path, SERVERS, connect=connect)
    assert "the outputs do not tell the instances of 2 hosts of 'aws-1'" in told


def test_a_jump_needs_login_nodes(tmp_path: Path) -> None:
    layer = tmp_path / "layer.yaml"
    layer.write_text("sites: [{name: use1, login: null, access: {connect: jump}}]\n")
    assert main(["check", str(FIXTURES / "aws.yaml"), "--layer", str(layer)]) == 2
