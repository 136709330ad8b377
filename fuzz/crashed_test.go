package fuzz_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-zookeeper/zk"
	"github.com/zksim/zksim/fuzz"
	"github.com/zksim/zksim/fuzz/object"
	"github.com/zksim/zksim/internal/check"
	"github.com/zksim/zksim/internal/testrun"
)

// endingChild is the environment variable that makes this test binary run TestEnding; its value is
// the lock to test.
const endingChild = "ZKSIM_ENDING_CHILD"

func TestEnding(t *testing.T) {
	lock := os.Getenv(endingChild)
	if lock == "" {
		t.Skip("for TestScenarioThatEndsTheProcessIsKept")
	}
	testrun.SetFlag(t, "zksim.runs", "1")
	fuzz.Test(t, object.Lock(func(env object.Env) object.Locker {
		return ending{goodLock(env), env.Conn, lock == "bad"}
	}))
}

// ending is a lock that ends the process when a call fails.
type ending struct {
	object.Locker
	conn *zk.Conn
	bad  bool
}

func (l ending) Lock(ctx context.Context) error {
	if _, _, err := l.conn.Exists("/"); err != nil && l.bad {
		go func() { panic("lost") }()
		select {}
	}
	return l.Locker.Lock(ctx)
}

// TestScenarioThatEndsTheProcessIsKept: it is noted, tried first and alone in the next process, and
// from then on a saved failure.
func TestScenarioThatEndsTheProcessIsKept(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	play := func(lock string, flags ...string) (passed bool, text string) {
		return testrun.Self(t, dir, []string{endingChild + "=" + lock},
			append(flags, "-test.run=^TestEnding$", "-test.short")...)
	}
	for i, want := range []struct{ output, file string }{
		{"panic: lost", ".playing-*"},
		{"zksim: TestEnding plays testdata/zksim/TestEnding/left-", "TestEnding/left-*.yaml"},
		{"zksim: TestEnding plays testdata/zksim/TestEnding/crash-", "TestEnding/crash-*.yaml"},
	} {
		passed, text := play("bad")
		files, err := filepath.Glob(filepath.Join(dir, "testdata", "zksim", want.file))
		if passed || !strings.Contains(text, want.output) || len(files) != 1 || err != nil {
			t.Errorf("process %d: passed: %v; files %q, %v; want one %s, and %q in:\n%s",
				i+1, passed, files, err, want.file, want.output, text)
		}
	}
	const ended, left = 1 << 30, "/zksim-x is left on 127.0.0.1:1"
	note := filepath.Join(dir, "testdata", "zksim", fmt.Sprintf(".playing-%d-0", ended))
	check.OK(t, os.WriteFile(note, []byte(left), 0o666))
	passed, text := play("good")
	if !passed {
		t.Errorf("a good lock fails:\n%s", text)
	}
	check.Equal(t, strings.Contains(text, left), false, "a test that passes shows its log")
	_, text = play("good", "-test.v")
	check.Contains(t, text, "zksim: from an earlier process: "+left)
	_, text = play("good", "-test.v")
	check.Equal(t, strings.Contains(text, left), false, "a note that was shown stays")
	files, err := filepath.Glob(filepath.Join(dir, "testdata", "zksim", "*", "*"))
	if err != nil || len(files) != 1 || !strings.Contains(files[0], "crash-") {
		t.Errorf("left in the end: %q, %v; want the crash only", files, err)
	}
}
