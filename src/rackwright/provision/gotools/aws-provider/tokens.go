package main

import (
	"strings"

	"github.com/pulumi/pulumi-terraform-bridge/v3/pkg/tfbridge"
	"github.com/pulumi/pulumi/sdk/v3/go/common/tokens"
)

// resourceTokens are the resource types by Terraform's name: module and type of Pulumi's.
var resourceTokens = map[string][2]string{
	"aws_autoscaling_group":                 {"autoscaling", "Group"},
	"aws_cloudwatch_log_group":              {"cloudwatch", "LogGroup"},
	"aws_default_security_group":            {"ec2", "DefaultSecurityGroup"},
	"aws_dlm_lifecycle_policy":              {"dlm", "LifecyclePolicy"},
	"aws_ebs_volume":                        {"ebs", "Volume"},
	"aws_ec2_capacity_block_reservation":    {"ec2", "CapacityBlockReservation"},
	"aws_ec2_capacity_reservation":          {"ec2", "CapacityReservation"},
	"aws_ec2_instance_state":                {"ec2transitgateway", "InstanceState"},
	"aws_efs_backup_policy":                 {"efs", "BackupPolicy"},
	"aws_efs_file_system":                   {"efs", "FileSystem"},
	"aws_efs_mount_target":                  {"efs", "MountTarget"},
	"aws_eip":                               {"ec2", "Eip"},
	"aws_flow_log":                          {"ec2", "FlowLog"},
	"aws_fsx_data_repository_association":   {"fsx", "DataRepositoryAssociation"},
	"aws_fsx_lustre_file_system":            {"fsx", "LustreFileSystem"},
	"aws_iam_instance_profile":              {"iam", "InstanceProfile"},
	"aws_iam_policy":                        {"iam", "Policy"},
	"aws_iam_role":                          {"iam", "Role"},
	"aws_iam_role_policy":                   {"iam", "RolePolicy"},
	"aws_iam_role_policy_attachment":        {"iam", "RolePolicyAttachment"},
	"aws_instance":                          {"ec2", "Instance"},
	"aws_internet_gateway":                  {"ec2", "InternetGateway"},
	"aws_kms_alias":                         {"kms", "Alias"},
	"aws_kms_grant":                         {"kms", "Grant"},
	"aws_kms_key":                           {"kms", "Key"},
	"aws_lb":                                {"lb", "LoadBalancer"},
	"aws_lb_listener":                       {"lb", "Listener"},
	"aws_lb_target_group":                   {"lb", "TargetGroup"},
	"aws_lb_target_group_attachment":        {"lb", "TargetGroupAttachment"},
	"aws_launch_template":                   {"ec2", "LaunchTemplate"},
	"aws_nat_gateway":                       {"ec2", "NatGateway"},
	"aws_placement_group":                   {"ec2", "PlacementGroup"},
	"aws_route":                             {"ec2", "Route"},
	"aws_route53_record":                    {"route53", "Record"},
	"aws_route53_zone":                      {"route53", "Zone"},
	"aws_route_table":                       {"ec2", "RouteTable"},
	"aws_route_table_association":           {"ec2", "RouteTableAssociation"},
	"aws_s3_bucket":                         {"s3", "Bucket"},
	"aws_s3_bucket_lifecycle_configuration": {"s3", "BucketLifecycleConfiguration"},
	"aws_s3_bucket_policy":                  {"s3", "BucketPolicy"},
	"aws_s3_bucket_public_access_block":     {"s3", "BucketPublicAccessBlock"},
	"aws_s3_bucket_server_side_encryption_configuration": {"s3", "BucketServerSideEncryptionConfiguration"},
	"aws_s3_bucket_versioning":                           {"s3", "BucketVersioning"},
	"aws_security_group":                                 {"ec2", "SecurityGroup"},
	"aws_ssm_parameter":                                  {"ssm", "Parameter"},
	"aws_subnet":                                         {"ec2", "Subnet"},
	"aws_volume_attachment":                              {"ec2", "VolumeAttachment"},
	"aws_vpc":                                            {"ec2", "Vpc"},
	"aws_vpc_dhcp_options":                               {"ec2", "VpcDhcpOptions"},
	"aws_vpc_dhcp_options_association":                   {"ec2", "VpcDhcpOptionsAssociation"},
	"aws_vpc_endpoint":                                   {"ec2", "VpcEndpoint"},
	"aws_vpc_security_group_egress_rule":                 {"vpc", "SecurityGroupEgressRule"},
	"aws_vpc_security_group_ingress_rule":                {"vpc", "SecurityGroupIngressRule"},
}

// functionTokens are the functions by the names of Terraform's data sources.
var functionTokens = map[string][2]string{
	"aws_ami":                  {"ec2", "getAmi"},
	"aws_availability_zones":   {"index", "getAvailabilityZones"},
	"aws_caller_identity":      {"index", "getCallerIdentity"},
	"aws_partition":            {"index", "getPartition"},
	"aws_region":               {"index", "getRegion"},
	"aws_ssm_parameter":        {"ssm", "getParameter"},
	"aws_vpc_endpoint_service": {"ec2", "getVpcEndpointService"},
}

// fields are the properties that pulumi-aws names otherwise than the bridge's own rules would, or has as a list.
var fields = map[string]map[string]*tfbridge.SchemaInfo{
	"aws_default_security_group": {"egress": {Name: "egress"}, "ingress": {Name: "ingress"}},
	"aws_security_group":         {"egress": {Name: "egress"}, "ingress": {Name: "ingress"}},
	"aws_route53_record": {
		"alias":                      {Name: "aliases", MaxItemsOne: tfbridge.False()},
		"failover_routing_policy":    {Name: "failoverRoutingPolicies", MaxItemsOne: tfbridge.False()},
		"geolocation_routing_policy": {Name: "geolocationRoutingPolicies", MaxItemsOne: tfbridge.False()},
		"latency_routing_policy":     {Name: "latencyRoutingPolicies", MaxItemsOne: tfbridge.False()},
		"weighted_routing_policy":    {Name: "weightedRoutingPolicies", MaxItemsOne: tfbridge.False()},
	},
}

func resources() map[string]*tfbridge.ResourceInfo {
	found := map[string]*tfbridge.ResourceInfo{}
	for name, place := range resourceTokens {
		found[name] = &tfbridge.ResourceInfo{Tok: tokens.Type(token(place)), Fields: fields[name]}
	}
	return found
}

func functions() map[string]*tfbridge.DataSourceInfo {
	found := map[string]*tfbridge.DataSourceInfo{}
	for name, place := range functionTokens {
		found[name] = &tfbridge.DataSourceInfo{Tok: tokens.ModuleMember(token(place))}
	}
	return found
}

func token(place [2]string) string {
	return "aws:" + place[0] + "/" + strings.ToLower(place[1][:1]) + place[1][1:] + ":" + place[1]
}
