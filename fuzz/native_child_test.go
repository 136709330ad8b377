package fuzz_test

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/zksim/zksim/fuzz"
	"github.com/zksim/zksim/fuzz/object"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/internal/testrun"
)

// child is the environment variable that makes this test binary run FuzzChild; its value names the
// lock to test. A process cannot examine its own fuzz target that fails.
const child = "ZKSIM_FUZZ_CHILD"

func FuzzChild(f *testing.F) {
	w, ok := map[string]scenario.Workload{
		"good": object.Lock(goodLock), "bad": clientLock(), "freezing": freezing(),
		"ending": object.Lock(func(env object.Env) object.Locker {
			return ending{goodLock(env), env.Conn, true}
		}),
	}[os.Getenv(child)]
	if !ok {
		f.Skip("for TestFuzzTargets")
	}
	fuzz.Fuzz(f, w.Named("FuzzChild"))
}

// outside is of no run, and nobody writes to the pipe.
var outside, silent, _ = os.Pipe()

// brittle is a lock that waits for ever, for something outside of the run, once a request has
// failed.
type brittle struct{ object.Locker }

func (l brittle) Lock(ctx context.Context) error {
	err := l.Locker.Lock(ctx)
	if err != nil {
		_, _ = outside.Read(make([]byte, 1))
		runtime.KeepAlive(silent) // it would be closed
	}
	return err
}

func freezing() scenario.Workload {
	w := object.Lock(func(env object.Env) object.Locker { return brittle{goodLock(env)} })
	w.Freeze = 100 * time.Millisecond
	return w
}

// TestUndecidedInputsAreTold, by go test and by go test -fuzz: they do not pass.
func TestUndecidedInputsAreTold(t *testing.T) {
	t.Parallel()
	told := regexp.MustCompile(`zksim: FuzzChild: [1-9]\d* inputs are undecided; the first: ` +
		`the run froze: a goroutine waits for something outside of the run at native_child_test.go:\d+`)
	for _, flags := range [][]string{
		nil, {"-test.fuzz=^FuzzChild$", "-test.fuzztime=24x", "-test.fuzzcachedir=" + t.TempDir()},
	} {
		dir := t.TempDir()
		passed, text := fuzzChild(t, dir, "freezing", flags...)
		if !passed || !told.MatchString(text) {
			t.Errorf("%q: passed: %v\n%s", flags, passed, text)
		}
		if left, _ := filepath.Glob(dir + "/testdata/zksim/.*"); len(left) > 0 {
			t.Errorf("%q: left: %q", flags, left)
		}
	}
}

// TestInputThatEndsTheProcessIsTold by go test -fuzz at once, and tried first the next time.
func TestInputThatEndsTheProcessIsTold(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, told := range []string{
		"/left-[0-9a-f]+.yaml was under way when a process of FuzzChild ended. To see it again: ",
		"FuzzChild plays testdata/zksim/FuzzChild/left-",
	} {
		passed, text := fuzzChild(t, dir, "ending", "-test.fuzz=^FuzzChild$", "-test.fuzztime=100x",
			"-test.fuzzcachedir="+t.TempDir())
		if passed || !regexp.MustCompile(told).MatchString(text) {
			t.Errorf("passed: %v; want %q:\n%s", passed, told, text)
		}
	}
}

// fuzzChild runs FuzzChild in a directory. It reports whether it passed, and returns its output.
func fuzzChild(t *testing.T, dir, lock string, flags ...string) (passed bool, text string) {
	t.Helper()
	return testrun.Self(t, dir, []string{child + "=" + lock},
		append([]string{"-test.run=^FuzzChild$", "-test.v"}, flags...)...)
}

// TestFuzzTargets: their seeds find the bug, no input is skipped, and a failure is printed once,
// saved, tried first the next time, and replayed.
func TestFuzzTargets(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if passed, text := fuzzChild(t, dir, "good"); !passed || strings.Contains(text, "SKIP") ||
		strings.Count(text, "--- PASS: FuzzChild/") < 8 {
		t.Errorf("a good lock: passed: %v\n%s", passed, text)
	}
	headline := regexp.MustCompile(`liveness is violated: .*`)
	found := func(about string, flags ...string) string {
		t.Helper()
		passed, text := fuzzChild(t, dir, "bad", flags...)
		lines := headline.FindAllString(text, -1)
		slices.Sort(lines)
		if passed || len(lines) == 0 || len(slices.Compact(lines)) < len(lines) {
			t.Errorf("%s: passed: %v; want violations of liveness, each once\n%s", about, passed,
				text)
		}
		return text
	}
	found("a bad lock")
	files, err := filepath.Glob(
		filepath.Join(dir, "testdata", "zksim", "FuzzChild", "liveness-*.yaml"),
	)
	if err != nil || len(files) == 0 {
		t.Fatalf("saved: %q, %v", files, err)
	}
	if text := found("a bad lock again"); strings.Contains(text, "FuzzChild/seed") {
		t.Errorf("the seeds were tried before what was saved:\n%s", text)
	}
	for _, file := range files {
		passed, text := fuzzChild(t, dir, "bad", "-zksim.replay="+file)
		if passed || !strings.Contains(text, "the whole trace, but for pings:") {
			t.Errorf("replay of %s: passed: %v\n%s", file, passed, text)
		}
	}
	replay := "-zksim.replay=" + files[0]
	if passed, text := fuzzChild(t, dir, "good", replay); !passed ||
		!strings.Contains(text, "nothing is violated any more") {
		t.Errorf("replay of what was mended: passed: %v\n%s", passed, text)
	}
	if passed, text := fuzzChild(t, dir, "good", "-zksim.goroutines=2",
		"-zksim.careless"); passed ||
		!strings.Contains(text, "-zksim.goroutines: 2; expected 1") {
		t.Errorf("two goroutines: passed: %v\n%s", passed, text)
	}
}
