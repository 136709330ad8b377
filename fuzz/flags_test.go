package fuzz_test

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/creack/pty"
	"github.com/zksim/zksim/fuzz"
	"github.com/zksim/zksim/fuzz/object"
	"github.com/zksim/zksim/internal/check"
	"github.com/zksim/zksim/internal/testrun"
)

// flaggedChild is the environment variable that makes this test binary run TestFlagged. A process
// reads the variables of the flags once.
const flaggedChild = "ZKSIM_FLAGGED_CHILD"

func TestFlagged(t *testing.T) {
	if os.Getenv(flaggedChild) == "" {
		t.Skip("for TestVariablesAreDefaultsOfTheFlags")
	}
	fuzz.Test(t, object.Lock(goodLock))
}

// TestVariablesAreDefaultsOfTheFlags: go test ./... takes them, and errors name them.
func TestVariablesAreDefaultsOfTheFlags(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	elsewhere := filepath.Join(dir, "f.yaml")
	check.OK(t, os.WriteFile(elsewhere, []byte("workload: queue\nclients: 1\nrounds: 1\n"+
		"expect: ok\ntest: TestQueue\npackage: a.org/queue\n"), 0o666))
	for _, c := range []struct{ variable, flag, want string }{
		{"ZKSIM_RUNS=2", "-zksim.seed=5", " and 2 other scenarios"},
		{"ZKSIM_RUNS=2", "-zksim.runs=1", " and 1 other scenarios"},
		{"ZKSIM_RUNS=many", "-zksim.seed=5", "zksim: ZKSIM_RUNS=many; expected a whole number\n"},
		{"ZKSIM_RUNS=0", "-zksim.seed=5", "zksim: ZKSIM_RUNS=0; expected 1 or more\n"},
		{"ZKSIM_SHARD=1/3", "-zksim.runs=3", "zksim: survived "},
		{"ZKSIM_SHARD=1/3", "-zksim.runs=2", "2 scenarios for 3 parts; expected at least one for each"},
		{"ZKSIM_SHARDS=1/3", "-zksim.seed=5",
			"zksim: ZKSIM_SHARDS is not known (did you mean ZKSIM_SHARD?)\n"},
		{"ZKSIM_SHARD=4", "-zksim.seed=5", "zksim: ZKSIM_SHARD=4; expected a part such as 2/3\n"},
		{"ZKSIM_X=", "-zksim.shard=4", "zksim: -zksim.shard=4; expected a part such as 2/3\n"},
		{"ZKSIM_X=", "-zksim.servers=", "zksim: -zksim.servers=; expected a whole number, or " +
			"addresses as host:port with commas between\n"},
		{"ZKSIM_SERVERS=three", "-zksim.seed=5", "zksim: ZKSIM_SERVERS=three; expected a whole "},
		{"ZKSIM_SERVERS=three", "-zksim.servers=1", "zksim: survived "},
		{"ZKSIM_CARELESS=ja", "-zksim.seed=5", "ZKSIM_CARELESS=ja; expected true or false\n"},
		{"ZKSIM_GOROUTINES=9", "-zksim.seed=5", "zksim: ZKSIM_GOROUTINES: 9; expected 1 to 8"},
		{"ZKSIM_UNTIL=3", "-zksim.seed=5", "zksim: ZKSIM_UNTIL goes with -zksim.replay\n"},
		{"ZKSIM_DIFF=a", "-zksim.step", "zksim: ZKSIM_DIFF goes without step and until\n"},
		{"ZKSIM_REPLAY=" + elsewhere, "-zksim.seed=5",
			"f.yaml is left to TestQueue of a.org/queue\n--- SKIP: TestFlagged "},
		{"ZKSIM_X=", "-zksim.replay=" + elsewhere, `f.yaml:1:11: unknown workload "queue"; ` +
			"expected one of lock: the file is of TestQueue of a.org/queue\n"},
	} {
		_, text := testrun.Self(t, dir, []string{flaggedChild + "=1", c.variable},
			"-test.run=^TestFlagged$", "-test.v", "-test.short", c.flag)
		if !strings.Contains(text, c.want) || strings.Contains(text, "Usage of") {
			t.Errorf("%s, %s: %s\nwant %s", c.variable, c.flag, text, c.want)
		}
	}
}

// TestReplaysAreShownInParts: up to a line, and where two of them differ.
func TestReplaysAreShownInParts(t *testing.T) {
	file := failing(t)
	text := func() string {
		_, text := tested("TestPrimary", primaries(true))
		return text
	}
	testrun.SetFlag(t, "zksim.replay", file)
	testrun.SetFlag(t, "zksim.until", "3")
	check.Contains(t, text(), "\n    3     ")
	check.Contains(t, text(), "\n  sessions: ")
	check.Equal(t, strings.Contains(text(), "\n    4     "), false)
	testrun.SetFlag(t, "zksim.until", "100000")
	check.Contains(t, text(), " lines, there is no line 100000")
	testrun.SetFlag(t, "zksim.until", "0")

	testrun.SetFlag(t, "zksim.diff", file)
	check.Contains(t, text(), "zksim: the traces are equal: ")
	other := filepath.Join("testdata", "zksim", "other.yaml")
	check.OK(t, os.WriteFile(other, []byte(testrun.ReadFile(t, file)), 0o666))
	edit(t, other, `seed: \d+`, "seed: 77")
	testrun.SetFlag(t, "zksim.diff", other)
	check.Contains(t, text(), "zksim: lines with - are of this run, those with + of "+other+":\n")
	testrun.SetFlag(t, "zksim.diff", "nothing.trace")
	check.Contains(t, text(), "zksim: -zksim.diff: open nothing.trace: no such file")
}

// TestWalkIsOnTheTerminal, as go test gives a test no input.
func TestWalkIsOnTheTerminal(t *testing.T) {
	binary, err := os.Executable()
	check.OK(t, err)
	cmd := exec.CommandContext(t.Context(), binary, "-test.run=^TestWalked$", "-zksim.step",
		"-zksim.replay="+failing(t))
	cmd.Env = append(os.Environ(), walkedChild+"=1")
	var stdout strings.Builder
	cmd.Stdout = &stdout
	terminal, err := pty.Start(cmd)
	if errors.Is(err, pty.ErrUnsupported) {
		t.Skip("no terminals on " + runtime.GOOS)
	}
	check.OK(t, err)
	defer terminal.Close()
	_, err = terminal.WriteString("\ns\nq\n")
	check.OK(t, err)
	shown, _ := io.ReadAll(terminal) // the end of the process is an error there
	check.Equal(t, cmd.Wait() == nil, false)
	check.Equal(t, regexp.MustCompile(` 2 +\d+\.\d{6}s`).Match(shown), true)
	check.Contains(t, string(shown), "sessions: ")
	check.Equal(t, strings.Contains(stdout.String(), "sessions"), false)
	check.Contains(t, stdout.String(), "invariant is violated")
}

const walkedChild = "ZKSIM_WALKED_CHILD"

func TestWalked(t *testing.T) {
	if os.Getenv(walkedChild) == "" {
		t.Skip("for TestWalkIsOnTheTerminal")
	}
	fuzz.Test(t, primaries(true))
}
