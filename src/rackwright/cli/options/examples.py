"""Examples that ``--help`` of each command and action shows; a test parses every one."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping
from typing import Final

EXAMPLES: Final[Mapping[str, tuple[str, ...]]] = {
    "init": (
        "init demo --template hybrid-h100 --example",
        "init --list",
        "init hall --template git+https://git.example.com/templates.git@v1#hall --set name=atlas",
        "init hall --template ../templates/hall --answers answers.yaml",
        "init site --from elevations.csv --from slurm.conf",
        "init site --from netbox_devices.csv --site dc1 --product 'PowerEdge XE9680=dell-xe9680-h200'",
    ),
    "update": (
        "update site",
        "update site --to v2 --dry-run",
        "update site --set count=64",
        "update --list clusters",
    ),
    "template": ("template new templates/hall --from site/blueprint.yaml",),
    "template new": ("template new templates/hall --from site/blueprint.yaml",),
    "template test": ("template test templates/hall", "template test onprem-h100 --json"),
    "check": (
        "check site/blueprint.yaml",
        "check site/blueprint.yaml --layer facility.yaml --todo todo.yaml",
        "check site/blueprint.yaml --base-ref main --output md=comment.md --output sarif=report.sarif",
        "check site/blueprint.yaml --only PWR-006 --verbose",
    ),
    "expand": ("expand site/blueprint.yaml", "expand --rules"),
    "design": (
        "design wanted.yaml --output site/blueprint.yaml",
        "design wanted.yaml --alternative third-feed.yaml --alternative liquid.yaml",
        "design wanted.yaml --positions positions.csv --sources sources.csv --json",
    ),
    "show": (
        "show site/blueprint.yaml",
        "show site/blueprint.yaml --all",
        "show rack c01 site/blueprint.yaml",
    ),
    "draw": (
        "draw all site/blueprint.yaml --output drawings",
        "draw power site/blueprint.yaml --lost ups-b",
    ),
    "sheets": (
        "sheets site/blueprint.yaml --output sheets",
        "sheets site/blueprint.yaml --output hall.xlsx",
    ),
    "bom": (
        "bom site/blueprint.yaml",
        "bom site/blueprint.yaml --output bom.csv",
        "bom site/blueprint.yaml --output before.json",
        "bom site/blueprint.yaml --than before.json",
    ),
    "cost": (
        "cost site/blueprint.yaml",
        "cost site/blueprint.yaml --compare --region us-east-1",
        "cost site/blueprint.yaml --spent",
    ),
    "predict": (
        "predict site/blueprint.yaml",
        "predict site/blueprint.yaml --workload pretrain --json",
        "predict site/blueprint.yaml --write-astra astra",
    ),
    "fleet": (
        "fleet site/blueprint.yaml",
        "fleet site/blueprint.yaml --rest sjc1=http://10.41.0.2:6820/slurm/v0.0.42 --json",
        "fleet site/blueprint.yaml --page fleet.html",
    ),
    "power": (
        "power site/blueprint.yaml --target 750kW",
        "power site/blueprint.yaml --site sjc1 --lost ups-a --send",
        "power site/blueprint.yaml --restore --send",
    ),
    "diff": (
        "diff main site/blueprint.yaml",
        "diff main...HEAD site/blueprint.yaml --output md=delta.md",
    ),
    "ci": (
        "ci init --forge github --blueprint site/blueprint.yaml --install-from index:rackwright==0.1.0",
    ),
    "ci init": ("ci init --forge gitlab --install-from git+https://HOST/PATH@COMMIT",),
    "ci comment": ("ci comment comment.md --forge github",),
    "ci upload": ("ci upload report.sarif",),
    "ci permissions": ("ci permissions site/blueprint.yaml --role apply",),
    "fabric": ("fabric cables site/blueprint.yaml",),
    "fabric cables": ("fabric cables site/blueprint.yaml --fabric storage",),
    "fabric net": ("fabric net site/blueprint.yaml",),
    "fabric route": ("fabric route site/blueprint.yaml --engine ftree",),
    "fabric compare": ("fabric compare site/blueprint.yaml ibnetdiscover.txt",),
    "switches": (
        "switches list site/blueprint.yaml",
        "switches waves site/blueprint.yaml --running backup",
    ),
    "switches list": ("switches list site/blueprint.yaml --json",),
    "switches compare": ("switches compare site/blueprint.yaml backup",),
    "switches waves": ("switches waves site/blueprint.yaml --running backup --most 8",),
    "netbox": ("netbox push site/blueprint.yaml --url https://netbox.example.org --dry-run",),
    "netbox pull": ("netbox pull --url https://netbox.example.org --output netbox.json",),
    "netbox push": ("netbox push site/blueprint.yaml --url https://netbox.example.org --dry-run",),
    "explain": ("explain PWR-006", "explain exit-codes"),
    "policy": ('policy new own/ACME-001 "Busways keep a tenth in reserve"',),
    "policy list": ("policy list --json",),
    "policy show": ("policy show PWR-006",),
    "policy test": ("policy test policies",),
    "policy new": ('policy new own/ACME-001 "Busways keep a tenth in reserve" --pack policies',),
    "policy document": ("policy document policies",),
    "policy digest": ("policy digest ../shared-policies",),
    "repair": ("repair run site/blueprint.yaml --loop 30 --recordings /var/lib/recordings",),
    "repair run": (
        "repair run site/blueprint.yaml --dry-run",
        "repair run site/blueprint.yaml --loop 30 --bmc bmcs.yaml",
    ),
    "repair pause": ("repair pause site/blueprint.yaml",),
    "repair go-on": ("repair go-on site/blueprint.yaml",),
    "repair done": ("repair done train-07 site/blueprint.yaml --text 'GPU 3 swapped'",),
    "repair journal": ("repair journal site/blueprint.yaml --node train-07",),
    "repair links": ("repair links site/blueprint.yaml --recordings /var/lib/recordings",),
    "faults": ("faults explain kernel=dmesg.txt nvidia-smi=gpus.xml",),
    "faults list": ("faults list --subject nvlink",),
    "faults show": ("faults show xid-79",),
    "faults test": ("faults test", "faults test faults"),
    "faults explain": ("faults explain kernel=dmesg.txt ports=counters.txt",),
    "catalogue": ("catalogue new nodes/acme-8x",),
    "catalogue list": ("catalogue list --kind nodes", "catalogue list --own"),
    "catalogue show": ("catalogue show dgx-h200",),
    "catalogue new": ("catalogue new nodes/acme-8x",),
    "catalogue coverage": ("catalogue coverage --kind nodes --missing",),
    "catalogue test": ("catalogue test",),
    "catalogue diff": ("catalogue diff origin/main",),
    "catalogue import": ("catalogue import device.yaml --role 400gbase-x-osfp=compute",),
    "waivers": ("waivers list site/blueprint.yaml",),
    "waivers list": ("waivers list site/blueprint.yaml --json",),
    "waivers check": ("waivers check site/blueprint.yaml",),
    "waivers add": (
        (
            'waivers add site/blueprint.yaml --policy PWR-001 --match rack=r12 --up-to "47 kW" '
            '--reason "until the second PDU arrives" --owner dc@example.com --ticket DC-1432 '
            "--expires 2026-12-12"
        ),
        (
            'waivers add site/blueprint.yaml --from FINGERPRINT --reason "until the second PDU arrives" '
            "--owner dc@example.com --ticket DC-1432 --expires 2026-12-12"
        ),
    ),
    "waivers prune": ("waivers prune site/blueprint.yaml --unused --dry-run",),
    "baseline": ("baseline create site/blueprint.yaml",),
    "baseline create": ("baseline create site/blueprint.yaml",),
    "baseline update": ("baseline update site/blueprint.yaml",),
    "baseline prune": ("baseline prune site/blueprint.yaml",),
    "schema": ("schema export --output .schemas",),
    "schema export": ("schema export --output .schemas", "schema export --kind report"),
    "render": (
        "render site/blueprint.yaml --output generated",
        "render site/blueprint.yaml --output generated --check --diff",
    ),
    "inventory": (
        "inventory site/blueprint.yaml --graph",
        "inventory site/blueprint.yaml --outputs outputs.json",
    ),
    "preview": ("preview site/blueprint.yaml --target aws --save-plan plan",),
    "up": (
        "up site/blueprint.yaml --target local",
        "up site/blueprint.yaml --target aws --plan plan",
    ),
    "status": ("status site/blueprint.yaml --target aws --json",),
    "hosts": ("hosts site/blueprint.yaml --target aws --check",),
    "replace": (
        "replace site/blueprint.yaml train-07 --target aws",
        "replace site/blueprint.yaml --outdated --target aws --waves unit",
    ),
    "down": ("down site/blueprint.yaml --target local",),
    "unlock": ("unlock site/blueprint.yaml --target aws",),
    "discover": (
        "discover site/blueprint.yaml --output machines.yaml",
        "discover site/blueprint.yaml --range 10.21.0.16-10.21.0.47 --json",
    ),
    "provision": (
        "provision site/blueprint.yaml --dry-run",
        "provision site/blueprint.yaml --hosts dgx-[01-08] --until imaged",
        "provision site/blueprint.yaml --status --json",
        "provision site/blueprint.yaml --retry",
        "provision site/blueprint.yaml --waves rack --wave-limit 10%",
    ),
    "decommission": ("decommission site/blueprint.yaml --hosts dgx-[01-08] --yes",),
    "configure": (
        "configure site/blueprint.yaml --check",
        "configure site/blueprint.yaml --waves rack --wave-limit 10%",
    ),
    "upgrade": ("upgrade site/blueprint.yaml", "upgrade site/blueprint.yaml --yes --waves rack"),
    "verify": ("verify site/blueprint.yaml --output junit=report.xml",),
    "burn-in": (
        "burn-in site/blueprint.yaml --groups node,pair,rack,leaf,hall",
        "burn-in site/blueprint.yaml --duration '72 h' --output markdown=burn-in.md --output layer=burn-in.yaml",
    ),
    "ledger": ("ledger show gpu-1 --blueprint site/blueprint.yaml",),
    "ledger show": ("ledger show gpu-1 --blueprint site/blueprint.yaml",),
    "ledger lemons": ("ledger lemons --blueprint site/blueprint.yaml --days 90",),
    "ledger spares": ("ledger spares --blueprint site/blueprint.yaml",),
    "ledger note": ("ledger note 1650223012345 'riser reseated' --blueprint site/blueprint.yaml",),
    "ledger packet": (
        "ledger packet 1650223012345 --blueprint site/blueprint.yaml --output packet.tar.gz --attach nvidia-bug-report.log.gz",
    ),
    "lab": ("lab up --blueprint site/blueprint.yaml",),
    "lab up": ("lab up --blueprint site/blueprint.yaml",),
    "lab status": ("lab status --json",),
    "lab ssh": ("lab ssh login-1 srun -N4 hostname",),
    "lab down": ("lab down",),
    "tools": ("tools install",),
    "tools install": ("tools install aws-provider",),
    "doctor": ("doctor", "doctor aws", "doctor --json"),
    "completion": ("completion bash", "completion fish", "completion man"),
}
"""The words behind ``rackwright``, by the words of the command."""
_HEAD = "examples:\n"


class _Formatter(argparse.HelpFormatter):
    """Cuts descriptions into lines as ever, and leaves lines of examples whole."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        return text if text.startswith(_HEAD) else super()._fill_text(text, width, indent)


def add_examples(parser: argparse.ArgumentParser, name: str) -> None:
    """Have the help of ``parser`` and of its actions end with the examples of ``name``."""
    lines = "".join(f"  rackwright {line}\n" for line in EXAMPLES.get(name, ()))
    parser.epilog = f"{_HEAD}{lines}" if lines else None
    parser.formatter_class = _Formatter
    for action, one in actions_of(parser):
        add_examples(one, f"{name} {action}")


def actions_of(parser: argparse.ArgumentParser) -> Iterator[tuple[str, argparse.ArgumentParser]]:
    """Yield the actions of a command with their parsers."""
    for argument in parser._actions:
        if isinstance(argument, argparse._SubParsersAction):
            yield from argument.choices.items()
