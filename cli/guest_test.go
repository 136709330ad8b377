//go:build unix

package cli

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/zksim/zksim/cli/internal/command"
	"github.com/zksim/zksim/internal/check"
	"github.com/zksim/zksim/internal/realzk"
	"github.com/zksim/zksim/internal/testrun"
)

// begunHunt is a hunt of a program of TestMain.
type begunHunt struct {
	*exec.Cmd
	stderr *bufio.Reader
}

// huntAsGuest begins a hunt on a running server, and returns when the first scenario is under way.
func huntAsGuest(t *testing.T, program, address string) begunHunt {
	t.Helper()
	return beginHunt(t, program, "--servers="+address)
}

// beginHunt begins a hunt in a process group of its own, and returns when the first scenario is
// under way.
func beginHunt(t *testing.T, program string, flags ...string) begunHunt {
	t.Helper()
	self, err := os.Executable()
	check.OK(t, err)
	cmd := exec.Command(self)
	cmd.Args = append([]string{program, "fuzz", "lingering", "--clients=1", "--runs=1"}, flags...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	stdout, err := cmd.StdoutPipe()
	check.OK(t, err)
	stderr, err := cmd.StderrPipe()
	check.OK(t, err)
	check.OK(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Process.Kill() }) // it has ended, unless the test fails
	line, err := bufio.NewReader(stdout).ReadString('\n')
	check.OK(t, err)
	check.Equal(t, line, "playing\n")
	return begunHunt{cmd, bufio.NewReader(stderr)}
}

// interrupt sends a signal and reads the next line of stderr.
func (h begunHunt) interrupt(t *testing.T) string {
	t.Helper()
	check.OK(t, h.Process.Signal(os.Interrupt))
	line, err := h.stderr.ReadString('\n')
	check.OK(t, err)
	return line
}

// end reads stderr to its end, and checks the exit status.
func (h begunHunt) end(t *testing.T) (stderr string) {
	t.Helper()
	text, err := io.ReadAll(h.stderr)
	check.OK(t, err)
	_ = h.Wait() // its error is the status
	check.Equal(t, h.ProcessState.ExitCode(), command.ExitInterrupted, "exit status; %s", text)
	return string(text)
}

// TestASecondSignalTellsTheNodeThatIsLeft on a running ensemble. The first one waits.
func TestASecondSignalTellsTheNodeThatIsLeft(t *testing.T) {
	t.Parallel()
	server := realzk.Start(t, realzk.Options{TickTime: 250 * time.Millisecond})
	h := huntAsGuest(t, "stubborn", server.Address())
	check.Contains(t, h.interrupt(t), "stubborn: the scenarios under way end, and their nodes")
	time.Sleep(oneSignal) // until then it would be the first one again
	said := h.interrupt(t)
	left := regexp.MustCompile(`^stubborn: (/zksim-[0-9a-z]+) is left on ` + server.Address() +
		`: deleteall (\S+) in zkCli.sh`).FindStringSubmatch(said)
	if left == nil || left[1] != left[2] {
		t.Fatalf("%q; want the node that is left", said)
	}
	check.Contains(t, h.end(t), "stubborn: killed while it played lock lingering")
	check.Equal(t, strings.Join(nodesOf(t, server.Address()), " "), left[1][1:]+" zookeeper")
}

// TestASignalThatComesTwiceAtOnceIsOne: timeout of the GNU coreutils sends it so.
func TestASignalThatComesTwiceAtOnceIsOne(t *testing.T) {
	t.Parallel()
	server := realzk.Start(t, realzk.Options{TickTime: 250 * time.Millisecond})
	h := huntAsGuest(t, "obedient", server.Address())
	check.Contains(t, h.interrupt(t), "obedient: the scenarios under way end, and their nodes")
	check.OK(t, h.Process.Signal(syscall.SIGTERM))
	check.Equal(t, h.end(t), "obedient: interrupted\n")
	check.Equal(t, strings.Join(nodesOf(t, server.Address()), " "), "zookeeper")
}

// TestACommandThatIsKilledCleansUp: the process that plays its scenarios does it. Closing a
// terminal ends the command, too.
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
