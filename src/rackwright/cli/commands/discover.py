"""``discover``: read the management controllers of a site, and compare its machines with the blueprint."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rackwright.cli.options.arguments import add_blueprint
from rackwright.cli.options.output_files import OutputFile, add_output
from rackwright.cli.options.telling import tell_progress
from rackwright.errors import UsageError

if TYPE_CHECKING:
    from rackwright.metal.discovery.access import ControllerAccess
    from rackwright.metal.discovery.expected import ExpectedMachine
    from rackwright.plan.expansion import SitePlan


def configure(parser: argparse.ArgumentParser, verb: str) -> None:
    """Add the arguments of ``discover``."""
    add_blueprint(parser)
    parser.add_argument("--site", help="the bare-metal site, if the blueprint has several")
    parser.add_argument(
        "--range",
        metavar="FIRST-LAST",
        action="append",
        default=[],
        help="addresses to search for controllers instead of those of the blueprint; repeatable",
    )
    parser.add_argument("--user", help="user of the controllers (default: that of the blueprint)")
    parser.add_argument(
        "--password-file",
        type=Path,
        metavar="FILE",
        help="file with the password of the user, one line; {host} stands for the name of the host",
    )
    parser.add_argument(
        "--ca", type=Path, metavar="FILE", help="CA certificates (PEM) for the controllers"
    )
    parser.add_argument("--port", type=int, help="TCP port of Redfish (default: 443)")
    parser.add_argument(
        "--plain-http", action="store_true", help="use HTTP without TLS; loopback addresses only"
    )
    parser.add_argument(
        "--answer-within",
        type=float,
        metavar="SECONDS",
        default=20.0,
        help="time without data after which a controller counts as silent, in s (default: 20)",
    )
    add_output(
        parser,
        OutputFile({"layer": (".yaml", ".yml")}),
        "write serial numbers and Ethernet addresses as a layer of the blueprint",
    )
    parser.add_argument("--json", action="store_true", help="print every machine as JSON")


def run(arguments: argparse.Namespace) -> int:
    """Discover a site; return 0 if all is as planned, 5 if a machine differs, 6 if a controller is unreadable.

    Raises:
        UsageError: there are no addresses, no credentials, or a file cannot be read.
    """
    from rackwright.cli.options.outputs import write_file
    from rackwright.metal.chosen import bare_metal_site
    from rackwright.metal.discovery.compare import compare
    from rackwright.metal.discovery.discover import Discoverer
    from rackwright.metal.discovery.expected import bmc_addresses, expected_machines
    from rackwright.metal.discovery.layer import SCHEMA, as_data, exit_code, layer, text_report
    from rackwright.plan.load import load_plan

    plan = load_plan(arguments.blueprint, tuple(arguments.layer)).plan
    site = bare_metal_site(plan.onprem, arguments.site)
    machines = expected_machines(plan, site)
    addresses = bmc_addresses(plan, site, tuple(arguments.range))
    access = _access(arguments, site, machines)
    reader = Discoverer(access.credentials(), access.session(), access.port, access.manners)
    # --range may cover only a part of the site: other hosts are not missing.
    within = set(addresses) if arguments.range else None
    asked = [one for one in machines if within is None or one.bmc is None or one.bmc in within]
    required = [one.bmc for one in asked if one.bmc is not None]
    found = reader.discover(addresses, required, tell_progress)
    layouts = [planned.layout for planned in site.fabrics if planned.layout is not None]
    lines = compare(asked, found, layouts)
    if arguments.output is not None:
        write_file(arguments.output.path, layer(plan, site.name, lines))
    if arguments.json:
        data: dict[str, Any] = {"schema": SCHEMA, **as_data(site.name, lines)}
        sys.stdout.write(json.dumps(data, indent=2) + "\n")
    else:
        sys.stdout.write(text_report(site.name, lines))
    return int(exit_code(lines))


def _access(
    arguments: argparse.Namespace, site: SitePlan, machines: tuple[ExpectedMachine, ...]
) -> ControllerAccess:
    """Return the access to controllers from the arguments, or else from the blueprint.

    Raises:
        UsageError: no user or no password is given.
    """
    from rackwright.metal.chosen import BMC_PORT, access_by

    provisioning = site.provisioning
    bmc = None if provisioning is None else provisioning.bmc
    user = arguments.user or (bmc.user if bmc else None)
    password = arguments.password_file or (bmc.password_file if bmc else None)
    if user is None or password is None:
        raise UsageError(
            f"no credentials for the controllers of '{site.name}'",
            hint="set 'provisioning.bmc' in the blueprint, or give --user and --password-file",
        )
    return access_by(
        user=user,
        password_file=str(password),
        ca=arguments.ca or (bmc.ca if bmc else None),
        verify=bmc.verify if bmc else "name",
        port=arguments.port or (bmc.port if bmc else BMC_PORT),
        machines=machines,
        answer_s=arguments.answer_within,
        plain=arguments.plain_http,
    )
