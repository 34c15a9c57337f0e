#!/usr/bin/env python3
"""Launch and terminate the elastic nodes of Slurm on AWS.

    rackwright-elastic resume HOSTLIST          ResumeProgram
    rackwright-elastic suspend HOSTLIST         SuspendProgram
    rackwright-elastic resume-failed HOSTLIST   ResumeFailProgram
    rackwright-elastic sweep                    run by a timer: complete interrupted work, terminate orphans
    rackwright-elastic check                    ask AWS for everything that a launch needs, without a launch

The client token of a launch stays in the journal until the node is terminated, so a program that is killed and restarted
gets the same instance. Only one program runs at a time. Slurm decides which nodes should run; EC2 knows which do.
"""

from __future__ import annotations

import calendar
import concurrent.futures
import contextlib
import fcntl
import json
import os
import re
import subprocess
import sys
import time
import uuid
from pathlib import Path

CONFIG = "/etc/rackwright/elastic.json"
ELASTIC_TAG, HOST_TAG, GROUP_TAG = "rackwright:elastic", "rackwright:host", "rackwright:node-group"
ALIVE = ("pending", "running", "stopping", "stopped")
NO_CAPACITY = (
    "InsufficientInstanceCapacity", "InsufficientHostCapacity", "InsufficientReservedInstanceCapacity",
    "InsufficientCapacity", "MaxSpotInstanceCountExceeded", "ReservationCapacityExceeded", "SpotMaxPriceTooLow",
    "Unsupported", "VcpuLimitExceeded", "InstanceLimitExceeded",
)  # fmt: skip
"""Errors that the next launch of the same group would get as well (Amazon EC2 API Reference, "Error codes")."""
SUBNET_FULL = "InsufficientFreeAddressesInSubnet"
MARKED = "marked-for-termination"
"""Status of a spot request whose instance EC2 takes back (Amazon EC2 User Guide, "Spot Instance request status")."""
OWN = "rackwright-elastic: "
"""Beginning of the reason of nodes that this program sets down or drains."""
TAKEN_BACK = f"{OWN}AWS takes the spot instance back"
NODE_HEALTH = "node health: "
"""Beginning of the reason with which the role ``health_check`` drains a node."""
BY_SLURM = (
    "Not responding",
    "Node unexpectedly rebooted",
    "reboot timed out",
    "ResumeTimeout reached",
    "Prolog error",
    "Epilog error",
    "Kill task failed",
    "batch job complete failure",
    "gres/gpu count reported lower",
    "Low RealMemory",
)
"""Beginnings of reasons with which Slurm itself sets a node down or drains it."""
CHECKS = {"system": ("the host of AWS", 120), "instance": ("the operating system", 1920)}
"""Status checks of EC2: the part that each of them checks, and the time that it must have failed before the instance is
replaced, in s. EC2 checks every minute (Amazon EC2 User Guide, "Status checks for your instances"). Judgement: one failed
check may be a disturbance, and the operating system fails the check while it reboots, for up to 30 minutes."""
REBOOTING = {"REBOOT_ISSUED", "REBOOT_REQUESTED"}
"""States of a node that ``scontrol reboot`` restarts."""
HOUR_S, WEEK_S = 3600, 7 * 86_400
FIRST_PAUSE_S, LONGEST_PAUSE_S = 60, 1800
"""First and longest pause before a failed node accepts jobs again, in s; doubled with each failure."""
FRESH_S = 300
"""Time for which EC2 may not list a launched instance, in s. Judgement: seconds are usual."""
THREADS = 8
WORDS = 200
"""Maximum length of an AWS error in the reason of a node, in characters."""
MARGIN_S = 300
"""Time that a host may run beyond its job and the timeouts of Slurm, in s: sweeps, AWS calls. Judgement."""
WAITING = ("Resources", "Priority", "None")
"""Reasons of jobs that wait only for hosts. ``ReqNodeNotAvail``, followed by the missing hosts, is another one."""
JOB_FIELDS = (
    "ArrayJobID:32,ArrayTaskID:64,State:32,Partition:1024,NumNodes:32,TimeLimit:32,TimeUsed:32,"
    "EligibleTime:32,SubmitTime:32,Reason:256"
)
"""Fields of a job without free text of its user, which would break the parser."""


class Journal:
    """Journal of launches, failures and replacements by node, terminated and ill instances, and run times of bursts.

    The file is replaced atomically, so a kill leaves the old or the new version.
    """

    def __init__(self, folder):
        self.path = Path(folder) / "journal.json"
        try:
            known = json.loads(self.path.read_text())
        except FileNotFoundError:
            known = {}
        self.launches = known.get("launches", {})
        self.failures = known.get("failures", {})
        self.ended = known.get("ended", {})
        self.runs = known.get("runs", {})
        self.replaced = known.get("replaced", {})
        self.ill = known.get("ill", {})

    def save(self):
        """Write the journal to disk, before any action that relies on it."""
        day = time.time() - 86_400
        self.ended = {one: at for one, at in self.ended.items() if at > day}
        first = month_of(time.time())
        self.runs = {one: run for one, run in self.runs.items() if run.get("to", first) >= first}
        week = time.time() - WEEK_S
        recent = {node: [at for at in times if at > week] for node, times in self.replaced.items()}
        self.replaced = {node: times for node, times in recent.items() if times}
        known = {
            "launches": self.launches,
            "failures": self.failures,
            "ended": self.ended,
            "runs": self.runs,
            "replaced": self.replaced,
            "ill": self.ill,
        }
        part = self.path.with_suffix(".new")
        with part.open("w") as file:
            json.dump(known, file)
            file.flush()
            os.fsync(file.fileno())
        part.replace(self.path)


class Slurm:
    """Commands of Slurm."""

    def __init__(self, scontrol="scontrol"):
        self.scontrol = scontrol

    def hosts(self, hostlist):
        """Return the names of a host list."""
        return self._call("show", "hostnames", hostlist).split() if hostlist else []

    def is_acting(self):
        """Return True if the controller on this host is the active one."""
        host = os.uname().nodename.split(".")[0]
        up = re.findall(r"at (\S+) is UP", self._call("ping"))
        return up[:1] == [host]

    def nodes(self):
        """Return states, address and reason of each node, by name."""
        found = {}
        for line in self._call("--oneliner", "show", "nodes").splitlines():
            name = re.match(r"NodeName=(\S+)", line)
            if name:
                state = re.search(r" State=(\S+)", line)
                address = re.search(r" NodeAddr=(\S+)", line)
                reason = re.search(r" Reason=(.*?) \[", line)
                found[name[1]] = {
                    "states": set(re.split(r"[+*~#!%$@^-]+", state[1] if state else "")),
                    "address": address[1] if address else "",
                    "reason": reason[1] if reason else "",
                }
        return found

    def jobs(self):
        """Return the jobs of the queue, with one entry per task of an array."""
        squeue = str(Path(self.scontrol).with_name("squeue"))
        words = [squeue, "--noheader", "--all", "--array", "--Format", JOB_FIELDS]
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        if done.returncode:
            raise SystemExit(f"{' '.join(words)}: {done.stderr.strip()}")
        return [Job(*line.split(None, 9)) for line in done.stdout.splitlines() if line.strip()]

    def send(self, job, partitions):
        """Change the partitions of a pending job."""
        self._try("update", f"JobId={job.name}", f"Partition={','.join(partitions)}")

    def requeue(self, node):
        """Requeue the jobs of a node; Slurm gives them KillWait to save their state."""
        squeue = str(Path(self.scontrol).with_name("squeue"))
        words = [
            squeue,
            "--noheader",
            "--states=RUNNING,SUSPENDED",
            f"--nodelist={node}",
            "--format=%A",
        ]
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        if done.returncode:
            say(f"{' '.join(words)}: {done.stderr.strip()}")
        for job in done.stdout.split():
            self._try("requeue", job)

    def update(self, names, *words):
        """Change nodes together, or one by one if Slurm rejects that."""
        if not names:
            return
        if self._try("update", f"NodeName={','.join(names)}", *words) and len(names) > 1:
            for name in names:
                self._try("update", f"NodeName={name}", *words)

    def place(self, addresses):
        """Set the addresses and host names of nodes."""
        for name, address in addresses.items():
            self._try("update", f"NodeName={name}", f"NodeAddr={address}", f"NodeHostname={name}")

    def _try(self, *words):
        done = subprocess.run([self.scontrol, *words], capture_output=True, text=True, check=False)
        if done.returncode:
            say(f"scontrol {' '.join(words)}: {(done.stdout + done.stderr).strip()}")
        return done.returncode

    def _call(self, *words):
        done = subprocess.run([self.scontrol, *words], capture_output=True, text=True, check=False)
        if done.returncode:
            raise SystemExit(f"scontrol {' '.join(words)}: {(done.stdout + done.stderr).strip()}")
        return done.stdout


class Job:
    """Job of the queue, or task of an array."""

    def __init__(self, number, task, state, partitions, nodes, limit, used, *rest):
        self.name = f"{number}_{task}" if task.isdigit() else number
        eligible, submitted, reason = rest
        self.state, self.reason = state, reason.strip()
        self.partitions = partitions.split(",")
        self.nodes = int(re.match(r"\d*", nodes)[0] or 1)
        self.limit, self.used = seconds_of(limit), seconds_of(used) or 0
        # Tasks of an array have no eligible time until the scheduler looks at them.
        self.eligible = local_time(eligible) or local_time(submitted)
        # Times of Slurm are whole seconds, in which a script submits many jobs: the job number breaks ties.
        self.age = (self.eligible or float("inf"), int(number), int(task) if task.isdigit() else 0)

    @property
    def waits(self):
        """Return True if the job waits for hosts."""
        for_hosts = self.reason in WAITING or self.reason.startswith("ReqNodeNotAvail")
        return self.state == "PENDING" and for_hosts and self.eligible is not None


class Burst:
    """Burst of a partition: its hosts on AWS, and their cost within a monthly budget.

    A job is admitted if the budget covers it until its time limit. The remaining budget is the budget minus the cost of all
    hosts so far, and minus the possible cost of admitted jobs until their limits.
    """

    def __init__(self, known, slurm, journal):
        self.known, self.slurm, self.journal = known, slurm, journal
        self.into = known["into"]

    def has(self, site, node):
        """Return True if a node is a host of the burst."""
        return site.known["site"] == self.known["site"] and site.group(node) == self.known["group"]

    def note(self, instance):
        """Record the run time of an instance, from its launch on."""
        since = instance["LaunchTime"].timestamp()
        self.journal.runs.setdefault(instance["InstanceId"], {"into": self.into, "from": since})

    def runs(self):
        """Return the run times of its instances."""
        return [one for one in self.journal.runs.values() if one["into"] == self.into]

    def dollars(self, seconds):
        """Return the cost of a host for a time in s, in USD."""
        return seconds / 3600 * self.known["per_hour"]

    def spent(self, now):
        """Return the cost of its hosts in this month, in USD."""
        first = month_of(now)
        ran = ((max(one["from"], first), one.get("to", now)) for one in self.runs())
        return self.dollars(sum(max(0, end - begin) for begin, end in ran))

    def worst(self, job):
        """Return the maximum cost of a job until its time limit, in USD; infinite without a limit."""
        if job.limit is None:
            return float("inf")
        begins = self.known["boot_s"] + self.known["idle_s"] + MARGIN_S
        if job.state not in ("PENDING", "CONFIGURING"):
            begins = 0  # its hosts already run and are counted
        return self.dollars(job.nodes * (max(0, job.limit - job.used) + begins))

    def members(self, jobs):
        """Return the admitted jobs, running and pending."""
        return [one for one in jobs if self.into in one.partitions]

    def room(self, jobs, now):
        """Return the remaining budget, in USD; negative if admitted jobs may exceed it."""
        there = sum("to" not in one for one in self.runs())
        open_ = self.dollars(there * (self.known["idle_s"] + MARGIN_S))
        promised = sum(map(self.worst, self.members(jobs)))
        return self.known["budget"] - self.spent(now) - open_ - promised

    def words(self):
        """Return the reason why no host is launched."""
        return f"the budget of {self.known['budget']:,.0f} USD a month has no room"

    def admit(self, now):
        """Admit jobs that have waited long enough, oldest first, or withdraw jobs if the budget is exceeded."""
        jobs = self.slurm.jobs()
        room, members = self.room(jobs, now), self.members(jobs)
        waiting = [one for one in members if one.state == "PENDING" and len(one.partitions) > 1]
        if room < 0:
            for job in sorted(waiting, key=lambda one: one.age, reverse=True):
                say(f"{job.name} goes back to {self.known['partition']}: {self.words()}")
                self.slurm.send(job, [one for one in job.partitions if one != self.into])
                room += self.worst(job)
                if room >= 0:
                    return
            return
        free = self.known["nodes"] - sum(one.nodes for one in members)
        ready = [
            one
            for one in jobs
            if one.waits
            and self.known["partition"] in one.partitions
            and self.into not in one.partitions
            and now - one.eligible >= self.known["wait_s"]
        ]
        for job in sorted(ready, key=lambda one: one.age):
            cost = self.worst(job)
            if job.nodes > free or cost > room:
                continue
            free, room = free - job.nodes, room - cost
            say(f"{job.name} may go to {self.into}: up to {cost:,.2f} USD")
            self.slurm.send(job, [*job.partitions, self.into])

    def is_spent(self, now):
        """Return True if its hosts would exceed the budget before the next sweep."""
        there = sum("to" not in one for one in self.runs())
        return there and self.spent(now) + self.dollars(there * MARGIN_S) > self.known["budget"]


class Site:
    """Elastic nodes of one site, and the AWS calls for them."""

    def __init__(self, known, client):
        self.known = known
        self.ec2, self._client = client("ec2", known["region"]), client
        self._templates = {}
        self._outputs = None

    def network(self):
        """Return the outputs of the network stack, from its Systems Manager parameter."""
        if self._outputs is None:
            ssm = self._client("ssm", self.known["region"])
            told = ssm.get_parameter(Name=self.known["parameter"])
            self._outputs = json.loads(told["Parameter"]["Value"])
        return self._outputs

    def subnets(self):
        """Return the ids of the subnets for nodes."""
        names = self.known["subnets"]
        return [
            one if one.startswith("subnet-") else self.network()["subnet_ids"][one] for one in names
        ]

    def check(self):
        """Request everything that a launch needs."""
        self.subnets()
        self.instances()
        if self.known.get("replacements"):
            self.impaired()
        for group in self.known["groups"]:
            self._template(group)

    def group(self, node):
        """Return the name of the group of an elastic node; None for any other name."""
        group, _, number = node.rpartition("-")
        bounds = self.known["groups"].get(group)
        if bounds is None or not number.isdigit():
            return None
        same = number == f"{int(number):0{bounds['digits']}d}"
        return group if same and bounds["first"] <= int(number) <= bounds["last"] else None

    def instances(self):
        """Return the instances of nodes that are not terminated, oldest first."""
        filters = [
            {"Name": "tag:rackwright:cluster", "Values": [self.known["cluster"]]},
            {"Name": "tag:rackwright:site", "Values": [self.known["site"]]},
            {"Name": "tag-key", "Values": [ELASTIC_TAG]},
            {"Name": "instance-state-name", "Values": list(ALIVE)},
        ]
        pages = self.ec2.get_paginator("describe_instances").paginate(Filters=filters)
        found = [
            one for page in pages for held in page["Reservations"] for one in held["Instances"]
        ]
        return sorted(found, key=lambda one: (one["LaunchTime"], one["InstanceId"]))

    def taken_back(self):
        """Return the ids of spot instances with a notice of EC2."""
        if not self.known.get("spot"):
            return set()
        filters = [{"Name": "status-code", "Values": [MARKED]}]
        pages = self.ec2.get_paginator("describe_spot_instance_requests").paginate(Filters=filters)
        return {one.get("InstanceId") for page in pages for one in page["SpotInstanceRequests"]}

    def impaired(self):
        """Return the start of each failure of a status check of EC2, by instance and check; None if EC2 gives no time."""
        pages = self.ec2.get_paginator("describe_instance_status")
        found = {}
        for check in CHECKS:
            filters = [{"Name": f"{check}-status.status", "Values": ["impaired"]}]
            for page in pages.paginate(Filters=filters):
                for one in page["InstanceStatuses"]:
                    details = one[f"{check.title()}Status"]["Details"]
                    since = [each["ImpairedSince"] for each in details if "ImpairedSince" in each]
                    start = min(since).timestamp() if since else None
                    found[f"{one['InstanceId']} {check}"] = start
        return found

    def state_reason(self, instance):
        """Return the reason that EC2 gives for the end of an instance; empty without one."""
        try:
            told = self.ec2.describe_instances(InstanceIds=[instance])["Reservations"]
        except Exception:
            return ""
        each = (one for held in told for one in held["Instances"])
        return next((one.get("StateReason", {}).get("Message", "") for one in each), "")

    def launch(self, node, token):
        """Launch the instance of a node in the first subnet with free addresses, and return it."""
        group = self.group(node)
        template = self._template(group)
        asked = {
            "LaunchTemplate": {
                "LaunchTemplateName": self.known["groups"][group]["template"],
                "Version": template["version"],
            },
            "MinCount": 1,
            "MaxCount": 1,
            "TagSpecifications": _tagged(template["data"], node),
        }
        subnets = self.subnets()
        for number, subnet in enumerate(subnets):
            # The template has the interfaces, but no subnet: add it to each of them.
            nics = [_asked(nic, subnet) for nic in template["data"]["NetworkInterfaces"]]
            try:
                made = self.ec2.run_instances(
                    **asked, NetworkInterfaces=nics, ClientToken=f"{token}-{number}"
                )
            except Exception as error:
                if code_of(error) == SUBNET_FULL and number + 1 < len(subnets):
                    continue
                raise
            return made["Instances"][0]
        raise SystemExit(f"{node}: no subnet is known")

    def _template(self, group):
        if group not in self._templates:
            name = self.known["groups"][group]["template"]
            told = self.ec2.describe_launch_template_versions(
                LaunchTemplateName=name, Versions=["$Default"]
            )["LaunchTemplateVersions"][0]
            version = str(told["VersionNumber"])
            self._templates[group] = {"version": version, "data": told["LaunchTemplateData"]}
        return self._templates[group]

    def end(self, instances):
        """Terminate instances together, or one by one if one of them no longer exists."""
        for begin in range(0, len(instances), 100):
            some = instances[begin : begin + 100]
            try:
                self.ec2.terminate_instances(InstanceIds=some)
            except Exception as error:
                if code_of(error) != "InvalidInstanceID.NotFound":
                    raise
                for one in some:
                    with contextlib.suppress(Exception):
                        self.ec2.terminate_instances(InstanceIds=[one])

    def record(self, action, addresses):
        """Write or delete the address records of nodes; a failure is logged and does not stop the program."""
        names = list(addresses.items())
        for begin in range(0, len(names), 400):
            changes = [
                {
                    "Action": action,
                    "ResourceRecordSet": {
                        "Name": f"{node}.{self.known['zone']}",
                        "Type": "A",
                        "TTL": 60,
                        "ResourceRecords": [{"Value": address}],
                    },
                }
                for node, address in names[begin : begin + 400]
            ]
            route53 = self._client("route53", self.known["region"])
            try:
                route53.change_resource_record_sets(
                    HostedZoneId=self.network()["dns_zone_id"], ChangeBatch={"Changes": changes}
                )
            except Exception as error:
                say(f"{action} of {len(changes)} address records: {error}")


class Elastic:
    """Launcher of elastic nodes; the caller holds the lock of the journal."""

    def __init__(self, sites, slurm, journal, bursts=()):
        self.sites, self.slurm, self.journal, self.bursts = sites, slurm, journal, bursts

    def _note(self, site, found):
        """Record the run times of instances that belong to bursts."""
        for node, one in found:
            for burst in self.bursts:
                if burst.has(site, node):
                    burst.note(one)

    def _unaffordable(self, site, nodes):
        """Return the nodes that exceed a budget, with the reason."""
        found = {}
        for burst in self.bursts:
            mine = [node for node in nodes if burst.has(site, node)]
            if mine and burst.room(self.slurm.jobs(), time.time()) < 0:
                found.update(dict.fromkeys(mine, burst.words()))
        return found

    def site(self, node):
        """Return the site of an elastic node; None for any other name."""
        return next((site for site in self.sites if site.group(node)), None)

    def resume(self, nodes):
        """Launch the instances of nodes, adopt existing ones, and set their addresses in Slurm."""
        for site in self.sites:
            mine = [node for node in nodes if site.group(node)]
            there = self._held(site.instances())
            found = {node: there[node] for node in mine if node in there}
            self._note(site, found.items())
            missing = [node for node in mine if node not in found]
            dear = self._unaffordable(site, missing)
            made, failed = self._launch(site, [node for node in missing if node not in dear])
            failed.update(dear)
            found.update(made)
            self._note(site, made.items())
            self._adopt(found)
            self.journal.save()
            addresses = {node: one["PrivateIpAddress"] for node, one in found.items()}
            self.slurm.place(addresses)
            site.record("UPSERT", addresses)
            self._fail(failed)
        for node in nodes:
            if self.site(node) is None:
                say(f"{node} is no elastic node")

    def _adopt(self, found):
        """Record the instance of each node in its launch."""
        for node, one in found.items():
            entry = self.journal.launches.setdefault(node, {"token": new_token()})
            entry.update(instance=one["InstanceId"], at=time.time())
            entry["address"] = one.get("PrivateIpAddress", "")

    def _held(self, instances):
        """Return the instance of each node: the one in the journal, or else the oldest."""
        found = {}
        for one in instances:
            node = tag(one, HOST_TAG)
            if one["InstanceId"] in self.journal.ended or one["State"]["Name"].startswith("stop"):
                continue
            known = self.journal.launches.get(node, {}).get("instance")
            if node not in found or one["InstanceId"] == known:
                found[node] = one
        return found

    def _launch(self, site, nodes):
        """Launch nodes; return the instances by node, and the AWS errors of the others."""
        for node in nodes:
            self.journal.launches.setdefault(node, {"token": new_token()})
        self.journal.save()
        made, failed, out_of = {}, {}, {}

        def launch(node):
            group = site.group(node)
            if group in out_of:
                return None, out_of[group]
            try:
                return self._launched(site, node), None
            except Exception as error:
                words = f"{code_of(error)}: {message_of(error)}"
                if code_of(error) in NO_CAPACITY:
                    out_of[group] = words
                return None, words

        with concurrent.futures.ThreadPoolExecutor(THREADS) as pool:
            for node, (one, words) in zip(nodes, pool.map(launch, nodes)):  # noqa: B905 - Python 3.9
                if one is None:
                    failed[node] = words
                else:
                    made[node] = one
        return made, failed

    def _launched(self, site, node):
        entry = self.journal.launches[node]
        try:
            one = site.launch(node, entry["token"])
        except Exception as error:
            if code_of(error) != "IdempotentParameterMismatch":
                raise
            one = None  # the template has changed since the first try
        gone = one is None or one["InstanceId"] in self.journal.ended
        if gone or one["State"]["Name"] not in ("pending", "running"):
            entry["token"] = new_token()
            self.journal.save()
            one = site.launch(node, entry["token"])
        return one

    def _fail(self, failed):
        """Set nodes down with a reason; the sweep returns them to service after a pause.

        A node that an operator has drained keeps the operator's reason, and does not return by itself.
        """
        nodes = self.slurm.nodes() if failed else {}
        for node, words in failed.items():
            say(f"{node}: {words}")
            if self.journal.launches.get(node, {}).get("instance") is None:
                self.journal.launches.pop(node, None)
            told = nodes.get(node, {"states": set()})
            if "DRAIN" in told["states"] and is_left_alone(told):
                reason = told["reason"]
            else:
                reason = f"{OWN}{words}"[:WORDS].replace('"', "'")
                tries = self.journal.failures.get(node, {}).get("tries", 0) + 1
                self.journal.failures[node] = {"at": time.time(), "tries": tries}
            self.slurm.update([node], "State=DOWN", f"Reason={reason}")
        self.journal.save()

    def suspend(self, nodes):
        """Terminate the instances of nodes."""
        for site in self.sites:
            mine = {node for node in nodes if site.group(node)}
            if not mine:
                continue
            found = [one for one in site.instances() if tag(one, HOST_TAG) in mine]
            ids = [one["InstanceId"] for one in found]
            # EC2 may not list an instance that was just launched.
            known = [self.journal.launches.get(node, {}).get("instance") for node in sorted(mine)]
            ids += [one for one in known if one is not None and one not in ids]
            self._end(site, ids, {tag(o, HOST_TAG): o.get("PrivateIpAddress") for o in found})
            for node in mine:
                self.journal.launches.pop(node, None)
            self.journal.save()

    def _end(self, site, ids, addresses):
        ids = [one for one in ids if one not in self.journal.ended]
        if not ids:
            return
        site.end(ids)
        self.journal.ended.update(dict.fromkeys(ids, time.time()))
        for one in ids:
            if one in self.journal.runs:
                self.journal.runs[one].setdefault("to", time.time())
        self.journal.save()
        site.record("DELETE", {node: one for node, one in addresses.items() if one})

    def resume_failed(self, nodes):
        """Terminate nodes that did not join in time; Slurm has already set them down."""
        words = {}
        for node in nodes:
            known, site = self.journal.launches.get(node, {}).get("instance"), self.site(node)
            told = site.state_reason(known) if site is not None and known else ""
            words[node] = told or "did not join within ResumeTimeout"
        self.suspend(nodes)
        self._fail(words)

    def sweep(self):
        """Reconcile instances with nodes: complete launches, terminate orphans, return failed nodes to service."""
        slurm = self.slurm.nodes()
        for site in self.sites:
            self._sweep(site, {node: slurm[node] for node in slurm if site.group(node)}, slurm)
        for burst in self.bursts:
            if burst.is_spent(time.time()):
                self._stop(burst)
            burst.admit(time.time())
        for site in self.sites:
            if site.known.get("replacements"):
                self._replace(site, time.time())

    def _stop(self, burst):
        """Terminate the hosts of a burst before they exceed its budget; Slurm requeues their jobs."""
        for site in self.sites:
            nodes = [node for node in self._held(site.instances()) if burst.has(site, node)]
            if nodes:
                say(f"ending {len(nodes)} hosts of {burst.into}: {burst.words()}")
                self._fail(dict.fromkeys(nodes, burst.words()))
                self.suspend(nodes)

    def _sweep(self, site, nodes, every):
        there = site.instances()
        held, now = self._held(there), time.time()
        self._note(site, ((tag(one, HOST_TAG), one) for one in there))
        self._leave(site, held, nodes)
        # A program that was killed after a launch has not recorded its instance.
        launches = self.journal.launches
        cut = {node for node, one in launches.items() if "instance" not in one}
        self._adopt({node: held[node] for node in cut & set(held)})
        alive = {one["InstanceId"] for one in there}
        for one, run in self.journal.runs.items():
            mine = any(
                run["into"] == b.into and b.known["site"] == site.known["site"] for b in self.bursts
            )
            if mine and one not in alive and now - run["from"] > FRESH_S:
                run.setdefault("to", now)
        wrong, strangers, moved = [], {}, {}
        for one in there:
            node = tag(one, HOST_TAG)
            second = held.get(node) is not one
            if one["InstanceId"] in self.journal.ended:
                continue
            told = nodes.get(node)
            if told is None:  # a node that is no longer elastic keeps its jobs
                orphan = not busy(every.get(node, {"states": set()})["states"])
            else:
                orphan = second or is_off(told["states"])
            if orphan:
                wrong.append(one["InstanceId"])
                if not second:
                    strangers[node] = one.get("PrivateIpAddress")
                    self.journal.launches.pop(node, None)
            elif told is not None and told["address"] != one["PrivateIpAddress"]:
                moved[node] = one["PrivateIpAddress"]
        if wrong:
            say(f"ending {len(wrong)} instances that no node uses: {', '.join(wrong)}")
        self._end(site, wrong, strangers)
        self.slurm.place(moved)
        site.record("UPSERT", moved)
        lost, wanted = {}, []
        for node, told in nodes.items():
            entry = self.journal.launches.get(node, {})
            fresh = entry.get("instance") and now - entry.get("at", 0) < FRESH_S
            if node in held or fresh or is_off(told["states"]) or "DOWN" in told["states"]:
                continue
            if "POWERING_UP" in told["states"]:
                wanted.append(node)
            elif "UNKNOWN" not in told["states"]:
                known = entry.get("instance")
                why = site.state_reason(known) if known else ""
                lost[node] = f"the instance {known or ''} has ended: {why or 'EC2 gives no reason'}"
        gone = {node: self.journal.launches.pop(node, {}) for node in lost}
        self.journal.ended.update(
            {one["instance"]: now for one in gone.values() if one.get("instance")}
        )
        site.record(
            "DELETE", {node: one["address"] for node, one in gone.items() if one.get("address")}
        )
        self._fail(lost)
        if wanted:
            say(f"launching {len(wanted)} nodes that Slurm waits for: {', '.join(wanted)}")
            self.resume(wanted)
        self._offer(site, nodes, now)

    def _leave(self, site, held, nodes):
        """Drain nodes whose spot instances AWS takes back, requeue their jobs, and undrain nodes that are off."""
        marked = site.taken_back()
        for node, told in nodes.items():
            known = held.get(node, {}).get("InstanceId")
            if known in marked and "DRAIN" not in told["states"]:
                say(f"{node}: AWS takes {known} back")
                self.slurm.update([node], "State=DRAIN", f"Reason={TAKEN_BACK}")
                self.slurm.requeue(node)
        off = [
            node
            for node, told in nodes.items()
            if node not in held
            and "DRAIN" in told["states"]
            and is_off(told["states"])
            and told["reason"] == TAKEN_BACK
        ]
        self.slurm.update(off, "State=RESUME")

    def _replace(self, site, now):
        """Terminate instances that fail a status check of EC2 or the health check, within the budget.

        Jobs on an instance that fails EC2's check are requeued. A node that the health check has drained finishes its
        jobs first. Both accept jobs again with another instance.
        """
        # The sweep has just changed nodes and instances: read them again.
        held = self._held(site.instances())
        nodes = {node: told for node, told in self.slurm.nodes().items() if site.group(node)}
        failing = self._failing(site, held, nodes, now)
        broken, drained, off = {}, [], []
        for node, told in sorted(nodes.items()):
            states, words = told["states"], failing.get(node)
            if words is None and told["reason"].startswith(NODE_HEALTH):
                words = told["reason"] if "DRAIN" in states and not busy(states) else None
            if words is None or REBOOTING & states or is_left_alone(told):
                continue
            if why := self._over_budget(site, node, now):
                say(f"{node} is not replaced, {why}: {words}")
                continue
            if is_off(states):  # its next instance is another one anyway
                off.append(node)
                continue
            self.journal.replaced.setdefault(node, []).append(now)
            if node in failing:
                broken[node] = words
            else:
                say(f"{node} is replaced: {words}")
                drained.append(node)
        self._fail(broken)
        self.suspend([*broken, *drained])
        self.slurm.update(drained, "State=POWER_DOWN_FORCE")
        self.slurm.update([*drained, *off], "State=RESUME")

    def _failing(self, site, held, nodes, now):
        """Return the reason to replace each node whose instance has failed a status check of EC2 for long enough.

        The time begins again with a reboot or launch of the node, since EC2 reports its end with a delay.
        """
        try:
            impaired = site.impaired()
        except Exception as error:
            say(f"status checks of {site.known['site']}: {code_of(error)}: {message_of(error)}")
            return {}
        before, after, failing = self.journal.ill.get(site.known["site"], {}), {}, {}
        for node in set(held) & set(nodes):
            states, known = nodes[node]["states"], held[node]["InstanceId"]
            for check, (part, wait) in CHECKS.items():
                key = f"{known} {check}"
                if key not in impaired:
                    continue
                start = impaired[key]
                if is_off(states) or (REBOOTING | {"POWERING_UP"}) & states:
                    start = now
                after[key] = max(start or 0, before.get(key, start or now))
                if now - after[key] >= wait:
                    failing.setdefault(node, f"EC2's check of {part} of {known} fails")
        self.journal.ill[site.known["site"]] = after
        return failing

    def _over_budget(self, site, node, now):
        """Return the reason that a node is not replaced now; None if the budget allows it."""
        limits, replaced = site.known["replacements"], self.journal.replaced
        if len([at for at in replaced.get(node, ()) if now - at < WEEK_S]) >= limits["per_week"]:
            return f"since it was {limits['per_week']} times within a week"
        recent = [at for name, times in replaced.items() if site.group(name) for at in times]
        if len([at for at in recent if now - at < HOUR_S]) >= limits["per_hour"]:
            return f"since {limits['per_hour']} nodes of the site were within an hour"
        return None

    def _offer(self, site, nodes, now):
        """Return failed nodes to service after their pause."""
        back = []
        for node, told in nodes.items():
            # A program that was killed after it set a node down has not recorded the failure.
            if "DOWN" in told["states"] and told["reason"].startswith(OWN):
                self.journal.failures.setdefault(node, {"at": now, "tries": 1})
        for node, failure in list(self.journal.failures.items()):
            if not site.group(node) or failure["at"] >= now:  # `nodes` is older than the failure
                continue
            told = nodes.get(node)
            if told is None or not {"DOWN", "POWERING_UP"} & told["states"]:
                if told is None or busy(told["states"]):
                    del self.journal.failures[node]  # it runs: the next failure is the first
                continue
            pause = min(FIRST_PAUSE_S * 2 ** (failure["tries"] - 1), LONGEST_PAUSE_S)
            ours = "DOWN" in told["states"] and not is_left_alone(told)
            if ours and now - failure["at"] >= pause:
                back.append(node)
        self.suspend(back)
        self.slurm.update(back, "State=POWER_DOWN_FORCE")
        self.slurm.update(back, "State=RESUME")
        self.journal.save()


def month_of(now):
    """Return the start of the calendar month of a time, in s since 1970; in UTC, as AWS bills."""
    day = time.gmtime(now)
    return calendar.timegm((day.tm_year, day.tm_mon, 1, 0, 0, 0))


def seconds_of(text):
    """Return a duration of Slurm in s; None if it is unlimited or not a duration."""
    found = re.fullmatch(r"(?:(\d+)-)?((?:\d+:)*\d+)", text)
    if not found:
        return None
    parts = [int(one) for one in found[2].split(":")]
    if found[1] is not None:  # days-hours[:minutes[:seconds]]
        parts += [0] * (3 - len(parts))
    elif len(parts) == 1:
        parts.append(0)  # minutes
    seconds = 0
    for one in parts:
        seconds = seconds * 60 + one
    return int(found[1] or 0) * 86_400 + seconds


def local_time(text):
    """Return a time of Slurm, which is local, in s since 1970; None if it is not a time."""
    try:
        return time.mktime(time.strptime(text, "%Y-%m-%dT%H:%M:%S"))
    except ValueError:
        return None


def is_off(states):
    """Return True if Slurm does not need the instance of a node. A power-down that was asked for waits for its jobs."""
    waits = "POWER_DOWN" in states and busy(states)
    off = {"POWERED_DOWN", "POWERING_DOWN", "POWER_DOWN"} & states
    return bool(off) and not waits and not {"POWERING_UP", "POWER_UP"} & states


def is_left_alone(told):
    """Return True if a node is out of service for a reason of an operator, the repair loop or a wave."""
    ours = told["reason"].startswith((OWN, NODE_HEALTH, *BY_SLURM))
    return bool({"DRAIN", "DOWN"} & told["states"]) and not ours


def busy(states):
    """Return True if a node has jobs."""
    return bool({"ALLOCATED", "MIXED", "COMPLETING"} & states)


def tag(instance, key):
    """Return the value of a tag of an instance; empty without the tag."""
    return next((one["Value"] for one in instance.get("Tags", ()) if one["Key"] == key), "")


def code_of(error):
    """Return the code of an AWS error, or else the name of its class."""
    told = getattr(error, "response", None) or {}
    return told.get("Error", {}).get("Code") or type(error).__name__


def message_of(error):
    """Return the message of an AWS error."""
    told = getattr(error, "response", None) or {}
    return told.get("Error", {}).get("Message") or str(error)


def new_token():
    """Return a new client token, by which EC2 recognises a repeated launch."""
    return uuid.uuid4().hex


def _tagged(data, node):
    """Return the tags of the template and of the node together, because tags of a launch replace those of the template."""
    kept = [one for one in data.get("TagSpecifications", ()) if one["ResourceType"] != "instance"]
    own = [one for one in data.get("TagSpecifications", ()) if one["ResourceType"] == "instance"]
    tags = {tag["Key"]: tag["Value"] for one in own for tag in one["Tags"]}
    tags.update({HOST_TAG: node, ELASTIC_TAG: "true"})
    listed = [{"Key": key, "Value": value} for key, value in sorted(tags.items())]
    return [*kept, {"ResourceType": "instance", "Tags": listed}]


def _asked(nic, subnet):
    """Return an interface of a template with its subnet, for a launch."""
    return {**nic, "SubnetId": subnet}


def say(text):
    """Write a line to the system journal."""
    print(text, file=sys.stderr, flush=True)


def make_client():
    """Return a function that creates AWS clients, which wait longer with each throttled request."""
    import boto3
    from botocore.config import Config

    retries = Config(retries={"mode": "adaptive", "max_attempts": 12})
    made = {}

    def client(service, region):
        if (service, region) not in made:
            made[service, region] = boto3.client(service, region_name=region, config=retries)
        return made[service, region]

    return client


def main(words):
    """Run one of the programs; return its exit code."""
    jobs = ("resume", "suspend", "resume-failed", "sweep", "check")
    named = Path(words[0]).name.replace(
        "rackwright-", ""
    )  # Slurm passes no arguments of its own: the name of the link selects the job
    job, hosts = (named, words[1:]) if named in jobs else (words[1], words[2:])
    if job not in jobs:
        raise SystemExit(f"'{job}' is none of {', '.join(jobs)}")
    with open(os.environ.get("RACKWRIGHT_ELASTIC", CONFIG)) as file:
        config = json.load(file)
    slurm, folder = Slurm(config.get("scontrol", "scontrol")), Path(config["folder"])
    nodes = slurm.hosts(",".join(hosts))
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        client = make_client()
        sites = [Site(known, client) for known in config["sites"]]
        journal = Journal(folder)
        bursts = [Burst(known, slurm, journal) for known in config.get("bursts", ())]
        elastic = Elastic(sites, slurm, journal, bursts)
        if job == "sweep":
            if slurm.is_acting():
                elastic.sweep()
        elif job == "check":
            for site in sites:
                site.check()
        else:
            {
                "resume": elastic.resume,
                "suspend": elastic.suspend,
                "resume-failed": elastic.resume_failed,
            }[job](nodes)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
