"""List the differences between the kernel's state and the plan: ``differences.py LINKS SYSFS ask|skip``."""

# For any Python from 3.6 on, since it runs on the hosts.
import glob
import ipaddress
import json
import os
import subprocess
import sys


def ask_ip(*words):
    """Return the JSON that ``ip`` prints."""
    done = subprocess.run(
        ["ip", "-json", *words],
        stdout=subprocess.PIPE,
        check=True,
        timeout=20,
    )
    return json.loads(done.stdout.decode() or "[]")


def answers(address, gateway):
    """Return True if the gateway answers a packet from the address."""
    command = ["ping", "-c", "1", "-W", "2", "-I", address, gateway]
    done = subprocess.run(
        command, check=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=20
    )
    return done.returncode == 0


def read(path):
    """Return the text of a file; empty where the kernel has none."""
    try:
        with open(path) as file:
            return file.read().strip()
    except OSError:
        return ""


def gids(sysfs, interface):
    """Return the addresses for which RDMA devices of an interface have a GID of RoCE v2; None without a device."""
    found, there = set(), False
    for port in glob.glob(os.path.join(sysfs, "*", "ports", "*")):
        for ndev in glob.glob(os.path.join(port, "gid_attrs", "ndevs", "*")):
            number = os.path.basename(ndev)
            if read(ndev) != interface:
                continue
            there = True
            if read(os.path.join(port, "gid_attrs", "types", number)) == "RoCE v2":
                gid = ipaddress.ip_address(read(os.path.join(port, "gids", number)) or "::")
                found.add(str(gid.ipv4_mapped or gid))
    return found if there else None


def differences(links, state, sysfs):
    """Yield each difference of the links from the state of the kernel."""
    interfaces = {one["ifname"]: one for one in state["addresses"]}
    for link in links:
        own = interfaces.get(link["interface"])
        where = "{} ({})".format(link["interface"], link["name"])
        if own is None:
            yield "{} is not there".format(where)
            continue
        has = ["{local}/{prefixlen}".format(**one) for one in own.get("addr_info", [])]
        wanted = "{address}/{prefix}".format(**link)
        if wanted not in has:
            yield "{} has {}, not {}".format(where, ", ".join(has) or "no address", wanted)
        if link.get("mtu") not in (None, own["mtu"]):
            yield "{} has the MTU {}, not {}".format(where, own["mtu"], link["mtu"])
        if own.get("operstate") == "DOWN":
            yield "{} is down".format(where)
        for problem in routes(link, state):
            yield where + " " + problem
        if link.get("rdma", True):
            known = gids(sysfs, link["interface"])
            if known is None:
                yield "{} is no port of an RDMA device".format(where)
            elif link["address"] not in known:
                yield "{} has no GID of RoCE v2 for {}".format(where, link["address"])


def routes(link, state):
    """Yield what is missing among the rules and routes of a link."""
    table, of_ipv4 = str(link["table"]), ":" not in link["address"]
    if not of_ipv4 and "gateway" not in link:
        return
    rules = [one for one in state["rules"] if str(one.get("table")) == table]
    if not any(one.get("src") == link["address"] for one in rules):
        yield "has no rule from {} to table {}".format(link["address"], table)
    own = [one for one in state["routes"] if str(one.get("table")) == table]
    if of_ipv4 and not any(
        (one.get("dst"), one.get("dev")) == (link["network"], link["interface"]) for one in own
    ):
        yield "has no route to {} in table {}".format(link["network"], table)
    gateway = link.get("gateway")
    if gateway and not any((one["dst"], one.get("gateway")) == ("default", gateway) for one in own):
        yield "has no route over {} in table {}".format(gateway, table)


def main():
    """Print the differences."""
    links, sysfs, asks = json.loads(sys.argv[1]), sys.argv[2], sys.argv[3] == "ask"
    routes_of = ["route", "show", "table", "all"]
    state = {
        "addresses": ask_ip("address", "show"),
        "rules": ask_ip("rule", "show") + ask_ip("-6", "rule", "show"),
        "routes": ask_ip(*routes_of) + ask_ip("-6", *routes_of),
    }
    found = list(differences(links, state, sysfs))
    asked = [link for link in links if "gateway" in link] if asks and not found else []
    told = "{gateway} does not answer {interface} ({address})"
    found += [told.format(**o) for o in asked if not answers(o["address"], o["gateway"])]
    sys.stdout.write("".join(line + "\n" for line in found))


if __name__ == "__main__":
    main()
