//go:build tools

// Package tools pins Receptor, so that go.sum holds every checksum of its build.
package tools

import _ "github.com/ansible/receptor/cmd/receptor-cl"
