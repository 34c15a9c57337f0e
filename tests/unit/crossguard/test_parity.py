"""The same verdicts on the command line, in a stack's program and in the engine's analyzer."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent import futures
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import grpc
import pytest
import yaml
from google.protobuf.empty_pb2 import Empty
from google.protobuf.struct_pb2 import Struct
from pulumi.runtime.proto import analyzer_pb2, analyzer_pb2_grpc

from first_set import name_first_set
from parity_designs import CHANGED, DESIGNS, FABRICS, REFUSED, place_of
from rackwright.crossguard import server
from rackwright.crossguard.decode import decode
from rackwright.crossguard.server import BLUEPRINT, Analyzer, describe, judge_spec
from rackwright.model.cluster import Blueprint
from rackwright.policy.api import Outcome
from rackwright.policy.check import check_blueprint
from rackwright.policy.engine import Report
from rackwright.policy.exceptions.baseline import created, render_baseline
from rackwright.policy.exceptions.exceptions import read_files
from rackwright.policy.packs.loader import builtin_pack
from rackwright.provision import program
from rackwright.reading.loader import load_tree, validate
from rackwright.render.blueprints import find_template, write_blueprint

ROOT = "rackwright:cluster:Cluster"
QUOTA = "sites: [{name: cloud, limits: {quotas: {L-417A185B: 100}}}]\n"
DATED = """
sites:
  - name: cloud
    node_groups:
      - name: train
        capacity:
          kind: capacity-block
          id: cr-0123456789abcdef0
          ends: 2026-12-01T11:30:00Z
"""
CASES = ("passing", "violating", "dated")
PHYSICS = {
    "RACK-001",
    "RACK-002",
    "RACK-003",
    "PWR-001",
    "PWR-002",
    "PWR-003",
    "COOL-001",
    "NET-001",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made: Path = tmp_path_factory.mktemp("demo")
    write_blueprint(find_template("hybrid-h100"), made, {})
    name_first_set(made / "blueprint.yaml")
    (made / "quota.yaml").write_text(QUOTA)
    (made / "dated.yaml").write_text(DATED)
    return made


@pytest.fixture(params=CASES)
def layers(request: pytest.FixtureRequest, folder: Path) -> tuple[Path, ...]:
    names = {"passing": (), "violating": ("five-per-rack", "quota"), "dated": ("dated",)}
    return tuple(folder / f"{name}.yaml" for name in names[request.param])


@pytest.fixture
def stub() -> Iterator[Any]:
    """The analyzer behind a real channel."""
    serving = grpc.server(futures.ThreadPoolExecutor(max_workers=2))
    analyzer_pb2_grpc.add_AnalyzerServicer_to_server(Analyzer(), serving)
    port = serving.add_insecure_port("127.0.0.1:0")
    serving.start()
    with grpc.insecure_channel(f"127.0.0.1:{port}") as channel:
        yield analyzer_pb2_grpc.AnalyzerStub(channel)
    serving.stop(grace=None)


def read(folder: Path, layers: tuple[Path, ...]) -> Blueprint:
    return validate(load_tree(folder / "blueprint.yaml", layers=layers), Blueprint).value


def wired(blueprint: Blueprint) -> Struct:
    """The inputs of the root component as the engine carries them."""
    made = Struct()
    made.update({"spec": blueprint.model_dump(mode="json")})
    return made


def verdicts(report: Report) -> set[tuple[Any, ...]]:
    return {
        (r.policy, r.enforcement, r.outcome, r.subject.name, r.value, r.limit, r.message)
        for r in report.results
    }


def test_a_blueprint_survives_the_wire(folder: Path, layers: tuple[Path, ...]) -> None:
    blueprint = read(folder, layers)
    assert Blueprint.model_validate(decode(wired(blueprint))["spec"]) == blueprint


def test_all_three_entrances_agree(folder: Path, layers: tuple[Path, ...], stub: Any) -> None:
    path = folder / "blueprint.yaml"
    checked = check_blueprint(path, layers=layers)
    source = program.StackSource(path, layers)
    loaded, _ = program._load(source)
    properties = wired(read(folder, layers))
    assert verdicts(program._judge(loaded, source)) == verdicts(checked)
    plain = judge_spec(decode(properties)["spec"])
    assert verdicts(plain) == verdicts(checked)
    assert len(verdicts(checked)) > 20

    request = analyzer_pb2.AnalyzeRequest(type=ROOT, urn="urn:x", name="x", properties=properties)
    told = {
        (d.policyName, d.enforcementLevel, d.message) for d in stub.Analyze(request).diagnostics
    }
    levels = {"mandatory": analyzer_pb2.MANDATORY, "advisory": analyzer_pb2.ADVISORY}
    assert told == {
        (r.policy, levels[r.enforcement.value], describe(r))
        for r in plain.results  # whose fixes name fields without the lines of files
        if r.outcome in {Outcome.FAIL, Outcome.UNKNOWN}
    }
    blocking = any(level == analyzer_pb2.MANDATORY for _, level, _ in told)
    assert blocking == (checked.exit_code != 0)


@pytest.fixture(scope="module")
def rented(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A layer with a site on AWS, without which a design has no stack."""
    aws = yaml.safe_load((builtin_pack() / "fixtures" / "aws.yaml").read_text("utf-8"))
    path: Path = tmp_path_factory.mktemp("rented") / "aws.yaml"
    path.write_text(yaml.safe_dump({"sites": aws["sites"]}, allow_unicode=True), "utf-8")
    return path


@pytest.mark.parametrize("design", [*DESIGNS, *CHANGED, *FABRICS])
def test_all_three_entrances_agree_on_a_design(
    design: str, rented: Path, stub: Any, tmp_path: Path
) -> None:
    place = place_of(tmp_path, design)
    checked = check_blueprint(place, layers=(rented,))
    source = program.StackSource(place, (rented,))
    loaded, _ = program._load(source)
    assert verdicts(program._judge(loaded, source)) == verdicts(checked)
    properties = wired(loaded.plan.blueprint)
    assert verdicts(judge_spec(decode(properties)["spec"])) == verdicts(checked)
    alone, beside = (
        {verdict for verdict in verdicts(report) if verdict[0] in PHYSICS}
        for report in (check_blueprint(place), checked)
    )
    assert alone == beside, "another site changes nothing"
    assert len(alone) >= 10
    shape = {r.outcome for r in checked.results if r.policy in {"NET-001", "NET-002"}}
    assert design not in FABRICS or design in REFUSED or shape == {Outcome.PASS}

    request = analyzer_pb2.AnalyzeRequest(type=ROOT, urn="urn:x", name="x", properties=properties)
    levels = {d.enforcementLevel for d in stub.Analyze(request).diagnostics}
    assert (analyzer_pb2.MANDATORY in levels) == (checked.exit_code != 0)


@pytest.mark.parametrize("design", REFUSED)
def test_all_three_entrances_refuse_a_design_by_the_same_rules(
    design: str, rented: Path, stub: Any, tmp_path: Path
) -> None:
    place = place_of(tmp_path, design)
    source = program.StackSource(place, (rented,))
    loaded, _ = program._load(source)
    properties = wired(loaded.plan.blueprint)
    request = analyzer_pb2.AnalyzeRequest(type=ROOT, urn="urn:x", name="x", properties=properties)
    checked, plain = (
        check_blueprint(place, layers=(rented,)),
        judge_spec(decode(properties)["spec"]),
    )
    failed = [
        {r.policy for r in report.results if r.outcome is Outcome.FAIL}
        for report in (checked, program._judge(loaded, source), plain)
    ]
    unknown = {(r.policy, describe(r)) for r in plain.results if r.outcome is Outcome.UNKNOWN}
    told = {(d.policyName, d.message) for d in stub.Analyze(request).diagnostics} - unknown
    assert [*failed, {policy for policy, _ in told}] == [failed[0]] * 4
    families = {policy.partition("-")[0] for policy in REFUSED[design]}
    assert {one for one in failed[0] if one.partition("-")[0] in families} == REFUSED[design]
    newer = {result.policy for result in checked.results if result.preview}
    assert REFUSED[design] - newer
    assert REFUSED[design] - newer <= {r.policy for r in checked.results if r.blocks}


@pytest.fixture
def files(folder: Path) -> tuple[Path, Path]:
    """A waiver of the density, and a baseline of everything else that five in a rack violate."""
    path, layer = folder / "blueprint.yaml", folder / "five-per-rack.yaml"
    ends = datetime.now(UTC).date() + timedelta(days=3)
    waivers = folder / "waivers.yaml"
    waivers.write_text(
        "waivers:\n  - {id: W-1, policy: RACK-002, match: {site: sjc1}, up_to: 51 kW, owner: a,\n"
        f"     reason: burn-in of the new nodes, ticket: T-1, expires: {ends}}}\n"
    )
    baseline = folder / "baseline.json"
    waived = check_blueprint(path, layers=(layer,), exceptions=read_files(waivers, None))
    baseline.write_text(render_baseline(created(waived)))
    return waivers, baseline


def test_all_three_entrances_agree_on_what_is_put_up_with(
    folder: Path, files: tuple[Path, Path]
) -> None:
    path, layers = folder / "blueprint.yaml", (folder / "five-per-rack.yaml",)
    exceptions = read_files(*files)
    checked = check_blueprint(path, layers=layers, exceptions=exceptions)
    assert checked.exit_code == 0
    assert checked.count(Outcome.WAIVED) == 1
    assert checked.count(Outcome.FAIL) > 1
    source = program.StackSource(path, layers, waivers=files[0], baseline=files[1])
    loaded, _ = program._load(source)
    assert verdicts(program._judge(loaded, source)) == verdicts(checked)
    properties = wired(read(folder, layers))
    spec = decode(properties)["spec"]
    assert verdicts(judge_spec(spec, (), exceptions)) == verdicts(checked)

    request = analyzer_pb2.AnalyzeRequest(type=ROOT, urn="urn:x", name="x", properties=properties)
    without, with_them = (
        {d.enforcementLevel for d in analyzer.Analyze(request, None).diagnostics}
        for analyzer in (Analyzer(), Analyzer(exceptions=exceptions))
    )
    assert analyzer_pb2.MANDATORY in without
    assert with_them == {analyzer_pb2.ADVISORY}


def test_the_engine_s_environment_names_the_files(
    files: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    waivers, baseline = files
    given = {"RACKWRIGHT_WAIVERS": str(waivers), "RACKWRIGHT_BASELINE": str(baseline)}
    read = server._exceptions(given)
    assert read is not None
    assert read.waivers is not None
    assert read.baseline is not None
    assert read.waivers.sources == (str(waivers),)
    assert read.baseline.sources == (str(baseline),)
    assert server._exceptions({}) is None
    with pytest.raises(SystemExit) as ended:
        server._exceptions({"RACKWRIGHT_WAIVERS": "/nowhere.yaml"})
    assert ended.value.code == 2
    assert "there is no file '/nowhere.yaml'" in capsys.readouterr().err


def test_the_cases_are_what_they_claim(folder: Path) -> None:
    path = folder / "blueprint.yaml"
    assert check_blueprint(path).exit_code == 0
    layers = (folder / "five-per-rack.yaml", folder / "quota.yaml")
    failed = {r.policy for r in check_blueprint(path, layers=layers).results if r.blocks}
    assert "AWS-004" in failed
    assert any(policy.startswith(("PWR", "RACK")) for policy in failed)


UNKNOWN_STRING = "04da6b54-80e4-46f7-96ec-b56ff0331ba9"


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ({"name": UNKNOWN_STRING}, "not known yet"),
        ({"apiVersion": "rackwright/v1", "name": "x"}, "sites"),
        ("text", "<inputs>"),
    ],
)
def test_input_without_a_blueprint_blocks(spec: Any, said: str, stub: Any) -> None:
    properties = Struct()
    properties.update({"spec": spec})
    request = analyzer_pb2.AnalyzeRequest(type=ROOT, urn="urn:x", name="x", properties=properties)
    (found,) = stub.Analyze(request).diagnostics
    assert (found.policyName, found.enforcementLevel) == (BLUEPRINT, analyzer_pb2.MANDATORY)
    assert said in found.message


def configure(stub: Any, **levels: int) -> None:
    """Configure as the engine does: every policy, the named ones changed."""
    info = stub.GetAnalyzerInfo(Empty())
    chosen = {p.name: p.enforcementLevel for p in info.policies} | {
        name.replace("_", "-"): level for name, level in levels.items()
    }
    stub.Configure(
        analyzer_pb2.ConfigureAnalyzerRequest(
            policyConfig={
                name: analyzer_pb2.PolicyConfig(enforcementLevel=level)
                for name, level in chosen.items()
            }
        )
    )


def open_template() -> Any:
    properties = Struct()
    properties.update({"metadataOptions": {"httpTokens": "optional"}})
    token = "aws:ec2/launchTemplate:LaunchTemplate"
    return analyzer_pb2.AnalyzeRequest(type=token, urn="urn:t", name="t", properties=properties)


@pytest.mark.parametrize(
    ("levels", "expected"),
    [
        ({}, [analyzer_pb2.MANDATORY]),
        ({"RES_001": analyzer_pb2.ADVISORY}, [analyzer_pb2.ADVISORY]),
        ({"RES_001": analyzer_pb2.DISABLED}, []),
    ],
)
def test_the_pack_s_configuration_decides(
    levels: dict[str, int], expected: list[int], stub: Any
) -> None:
    configure(stub, **levels)
    assert [d.enforcementLevel for d in stub.Analyze(open_template()).diagnostics] == expected


def test_configuring_with_the_defaults_changes_nothing(folder: Path, stub: Any) -> None:
    properties = wired(read(folder, (folder / "five-per-rack.yaml",)))
    request = analyzer_pb2.AnalyzeRequest(type=ROOT, urn="urn:x", name="x", properties=properties)
    before = stub.Analyze(request)
    configure(stub, blueprint=analyzer_pb2.DISABLED)
    assert stub.Analyze(request) == before
    assert {d.enforcementLevel for d in before.diagnostics} == {
        analyzer_pb2.MANDATORY,
        analyzer_pb2.ADVISORY,
    }
