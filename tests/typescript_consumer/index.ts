import * as pulumi from "@pulumi/pulumi";
import { Network, Nodes, Storage } from "./sdk";

const blueprint = new pulumi.Config().require("blueprint");
const network = new Network("network", { blueprint });
const storage = new Storage("storage", {
    blueprint,
    vpcId: network.vpcId,
    subnetIds: network.subnetIds,
    securityGroupIds: network.securityGroupIds,
});
const nodes = new Nodes("nodes", {
    blueprint,
    vpcId: network.vpcId,
    subnetIds: network.subnetIds,
    securityGroupIds: network.securityGroupIds,
    dnsZoneId: network.dnsZoneId,
    fileSystems: storage.fileSystems,
});

export const vpc = network.vpcId;
export const groups = nodes.nodeGroups;
