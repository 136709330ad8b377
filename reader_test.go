package zksim_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/zksim/zksim/internal/testrun"
)

// TestTutorial does what docs/tutorial.md says: the test finds the bug, prints what the page shows,
// saves the scenario, and passes when the bug is mended, with the saved scenario, too.
func TestTutorial(t *testing.T) {
	t.Parallel()
	page := testrun.ReadFile(t, "docs/tutorial.md")
	code := blocks(page, "go")
	if len(code) != 3 {
		t.Fatalf("docs/tutorial.md has %d blocks of Go; expected visits.go, its test and the "+
			"mending", len(code))
	}
	dir := readerModule(t, "example.com/visits", map[string]string{
		"visits.go": code[0], "visits_test.go": code[1],
	})
	expectShown(t, "docs/tutorial.md", goTest(t, dir))
	const saved = "testdata/zksim/TestVisits/delivery-c423eb0f.yaml"
	if _, err := os.Stat(filepath.Join(dir, saved)); err != nil {
		t.Errorf("the scenario is not kept: %v", err)
	}
	before, rest, _ := strings.Cut(code[0], "\t\tif errors.Is(err, zk.ErrBadVersion)")
	_, after, ok := strings.Cut(rest, "\t\treturn sum, err\n")
	if !ok {
		t.Fatalf("docs/tutorial.md has nothing to mend in\n%s", code[0])
	}
	testrun.WriteFile(t, filepath.Join(dir, "visits.go"), before+code[2]+after)
	if text := goTest(t, dir); !strings.Contains(text, "\nPASS\n") {
		t.Errorf("after mending:\n%s", text)
	}
}

// TestAnyGoPage: the program of docs/any-go.md and its test compile, and with -full zksim go runs
// them, and the trace is the one of the page.
func TestAnyGoPage(t *testing.T) {
	t.Parallel()
	page := testrun.ReadFile(t, "docs/any-go.md")
	code := blocks(page, "go")
	if len(code) != 2 {
		t.Fatalf("docs/any-go.md has %d blocks of Go; expected main.go and its test", len(code))
	}
	dir := readerModule(t, "example.com/store", map[string]string{
		"main.go": code[0], "main_test.go": code[1],
	})
	succeed(t, dir, "go", "vet", ".")
	if !testrun.Full() {
		return
	}
	zksim := filepath.Join(t.TempDir(), "zksim")
	succeed(t, ".", "go", "build", "-o", zksim, "./cmd/zksim")
	succeed(t, dir, zksim, "go", "test", ".")
	trace := succeed(t, dir, zksim, "go", "run", ".")
	if shown := blocks(page, ""); len(shown) != 1 || !strings.Contains(trace, shown[0]) {
		t.Errorf("docs/any-go.md shows\n%s\nand the program prints\n%s", shown, trace)
	}
}

// TestReadmeShowsTheFailure: the failure in README.md is that of its test with the lock that it
// names, in a module of a reader.
func TestReadmeShowsTheFailure(t *testing.T) {
	t.Parallel()
	lock := strings.Replace(
		testrun.ReadFile(t, "examples/go/myzksim/mylock.go"), "package main\n", "package mylock\n", 1,
	)
	_, test, _ := strings.Cut(testrun.ReadFile(t, "README.md"), "```go\nfunc TestMyLock(")
	test, _, _ = strings.Cut(test, "```\n")
	test = strings.Replace(
		test, "recipes.NewLock(env.Conn, env.Path)", "&myLock{conn: env.Conn, path: env.Path}", 1,
	)
	dir := readerModule(t, "example.com/mylock", map[string]string{
		"mylock.go": lock,
		"mylock_test.go": `package mylock

import (
	"testing"

	"github.com/zksim/zksim/fuzz"
	"github.com/zksim/zksim/fuzz/object"
)

func TestMyLock(` + test,
	})
	expectShown(t, "README.md", goTest(t, dir))
}

// TestCodeUnderTestOwesNothing: a counter and a queue that do not import zksim are judged by their
// own errors, and neither they nor their test need package recipes.
func TestCodeUnderTestOwesNothing(t *testing.T) {
	t.Parallel()
	const from = "testdata/owes_nothing/"
	dir := readerModule(t, "example.com/tally", map[string]string{
		"tally.go": testrun.ReadFile(t, from+"tally.go"), "tally_test.go": testrun.ReadFile(t, from+"tally_test.go"),
	})
	if deps := succeed(t, dir, "go", "list", "-deps", "."); strings.Contains(deps, "zksim") {
		t.Errorf("the code imports zksim:\n%s", deps)
	}
	deps := succeed(t, dir, "go", "list", "-deps", "-test", ".")
	if strings.Contains(deps, "zksim/recipes") {
		t.Errorf("its test imports package recipes:\n%s", deps)
	}
	t.Log(succeed(t, dir, "go", "test", "-v", "-short", "-zksim.runs=5", "."))
}

// readerModule makes the module of a reader, who has this clone, and returns its directory.
func readerModule(t *testing.T, path string, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	testrun.Module(t, ".", dir, path, files)
	return dir
}

// goTest returns what go test prints in a directory, with few scenarios.
func goTest(t *testing.T, dir string) string {
	t.Helper()
	_, text := command(t, dir, "go", "test", "-v", "-short", "-zksim.runs=1")
	return text
}

// succeed runs a command in a directory, which must succeed, and returns what it prints.
func succeed(t *testing.T, dir string, args ...string) string {
	t.Helper()
	ok, text := command(t, dir, args...)
	if !ok {
		t.Fatalf("%q fails:\n%s", args, text)
	}
	return text
}

func command(t *testing.T, dir string, args ...string) (ok bool, text string) {
	t.Helper()
	return testrun.Command(t, dir, []string{"GOFLAGS=-mod=mod", "GOWORK=off"}, args...)
}

// expectShown reports a page that does not show the failure of a test. Go test indents the failure
// and puts the place in the test before it.
func expectShown(t *testing.T, page, output string) {
	t.Helper()
	_, failure, ok := strings.Cut(output, "_test.go:")
	_, failure, _ = strings.Cut(failure, ": ")
	failure, _, _ = strings.Cut(failure, "\n--- FAIL: ")
	failure = strings.ReplaceAll(failure, "\n        ", "\n")
	if !ok || !strings.Contains(testrun.ReadFile(t, page), "```\n"+strings.TrimSpace(failure)+"\n```\n") {
		t.Errorf("%s does not show the output:\n%s", page, output)
	}
}
