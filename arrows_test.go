package zksim_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/zksim/zksim/"

// arrows lists, for each package, every import from outside the standard
// library that its code (tests left out) may have. ARCHITECTURE.md draws them.
var arrows = map[string][]string{
	"model":                      {},
	"linearizability":            {module + "linearizability/ops", module + "model", "github.com/anishathalye/porcupine"},
	"linearizability/ops":        {},
	"recipes":                    {"github.com/go-zookeeper/zk"},
	"fakezk/internal/proto":      {},
	"fakezk/internal/wire":       {module + "fakezk/internal/proto"},
	"fakezk/internal/state":      {module + "fakezk/internal/proto"},
	"fakezk/internal/engine":     {module + "fakezk/internal/proto", module + "fakezk/internal/state", module + "fakezk/internal/wire"},
	"fakezk/internal/fourletter": {module + "fakezk/internal/engine", module + "fakezk/internal/proto"},
	"fakezk/internal/memnet":     {},
	"fakezk/internal/txnlog":     {module + "fakezk/internal/proto", module + "fakezk/internal/wire"},
	"fakezk/internal/bubble":     {},
	"fakezk": {
		module + "fakezk/internal/bubble", module + "fakezk/internal/engine", module + "fakezk/internal/fourletter",
		module + "fakezk/internal/memnet",
		module + "fakezk/internal/proto", module + "fakezk/internal/state", module + "fakezk/internal/txnlog", module + "fakezk/internal/wire",
		"github.com/go-zookeeper/zk",
	},
	"fakezk/conform": {
		module + "fakezk", module + "fakezk/internal/proto", module + "fakezk/internal/wire", "pgregory.net/rapid",
	},
	"internal/others":   {module + "fakezk", module + "fuzz", module + "linearizability", module + "linearizability/ops"},
	"internal/realzk":   {},
	"internal/refstore": {},
	"internal/zkload": {
		module + "fakezk", module + "internal/realzk", "github.com/alecthomas/kong", "github.com/go-zookeeper/zk",
	},
	"examples/go": {"github.com/go-zookeeper/zk"},
	"fuzz": {
		module + "fakezk", module + "linearizability", module + "linearizability/ops", module + "recipes",
		"github.com/go-zookeeper/zk", "pgregory.net/rapid", "github.com/goccy/go-yaml",
	},
	"fuzz/museum": {
		module + "fuzz", module + "linearizability", module + "linearizability/ops", module + "recipes",
		"github.com/go-zookeeper/zk",
	},
	"cmd/zksim":           {module + "cli"},
	"examples/go/myzksim": {module + "cli", module + "fuzz", "github.com/go-zookeeper/zk"},
	"cli": {
		module + "fakezk", module + "fakezk/conform", module + "fuzz", module + "fuzz/museum",
		"github.com/alecthomas/kong", "github.com/goccy/go-yaml", "golang.org/x/term",
	},
}

// pure lists the packages that hold rules: values in, values out. They may not
// reach for the network, a clock, a goroutine, a lock or a random number.
var pure = []string{
	"model", "internal/refstore", "fakezk/internal/proto", "fakezk/internal/wire", "fakezk/internal/state", "fakezk/internal/engine",
	"fakezk/internal/fourletter",
}

var impureImports = []string{"net", "os", "sync", "sync/atomic", "math/rand", "math/rand/v2", "crypto/rand", "context", "runtime"}

var clockCalls = []string{"Now", "Since", "Until", "Sleep", "After", "AfterFunc", "Tick", "NewTimer", "NewTicker"}

func TestImportsFollowTheArrows(t *testing.T) {
	found := map[string]bool{}
	eachFile(t, func(dir, name string, f *ast.File) {
		found[dir] = true
		allowed, known := arrows[dir]
		if !known {
			t.Errorf("package %s is not in the table of arrows", dir)
		}
		for _, imported := range imports(f) {
			if first, _, _ := strings.Cut(imported, "/"); !strings.Contains(first, ".") {
				continue // standard library
			}
			if !slices.ContainsFunc(allowed, func(a string) bool { return covers(a, imported) }) {
				t.Errorf("%s: %s must not import %s", name, dir, imported)
			}
		}
	})
	for dir := range arrows {
		if !found[dir] {
			t.Errorf("the table of arrows names package %s, which does not exist", dir)
		}
	}
}

// covers reports whether an allowed import covers another: our own packages
// each by name, other modules with all their packages.
func covers(allowed, imported string) bool {
	return imported == allowed || !strings.HasPrefix(imported, module) && strings.HasPrefix(imported, allowed+"/")
}

func TestRulesArePure(t *testing.T) {
	eachFile(t, func(dir, name string, f *ast.File) {
		if !slices.Contains(pure, dir) {
			return
		}
		for _, imported := range imports(f) {
			if slices.Contains(impureImports, imported) {
				t.Errorf("%s: a package of rules must not import %s", name, imported)
			}
		}
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.GoStmt:
				t.Errorf("%s: a package of rules must not start a goroutine", name)
			case *ast.SelectorExpr:
				if x, ok := n.X.(*ast.Ident); ok && x.Name == "time" && slices.Contains(clockCalls, n.Sel.Name) {
					t.Errorf("%s: a package of rules must not call time.%s", name, n.Sel.Name)
				}
			}
			return true
		})
	})
}

func imports(f *ast.File) []string {
	var paths []string
	for _, spec := range f.Imports {
		if p, err := strconv.Unquote(spec.Path.Value); err == nil {
			paths = append(paths, p)
		}
	}
	return paths
}

// eachFile parses every Go file but the tests and the examples.
func eachFile(t *testing.T, visit func(dir, name string, f *ast.File)) {
	t.Helper()
	fset := token.NewFileSet()
	err := filepath.WalkDir(".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "testdata" || d.Name() != "." && strings.HasPrefix(d.Name(), ".")):
			return filepath.SkipDir
		case d.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go"):
			return nil
		}
		f, err := parser.ParseFile(fset, name, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		slashed := filepath.ToSlash(name)
		visit(path.Dir(slashed), slashed, f)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
