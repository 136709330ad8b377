package fuzz_test

import (
	"os"
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
	testrun.Module(t, "..", dir, "example.org/user", map[string]string{
		"deep/mylock/mylock_test.go": lockTest, "other/one.go": "package other\n",
	})
	return dir
}

// shell is the output of a command line in a directory, and whether it succeeds.
func shell(t *testing.T, dir, line string) (ok bool, text string) {
	t.Helper()
	return testrun.Command(
		t, dir, []string{"GOFLAGS=-mod=mod -vet=off", "GOWORK=off"}, "sh", "-c", line,
	)
}

// TestFailureIsRepeatedInTheModule by the printed command, and by zksim.
func TestFailureIsRepeatedInTheModule(t *testing.T) {
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
	testrun.SetFlag(t, "zksim.replay", name)
	fails(t, "TestPrimary", primaries(true), "the whole trace, but for pings:")
	testrun.SetFlag(t, "zksim.replay", filepath.Base(filepath.Dir(root))+"/"+name)
	fails(t, "TestPrimary", primaries(true), "no such file")
}
