"""What instances do at their first boot."""

from __future__ import annotations

import base64
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

from aws_factories import a_plan, a_site
from rackwright.plan.aws.launch_template import Wiring
from rackwright.plan.aws.user_data import LONGEST, encoded, node_user_data, server_user_data

LABEL = "a" * 63
LONG_ZONE = ".".join([LABEL] * 3)


def test_a_server_is_born_with_its_name() -> None:
    data = server_user_data(a_site(), "head-1")

    assert data.startswith("#cloud-config\n")
    made = yaml.safe_load(data)
    assert (made["hostname"], made["fqdn"]) == ("head-1", "head-1.atlas.internal")
    (search,) = made["write_files"]
    assert search["content"] == "[Resolve]\nDomains=atlas.internal\n"


@pytest.mark.parametrize("data", [server_user_data(a_site(), "head-1"), node_user_data(a_site())])
def test_metadata_are_roots_before_the_role_comes(data: str, tmp_path) -> None:
    """Jobs of an image that starts slurmd by itself read the credentials of the node's role."""
    (command,) = yaml.safe_load(data)["bootcmd"]
    tools = tmp_path / "bin"
    tools.mkdir()
    (tools / "nft").write_text(f'#!/bin/sh\necho "$@" > {tmp_path}/words; cat > {tmp_path}/rules\n')
    (tools / "nft").chmod(0o755)
    environment = {"PATH": f"{tools}:/usr/bin:/bin"}
    subprocess.run(["/bin/sh", "-ec", command], env=environment, check=True, timeout=300)
    assert (tmp_path / "words").read_text() == "-f -\n"
    role = yaml.safe_load(Path("roles/instance_metadata/vars/main.yml").read_text())
    words = (tmp_path / "rules").read_text().split()
    # The role finds the table by its name and makes it anew; where its file is, the command does nothing.
    assert words[:3] == ["table", "inet", role["instance_metadata_table"]]
    assert f"test -e {role['instance_metadata_rules']} || nft" in command
    text = " ".join(words)
    assert "ip daddr 169.254.169.254 meta skuid != { 0 } reject" in text
    assert "ip6 daddr fd00:ec2::254 meta skuid != { 0 } reject" in text


@pytest.mark.parametrize(("known", "readers"), [("114", "{ 0, 114 }"), ("", "{ 0 }")])
def test_keys_that_instance_connect_sends_open_a_host_at_its_first_boot(
    known: str, readers: str, tmp_path: Path
) -> None:
    site = a_site(access={"connect": "instance-connect"})
    (command,) = yaml.safe_load(node_user_data(site))["bootcmd"]
    tools = tmp_path / "bin"
    tools.mkdir()
    (tools / "nft").write_text(f"#!/bin/sh\ncat > {tmp_path}/rules\n")
    asked = 'test "$*" = "-u ec2-instance-connect"'
    (tools / "id").write_text(f"#!/bin/sh\n{asked} && test -n '{known}' && echo {known}\n")
    for tool in tools.iterdir():
        tool.chmod(0o755)
    environment = {"PATH": f"{tools}:/usr/bin:/bin"}
    subprocess.run(["/bin/sh", "-ec", command], env=environment, check=True, timeout=300)
    text = " ".join((tmp_path / "rules").read_text().split())
    assert f"ip daddr 169.254.169.254 meta skuid != {readers} reject" in text


def test_a_node_waits_for_its_tag_before_slurmd_starts() -> None:
    made = yaml.safe_load(node_user_data(a_site()))
    _, script, unit = made["write_files"]

    assert "hostname" not in made
    assert made["preserve_hostname"] is True
    assert "meta-data/tags/instance/rackwright:host" in script["content"]
    assert f"ExecStart={script['path']}\n" in unit["content"]
    assert "Before=slurmd.service" in unit["content"]
    assert script["permissions"] == "0755"


def test_the_script_takes_names_only_and_is_a_shell_s(tmp_path) -> None:
    """A tag that is no name, or an answer that is a page, is not taken for one."""
    _, script, _ = yaml.safe_load(node_user_data(a_site()))["write_files"]
    told = tmp_path / "told"
    tools = tmp_path / "bin"
    tools.mkdir()
    answers = ["", "<html>", "Train-01", "train 1", "train-01"]
    (tools / "curl").write_text(
        f"#!/bin/sh\ncase $* in *api/token*) echo token; exit;; esac\n"
        f"n=$(cat {tmp_path}/n 2>/dev/null || echo 0); echo $((n + 1)) > {tmp_path}/n\n"
        "case $n in\n"
        + "".join(f"{n}) printf '%s' '{text}';;\n" for n, text in enumerate(answers))
        + "esac\n"
    )
    (tools / "sleep").write_text("#!/bin/sh\n")
    (tools / "hostnamectl").write_text(f'#!/bin/sh\necho "$@" >> {told}\n')
    for tool in tools.iterdir():
        tool.chmod(0o755)
    sh = shutil.which("sh")
    assert sh is not None
    path = f"{tools}:/usr/bin:/bin"
    subprocess.run([sh, "-c", script["content"]], env={"PATH": path}, check=True, timeout=300)
    assert told.read_text() == "set-hostname train-01\n"
    assert (tmp_path / "n").read_text() == f"{len(answers)}\n"


@pytest.mark.parametrize("name", ["head-1", LABEL])
def test_user_data_is_far_from_what_ec2_takes(name: str) -> None:
    site = a_site(network={"dns_zone": LONG_ZONE})
    for data in (server_user_data(site, name), node_user_data(site)):
        assert len(data.encode()) < LONGEST / 4
        assert base64.b64decode(encoded(data)).decode() == data
    with pytest.raises(ValueError, match="16,385 bytes"):
        encoded("x" * (LONGEST + 1))
    assert encoded("x" * LONGEST)


def test_a_template_carries_what_it_is_wired_with() -> None:
    (group,) = a_plan().groups
    plain = group.launch_template("x", {})
    wired = group.launch_template("x", {}, Wiring(user_data="#cloud-config", key_pair="ops"))

    assert "user_data" not in plain
    assert "key_name" not in plain
    assert base64.b64decode(wired["user_data"]).decode() == "#cloud-config"
    assert wired["key_name"] == "ops"
