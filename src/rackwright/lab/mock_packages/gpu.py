"""Stand-ins of NVIDIA's driver and of NCCL."""

from __future__ import annotations

from rackwright.lab.mock_packages.package import MockPackage, daemon

NVIDIA_SMI = """\
#!/bin/sh
# Stand-in of a lab: tells of as many GPUs as there are device files.
count=$(ls /dev/nvidia[0-9]* 2>/dev/null | wc -l)
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
  *driver_version*) n=0; while [ "$n" -lt "$count" ]; do echo VERSION; n=$((n + 1)); done ;;
  *) echo "lab stand-in: $count GPUs, driver VERSION" ;;
esac
[ "$count" -gt 0 ]
"""


DRIVER, OLD_DRIVER, NCCL = "570.133.20", "565.57.01", "2.26.2-1"
MOCK_PACKAGES = (
    MockPackage(
        "nvidia-driver",
        f"{DRIVER}-1",
        "NVIDIA driver (stand-in of a lab)",
        ("nvidia-smi",),
    ),
    MockPackage(
        "nvidia-smi",
        f"{DRIVER}-1",
        "NVIDIA System Management Interface (stand-in of a lab)",
        files={"usr/bin/nvidia-smi": NVIDIA_SMI.replace("VERSION", DRIVER)},
    ),
    MockPackage(
        "nvidia-persistenced",
        f"{DRIVER}-1",
        "NVIDIA Persistence Daemon (stand-in of a lab)",
        files=daemon("nvidia-persistenced"),
    ),
    MockPackage(
        "nvidia-fabricmanager",
        f"{DRIVER}-1",
        "NVIDIA Fabric Manager (stand-in of a lab)",
        files=daemon("nvidia-fabricmanager"),
    ),
    MockPackage(
        "nvidia-imex",
        f"{DRIVER}-1",
        "NVIDIA IMEX (stand-in of a lab)",
        files=daemon("nvidia-imex"),
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
