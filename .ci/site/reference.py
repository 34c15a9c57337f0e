"""Reference pages in Markdown, from the sources: fields, policies, commands, exit codes, records of the plan."""

from __future__ import annotations

import ast
import contextlib
import importlib
import inspect
import io
import os
import pkgutil
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

from rackwright import api, cli, model
from rackwright.catalog.fault_signals import alert_rules, faults_of_node
from rackwright.catalog.fault_table import builtin_faults
from rackwright.cli import VERBS
from rackwright.exit_codes import ExitCode
from rackwright.model.cluster import Blueprint
from rackwright.plan import records
from rackwright.plan.derivation.schema import with_short_form
from rackwright.policy.api import Enforcement, Policy
from rackwright.policy.authoring.parameters import describe_parameters
from rackwright.policy.packs.loader import documentation, load_packs
from rackwright.policy.policy_sets import RELEASED, is_preview
from rackwright.reading.schema import export_schema

_REFERENCE = "#/definitions/"
_WIDTH = "100"
"""Columns of a terminal, by which help is wrapped the same everywhere."""


SECTIONS: Mapping[str, str] = {
    "intents": "Short form: what a site says instead of derived values",
    "onprem": "Bare-metal sites: halls, rows, racks, node groups",
    "power": "Power: sources, feeds, conductors",
    "cooling": "Cooling: air handlers, loops, plant",
    "fabric": "Fabrics",
    "switching": "Switch configuration",
    "standing": "Existing devices",
    "addresses": "Names and addresses",
    "interconnect": "Lines between sites",
    "storage": "File systems of bare-metal sites",
    "quotas": "Quotas of file systems",
    "security": "Security",
    "provisioning": "Provisioning of hosts",
    "aws": "AWS sites: network, access, limits",
    "aws_instances": "AWS instances: node groups, head and login nodes",
    "aws_storage": "AWS file systems",
    "scheduler": "Scheduler: Slurm",
    "queues": "Partitions and quality of service",
    "scheduler_settings": "Slurm priorities, accounts and sizes",
    "slurm_lines": "Slurm node lines",
    "operations": "Operations: health checks, burn-in, changes",
    "software": "Software versions",
    "tuning": "Host tuning",
    "repair": "Repair and maintenance windows",
    "reliability": "Reliability",
    "workloads": "Training jobs",
    "cost": "Costs and budgets",
    "federation": "Federation, data sets, bursts",
    "users": "Users and groups",
    "facts": "Facts of products",
    "cluster": "Policies and other top-level values",
    "hardware": "Confidence of a fact",
}
"""Sections of the reference in their order: module of the models, and its title."""


def blueprint_pages() -> Iterator[tuple[str, str]]:
    """The page of the top level, and one of each section, by their path in the site."""
    schema = with_short_form(export_schema(Blueprint, title="Blueprint", schema_id="urn:page"))
    sections: dict[str, list[str]] = {}
    for name in sorted(schema["definitions"]):
        sections.setdefault(_section_of(name), []).append(name)
    order = [*SECTIONS, *sorted(set(sections) - set(SECTIONS))]
    titles = {one: SECTIONS.get(one, one.replace("_", " ").capitalize()) for one in order}
    listed = "".join(f"- [{titles[one]}](blueprint/{one}.md)\n" for one in order if one in sections)
    yield (
        "reference/blueprint.md",
        (
            "# Blueprint\n\nEvery field, from the schema that `rackwright schema export` writes. A field without a "
            "default is required, unless a [short blueprint](../short-blueprints.md) derives it.\n\n"
            f"## Top level\n\n{_table(schema, 'blueprint/')}\n## Sections\n\n{listed}"
        ),
    )
    for one in order:
        if one not in sections:
            continue
        parts = [f"# {titles[one]}\n\nPart of the [blueprint](../blueprint.md).\n"]
        for name in sections[one]:
            definition = schema["definitions"][name]
            text = _words(definition.get("markdownDescription", ""))
            body = _table(definition) if "properties" in definition else _values(definition)
            parts.append(f"## {_readable(name)}\n\n{text}\n\n{body}")
        yield f"reference/blueprint/{one}.md", "\n".join(parts)


def _section_of(name: str) -> str:
    """The section of a definition: the module of its model."""
    for module in _model_modules():
        thing = vars(module).get(name)
        if getattr(thing, "__module__", "") == module.__name__:
            return module.__name__.rpartition(".")[2]
    return "cluster"


@cache
def _model_modules() -> tuple[ModuleType, ...]:
    names = (one.name for one in pkgutil.iter_modules(model.__path__, f"{model.__name__}."))
    return tuple(importlib.import_module(name) for name in names)


def _readable(name: str) -> str:
    """The name of a model in words: ``LustreFileSystem`` is ``Lustre file system``."""
    words = re.findall(r"[A-Z]{2,}(?![a-z])|[A-Z][a-z0-9]*|[a-z0-9]+", name)
    shown = [_ACRONYMS.get(word.lower(), word.lower()) for word in words]
    words_shown = " ".join(shown)
    return words_shown[:1].upper() + words_shown[1:]


_ACRONYMS = {
    one.lower(): one
    for one in (
        "AWS", "BMC", "CDU", "CPU", "DNS", "EFA", "EFS", "FSx", "GPU", "IB", "InfiniBand", "Lustre", "NFS", "NVLink",
        "OFED", "PDU", "QOS", "RoCE", "SSH", "Slurm", "TPM", "UPS", "VPC", "Xid",
    )
}  # fmt: skip


def _table(schema: Mapping[str, Any], way: str = "") -> str:
    """The fields of a model; ``way`` leads from the page to those of the sections."""
    required = schema.get("required", ())
    rows = [
        f"| `{name}` | {_type(field, way)} | {_default(name, field, required)} | {_meaning(field)} |\n"
        for name, field in schema["properties"].items()
    ]
    return "| Field | Is | Default | Meaning |\n|---|---|---|---|\n" + "".join(rows)


def _default(name: str, field: Mapping[str, Any], required: Sequence[str]) -> str:
    if name in required:
        return "required"
    return f"`{_cell(repr(field['default']))}`" if field.get("default") not in (None, "") else ""


def _meaning(field: Mapping[str, Any]) -> str:
    return _cell(_words(field.get("markdownDescription", "")))


def _values(schema: Mapping[str, Any]) -> str:
    return f"{_type(schema)}\n"


def _type(schema: Mapping[str, Any], way: str = "") -> str:
    if "$ref" in schema:
        name = schema["$ref"].removeprefix(_REFERENCE)
        words = _readable(name)
        anchor = words.lower().replace(" ", "-")
        return f"[{words}]({way}{_section_of(name)}.md#{anchor})"
    for key in ("allOf", "anyOf", "oneOf"):
        if key in schema:
            kinds = [
                _type(one.get("then", one), way) for one in schema[key] if one.get("type") != "null"
            ]
            return " or ".join(dict.fromkeys(kinds))
    if "enum" in schema:
        return ", ".join(f"`{_cell(str(one))}`" for one in schema["enum"])
    if "const" in schema:
        return f"`{_cell(str(schema['const']))}`"
    if schema.get("type") == "array":
        return f"list of {_type(schema.get('items', {}), way)}"
    if schema.get("type") == "object":
        return f"mapping to {_type(schema.get('additionalProperties') or {}, way)}"
    if "examples" in schema:
        return f"text, as `{_cell(str(schema['examples'][0]))}`"
    names = {"string": "text", "integer": "whole number", "boolean": "`true` or `false`"}
    return names.get(str(schema.get("type")), str(schema.get("type", "anything")))


FAMILIES: Mapping[str, str] = {
    "AWS": "AWS",
    "CAT": "Catalogue",
    "COOL": "Cooling",
    "CST": "Cost",
    "IAC": "Infrastructure as code",
    "NET": "Networks",
    "OPS": "Operations",
    "PERF": "Performance",
    "PWR": "Power",
    "RACK": "Racks and floors",
    "REL": "Reliability",
    "SCH": "Scheduling",
    "SEC": "Security",
    "STO": "Storage",
}
"""Names of the families of rules."""


def policy_pages() -> Iterator[tuple[str, str]]:
    """The page of each policy and one that lists them, by their path in the site."""
    policies = sorted(load_packs(), key=lambda policy: policy.id)
    head = "| Policy | Requires | Severity | Enforcement | Profile | Stage | Since set |\n|---|---|---|---|---|---|---|\n"
    families: dict[str, str] = {}
    for policy in policies:
        family = policy.id.partition("-")[0]
        families[family] = families.get(family, "") + (
            f"| [{policy.id}](policies/{policy.id}.md) | {_cell(policy_title(policy))} | {policy.severity} "
            f"| {policy.enforcement} | {policy.profile} | {policy.stage} | {policy.since} |\n"
        )
    yield (
        "reference/policies.md",
        f"# Policies\n\nThe {len(policies)} built-in rules by family. Teams add [their own](../rules.md) in packs. "
        "A rule blocks from its [profile](../concepts.md#profile) on, and its unknowns block from its "
        "[stage](../concepts.md#stage) on.\n"
        + "".join(
            f"\n## {FAMILIES.get(family, family)} ({family})\n\n{head}{rows}"
            for family, rows in families.items()
        ),
    )
    for policy in policies:
        yield f"reference/policies/{policy.id}.md", _policy_page(policy)


def policy_title(policy: type[Policy]) -> str:
    """What a policy demands, by the first line of its documentation."""
    first = documentation(policy).read_text(encoding="utf-8").partition("\n")[0]
    return first.removeprefix(f"# {policy.id}").lstrip(": ")


def _policy_page(policy: type[Policy]) -> str:
    text = documentation(policy).read_text(encoding="utf-8").rstrip()
    mandatory = policy.enforcement is Enforcement.MANDATORY
    profile = f", from profile {policy.profile} on" if mandatory else ""
    preview = ", a preview before it" if is_preview(policy, RELEASED) else ""
    parameters = "".join(f"- {_angles(line)}\n" for line in describe_parameters(policy))
    return (
        # A rule mentions many things: pages that are about them come first.
        f"---\nsearch:\n  boost: 0.1\n---\n{text}\n\n## Settings\n\nSeverity: {policy.severity}. Enforcement: {policy.enforcement}{profile}. "
        f"Stage: {policy.stage}. Policy set: {policy.since}{preview}.\n\n{parameters}"
    )


def commands_page() -> str:
    """What each command takes, as ``--help`` prints it."""
    texts = ["# Commands\n\nWhat `--help` of each command prints.\n"]
    for verb in VERBS:
        text = command_help(verb)
        texts.append(f"## {verb}\n\n```text\n{text}```\n")
        texts += [
            f"### {verb} {action}\n\n```text\n{command_help(verb, action)}```\n"
            for action in actions(text)
        ]
    return "\n".join(texts)


def command_help(*words: str) -> str:
    """What ``--help`` prints for the command ``words``, in lines that are cut everywhere alike."""
    before, os.environ["COLUMNS"] = os.environ.get("COLUMNS"), _WIDTH
    out = io.StringIO()
    try:
        with contextlib.redirect_stdout(out), contextlib.suppress(SystemExit):
            cli.main([*words, "--help"])
    finally:
        os.environ.pop("COLUMNS")
        if before is not None:
            os.environ["COLUMNS"] = before
    return out.getvalue()


def actions(text: str) -> Sequence[str]:
    """The actions of a command, by the list of them that its help has."""
    found = re.findall(r"^    ([a-z-]+)(?: |$)", text.partition("\n  ACTION\n")[2], re.MULTILINE)
    return tuple(dict.fromkeys(found))


def faults_page() -> str:
    """The table of faults: what each is seen by, and what is done about it."""
    table = builtin_faults()
    watched = {one["fault"]: "health check" for one in faults_of_node(table)}
    alerts = {one["fault"] for one in alert_rules(table)}
    parts = [
        "# Faults\n\nThe built-in table. A team's own stand beside it ([faults and their repair](../repair.md)).\n"
    ]
    for subject in dict.fromkeys(fault.subject for fault in table.faults.values()):
        parts.append(
            f"\n## {subject}\n\n| Fault | Name | Severity | Steps | Watched by | Source |\n|---|---|---|---|---|---|\n"
        )
        for fault in table.faults.values():
            if fault.subject == subject:
                steps = ", ".join(step.value for step in fault.ladder)
                by = ", ".join(
                    filter(
                        None, [watched.get(fault.id), "alert" if fault.id in alerts else "", "loop"]
                    )
                )
                source = "; ".join(one.title for one in table.sources_of(fault))
                parts.append(
                    f"| `{fault.id}` | {_cell(fault.name)} | {fault.severity} | {steps} | {by} | {_cell(source)} |\n"
                )
    return "".join(parts)


def exit_codes_page() -> str:
    """Each exit code with its meaning, from the sources."""
    texts = [
        node.value.value
        for node in ast.walk(ast.parse(inspect.getsource(ExitCode)))
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    ]
    rows = [
        f"| {int(code)} | `{code.name}` | {_cell(str(text))} |\n"
        for code, text in zip(ExitCode, texts[1:], strict=True)
    ]
    return "# Exit codes\n\n| Code | Name | Meaning |\n|---|---|---|\n" + "".join(rows)


def plan_page() -> str:
    """The records that a rule reads, with the meaning of each field."""
    parts = [
        "# Plan\n\nRecords that rules and programs read. A number that is not known is `None`.\n"
    ]
    found = {name: getattr(api, name) for name in api.__all__}
    for module in pkgutil.iter_modules(records.__path__, f"{records.__name__}."):
        found |= vars(importlib.import_module(module.name))
    for name, thing in sorted(found.items()):
        if not inspect.isclass(thing) or not (
            is_dataclass(thing) and thing.__module__.startswith("rackwright.plan")
        ):
            continue
        text = inspect.cleandoc(thing.__doc__ or "")
        summary, _, rest = text.partition("\n\n")
        meanings = dict(_attributes(rest))
        rows = [
            f"| `{one.name}` | `{_cell(str(one.type))}` | {_cell(meanings.get(one.name, ''))} |\n"
            for one in fields(thing)
            if not one.name.startswith("_")
        ]
        table = "| Field | Type | Meaning |\n|---|---|---|\n" + "".join(rows) if rows else ""
        parts.append(f"## {name}\n\n{_angles(_words(summary))}\n\n{table}")
    return "\n".join(parts)


def _attributes(text: str) -> Iterator[tuple[str, str]]:
    """The fields that a docstring describes under ``Attributes:``."""
    section = text.partition("Attributes:\n")[2]
    for match in re.finditer(r"^ {4}(\w+): (.*(?:\n {8}.*)*)", section, re.MULTILINE):
        yield match[1], _words(match[2])


def _words(text: str) -> str:
    return " ".join(text.replace("``", "`").split())


def _cell(text: str) -> str:
    return _angles(text).replace("|", "\\|")


def _angles(text: str) -> str:
    """``text`` with no HTML in it, outside of code."""
    parts = text.split("`")
    parts[::2] = [part.replace("<", "&lt;") for part in parts[::2]]
    return "`".join(parts)


def role_readmes(root: Path) -> Iterator[Path]:
    """The READMEs of roles."""
    yield from sorted((root / "roles").glob("*/README.md"))
