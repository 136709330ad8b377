package cli

import (
	"time"

	"github.com/zksim/zksim/cli/internal/command"
	"github.com/zksim/zksim/fuzz/builtin"
	"github.com/zksim/zksim/fuzz/hunt"
	"github.com/zksim/zksim/fuzz/saved"
	"github.com/zksim/zksim/fuzz/scenario"
)

type demoCommand struct{}

// Run finds the deadlock of the go-zookeeper client's own lock, makes it small and explains it, and
// then runs the same sweep over recipes.Lock.
func (c *demoCommand) Run(env *command.Env) error {
	start := time.Now()
	env.Printf("%s\n", demoPlan)
	if err := showDeadlock(env); err != nil {
		return err
	}
	env.Printf("\n3. The same sweep over recipes.Lock:\n\n")
	sweep, err := demoSweep(env, "recipes.Lock")
	if err != nil {
		return err
	}
	env.Printf("\nAll of it ran the real client against a simulated server, "+
		"in %.1f s of real time.\n",
		time.Since(start).Seconds())
	if len(sweep.Violations) > 0 {
		env.Printf("\n%s", sweep.Violations[0].First.Story())
		return command.ErrViolated
	}
	return nil
}

const demoPlan = `The demo plays two locks, each with every single fault at every protocol step. A lock of the
go-zookeeper client has a deadlock; the demo makes it small and explains it. All of this
takes about ten seconds on two idle cores, and longer on others.
`

// showDeadlock finds the deadlock of the client's own lock and explains it.
func showDeadlock(env *command.Env) error {
	env.Printf("1. The go-zookeeper client's own lock (zk.Lock), " +
		"with every single fault at every protocol step:\n\n")
	sweep, err := demoSweep(env, "zk.Lock")
	if err != nil {
		return err
	}
	if len(sweep.Violations) == 0 {
		env.Printf("   zk.Lock survived every fault: its deadlock was not found\n")
		return command.ErrViolated
	}
	env.Progress.Phase("making one of %s small", command.Plural(sweep.Violated, "violation"))
	small, _, err := hunt.Minimize(env.Context, sweep.Violations[0].First)
	if err == nil {
		err = env.Context.Err() // after an interrupt it may not be the smallest
	}
	if err != nil {
		return err
	}
	env.Printf("\n2. One of the violations, made as small as it gets:\n\n%s", command.Indent(small.Story()))
	printed := findings{Env: env}
	if _, err := printed.saveScenario(saved.Of(small), scenarioName(small)); err != nil {
		return err
	}
	env.Printf("\n%s", demoExplanation)
	return nil
}

const demoExplanation = `   Why: the connection died while Children or GetW was in flight, after Lock had created
   its node. Lock returned the error and forgot the node, but the session lives on, and
   with it the node. The next Lock creates a second node and waits for the first one to
   go: it waits for itself, for ever.
`

// demoSweep runs a sweep over an implementation of a lock and prints its summary.
func demoSweep(env *command.Env, impl string) (*hunt.Sweep, error) {
	w, err := builtin.Find("lock", impl)
	if err != nil {
		return nil, err
	}
	s := scenario.Scenario{Workload: w, Script: scenario.DefaultScript, Seed: 1}
	sweep, err := runSweep(env, s, hunt.Part{})
	if err == nil {
		env.Printf("   %s\n", sweepLine(s, sweep))
	}
	return sweep, err
}
