package zksim_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/go-zookeeper/zk"
	"github.com/zksim/zksim/fuzz"
	"github.com/zksim/zksim/fuzz/object"
)

// snippet
// visits counts visits in the node at path.
type visits struct {
	conn *zk.Conn
	path string
}

func (v visits) Add(_ context.Context, n int64) (int64, error) {
	for {
		sum, version, err := v.read()
		if err != nil {
			return 0, err
		}
		sum += n
		_, err = v.conn.Set(v.path, strconv.AppendInt(nil, sum, 10), version)
		if errors.Is(err, zk.ErrBadVersion) || errors.Is(err, zk.ErrConnectionClosed) {
			continue // try again
		}
		return sum, err
	}
}

// read returns the sum and its version, and creates the node if it is missing.
func (v visits) read() (sum int64, version int32, err error) {
	data, stat, err := v.conn.Get(v.path)
	if errors.Is(err, zk.ErrNoNode) {
		_, err = v.conn.Create(v.path, []byte("0"), 0, zk.WorldACL(zk.PermAll))
		if err != nil && !errors.Is(err, zk.ErrNodeExists) {
			return 0, 0, err
		}
		data, stat, err = v.conn.Get(v.path)
	}
	if err != nil {
		return 0, 0, err
	}
	sum, err = strconv.ParseInt(string(data), 10, 64)
	return sum, stat.Version, err
}

// end of snippet

// mendedVisits are visits without the bug.
type mendedVisits struct{ visits }

func (v mendedVisits) Add(_ context.Context, n int64) (int64, error) {
	for {
		sum, version, err := v.read()
		if err != nil {
			return 0, err
		}
		sum += n
		_, err = v.conn.Set(v.path, strconv.AppendInt(nil, sum, 10), version)
		// snippet
		if errors.Is(err, zk.ErrBadVersion) {
			continue // another client was faster
		}
		return sum, err // with zk.ErrConnectionClosed n may have been added: the caller decides
		// end of snippet
	}
}

// learner is the test of the reader of docs/tutorial.md.
type learner struct{ text string }

func (*learner) Helper()             {}
func (*learner) Name() string        { return "TestVisits" }
func (*learner) Logf(string, ...any) {}
func (l *learner) Fatalf(format string, args ...any) {
	l.text = fmt.Sprintf(format, args...)
	runtime.Goexit()
}

// learn runs a test as the reader does, and returns the text of its failure.
func learn(test func(t fuzz.TB)) string {
	var l learner
	var group sync.WaitGroup
	group.Go(func() { test(&l) })
	group.Wait()
	return l.text
}

// TestTutorial does what docs/tutorial.md says: the test finds the bug, prints what the page shows,
// saves the scenario, and passes when the bug is mended, with the saved scenario, too.
func TestTutorial(t *testing.T) {
	page := readPage(t, "docs/tutorial.md")
	setFlag(t, "zksim.runs", "1")
	setFlag(t, "test.short", "true") // fewer fault points
	t.Chdir(t.TempDir())
	text := learn(func(t fuzz.TB) {
		// snippet
		fuzz.Test(t, object.Counter(func(env object.Env) object.Counterer {
			return visits{env.Conn, env.Path}
		}))
		// end of snippet
	})
	story, command, ok := strings.Cut(text, "\nto see it again: ")
	if shown := blocks(page, ""); len(shown) != 1 || !ok || !strings.Contains(shown[0], story) {
		t.Errorf("docs/tutorial.md shows\n%s\nand the test prints\n%s", shown, text)
	}
	_, file, _ := strings.Cut(command, "-zksim.replay=")
	if _, err := os.Stat(strings.TrimSpace(file)); err != nil {
		t.Errorf("the scenario is not kept: %v", err)
	}
	if text := learn(func(t fuzz.TB) {
		fuzz.Test(t, object.Counter(func(env object.Env) object.Counterer {
			return mendedVisits{visits{env.Conn, env.Path}}
		}))
	}); text != "" {
		t.Errorf("after mending:\n%s", text)
	}
}

// setFlag sets a flag of the test binary until the test ends.
func setFlag(t *testing.T, name, value string) {
	f := flag.Lookup(name)
	before := f.Value.String()
	if err := flag.Set(f.Name, value); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := flag.Set(f.Name, before); err != nil {
			t.Error(err)
		}
	})
}
