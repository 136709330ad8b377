package marks

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/zksim/zksim/internal/check"
	"github.com/zksim/zksim/internal/testrun"
)

// fakeTest is a test that ends when its cleanup is called.
type fakeTest struct {
	cleanup func()
	failure string
}

func (f *fakeTest) Helper()                           {}
func (f *fakeTest) Cleanup(end func())                { f.cleanup = end }
func (f *fakeTest) Errorf(format string, args ...any) { f.failure = fmt.Sprintf(format, args...) }

func TestExpectFailsUnlessTheMarkIsHit(t *testing.T) {
	Hit("a") // before the test
	for _, test := range []struct{ hit, want string }{
		{"a", ""}, {"b", `the line marked "a" was not reached`},
	} {
		f := &fakeTest{}
		Expect(f, "a")
		Hit(test.hit)
		f.cleanup()
		check.Equal(t, f.failure, test.want, "hit %s", test.hit)
	}
	check.Equal(t, expecting.Load(), 0, "marks that are still expected")
}

// TestEveryMarkHasItsTest: each mark stands at one line of the code below fakezk, and one test or
// one script of package conform expects it.
func TestEveryMarkHasItsTest(t *testing.T) {
	lines, tests := map[string][]string{}, map[string][]string{}
	err := filepath.WalkDir("../..", func(file string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil || entry.IsDir():
			return err
		case filepath.Ext(file) == ".txt":
			marksOfScripts(t, file, tests)
		case strings.HasSuffix(file, "_test.go"):
			marksOfCalls(t, file, "Expect", tests)
		case filepath.Ext(file) == ".go":
			marksOfCalls(t, file, "Hit", lines)
		}
		return nil
	})
	check.OK(t, err)
	if len(lines) == 0 {
		t.Fatal("no marks found")
	}
	for mark, at := range lines {
		if len(at) != 1 || len(tests[mark]) != 1 {
			t.Errorf("%q marks %q and is expected by %q; want one each", mark, at, tests[mark])
		}
	}
	for mark, by := range tests {
		if lines[mark] == nil {
			t.Errorf("%q expects %q, which marks no line", by, mark)
		}
	}
}

// marksOfCalls adds the marks of the calls of a function of this package in a file. A mark that is
// no literal comes from a script.
func marksOfCalls(t *testing.T, file, function string, found map[string][]string) {
	text, err := os.ReadFile(file)
	check.OK(t, err)
	if !strings.Contains(string(text), "marks."+function+"(") {
		return
	}
	set := token.NewFileSet()
	parsed, err := parser.ParseFile(set, file, text, parser.SkipObjectResolution)
	check.OK(t, err)
	ast.Inspect(parsed, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok || !isCallOf(call, function) {
			return true
		}
		at := set.Position(call.Pos()).String()
		if mark, ok := literal(call.Args[len(call.Args)-1]); ok {
			found[mark] = append(found[mark], at)
		} else if function == "Hit" {
			t.Errorf("%s: the mark is not a string literal", at)
		}
		return true
	})
}

func isCallOf(call *ast.CallExpr, function string) bool {
	selector, ok := call.Fun.(*ast.SelectorExpr)
	if !ok || selector.Sel.Name != function {
		return false
	}
	pkg, ok := selector.X.(*ast.Ident)
	return ok && pkg.Name == "marks"
}

func literal(e ast.Expr) (text string, ok bool) {
	lit, ok := e.(*ast.BasicLit)
	if !ok || lit.Kind != token.STRING {
		return "", false
	}
	text, err := strconv.Unquote(lit.Value)
	return text, err == nil
}

// markLine finds the marks of scripts.
var markLine = regexp.MustCompile(`(?m)^mark (.*)$`)

func marksOfScripts(t *testing.T, file string, found map[string][]string) {
	for _, m := range markLine.FindAllStringSubmatch(testrun.ReadFile(t, file), -1) {
		found[m[1]] = append(found[m[1]], file)
	}
}
