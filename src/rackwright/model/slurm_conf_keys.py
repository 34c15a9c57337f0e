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
