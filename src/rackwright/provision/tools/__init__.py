"""The Pulumi CLI, its language host and AWS plugin: finding and installing them."""
