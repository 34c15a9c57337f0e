//go:build tools

// Package tools pins the Pulumi CLI, so that go.sum holds every checksum of its build.
package tools

import _ "github.com/pulumi/pulumi/pkg/v3/cmd/pulumi"
