package recipes_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/zksim/zksim/internal/check"
	"github.com/zksim/zksim/internal/testrun"
)

// TestEveryRecipeHasAnExample, a line in doc.go and a place on docs/recipes.md: each exported
// function that takes a Conn, by its name or, for NewLock and its like, by that of the recipe.
func TestEveryRecipeHasAnExample(t *testing.T) {
	recipes, shown := 0, map[string]bool{}
	overview, page := testrun.ReadFile(t, "doc.go"), testrun.ReadFile(t, "../docs/recipes.md")
	funcs := functions(t)
	for _, f := range funcs {
		if name, ok := strings.CutPrefix(f.Name.Name, "Example"); ok {
			name, _, _ = strings.Cut(name, "_")
			shown[name] = true
		}
	}
	for _, f := range funcs {
		name := f.Name.Name
		if f.Recv != nil || !f.Name.IsExported() || !takesConn(f) {
			continue
		}
		recipes++
		recipe := strings.TrimPrefix(name, "New")
		if !shown[name] && !shown[recipe] {
			t.Errorf("%s has no Example%s", name, recipe)
		}
		if !regexp.MustCompile(`(?m)^//   - .*\b` + recipe + `\b.*:`).MatchString(overview) {
			t.Errorf("doc.go has no line for %s", recipe)
		}
		if !regexp.MustCompile("`(recipes\\.)?" + recipe + `\b`).MatchString(page) {
			t.Errorf("docs/recipes.md has nothing about %s", recipe)
		}
	}
	check.Equal(t, recipes > 31, true, "%d recipes", recipes)
}

// functions parses the package, with its tests.
func functions(t *testing.T) (list []*ast.FuncDecl) {
	t.Helper()
	files, err := filepath.Glob("*.go")
	check.OK(t, err)
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		check.OK(t, err)
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok {
				list = append(list, f)
			}
		}
	}
	return list
}

func takesConn(f *ast.FuncDecl) bool {
	for _, p := range f.Type.Params.List {
		if typ, ok := p.Type.(*ast.Ident); ok && typ.Name == "Conn" {
			return true
		}
	}
	return false
}
