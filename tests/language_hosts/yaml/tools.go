//go:build tools

// Package tools pins the YAML language host, so that go.sum holds every checksum of its build.
package tools

import _ "github.com/pulumi/pulumi-yaml/cmd/pulumi-language-yaml"
