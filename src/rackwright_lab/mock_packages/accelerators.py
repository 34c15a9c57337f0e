"""Stand-ins of AMD's driver and ROCm, and of AWS Neuron: names, and the form of versions and output, are the makers'.

Device files and the modules of the kernel are those of a test.
"""

from __future__ import annotations

from rackwright_lab.mock_packages.package import MockPackage, daemon

AMDGPU, OLD_AMDGPU = "1:6.12.12.60401-2164967.22.04", "1:6.8.5.60204-2070768.22.04"
ROCM, OLD_ROCM = "6.4.1.60401-83~22.04", "6.2.4.60204-139~22.04"
RCCL, OLD_RCCL = "2.22.3.60401-83~22.04", "2.20.5.60204-139~22.04"
AMD_SMI, OLD_AMD_SMI = "25.4.2.60401-83~22.04", "24.6.3.60204-139~22.04"
EXPORTER = "1.3.0"

AMD_SMI_PROGRAM = """\
#!/bin/sh
# Stand-in of a lab: lists an accelerator for each eighth render node, as amd-smi does of the MI300 series.
n=0; separator=; echo '['
for file in /dev/dri/renderD*; do
  [ -e "$file" ] || continue
  if [ $((n % 8)) = 0 ]; then
    printf '%s  {"gpu": %d, "bdf": "0000:%02x:00.0"}\\n' "$separator" $((n / 8)) $((n / 8 + 16)); separator=,
  fi
  n=$((n + 1))
done
echo ']'
"""

NEURON_LS = """\
#!/bin/sh
# Stand-in of a lab: lists the device files, as neuron-ls does.
n=0; separator=; echo '['
for file in /dev/neuron[0-9]*; do
  [ -e "$file" ] || continue
  printf '%s  {"neuron_device": %d, "nc_count": 8}\\n' "$separator" "$n"; separator=,
  n=$((n + 1))
done
echo ']'
"""

METRICS = """\
#!/usr/bin/python3
# Stand-in of a lab: answers as AMD's exporter does.
import glob
from http.server import BaseHTTPRequestHandler, HTTPServer
class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        count = len(glob.glob("/dev/dri/renderD*")) // 8
        self.wfile.write(b'gpu_nodes_total{hostname="lab"} %d\\n' % count)
    def log_message(self, *words):
        pass
HTTPServer(("127.0.0.1", 5000), Handler).serve_forever()
"""
_EXPORTER_UNIT = (
    "[Unit]\nDescription=exporter (stand-in of a lab)\n[Service]\n"
    "ExecStart=/usr/local/bin/amd-metrics-exporter\n[Install]\nWantedBy=multi-user.target\n"
)
MONITOR = "#!/bin/sh\n# Stand-in of a lab: reports without an end.\nexec sleep infinity\n"
MONITOR_PROMETHEUS = "#!/bin/sh\n# Stand-in of a lab: takes reports.\nexec cat > /dev/null\n"

_SUMMARY = "(stand-in of a lab)"

MOCK_PACKAGES = (
    *(
        MockPackage(name, version, f"{name} {_SUMMARY}", files=files)
        for name, versions, files in (
            ("amdgpu-dkms", (AMDGPU, OLD_AMDGPU), {}),
            ("rocm", (ROCM, OLD_ROCM), {}),
            ("rccl", (RCCL, OLD_RCCL), {}),
            ("amd-smi-lib", (AMD_SMI, OLD_AMD_SMI), {"opt/rocm/bin/amd-smi": AMD_SMI_PROGRAM}),
        )
        for version in versions
    ),
    MockPackage(
        "amdgpu-exporter",
        EXPORTER,
        f"exporter of AMD's accelerators {_SUMMARY}",
        files={
            **daemon("gpuagent"),
            "lib/systemd/system/amd-metrics-exporter.service": _EXPORTER_UNIT,
            "usr/local/bin/amd-metrics-exporter": METRICS,
        },
    ),
    *(
        MockPackage(f"aws-neuronx-{name}", version, f"aws-neuronx-{name} {_SUMMARY}", files=files)
        for name, versions, files in (
            ("dkms", ("2.24.7.0", "2.22.2.0"), {}),
            ("runtime-lib", ("2.28.23.0", "2.26.42.0"), {}),
            ("collectives", ("2.28.27.0", "2.26.43.0"), {}),
            (
                "tools",
                ("2.26.14.0", "2.24.54.0"),
                {
                    "opt/aws/neuron/bin/neuron-ls": NEURON_LS,
                    "opt/aws/neuron/bin/neuron-monitor": MONITOR,
                    "opt/aws/neuron/bin/neuron-monitor-prometheus.py": MONITOR_PROMETHEUS,
                },
            ),
        )
        for version in versions
    ),
)
