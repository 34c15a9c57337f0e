"""Stand-ins of NVIDIA's DOCA-OFED: the drivers of RDMA adapters, and their tools.

The tools for RoCE keep what they are told below ``/var/lib/lab-roce``, so that a test can ask them.
"""

from __future__ import annotations

from rackwright_lab.mock_packages.package import MockPackage, daemon

MLNX_QOS = """\
#!/bin/sh
# Stand-in of a lab: keeps the settings of an interface in a file.
mkdir -p /var/lib/lab-roce
while [ $# -gt 0 ]; do
  case "$1" in
    -i) interface=$2; shift ;;
    --pfc) pfc=$2; shift ;;
    --trust) trust=$2; shift ;;
  esac
  shift
done
file="/var/lib/lab-roce/$interface"
if [ -n "$pfc" ]; then
  printf 'trust %s\\npfc %s\\n' "$trust" "$pfc" > "$file"
else
  printf 'Priority trust state: %s\\nPFC configuration:\\n' "$(sed -n 's/^trust //p' "$file")"
  printf '\\tpriority    0   1   2   3   4   5   6   7\\n'
  printf '\\tenabled     %s\\n' "$(sed -n 's/^pfc //p' "$file" | sed 's/,/   /g')"
fi
"""

CMA_ROCE_TOS = """\
#!/bin/sh
# Stand-in of a lab: keeps the type of service of a device in a file.
mkdir -p /var/lib/lab-roce
while [ $# -gt 0 ]; do
  case "$1" in
    -d) device=$2; shift ;;
    -t) tos=$2; shift ;;
  esac
  shift
done
[ -z "$tos" ] || printf '%s\\n' "$tos" > "/var/lib/lab-roce/$device"
cat "/var/lib/lab-roce/$device"
"""

MLXCONFIG = """\
#!/bin/sh
# Stand-in of a lab, where no adapter is.
echo "-E- Failed to open the device"
exit 1
"""

OFED, OLD_OFED = "3.2.1-044000", "2.10.0-093000"
_KERNEL = "25.10.OFED.25.10.1.7.1-1"
_SUMMARY = "(stand-in of a lab)"

MOCK_PACKAGES = (
    *(
        MockPackage(
            "doca-ofed",
            version,
            f"DOCA-OFED {_SUMMARY}",
            (
                "infiniband-diags",
                "mft",
                "mlnx-ofed-kernel-dkms",
                "mlnx-ofed-kernel-utils",
                "mlnx-tools",
            ),
        )
        for version in (OFED, OLD_OFED)
    ),
    MockPackage(
        "mft",
        "4.34.1-10",
        f"firmware tools of adapters {_SUMMARY}",
        files={"usr/bin/mlxconfig": MLXCONFIG},
    ),
    MockPackage("mlnx-ofed-kernel-dkms", _KERNEL, f"kernel modules of DOCA-OFED {_SUMMARY}"),
    MockPackage(
        "mlnx-ofed-kernel-utils",
        _KERNEL,
        f"loader of DOCA-OFED's kernel modules {_SUMMARY}",
        files=daemon("openibd"),
    ),
    MockPackage(
        "mlnx-tools",
        "25.10-0.1",
        f"tools of RDMA adapters {_SUMMARY}",
        files={"usr/bin/mlnx_qos": MLNX_QOS, "usr/bin/cma_roce_tos": CMA_ROCE_TOS},
    ),
)
