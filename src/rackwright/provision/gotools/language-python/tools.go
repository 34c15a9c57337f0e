//go:build tools

// Package main pins the Python language host, so that go.sum holds every checksum of its build.
package main

import _ "github.com/pulumi/pulumi/sdk/v3/python/cmd/pulumi-language-python"
