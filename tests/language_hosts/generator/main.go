// Package main writes the SDK of TypeScript for the schema of a package, by Pulumi's own generator.
//
// It reads the schema from its input and writes the files below the folder that is named.
package main

import (
	"encoding/json"
	"log"
	"os"
	"path/filepath"

	"github.com/pulumi/pulumi/pkg/v3/codegen/nodejs"
	"github.com/pulumi/pulumi/pkg/v3/codegen/schema"
)

func main() {
	var spec schema.PackageSpec
	check(json.NewDecoder(os.Stdin).Decode(&spec))
	languages := map[string]schema.Language{"nodejs": nodejs.Importer}
	pkg, err := schema.ImportSpec(spec, languages, schema.NewNullLoader(), schema.ValidationOptions{})
	check(err)
	pkg.SupportPack = true // of this version, as `pulumi package add` has it
	files, err := nodejs.GeneratePackage("rackwright", pkg, nil, nil, true, nil)
	check(err)
	for name, content := range files {
		path := filepath.Join(os.Args[1], name)
		check(os.MkdirAll(filepath.Dir(path), 0o755))
		check(os.WriteFile(path, content, 0o644))
	}
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
