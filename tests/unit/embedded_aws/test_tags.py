"""Tags of the embedded AWS: found by the id of a resource, as moto finds them among all tags."""

from __future__ import annotations

from typing import Any

from unit.embedded_aws.clients import IMAGE, Connect, a_subnet


def test_tags_of_a_resource_by_its_id_are_those_that_a_search_finds(aws: Connect) -> None:
    ec2 = aws("ec2")

    def tags(pattern: str) -> list[Any]:
        found = ec2.describe_tags(Filters=[{"Name": "resource-id", "Values": [pattern]}])["Tags"]
        return sorted(found, key=lambda one: str(one["Key"]))

    given = [{"Key": "rackwright:host", "Value": "train-1"}, {"Key": "Name", "Value": "train"}]
    marked = [{"ResourceType": "instance", "Tags": given}]
    asked = {"ImageId": IMAGE, "MinCount": 2, "MaxCount": 2, "SubnetId": a_subnet(ec2)}
    made = ec2.run_instances(**asked, TagSpecifications=marked)["Instances"]
    first, second = (one["InstanceId"] for one in made)
    ec2.create_tags(Resources=[second], Tags=[{"Key": "Name", "Value": "other"}])
    ec2.delete_tags(Resources=[second], Tags=[{"Key": "rackwright:host"}])
    for identity, count in ((first, 2), (second, 1)):
        by_id = tags(identity)
        assert len(by_id) == count
        # A pattern has moto look through all tags.
        assert by_id == tags(f"{identity[:-1]}?")
        assert {one["ResourceType"] for one in by_id} == {"instance"}
    filters = [{"Name": "tag:rackwright:host", "Values": ["train-1"]}]
    (held,) = ec2.describe_instances(Filters=filters)["Reservations"]
    assert [one["InstanceId"] for one in held["Instances"]] == [first]
    assert tags("i-00000000000000000") == []
