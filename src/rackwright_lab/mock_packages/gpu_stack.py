"""Stand-ins of CUDA, DCGM with its exporter, and what the EFA installer brings."""

from __future__ import annotations

from rackwright_lab.mock_packages.package import MockPackage, daemon

CUDA, CUDA_TOO_NEW = "12.8.1", "13.0.2"
DCGM, DCGM_EXPORTER = "4.5.2", "4.8.2"
LIBFABRIC, OLD_LIBFABRIC = "2.6.0amzn1.0", "2.4.0amzn5.0"
OFI_PLUGIN, EFA_DRIVER, OPENMPI = "1.21.1", "3.3.0", "5.0.9amzn1"

NVCC = """\
#!/bin/sh
# Stand-in of a lab: tells its version and compiles nothing.
case "$1" in
  --version|-V) ;;
  *) echo "nvcc fatal   : this is the stand-in of a lab" >&2; exit 1 ;;
esac
echo "nvcc: NVIDIA (R) Cuda compiler driver"
echo "Cuda compilation tools, release RELEASE, VBUILD"
"""

DCGM_EXPORTER_PROGRAM = '''\
#!/usr/bin/python3
"""Stand-in of a lab: serves the fields of its counters file for as many GPUs as there are devices.

A line 'FIELD GPU VALUE' in /run/dcgm-lab gives a value; all others are those of a GPU at rest.
"""
import argparse, csv, glob, http.server, os, socket

AT_REST = {"DCGM_FI_DEV_GPU_TEMP": 34, "DCGM_FI_DEV_MEMORY_TEMP": 38, "DCGM_FI_DEV_SM_CLOCK": 345,
           "DCGM_FI_DEV_POWER_USAGE": 71.5, "DCGM_FI_DEV_CLOCKS_EVENT_REASONS": 1}


def render(counters):
    host, given = socket.gethostname(), {}
    if os.path.exists("/run/dcgm-lab"):
        with open("/run/dcgm-lab") as file:
            for line in file:
                field, gpu, value = line.split()
                given[field, int(gpu)] = value
    gpus = range(len(glob.glob("/dev/nvidia[0-9]*")))
    for field, kind, text in counters:
        yield "# HELP %s %s" % (field, text)
        yield "# TYPE %s %s" % (field, kind)
        for gpu in gpus:
            labels = \'gpu="%d",UUID="GPU-lab-%s-%d",device="nvidia%d",\' % (gpu, host, gpu, gpu)
            labels += \'modelName="NVIDIA H100 80GB HBM3",Hostname="%s"\' % host
            yield "%s{%s} %s" % (field, labels, given.get((field, gpu), AT_REST.get(field, 0)))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("-f", "--collectors", default="/etc/dcgm-exporter/default-counters.csv")
    parser.add_argument("-a", "--address", default=":9400")
    parser.add_argument("-c", "--collect-interval", type=int, default=30000)
    asked = parser.parse_args()
    with open(asked.collectors) as file:
        lines = [line for line in file if line.strip() and not line.startswith("#")]
    counters = [[cell.strip() for cell in row] for row in csv.reader(lines, skipinitialspace=True)]

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            found = self.path == "/metrics"
            self.send_response(200 if found else 404)
            self.send_header("Content-Type", "text/plain; version=0.0.4")
            self.end_headers()
            if found:
                self.wfile.write(("\\n".join(render(counters)) + "\\n").encode())

        def log_message(self, *words):
            pass

    host, _, port = asked.address.rpartition(":")
    if ":" in host:
        http.server.ThreadingHTTPServer.address_family = socket.AF_INET6
    http.server.ThreadingHTTPServer((host.strip("[]"), int(port)), Handler).serve_forever()


main()
'''

EXPORTER_UNIT = """\
[Unit]
Description=nvidia-dcgm-exporter (stand-in of a lab)
After=nvidia-dcgm.service
[Service]
ExecStart=/usr/bin/dcgm-exporter -f /etc/dcgm-exporter/default-counters.csv
[Install]
WantedBy=multi-user.target
"""

DCGMI = """\
#!/bin/sh
# Stand-in of a lab: watches once it is told to, and says what stands in /run/dcgm-lab-health.
watched=/run/dcgm-lab-watched
case "$*" in
  "health --group 0 --set a") touch "$watched" ;;
  "health --group 0 --check --json")
    [ -e "$watched" ] || { echo "Error: Health watches not enabled. Please enable watches. "; exit 255; }
    health=$(cat /run/dcgm-lab-health 2>/dev/null || echo Healthy)
    printf '{"body":{"Overall Health":{"value":"%s"}},"header":["Health Monitor Report"]}' "$health" ;;
  *) echo "dcgmi: the stand-in of a lab does not know $*" >&2; exit 1 ;;
esac
"""

FI_INFO = """\
#!/bin/sh
# Stand-in of a lab: tells of as many EFA devices as there are files in /run/lab-efa.
[ "$1 $2" = "-p efa" ] || { echo "fi_info: the stand-in of a lab knows -p efa" >&2; exit 1; }
found=61
for file in /run/lab-efa/*; do
  [ -e "$file" ] || continue
  found=0
  for kind in rdm:FI_EP_RDM dgrm:FI_EP_DGRAM; do
    echo "provider: efa"
    echo "    fabric: efa"
    echo "    domain: ${file##*/}-${kind%%:*}"
    echo "    version: 206.0"
    echo "    type: ${kind##*:}"
    echo "    protocol: FI_PROTO_EFA"
  done
done
[ "$found" = 0 ] || echo "fi_getinfo: -61 (No data available)" >&2
exit "$found"
"""


def _toolkit(version: str, build: str) -> tuple[MockPackage, ...]:
    """Return the toolkit and its compiler, whose version counts on its own."""
    release = ".".join(version.split(".")[:2])
    suffix, root = release.replace(".", "-"), f"usr/local/cuda-{release}"
    nvcc = NVCC.replace("RELEASE", release).replace("BUILD", build)
    return (
        MockPackage(
            f"cuda-toolkit-{suffix}",
            f"{version}-1",
            "CUDA toolkit (stand-in of a lab)",
            (f"cuda-nvcc-{suffix} (>= {build})",),
            {f"{root}/lib64/README": "libraries of the toolkit\n"},
        ),
        MockPackage(
            f"cuda-nvcc-{suffix}",
            f"{build}-1",
            "CUDA compiler (stand-in of a lab)",
            files={f"{root}/bin/nvcc": nvcc},
        ),
    )


def _fabric(version: str) -> tuple[MockPackage, ...]:
    return (
        MockPackage("libfabric1-aws", version, "libfabric with EFA (stand-in of a lab)"),
        MockPackage(
            "libfabric-aws-bin",
            version,
            "Programs of libfabric (stand-in of a lab)",
            (f"libfabric1-aws (= {version})",),
            {"opt/amazon/efa/bin/fi_info": FI_INFO},
        ),
    )


MOCK_PACKAGES = (
    *_toolkit(CUDA, "12.8.93"),
    *_toolkit(CUDA_TOO_NEW, "13.0.88"),
    MockPackage(
        "datacenter-gpu-manager-4-core",
        f"1:{DCGM}-1",
        "DCGM (stand-in of a lab)",
        files=daemon("nvidia-dcgm") | {"usr/bin/dcgmi": DCGMI},
    ),
    *(
        MockPackage(
            f"datacenter-gpu-manager-4-cuda{major}",
            f"1:{DCGM}-1",
            f"DCGM for CUDA {major} (stand-in of a lab)",
            (f"datacenter-gpu-manager-4-core (= 1:{DCGM}-1)",),
        )
        for major in (12, 13)
    ),
    MockPackage(
        "datacenter-gpu-manager-exporter",
        f"{DCGM_EXPORTER}-1",
        "Prometheus exporter of DCGM (stand-in of a lab)",
        ("datacenter-gpu-manager-4-core", "python3"),
        {
            "usr/bin/dcgm-exporter": DCGM_EXPORTER_PROGRAM,
            "lib/systemd/system/nvidia-dcgm-exporter.service": EXPORTER_UNIT,
            "etc/dcgm-exporter/default-counters.csv": (
                "DCGM_FI_DEV_GPU_TEMP, gauge, GPU temperature (in C).\n"
            ),
        },
    ),
    *_fabric(LIBFABRIC),
    *_fabric(OLD_LIBFABRIC),
    MockPackage(
        "libnccl-ofi",
        f"{OFI_PLUGIN}-1",
        "Plugin of NCCL for libfabric (stand-in of a lab)",
        ("libfabric1-aws",),
        {"opt/amazon/ofi-nccl/lib/libnccl-net-ofi.so": "a plugin\n"},
    ),
    MockPackage("efa", f"{EFA_DRIVER}-1", "Kernel module of EFA (stand-in of a lab)"),
    MockPackage("openmpi50-aws", OPENMPI, "Open MPI with EFA (stand-in of a lab)"),
)
