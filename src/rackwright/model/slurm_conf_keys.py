"""Keys of ``slurm.conf``, by how the blueprint treats them."""

from __future__ import annotations

GENERATED_KEYS = frozenset(
    {
        "AccountingStorageBackupHost", "AccountingStorageEnforce", "AccountingStorageHost",
        "AccountingStorageType", "AuthType", "ClusterName", "CredType",
        "Epilog", "GresTypes", "HealthCheckInterval", "HealthCheckNodeState",
        "HealthCheckProgram", "JobAcctGatherType", "JobRequeue", "MpiDefault",
        "PreemptExemptTime", "PreemptMode", "PreemptType", "PriorityType", "ProctrackType",
        "Prolog", "ReturnToService", "SelectType", "SelectTypeParameters",
        "SlurmUser", "SlurmctldHost", "SlurmctldLogFile", "SlurmctldPidFile", "SlurmdLogFile",
        "SlurmdPidFile", "SlurmdSpoolDir", "StateSaveLocation", "TaskPlugin", "TopologyPlugin",
    }
)  # fmt: skip
"""Keys of ``slurm.conf`` that are generated from the other fields."""

LISTS = frozenset(
    {"AccountingStorageTRES", "PrivateData", "PrologFlags", "SchedulerParameters",
     "SlurmctldParameters"}
)  # fmt: skip
"""Keys whose value is a list, which is generated and to which ``extra`` adds."""

FIELD_OF = {
    "MaxArraySize": "tuning/max_array_size",
    "MaxJobCount": "tuning/max_jobs",
    "MessageTimeout": "tuning/message_timeout",
    "PriorityDecayHalfLife": "priority",
    "PriorityFavorSmall": "priority",
    "PriorityMaxAge": "priority",
    "PriorityUsageResetPeriod": "priority",
    "PriorityWeightAge": "priority",
    "PriorityWeightFairshare": "priority",
    "PriorityWeightJobSize": "priority",
    "PriorityWeightPartition": "priority",
    "PriorityWeightQOS": "priority",
    "RebootProgram": "reboot_program",
    "ResumeTimeout": "tuning/reboot_timeout",
    "SrunPortRange": "tuning/srun_ports",
    "TreeWidth": "tuning/tree_width",
    "UnkillableStepTimeout": "tuning/unkillable_step_timeout",
}
"""Keys that ``extra`` may give in place of the field that they belong to, and that field."""

BACKFILL = {"bf_resolution": "backfill_resolution", "bf_window": "backfill_window"}
"""Options of ``SchedulerParameters``, likewise, and the fields of ``tuning``."""

STRUCTURE = frozenset({"DownNodes", "FrontendName", "Include", "NodeName", "NodeSet",
                       "PartitionName"})  # fmt: skip
"""Lines of ``slurm.conf`` that describe the cluster; the blueprint does that."""

NUMBERS = {
    name: bits
    for bits, names in {
        16: """
    AccountingStoragePort AcctGatherNodeFreq BatchStartTimeout CompleteWait EioTimeout
    EpilogTimeout ExtSensorsFreq FairShareDampeningFactor FastSchedule GetEnvTimeout GroupUpdateForce
    GroupUpdateTime HealthCheckInterval HealthCheckTimeout InactiveLimit JobFileAppend JobRequeue
    KillOnBadExit KillWait MaxTasksPerNode MessageTimeout OverTimeLimit
    PrologEpilogTimeout PrologTimeout PropagatePrioProcess ResumeRate ResumeTimeout ResvOverRun
    ReturnToService SchedulerTimeSlice SlurmctldTimeout SlurmdTimeout SlurmSchedLogLevel SuspendRate
    SuspendTimeout TCPTimeout TreeWidth UnkillableStepTimeout VSizeFactor WaitTime
    """,
        32: """
    EpilogMsgTime FirstJobId JobCompPort KeepAliveTime MaxArraySize MaxBatchRequeue MaxDBDMsgs MaxJobCount
    MaxJobId MaxNodeCount MaxStepCount MinJobAge PriorityWeightAge PriorityWeightAssoc
    PriorityWeightFairshare PriorityWeightJobSize PriorityWeightPartition PriorityWeightQOS SlurmdPort
    """,
        64: """
    DefCPUPerGPU DefMemPerCPU DefMemPerGPU DefMemPerNode MaxMemPerCPU MaxMemPerNode
    """,
    }.items()
    for name in names.split()
}
"""Options of ``slurm.conf`` that are numbers, with the bits that Slurm has for each."""

BOOLEANS = frozenset(
    {"AccountingStoreJobComment", "AllowSpecResourcesUsage", "DisableRootJobs", "PriorityFavorSmall",
     "TrackWCKey", "UsePAM"}
)  # fmt: skip
"""Options that are yes or no."""

_TEXTS = """
    AccountingStorageBackupHost AccountingStorageEnforce AccountingStorageExternalHost AccountingStorageHost
    AccountingStorageLoc AccountingStorageParameters AccountingStoragePass AccountingStorageTRES
    AccountingStorageType AccountingStorageUser AccountingStoreFlags AcctGatherEnergyType
    AcctGatherFilesystemType AcctGatherInfinibandType AcctGatherInterconnectType AcctGatherProfileType
    AuthAltParameters AuthAltTypes AuthInfo AuthType BackupAddr BackupController BcastExclude
    BcastParameters BurstBufferParameters BurstBufferType CertgenParameters CertgenType CertmgrParameters
    CertmgrType CliFilterParameters CliFilterPlugins ClusterName CommunicationParameters ControlAddr
    ControlMachine CoreSpecPlugin CpuFreqDef CpuFreqGovernors CredType CryptoType DataParserParameters
    DebugFlags DependencyParameters DownNodes EnforcePartLimits Epilog EpilogSlurmctld ExtSensorsType
    FederationParameters FrontendName GpuFreqDef GresTypes HashPlugin HealthCheckNodeState
    HealthCheckProgram HttpParserType InteractiveStepOptions JobAcctGatherFrequency JobAcctGatherParams
    JobAcctGatherType JobCompHost JobCompLoc JobCompParams JobCompPass JobCompPassScript JobCompType
    JobCompUser JobContainerType JobCredentialPrivateKey JobCredentialPublicCertificate JobSubmitPlugins
    LaunchParameters LaunchType LicenseParameters Licenses LogTimeFormat MailDomain MailProg MCSParameters
    MCSPlugin MetricsAuthUsers MetricsParameters MetricsType MpiDefault MpiParams NamespaceType
    NodeFeaturesPlugins NodeName NodeSet PartitionName PluginDir PlugStackConfig PowerAction PowerParameters
    PowerPlugin PreemptExemptTime PreemptMode PreemptParameters PreemptType PrEpParameters PrEpPlugins
    PriorityCalcPeriod PriorityDecayHalfLife PriorityFlags PriorityMaxAge PriorityParameters
    PrioritySiteFactorParameters PrioritySiteFactorPlugin PriorityType PriorityUsageResetPeriod
    PriorityWeightTRES PrivateData ProctrackType Prolog PrologFlags PrologSlurmctld
    PropagateResourceLimits PropagateResourceLimitsExcept RebootProgram ReconfigFlags RequeueExit
    RequeueExitHold ResumeFailProgram ResumeProgram ResvEpilog ResvProlog RoutePlugin SallocDefaultCommand
    SbcastParameters SchedulerAuth SchedulerParameters SchedulerType ScronParameters SelectType
    SelectTypeParameters SerializerParameters SerializerPlugins SlurmctldAddr SlurmctldDebug SlurmctldHost
    SlurmctldHttpAuthParameters SlurmctldLogFile SlurmctldParameters SlurmctldPidFile SlurmctldPlugstack
    SlurmctldPort SlurmctldPrimaryOffProg SlurmctldPrimaryOnProg SlurmctldSyslogDebug SlurmdDebug
    SlurmdHttpAuthParameters SlurmdLogFile SlurmdParameters SlurmdPidFile SlurmdSpoolDir SlurmdSyslogDebug
    SlurmdUser SlurmrestdHttpAuthParameters SlurmrestdParameters SlurmSchedLogFile SlurmstepdParameters
    SlurmUser SrunEpilog SrunPortRange SrunProlog StateSaveLocation SuspendExcNodes SuspendExcParts
    SuspendExcStates SuspendProgram SuspendTime SwitchParameters SwitchType TaskEpilog TaskPlugin
    TaskPluginParam TaskProlog TLSParameters TLSType TmpFS TopologyParam TopologyPlugin
    UnkillableStepProgram UrlParserType X11Parameters
"""
"""All other options that Slurm 22.05 (its own parser was asked) or 26.11 (its table of options) reads."""

_TRUTH = frozenset({"yes", "up", "true", "1", "no", "down", "false", "0"})
_ENDLESS = frozenset({"unlimited", "infinite"})
_KINDS = {key.lower(): key for key in (*NUMBERS, *BOOLEANS, *_TEXTS.split())}


def refused_option(key: str, value: object) -> str | None:
    """Return why Slurm from 22.05 on would read no configuration with an option; None where it would."""
    known = _KINDS.get(key.lower())
    if known is None:
        return f"Slurm has no option '{key}', and starts with none that it does not know"
    text = str(value).strip('"').lower()
    if known in BOOLEANS and text not in _TRUTH:
        return f"'{known}' is yes or no in Slurm, not '{value}'"
    if known not in NUMBERS or text in _ENDLESS:
        return None
    try:
        number = int(text, 16 if text.startswith("0x") else 10)
    except ValueError:
        return f"'{known}' is a whole number in Slurm, not '{value}'"
    most = 2 ** NUMBERS[known] - 1
    return None if 0 <= number <= most else f"'{known}' is 0 to {most} in Slurm, not {value}"
