package sarif_test

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"shmoo/internal/reporttest"
)

// schemaModule is a published Go module that carries the official schema as a constant. It is no dependency: the test
// uses it where it has been downloaded ("go mod download" with this name), and says so where not.
const schemaModule = "github.com/owenrumney/go-sarif/v3@v3.3.1"

// officialSchema returns the schema of OASIS: the file that SARIF_SCHEMA names, or the module's.
func officialSchema(t *testing.T) string {
	t.Helper()
	if name := os.Getenv("SARIF_SCHEMA"); name != "" {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	cache, err := exec.Command("go", "env", "GOMODCACHE").Output()
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(strings.TrimSpace(string(cache)), filepath.FromSlash(schemaModule), "pkg/report/v210/sarif/schema.go")
	file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
	if err != nil {
		t.Skipf("no schema: set SARIF_SCHEMA to the official file, or run go mod download %s", schemaModule)
	}
	text := ""
	ast.Inspect(file, func(n ast.Node) bool {
		if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING && len(lit.Value) > len(text) {
			text = lit.Value
		}
		return true
	})
	schema, err := strconv.Unquote(text)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return schema
}

// TestOfficialSchema validates the documents against the schema of the standard.
func TestOfficialSchema(t *testing.T) {
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(officialSchema(t)))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("sarif.json", doc); err != nil {
		t.Fatal(err)
	}
	schema, err := c.Compile("sarif.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, rc := range append(reporttest.Cases(t), reporttest.Case{Name: "many", Report: many(t, 6000)}) {
		t.Run(rc.Name, func(t *testing.T) {
			got, err := jsonschema.UnmarshalJSON(bytes.NewReader(write(t, &rc)))
			if err != nil {
				t.Fatal(err)
			}
			if err := schema.Validate(got); err != nil {
				t.Errorf("%v", err)
			}
		})
	}
	broken, err := jsonschema.UnmarshalJSON(strings.NewReader(`{"version": "2.1.0", "runs": [{"results": []}]}`))
	if err != nil {
		t.Fatal(err)
	}
	if schema.Validate(broken) == nil {
		t.Error("the schema accepts a run without a tool, so it checks nothing")
	}
}
