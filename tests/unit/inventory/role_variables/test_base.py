"""The kernel and the memory of hosts in the inventory, from the bill and from ``operations``."""

from __future__ import annotations

from pathlib import Path

import pytest

from rackwright.accept.expected import expect
from rackwright.errors import SpecErrors
from rackwright.inventory.inventory import build_inventory, host_variables
from rackwright.inventory.variables import generate
from rackwright.plan.load import load_plan
from rackwright.plan.model import Plan
from rackwright.policy.packs.loader import builtin_pack

FIXTURES = builtin_pack() / "fixtures"
MEMORY = """\
operations:
  memory:
    - group: dgx
      huge_pages: [{size: 1 GiB, count: 16}, {size: 2 MiB, count: 2048}]
      transparent_huge_pages: madvise
    - {group: head, transparent_huge_pages: never}
"""


def with_layer(folder: Path, fixture: str, text: str) -> Plan:
    layer = folder / "layer.yaml"
    layer.write_text(text)
    return load_plan(FIXTURES / fixture, (layer,)).plan


def base_of(plan: Plan, host: str) -> dict[str, object]:
    found = host_variables(build_inventory(plan), host)
    assert found is not None
    return {key: value for key, value in found.items() if key.startswith("base_")}


def test_all_hosts_of_a_site_hold_the_kernel_of_its_bill() -> None:
    plan = load_plan(FIXTURES / "operated.yaml").plan
    assert base_of(plan, "dgx-1")["base_kernel"] == "6.8.0-60-generic"
    assert base_of(plan, "oss-1")["base_kernel"] == "6.8.0-60-generic", "storage as well"
    assert base_of(plan, "train-1")["base_kernel"] == "6.8.0-1040-aws"


def test_headers_are_there_where_the_bill_brings_modules(tmp_path: Path) -> None:
    plan = load_plan(FIXTURES / "operated.yaml").plan
    assert base_of(plan, "dgx-1")["base_headers"] is True
    bill = "{name: metal, driver: null, ofed: null, lustre_client: null, lustre_server: null}"
    bare = with_layer(tmp_path, "operated.yaml", f"operations: {{software: [{bill}]}}\n")
    assert "base_headers" not in base_of(bare, "dgx-1")


def test_secure_boot_is_looked_at_where_the_blueprint_says_it_of_bare_metal(tmp_path: Path) -> None:
    plan = load_plan(FIXTURES / "operated.yaml").plan
    assert base_of(plan, "dgx-1")["base_secure_boot"] is True
    assert "base_secure_boot" not in base_of(plan, "train-1")
    site = plan.onprem[0].spec.name
    layer = f"sites: [{{name: {site}, security: {{secure_boot: false}}}}]\n"
    assert "base_secure_boot" not in base_of(with_layer(tmp_path, "operated.yaml", layer), "dgx-1")


def test_servers_of_lustre_may_have_a_kernel_of_their_own(tmp_path: Path) -> None:
    bill = "{name: metal, server_kernel: 5.14.0-503.el9.x86_64}"
    plan = with_layer(tmp_path, "operated.yaml", f"operations: {{software: [{bill}]}}\n")
    kernels = {}
    for host in expect(plan):
        (kernels[host.name],) = (i.expected for i in host.items if i.item == "version kernel")
        assert base_of(plan, host.name)["base_kernel"] == kernels[host.name], "as it is accepted"
    assert kernels["oss-1"] == "5.14.0-503.el9.x86_64"
    assert kernels["dgx-1"] == "6.8.0-60-generic"


def test_group_has_a_kernel_of_its_own(tmp_path: Path) -> None:
    """A site of x86 heads and arm64 trays had one kernel, so that base failed one half of it."""
    bill = "{name: metal, group_kernels: [{group: dgx, kernel: 6.8.0-60-generic-64k}]}"
    plan = with_layer(tmp_path, "operated.yaml", f"operations: {{software: [{bill}]}}\n")
    kernels = {}
    for host in expect(plan):
        (kernels[host.name],) = (i.expected for i in host.items if i.item == "version kernel")
        assert base_of(plan, host.name)["base_kernel"] == kernels[host.name], "as it is accepted"
    assert kernels["dgx-1"] == "6.8.0-60-generic-64k"
    assert kernels["oss-1"] == "6.8.0-60-generic"


def test_kernel_of_a_group_that_no_site_has_is_refused(tmp_path: Path) -> None:
    bill = "{name: metal, group_kernels: [{group: dgxs, kernel: 6.8.0-60-generic-64k}]}"
    with pytest.raises(SpecErrors, match=r"there is no node group .dgxs."):
        with_layer(tmp_path, "operated.yaml", f"operations: {{software: [{bill}]}}\n")


def test_all_hosts_are_to_run_the_system_of_the_bill(tmp_path: Path) -> None:
    bill = "{name: metal, system: ubuntu-24.04, server_system: el-9}"
    plan = with_layer(tmp_path, "operated.yaml", f"operations: {{software: [{bill}]}}\n")
    assert base_of(plan, "dgx-1")["base_system"] == "ubuntu-24.04"
    assert base_of(plan, "oss-1")["base_system"] == "el-9", "servers of Lustre"
    assert "base_system" not in base_of(plan, "train-1"), "the bill of another site"


HOSTS = """\
operations:
  hosts:
    - name: metal
      sites: [{site}]
      time_servers: [ntp-1.example.com, 10.0.0.1]
      kernel_parameters: {{net.ipv4.tcp_mtu_probing: 1, net.ipv4.tcp_rmem: 4096 87380 33554432}}
"""


def test_time_servers_and_kernel_parameters_are_those_of_the_site(tmp_path: Path) -> None:
    """The role had both, and nothing set them."""
    site = load_plan(FIXTURES / "operated.yaml").plan.onprem[0].spec.name
    plan = with_layer(tmp_path, "operated.yaml", HOSTS.format(site=site))
    found = base_of(plan, "oss-1")
    assert found["base_time_servers"] == ["ntp-1.example.com", "10.0.0.1"]
    assert found["base_sysctl"] == {
        "net.ipv4.tcp_mtu_probing": 1,
        "net.ipv4.tcp_rmem": "4096 87380 33554432",
    }
    assert "base_sysctl" not in base_of(plan, "train-1")


@pytest.mark.parametrize(
    ("entries", "said"),
    [
        ("[{name: a, sites: [nowhere]}]", "the entry 'a' of 'hosts' names no site: 'nowhere'"),
        ("[{name: a}, {name: b}]", "the entry 'a' of 'hosts' must name its 'sites'"),
        ("[{name: a, time_servers: [-x]}]", "time_servers"),
        ("[{name: a, kernel_parameters: {kernel: 1}}]", "kernel"),
    ],
)
def test_settings_of_hosts_that_cannot_be_are_refused(
    tmp_path: Path, entries: str, said: str
) -> None:
    with pytest.raises(SpecErrors, match=said):
        with_layer(tmp_path, "operated.yaml", f"operations: {{hosts: {entries}}}\n")


def test_without_a_bill_nothing_is_held() -> None:
    assert base_of(load_plan(FIXTURES / "slurm.yaml").plan, "dgx-01") == {}


def test_huge_pages_are_those_of_the_group(tmp_path: Path) -> None:
    plan = with_layer(tmp_path, "slurm.yaml", MEMORY)
    assert base_of(plan, "dgx-01") == {
        "base_hugepages": [
            {"size_kib": 1048576, "count": 16},
            {"size_kib": 2048, "count": 2048},
        ],
        "base_transparent_hugepages": "madvise",
    }
    assert base_of(plan, "head-1") == {"base_transparent_hugepages": "never"}


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        (("group: head", "group: heads"), "there is no node group 'heads'"),
        (("group: head", "group: dgx"), "the memory of the group 'dgx' is named twice"),
        (("2 MiB", "1024 MiB"), "the memory of 'dgx' names a size of huge pages twice"),
        (("madvise", "sometimes"), "transparent_huge_pages"),
        (("count: 16", "count: 0"), "count"),
    ],
)
def test_contradictory_host_settings_are_refused(
    tmp_path: Path, changed: tuple[str, str], message: str
) -> None:
    with pytest.raises(SpecErrors, match=message):
        with_layer(tmp_path, "slurm.yaml", MEMORY.replace(*changed))


def test_with_efa_the_pages_of_libfabric_are_among_them(tmp_path: Path) -> None:
    pages = "[{size: 2 MiB, count: 8192}]"
    text = f"operations: {{memory: [{{group: train, huge_pages: {pages}}}]}}\n"
    found = host_variables(build_inventory(with_layer(tmp_path, "operated.yaml", text)), "train-1")
    assert found is not None
    assert found["base_hugepages"] == [{"size_kib": 2048, "count": found["efa_hugepages"]}]
    assert found["efa_hugepages"] == 8192


NAMES = Path(__file__).parents[3] / "golden" / "names" / "layer.yaml"


def test_hosts_know_the_names_and_the_address_that_are_planned_for_them() -> None:
    plan = load_plan(FIXTURES / "slurm.yaml", [NAMES]).plan
    found = base_of(plan, "dgx-02")
    assert found["base_address"] == "10.20.0.233"
    lines = str(found["base_hosts"]).splitlines()
    assert lines[:3] == [
        "10.20.0.10 head-1.sjc1.example.com head-1",
        "10.20.0.11 head-2.sjc1.example.com head-2",
        "10.20.0.232 dgx-01.sjc1.example.com dgx-01",
    ]
    assert len(lines) == 2 + 64 + 16 + 8, "neither management controllers nor rails"
    inventory = build_inventory(plan)
    holding = [
        name
        for name, group in inventory.items()
        if name != "_meta" and "base_hosts" in group.get("vars", {})
    ]
    assert holding == ["site_sjc1"], "once, and not for each host"


def test_a_change_of_names_is_shown_as_that_of_the_file_alone() -> None:
    shown = generate(load_plan(FIXTURES / "slurm.yaml", [NAMES]).plan)
    assert "base_hosts" not in shown["inventory/groups/site_sjc1"]
    assert 'dgx-02: {"base_address": "10.20.0.233"' in shown["inventory/hosts"]
