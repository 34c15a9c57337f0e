"""The analyzer that the Pulumi engine talks to.

The root component of every stack carries the whole blueprint in its inputs, so ``Analyze`` on it
judges the complete plan before any resource exists, by the same engine as ``rackwright check``.
Other resources are decoded once and shown to the rules that ask for their type.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from concurrent import futures
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import grpc
from google.protobuf import empty_pb2
from pulumi.runtime.proto import analyzer_pb2, analyzer_pb2_grpc, plugin_pb2

from rackwright import __version__
from rackwright.crossguard.decode import decode, has_unknown
from rackwright.crossguard.groups import SecurityGroups
from rackwright.crossguard.rules import RULES, TEMPLATES, DeclaredResource, ResourceRule
from rackwright.harmless import harmless_diagnostic
from rackwright.streams import guard

if TYPE_CHECKING:
    from rackwright.catalog.loader import Catalogue
    from rackwright.policy.engine import Report
    from rackwright.policy.exceptions.exceptions import PolicyExceptions

Level: TypeAlias = "analyzer_pb2.EnforcementLevel.ValueType"

PACK = "rackwright"
ROOT_PREFIX = "rackwright:"
SPEC_INPUT = "spec"
"""Input of a root component that holds the blueprint."""

BLUEPRINT = "blueprint"
"""Name under which an invalid or incomplete blueprint is reported; no setting lowers it."""

_LARGEST_MESSAGE = 400 * 1024 * 1024
_LEVELS = {
    "advisory": analyzer_pb2.ADVISORY,
    "mandatory": analyzer_pb2.MANDATORY,
    "disabled": analyzer_pb2.DISABLED,
}


class Analyzer(analyzer_pb2_grpc.AnalyzerServicer):
    """Answers the engine.

    Args:
        rules: rules over single resources.
        packs: folders of further blueprint policies.
        exceptions: the waivers and the baseline that hold; None judges without.
    """

    def __init__(
        self,
        *,
        rules: Sequence[ResourceRule] = RULES,
        packs: Sequence[Path] = (),
        exceptions: PolicyExceptions | None = None,
        catalogue: Catalogue | None = None,
    ) -> None:
        self._packs = tuple(packs)
        self._catalogue = catalogue
        self._exceptions = exceptions
        self._rules = tuple(rules)
        self._chosen: dict[str, Level] = {}
        self._by_type = _index(self._rules)
        self._has_templates = False
        self._violating: set[tuple[str, str]] = set()
        self._inputs: dict[str, dict[str, Any]] = {}

    def Handshake(self, request: Any, context: Any) -> Any:  # noqa: N802
        """Accept the handshake."""
        return analyzer_pb2.AnalyzerHandshakeResponse()

    def GetPluginInfo(self, request: Any, context: Any) -> Any:  # noqa: N802
        """Return the version of the toolkit."""
        return plugin_pb2.PluginInfo(version=__version__)

    def GetAnalyzerInfo(self, request: Any, context: Any) -> Any:  # noqa: N802
        """Return every policy of the pack, with the enforcement that holds unless configured."""
        from rackwright.policy.packs.process import judging_rules

        info = analyzer_pb2.AnalyzerInfo(
            name=PACK, displayName="Rackwright", version=__version__, supportsConfig=True
        )
        titles = {BLUEPRINT: "The blueprint is valid, and known before anything is created"}
        titles |= {policy.id: policy.title for policy in judging_rules(self._packs)}
        titles |= {rule.id: rule.title for rule in self._rules}
        levels = self._defaults()
        info.policies.extend(
            analyzer_pb2.PolicyInfo(
                name=name,
                displayName=title,
                description=title,
                enforcementLevel=levels[name],
                policy_type=analyzer_pb2.POLICY_TYPE_RESOURCE,
            )
            for name, title in titles.items()
        )
        return info

    def Configure(self, request: Any, context: Any) -> Any:  # noqa: N802
        """Take enforcement levels; parameters belong in the blueprint, where they are reviewed.

        The engine names every policy; only levels that differ from the pack's own are a choice.
        """
        defaults = self._defaults()
        self._chosen = {}
        for name, config in request.policyConfig.items():
            if name == BLUEPRINT or config.enforcementLevel == defaults.get(name):
                continue
            self._chosen[name] = config.enforcementLevel
        return empty_pb2.Empty()

    def ConfigureStack(self, request: Any, context: Any) -> Any:  # noqa: N802
        """Accept any configuration of the stack."""
        return analyzer_pb2.AnalyzerStackConfigureResponse()

    def Cancel(self, request: Any, context: Any) -> Any:  # noqa: N802
        """Cancel nothing: no work runs in the background."""
        return empty_pb2.Empty()

    def Remediate(self, request: Any, context: Any) -> Any:  # noqa: N802
        """Return no remediation: what is deployed is what was reviewed."""
        return analyzer_pb2.RemediateResponse()

    def Analyze(self, request: Any, context: Any) -> Any:  # noqa: N802
        """Return the findings about one resource, before it is created."""
        response = analyzer_pb2.AnalyzeResponse()
        is_root = request.type.startswith(ROOT_PREFIX) and SPEC_INPUT in request.properties.fields
        rules = self._rules_for(request.type)
        if not is_root and not rules:
            return response
        inputs = decode(request.properties)
        if is_root:
            response.diagnostics.extend(self._judge_blueprint(inputs[SPEC_INPUT], request.urn))
        if rules:
            resource = DeclaredResource(
                request.type,
                request.urn,
                request.name,
                inputs,
                request.options.protect,
                has_templates=self._has_templates,
            )
            if any(rule.check_together for rule in rules):
                self._inputs[request.urn] = inputs
            # The engine sends a resource after those that it depends on.
            self._has_templates |= request.type in TEMPLATES
            response.diagnostics.extend(self._judge_resource(resource, rules))
        return response

    def AnalyzeStack(self, request: Any, context: Any) -> Any:  # noqa: N802
        """Return the findings about several resources together, which a preview has before any is created."""
        response = analyzer_pb2.AnalyzeResponse()
        types = {one for rule in self._rules if rule.check_together for one in rule.types}
        groups = SecurityGroups(request.resources)
        declared = [self._declared(one, groups) for one in request.resources if one.type in types]
        for rule in self._rules:
            level = self._effective(rule.id, _level(rule))
            if rule.check_together is None or level == analyzer_pb2.DISABLED:
                continue
            resources = [
                one
                for one in declared
                if one.type in rule.types and (rule.id, one.urn) not in self._violating
            ]
            try:
                for resource, verdict in rule.check_together(resources):
                    response.diagnostics.append(
                        self._diagnostic(rule.id, resource.urn, verdict.message, level)
                    )
            except Exception as error:  # noqa: BLE001 - a broken rule must never pass
                text = f"the rule failed: {type(error).__name__}: {error}"
                mandatory = analyzer_pb2.MANDATORY
                response.diagnostics.append(self._diagnostic(rule.id, "", text, mandatory))
        return response

    def _declared(self, resource: Any, groups: SecurityGroups) -> DeclaredResource:
        """Return a resource of ``AnalyzeStack`` as its program declares it, with its security group."""
        # Outputs of a group may still have rules that AWS had before this update.
        inputs = self._inputs.get(resource.urn)
        if inputs is None:
            inputs = decode(resource.properties)
        return DeclaredResource(
            resource.type,
            resource.urn,
            resource.name,
            inputs,
            group=groups.group_of(resource, inputs),
        )

    def _defaults(self) -> dict[str, Level]:
        """Return the enforcement of every policy as the pack has it."""
        from rackwright.policy.packs.process import judging_rules

        levels = {p.id: _LEVELS[p.enforcement.value] for p in judging_rules(self._packs)}
        return {
            BLUEPRINT: analyzer_pb2.MANDATORY,
            **levels,
            **{rule.id: _level(rule) for rule in self._rules},
        }

    def _rules_for(self, token: str) -> tuple[ResourceRule, ...]:
        return self._by_type.get(token, ()) + self._by_type.get("", ())

    def _judge_blueprint(self, spec: Any, urn: str) -> Iterable[Any]:
        from rackwright.errors import RackwrightError
        from rackwright.policy.api import Outcome

        if has_unknown(spec):
            text = "the blueprint holds values that are not known yet"
            yield self._diagnostic(BLUEPRINT, urn, text, analyzer_pb2.MANDATORY)
            return
        try:
            report = judge_spec(spec, self._packs, self._exceptions, self._catalogue)
        except RackwrightError as error:
            yield self._diagnostic(BLUEPRINT, urn, str(error), analyzer_pb2.MANDATORY)
            return
        except Exception as error:  # noqa: BLE001 - a defect of ours must never pass
            text = f"the blueprint cannot be checked: {type(error).__name__}: {error}"
            yield self._diagnostic(BLUEPRINT, urn, text, analyzer_pb2.MANDATORY)
            return
        for result in report.results:
            if result.outcome is Outcome.ERROR:
                text = describe(result)
                yield self._diagnostic(result.policy, urn, text, analyzer_pb2.MANDATORY)
            elif result.outcome in {Outcome.FAIL, Outcome.UNKNOWN}:
                level = self._effective(result.policy, _LEVELS[result.enforcement.value])
                tolerated = result.baseline_state and result.baseline_state.tolerated
                if (tolerated or result.later) and level == analyzer_pb2.MANDATORY:
                    level = analyzer_pb2.ADVISORY
                if level != analyzer_pb2.DISABLED:
                    yield self._diagnostic(result.policy, urn, describe(result), level)

    def _judge_resource(
        self, resource: DeclaredResource, rules: Sequence[ResourceRule]
    ) -> Iterable[Any]:
        for rule in rules:
            level = self._effective(rule.id, _level(rule))
            if level == analyzer_pb2.DISABLED:
                continue
            try:
                for verdict in rule.check(resource):
                    if verdict.outcome == "fail":
                        self._violating.add((rule.id, resource.urn))
                    told = analyzer_pb2.ADVISORY if verdict.advice else level
                    yield self._diagnostic(rule.id, resource.urn, verdict.message, told)
            except Exception as error:  # noqa: BLE001 - a broken rule must never pass
                text = f"the rule failed: {type(error).__name__}: {error}"
                yield self._diagnostic(rule.id, resource.urn, text, analyzer_pb2.MANDATORY)

    def _effective(self, policy: str, level: Level) -> Level:
        """Return the level of one finding: what the pack's configuration chose, else its own."""
        return self._chosen.get(policy, level)

    def _diagnostic(self, policy: str, urn: str, message: str, level: Level) -> Any:
        return analyzer_pb2.AnalyzeDiagnostic(
            policyName=policy,
            policyPackName=PACK,
            policyPackVersion=__version__,
            message=harmless_diagnostic(message),
            urn=urn,
            enforcementLevel=level,
        )


def _level(rule: ResourceRule) -> Level:
    return analyzer_pb2.MANDATORY if rule.mandatory else analyzer_pb2.ADVISORY


def _index(rules: Sequence[ResourceRule]) -> Mapping[str, tuple[ResourceRule, ...]]:
    by_type: dict[str, list[ResourceRule]] = {}
    for rule in rules:
        for token in rule.types or ("",):
            by_type.setdefault(token, []).append(rule)
    return {token: tuple(found) for token, found in by_type.items()}


def judge_spec(
    spec: Any,
    packs: Sequence[Path] = (),
    exceptions: PolicyExceptions | None = None,
    catalogue: Catalogue | None = None,
) -> Report:
    """Return the report about a blueprint that arrives as plain data.

    Raises:
        RackwrightError: it is not a valid blueprint, or too early to be deployed.
    """
    from rackwright.plan.load import load_data
    from rackwright.policy.check import check_plan
    from rackwright.policy.gate import refuse_early_stage

    loaded = load_data(spec, catalogue=catalogue)
    refuse_early_stage(loaded.plan)
    return check_plan(loaded, packs=packs, exceptions=exceptions)


def describe(result: Any) -> str:
    """Return one result as the text that the engine shows."""
    lines = [f"{result.subject.name}: {result.message}"]
    if result.fix:
        lines.append(f"fix: {result.fix}")
    return "\n".join(lines)


def serve(*, rules: Sequence[ResourceRule] = RULES, packs: Sequence[Path] = ()) -> None:
    """Serve until the engine ends this process; the port is the first line on stdout.

    ``RACKWRIGHT_WAIVERS`` and ``RACKWRIGHT_BASELINE`` name the files that hold, by absolute paths;
    without them nothing is waived. ``RACKWRIGHT_CONFIG`` names the team's ``rackwright.yaml``, whose
    packs judge as well and whose products and prices are known. They come from who runs the engine, never from the program.
    """
    guard()
    exceptions = _exceptions(os.environ)
    packs = (*packs, *_team_packs(os.environ))
    server = grpc.server(
        futures.ThreadPoolExecutor(max_workers=4),
        options=[
            ("grpc.max_receive_message_length", _LARGEST_MESSAGE),
            ("grpc.max_send_message_length", _LARGEST_MESSAGE),
        ],
    )
    analyzer = Analyzer(
        rules=rules,
        packs=packs,
        exceptions=exceptions,
        catalogue=_team_catalogue(os.environ),
    )
    analyzer_pb2_grpc.add_AnalyzerServicer_to_server(analyzer, server)
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    sys.stdout.write(f"{port}\n")
    sys.stdout.flush()
    try:
        server.wait_for_termination()
    except KeyboardInterrupt:
        server.stop(grace=None)


def _exceptions(environment: Mapping[str, str]) -> PolicyExceptions | None:
    """Read the exceptions that the environment names; an unreadable file ends the process."""
    from rackwright.errors import RackwrightError
    from rackwright.policy.exceptions.exceptions import read_files

    names = (environment.get("RACKWRIGHT_WAIVERS"), environment.get("RACKWRIGHT_BASELINE"))
    waivers, baseline = (Path(name) if name else None for name in names)
    try:
        return read_files(waivers, baseline)
    except RackwrightError as error:
        sys.stderr.write(f"error: {error}\n")
        sys.exit(int(error.exit_code))


def _team_packs(environment: Mapping[str, str]) -> tuple[Path, ...]:
    """Return the packs of the configuration that is named; one that is not valid ends the process."""
    from rackwright.errors import RackwrightError
    from rackwright.policy.packs.team_config import team_packs

    name = environment.get("RACKWRIGHT_CONFIG")
    try:
        return team_packs(Path(name)) if name else ()
    except RackwrightError as error:
        sys.stderr.write(f"error: {error}\n")
        sys.exit(int(error.exit_code))


def _team_catalogue(environment: Mapping[str, str]) -> Catalogue | None:
    """Return the products of the configuration that is named; one that is not valid ends the process."""
    from rackwright.catalog.team import team_catalogue
    from rackwright.errors import RackwrightError

    name = environment.get("RACKWRIGHT_CONFIG")
    try:
        return team_catalogue(Path(name)) if name else None
    except RackwrightError as error:
        sys.stderr.write(f"error: {error}\n")
        sys.exit(int(error.exit_code))


def main() -> int:
    """Run ``rackwright-analyzer``, an executable policy pack."""
    serve()
    return 0
