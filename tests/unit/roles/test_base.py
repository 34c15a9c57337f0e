"""What the role base holds for a kernel, from what the package manager lists; and the names it writes.

Nothing is installed, and no file of this machine is written.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from collection_support import COLLECTIONS

ROOT = Path(__file__).parents[3]
LISTED = {
    # Two kernels, the running one first, and what brings the next one.
    "ubuntu": """\
linux-base | 4.5ubuntu9 | installed |
linux-firmware | 20240318 | installed |
linux-generic | 6.8.0-61.63 | installed | linux-image-generic (= 6.8.0-61.63), linux-headers-generic (= 6.8.0-61.63)
linux-headers-6.8.0-60 | 6.8.0-60.63 | installed | coreutils
linux-headers-6.8.0-60-generic | 6.8.0-60.63 | installed | linux-headers-6.8.0-60, libc6 (>= 2.38)
linux-headers-generic | 6.8.0-61.63 | installed | linux-headers-6.8.0-61-generic
linux-image-6.8.0-59-generic | 6.8.0-59.61 | config-files |
linux-image-6.8.0-60-generic | 6.8.0-60.63 | installed | kmod, linux-modules-6.8.0-60-generic
linux-image-6.8.0-61-generic | 6.8.0-61.64 | installed | kmod, linux-modules-6.8.0-61-generic
linux-image-generic | 6.8.0-61.63 | installed | linux-image-6.8.0-61-generic, linux-firmware
linux-image-generic-hwe-22.04 | 6.8.0-61.63 | installed | linux-image-6.8.0-61-generic
linux-libc-dev | 6.8.0-61.64 | installed |
linux-modules-6.8.0-60-generic | 6.8.0-60.63 | installed |
jq | 1.7.1-3 | installed | libjq1
""",
    "rocky": """\
kernel | 0:5.14.0-503.14.1.el9_5 | installed | 5.14.0-503.14.1.el9_5.x86_64
kernel | 0:5.14.0-503.40.1.el9_5 | installed | 5.14.0-503.40.1.el9_5.x86_64
kernel-core | 0:5.14.0-503.14.1.el9_5 | installed | 5.14.0-503.14.1.el9_5.x86_64
kernel-core | 0:5.14.0-503.40.1.el9_5 | installed | 5.14.0-503.40.1.el9_5.x86_64
kernel-srpm-macros | 0:1.0-13.el9 | installed | 1.0-13.el9.noarch
jq | 0:1.6-17.el9 | installed | 1.6-17.el9.x86_64
""",
}
FAMILIES = {"ubuntu": "Debian", "rocky": "RedHat"}


def play(
    folder: Path,
    family: str,
    tasks: list[object],
    given: dict[str, object],
    *arguments: str,
    system: tuple[str, str] = ("Debian", "12.11"),
) -> str:
    """What Ansible says of tasks that it runs here with the variables of the role."""
    facts = {
        "os_family": family,
        "distribution": system[0],
        "distribution_version": system[1],
        "service_mgr": "systemd",
    }
    made = {
        "hosts": "localhost",
        "connection": "local",
        "gather_facts": False,
        "vars": {"ansible_python_interpreter": sys.executable},
        "vars_files": [str(ROOT / f"roles/base/{name}/main.yml") for name in ("defaults", "vars")],
        "tasks": [{"ansible.builtin.set_fact": {**facts, "cacheable": True}}, *tasks],
    }
    (folder / "play.yml").write_text(json.dumps([made]))
    done = subprocess.run(
        [
            Path(sys.executable).parent / "ansible-playbook",
            *("-i", "localhost,", folder / "play.yml", "--extra-vars", json.dumps(given)),
            *arguments,
        ],
        env={
            **os.environ,
            "ANSIBLE_NOCOLOR": "True",
            "ANSIBLE_COLLECTIONS_PATH": str(COLLECTIONS),
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def evaluate(folder: Path, distribution: str, **variables: object) -> dict[str, list[str]]:
    """The names and the lines of versionlock that the role would hold."""
    shown = {
        "names": "{{ base_held | map('first') | unique }}",
        "lines": "{{ base_lock_lines if base_family == 'RedHat' else [] }}",
    }
    copy = {"ansible.builtin.copy": {"dest": str(folder / "held.json"), "content": shown}}
    given = {"base_listed": {"stdout": LISTED[distribution]}, **variables}
    play(folder, FAMILIES[distribution], [copy], given)
    found = json.loads((folder / "held.json").read_text())
    assert isinstance(found, dict)
    return found


def test_ubuntu_holds_the_kernel_and_what_would_bring_the_next(tmp_path: Path) -> None:
    found = evaluate(tmp_path, "ubuntu", base_kernel="6.8.0-60-generic", base_held_packages=["jq"])
    assert found["names"] == [
        "jq",
        "linux-generic",
        "linux-headers-6.8.0-60-generic",
        "linux-headers-generic",
        "linux-image-6.8.0-60-generic",
        "linux-image-generic",
        "linux-image-generic-hwe-22.04",
        "linux-modules-6.8.0-60-generic",
    ]


@pytest.mark.parametrize("kernel", ["6.8.0-59-generic", "6.8.0-60-gener"])
def test_a_kernel_that_is_not_installed_holds_nothing(tmp_path: Path, kernel: str) -> None:
    assert evaluate(tmp_path, "ubuntu", base_kernel=kernel)["names"] == []


def test_rhel_locks_that_kernel_and_the_version_of_other_packages(tmp_path: Path) -> None:
    found = evaluate(
        tmp_path, "rocky", base_kernel="5.14.0-503.14.1.el9_5.x86_64", base_held_packages=["jq"]
    )
    assert found["lines"] == [
        "jq-0:1.6-17.el9.*",
        "kernel-0:5.14.0-503.14.1.el9_5.*",
        "kernel-core-0:5.14.0-503.14.1.el9_5.*",
    ]


def test_without_a_kernel_only_what_is_named_is_held(tmp_path: Path) -> None:
    assert evaluate(tmp_path, "ubuntu", base_held_packages=["jq"])["names"] == ["jq"]


@pytest.mark.parametrize("distribution", FAMILIES)
def test_a_host_of_which_nothing_is_held_was_asked_for_no_packages(
    tmp_path: Path, distribution: str
) -> None:
    """The list of what to hold is looked at before the condition of its task."""
    skipped = {"skipped": True, "skip_reason": "Conditional result was False"}
    found = evaluate(tmp_path, distribution, base_listed=skipped)
    assert found == {"names": [], "lines": []}


HOSTS = """\
127.0.0.1 localhost
127.0.1.1 dgx-1.lab.example.com dgx-1
127.0.1.1 dgx-10
10.0.0.9 printer
"""
NAMES = "10.20.0.1 dgx-1.lab.example.com dgx-1\n10.20.0.2 dgx-2.lab.example.com dgx-2"
WRITTEN = f"""\
127.0.0.1 localhost
127.0.1.1 dgx-10
10.0.0.9 printer
# BEGIN names that Rackwright plans
{NAMES}
# END names that Rackwright plans
"""


def write_names(folder: Path, *arguments: str, names: str = NAMES) -> int:
    """Run the role's tasks on a file in ``folder``; how many of them changed something."""
    said = play_names(folder, *arguments, names=names)
    (changed,) = re.findall(r"changed=(\d+)", said)
    return int(changed)


def play_names(folder: Path, *arguments: str, names: str = NAMES) -> str:
    """Run the role's tasks on a file in ``folder``; what Ansible prints."""
    tasks: list[object] = [
        {"ansible.builtin.include_tasks": str(ROOT / f"roles/base/tasks/{name}.yml")}
        for name in ("preflight", "names")
    ]
    given: dict[str, object] = {
        "base_hosts_file": str(folder / "hosts"),
        "base_hosts": names,
        "rackwright_hostname": "dgx-1",
    }
    return play(folder, "Debian", tasks, given, *arguments)


needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="roles write as root")


@needs_root
def test_names_are_written_once_beside_what_others_wrote(tmp_path: Path) -> None:
    path = tmp_path / "hosts"
    path.write_text(HOSTS)
    assert write_names(tmp_path, "--check", "--diff") == 2
    assert path.read_text() == HOSTS
    assert write_names(tmp_path) == 2
    assert path.read_text() == WRITTEN
    assert write_names(tmp_path) == 0
    assert path.read_text() == WRITTEN
    assert write_names(tmp_path, names=NAMES.replace("10.20.0.2", "10.20.0.3")) == 1
    assert path.read_text() == WRITTEN.replace("10.20.0.2", "10.20.0.3")


@needs_root
def test_names_that_are_there_are_not_sent_again(tmp_path: Path) -> None:
    """Every run sent the names of all hosts to each: 0.75 MB each, and 440 ms to judge them, at 12,500."""
    path = tmp_path / "hosts"
    path.write_text(HOSTS)
    task = r"TASK \[Write the names and addresses of hosts\] \*+\n(\w+): "
    assert re.findall(task, play_names(tmp_path)) == ["changed"]
    assert re.findall(task, play_names(tmp_path)) == ["skipping"]
    path.write_text(path.read_text().replace("10.20.0.2", "10.20.0.9"))
    assert re.findall(task, play_names(tmp_path)) == ["changed"]
    assert path.read_text() == WRITTEN


@needs_root
@pytest.mark.parametrize("line", ["dgx-1 10.20.0.1", "10.20.0.1", "10.20.0.1 dgx-1; reboot"])
def test_invalid_hosts_entry_is_refused(tmp_path: Path, line: str) -> None:
    (tmp_path / "hosts").write_text(HOSTS)
    with pytest.raises(AssertionError, match=f"'{re.escape(line)}', which is no address"):
        write_names(tmp_path, names=f"{NAMES}\n{line}")
    assert (tmp_path / "hosts").read_text() == HOSTS


def judge_system(folder: Path, system: tuple[str, str], wanted: str, **given: object) -> None:
    """Have the preflight judge a host that runs ``system``.

    Raises:
        AssertionError: it is refused.
    """
    family = "Debian" if system[0] in {"Debian", "Ubuntu"} else "RedHat"
    task = {"ansible.builtin.include_tasks": str(ROOT / "roles/base/tasks/preflight.yml")}
    play(folder, family, [task], {"base_system": wanted, **given}, system=system)


@pytest.mark.parametrize(
    ("system", "wanted"),
    [
        (("Debian", "12.11"), "debian-12"),
        (("Ubuntu", "24.04"), ""),
        (("AlmaLinux", "9.6"), "el-9"),
        (("Amazon", "2023"), "amazon-linux-2023"),
    ],
)
def test_a_system_of_the_table_is_taken(
    tmp_path: Path, system: tuple[str, str], wanted: str
) -> None:
    judge_system(tmp_path, system, wanted)


@pytest.mark.parametrize(
    ("system", "wanted", "said"),
    [
        (("Debian", "11.9"), "", "localhost runs Debian 11.9, for which the roles are not written; "),
        (("Fedora", "41"), "", "they are for Debian 12, Debian 13, Ubuntu 22.04, Ubuntu 24.04"),
        (("Rocky", "90.1"), "", "localhost runs Rocky 90.1, for which"),
        (("Debian", "12.1"), "ubuntu-24.04", "runs Debian 12.1, and the software entry has Ubuntu 24.04"),
        (("Debian", "12.1"), "sles-15", "base_system of localhost is 'sles-15'; it is one of debian-12"),
    ],
)  # fmt: skip
def test_another_system_is_refused(
    tmp_path: Path, system: tuple[str, str], wanted: str, said: str
) -> None:
    with pytest.raises(AssertionError) as caught:
        judge_system(tmp_path, system, wanted)
    assert said in str(caught.value)


def test_dgx_os_is_told_from_ubuntu_by_its_file(tmp_path: Path) -> None:
    table = yaml.safe_load((ROOT / "roles/base/vars/main.yml").read_text("utf-8"))["base_systems"]
    mark = tmp_path / "dgx-release"
    table["dgx-os-7"]["mark"] = str(mark)
    with pytest.raises(AssertionError, match=r"runs Ubuntu 24.04 without .*dgx-release, and the"):
        judge_system(tmp_path, ("Ubuntu", "24.04"), "dgx-os-7", base_systems=table)
    mark.write_text('DGX_NAME="DGX Server"\n')
    judge_system(tmp_path, ("Ubuntu", "24.04"), "dgx-os-7", base_systems=table)


def tasks_of(name: str) -> list[object]:
    return [{"ansible.builtin.include_tasks": str(ROOT / f"roles/base/tasks/{name}.yml")}]


@needs_root
def test_headers_that_no_repository_has_are_told_before_a_driver_needs_them(tmp_path: Path) -> None:
    """A driver was installed without them, and drove nothing."""
    kernel = {"ansible.builtin.set_fact": {"kernel": "5.4.3-nobody", "cacheable": True}}
    given: dict[str, object] = {"base_modules_folder": str(tmp_path)}
    with pytest.raises(
        AssertionError, match=r"runs the kernel 5.4.3-nobody, and linux-headers-5.4.3"
    ):
        play(tmp_path, "Debian", [kernel, *tasks_of("headers")], given, "--check")
    makefile = tmp_path / "5.4.3-nobody/build/Makefile"
    makefile.parent.mkdir(parents=True)
    makefile.touch()
    play(tmp_path, "Debian", [kernel, *tasks_of("headers")], given, "--check")


@pytest.mark.parametrize(
    ("attributes", "said"),
    [
        (b"\6\0\0\0\0", "localhost has Secure Boot off; the blueprint says that it is on"),
        (None, "localhost has Secure Boot off, or did not boot by UEFI; the blueprint"),
        (b"\6\0\0\0\1", ""),
    ],
)
def test_secure_boot_is_on_where_the_blueprint_says_so(
    tmp_path: Path, attributes: bytes | None, said: str
) -> None:
    path = tmp_path / "SecureBoot"
    if attributes is not None:
        path.write_bytes(attributes)
    given: dict[str, object] = {
        "base_secure_boot": True,
        "base_own_kernel": True,
        "base_secure_boot_file": str(path),
        "base_chrony_service": "nobody",
    }
    with pytest.raises(AssertionError) as caught:  # this machine has no service of that name
        play(tmp_path, "Debian", tasks_of("verify_settings"), given)
    assert "chrony of localhost is" in str(caught.value)
    assert said in str(caught.value)
    assert ("Secure Boot" in str(caught.value)) == bool(said)
