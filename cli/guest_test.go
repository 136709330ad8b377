package cli

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/internal/check"
	"github.com/zksim/zksim/internal/realzk"
	"github.com/zksim/zksim/internal/testrun"
)

// lingering is a lock whose script says on stdout that it plays, and goes on until it is interrupted
// and for a while in real time.
func lingering(d time.Duration) scenario.Workload {
	w := ownKind("lock", "lingering")
	w.Play = func(p *scenario.Player, _ scenario.Script) {
		_, _ = io.WriteString(os.Stdout, "playing\n")
		<-p.Context().Done()
		<-time.After(d)
	}
	return w
}

// guestHunt is a hunt of a program of TestMain on a real server.
type guestHunt struct {
	*exec.Cmd
	stderr *bufio.Reader
}

// huntAsGuest begins a hunt, and returns when the first scenario is under way.
func huntAsGuest(t *testing.T, program, address string) guestHunt {
	t.Helper()
	self, err := os.Executable()
	check.OK(t, err)
	cmd := exec.Command(self)
	cmd.Args = []string{program, "fuzz", "lingering", "--clients=1", "--runs=1",
		"--servers=" + address}
	stdout, err := cmd.StdoutPipe()
	check.OK(t, err)
	stderr, err := cmd.StderrPipe()
	check.OK(t, err)
	check.OK(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Process.Kill() }) // it has ended, unless the test fails
	line, err := bufio.NewReader(stdout).ReadString('\n')
	check.OK(t, err)
	check.Equal(t, line, "playing\n")
	return guestHunt{cmd, bufio.NewReader(stderr)}
}

// interrupt sends a signal and reads the next line of stderr.
func (h guestHunt) interrupt(t *testing.T) string {
	t.Helper()
	check.OK(t, h.Process.Signal(os.Interrupt))
	line, err := h.stderr.ReadString('\n')
	check.OK(t, err)
	return line
}

// end reads stderr to its end, and checks the exit status.
func (h guestHunt) end(t *testing.T) (stderr string) {
	t.Helper()
	text, err := io.ReadAll(h.stderr)
	check.OK(t, err)
	_ = h.Wait() // its error is the status
	check.Equal(t, h.ProcessState.ExitCode(), exitInterrupted, "exit status; %s", text)
	return string(text)
}

// TestASecondSignalTellsTheNodeThatIsLeft on a running ensemble. The first one waits.
func TestASecondSignalTellsTheNodeThatIsLeft(t *testing.T) {
	t.Parallel()
	server := realzk.Start(t, realzk.Options{TickTime: 250 * time.Millisecond})
	h := huntAsGuest(t, "stubborn", server.Address())
	check.Contains(t, h.interrupt(t), "stubborn: the scenarios under way end, and their nodes")
	said := h.interrupt(t)
	left := regexp.MustCompile(`^stubborn: (/zksim-[0-9a-z]+) is left on ` + server.Address() +
		`: deleteall (\S+) in zkCli.sh`).FindStringSubmatch(said)
	if left == nil || left[1] != left[2] {
		t.Fatalf("%q; want the node that is left", said)
	}
	check.Contains(t, h.end(t), "stubborn: killed while it played lock lingering")
	check.Equal(t, strings.Join(nodesOf(t, server.Address()), " "), left[1][1:]+" zookeeper")
}

// TestACommandThatIsKilledCleansUp: the process that plays its scenarios does it. Closing a terminal
// ends the command, too.
func TestACommandThatIsKilledCleansUp(t *testing.T) {
	t.Parallel()
	server := realzk.Start(t, realzk.Options{TickTime: 250 * time.Millisecond})
	h := huntAsGuest(t, "obedient", server.Address())
	check.OK(t, h.Process.Kill())
	_, err := io.ReadAll(h.stderr) // until the other process has ended, too
	check.OK(t, err)
	_ = h.Wait() // it was killed
	check.Equal(t, strings.Join(nodesOf(t, server.Address()), " "), "zookeeper")
}

// TestAnInterruptCleansUpInTheEnd: also if the scripts go on for longer than a process that has
// nothing to clean up may go on.
func TestAnInterruptCleansUpInTheEnd(t *testing.T) {
	if !testrun.Full() {
		t.Skip("it waits for six seconds; -full plays it")
	}
	t.Parallel()
	server := realzk.Start(t, realzk.Options{TickTime: 250 * time.Millisecond})
	h := huntAsGuest(t, "lingering", server.Address())
	h.interrupt(t)
	check.Equal(t, h.end(t), "lingering: interrupted\n")
	check.Equal(t, strings.Join(nodesOf(t, server.Address()), " "), "zookeeper")
}
