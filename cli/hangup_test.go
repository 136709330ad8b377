//go:build unix

package cli

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/zksim/zksim/cli/internal/command"
	"github.com/zksim/zksim/fakezk"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/internal/check"
)

// TestAClosedTerminalEndsTheCommand, which deletes its nodes and its own files first.
func TestAClosedTerminalEndsTheCommand(t *testing.T) {
	server := fakezk.Start(t, fakezk.Options{TickTime: 250 * time.Millisecond})
	address := server.Listen(t)
	temporary := t.TempDir()
	t.Setenv("TMPDIR", temporary)
	h := huntAsGuest(t, "obedient", address)
	files := func() int {
		names, err := filepath.Glob(filepath.Join(temporary, "zksim-*"))
		check.OK(t, err)
		return len(names)
	}
	check.Equal(t, files(), 1, "directories while it plays")
	check.OK(t, syscall.Kill(-h.Process.Pid, syscall.SIGHUP))
	_, err := io.ReadAll(h.stderr) // until the second process has ended, too
	check.OK(t, err)
	_ = h.Wait() // the signal has ended it
	check.Equal(t, files(), 0, "directories that are left")
	check.Equal(t, strings.Join(nodesOf(t, address), " "), "zookeeper")
}

// TestOutputWithoutAReaderIsNoCrash of the code under test.
func TestOutputWithoutAReaderIsNoCrash(t *testing.T) {
	self, err := os.Executable()
	check.OK(t, err)
	reader, writer, err := os.Pipe()
	check.OK(t, err)
	check.OK(t, reader.Close())
	cmd, stderr := exec.Command(self), new(strings.Builder)
	cmd.Args = []string{"zksim", "fuzz", "lock", "--runs=1"}
	cmd.Stdout, cmd.Stderr = writer, stderr
	_ = cmd.Run() // its error is the status
	check.Equal(t, cmd.ProcessState.ExitCode(), command.ExitViolated, "exit status; %s", stderr)
	check.Equal(t, stderr.String(), "", "standard error")
}

// TestOnlyAnEnsembleGivesTimeToCleanUp, also to a process whose parent was killed.
func TestOnlyAnEnsembleGivesTimeToCleanUp(t *testing.T) {
	var c commands
	check.Equal(t, c.grace(), grace)
	check.OK(t, c.Sweep.Servers.UnmarshalText([]byte("a:1")))
	check.Equal(t, c.grace(), graceOnEnsemble)
}

// TestEachNodeThatIsLeftIsPrintedOnce: the error of a file names it already.
func TestEachNodeThatIsLeftIsPrintedOnce(t *testing.T) {
	server := fakezk.Start(t, fakezk.Options{TickTime: 250 * time.Millisecond})
	address := server.Listen(t)
	file := fileOf(t, "workload: lock\nimplementation: locking\nclients: 1\nrounds: 1\n"+
		"seed: 1\nexpect: ok\n")
	got := zksim(t.Context(), "run "+file+" "+file+" --servers="+address, locking())
	got.has(t, command.ExitInput)
	var left []string
	for _, name := range nodesOf(t, address) {
		if n := strings.Count(got.stderr, "/"+name+" is left on "); n > 0 {
			left = append(left, name)
			check.Equal(t, n, 1, "mentions of %s in %s", name, got.stderr)
		}
	}
	if len(left) < 2 {
		t.Errorf("%d nodes are printed; want 2 or more: %s", len(left), got.stderr)
	}
}

// locking is a workload that makes a node whose child nobody may delete.
func locking() scenario.Workload {
	w := ownKind("lock", "locking")
	w.Play = func(p *scenario.Player, _ scenario.Script) {
		acl := zk.WorldACL(zk.PermCreate | zk.PermRead)
		_, _ = p.Conn().Create("/kept", nil, 0, acl)
		_, _ = p.Conn().Create("/kept/child", nil, 0, acl)
	}
	return w
}
