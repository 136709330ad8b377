package zksim_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/zksim/zksim/internal/check"
)

const module = "github.com/zksim/zksim/"

// families are the judges, one package for each family of objects.
const families = `
	linearizability/barrier linearizability/cache linearizability/lock linearizability/member
	linearizability/queue linearizability/twophase linearizability/value `

// arrows lists, for each package, every import from outside the standard
// library that its code (tests left out) may have. ARCHITECTURE.md draws them.
var arrows = map[string]string{
	"model":           ``,
	"linearizability": ``,
	"linearizability/internal/judging": `
		linearizability github.com/anishathalye/porcupine`,
	"linearizability/internal/judgingtest": `
		linearizability linearizability/internal/judging internal/check pgregory.net/rapid`,
	"linearizability/custom": `linearizability linearizability/internal/judging`,
	"linearizability/lock": `
		linearizability linearizability/internal/judging linearizability/ops model`,
	"linearizability/queue": `
		linearizability linearizability/internal/judging linearizability/ops model
		github.com/anishathalye/porcupine`,
	"linearizability/value": `
		linearizability linearizability/custom linearizability/internal/judging linearizability/ops
		model`,
	"linearizability/barrier": `
		linearizability linearizability/custom linearizability/internal/judging linearizability/ops
		model`,
	"linearizability/member": `
		linearizability linearizability/internal/judging linearizability/ops`,
	"linearizability/twophase": `
		linearizability linearizability/internal/judging linearizability/ops model`,
	"linearizability/cache": `
		linearizability linearizability/internal/judging linearizability/ops`,
	"linearizability/foreign": `
		linearizability linearizability/ops linearizability/value`,
	"linearizability/ops":    ``,
	"linearizability/record": `linearizability linearizability/ops`,
	"recipes": `
		recipes/internal/hold recipes/internal/request recipes/internal/task
		github.com/go-zookeeper/zk`,
	"recipes/classic": `
		recipes recipes/internal/hold recipes/internal/request recipes/internal/task
		github.com/go-zookeeper/zk`,
	"recipes/internal/hold": `
		recipes/internal/request recipes/internal/task github.com/go-zookeeper/zk`,
	"recipes/internal/task":    `recipes/internal/request github.com/go-zookeeper/zk`,
	"recipes/internal/request": `github.com/go-zookeeper/zk`,
	"recipes/internal/testconn": `
		fakezk fakezk/fault fakezk/view github.com/go-zookeeper/zk`,
	"fakezk/internal/proto":     ``,
	"fakezk/internal/wire":      `fakezk/internal/proto`,
	"fakezk/internal/state":     `fakezk/internal/proto`,
	"fakezk/internal/digestmd5": ``,
	"fakezk/internal/marks":     ``,
	"fakezk/internal/engine": `
		fakezk/internal/digestmd5 fakezk/internal/marks fakezk/internal/proto
		fakezk/internal/state fakezk/internal/wire`,
	"fakezk/internal/fourletter": `
		fakezk/internal/engine fakezk/internal/proto fakezk/internal/state`,
	"fakezk/internal/memnet":   ``,
	"fakezk/internal/txnlog":   `fakezk/internal/proto fakezk/internal/wire`,
	"fakezk/internal/bubble":   `github.com/petermattis/goid`,
	"fakezk/internal/dialhook": ``,
	"fakezk/internal/tlsend":   `fakezk/internal/memnet`,
	"fakezk/fault":             `fakezk/internal/proto internal/spelling`,
	"fakezk/view":              ``,
	"fakezk/trace":             `fakezk/fault fakezk/view`,
	"fakezk/internal/carry": `
		fakezk/fault fakezk/internal/marks fakezk/internal/proto fakezk/internal/wire`,
	"fakezk/internal/inspect": `
		fakezk/internal/engine fakezk/internal/proto fakezk/internal/state fakezk/view`,
	"fakezk/internal/tracetext": `
		fakezk/fault fakezk/internal/carry fakezk/internal/engine fakezk/internal/proto
		fakezk/trace`,
	"fakezk/internal/logs":     `fakezk/internal/bubble github.com/go-zookeeper/zk`,
	"fakezk/internal/zkclient": `fakezk/trace github.com/go-zookeeper/zk`,
	"fakezk": `
		fakezk/fault fakezk/view fakezk/internal/carry fakezk/internal/engine
		fakezk/internal/dialhook fakezk/internal/fourletter fakezk/internal/inspect
		fakezk/internal/proto fakezk/internal/state fakezk/internal/tlsend
		fakezk/internal/tracetext fakezk/internal/wire fakezk/trace
		github.com/go-zookeeper/zk`,
	"fakezk/sim": `
		fakezk/fault fakezk/view fakezk/trace fakezk/internal/bubble fakezk/internal/carry
		fakezk/internal/dialhook fakezk/internal/engine fakezk/internal/inspect
		fakezk/internal/logs fakezk/internal/marks fakezk/internal/proto fakezk/internal/state
		fakezk/internal/tlsend fakezk/internal/tracetext fakezk/internal/wire
		fakezk/internal/zkclient fakezk/sim/internal/agenda fakezk/sim/internal/draws
		fakezk/sim/internal/guard fakezk/sim/internal/record github.com/go-zookeeper/zk`,
	"fakezk/sim/internal/agenda": ``,
	"fakezk/sim/internal/draws":  `internal/mix`,
	"fakezk/sim/internal/guard":  `fakezk/internal/bubble fakezk/internal/dialhook fakezk/trace`,
	"fakezk/sim/internal/record": `
		fakezk/internal/carry fakezk/internal/engine fakezk/internal/inspect
		fakezk/internal/proto fakezk/internal/state fakezk/internal/tracetext fakezk/trace`,
	"fakezk/realworld": `
		fakezk/fault fakezk/view fakezk/trace fakezk/sim fakezk/internal/bubble
		fakezk/internal/carry fakezk/internal/engine fakezk/internal/memnet fakezk/internal/proto
		fakezk/internal/tlsend fakezk/internal/tracetext fakezk/internal/txnlog
		fakezk/internal/wire fakezk/internal/zkclient github.com/go-zookeeper/zk
		internal/inflight`,
	"fakezk/tree": `
		fakezk fakezk/internal/inspect fakezk/internal/proto fakezk/internal/txnlog fakezk/view
		internal/yamldoc`,
	"fakezk/conform": `
		fakezk/internal/proto fakezk/internal/wire pgregory.net/rapid`,
	"internal/realzk":    ``,
	"internal/overlay":   ``,
	"internal/browser":   ``,
	"internal/testrun":   `internal/check`,
	"internal/check":     `github.com/google/go-cmp`,
	"internal/inflight":  ``,
	"internal/yamldoc":   `go.yaml.in/yaml/v4`,
	"examples/go":        `github.com/go-zookeeper/zk`,
	"internal/mix":       ``,
	"internal/ballast":   ``,
	"internal/spelling":  ``,
	"fuzz/internal/fold": ``,
	"fuzz/internal/fuzztest": `
		fakezk/fault fuzz/builtin fuzz/scenario internal/ballast internal/check linearizability`,
	"fuzz/scenario": `
		fakezk/fault fakezk/realworld fakezk/sim fakezk/trace fakezk/view linearizability
		linearizability/custom linearizability/ops fuzz/internal/fold internal/mix
		internal/spelling github.com/go-zookeeper/zk`,
	"fuzz/saved": `
		fakezk/fault fakezk/sim fuzz/scenario internal/inflight internal/yamldoc
		linearizability`,
	"fuzz/object": families + `
		fakezk/fault fakezk/sim linearizability linearizability/ops fuzz/scenario
		github.com/go-zookeeper/zk`,
	"fuzz/builtin": `
		internal/mix fuzz/object fuzz/scenario linearizability recipes recipes/classic
		github.com/go-zookeeper/zk`,
	"fuzz/hunt": `
		fakezk/fault fakezk/sim fakezk/trace linearizability linearizability/ops
		internal/mix internal/spelling fuzz/saved fuzz/scenario`,
	"fuzz/internal/look": ``,
	"fuzz/picture": `
		fakezk/fault fakezk/trace fuzz/internal/fold fuzz/scenario linearizability linearizability/ops`,
	"fuzz/show": `
		fakezk/sim fakezk/trace linearizability fuzz/picture fuzz/saved fuzz/scenario`,
	"fuzz": `
		fakezk/realworld fakezk/sim linearizability fuzz/hunt fuzz/internal/look fuzz/picture
		fuzz/saved fuzz/scenario fuzz/show internal/ballast internal/inflight internal/spelling`,
	"fuzz/property": `
		fakezk/fault fakezk/sim fakezk/trace fuzz/internal/look fuzz/picture fuzz/saved
		fuzz/scenario fuzz/show internal/ballast internal/inflight linearizability
		github.com/go-zookeeper/zk github.com/petermattis/goid pgregory.net/rapid`,
	"fuzz/gallery": `
		fuzz/builtin fuzz/hunt fuzz/object fuzz/scenario internal/spelling linearizability
		linearizability/ops recipes recipes/classic github.com/go-zookeeper/zk`,
	"cmd/zksim":            `cli`,
	"examples/go/myzksim":  `cli fuzz/object github.com/go-zookeeper/zk`,
	"cli/internal/command": `fuzz/saved fuzz/scenario fuzz/show`,
	"cli/check": families + `
		cli/internal/command fakezk/realworld fakezk/trace fuzz/picture fuzz/scenario fuzz/show
		internal/spelling linearizability linearizability/foreign linearizability/ops
		linearizability/record`,
	"cli/internal/report": `
		cli/internal/command fuzz/gallery fuzz/hunt fuzz/scenario fuzz/show`,
	"cli/replay": `
		cli/internal/command fuzz/saved fuzz/scenario fuzz/show internal/inflight internal/overlay`,
	"cli/serve": `
		cli/internal/command fakezk fakezk/fault fakezk/tree fakezk/view
		github.com/go-zookeeper/zk go.yaml.in/yaml/v4`,
	"cli": `
		cli/check cli/internal/command cli/internal/report cli/replay cli/serve fakezk
		fakezk/conform fakezk/fault fakezk/realworld
		fuzz/builtin fuzz/gallery fuzz/hunt fuzz/picture fuzz/saved fuzz/scenario fuzz/show
		internal/ballast internal/inflight internal/overlay internal/spelling linearizability
		github.com/alecthomas/kong`,
}

// allowedImports returns the import paths of an entry of arrows. A name without a dot in its first
// part is a package of this module.
func allowedImports(dir string) (paths []string, known bool) {
	names, known := arrows[dir]
	for _, name := range strings.Fields(names) {
		if first, _, _ := strings.Cut(name, "/"); !strings.Contains(first, ".") {
			name = module + name
		}
		paths = append(paths, name)
	}
	return paths, known
}

// pure lists the packages that hold rules: values in, values out. They may not
// reach for the network, a clock, a goroutine, a lock or a random number. Of fakezk/internal/marks,
// which has a lock, they use Hit alone: it returns nothing, so no rule depends on it.
var pure = []string{
	"model", "fakezk/internal/proto", "fakezk/internal/wire", "fakezk/internal/state",
	"fakezk/internal/digestmd5", "fakezk/internal/engine", "fakezk/internal/fourletter",
	"fakezk/internal/carry", "fakezk/fault", "fakezk/view",
}

var impureImports = strings.Fields(
	"net os sync sync/atomic math/rand math/rand/v2 crypto/rand context runtime")

var clockCalls = strings.Fields("Now Since Until Sleep After AfterFunc Tick NewTimer NewTicker")

func TestImportsFollowTheArrows(t *testing.T) {
	found := map[string]bool{}
	eachFile(t, func(dir, name string, f *ast.File) {
		found[dir] = true
		allowed, known := allowedImports(dir)
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
	return imported == allowed ||
		!strings.HasPrefix(imported, module) && strings.HasPrefix(imported, allowed+"/")
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
				x, ok := n.X.(*ast.Ident)
				if ok && x.Name == "time" && slices.Contains(clockCalls, n.Sel.Name) {
					t.Errorf("%s: a package of rules must not call time.%s", name, n.Sel.Name)
				}
				if ok && x.Name == "marks" && n.Sel.Name != "Hit" {
					t.Errorf("%s: a package of rules must not call marks.%s", name, n.Sel.Name)
				}
			}
			return true
		})
	})
}

// mostMethods is the greatest number of methods of a type. A type that needs more is split.
const mostMethods = 40

func TestNoTypeHasTooManyMethods(t *testing.T) {
	methods := map[string]int{}
	eachFile(t, func(dir, _ string, f *ast.File) {
		for _, decl := range f.Decls {
			if fn, ok := decl.(*ast.FuncDecl); ok && fn.Recv != nil {
				methods[dir+"."+receiver(fn)]++
			}
		}
	})
	for name, n := range methods {
		if n > mostMethods {
			t.Errorf("%s has %d methods; expected at most %d", name, n, mostMethods)
		}
	}
}

// receiver is the name of the type of a method.
func receiver(fn *ast.FuncDecl) (name string) {
	ast.Inspect(fn.Recv.List[0].Type, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		if ok && name == "" {
			name = id.Name
		}
		return name == ""
	})
	return name
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

// eachFile parses every Go file of this module but the tests. A directory with a
// go.mod of its own is another module.
func eachFile(t *testing.T, visit func(dir, name string, f *ast.File)) {
	t.Helper()
	fset := token.NewFileSet()
	err := filepath.WalkDir(".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && name != "." && skipped(name):
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
	check.OK(t, err)
}

// skipped reports whether ./... leaves a directory out.
func skipped(dir string) bool {
	base := filepath.Base(dir)
	_, err := os.Stat(filepath.Join(dir, "go.mod"))
	return err == nil || base == "testdata" || strings.HasPrefix(base, ".")
}
