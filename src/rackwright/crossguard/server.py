"""The analyzer that the Pulumi engine talks to.

The root component of every stack carries the whole blueprint in its inputs, so ``Analyze`` on it
judges the complete plan before any resource exists, by the same engine as ``rackwright check``.
Other resources are decoded once and shown to the rules that ask for their type.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from concurrent import futures
from pathlib import Path
from typing import TYPE_CHECKING, Any

import grpc
from google.protobuf import empty_pb2
from pulumi.runtime.proto import analyzer_pb2, analyzer_pb2_grpc, plugin_pb2

from rackwright import __version__
from rackwright.crossguard.decode import decode, has_unknown
from rackwright.crossguard.rules import RULES, Resource, ResourceRule

if TYPE_CHECKING:
    from rackwright.policy.engine import Report

PACK = "rackwright"
ROOT_PREFIX = "rackwright:"
SPEC_INPUT = "spec"
"""Input of a root component that holds the blueprint."""

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
    """

    def __init__(
        self, *, rules: Sequence[ResourceRule] = RULES, packs: Sequence[Path] = ()
    ) -> None:
        self._packs = tuple(packs)
        self._rules = tuple(rules)
        self._levels: dict[str, int] = {}
        self._by_type = _index(self._rules)

    def Handshake(self, request: Any, context: Any) -> Any:  # noqa: N802
        """Nothing to agree on."""
        return analyzer_pb2.AnalyzerHandshakeResponse()

    def GetPluginInfo(self, request: Any, context: Any) -> Any:  # noqa: N802
        """The version of the toolkit."""
        return plugin_pb2.PluginInfo(version=__version__)

    def GetAnalyzerInfo(self, request: Any, context: Any) -> Any:  # noqa: N802
        """Every policy of the pack, with the enforcement that holds unless configured."""
        from rackwright.policy.packs import load_packs

        info = analyzer_pb2.AnalyzerInfo(
            name=PACK, displayName="Rackwright", version=__version__, supportsConfig=True
        )
        for policy in load_packs(self._packs):
            info.policies.append(
                analyzer_pb2.PolicyInfo(
                    name=policy.id,
                    displayName=policy.title,
                    description=policy.title,
                    enforcementLevel=_LEVELS[policy.enforcement.value],
                    policy_type=analyzer_pb2.POLICY_TYPE_RESOURCE,
                )
            )
        for rule in self._rules:
            level = analyzer_pb2.MANDATORY if rule.mandatory else analyzer_pb2.ADVISORY
            info.policies.append(
                analyzer_pb2.PolicyInfo(
                    name=rule.id,
                    displayName=rule.title,
                    description=rule.title,
                    enforcementLevel=level,
                    policy_type=analyzer_pb2.POLICY_TYPE_RESOURCE,
                )
            )
        return info

    def Configure(self, request: Any, context: Any) -> Any:  # noqa: N802
        """Takes enforcement levels; parameters belong in the blueprint, where they are reviewed."""
        self._levels = {
            name: config.enforcementLevel for name, config in request.policyConfig.items()
        }
        return empty_pb2.Empty()

    def ConfigureStack(self, request: Any, context: Any) -> Any:  # noqa: N802
        """Nothing depends on the stack's configuration."""
        return analyzer_pb2.AnalyzerStackConfigureResponse()

    def Cancel(self, request: Any, context: Any) -> Any:  # noqa: N802
        """Nothing runs in the background."""
        return empty_pb2.Empty()

    def Remediate(self, request: Any, context: Any) -> Any:  # noqa: N802
        """Nothing: what is deployed is what was reviewed."""
        return analyzer_pb2.RemediateResponse()

    def Analyze(self, request: Any, context: Any) -> Any:  # noqa: N802
        """The findings about one resource, before it is created."""
        response = analyzer_pb2.AnalyzeResponse()
        is_root = request.type.startswith(ROOT_PREFIX) and SPEC_INPUT in request.properties.fields
        rules = self._rules_for(request.type)
        if not is_root and not rules:
            return response
        inputs = decode(request.properties)
        if is_root:
            response.diagnostics.extend(self._judge_blueprint(inputs[SPEC_INPUT], request.urn))
        if rules:
            resource = Resource(
                request.type, request.urn, request.name, inputs, request.options.protect
            )
            response.diagnostics.extend(self._judge_resource(resource, rules))
        return response

    def AnalyzeStack(self, request: Any, context: Any) -> Any:  # noqa: N802
        """Nothing more: every rule has judged the inputs, when it could still prevent harm."""
        return analyzer_pb2.AnalyzeResponse()

    def _rules_for(self, token: str) -> tuple[ResourceRule, ...]:
        return self._by_type.get(token, ()) + self._by_type.get("", ())

    def _judge_blueprint(self, spec: Any, urn: str) -> Iterable[Any]:
        from rackwright.errors import RackwrightError

        if has_unknown(spec):
            yield self._diagnostic(
                "CAT-001", urn, "the blueprint holds values that are not known yet", None
            )
            return
        try:
            report = judge_spec(spec, self._packs)
        except RackwrightError as error:
            yield self._diagnostic("CAT-001", urn, str(error), None)
            return
        from rackwright.policy.api import Outcome

        for result in report.results:
            if result.outcome in {Outcome.FAIL, Outcome.UNKNOWN, Outcome.ERROR}:
                level = _LEVELS[result.enforcement.value]
                if result.outcome is Outcome.ERROR:
                    level = analyzer_pb2.MANDATORY
                yield self._diagnostic(result.policy, urn, describe(result), level)

    def _judge_resource(
        self, resource: Resource, rules: Sequence[ResourceRule]
    ) -> Iterable[Any]:
        for rule in rules:
            level = analyzer_pb2.MANDATORY if rule.mandatory else analyzer_pb2.ADVISORY
            try:
                for verdict in rule.check(resource):
                    yield self._diagnostic(rule.id, resource.urn, verdict.message, level)
            except Exception as error:  # noqa: BLE001 - a broken rule must never pass
                text = f"the rule failed: {type(error).__name__}: {error}"
                yield self._diagnostic(rule.id, resource.urn, text, analyzer_pb2.MANDATORY)

    def _diagnostic(self, policy: str, urn: str, message: str, level: int | None) -> Any:
        effective = self._levels.get(policy, analyzer_pb2.MANDATORY if level is None else level)
        return analyzer_pb2.AnalyzeDiagnostic(
            policyName=policy,
            policyPackName=PACK,
            policyPackVersion=__version__,
            message=message,
            urn=urn,
            enforcementLevel=effective,
        )


def _index(rules: Sequence[ResourceRule]) -> Mapping[str, tuple[ResourceRule, ...]]:
    by_type: dict[str, list[ResourceRule]] = {}
    for rule in rules:
        for token in rule.types or ("",):
            by_type.setdefault(token, []).append(rule)
    return {token: tuple(found) for token, found in by_type.items()}


def judge_spec(spec: Any, packs: Sequence[Path] = ()) -> Report:
    """The report about a blueprint that arrives as plain data.

    Raises:
        RackwrightError: it is not a valid blueprint.
    """
    from rackwright.policy.check import check_data

    return check_data(spec, packs=packs)


def describe(result: Any) -> str:
    """One result as the text that the engine shows."""
    lines = [f"{result.subject.name}: {result.message}"]
    if result.fix:
        lines.append(f"fix: {result.fix}")
    return "\n".join(lines)


def serve(*, rules: Sequence[ResourceRule] = RULES, packs: Sequence[Path] = ()) -> None:
    """Serve until the engine ends this process; the port is the first line on stdout."""
    server = grpc.server(
        futures.ThreadPoolExecutor(max_workers=4),
        options=[
            ("grpc.max_receive_message_length", _LARGEST_MESSAGE),
            ("grpc.max_send_message_length", _LARGEST_MESSAGE),
        ],
    )
    analyzer_pb2_grpc.add_AnalyzerServicer_to_server(Analyzer(rules=rules, packs=packs), server)
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    sys.stdout.write(f"{port}\n")
    sys.stdout.flush()
    server.wait_for_termination()


def main() -> int:
    """Entry point of ``rackwright-analyzer``, an executable policy pack."""
    serve()
    return 0
