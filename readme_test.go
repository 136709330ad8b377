package zksim_test

import (
	"errors"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/google/go-cmp/cmp"
	"github.com/zksim/zksim/fakezk"
	"github.com/zksim/zksim/fakezk/conform"
	"github.com/zksim/zksim/fakezk/fault"
	"github.com/zksim/zksim/fuzz"
	"github.com/zksim/zksim/fuzz/object"
	"github.com/zksim/zksim/recipes"
)

// What stands between the markers stands in README.md too, letter by letter;
// TestReadmeShowsTheseTests sees to it.

// README: first test
func TestEphemeralIsGoneAfterExpiry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // virtual time: the twelve seconds below cost microseconds
		server := fakezk.Start(t)
		owner, watcher := server.Connect(t), server.Connect(t) // genuine *zk.Conn
		if _, err := owner.Create("/alive", nil, zk.FlagEphemeral, zk.WorldACL(zk.PermAll)); err != nil {
			t.Fatal(err)
		}
		_, _, gone, err := watcher.ExistsW("/alive")
		if err != nil {
			t.Fatal(err)
		}
		if err := server.ExpireSession(owner.SessionID()); err != nil {
			t.Fatal(err)
		}
		if ev := <-gone; ev.Type != zk.EventNodeDeleted {
			t.Errorf("got %v; expected the node to go with its session", ev)
		}
		time.Sleep(12 * time.Second)
	})
}

// README: end

// README: lost reply
func TestCreateWhoseReplyIsLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := fakezk.Start(t)
		conn := server.Connect(t)
		if err := server.Inject(fault.Fault{Kind: fault.DropReply, Op: "create", Request: 1}); err != nil {
			t.Fatal(err)
		}
		if _, err := conn.Create("/a", nil, 0, zk.WorldACL(zk.PermAll)); !errors.Is(err, zk.ErrConnectionClosed) {
			t.Errorf("got %v; expected a lost connection", err)
		}
		if exists, _, err := conn.Exists("/a"); err != nil || !exists {
			t.Errorf("got %v, %v; expected the node to be there all the same", exists, err)
		}
	})
}

// README: end

// README: own lock
func TestMyLock(t *testing.T) {
	fuzz.Test(t, object.Lock(func(env object.Env) object.Locker {
		return recipes.NewLock(env.Conn, "/lock") // your lock here
	}))
}

// README: end

// TestReadmeListsWhatIsCompared holds the table of operations against what the
// comparison with a real server sends.
func TestReadmeListsWhatIsCompared(t *testing.T) {
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(readme), "| operations | compared with "+conform.Version+" | remarks |\n|---|---|---|\n")
	table, _, _ = strings.Cut(table, "\n\n")
	var listed []string
	for row := range strings.SplitSeq(table, "\n") {
		names, _, _ := strings.Cut(strings.TrimPrefix(row, "| "), " |")
		for name := range strings.FieldsSeq(names) {
			listed = append(listed, strings.Trim(name, "`"))
		}
	}
	slices.Sort(listed)
	if diff := cmp.Diff(conform.Operations(), listed); diff != "" {
		t.Errorf("-compared +listed in README.md\n%s", diff)
	}
}

func TestReadmeShowsTheseTests(t *testing.T) {
	source, err := os.ReadFile("readme_test.go")
	if err != nil {
		t.Fatal(err)
	}
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := strings.Split(string(source), "// README: ")[1:]
	for _, block := range blocks {
		name, code, _ := strings.Cut(block, "\n")
		code, _, _ = strings.Cut(code, "\n\n// README: end")
		if !strings.HasPrefix(code, "func Test") || name == "end" {
			continue
		}
		if !strings.Contains(string(readme), strings.TrimSpace(code)) {
			t.Errorf("README.md does not show the test %q as it is here", name)
		}
	}
}

// TestReadmeShowsTheExampleProgram holds the program of the README against the
// one that is compiled and run.
func TestReadmeShowsTheExampleProgram(t *testing.T) {
	source, err := os.ReadFile("examples/go/myzksim/main.go")
	if err != nil {
		t.Fatal(err)
	}
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, program, _ := strings.Cut(string(source), "\npackage main\n")
	if !strings.Contains(string(readme), "```go\npackage main\n"+program+"```\n") {
		t.Error("README.md does not show examples/go/myzksim/main.go as it is")
	}
}
