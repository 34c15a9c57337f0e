"""Finding what services beside EC2 have made: most of it has a name that only one may bear."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from rackwright.provision.aws.cloud import Cloud
from rackwright.provision.lost_creations.creation import (
    Finder,
    FoundResource,
    LostCreation,
    UnclearError,
    carries,
    own,
    tags_of,
)

_MAKING = frozenset({"CREATING", "PENDING"})


def autoscaling_group(cloud: Cloud, lost: LostCreation) -> list[FoundResource]:
    """Return the Auto Scaling group of the name."""
    name = lost.inputs["name"]
    for one in cloud.listed(
        "autoscaling",
        "describe_auto_scaling_groups",
        "AutoScalingGroups",
        AutoScalingGroupNames=[name],
    ):
        if not one.get("Status"):  # set while it is deleted
            return own(lost, name, tags_of(one))
    return []


def bucket(cloud: Cloud, lost: LostCreation) -> list[FoundResource]:
    """Return the bucket of the name, if it is this account's.

    Where the account forbids tags at its creation, they come by a call of their own. One without any that
    is empty is taken for one that was left before that call.

    Raises:
        UnclearError: it is there without tags, and holds data.
    """
    name = lost.inputs["bucket"]
    if not any(one["Name"] == name for one in cloud.listed("s3", "list_buckets", "Buckets")):
        return []
    tagging = cloud.call("s3", "get_bucket_tagging", missing=("NoSuchTagSet",), Bucket=name)
    if tagging is not None:
        return own(lost, name, tags_of(tagging, "TagSet"))
    held = cloud.call("s3", "list_objects_v2", Bucket=name, MaxKeys=1) or {}
    if held.get("KeyCount"):
        raise UnclearError(
            f"the bucket '{name}' exists without tags and holds data",
            "give it another name in the blueprint, or tag it as this site's if it is",
        )
    return [FoundResource(name)]


def role(cloud: Cloud, lost: LostCreation) -> list[FoundResource]:
    """Return the role of the name."""
    told = cloud.call("iam", "get_role", missing=("NoSuchEntity",), RoleName=lost.inputs["name"])
    return [] if told is None else own(lost, lost.inputs["name"], tags_of(told["Role"]))


def role_policy(cloud: Cloud, lost: LostCreation) -> list[FoundResource]:
    """Return the policy of the name in the role; what it allows is set right by the next run."""
    name, holder = lost.inputs["name"], lost.inputs["role"]
    told = cloud.call(
        "iam", "get_role_policy", missing=("NoSuchEntity",), RoleName=holder, PolicyName=name
    )
    return [] if told is None else [FoundResource(f"{holder}:{name}")]


def instance_profile(cloud: Cloud, lost: LostCreation) -> list[FoundResource]:
    """Return the instance profile of the name."""
    name = lost.inputs["name"]
    told = cloud.call(
        "iam", "get_instance_profile", missing=("NoSuchEntity",), InstanceProfileName=name
    )
    return [] if told is None else own(lost, name, tags_of(told["InstanceProfile"]))


def policy(cloud: Cloud, lost: LostCreation) -> list[FoundResource]:
    """Return the account's policy of the name."""
    name = lost.inputs["name"]
    for one in cloud.listed("iam", "list_policies", "Policies", Scope="Local"):
        if one["PolicyName"] == name:
            told = cloud.call("iam", "list_policy_tags", PolicyArn=one["Arn"]) or {}
            return own(lost, one["Arn"], tags_of(told))
    return []


def parameter(cloud: Cloud, lost: LostCreation) -> list[FoundResource]:
    """Return the parameter of the name; its value is not read."""
    name = lost.inputs["name"]
    wanted = [{"Key": "Name", "Option": "Equals", "Values": [name]}]
    found = cloud.listed("ssm", "describe_parameters", "Parameters", ParameterFilters=wanted)
    if not any(one["Name"] == name for one in found):
        return []
    told = cloud.call("ssm", "list_tags_for_resource", ResourceType="Parameter", ResourceId=name)
    return own(lost, name, tags_of(told or {}, "TagList"))


def key(cloud: Cloud, lost: LostCreation) -> list[FoundResource]:
    """Return keys with the description and all tags; a key has no name.

    Raises:
        UnclearError: the creation gives no tags.
    """
    if not lost.tags:
        raise UnclearError(
            "a key without tags cannot be told from others",
            "give it tags, or look for it in AWS and schedule its deletion if it is there",
        )
    found = []
    for one in cloud.listed("kms", "list_keys", "Keys"):
        identity = one["KeyId"]
        told = cloud.call("kms", "describe_key", missing=_NOT_OURS, KeyId=identity)
        about = {} if told is None else told["KeyMetadata"]
        described = about.get("Description", "") == lost.inputs.get("description", "")
        gone = about.get("KeyState") in {"PendingDeletion", "PendingReplicaDeletion"}
        if told is None or not described or gone or about.get("KeyManager") == "AWS":
            continue
        tags = cloud.call("kms", "list_resource_tags", missing=_NOT_OURS, KeyId=identity) or {}
        held = {tag["TagKey"]: tag["TagValue"] for tag in tags.get("Tags", ())}
        if carries(held, lost.tags):
            found.append(FoundResource(identity))
    return found


_NOT_OURS = ("AccessDeniedException", "NotFoundException")
"""Answers about a key that somebody else has, or that goes."""


def alias(cloud: Cloud, lost: LostCreation) -> list[FoundResource]:
    """Return the alias of the name.

    Raises:
        UnclearError: it stands for another key.
    """
    name, wanted = lost.inputs["name"], str(lost.inputs["targetKeyId"]).rsplit("/", 1)[-1]
    for one in cloud.listed("kms", "list_aliases", "Aliases"):
        if one["AliasName"] != name:
            continue
        if one.get("TargetKeyId") == wanted:
            return [FoundResource(name)]
        raise UnclearError(
            f"'{name}' stands for the key '{one.get('TargetKeyId')}', and not for '{wanted}'",
            f"remove it: aws kms delete-alias --alias-name {name}",
        )
    return []


def log_group(cloud: Cloud, lost: LostCreation) -> list[FoundResource]:
    """Return the log group of the name."""
    name = lost.inputs["name"]
    for one in cloud.listed("logs", "describe_log_groups", "logGroups", logGroupNamePrefix=name):
        if one["logGroupName"] == name:
            told = cloud.call(
                "logs", "list_tags_for_resource", resourceArn=one["arn"].removesuffix(":*")
            )
            return own(lost, name, (told or {}).get("tags", {}))
    return []


def lifecycle_policy(cloud: Cloud, lost: LostCreation) -> list[FoundResource]:
    """Return the policies for snapshots with the description and all the tags.

    Raises:
        UnclearError: the creation gives no tags.
    """
    if not lost.tags:
        raise UnclearError("a policy without tags cannot be told from others", "give it tags")
    return [
        FoundResource(one["PolicyId"])
        for one in cloud.listed("dlm", "get_lifecycle_policies", "Policies")
        if carries(one.get("Tags") or {}, lost.tags)
        and one.get("Description") == lost.inputs["description"]
    ]


def lustre(cloud: Cloud, lost: LostCreation) -> list[FoundResource]:
    """Return Lustre file systems of the subnet with all the tags.

    Raises:
        UnclearError: one of them failed, or the creation gives no tags.
    """
    if not lost.tags:
        raise UnclearError(
            "a file system without tags cannot be told from others", "give it a tag 'Name'"
        )
    subnet = lost.inputs["subnetIds"]
    return [
        _lifecycle(one, "FileSystemId", "file-system")
        for one in cloud.listed("fsx", "describe_file_systems", "FileSystems")
        if carries(tags_of(one), lost.tags)
        and one["FileSystemType"] == "LUSTRE"
        and subnet in one["SubnetIds"]
        and one["Lifecycle"] != "DELETING"
    ]


def data_repository_association(cloud: Cloud, lost: LostCreation) -> list[FoundResource]:
    """Return the association of the path in the file system.

    Raises:
        UnclearError: the path is linked to something else, or its association failed.
    """
    system, path = lost.inputs["fileSystemId"], lost.inputs["fileSystemPath"]
    wanted = str(lost.inputs["dataRepositoryPath"]).rstrip("/")
    for one in cloud.listed(
        "fsx",
        "describe_data_repository_associations",
        "Associations",
        Filters=[{"Name": "file-system-id", "Values": [system]}],
    ):
        if one["FileSystemId"] != system or one["FileSystemPath"] != path:
            continue
        if one["Lifecycle"] == "DELETING":
            continue
        if one["DataRepositoryPath"].rstrip("/") == wanted:
            return [_lifecycle(one, "AssociationId", "data-repository-association")]
        raise UnclearError(
            f"{path} of '{system}' is linked to {one['DataRepositoryPath']} by "
            f"'{one['AssociationId']}', and not to {wanted}",
            _deletion("data-repository-association", one["AssociationId"]),
        )
    return []


def elastic(cloud: Cloud, lost: LostCreation) -> list[FoundResource]:
    """Return the file system of EFS of the creation token.

    Raises:
        UnclearError: it has other tags, or was made and failed.
    """
    token = lost.inputs["creationToken"]
    for one in cloud.listed("efs", "describe_file_systems", "FileSystems", CreationToken=token):
        state = one["LifeCycleState"]
        if state in {"deleting", "deleted"}:
            continue
        (found,) = own(lost, one["FileSystemId"], tags_of(one))
        return [_elastic(found.id, state, "file-system")]
    return []


def mount_target(cloud: Cloud, lost: LostCreation) -> list[FoundResource]:
    """Return the mount target of the file system in the subnet.

    Raises:
        UnclearError: it was made and failed.
    """
    system, subnet = lost.inputs["fileSystemId"], lost.inputs["subnetId"]
    return [
        _elastic(one["MountTargetId"], one["LifeCycleState"], "mount-target")
        for one in cloud.listed(
            "efs", "describe_mount_targets", "MountTargets", FileSystemId=system
        )
        if one["SubnetId"] == subnet and one["LifeCycleState"] not in {"deleting", "deleted"}
    ]


def _elastic(identity: str, state: str, noun: str) -> FoundResource:
    if state == "error":
        raise UnclearError(
            f"'{identity}' was made and failed",
            f"remove it: aws efs delete-{noun} --{noun}-id {identity}",
        )
    return FoundResource(identity, making=state in {"creating", "updating"})


def _lifecycle(item: Mapping[str, Any], name: str, noun: str) -> FoundResource:
    identity = str(item[name])
    if item["Lifecycle"] == "FAILED":
        raise UnclearError(f"'{identity}' was made and failed", _deletion(noun, identity))
    return FoundResource(identity, making=item["Lifecycle"] in _MAKING)


def _deletion(noun: str, identity: str) -> str:
    argument = "association-id" if noun.endswith("association") else f"{noun}-id"
    return f"remove it: aws fsx delete-{noun} --{argument} {identity}"


def zone(cloud: Cloud, lost: LostCreation) -> list[FoundResource]:
    """Return zones of the name and comment, private ones of the VPC; their tags come by a call of their own.

    Raises:
        UnclearError: one is there whose tags say that it is another's.
    """
    name = str(lost.inputs["name"]).rstrip(".")
    networks = {one["vpcId"] for one in lost.inputs.get("vpcs") or ()}
    found = []
    for one in cloud.listed("route53", "list_hosted_zones", "HostedZones"):
        if one["Name"].rstrip(".") != name or one["Config"]["PrivateZone"] != bool(networks):
            continue
        identity = one["Id"].rsplit("/", 1)[-1]
        if networks:
            told = cloud.call("route53", "get_hosted_zone", Id=identity) or {}
            if networks.isdisjoint(held["VPCId"] for held in told.get("VPCs", ())):
                continue
        tags = cloud.call(
            "route53", "list_tags_for_resource", ResourceType="hostedzone", ResourceId=identity
        )
        held = tags_of((tags or {})["ResourceTagSet"])
        comment = one["Config"].get("Comment", "")
        if held or comment != lost.inputs.get("comment", ""):
            found += own(lost, identity, held)
        else:
            found.append(FoundResource(identity))
    return found


def record(cloud: Cloud, lost: LostCreation) -> list[FoundResource]:
    """Return the record set of the name and type in the zone.

    Raises:
        UnclearError: it says something else.
    """
    zone_id, kind = lost.inputs["zoneId"], lost.inputs["type"]
    told = cloud.call("route53", "get_hosted_zone", missing=("NoSuchHostedZone",), Id=zone_id)
    if told is None:
        return []
    zone_name = told["HostedZone"]["Name"].rstrip(".")
    given = str(lost.inputs["name"]).rstrip(".").lower()
    inside = given == zone_name or given.endswith(f".{zone_name}")
    full = given if inside else f"{given}.{zone_name}".lstrip(".")
    marked = lost.inputs.get("setIdentifier")
    for one in cloud.listed(
        "route53", "list_resource_record_sets", "ResourceRecordSets", HostedZoneId=zone_id
    ):
        name = one["Name"].rstrip(".").replace("\\052", "*")
        if (name, one["Type"], one.get("SetIdentifier")) != (full, kind, marked):
            continue
        held = sorted(value["Value"].strip('"') for value in one.get("ResourceRecords", ()))
        wanted = sorted(str(value).strip('"') for value in lost.inputs.get("records") or ())
        if held == wanted:
            parts = (zone_id, given, kind, *filter(None, [marked]))
            return [FoundResource("_".join(parts))]
        raise UnclearError(
            f"the zone '{zone_id}' has {kind} {full} as {', '.join(held) or 'an alias'}, and not as "
            f"{', '.join(wanted)}",
            "remove that record, or give the host another name",
        )
    return []


def load_balancer(cloud: Cloud, lost: LostCreation) -> list[FoundResource]:
    """Return the load balancer of the name."""
    return _balancing(cloud, lost, "describe_load_balancers", "LoadBalancer")


def target_group(cloud: Cloud, lost: LostCreation) -> list[FoundResource]:
    """Return the target group of the name."""
    return _balancing(cloud, lost, "describe_target_groups", "TargetGroup")


def _balancing(cloud: Cloud, lost: LostCreation, operation: str, what: str) -> list[FoundResource]:
    missing = (f"{what}NotFound",)
    told = cloud.call("elbv2", operation, missing=missing, Names=[lost.inputs["name"]]) or {}
    found = []
    for one in told.get(f"{what}s", ()):
        arn = one[f"{what}Arn"]
        making = (one.get("State") or {}).get("Code") == "provisioning"
        found += [
            replace(held, making=making) for held in own(lost, arn, _balancing_tags(cloud, arn))
        ]
    return found


def listener(cloud: Cloud, lost: LostCreation) -> list[FoundResource]:
    """Return the listener of the port; a load balancer has one at most."""
    balancer = lost.inputs["loadBalancerArn"]
    missing = ("LoadBalancerNotFound",)
    told = cloud.call("elbv2", "describe_listeners", missing=missing, LoadBalancerArn=balancer)
    found = []
    for one in (told or {}).get("Listeners", ()):
        if one["Port"] == lost.inputs["port"]:
            found += own(lost, one["ListenerArn"], _balancing_tags(cloud, one["ListenerArn"]))
    return found


def _balancing_tags(cloud: Cloud, arn: str) -> dict[str, str]:
    told = cloud.call("elbv2", "describe_tags", ResourceArns=[arn]) or {}
    return tags_of(next(iter(told.get("TagDescriptions", ())), {}))


FINDERS: Mapping[str, Finder] = {
    "aws:autoscaling/group:Group": autoscaling_group,
    "aws:cloudwatch/logGroup:LogGroup": log_group,
    "aws:dlm/lifecyclePolicy:LifecyclePolicy": lifecycle_policy,
    "aws:efs/fileSystem:FileSystem": elastic,
    "aws:efs/mountTarget:MountTarget": mount_target,
    "aws:fsx/dataRepositoryAssociation:DataRepositoryAssociation": data_repository_association,
    "aws:fsx/lustreFileSystem:LustreFileSystem": lustre,
    "aws:iam/instanceProfile:InstanceProfile": instance_profile,
    "aws:iam/policy:Policy": policy,
    "aws:iam/role:Role": role,
    "aws:iam/rolePolicy:RolePolicy": role_policy,
    "aws:kms/alias:Alias": alias,
    "aws:kms/key:Key": key,
    "aws:lb/listener:Listener": listener,
    "aws:lb/loadBalancer:LoadBalancer": load_balancer,
    "aws:lb/targetGroup:TargetGroup": target_group,
    "aws:route53/record:Record": record,
    "aws:route53/zone:Zone": zone,
    "aws:s3/bucket:Bucket": bucket,
    "aws:s3/bucketV2:BucketV2": bucket,
    "aws:ssm/parameter:Parameter": parameter,
}
"""What finds each type."""

_ENCRYPTION = "BucketServerSideEncryptionConfiguration"
REPEATED = frozenset(
    {
        "aws:efs/backupPolicy:BackupPolicy",
        "aws:iam/rolePolicyAttachment:RolePolicyAttachment",
        "aws:lb/targetGroupAttachment:TargetGroupAttachment",
        "aws:kms/grant:Grant",  # one of the same name and content is answered with the first
        "aws:s3/bucketLifecycleConfiguration:BucketLifecycleConfiguration",
        "aws:s3/bucketPolicy:BucketPolicy",
        "aws:s3/bucketPublicAccessBlock:BucketPublicAccessBlock",
        "aws:s3/bucketVersioning:BucketVersioning",
        "aws:s3/bucketVersioningV2:BucketVersioningV2",
        f"aws:s3/{_ENCRYPTION[0].lower()}{_ENCRYPTION[1:]}:{_ENCRYPTION}",
        f"aws:s3/{_ENCRYPTION[0].lower()}{_ENCRYPTION[1:]}V2:{_ENCRYPTION}V2",
    }
)
"""Types that AWS takes twice without harm."""
