package fuzz_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/zksim/zksim/internal/check"
	"github.com/zksim/zksim/internal/testrun"
)

// lockTest is a test in a module of a user. Its lock is the one of the go-zookeeper client.
const lockTest = `package mylock_test

import (
	"testing"

	"github.com/go-zookeeper/zk"
	"github.com/zksim/zksim/fuzz"
	"github.com/zksim/zksim/fuzz/object"
	"github.com/zksim/zksim/recipes/classic"
)

func TestMyLock(t *testing.T) {
	t.Run("it's $HOME", func(t *testing.T) {
		fuzz.Test(t, object.Lock(func(env object.Env) object.Locker {
			return classic.NewClientLock(env.Conn, env.Path, zk.WorldACL(zk.PermAll))
		}))
	})
}
`

// userModule makes a module of a user with one package, and returns its root.
func userModule(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "my module")
	pkg := filepath.Join(dir, "deep", "mylock")
	check.OK(t, os.MkdirAll(pkg, 0o777))
	root, err := filepath.Abs("..")
	check.OK(t, err)
	_, requirements, _ := strings.Cut(readFile(t, "../go.mod"), "\n")
	for name, text := range map[string]string{
		filepath.Join(dir, "go.mod"): "module example.org/user\n" + requirements +
			"\nrequire github.com/zksim/zksim v0.0.0\n\nreplace github.com/zksim/zksim => " +
			root + "\n",
		filepath.Join(dir, "go.sum"):          readFile(t, "../go.sum"),
		filepath.Join(pkg, "mylock_test.go"):  lockTest,
		filepath.Join(dir, "other", "one.go"): "package other\n",
	} {
		check.OK(t, os.MkdirAll(filepath.Dir(name), 0o777))
		check.OK(t, os.WriteFile(name, []byte(text), 0o666))
	}
	return dir
}

func readFile(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	check.OK(t, err)
	return string(text)
}

// shell is the output of a command line in a directory, and whether it succeeds.
func shell(t *testing.T, dir, line string) (ok bool, text string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "sh", "-c", line)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOFLAGS=-mod=mod -vet=off", "GOWORK=off", "PWD="+dir)
	out, err := cmd.CombinedOutput()
	return err == nil, string(out)
}

// TestFailureIsRepeatedInTheModule by the printed command, and by zksim.
func TestFailureIsRepeatedInTheModule(t *testing.T) {
	if testing.Short() {
		t.Skip("builds programs")
	}
	t.Parallel()
	dir := userModule(t)
	ok, text := shell(t, dir, "go test -short ./...")
	_, line, found := strings.Cut(text, "to see it again: ")
	line, _, _ = strings.Cut(line, "\n")
	if ok || !found {
		t.Fatalf("passed: %v, and no command is printed:\n%s", ok, text)
	}
	for _, at := range testrun.Pick([]string{"."}, []string{".", "other", "deep/mylock"}) {
		ok, text := shell(t, filepath.Join(dir, at), line)
		if ok || !strings.Contains(text, "the whole trace, but for pings:\n") {
			t.Errorf("in %s: %s\npassed: %v\n%s", at, line, ok, text)
		}
	}
	zksim := filepath.Join(t.TempDir(), "zksim")
	if ok, text := shell(t, "..", "go build -o "+zksim+" ./cmd/zksim"); !ok {
		t.Fatal(text)
	}
	const saved = "deep/mylock/testdata/zksim/*/*.yaml"
	type command struct{ line, want string }
	commands := []command{
		{"zksim replay --until 3 --html page.html " + saved, "\n  a is in lock\n"},
		{"zksim run --json " + saved + " " + saved, `"summary": "client a waits for /lock`},
		{"zksim diff " + saved + " " + saved, "the traces are equal: "},
		{"printf '4\\nq\\n' | zksim replay --step " + saved, "\n>     4  "},
	}
	for _, c := range testrun.Pick(commands[:1], commands) {
		ok, text := shell(t, dir, "zksim() { "+zksim+` "$@"; }; `+c.line)
		if !ok || !strings.Contains(text, c.want) || strings.Contains(text, "PASS") {
			t.Errorf("%s: succeeds: %v\n%s\nwant %q", c.line, ok, text, c.want)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "page.html")); err != nil {
		t.Error(err)
	}
}

// TestReplayedFileIsFoundFromTheModulesRoot: a shell completes its name there.
func TestReplayedFileIsFoundFromTheModulesRoot(t *testing.T) {
	file, err := filepath.Abs(failing(t))
	check.OK(t, err)
	root := filepath.Dir(filepath.Dir(filepath.Dir(filepath.Dir(file))))
	check.OK(t, os.WriteFile(filepath.Join(root, "go.mod"), nil, 0o666))
	t.Chdir(filepath.Join(root, "testdata", "zksim"))
	name, err := filepath.Rel(root, file)
	check.OK(t, err)
	setFlag(t, "zksim.replay", name)
	if failed, text := testPrimary(nil); !failed ||
		!strings.Contains(text, "the whole trace, but for pings:") {
		t.Errorf("failed: %v\n%s", failed, text)
	}
	setFlag(t, "zksim.replay", filepath.Base(filepath.Dir(root))+"/"+name)
	if failed, text := testPrimary(nil); !failed || !strings.Contains(text, "no such file") {
		t.Errorf("outside of the module: failed: %v\n%s", failed, text)
	}
}
