"""What is left of a small module that is laid out like Terraform's AWS provider."""

from __future__ import annotations

from pathlib import Path

import pytest

from rackwright.errors import ExternalToolError
from rackwright.provision.tools import provider_source
from rackwright.provision.tools.provider_source import MODULE, SERVICES, copy_cut

SDK = "github.com/aws/aws-sdk-go-v2/service"
PACKAGES = f"""package sdkv2
import (
	"{MODULE}/internal/service/appmesh"
	"{MODULE}/internal/service/ec2"
)
func servicePackages() {{
		appmesh.ServicePackage(ctx),
		ec2.ServicePackage(ctx),
}}
"""
CLIENTS = f"""package conns
import (
	"{SDK}/appmesh"
	"{SDK}/ec2"
	elbv2 "{SDK}/elasticloadbalancingv2"
	"{SDK}/organizations"
)

func (c *AWSClient) AppMeshClient(ctx context.Context) *appmesh.Client {{
	return one
}}

func (c *AWSClient) EC2Client(ctx context.Context) *ec2.Client {{
	return one
}}

func (c *AWSClient) ELBV2Client(ctx context.Context) *elbv2.Client {{
	return one
}}

func (c *AWSClient) OrganizationsClient(ctx context.Context) *organizations.Client {{
	return one
}}
"""
SDK_OF = {
    "elb": "elasticloadbalancing",
    "elbv2": "elasticloadbalancingv2",
    "logs": "cloudwatchlogs",
}
"""Services whose SDK has another name than the provider has for them."""
FILES = {
    "go.mod": "",
    "main.go": "",
    "names/names.go": "",
    "version/version.go": "",
    "internal/acctest/acctest.go": "x.AppMeshClient(ctx)",
    "internal/conns/awsclient_gen.go": CLIENTS,
    "internal/conns/conns.go": "",
    "internal/conns/conns_test.go": "",
    "internal/provider/sdkv2/service_packages_gen.go": PACKAGES,
    "internal/service/appmesh/mesh.go": "x.AppMeshClient(ctx)",
    "internal/service/appmesh/smarterr.hcl": "",
    "internal/service/ec2/vpc.go": f'import "{MODULE}/internal/service/organizations"\n'
    "x.EC2Client(ctx); x.ELBV2Client(ctx)",
    "internal/service/ec2/testdata/vpc.tf": "",
    "internal/service/ec2/vpc_test.go": f'import "{MODULE}/internal/service/appmesh"',
    "internal/service/organizations/find.go": "",
    "internal/service/smarterr.hcl": "",
}


@pytest.fixture
def source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr("rackwright.provision.tools.provider_source.SERVICES", {"ec2"})
    for name, text in FILES.items():
        path = tmp_path / "source" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(0o444)
    return tmp_path / "source"


def test_services_that_are_not_used_are_left_out(source: Path, tmp_path: Path) -> None:
    target = tmp_path / "target"
    copy_cut(source, target)

    assert {str(p.relative_to(target)) for p in target.rglob("*") if p.is_file()} == {
        "names/names.go",
        "version/version.go",
        "internal/conns/awsclient_gen.go",
        "internal/conns/conns.go",
        "internal/provider/sdkv2/service_packages_gen.go",
        "internal/service/appmesh/smarterr.hcl",
        "internal/service/ec2/vpc.go",
        "internal/service/organizations/find.go",
        "internal/service/smarterr.hcl",
    }
    packages = (target / "internal/provider/sdkv2/service_packages_gen.go").read_text()
    assert "appmesh" not in packages
    assert packages.count("ec2") == 2
    clients = (target / "internal/conns/awsclient_gen.go").read_text()
    assert [name in clients for name in ("appmesh", "ec2", "elbv2", "organizations")] == [
        False,
        True,
        True,
        False,
    ]
    assert clients.count("\nfunc ") == 2


def test_other_sources_than_the_pinned_ones_are_refused(source: Path, tmp_path: Path) -> None:
    packages = source / "internal/provider/sdkv2/service_packages_gen.go"
    packages.chmod(0o644)
    packages.write_text("package sdkv2\n")
    with pytest.raises(ExternalToolError, match="not those that are pinned"):
        copy_cut(source, tmp_path / "target")


@pytest.mark.parametrize("service", sorted(SERVICES - {"meta"}))
def test_the_sdk_of_each_service_is_pinned(service: str) -> None:
    """One without built nothing: `missing go.sum entry`."""
    pins = Path(provider_source.__file__).parents[1] / "gotools/aws-provider"
    name = f"{SDK}/{SDK_OF.get(service, service)} v"
    wanted, sums = ((pins / file).read_text() for file in ("go.mod", "go.sum"))
    assert wanted.count(name) == 1
    assert sums.count(name) == 2
