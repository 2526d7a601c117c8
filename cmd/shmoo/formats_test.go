package main

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
	"maps"
	"os"
	"path"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	diffs "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"shmoo/report/formats"
)

// documents are the JSON documents that the program writes: the schema, and the Go type that is encoded.
var documents = []struct{ schema, dir, name string }{
	{"shmoo.report/1", "report/json", "Report"},
	{"shmoo.diff/1", "compare", "Document"},
	{"shmoo.explain/1", "explain", "Data"},
	{"shmoo.map/1", "bankmap", "Picture"},
	{"shmoo.pad/1", "pad", "Report"},
	{"shmoo.fix/1", "cmd/shmoo", "writeResults"},
	{"shmoo.fix-space/1", "fix", "SpaceResult"},
	{"shmoo.certificate/1", "fix", "Certificate"},
	{"shmoo.replay/1", "pattern", "Result"},
	{"shmoo.ls/1", "inspect", "Listing"},
	{"shmoo.lesson/1", "probe", "Lesson"},
	{"shmoo.sweep/1", "sweep", "Result"},
	{"shmoo.sweep-log/1", "sweep", "header"},
	{"shmoo.sweep-log/1", "sweep", "entry"},
	{"shmoo.problem/1", "web/eval", "Problem"},
}

// written are Go types that write their own JSON.
var written = map[string]string{"bankmap.Lanes": "array of integer"}

// standsFor names the type that another's MarshalJSON builds.
var standsFor = map[string]string{"fix.Result": "jsonResult"}

// objectNames are the names of the document for types that are called otherwise in the code. A type that is written by
// another, of its MarshalJSON, has the name of that function's receiver.
var objectNames = strings.NewReplacer("json.", "report.", "main.writeResults", "fix.Document", "fix.json", "fix.",
	"fix.SpaceResult", "fix.Space", "pattern.", "replay.", "inspect.", "ls.")

// A jsonField is a field of an object as docs/formats.md writes it.
type jsonField struct{ Name, Type string }

// TestFormatsDocument compares the tables of docs/formats.md with the Go types that are encoded, field by field, so that
// the document cannot rot.
func TestFormatsDocument(t *testing.T) {
	text, err := os.ReadFile("../../docs/formats.md")
	if err != nil {
		t.Fatal(err)
	}
	tables := documentedObjects(string(text))
	w := &typeWalker{root: "../..", packages: map[string]*sourcePackage{}, objects: map[string][]jsonField{}}
	for _, d := range documents {
		if !strings.Contains(string(text), "\n## "+d.schema+"\n") {
			t.Errorf("docs/formats.md has no section %q", "## "+d.schema)
		}
		if err := w.object(d.dir, d.name); err != nil {
			t.Errorf("%s: %v", d.schema, err)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(w.objects)) {
		got, ok := tables[name]
		if !ok {
			t.Errorf("docs/formats.md has no table %q; it would be\n%s", "### "+name, w.skeleton(name))
			continue
		}
		if diff := diffs.Diff(w.objects[name], got, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("### %s differs (-code +document):\n%s", name, diff)
		}
	}
	for name := range tables {
		if _, ok := w.objects[name]; !ok {
			t.Errorf("docs/formats.md has a table for %s, which no document holds", name)
		}
	}
}

// schemaConstant finds the schemas that the code names.
var schemaConstant = regexp.MustCompile(`"(shmoo\.[a-z-]+/[0-9]+)"`)

// TestEverySchemaIsDocumented: a schema that the code names has a section.
func TestEverySchemaIsDocumented(t *testing.T) {
	text, err := os.ReadFile("../../docs/formats.md")
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	err = fs.WalkDir(os.DirFS("../.."), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return err
		}
		data, err := os.ReadFile("../../" + name)
		if err != nil {
			return err
		}
		for _, match := range schemaConstant.FindAllStringSubmatch(string(data), -1) {
			found++
			if !strings.Contains(string(text), "\n## "+match[1]+"\n") {
				t.Errorf("%s names the schema %s, of which docs/formats.md has no section", name, match[1])
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if found < 10 {
		t.Errorf("found %d schemas in the code, want at least 10: is the pattern still right?", found)
	}
}

// documentedObjects reads the tables under "### package.Type" headings.
func documentedObjects(text string) map[string][]jsonField {
	tables := map[string][]jsonField{}
	name := ""
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(line, "### "):
			name = strings.TrimPrefix(line, "### ")
		case strings.HasPrefix(line, "#"):
			name = ""
		case name != "" && strings.HasPrefix(line, "| `"):
			cells := strings.Split(line, "|")
			if len(cells) < 5 || strings.TrimSpace(cells[3]) == "" {
				tables[name] = append(tables[name], jsonField{line, "a row needs a field, a type and a meaning"})
				continue
			}
			tables[name] = append(tables[name], jsonField{strings.Trim(cells[1], " `"), strings.TrimSpace(cells[2])})
		}
	}
	return tables
}

// A typeWalker follows struct types through the source to the fields that encoding/json writes.
type typeWalker struct {
	root     string
	packages map[string]*sourcePackage // by folder
	objects  map[string][]jsonField    // by "package.Type"
	meanings map[string][]string
}

type sourcePackage struct {
	name    string
	dir     string
	types   map[string]ast.Expr
	inside  map[string]*ast.StructType   // by function, or by the type whose MarshalJSON it is
	imports map[string]map[string]string // per type: name of an import to its folder
}

func (w *typeWalker) load(dir string) (*sourcePackage, error) {
	if p := w.packages[dir]; p != nil {
		return p, nil
	}
	names, err := fs.Glob(os.DirFS(path.Join(w.root, dir)), "*.go")
	if err != nil {
		return nil, err
	}
	p := &sourcePackage{dir: dir, types: map[string]ast.Expr{}, inside: map[string]*ast.StructType{}, imports: map[string]map[string]string{}}
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), path.Join(w.root, dir, name), nil, parser.ParseComments)
		if err != nil {
			return nil, err
		}
		p.name = file.Name.Name
		imports := map[string]string{}
		for _, i := range file.Imports {
			if folder, ok := strings.CutPrefix(strings.Trim(i.Path.Value, `"`), "shmoo/"); ok {
				name := path.Base(folder)
				if i.Name != nil {
					name = i.Name.Name
				}
				imports[name] = folder
			}
		}
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Body != nil {
				if name, s := inner(f); s != nil {
					p.inside[name], p.imports[name] = s, imports
				}
			}
			gen, ok := d.(*ast.GenDecl)
			if !ok {
				continue
			}
			for _, s := range gen.Specs {
				if spec, ok := s.(*ast.TypeSpec); ok {
					p.types[spec.Name.Name], p.imports[spec.Name.Name] = spec.Type, imports
				}
			}
		}
	}
	w.packages[dir] = p
	return p, nil
}

// structure returns the struct that stands for a type in JSON: the one that its MarshalJSON, or the function of that name,
// has inside, else the type itself.
func (p *sourcePackage) structure(name string) (*ast.StructType, bool) {
	if s := p.inside[name]; s != nil {
		return s, true
	}
	s, ok := p.types[name].(*ast.StructType)
	return s, ok
}

// inner returns the struct with JSON names that a function declares in its body, or builds by a call of another, and
// the name under which its package knows it.
func inner(f *ast.FuncDecl) (string, *ast.StructType) {
	name := f.Name.Name
	if name == "MarshalJSON" {
		name = strings.TrimPrefix(types.ExprString(f.Recv.List[0].Type), "*")
	}
	var found *ast.StructType
	ast.Inspect(f.Body, func(n ast.Node) bool {
		if s, ok := n.(*ast.StructType); ok && found == nil && len(s.Fields.List) > 0 && s.Fields.List[0].Tag != nil {
			found = s
		}
		return found == nil
	})
	return name, found
}

// object adds a struct type and all that it holds.
func (w *typeWalker) object(dir, name string) error {
	p, err := w.load(dir)
	if err != nil {
		return err
	}
	key := objectNames.Replace(p.name + "." + name)
	if _, ok := w.objects[key]; ok {
		return nil
	}
	structure, ok := p.structure(name)
	if !ok {
		return fmt.Errorf("%s has no struct type %s", dir, name)
	}
	w.objects[key] = nil // it may hold itself
	fields, meanings, err := w.fields(p, name, structure)
	if err != nil {
		return err
	}
	w.objects[key] = fields
	if w.meanings == nil {
		w.meanings = map[string][]string{}
	}
	w.meanings[key] = meanings
	return nil
}

func (w *typeWalker) fields(p *sourcePackage, owner string, s *ast.StructType) (list []jsonField, meanings []string, err error) {
	own := map[string]bool{}
	for _, f := range s.Fields.List {
		if len(f.Names) > 0 {
			name, _, _ := strings.Cut(jsonTag(f), ",")
			own[name] = true
		}
	}
	for _, f := range s.Fields.List {
		tag := jsonTag(f)
		if tag == "-" || len(f.Names) > 0 && tag == "" {
			if tag == "" && f.Names[0].IsExported() {
				return nil, nil, fmt.Errorf("%s.%s: field %s has no JSON name", p.name, owner, f.Names[0].Name)
			}
			continue
		}
		if len(f.Names) == 0 && tag == "" { // embedded: its fields are the owner's
			inner, err := w.embedded(p, f.Type)
			if err != nil {
				return nil, nil, err
			}
			fields, texts, err := w.fields(p, inner.name, inner.structure)
			if err != nil {
				return nil, nil, err
			}
			for i, inner := range fields {
				if !own[inner.Name] { // a field of the owner hides an embedded one
					list, meanings = append(list, inner), append(meanings, texts[i])
				}
			}
			continue
		}
		name, options, _ := strings.Cut(tag, ",")
		kind, err := w.kind(p, owner, f.Type)
		if err != nil {
			return nil, nil, fmt.Errorf("%s.%s: %s: %w", p.name, owner, name, err)
		}
		if strings.Contains(options, "omit") {
			kind += ", optional"
		}
		list = append(list, jsonField{name, kind})
		meanings = append(meanings, strings.Join(strings.Fields(cmp.Or(f.Comment.Text(), f.Doc.Text())), " "))
	}
	return list, meanings, nil
}

// jsonTag returns what a field's tag says to encoding/json.
func jsonTag(f *ast.Field) string {
	if f.Tag == nil {
		return ""
	}
	text, err := strconv.Unquote(f.Tag.Value)
	if err != nil {
		return "" // the parser checked it
	}
	return reflect.StructTag(text).Get("json")
}

type namedStruct struct {
	name      string
	structure *ast.StructType
}

func (w *typeWalker) embedded(p *sourcePackage, e ast.Expr) (*namedStruct, error) {
	id, ok := e.(*ast.Ident)
	if !ok {
		return nil, fmt.Errorf("embedded type %T, want a type of the package", e)
	}
	s, ok := p.types[id.Name].(*ast.StructType)
	if !ok {
		return nil, fmt.Errorf("embedded type %s is no struct of the package", id.Name)
	}
	return &namedStruct{id.Name, s}, nil
}

// kinds are the JSON types of Go's own.
var kinds = map[string]string{
	"string": "string", "bool": "boolean", "float32": "number", "float64": "number", "any": "any",
	"int": "integer", "int8": "integer", "int16": "integer", "int32": "integer", "int64": "integer",
	"uint": "integer", "uint8": "integer", "uint16": "integer", "uint32": "integer", "uint64": "integer", "byte": "integer",
}

// kind returns the JSON type of a Go type, and follows it where it is a struct.
func (w *typeWalker) kind(p *sourcePackage, owner string, e ast.Expr) (string, error) {
	switch e := e.(type) {
	case *ast.StarExpr:
		return w.kind(p, owner, e.X)
	case *ast.ArrayType:
		elem, err := w.kind(p, owner, e.Elt)
		return "array of " + elem, err
	case *ast.MapType:
		value, err := w.kind(p, owner, e.Value)
		return "object of " + value, err
	case *ast.SelectorExpr:
		dir, ok := p.imports[owner][e.X.(*ast.Ident).Name]
		if !ok {
			return "", fmt.Errorf("type of another module")
		}
		other, err := w.load(dir)
		if err != nil {
			return "", err
		}
		return w.named(other, e.Sel.Name)
	case *ast.Ident:
		if kind, ok := kinds[e.Name]; ok {
			return kind, nil
		}
		return w.named(p, e.Name)
	}
	return "", fmt.Errorf("type %T", e)
}

func (w *typeWalker) named(p *sourcePackage, name string) (string, error) {
	if kind, ok := written[p.name+"."+name]; ok {
		return kind, nil
	}
	if other, ok := standsFor[p.name+"."+name]; ok {
		name = other
	}
	if _, ok := p.inside[name]; ok {
		return objectNames.Replace(p.name + "." + name), w.object(p.dir, name)
	}
	switch e := p.types[name].(type) {
	case nil:
		return "", fmt.Errorf("no type %s in %s", name, p.dir)
	case *ast.StructType:
		return objectNames.Replace(p.name + "." + name), w.object(p.dir, name)
	default:
		return w.kind(p, name, e)
	}
}

// skeleton writes the table that a type would have, with what its comments say.
func (w *typeWalker) skeleton(name string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "### %s\n\n| field | type | meaning |\n|---|---|---|\n", name)
	for i, f := range w.objects[name] {
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", f.Name, f.Type, w.meanings[name][i])
	}
	return b.String()
}

// TestWritersAreDocumented: docs/formats.md lists the writers with their extensions, in order, and no others.
func TestWritersAreDocumented(t *testing.T) {
	text, err := os.ReadFile("../../docs/formats.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(text), "\n## Writers of reports\n")
	section, _, _ = strings.Cut(section, "\n## ")
	var got, want []string
	for line := range strings.Lines(section) {
		if cells := strings.Split(line, "|"); len(cells) > 4 && strings.HasPrefix(line, "| `") {
			got = append(got, strings.TrimSpace(cells[1])+" "+strings.TrimSpace(cells[2]))
		}
	}
	for _, f := range formats.All() {
		ext := ""
		if f.Ext != "" {
			ext = "`" + f.Ext + "`"
		}
		want = append(want, "`"+f.Name+"` "+ext)
	}
	if diff := diffs.Diff(want, got); diff != "" {
		t.Errorf("(-code +document):\n%s", diff)
	}
}
