package cli

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/zksim/zksim/cli/internal/command"
	"github.com/zksim/zksim/fuzz/object"
	"github.com/zksim/zksim/internal/check"
	"github.com/zksim/zksim/internal/realzk"
	"github.com/zksim/zksim/internal/testrun"
)

// TestHuntsOnARunningEnsemble: right code passes, wrong code is found, and a file shows its bug. At
// the end, and after an interrupt, nothing is left on the ensemble.
func TestHuntsOnARunningEnsemble(t *testing.T) {
	if testing.Short() {
		t.Skip("starts servers")
	}
	t.Parallel()
	addresses := startAddresses(t)
	servers := "--servers=" + strings.Join(addresses, ",")
	zksim(t.Context(), "fuzz counter --clients=2 --rounds=1 --runs=1 "+servers).
		has(t, command.ExitOK, "no violation found")
	passes(t, "run "+fileOf(t, lostCreate)+" "+servers)
	if testrun.Full() { // it takes 10 s
		zksim(t.Context(), "run "+fileOf(t, lostTake)+" "+servers).
			has(t, command.ExitOK, "delivery is violated, as expected")
	}

	// A fault that matches nothing takes nothing from a violation: no two runs are alike.
	lazy := object.Counter(func(object.Env) object.Counterer { return lazyCounter{} })
	missing := fileOf(t, "workload: counter\nimplementation: lazy\nclients: 1\nrounds: 1\nseed: 1\n"+
		"plan:\n  - cut client=a request=99\nexpect: violated\n")
	zksim(t.Context(), "run "+missing+" "+servers, lazy.Named("lazy")).
		has(t, command.ExitOK, "linearizability is violated, as expected")
	zksim(t.Context(), "run "+missing, lazy.Named("lazy")).
		has(t, command.ExitViolated, "matches nothing in this run any more")
	found := zksim(t.Context(), "fuzz lazy --save="+t.TempDir()+" "+servers, lazy.Named("lazy"))
	found.has(t, command.ExitViolated, "zksim run "+strings.Replace(servers, "=", " ", 1),
		"in a simulation 20 of 20 seeds violate linearizability, too; the first is seed 1, "+
			"of which each run is the same")
	_, there, _ := strings.Cut(found.stdout, "to play it there, made small: zksim replay ")
	there, _, _ = strings.Cut(there, "\n")
	check.Contains(t, testrun.ReadFile(t, there), "\ntrace: ") // that of a simulation
	zksim(t.Context(), "run "+there, lazy.Named("lazy")).has(t, command.ExitOK, "as expected")
	refused := zksim(t.Context(),
		"run "+fileOf(t, strings.Replace(lostTake, "drop-reply", "restart 1s", 1))+" "+servers)
	refused.has(t, command.ExitInput)
	check.Contains(t, refused.stderr, "restart: somebody else runs the servers")
	isInterrupted(t, servers)
	isEmpty(t, addresses)
}

// passes fails if the command finds a violation. On a machine that is too busy it is undecided.
func passes(t *testing.T, line string) {
	t.Helper()
	const tries = 3
	for range tries {
		got := zksim(t.Context(), line)
		if got.status == command.ExitOK {
			return
		}
		if !strings.Contains(got.stdout, "the verdict is unknown") {
			t.Fatalf("%+v", got)
		}
	}
	t.Skip("undecided: the machine is too busy")
}

// Scenarios of a right and of a wrong implementation.
const (
	lostCreate = `workload: lock
implementation: recipes.Lock
clients: 2
rounds: 1
seed: 1
plan:
  - drop-reply client=a op=create request=1
  - expire client=b request=2
expect: ok
`
	lostTake = `workload: queue
implementation: recipes.ApacheQueue
clients: 1
rounds: 1
seed: 1
plan:
  - drop-reply client=a op=delete request=1
expect: violated
property: delivery
`
)

// fileOf is a file with a scenario.
func fileOf(t *testing.T, text string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "scenario.yaml")
	check.OK(t, os.WriteFile(name, []byte(text), 0o666))
	return name
}

// lazyCounter says that it adds.
type lazyCounter struct{}

func (lazyCounter) Add(context.Context, int64) (int64, error) { return 0, nil }

// isInterrupted fails if an interrupt does not end a hunt.
func isInterrupted(t *testing.T, servers string) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(time.Second, cancel)
	got := zksim(ctx, "fuzz lock "+servers)
	check.Contains(t, got.stdout+got.stderr, "interrupted")
}

// startAddresses starts an ensemble, of one server without -full, whose sessions are short.
func startAddresses(t *testing.T) (addresses []string) {
	for _, s := range realzk.StartEnsemble(t, testrun.Pick(1, 3), realzk.Options{
		TickTime: 250 * time.Millisecond, JVMFlags: []string{"-Xmx64m"},
	}) {
		addresses = append(addresses, s.Address())
	}
	return addresses
}

// isEmpty fails if something is left on an ensemble.
func isEmpty(t *testing.T, addresses []string) {
	t.Helper()
	check.Equal(t, strings.Join(nodesOf(t, addresses...), " "), "zookeeper", "nodes")
}

// nodesOf are the nodes below the root of an ensemble, in order.
func nodesOf(t *testing.T, addresses ...string) []string {
	t.Helper()
	conn, _, err := zk.Connect(addresses, 10*time.Second, zk.WithLogInfo(false))
	check.OK(t, err)
	defer conn.Close()
	_, err = conn.Sync("/")
	check.OK(t, err)
	names, _, err := conn.Children("/")
	check.OK(t, err)
	slices.Sort(names)
	return names
}

// TestWrongServersAreTold: addresses that nobody can use.
func TestWrongServersAreTold(t *testing.T) {
	file := fileOf(t, lostTake)
	for args, want := range map[string]string{
		"fuzz lock --servers 127.0.0.1:1":  "--servers: 127.0.0.1:1: ",
		"fuzz lock --servers :2181":        `--servers: address ":2181"; expected host:port`,
		"fuzz lock --servers a:1,a":        `--servers: address "a"; expected host:port`,
		"fuzz lock --servers a:1,a:1":      "--servers: address a:1 is given twice",
		"fuzz lock --servers a:70000":      `address "a:70000"; expected host:port`,
		"fuzz lock --servers three":        `"three"; expected a whole number, or addresses`,
		"run " + file + " --servers 3":     "--servers: 3; expected addresses",
		"sweep lock --servers 127.0.0.1:1": "--servers: 127.0.0.1:1: ",
	} {
		got := zksim(t.Context(), args)
		got.has(t, command.ExitInput)
		check.Contains(t, got.stderr, want, "%s", args)
	}
}
