package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/rogpeppe/go-internal/testscript"
	"github.com/zksim/zksim/cli/internal/command"
	"github.com/zksim/zksim/fakezk/fault"
	"github.com/zksim/zksim/fuzz/builtin"
	"github.com/zksim/zksim/fuzz/object"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/internal/ballast"
	"github.com/zksim/zksim/internal/check"
	"github.com/zksim/zksim/internal/testrun"
	"github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/recipes"
	"github.com/zksim/zksim/recipes/classic"
)

// TestMain gives the tests, and the commands of the scripts, one processor, on which a World takes
// a fraction of the time.
func TestMain(m *testing.M) {
	runtime.GOMAXPROCS(1)
	ballast.Hold()
	testscript.Main(m, map[string]func(){
		"zksim":   func() { Main() },
		"myzksim": func() { Main(ownLock("own.Lock"), ownKind("parcel", "own/Parcel")) },
		"clash":   func() { Main(ownLock("recipes.Lock")) },
		"twice":   func() { Main(ownLock("own.Lock"), ownLock("own.Lock")) },
		"several": func() {
			Main(ownKind("lock", "mine"), ownKind("parcel", "mine"), ownKind("box", "mine"))
		},
		"goals":       func() { Main(withGoals()) },
		"undecided":   func() { Main(undecided()) },
		"interrupted": func() { Main(interrupting(60, os.Interrupt)) },
		"terminated":  func() { Main(interrupting(60, syscall.SIGTERM)) },
		"stopped": func() {
			Main(interrupting(2, os.Interrupt), ownKind("parcel", "own.Parcel"))
		},
		"stubborn":  func() { Main(lingering(time.Hour)) },
		"lingering": func() { Main(lingering(grace + time.Second)) },
		"obedient":  func() { Main(lingering(0)) },
		"reserved":  func() { Main(ownKind("all", "own.Parcel")) },
		"mylock": func() {
			Main(unnamed(), ownLock("mylock-2"), unnamed(), ownKind("box", ""))
		},
		"panicking":  func() { Main(ending("panic")) },
		"faulty":     func() { Main(ending("fatal")) },
		"crowding":   func() { Main(ending("crowd")) },
		"exiting":    func() { Main(ending("exit")) },
		"killed":     func() { Main(ending("kill")) },
		"sharing":    func() { Main(sharing()) },
		"deadlocked": func() { Main(ending("hang")) },
		"incomplete": func() { Main(scenario.Workload{Name: "parcel", Impl: "own.Parcel"}) },
		"inturn":     serveInTurn,
	})
}

// ownLock is a workload of a user's lock, which waits for itself when a reply is lost.
func ownLock(impl string) scenario.Workload {
	w := object.Lock(func(env object.Env) object.Locker {
		return classic.NewClientLock(env.Conn, "/lock", zk.WorldACL(zk.PermAll))
	}, object.LockClaims{About: "a lock of one's own", MaxHerd: 1}).Named(impl)
	w.Deaf = true
	return w
}

// ownKind is a lock of package recipes under the name of a kind that is not built in.
func ownKind(kind, impl string) scenario.Workload {
	w := object.Lock(func(env object.Env) object.Locker {
		return recipes.NewLock(env.Conn, "/lock")
	}, object.LockClaims{About: "a kind of one's own", Fair: true, MaxHerd: 1}).Named(impl)
	w.Name = kind
	return w
}

// unnamed is a lock that survives, without a name of its implementation.
func unnamed() scenario.Workload { return ownKind("lock", "") }

// withGoals is a lock with two goals; one of them cannot be reached.
func withGoals() scenario.Workload {
	w := ownKind("lock", "own.Lock")
	w.Sometimes = []string{"somebody begins", "nobody ends"}
	play := w.Play
	w.Play = func(p *scenario.Player, s scenario.Script) {
		p.Sometimes("somebody begins")
		play(p, s)
	}
	return w
}

// undecided is a lock with a judge that cannot decide.
func undecided() scenario.Workload {
	w := ownKind("parcel", "own.Parcel")
	w.Properties = nil
	w.Judge = func(scenario.Evidence) (linearizability.Report, error) {
		return linearizability.Report{Verdicts: []linearizability.Verdict{
			{Property: "weight", Status: linearizability.Unknown, Summary: "no scales"},
		}}, nil
	}
	return w
}

// lingering is a lock whose script says on stdout that it plays, and goes on until it is
// interrupted and for a while in real time.
func lingering(d time.Duration) scenario.Workload {
	w := ownKind("lock", "lingering")
	w.Play = func(p *scenario.Player, _ scenario.Script) {
		_, _ = io.WriteString(os.Stdout, "playing\n")
		<-p.Context().Done()
		<-time.After(d)
	}
	return w
}

// ending is a lock that ends the process when a reply is lost.
func ending(how string) scenario.Workload {
	return object.Lock(func(env object.Env) object.Locker {
		return endingLock{recipes.NewLock(env.Conn, env.Path), env.Conn, how}
	}).Named("ending." + how)
}

// sharing is a lock that keeps the first connection of all runs in a variable.
func sharing() scenario.Workload {
	return object.Lock(func(env object.Env) object.Locker {
		shareOnce.Do(func() { sharedConn = env.Conn })
		return recipes.NewLock(sharedConn, env.Path)
	}).Named("sharing")
}

var (
	shareOnce  sync.Once
	sharedConn *zk.Conn
)

type endingLock struct {
	object.Locker
	conn *zk.Conn
	how  string
}

func (l endingLock) Lock(ctx context.Context) error {
	if _, _, err := l.conn.Exists("/lock"); err != nil {
		end(l.how)
	}
	return l.Locker.Lock(ctx)
}

// end ends the process, or hangs.
func end(how string) {
	done := make(chan struct{})
	switch how {
	case "panic":
		go func() { panic("a goroutine of the lock") }()
		<-done
	case "exit":
		os.Exit(0)
	case "kill": // once, as by the kernel
		if self, err := os.FindProcess(os.Getpid()); err == nil && os.Mkdir("killed", 0o777) == nil {
			_ = self.Kill()
			<-done
		}
	case "fatal":
		new(sync.Mutex).Unlock()
	case "crowd":
		for {
			go func() { <-done }()
		}
	case "hang":
		signal.Notify(make(chan os.Signal, 1), os.Interrupt)
		<-outside
	}
}

// outside is a channel from outside of any run: virtual time stands still while a goroutine waits
// for it.
var outside = make(chan struct{})

// TestWithoutArgumentsTheCommandsAreListed, as the help does, but as an error of the caller.
func TestWithoutArgumentsTheCommandsAreListed(t *testing.T) {
	help, got := zksim(t.Context(), "--help"), zksim(t.Context(), "")
	help.has(t, command.ExitOK)
	got.has(t, command.ExitInput)
	check.Equal(t, got.stdout, "")
	check.Equal(t, got.stderr, help.stdout)
}

// TestScripts runs the transcripts of testdata/script.
func TestScripts(t *testing.T) {
	exhibits, err := filepath.Abs("../fuzz/gallery/testdata")
	check.OK(t, err)
	endInTurn(t)
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(env *testscript.Env) error {
			env.Setenv("GALLERY", exhibits)
			env.Setenv("KINDS", strconv.Itoa(len(builtin.Workloads().Kinds())))
			env.Setenv("FAULTS", strconv.Itoa(len(fault.Kinds())))
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"json":     checkJSON,
			"fails":    checkFails,
			"lines":    checkLines,
			"survives": checkSurvives,
		},
		Condition: func(name string) (bool, error) {
			if name != "full" {
				return false, fmt.Errorf("unknown condition %q", name)
			}
			return testrun.Full(), nil
		},
		RequireUniqueNames: true,
	})
}

// checkJSON looks into a JSON file: json FILE PATH WANT. PATH is made of keys and
// indexes with dots between, and len for the length: workloads.0.name.
func checkJSON(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 3 {
		ts.Fatalf("usage: [!] json FILE PATH WANT")
	}
	var value any
	ts.Check(json.Unmarshal([]byte(ts.ReadFile(args[0])), &value))
	for _, step := range strings.Split(args[1], ".") {
		var err error
		if value, err = jsonStep(value, step); err != nil {
			ts.Fatalf("%s: %s: %v", args[0], args[1], err)
		}
	}
	got := fmt.Sprint(value)
	if f, ok := value.(float64); ok {
		got = strconv.FormatFloat(f, 'f', -1, 64)
	}
	if (got == args[2]) == neg {
		ts.Fatalf("%s: %s is %q; want it %sto be %q", args[0], args[1], got,
			map[bool]string{true: "not "}[neg], args[2])
	}
}

func jsonStep(value any, step string) (any, error) {
	switch v := value.(type) {
	case map[string]any:
		if next, ok := v[step]; ok {
			return next, nil
		}
		return "absent", nil
	case []any:
		if step == "len" {
			return float64(len(v)), nil
		}
		i, err := strconv.Atoi(step)
		if err != nil || i < 0 || i >= len(v) {
			return nil, fmt.Errorf("no element %s of %d", step, len(v))
		}
		return v[i], nil
	}
	return nil, fmt.Errorf("%q of %v, which has no parts", step, value)
}

// checkFails runs zksim, or the program $PROGRAM, and checks its failure: fails STATUS ARGS... .
// The status must be as given and, for wrong input, stdout empty and stderr one line that begins
// with the command's name.
func checkFails(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 {
		ts.Fatalf("usage: fails STATUS ARGS...")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	program := cmp.Or(ts.Getenv("PROGRAM"), "zksim")
	var got inTurnAnswer
	if program == "zksim" && want == command.ExitInput {
		got = runInTurn(ts, args[1:])
	} else {
		got.Status = exitStatus(ts.Exec(program, args[1:]...))
		got.Stdout, got.Stderr = ts.ReadFile("stdout"), ts.ReadFile("stderr")
	}
	if got.Status != want {
		ts.Fatalf("exit status %d; want %d", got.Status, want)
	}
	if want != command.ExitInput {
		return
	}
	if strings.Count(got.Stderr, "\n") != 1 || !strings.HasPrefix(got.Stderr, program+": ") {
		ts.Fatalf("want one line of stderr that begins with %s:, got %q", program, got.Stderr)
	}
	if got.Stdout != "" {
		ts.Fatalf("want nothing on stdout, got %q", got.Stdout)
	}
}

// exitStatus is the exit status of a command, -1 if it did not end by itself.
func exitStatus(err error) int {
	if err == nil {
		return 0
	}
	if e, ok := err.(interface{ ExitCode() int }); ok {
		return e.ExitCode()
	}
	return -1
}

// checkLines checks the number of lines of a file: lines FILE N.
func checkLines(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: lines FILE N")
	}
	if got := strings.Count(ts.ReadFile(args[0]), "\n"); strconv.Itoa(got) != args[1] {
		ts.Fatalf("%s has %d lines; want %s", args[0], got, args[1])
	}
}

var survived = regexp.MustCompile(`survived (\d+) of (\d+) fault points`)

// checkSurvives checks that an implementation survived N of N fault points: survives FILE IMPL.
func checkSurvives(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 2 {
		ts.Fatalf("usage: [!] survives FILE IMPL")
	}
	for line := range strings.Lines(ts.ReadFile(args[0])) {
		n := survived.FindStringSubmatch(line)
		if n == nil || !strings.Contains(line, " "+args[1]+",") {
			continue
		}
		if all := n[1] == n[2] && n[1] != "0"; all == neg {
			ts.Fatalf("%s survived %s of %s fault points", args[1], n[1], n[2])
		}
		return
	}
	ts.Fatalf("%s tells of no sweep of %s", args[0], args[1])
}

func TestInterruptedIsNotSuccess(t *testing.T) {
	got := zksim(cancelled(t), "sweep lock")
	got.has(t, command.ExitInterrupted)
	check.Equal(t, got.stderr, "zksim: interrupted\n")
}

// interrupting is a lock that sends the process a signal in its n-th turn, like a Ctrl-C.
func interrupting(n int64, sig os.Signal) scenario.Workload {
	w := ownKind("lock", "interrupting")
	play, turns := w.Play, new(atomic.Int64)
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, sig)
	w.Play = func(p *scenario.Player, s scenario.Script) {
		if turns.Add(1) == n {
			self, err := os.FindProcess(os.Getpid())
			if err == nil {
				err = self.Signal(sig)
			}
			if err != nil {
				panic(err)
			}
			<-signals // a channel from outside: the time of the simulated world stands still
		}
		play(p, s)
	}
	return w
}

func TestInterruptedGalleryTellsWhatIsKnown(t *testing.T) {
	status, out := interruptedAfter(t, "foreign-child-owns ", "gallery S0-10 B3")
	check.Equal(t, status, command.ExitInterrupted)
	want := "\n1 of 2 exhibits found; interrupted: 1 of 2 tried\n"
	if !strings.Contains(out, want) || strings.Contains(out, "\nminus") {
		t.Errorf("stdout %q; want one row and %q", out, want)
	}
}

// interrupter is an output that interrupts the command when a text was written.
type interrupter struct {
	strings.Builder
	after     string
	interrupt func()
}

func (w *interrupter) Write(p []byte) (int, error) {
	if strings.HasPrefix(string(p), w.after) {
		w.interrupt()
	}
	return w.Builder.Write(p)
}

// full is an output on a full disk.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, syscall.ENOSPC }

// TestFullDiskIsReportedOnce, with a status of its own, for each form of output.
func TestFullDiskIsReportedOnce(t *testing.T) {
	for _, args := range []string{"list", "list --json", "--help", "--version"} {
		var stderr strings.Builder
		status := program{name: "zksim"}.run(t.Context(), strings.Fields(args), full{}, &stderr)
		want := fmt.Sprintln("zksim: write output:", syscall.ENOSPC)
		if status != command.ExitMachine || stderr.String() != want {
			t.Errorf("%s: status %d, stderr %q; want %d and %q",
				args, status, stderr.String(), command.ExitMachine, want)
		}
	}
	env := command.NewEnv(t.Context(), "zksim", nil, io.Discard, io.Discard)
	check.Equal(t, env.ExitStatus(&os.PathError{Err: syscall.ENOSPC}), command.ExitMachine)
}

// TestCommandsAreThoseOfTheShell: what go tool and go run have built is not on the path.
func TestCommandsAreThoseOfTheShell(t *testing.T) {
	const pkg = "github.com/zksim/zksim/cmd/zksim"
	hash := strings.Repeat("0a", 32)
	calledBy := func(arg, name, path, version string) string {
		info := debug.BuildInfo{Path: path, Main: debug.Module{Version: version}}
		return calledBy([]string{filepath.FromSlash(arg)}, name, &info)
	}
	for arg, want := range map[string]string{
		"zksim":          "zksim",
		"/usr/bin/zksim": "zksim",
		"/exe/zksim":     "zksim",
		"/cache/go-build/0a/" + hash + "-d/zksim": "go run " + pkg,
		"/tmp/go-build12/b001/exe/zksim":          "go run " + pkg,
	} {
		check.Equal(t, calledBy(arg, "zksim", pkg, "(devel)"), want, "%s", arg)
	}
	const built = "/tmp/go-build12/b001/exe/main"
	check.Equal(t, calledBy(built, "main", "command-line-arguments", ""), "main")
	check.Equal(t, calledBy(built, "zksim", pkg, "v0.1.0"), "go run "+pkg+"@v0.1.0")
	check.Equal(t, calledBy(built, "zksim", pkg, "v0.1.0+dirty"), "go run "+pkg)
	env := command.NewEnv(t.Context(), "zksim", nil, io.Discard, io.Discard)
	env.Call = "go run " + pkg
	check.Equal(t, env.Repeat("a b.yaml"), "go run "+pkg+" replay 'a b.yaml'")
}
