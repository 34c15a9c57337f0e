"""OPS-002: driver, kernel module and library versions are compatible."""

from __future__ import annotations

from collections.abc import Iterator

from rackwright.api import (
    FieldPath,
    Finding,
    Measure,
    Missing,
    Plan,
    Policy,
    Severity,
    Subject,
    Suggestion,
    rule,
)
from rackwright.model.software import KernelModules, SoftwareBill
from rackwright.plan.software.needs import (
    BUNDLES,
    CONFLICTS,
    CUDA_NEEDS,
    INSTALLER_NEEDS,
    PLUGIN_NEEDS,
    Bundle,
    Conflict,
    CudaNeeds,
    InstallerNeeds,
    PluginNeeds,
    bundle_of,
    conflict_of,
    oldest_driver,
    oldest_installer,
    plugin_need,
)
from rackwright.plan.software.versions import SiteSoftware, at_least, numbers, upstream


@rule(
    "OPS-002",
    "Driver, kernel module and library versions are compatible",
    Severity.HIGH,
    since="0.2",
    stage="build",
)
class SoftwareMatrix(Policy):
    """Each site's software entry is complete, and its versions are known to work together."""

    plugin_needs: tuple[PluginNeeds, ...] = PLUGIN_NEEDS
    """Needs of aws-ofi-nccl; the newest entry that is not newer than the plugin holds."""
    installer_needs: tuple[InstallerNeeds, ...] = INSTALLER_NEEDS
    """Oldest EFA installer by version of NCCL."""
    bundles: tuple[Bundle, ...] = BUNDLES
    """Libraries that an EFA installer brings; other installers are not compared."""
    cuda_needs: tuple[CudaNeeds, ...] = CUDA_NEEDS
    """Oldest driver by major release of CUDA."""
    conflicts: tuple[Conflict, ...] = CONFLICTS
    """Releases of NCCL that do not work over a series of libfabric."""

    def check(self, plan: Plan) -> Iterator[Measure | Finding]:
        """Yield findings for each site with GPUs, RDMA or Lustre."""
        scheduler = plan.scheduler
        for name, site in plan.software.items():
            if not (site.gpu or site.ofed or site.lustre_client):
                continue
            bill = site.bill
            if bill is None:
                yield Finding(
                    Subject(f"{name} software", site.path),
                    ok=None,
                    message="whether versions fit together",
                    missing=(
                        Missing(
                            f"an entry for '{name}' in 'operations.software'",
                            ("operations", "software"),
                        ),
                    ),
                )
                continue
            yield from _judge_driver(site, bill)
            yield from self._judge_cuda(site, bill)
            yield from _judge_modules(site, bill)
            if site.efa:
                yield from self._judge_nccl(site, bill)
            if scheduler is not None and bill.slurm is not None:
                release = ".".join(scheduler.version.split(".")[:2])
                yield _agree(
                    site, "Slurm", bill.slurm, release, "the scheduler's version",
                    same=numbers(bill.slurm)[:2] == scheduler.release,
                )  # fmt: skip

    def _parameter(self, name: str) -> FieldPath:
        """Return the place at which a blueprint sets a parameter of the policy."""
        return ("policies", self.id, "parameters", name)

    def _judge_cuda(self, site: SiteSoftware, bill: SoftwareBill) -> Iterator[Finding]:
        """Yield the driver that the toolkit needs, where the bill names both."""
        if not site.gpu or bill.cuda is None or bill.driver is None:
            return
        least = oldest_driver(bill.cuda, self.cuda_needs)
        if least is None:
            what = f"an entry for CUDA {bill.cuda} in the parameter 'cuda_needs'"
            missing = (Missing(what, self._parameter("cuda_needs")),)
            message = f"which driver CUDA {bill.cuda} needs"
            yield Finding(_subject(site, "CUDA"), ok=None, message=message, missing=missing)
        else:
            yield _minimum(site, "driver", bill.driver, least, f"CUDA {bill.cuda}")

    def _judge_nccl(self, site: SiteSoftware, bill: SoftwareBill) -> Iterator[Finding]:
        nccl, plugin, libfabric = bill.nccl, bill.ofi_plugin, bill.libfabric
        named = {"nccl": nccl, "ofi_plugin": plugin, "libfabric": libfabric}
        at = _subject(site, "NCCL over EFA")
        if nccl is None or plugin is None or libfabric is None:
            lacking = tuple(
                _field(site, bill, key) for key, value in named.items() if value is None
            )
            yield Finding(at, ok=None, message="whether NCCL works over EFA", missing=lacking)
            return
        need = plugin_need(plugin, self.plugin_needs)
        if need is None:
            yield Finding(
                at,
                ok=None,
                message=f"what aws-ofi-nccl {plugin} needs",
                missing=(
                    Missing(
                        f"an entry for {plugin} in the parameter 'plugin_needs'",
                        self._parameter("plugin_needs"),
                    ),
                ),
            )
        else:
            yield _minimum(site, "NCCL", nccl, need.nccl, f"aws-ofi-nccl {plugin}")
            yield _minimum(site, "libfabric", libfabric, need.libfabric, f"aws-ofi-nccl {plugin}")
        if (conflict := conflict_of(nccl, libfabric, self.conflicts)) is not None:
            yield Finding(
                at,
                ok=False,
                message=f"NCCL {nccl} over libfabric {libfabric}: {conflict.report}",
                fix="install another release of NCCL, or an EFA installer with a newer libfabric",
            )
        yield from self._judge_installer(site, bill, nccl, plugin, libfabric)

    def _judge_installer(
        self, site: SiteSoftware, bill: SoftwareBill, nccl: str, plugin: str, libfabric: str
    ) -> Iterator[Finding]:
        at, installer = _subject(site, "EFA installer"), bill.efa_installer
        if installer is None:
            missing = (_field(site, bill, "efa_installer"),)
            yield Finding(at, ok=None, message="which EFA installer is used", missing=missing)
            return
        if (least := oldest_installer(nccl, self.installer_needs)) is not None:
            yield _minimum(site, "EFA installer", installer, least, f"NCCL {nccl}")
        if (bundle := bundle_of(installer, self.bundles)) is not None:
            brings = f"what EFA installer {installer} brings"
            yield _agree(site, "libfabric", libfabric, bundle.libfabric, brings, field="libfabric")
            yield _agree(site, "aws-ofi-nccl", plugin, bundle.plugin, brings, field="ofi_plugin")


def _judge_driver(site: SiteSoftware, bill: SoftwareBill) -> Iterator[Finding]:
    """Yield the driver, and what must be of exactly its version."""
    if not site.gpu:
        return
    if bill.driver is None:
        at = _subject(site, "GPU driver")
        missing = (_field(site, bill, "driver"),)
        yield Finding(at, ok=None, message="which GPU driver is used", missing=missing)
        return
    for noun, field, needed in (
        ("fabric manager", "fabric_manager", site.nvswitch),
        ("IMEX", "imex", site.imex),
    ):
        version: str | None = getattr(bill, field)
        if version is not None:
            same = upstream(version) == upstream(bill.driver)
            yield _agree(
                site, noun, version, bill.driver, "the driver's version", same=same, field=field
            )
        elif needed:
            yield Finding(
                _subject(site, noun),
                ok=None,
                message=f"whether {noun} is of the driver's version, {bill.driver}",
                missing=(_field(site, bill, field),),
            )


def _judge_modules(site: SiteSoftware, bill: SoftwareBill) -> Iterator[Finding]:
    """Check the modules of the kernel: built for it, and Lustre for the OFED beside it."""
    for noun, field, needed, kernel in (
        ("OFED", "ofed", site.ofed, bill.kernel),
        ("Lustre client", "lustre_client", site.lustre_client, bill.kernel),
        ("Lustre server", "lustre_server", site.lustre_server, bill.server_kernel or bill.kernel),
    ):
        modules: KernelModules | None = getattr(bill, field)
        at = _subject(site, noun)
        if modules is None:
            if needed:
                missing = (_field(site, bill, field),)
                yield Finding(at, ok=None, message=f"which {noun} is used", missing=missing)
            continue
        if modules.kernel is None or kernel is None:
            missing = (_field(site, bill, f"{field}.kernel" if kernel else "kernel"),)
            message = f"whether the {noun} is built for the kernel"
            at = _subject(site, f"kernel of the {noun}")
            yield Finding(at, ok=None, message=message, missing=missing)
        else:
            yield _agree(
                site, f"kernel of the {noun}", modules.kernel, kernel, "the kernel",
                fix=f"build the {noun} for {kernel}",
            )  # fmt: skip
        if field != "ofed" and site.lustre_rdma:
            if modules.ofed is None or bill.ofed is None:
                missing = (_field(site, bill, f"{field}.ofed" if bill.ofed else "ofed"),)
                message = f"whether the {noun} is built against the OFED"
                at = _subject(site, f"OFED of the {noun}")
                yield Finding(at, ok=None, message=message, missing=missing)
            else:
                version = bill.ofed.version
                yield _agree(
                    site, f"OFED of the {noun}", modules.ofed, version, "the OFED",
                    fix=f"build the {noun} against OFED {version}",
                )  # fmt: skip


def _agree(
    site: SiteSoftware,
    noun: str,
    given: str,
    wanted: str,
    what: str,
    *,
    same: bool | None = None,
    fix: str | None = None,
    field: str | None = None,
) -> Finding:
    """Check that a version is the required one.

    ``same`` is given where equal texts are not needed, ``field`` where the bill can only be wrong
    about this version and not about the other.
    """
    ok = given == wanted if same is None else same
    return Finding(
        _subject(site, noun),
        ok=ok,
        message=f"{noun} {given} is {what}" if ok else f"{noun} {given} is not {what}, {wanted}",
        fix=fix or f"install {noun} {wanted}",
        suggest=None if field is None else Suggestion((*site.path, field), wanted),
    )


def _minimum(site: SiteSoftware, noun: str, given: str, least: str, who: str) -> Finding:
    ok = at_least(given, least)
    return Finding(
        _subject(site, f"{noun} for {who.split(maxsplit=1)[0]}"),
        ok=ok,
        message=f"{noun} is {given}; {who} needs {least} or newer",
        fix=f"install {noun} {least} or newer",
    )


def _subject(software: SiteSoftware, noun: str) -> Subject:
    return Subject(f"{software.site} {noun}", software.path)


def _field(site: SiteSoftware, bill: SoftwareBill, field: str) -> Missing:
    words = f"'{field}' of the software entry '{bill.name}'"
    return Missing(words, (*site.path, *field.split(".")))
