package zksim_test

import (
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/zksim/zksim/internal/check"
	"github.com/zksim/zksim/internal/testrun"
)

// TestMigratingPageNamesWhatThereIs: its third column, and the text below, name exported types,
// functions, methods, fields and errors of package recipes.
func TestMigratingPageNamesWhatThereIs(t *testing.T) {
	known := exported(t, "recipes")
	known["AddAuth"] = true // of the client
	quoted := regexp.MustCompile("`([A-Z][A-Za-z]*)`")
	table, text, ok := strings.Cut(testrun.ReadFile(t, "docs/migrating.md"), "\n## ")
	if !ok {
		t.Fatal("the page has no second part")
	}
	named := 0
	for line := range strings.Lines(table) {
		if cells := strings.Split(line, "|"); len(cells) > 4 {
			text += cells[3] + cells[4]
		}
	}
	for _, match := range quoted.FindAllStringSubmatch(text, -1) {
		named++
		if name := match[1]; !known[name] && name != "False" &&
			name != "IllegalMonitorStateException" {
			t.Errorf("docs/migrating.md names %s, which package recipes does not have", name)
		}
	}
	if named < 40 {
		t.Errorf("the page names only %d things", named)
	}
}

// exported returns the exported names of a package, methods included.
func exported(t *testing.T, dir string) map[string]bool {
	t.Helper()
	files := token.NewFileSet()
	var parsed []*ast.File
	entries, err := os.ReadDir(dir)
	check.OK(t, err)
	for _, e := range entries {
		if name := e.Name(); strings.HasSuffix(name, ".go") &&
			!strings.HasSuffix(name, "_test.go") {
			file, err := parser.ParseFile(files, dir+"/"+name, nil, parser.ParseComments)
			check.OK(t, err)
			parsed = append(parsed, file)
		}
	}
	pkg, err := doc.NewFromFiles(files, parsed, dir, doc.AllDecls)
	check.OK(t, err)
	names := map[string]bool{}
	for _, v := range pkg.Vars {
		addAll(names, v.Names)
	}
	for _, f := range pkg.Funcs {
		names[f.Name] = true
	}
	for _, typ := range pkg.Types {
		names[typ.Name] = true
		for _, f := range append(typ.Funcs, typ.Methods...) {
			names[f.Name] = true
		}
	}
	return names
}

func addAll(set map[string]bool, names []string) {
	for _, name := range names {
		set[name] = true
	}
}
