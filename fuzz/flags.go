package fuzz

import (
	"encoding"
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/zksim/zksim/fuzz/hunt"
	"github.com/zksim/zksim/fuzz/internal/look"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/internal/spelling"
)

// Flags of a test binary that uses this package. Give them to go test, or to several packages at
// once by variables of the environment: ZKSIM_RUNS is the default of -zksim.runs.
var (
	flagRuns = flag.Int("zksim.runs", 300,
		"zksim: number of random scenarios to try in each test, 1 at least; "+
			"on a running ensemble 32 unless it is given")
	flagSeed = flag.Uint64("zksim.seed", 1,
		"zksim: seed of the random scenarios")
	flagClients = flag.Int("zksim.clients", 0,
		"zksim: number of clients; 1 for code whose clients share a connection; 0: 3, or 2 with -short")
	flagGoroutines = flag.Int("zksim.goroutines", 0,
		"zksim: goroutines of each client that share one object; more than 1 need "+
			"Workload.Shared; 0: one, in some scenarios two or three")
	flagCareless = flag.Bool("zksim.careless", false,
		"zksim: clients close objects in use, call with done contexts and try before they wait")
	flagUnsteady = flag.Bool("zksim.unsteady", false,
		"zksim: do not make a finding small, and count how many of 20 more runs show it")
	flagProcesses = flag.Bool("zksim.processes", false,
		"zksim: play each scenario in a process of its own, for code that keeps something in "+
			"variables of its package")
	flagReplay = flag.String("zksim.replay", "",
		"zksim: scenario file to replay instead of searching; the test fails as long as a violation "+
			"shows, also if the file expects it, unlike zksim replay")
	flagHTML, flagStep, flagUntil, flagDiff = look.HTML, look.Step, look.Until, look.Diff
)

// flagShard is the part of this process in the work of several.
var flagShard hunt.Part

// flagServers are the servers that scenarios play on.
var flagServers scenario.Servers

// textFlags are the flags with values of their own, by name.
var textFlags = map[string]*textFlag{
	"servers": {to: &flagServers}, "shard": {to: &flagShard},
}

func init() {
	flag.Var(textFlags["servers"], "zksim.servers",
		"zksim: number of servers of the ensemble, or the addresses of a running one to play on, "+
			"in real time, as `HOST:PORT,HOST:PORT,...`")
	flag.Var(textFlags["shard"], "zksim.shard",
		"zksim: the part of this process in work that N processes do, as `I/N`")
}

// textFlag is a flag with a value that is read from a text. A wrong text is no error of Set, after
// which package flag would print the usage of all flags of a test: the test fails by it.
type textFlag struct {
	to interface {
		encoding.TextUnmarshaler
		fmt.Stringer
	}
	text  string
	wrong bool // the text
}

// Set reads a text.
func (f *textFlag) Set(text string) error {
	f.text, f.wrong = text, f.to.UnmarshalText([]byte(text)) != nil
	return nil
}

// Get is a pointer to the value.
func (f *textFlag) Get() any { return f.to }

// String is the text of the value. Package flag calls it on a zero textFlag, too.
func (f *textFlag) String() string {
	if f.to == nil {
		return ""
	}
	return f.to.String()
}

const flagPrefix = "zksim."

// fromEnvironment has the flags that got their values from variables.
var fromEnvironment = map[string]bool{}

// takeEnvironment sets flags that the command line does not have to the values of their variables.
// It reads them during a test, so that go test sees it and caches a result only for the same
// values.
var takeEnvironment = sync.OnceValue(func() (wrong error) {
	given, variables := map[string]bool{}, []string{}
	flag.Visit(func(f *flag.Flag) { given[f.Name] = true })
	flag.VisitAll(func(f *flag.Flag) {
		name, ours := strings.CutPrefix(f.Name, flagPrefix)
		if !ours {
			return
		}
		variables = append(variables, variable(name))
		value := os.Getenv(variable(name))
		if given[f.Name] || value == "" {
			return
		}
		fromEnvironment[name] = true
		if err := f.Value.Set(value); err != nil {
			wrong = errors.Join(wrong, fmt.Errorf("%s=%s; expected %s", variable(name), value,
				kindOf(f.Value)))
		}
	})
	return errors.Join(wrong, spelling.Variables(os.Environ(), variables))
})

// variable is the variable of the environment for a flag, without the prefix.
func variable(name string) string { return "ZKSIM_" + strings.ToUpper(name) }

// setting is the name of a flag for an error: the flag itself, or the variable that the user has
// set.
func setting(name string) string {
	if fromEnvironment[name] {
		return variable(name)
	}
	return "-" + flagPrefix + name
}

// kindOf describes the values that a flag takes.
func kindOf(v flag.Value) string {
	if b, ok := v.(interface{ IsBoolFlag() bool }); ok && b.IsBoolFlag() {
		return "true or false"
	}
	if g, ok := v.(flag.Getter); ok {
		switch g.Get().(type) {
		case *hunt.Part:
			return "a part such as 2/3"
		case *scenario.Servers:
			return "a whole number, or addresses as host:port with commas between"
		}
	}
	return "a whole number" // text is never wrong
}

// flaggedScript is the script of a test by its flags. The error names a wrong one.
func flaggedScript(w scenario.Workload) (scenario.Script, error) {
	s := scenario.DefaultScript
	if testing.Short() {
		s = scenario.Script{Clients: 2, Rounds: 1}
	}
	if err := takeEnvironment(); err != nil {
		return s, err
	}
	if err := checkFlags(); err != nil {
		return s, err
	}
	if *flagClients != 0 {
		s.Clients = *flagClients
	}
	s.Goroutines, s.Servers, s.Careless = *flagGoroutines, flagServers.Number, *flagCareless
	if err := (scenario.Scenario{Workload: w, Script: s}).Validate(); err != nil {
		name, rest, _ := strings.Cut(err.Error(), ":") // the name of the flag
		return s, fmt.Errorf("%s:%s", setting(name), rest)
	}
	return s, nil
}

// checkFlags checks the flags that do not depend on the workload.
func checkFlags() error {
	for _, name := range []string{"servers", "shard"} {
		if f := textFlags[name]; f.wrong {
			return fmt.Errorf("%s=%s; expected %s", setting(name), f.text, kindOf(f))
		}
	}
	switch {
	case *flagRuns < 1:
		return fmt.Errorf("%s=%d; expected 1 or more", setting("runs"), *flagRuns)
	case *flagUntil < 0:
		return fmt.Errorf("%s=%d; expected 1 or more", setting("until"), *flagUntil)
	case *flagDiff != "" && (*flagStep || *flagUntil > 0):
		return fmt.Errorf("%s goes without step and until", setting("diff"))
	}
	for _, f := range []struct {
		name  string
		given bool
	}{{"step", *flagStep}, {"until", *flagUntil > 0}, {"diff", *flagDiff != ""}} {
		if f.given && *flagReplay == "" {
			return fmt.Errorf("%s goes with -zksim.replay", setting(f.name))
		}
	}
	return nil
}

// reachEnsemble reaches the ensemble of the flags, if there is one. An interrupt, a
// termination or a terminal that is closed lets runs on it end and clean up.
func reachEnsemble() error {
	reaching.Lock()
	defer reaching.Unlock()
	if flagServers.On() != nil || flagServers.Simulated() == nil {
		return nil
	}
	ctx, stop := untilSignal()
	if err := flagServers.Reach(ctx); err != nil {
		stop()
		return fmt.Errorf("%s: %w", setting("servers"), err)
	}
	return nil
}

// logLeftNodes logs which nodes are left on the ensemble since it was called last.
func logLeftNodes(t TB) {
	t.Helper()
	reaching.Lock()
	defer reaching.Unlock()
	nodes := flagServers.On().Left()
	for _, err := range nodes[loggedNodes:] {
		t.Logf("zksim: %v", err)
	}
	loggedNodes = len(nodes)
}

var (
	reaching    sync.Mutex // guards flagServers and loggedNodes: tests may run in parallel
	loggedNodes int        // how many of the errors of Ensemble.Left were logged
)

// flaggedRuns is the number of random scenarios by the flags.
func flaggedRuns() int {
	given := fromEnvironment["runs"]
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == flagPrefix+"runs" })
	if flagServers.On() != nil && !given {
		return hunt.RunsOnEnsemble
	}
	return *flagRuns
}
