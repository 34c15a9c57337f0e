"""What the health check asks of GPUs, ports and the clock: sound, broken, and what cannot be asked."""

from __future__ import annotations

import json
from pathlib import Path
from types import ModuleType

import pytest

from node_support import Node
from rackwright.catalog.fault_signals import faults_of_node
from rackwright.catalog.fault_table import builtin_faults

GPU = """\
<gpu id="00000000:{id}:00.0">
  <persistence_mode>Enabled</persistence_mode>
  <gpu_recovery_action>None</gpu_recovery_action>
  <pci><pci_gpu_link_info><pcie_gen><max_link_gen>5</max_link_gen><current_link_gen>1</current_link_gen></pcie_gen>
    <link_widths><max_link_width>16x</max_link_width><current_link_width>16x</current_link_width></link_widths>
  </pci_gpu_link_info></pci>
  <clocks_event_reasons>
    <clocks_event_reason_sw_power_cap>Active</clocks_event_reason_sw_power_cap>
    <clocks_event_reason_hw_slowdown>Not Active</clocks_event_reason_hw_slowdown>
    <clocks_event_reason_hw_thermal_slowdown>Not Active</clocks_event_reason_hw_thermal_slowdown>
    <clocks_event_reason_hw_power_brake_slowdown>Not Active</clocks_event_reason_hw_power_brake_slowdown>
  </clocks_event_reasons>
  <ecc_mode><current_ecc>Enabled</current_ecc><pending_ecc>Enabled</pending_ecc></ecc_mode>
  <ecc_errors>
    <volatile><sram_correctable>0</sram_correctable><sram_uncorrectable_parity>0</sram_uncorrectable_parity>
      <dram_correctable>7</dram_correctable><dram_uncorrectable>0</dram_uncorrectable></volatile>
    <aggregate><dram_uncorrectable>3</dram_uncorrectable></aggregate>
  </ecc_errors>
  <remapped_rows><remapped_row_corr>0</remapped_row_corr><remapped_row_unc>1</remapped_row_unc>
    <remapped_row_pending>No</remapped_row_pending><remapped_row_failure>No</remapped_row_failure></remapped_rows>
  <fabric><state>Completed</state><status>Success</status></fabric>
</gpu>"""
"""As nvidia-smi 570 and 580 print it, with all that is not judged left out."""

LINKS = "GPU {n}: NVIDIA H100 80GB HBM3 (UUID: GPU-{n})\n\t Link 0: 26.562 GB/s\n\t Link 1: 26.562 GB/s\n"
ASKED = {"ecc": True, "nvlink": True, "persistence": True}
TRACKING = "C0A80001,192.168.0.1,3,1732377600.1,{off},0.00001,0.00002,-3.1,0.0,0.02,0.001,0.002,64.2,{leap}"


def report(first: str = GPU, *, count: int = 2) -> str:
    gpus = [first.format(id="1b"), *(GPU.format(id=f"{n}d") for n in range(2, count + 1))]
    return f'<?xml version="1.0" ?>\n<nvidia_smi_log>\n{"".join(gpus)}\n</nvidia_smi_log>\n'


def have_gpus(node: Node, xml: str, links: str | None = None, code: int = 0) -> None:
    """A node whose nvidia-smi prints this."""
    (node.folder / "xml").write_text(xml)
    told = links if links is not None else LINKS.format(n=0) + LINKS.format(n=1)
    (node.folder / "links").write_text(told)
    node.settings["gpus"] = dict(ASKED)
    node.program(
        "nvidia-smi",
        f'case "$1" in nvlink) /bin/cat {node.folder}/links;; *) /bin/cat {node.folder}/xml; exit {code};; esac',
    )


def test_sound_gpus_are_no_reason(node: Node) -> None:
    have_gpus(node, report())
    assert node.judge() == []


def test_gpus_are_asked_for_only_where_their_driver_is_meant(node: Node) -> None:
    have_gpus(node, "", code=9)
    node.settings["gpus"] = {}
    assert node.judge() == []


FAULTS = [
    ("<persistence_mode>Enabled", "<persistence_mode>Disabled", "persistence mode is off"),
    ("<current_ecc>Enabled", "<current_ecc>Disabled", "ECC is Disabled"),
    (
        "<dram_uncorrectable>0",
        "<dram_uncorrectable>2",
        "2 dram_uncorrectable since the driver was loaded",
    ),
    (
        "row_pending>No",
        "row_pending>Yes",
        "Row remapping of a GPU waits for a reset [gpu-remap-pending]",
    ),
    ("row_failure>No", "row_failure>Yes", "Row remapping of a GPU failed [gpu-remap-failed]"),
    ("action>None", "action>Reset", "Driver asks for a reset of a GPU [gpu-recovery-reset]"),
    (
        "action>None",
        "action>Bus Reset",
        "Driver asks for a recovery that is not known here [gpu-recovery-other]",
    ),
    ("<current_link_width>16x", "<current_link_width>8x", "PCIe x8 of x16"),
    (
        "hw_thermal_slowdown>Not Active",
        "hw_thermal_slowdown>Active",
        "GPU slows itself down for heat [gpu-hot]",
    ),
]
FABRIC_FAULTS = [
    ("<state>Completed", "<state>In Progress", "NVLink fabric is not set up [nvlink-fabric-down]"),
    ("<status>Success", "<status>Failure", "NVLink fabric ended with Failure"),
]


@pytest.mark.parametrize(("healthy", "broken", "reason"), [*FAULTS, *FABRIC_FAULTS])
def test_a_fault_of_one_gpu_is_told_with_its_number(
    node: Node,
    healthy: str,
    broken: str,
    reason: str,
) -> None:
    assert healthy in GPU
    have_gpus(node, report(GPU.replace(healthy, broken)))
    assert node.judge() == [f"GPU 0: {reason}"]


RECORDED = Path(__file__).parent / "recorded/nvidia_smi"
"""Of driver 580.159.04 in virtual machines with one GPU; names of the single GPU and lists of clocks left out.

A program of matrix products holds the H200 at its power cap. One with a wild pointer has run on the H100.
"""


@pytest.fixture(params=["h200-load", "h100-after-xid"])
def real_gpu(request: pytest.FixtureRequest, node: Node) -> str:
    """A report of a real GPU, which the node has."""
    text = (RECORDED / f"{request.param}.xml").read_text()
    (node.folder / "nvidia1").unlink()
    node.settings["accelerators"] = 1
    have_gpus(node, text, links="")
    node.settings["gpus"]["nvlink"] = False
    return text


def test_a_real_gpu_that_works_is_no_reason(node: Node, real_gpu: str) -> None:
    assert node.judge() == []
    node.settings["gpus"]["nvlink"] = True
    assert node.judge() == ["no GPU has an NVLink"], "which nvidia-smi says by saying nothing"


@pytest.mark.parametrize(("healthy", "broken", "reason"), FAULTS)
def test_a_fault_in_the_report_of_a_real_gpu_is_found(
    node: Node, real_gpu: str, healthy: str, broken: str, reason: str
) -> None:
    assert healthy in real_gpu
    have_gpus(node, real_gpu.replace(healthy, broken, 1))
    node.settings["gpus"]["nvlink"] = False
    assert node.judge() == [f"GPU 0: {reason}"]


def test_an_xid_as_a_real_gpu_has_it(node: Node) -> None:
    node.program("journalctl", f"/bin/cat {RECORDED}/xid-31.txt")
    assert node.judge() == []
    node.settings["faults"] = faults_of_node(builtin_faults(), [31])
    assert node.judge() == ["Xid 31 (Page fault of a program on a GPU)"]


def test_throttling_has_its_former_name_until_driver_535(node: Node) -> None:
    former = GPU.replace("clocks_event_", "clocks_throttle_")
    have_gpus(node, report(former))
    assert node.judge() == []
    heat = "hw_thermal_slowdown>"
    have_gpus(node, report(former.replace(f"{heat}Not Active", f"{heat}Active")))
    assert node.judge() == ["GPU 0: GPU slows itself down for heat [gpu-hot]"]


def test_power_brake_is_a_fault_of_the_power_and_drains_no_node(node: Node) -> None:
    brake = "hw_power_brake_slowdown>"
    have_gpus(node, report(GPU.replace(f"{brake}Not Active", f"{brake}Active")))
    assert node.judge() == []


@pytest.mark.parametrize(("times", "reasons"), [(2, []), (3, ["Adapter is lost [own-lost]"])])
def test_sign_of_a_table_counts_within_its_window(node: Node, times: int, reasons: list[str]) -> None:  # fmt: skip
    node.settings["faults"] = [
        {"fault": "own-lost", "name": "Adapter is lost", "log": "kernel", "times": 3, "within": 60,
         "pattern": "adapter (?P<device>\\S+) lost"},
    ]  # fmt: skip
    lines = [f"{at}.5 gpu-1 kernel: adapter a1 lost" for at in (100, 110, 120)[:times]]
    lines += ["500.5 gpu-1 kernel: adapter a1 lost", "510.5 gpu-1 kernel: adapter a2 lost"]
    text = "\n".join(lines)
    node.program("journalctl", f"cat <<'LINES'\n{text}\nLINES")
    assert node.judge() == reasons


def test_journal_that_fails_with_a_word_is_no_good_sign(node: Node) -> None:
    node.program("journalctl", "echo 'Failed to open journal'; exit 1")
    assert node.judge() == ["the kernel's messages cannot be read"]


def test_feature_that_a_gpu_lacks_is_not_a_failure(node: Node) -> None:
    lacking = GPU.replace("<state>Completed", "<state>N/A").replace("16x", "N/A")
    have_gpus(node, report(lacking))
    assert node.judge() == []


def test_lanes_may_be_more_than_the_gpu_says_that_it_can_have(node: Node) -> None:
    have_gpus(node, report(GPU.replace("16x", "8x")))
    assert node.judge() == []
    node.settings["gpus"]["pcie_width"] = 16
    assert node.judge() == ["GPU 0: PCIe x8 of x16"]


def test_a_gpu_that_the_driver_does_not_see(node: Node) -> None:
    have_gpus(node, report(count=1))
    assert node.judge() == ["nvidia-smi sees 1 of 2 GPUs"]


def test_an_nvidia_smi_that_fails_says_why(node: Node) -> None:
    have_gpus(node, "Failed to initialize NVML: Driver/library version mismatch", code=18)
    assert node.judge() == [
        "nvidia-smi: Failed to initialize NVML: Driver/library version mismatch"
    ]
    (node.folder / "bin/nvidia-smi").unlink()
    assert node.judge() == ["nvidia-smi: nvidia-smi is not installed"]


def test_an_nvlink_that_is_down(node: Node) -> None:
    down = LINKS.format(n=1).replace("Link 1: 26.562 GB/s", "Link 1: <inactive>")
    have_gpus(node, report(), LINKS.format(n=0) + down)
    assert node.judge() == ["GPU 1: NVLink 1 down"]
    have_gpus(node, report(), "")
    assert node.judge() == ["no GPU has an NVLink"]
    node.settings["gpus"]["nvlink"] = False
    assert node.judge() == []


def test_an_xid_without_a_name_is_told_by_its_number(node: Node) -> None:
    node.settings["faults"] = [{"fault": "xid-955", "name": "", "xid": 955}]
    node.program(
        "journalctl", "echo 'kernel: NVRM: Xid (PCI:0000:1b:00): 955, NVLINK: SW Defined Error'"
    )
    assert node.judge() == ["Xid 955"]


XID = "kernel: NVRM: Xid (PCI:0018:01:00): "


@pytest.mark.parametrize(
    ("lines", "reasons"),
    [
        (["145, RLW_RXPIPE Nonfatal XC0 i0 Link 13 (0x0409a0c2 0x00000008)"], []),
        (["149, NETIR Fatal XC0 i0 Link -1 (0x000fe406 0x00000000)"], ["Xid 149 (fatal NVLink error)"]),
        (["144, SAW_MVB Fatal XC0 i0 Link 00 (0x1)", "150, MSE Fatal XC0 i0 Link 02 (0x1)"],
         ["Xid 144 (fatal NVLink error)", "Xid 150 (fatal NVLink error)"]),
        (["154, GPU recovery action changed from 0x0 (None) to 0x2 (Node Reboot Required)"],
         ["Xid 154 (Node Reboot Required of GPU PCI:0018:01:00)"]),
        (["154, GPU recovery action changed from 0x0 (None) to 0x1 (GPU Reset Required)",
          "154, GPU recovery action changed from 0x1 (GPU Reset Required) to 0x0 (None)"], []),
        (["13, pid=1, name=python3, Graphics Exception"], []),
    ],
)  # fmt: skip
def test_fatal_nvlink_error_of_blackwell_drains_whatever_xids_are_listed(
    node: Node, lines: list[str], reasons: list[str]
) -> None:
    """Fatal Xid 149 with 154 passed, because the list was that of Hopper."""
    node.settings["faults"] = [
        {"fault": "a", "name": "a", "xid": 74},
        {"fault": "b", "name": "b", "xid": 79},
    ]
    text = "\n".join(XID + line for line in lines)
    node.program("journalctl", f"cat <<'LINES'\n{text}\nLINES")
    assert node.judge() == reasons


def dcgm(health_of_all: str, **systems: str) -> str:
    """A report as DCGM's dcgmi/Health.cpp and DcgmiOutput.cpp write it, with incidents of GPU 1."""
    errors = {name.replace("_", " "): {"value": value} for name, value in systems.items()}
    entity = {"1": {"value": health_of_all, "children": {"Errors": {"children": errors}}}}
    body = {"Overall Health": {"value": health_of_all}}
    return json.dumps({"body": body | ({"GPU": {"children": entity}} if errors else {})})


@pytest.mark.parametrize(
    ("told", "reasons"),
    [
        (dcgm("Healthy"), []),
        (dcgm("Warning", Thermal_system="Warning"), []),
        (
            dcgm("Failure", Memory_system="Failure", PCIe_system="Warning"),
            ["DCGM: Memory system"],
        ),
        (dcgm("Internal error"), ["DCGM: Internal error"]),
        ("{}", ["dcgmi does not say how the GPUs are"]),
    ],
)
def test_health_watches_of_dcgm(node: Node, told: str, reasons: list[str]) -> None:
    node.settings["dcgm"] = True
    node.program("dcgmi", f"echo '{told}'")
    assert node.judge() == reasons


def test_dcgm_is_told_to_watch_where_nobody_has(node: Node) -> None:
    node.settings["dcgm"] = True
    node.program(
        "dcgmi",
        f'echo "$*" >> {node.log}; case "$*" in *--check*) echo "Error: Health watches not enabled."; exit 1;; esac',
    )
    assert node.judge() == []
    assert node.log.read_text().splitlines()[-1] == "health --group 0 --set a"
    node.program("dcgmi", "echo 'Error: unable to establish a connection'; exit 255")
    assert node.judge() == ["dcgmi: Error: unable to establish a connection"]


class Ports:
    """Ports of a node as the kernel shows them."""

    def __init__(self, node: Node, health: ModuleType, patch: pytest.MonkeyPatch) -> None:
        self.folder = node.folder / "infiniband"
        self.now = 1000.0
        patch.setattr(health, "STATE", str(node.folder / "state.json"))
        patch.setattr(health.time, "monotonic", lambda: self.now)
        node.settings |= {
            "sysfs": str(self.folder),
            "remember": True,
            "ports": [{"technology": "infiniband", "rate_gbps": 400.0, "count": 2}],
        }
        for name in ("mlx5_0", "mlx5_1"):
            self.set(name)

    def set(self, name: str, **given: str | int) -> None:
        texts = {
            "link_layer": "InfiniBand",
            "state": "4: ACTIVE",
            "rate": "400 Gb/sec (4X NDR)",
            "counters/symbol_error": 0,
            "counters/link_downed": 0,
        } | {key.replace("counters_", "counters/"): value for key, value in given.items()}
        for path, text in texts.items():
            file = self.folder / name / "ports/1" / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(f"{text}\n")


@pytest.fixture
def ports(node: Node, health: ModuleType, monkeypatch: pytest.MonkeyPatch) -> Ports:
    return Ports(node, health, monkeypatch)


@pytest.mark.parametrize(
    "given",
    [
        {"state": "2: INIT"},
        {"rate": "200 Gb/sec (4X HDR)"},
        {"link_layer": "Ethernet"},
    ],
)
def test_a_port_that_is_not_as_meant(node: Node, ports: Ports, given: dict[str, str]) -> None:
    assert node.judge() == []
    ports.set("mlx5_1", **given)
    assert node.judge() == ["1 of 2 infiniband ports of 400 Gbps [port-down]"]


def test_a_port_that_went_down_and_came_back(node: Node, ports: Ports) -> None:
    ports.set("mlx5_0", counters_link_downed=5)
    assert node.judge() == [], "before the first look is no fault of now"
    ports.now += 300
    ports.set("mlx5_0", counters_link_downed=6)
    told = "mlx5_0/1 went down 1 times in 12 min [port-flaps]"
    assert node.judge() == [told]
    ports.now += 500
    assert node.judge() == [told], "once more, then it is forgotten"
    ports.now += 1
    assert node.judge() == []


@pytest.mark.parametrize(("errors", "told"), [(2, False), (3, True)])
def test_symbol_errors_beyond_those_that_ufm_takes(
    node: Node,
    ports: Ports,
    errors: int,
    told: bool,
) -> None:
    """400 Gbps in 720 s are 2.88e14 bits: 2.88 errors at 1e-14."""
    assert node.judge() == []
    ports.set("mlx5_1", counters_symbol_error=errors)
    wanted = ["mlx5_1/1 has 3 symbol errors in 12 min, more than 2.88"]
    assert node.judge() == (wanted if told else [])


def test_check_without_a_receiver_keeps_no_record(node: Node, ports: Ports) -> None:
    assert node.run("--print") == 0
    assert not Path(node.folder / "state.json").exists()
    assert node.run() == 0
    assert Path(node.folder / "state.json").exists()


def test_a_state_that_is_cut_short_is_written_anew(node: Node, ports: Ports) -> None:
    path = node.folder / "state.json"
    path.write_text("{")
    assert node.judge() == []
    assert json.loads(path.read_text())["since"] == ports.now


@pytest.mark.parametrize(
    ("off", "leap", "reasons"),
    [
        ("0.000012", "Normal", []),
        ("-1.0", "Normal", []),
        ("-1.5", "Normal", ["the clock is 1.500 s off, more than 1 s"]),
        ("0", "Not synchronised", ["the clock follows no time server"]),
    ],
)
def test_the_clock(node: Node, off: str, leap: str, reasons: list[str]) -> None:
    node.settings["clock_s"] = 1.0
    node.program("chronyc", f"echo '{TRACKING.format(off=off, leap=leap)}'")
    assert node.judge() == reasons


def test_a_clock_that_cannot_be_asked(node: Node) -> None:
    node.settings["clock_s"] = 1.0
    node.program("chronyc", "echo '506 Cannot talk to daemon'; exit 1")
    assert node.judge() == ["chronyc: 506 Cannot talk to daemon"]


@pytest.mark.parametrize(
    ("number", "reasons"), [(116, ["{}: Stale file handle [file-system-silent]"]), (2, [])]
)
def test_a_file_system_that_has_thrown_the_node_out(
    node: Node,
    health: ModuleType,
    monkeypatch: pytest.MonkeyPatch,
    number: int,
    reasons: list[str],
) -> None:
    def refuse(path: str) -> None:
        raise OSError(number, "Stale file handle", path)

    monkeypatch.setattr(health.os, "statvfs", refuse)
    node.settings["free"] = []
    assert node.judge() == [reason.format("/scratch") for reason in reasons]
