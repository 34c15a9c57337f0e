//go:build tools

// Package tools pins the language host of Node, so that go.sum holds every checksum of its build.
package tools

import _ "github.com/pulumi/pulumi/sdk/v3/nodejs/cmd/pulumi-language-nodejs"
