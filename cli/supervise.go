package cli

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/zksim/zksim/cli/internal/command"
	"github.com/zksim/zksim/fakezk/realworld"
	"github.com/zksim/zksim/fuzz/saved"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/internal/inflight"
)

// Code under test can end the process: by a panic in a goroutine that it has begun, by a fatal
// error of the runtime, such as a concurrent map write, or by os.Exit. So Main plays scenarios in a
// second process, which runs the same command and keeps a note of each scenario under way. If the
// second process ends without a status, Main plays each of the noted scenarios alone, to find the
// one to blame.

// statusFile is the name of the file in that directory with the exit status.
const statusFile = "status"

// supervised matches the commands that may play scenarios of the user's code.
var supervised = regexp.MustCompile(`^(run|replay|diff|sweep|prove|fuzz)\b`)

// serveNotes is Main in the second process: it runs the command and leaves the exit status.
func serveNotes(dir string, run func(ctx context.Context, watch func(time.Duration)) int) int {
	parent := os.Getppid()
	stop, err := inflight.Keep(dir)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return command.ExitInput
	}
	defer stop()
	// A terminal sends a signal to both processes, and the first process passes it on, too. So only
	// the first process may react to a second signal. One that hangs up ends the first process.
	hangUps := make(chan os.Signal, 1)
	if !signal.Ignored(syscall.SIGHUP) {
		signal.Notify(hangUps, syscall.SIGHUP)
	}
	ctx, cancel := signal.NotifyContext(context.Background(), inflight.Signals()...)
	defer cancel()
	abandon := func() {
		stop()
		os.Remove(dir) // the first process, which has made it, ends, too
	}
	status := run(ctx, func(grace time.Duration) {
		awaitEndOf(parent)
		cancel()
		time.Sleep(grace)
		abandon()
		os.Exit(command.ExitInterrupted)
	})
	if os.Getppid() != parent || len(hangUps) > 0 {
		abandon()
		return status
	}
	err = os.WriteFile(filepath.Join(dir, statusFile), []byte(strconv.Itoa(status)), 0o666)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	return status
}

// awaitEndOf returns when the parent of this process has ended.
func awaitEndOf(parent int) {
	for os.Getppid() == parent {
		time.Sleep(time.Second)
	}
}

// A supervisor is the first process.
type supervisor struct {
	*command.Env
	commands *commands
	find     func(workload, impl string) (scenario.Workload, error)
}

// run runs the command in a second process and returns the exit status. It reports false if there
// cannot be a second process.
func (s *supervisor) run(args []string) (status int, ok bool) {
	dir, err := os.MkdirTemp("", "zksim-*")
	if err != nil {
		return 0, false
	}
	defer os.RemoveAll(dir)
	cmd, err := second(dir, args)
	if err != nil {
		return 0, false
	}
	interrupted, _ := runHere(cmd, func() time.Duration {
		s.printGrace()
		return s.commands.grace()
	})
	if cmd.Process == nil {
		return 0, false
	}
	if status, err := statusIn(dir); err == nil {
		return status, true
	}
	s.Progress.Leave()
	if wasEndedBy(cmd.ProcessState, syscall.SIGPIPE) { // nobody reads, as behind a pipe to head
		return command.ExitViolated, true
	}
	notes, err := inflight.Take(dir, func([]byte) bool { return true })
	if err != nil {
		s.PrintError(err)
	}
	notes = s.printLeftNodesOf(notes)
	if interrupted {
		return s.killed(notes), true
	}
	return s.crashed(dir, cmd.ProcessState, notes), true
}

// wasEndedBy reports whether a signal has ended a process. The code under test has no part in that.
func wasEndedBy(p *os.ProcessState, signal syscall.Signal) bool {
	status, ok := p.Sys().(syscall.WaitStatus)
	return ok && status.Signaled() && status.Signal() == signal
}

// second is the command line of a second process with its notes in a directory.
func second(dir string, args []string) (*exec.Cmd, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(self)
	cmd.Args = append([]string{os.Args[0]}, args...)
	cmd.Env = append(os.Environ(), inflight.Variable+"="+dir)
	return cmd, nil
}

// grace is how long the second process may go on after a signal, and graceOnEnsemble how long it
// may go on if it cleans up a running ensemble, where each step of that has a bound of its own.
const (
	grace           = 5 * time.Second
	graceOnEnsemble = time.Minute

	// oneSignal is how long a signal that comes again is still the first one: timeout of the GNU
	// coreutils sends it to its child, and then to the group of its child.
	oneSignal = time.Second
)

// onEnsemble reports whether a command plays on a running ensemble.
func (c *commands) onEnsemble() bool {
	return slices.ContainsFunc([]scenario.Servers{c.Run.Servers, c.Sweep.Servers, c.Fuzz.Servers},
		func(s scenario.Servers) bool { return s.Simulated() != nil })
}

// grace is how long the second process may go on after a signal.
func (c *commands) grace() time.Duration {
	if c.onEnsemble() {
		return graceOnEnsemble
	}
	return grace
}

// printGrace tells the user what takes time after a signal on an ensemble.
func (s *supervisor) printGrace() {
	if !s.commands.onEnsemble() {
		return
	}
	s.Progress.Leave()
	s.PrintError(errors.New("the scenarios under way end, and their nodes are deleted; " +
		"a second signal ends at once and leaves the nodes"))
}

// runHere runs a command in the place of this process, and passes signals on to it. The error is
// that of its start or its end; without a start it has no Process.
func runHere(cmd *exec.Cmd, grace func() time.Duration) (interrupted bool, err error) {
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	defer signal.Stop(signals)
	if err := cmd.Start(); err != nil {
		return false, err
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		err = cmd.Wait()
	}()
	interrupted = passOn(signals, cmd.Process, ended, grace)
	return interrupted, err
}

// passOn passes the first signal on to a process, and reports whether there was one. It kills the
// process at the second signal, or if it has not ended within the grace, and returns when it has
// ended.
func passOn(
	signals <-chan os.Signal, p *os.Process, ended <-chan struct{}, grace func() time.Duration,
) (interrupted bool) {
	var first time.Time
	var late <-chan time.Time
	for {
		select {
		case <-ended:
			return interrupted
		case sig := <-signals:
			switch {
			case !interrupted:
				p.Signal(sig)
				interrupted, first, late = true, time.Now(), time.After(grace())
			case time.Since(first) >= oneSignal:
				p.Kill()
			}
		case <-late:
			p.Kill()
		}
	}
}

// printLeftNodesOf prints the notes about nodes on a running ensemble, and returns the other notes.
func (s *supervisor) printLeftNodesOf(notes [][]byte) (others [][]byte) {
	for _, text := range notes {
		if realworld.IsLeft(text) {
			s.PrintError(errors.New(string(text)))
			continue
		}
		others = append(others, text)
	}
	return others
}

// statusIn reads the exit status that a second process has left.
func statusIn(dir string) (int, error) {
	text, err := os.ReadFile(filepath.Join(dir, statusFile))
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(string(text))
}

// killed lists the scenarios that were under way when the second process was killed after a signal.
func (s *supervisor) killed(notes [][]byte) int {
	for _, f := range s.noted(notes) {
		s.PrintError(fmt.Errorf("killed while it played %s, plan %v", f.Scenario, f.Scenario.Plan))
	}
	fmt.Fprintf(s.Errors, "%s: interrupted\n", s.Name)
	return command.ExitInterrupted
}

// noted reads notes.
func (s *supervisor) noted(notes [][]byte) []saved.File {
	var files []saved.File
	for _, text := range notes {
		f, err := saved.Parse("note", text, s.find)
		if err != nil {
			s.PrintError(err)
			continue
		}
		files = append(files, f)
	}
	return files
}

// crashed finds the noted scenario that ended the second process, which has kept its notes in a
// directory. It prints the scenario and saves it.
func (s *supervisor) crashed(dir string, how *os.ProcessState, notes [][]byte) int {
	save, json := s.commands.output()
	if json {
		s.Text = s.Errors // no JSON will follow
	}
	files := s.noted(notes)
	if why := inflight.CrashedAcrossRuns(dir); why != "" {
		s.PrintError(fmt.Errorf("nothing can be decided: %s", why))
		return command.ExitInput
	}
	ofMachine := wasEndedBy(how, syscall.SIGKILL) || inflight.GaveUp(dir)
	if len(files) == 0 && !ofMachine {
		s.PrintError(fmt.Errorf("the process has ended while no scenario was played: %s", how))
		return command.ExitViolated
	}
	cutOff := 0
	for _, f := range files {
		why, ended := s.playAlone(f)
		if !ended {
			cutOff++
		}
		if why != "" {
			s.Printf("\n%s is violated: the code under test ends the process: %s\n\n",
				saved.Crash, why)
			s.printFile(f, save)
			return command.ExitViolated
		}
	}
	if ofMachine {
		s.PrintError(fmt.Errorf("the memory is at an end, or the process was killed: %s", how))
		return command.ExitMachine
	}
	s.Printf("\n%s is violated: the code under test ended the process: %s\n"+
		"it was one of the following %s; %s\n\n",
		saved.Crash, how, command.Plural(len(files), "scenario"),
		playedAlone(cutOff, s.commands.Prove.Workload != ""))
	for _, f := range files {
		s.printFile(f, save)
	}
	return command.ExitViolated
}

// playedAlone says what is known of the noted scenarios, played alone, if none has ended the
// process. cutOff is the number of those that were not played to their end. They may be of a proof.
func playedAlone(cutOff int, proof bool) string {
	text := "played alone, none ends the process"
	if cutOff > 0 {
		text = fmt.Sprintf("played alone, none has ended the process, but %s not tried to "+
			"the end within %s of real time", command.Plural(cutOff, "scenario"), aloneFor)
	}
	if proof {
		text += "; a proof chooses during a run, and only the choices before its end are known: what was " +
			"played alone may be other runs; the same command plays the same runs again"
	}
	return text
}

// output are the flags of the command that say how it prints: the directory of --save, and --json.
func (c *commands) output() (save string, json bool) {
	json = c.Run.JSON || c.Replay.JSON || c.Sweep.JSON || c.Fuzz.JSON || c.Prove.JSON
	return c.Fuzz.Save + c.Sweep.Save + c.Prove.Save, json // all but one are empty
}

// printFile prints a scenario that ends the process, and saves it.
func (s *supervisor) printFile(f saved.File, dir string) {
	s.Printf("  %s\n", f.Scenario)
	for _, fault := range f.Scenario.Plan {
		s.Printf("  fault: %s\n", fault)
	}
	w, sum := f.Scenario.Workload, sha256.Sum256(fmt.Append(nil, f.Scenario, f.Scenario.Plan))
	name := fileName(w.Name, w.Impl, saved.Crash, hex.EncodeToString(sum[:4]))
	saves := findings{Env: s.Env, save: dir}
	if _, err := saves.saveScenario(f, name); err != nil {
		s.PrintError(err)
	}
}

const (
	// aloneTries is the number of times that a noted scenario is played: a race does not show each
	// time.
	aloneTries = 3
	// aloneFor is how long that may take, in real time: a scenario that takes longer is said not to
	// be tried to its end.
	aloneFor = time.Minute
)

// playAlone plays a noted scenario in a process of its own. why describes how it ended the process;
// "" means that it did not. ended is false if the scenario was not played to its end.
func (s *supervisor) playAlone(f saved.File) (why string, ended bool) {
	dir, err := os.MkdirTemp("", "zksim-*")
	if err != nil {
		return "", false
	}
	defer os.RemoveAll(dir)
	name := filepath.Join(dir, "scenario.yaml")
	if err := f.Save(name); err != nil {
		return "", false
	}
	for range aloneTries {
		cmd, err := second(dir, []string{"run", name})
		if err != nil {
			return "", false
		}
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		if err := cmd.Start(); err != nil {
			return "", false
		}
		late := time.AfterFunc(aloneFor, func() { cmd.Process.Kill() })
		cmd.Wait()
		if !late.Stop() {
			return "", false
		}
		if _, err := statusIn(dir); err != nil {
			return headline(stderr.String(), cmd.ProcessState.String()), true
		}
	}
	return "", true
}

// headline is the reason for the end of a process: the message of the runtime with the place in the
// code, or else the status.
func headline(stderr, status string) string {
	lines := strings.Split(stderr, "\n")
	for i, line := range lines {
		if !strings.HasPrefix(line, "panic: ") && !strings.HasPrefix(line, "fatal error: ") {
			continue
		}
		if at := userPlace(lines[i+1:]); at != "" {
			line += ", at " + at
		}
		return line
	}
	return status
}

// ownCode matches functions of the runtime and the standard library in a stack trace.
var ownCode = regexp.MustCompile(`^(panic\(|(runtime|internal|sync|testing|time|context)[./])`)

// userPlace is the file and line of the first call of a stack trace that is not the runtime's.
func userPlace(lines []string) string {
	for i, line := range lines {
		file, isPlace := strings.CutPrefix(line, "\t")
		if i == 0 || !isPlace || ownCode.MatchString(lines[i-1]) {
			continue
		}
		file, _, _ = strings.Cut(file, " +0x")
		return filepath.Base(file)
	}
	return ""
}
