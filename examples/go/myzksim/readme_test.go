package main

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"

	"github.com/zksim/zksim/fuzz"
	"github.com/zksim/zksim/fuzz/object"
)

// TestReadmeShowsTheFailure: the output in README.md is the output of a test of myLock.
func TestReadmeShowsTheFailure(t *testing.T) {
	readme, err := os.ReadFile("../../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir()) // the failure is saved there
	output := failureOf(func(tb fuzz.TB) {
		fuzz.Test(tb, object.Lock(func(env object.Env) object.Locker {
			return &myLock{conn: env.Conn, path: env.Path}
		}))
	})
	if !strings.Contains(string(readme), "```\n"+strings.TrimSpace(output)+"\n```\n") {
		t.Errorf("README.md does not show the output:\n%s", output)
	}
}

// failureOf returns the failure text of a test called TestMyLock, "" if it passes.
func failureOf(test func(fuzz.TB)) string {
	tb := &failingTest{}
	done := make(chan struct{})
	go func() {
		defer close(done)
		test(tb)
	}()
	<-done
	return tb.failure
}

// failingTest is a fuzz.TB that keeps the failure.
type failingTest struct{ failure string }

func (*failingTest) Helper() {}

func (*failingTest) Name() string { return "TestMyLock" }

func (*failingTest) Logf(string, ...any) {}

func (f *failingTest) Fatalf(format string, args ...any) {
	f.failure = fmt.Sprintf(format, args...)
	runtime.Goexit()
}
