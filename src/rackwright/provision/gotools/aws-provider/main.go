// The plugin aws of the Pulumi engine: the code of Terraform's AWS provider behind Pulumi's bridge.
//
// It has the resource types and functions in tokens.go. Properties are named as pulumi-aws names
// them: the bridge's own rules, and the exceptions in tokens.go.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"os"

	"github.com/hashicorp/terraform-provider-aws/internal"
	"github.com/hashicorp/terraform-provider-aws/internal/provider/framework"
	"github.com/hashicorp/terraform-provider-aws/internal/provider/sdkv2"
	pfbridge "github.com/pulumi/pulumi-terraform-bridge/v3/pkg/pf/tfbridge"
	"github.com/pulumi/pulumi-terraform-bridge/v3/pkg/tfbridge"
	"github.com/pulumi/pulumi-terraform-bridge/v3/pkg/tfgen"
	shimv2 "github.com/pulumi/pulumi-terraform-bridge/v3/pkg/tfshim/sdk-v2"
	"github.com/pulumi/pulumi-terraform-bridge/v3/pkg/x/muxer"
	"github.com/pulumi/pulumi-terraform-bridge/v3/unstable/metadata"
	"github.com/pulumi/pulumi/sdk/v3/go/common/diag"
	"github.com/pulumi/pulumi/sdk/v3/go/common/diag/colors"
)

// version is that of pulumi-aws whose names the properties have; the build sets it.
var version = "7.51.1"

// longestName is the longest name that the engine gives to what a program left unnamed.
const longestName = 255

type dispatcher interface {
	ResolveDispatch(*tfbridge.ProviderInfo) (muxer.DispatchTable, error)
}

func main() {
	ctx := context.Background()
	if os.Getenv("TF_LOG") == "" {
		log.SetOutput(io.Discard) // the provider's own trace
	}
	info, err := provider(ctx)
	if err == nil && len(os.Args) == 2 && os.Args[1] == "-schema" {
		err = writeSchema(info)
	} else if err == nil {
		pfbridge.MainWithMuxer(ctx, "aws", info, bareSchema(info))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func provider(ctx context.Context) (tfbridge.ProviderInfo, error) {
	internal.RegisterSmarterrFS()
	plain, err := sdkv2.NewProvider(ctx)
	if err != nil {
		return tfbridge.ProviderInfo{}, err
	}
	newer, err := framework.NewProvider(ctx, plain)
	if err != nil {
		return tfbridge.ProviderInfo{}, err
	}
	both := pfbridge.MuxShimWithDisjointgPF(ctx, shimv2.NewProvider(plain), newer)
	info := tfbridge.ProviderInfo{
		P:                              both,
		Name:                           "aws",
		Version:                        version,
		Resources:                      resources(),
		DataSources:                    functions(),
		MetadataInfo:                   tfbridge.NewProviderMetadata([]byte("{}")),
		EnableZeroDefaultSchemaVersion: true,
		EnableAccurateBridgePreview:    true,
		EnableAccuratePFBridgePreview:  true,
		// The provider's configuration is checked by the half that is not of the framework.
		SkipValidateProviderConfigForPluginFramework: true,
	}
	info.SetAutonaming(longestName, "-")
	table, err := both.(dispatcher).ResolveDispatch(&info)
	if err != nil {
		return info, err
	}
	return info, metadata.Set(info.GetMetadata(), "mux", table)
}

// bareSchema names what there is; the programs bring the schema of their SDK.
func bareSchema(info tfbridge.ProviderInfo) []byte {
	resources, functions := map[string]any{}, map[string]any{}
	for _, one := range info.Resources {
		resources[string(one.Tok)] = map[string]any{}
	}
	for _, one := range info.DataSources {
		functions[string(one.Tok)] = map[string]any{}
	}
	schema, err := json.Marshal(map[string]any{
		"name": "aws", "version": version, "resources": resources, "functions": functions,
	})
	if err != nil {
		panic(err)
	}
	return schema
}

func writeSchema(info tfbridge.ProviderInfo) error {
	// The services that are kept have more resources than those in tokens.go.
	os.Setenv("PULUMI_SKIP_MISSING_MAPPING_ERROR", "true")
	sink := diag.DefaultSink(io.Discard, io.Discard, diag.FormatOptions{Color: colors.Never})
	schema, err := tfgen.GenerateSchema(info, sink)
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(schema)
}
