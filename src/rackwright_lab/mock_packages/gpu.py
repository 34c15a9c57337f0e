"""Stand-ins of NVIDIA's driver and of NCCL."""

from __future__ import annotations

from rackwright_lab.mock_packages.package import MockPackage, daemon

NVIDIA_SMI = """\
#!/bin/sh
# Stand-in of a lab: tells of as many GPUs as there are device files. As with a module of the kernel, the
# driver that runs is the one that was there when it was first used after the boot.
count=$(ls /dev/nvidia[0-9]* 2>/dev/null | wc -l)
count=$((count > DARK ? count - DARK : 0))
[ -e /run/nvidia-lab-driver ] || { echo VERSION > /run/nvidia-lab-driver; } 2>/dev/null
loaded=$(cat /run/nvidia-lab-driver 2>/dev/null || echo VERSION)
case "$*" in
  -L) n=0; while [ "$n" -lt "$count" ]; do
        printf 'GPU %d: NVIDIA H100 80GB HBM3 (UUID: GPU-lab-%s-%d)\\n' "$n" "$(hostname)" "$n"
        n=$((n + 1)); done ;;
  "--query --xml-format")
    echo '<?xml version="1.0" ?><nvidia_smi_log>'
    n=0; while [ "$n" -lt "$count" ]; do
      printf '<gpu id="%d"><persistence_mode>Enabled</persistence_mode>' "$n"
      printf '<ecc_mode><current_ecc>Enabled</current_ecc></ecc_mode></gpu>\n'
      n=$((n + 1)); done
    echo '</nvidia_smi_log>' ;;
  "nvlink --status") n=0; while [ "$n" -lt "$count" ]; do
        printf 'GPU %d: NVIDIA H100 80GB HBM3\n\t Link 0: 26.562 GB/s\n' "$n"
        n=$((n + 1)); done ;;
  *driver_version*) n=0; while [ "$n" -lt "$count" ]; do echo "$loaded"; n=$((n + 1)); done ;;
  *) echo "lab stand-in: $count GPUs, driver $loaded" ;;
esac
[ "$count" -gt 0 ]
"""


IMEX_CTL = """\
#!/bin/sh
# Stand-in of a lab: calls the nodes of the domain ready, but for those that a test has listed.
echo 'Connectivity Table Legend:'
echo 'Nodes:'
number=0 state=UP
while read -r address; do
  if grep -qsx "$address" /root/imex-lost; then
    echo "Node #$number   - $address   - UNAVAILABLE"; state=DEGRADED
  else
    echo "Node #$number   - $address   - READY"
  fi
  number=$((number + 1))
done < /etc/nvidia-imex/nodes_config.cfg
echo "Domain State: $state"
"""

DRIVER, OLD_DRIVER, NCCL = "570.133.20", "565.57.01", "2.26.2-1"
FORMER_DRIVER = "570.124.06"
"""A driver with all that belongs to it, from which hosts are upgraded."""
FAULTY_DRIVER = "570.130.05"
"""Another one, with which one GPU stays dark."""

PERSISTENCED = {  # it has the driver loaded from the boot on
    path: text.replace("/bin/true", "-/usr/bin/nvidia-smi")
    for path, text in daemon("nvidia-persistenced").items()
}


def nvidia_smi(version: str, dark: int = 0) -> str:
    """Return the program of a driver, with which so many GPUs stay dark."""
    return NVIDIA_SMI.replace("VERSION", version).replace("DARK", str(dark))


def _driver(version: str, dark: int = 0) -> tuple[MockPackage, ...]:
    """Return the packages of a driver, with which so many GPUs stay dark."""
    return (
        MockPackage(
            "nvidia-driver",
            f"{version}-1",
            "NVIDIA driver (stand-in of a lab)",
            ("nvidia-smi",),
        ),
        MockPackage(
            "nvidia-smi",
            f"{version}-1",
            "NVIDIA System Management Interface (stand-in of a lab)",
            files={"usr/bin/nvidia-smi": nvidia_smi(version, dark)},
        ),
        MockPackage(
            "nvidia-persistenced",
            f"{version}-1",
            "NVIDIA Persistence Daemon (stand-in of a lab)",
            files=PERSISTENCED,
        ),
        MockPackage(
            "nvidia-fabricmanager",
            f"{version}-1",
            "NVIDIA Fabric Manager (stand-in of a lab)",
            files=daemon("nvidia-fabricmanager"),
        ),
    )


MOCK_PACKAGES = (
    *_driver(DRIVER),
    *_driver(FORMER_DRIVER),
    *_driver(FAULTY_DRIVER, dark=1),
    MockPackage(
        "nvidia-imex",
        f"{DRIVER}-1",
        "NVIDIA IMEX (stand-in of a lab)",
        files={**daemon("nvidia-imex"), "usr/bin/nvidia-imex-ctl": IMEX_CTL},
    ),
    # An older driver, whose fabric manager the repository lacks: real repositories have such gaps.
    *(
        MockPackage(name, f"{OLD_DRIVER}-1", f"{name} (stand-in of a lab)")
        for name in ("nvidia-driver", "nvidia-smi", "nvidia-persistenced")
    ),
    *(
        package
        for cuda in ("12.4", "12.8")
        for package in (
            MockPackage("libnccl2", f"{NCCL}+cuda{cuda}", "NCCL (stand-in of a lab)"),
            MockPackage(
                "libnccl-dev",
                f"{NCCL}+cuda{cuda}",
                "NCCL, for development (stand-in of a lab)",
                (f"libnccl2 (= {NCCL}+cuda{cuda})",),
            ),
        )
    ),
)
