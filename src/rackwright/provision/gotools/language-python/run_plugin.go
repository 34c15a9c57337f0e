package main

import (
	"path/filepath"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"google.golang.org/protobuf/encoding/protowire"
)

// Fields of RunPluginRequest and ProgramInfo that engines since 3.85 send and that the protocol
// of this host's release does not know yet.
const (
	fieldInfo             protowire.Number = 5
	fieldKind             protowire.Number = 6
	fieldProgramDirectory protowire.Number = 2
	fieldEntryPoint       protowire.Number = 3
)

// pluginCommand returns the arguments of the Python interpreter and the working directory with
// which a plugin starts. A policy pack runs inside the SDK's own runner, in its own folder.
func pluginCommand(req *pulumirpc.RunPluginRequest) ([]string, string) {
	fields := unknownFields(req.ProtoReflect().GetUnknown())
	info := unknownFields(fields[fieldInfo])
	folder := string(info[fieldProgramDirectory])
	if folder == "" {
		return append([]string{req.Program}, req.Args...), req.Pwd
	}
	if string(fields[fieldKind]) == "analyzer" {
		args := append([]string{"-u", "-m", "pulumi.policy"}, req.Args...)
		return append(args, folder), folder
	}
	program := filepath.Join(folder, string(info[fieldEntryPoint]))
	return append([]string{"-u", program}, req.Args...), req.Pwd
}

// unknownFields returns the last value of each length-delimited field; anything else is skipped.
func unknownFields(raw []byte) map[protowire.Number][]byte {
	found := map[protowire.Number][]byte{}
	for len(raw) > 0 {
		number, kind, length := protowire.ConsumeTag(raw)
		if length < 0 {
			return found
		}
		raw = raw[length:]
		if kind == protowire.BytesType {
			value, size := protowire.ConsumeBytes(raw)
			if size < 0 {
				return found
			}
			found[number], raw = value, raw[size:]
			continue
		}
		size := protowire.ConsumeFieldValue(number, kind, raw)
		if size < 0 {
			return found
		}
		raw = raw[size:]
	}
	return found
}
