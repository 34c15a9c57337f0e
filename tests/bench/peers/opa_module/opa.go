//go:build tools

// Package opa pins Open Policy Agent, so that go.sum holds every checksum of its build.
package opa

import _ "github.com/open-policy-agent/opa"
